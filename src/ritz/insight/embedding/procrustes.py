"""Procrustes: one set of coordinates moved, turned and stretched onto another.                                 [Sch66]

    min ‖X − 1bᵀ − sYR‖²_F,  RᵀR = I:      XᵀY of centred rows = UΣVᵀ,  R = VUᵀ,  s = tr Σ/‖Y‖²,  b = x̄ − sȳR

Columns of zeros are added where one set has fewer, so an embedding is compared with rows of more columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.tabular import Tabular

__all__ = ["ProcrustesFit", "procrustes", "share_left"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class ProcrustesFit(Tabular):
    """How well one set of coordinates lies on another after moving, turning and stretching.

    Attributes
    ----------
    ss : squared distances that are left, summed
    share : ``ss`` as a share of the squared distances of the target from its mean; 0 is a perfect match
    rotation : (p, p)
    scale : number
    translation : (p,)
    distances : (n,) of each row, what is left
    fitted : (n, p) the moved rows, ``scale · Y · rotation + translation``
    """

    ss: float
    share: float
    rotation: Floats
    scale: float
    translation: Floats
    distances: Floats
    fitted: Floats

    def __repr__(self) -> str:
        left = f"{self.share:.2%} of the target is left over, sum of squares {self.ss:.6g}"
        return f"Procrustes: {left}; scale {self.scale:.6g}"

    def _table(self) -> dict[str, Any]:
        fitted = {f"axis{i + 1}": self.fitted[:, i] for i in range(self.fitted.shape[1])}
        return {"row": range(len(self.distances)), "distance": self.distances} | fitted


def procrustes(X: Any, Y: Any, *, scale: bool = True) -> ProcrustesFit:
    """Move, turn and stretch Y onto X.

    Parameters
    ----------
    X : (n, p) coordinates, the target
    Y : (n, q) coordinates of the same rows
    scale : bool
        Whether Y may be stretched.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> turned = 3 * square @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 7
    >>> insight.procrustes(square, turned).share < 1e-15
    True
    """
    X, Y = (np.asarray(rows, np.float64) for rows in (X, Y))
    if X.ndim != 2 or Y.ndim != 2 or len(X) != len(Y):
        raise InputError("coordinates of the same rows, twice", received=f"shapes {X.shape} and {Y.shape}")
    width = max(X.shape[1], Y.shape[1])
    X, Y = (np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (X, Y))
    middle, own = X.mean(axis=0), Y.mean(axis=0)
    A, B = X - middle, Y - own
    U, sigma, Vt = np.linalg.svd(A.T @ B)
    rotation, size = Vt.T @ U.T, float(np.sum(B * B))
    factor = float(sigma.sum() / size) if scale and size > 0 else 1.0
    translation = middle - factor * own @ rotation
    fitted = factor * Y @ rotation + translation
    left = np.sqrt(np.sum((X - fitted) ** 2, axis=1))
    ss, whole = float(left @ left), float(np.sum(A * A))
    return ProcrustesFit(ss, ss / whole if whole > 0 else 0.0, rotation, factor, translation, left, fitted)


def share_left(X: Floats, Y: Floats) -> float:
    """``procrustes(X, Y).share`` without the rotation: of p and q columns a p×q product and no p×p matrix."""
    A, B = (np.asarray(rows, np.float64) - np.mean(rows, axis=0, dtype=np.float64) for rows in (X, Y))
    whole, size = float(np.sum(A * A)), float(np.sum(B * B))
    if not whole > 0:
        return 0.0
    common = float(np.linalg.svd(A.T @ B, compute_uv=False).sum())
    return max(1 - common**2 / (size * whole), 0.0) if size > 0 else 1.0
