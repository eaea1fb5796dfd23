"""Which columns made a row an outlier.

    statistic = zᵀ M z:     T²  M = BᵀWWᵀB      Q  M = I − BᵀB      φ  M = BᵀWWᵀB/τ² + (I − BᵀB)/δ²

    sum              cⱼ = (M^½ z)ⱼ²        none negative, and they sum to the statistic of the row
    reconstruction   cⱼ = (Mz)ⱼ²/Mⱼⱼ       by how much the statistic falls when column j is set to what the others say;
                                           the column that alone is wrong has the largest                       [AQ09]

z (d) is the row in the frame of the fit, B (k×d) the plane, W its whitening; M^½ is the symmetric root, so a column is
blamed for what it brings and not for an order of components. The result has n×d numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core import memory as memory_limit
from ritz._core.errors import MemoryLimitError, ParameterError
from ritz.data.words import nearest
from ritz.insight.axes.of_model import column_labels, rows_named
from ritz.insight.calls import asked
from ritz.insight.rows.limits import Limits, limits
from ritz.insight.rows.plane import Plane, mapped, plane_of, rows_of
from ritz.project.residual import Parts

__all__ = ["blame"]

Floats = NDArray[np.float64]


@asked
def blame(
    model: Any, X: Any, of: str = "t2", *, method: str = "sum", alpha: float = 0.05, bounds: Limits | None = None
) -> Any:
    """What every column contributes to the oddity of every row, (n, d): a frame for a frame, an array otherwise.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA
        A kernel model has no columns to blame. The columns of MCA, FAMD and MFA are levels and numbers as encoded.
    X : array-like, sparse matrix, frame or Table of shape (n, d)
        The rows in question: the result is as large as they are, dense.
    of : "t2", "spe" or "combined"
        Which statistic to explain.
    method : "sum" or "reconstruction"
        Parts that sum to the statistic, or what the statistic would lose without each column.
    alpha, bounds : as for :func:`ritz.insight.combined`
        Used by ``of="combined"`` only.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> insight.blame(pca, [far], of="t2").round(1)  # the first column did it
    array([[19.7,  0. ,  0. ,  0. ,  0. ]])
    >>> insight.blame(pca, [off], of="spe").round(1)
    array([[ 0. ,  0.1,  0. ,  0. , 80.8]])
    """
    plane = plane_of(model)
    if method not in ("sum", "reconstruction"):
        raise ParameterError("method must be 'sum' or 'reconstruction'", received=repr(method), hint="method='sum'")
    if of not in ("t2", "spe", "combined"):
        raise ParameterError("of must be 't2', 'spe' or 'combined'", received=repr(of),
                             hint=f"of={nearest(of, ('t2', 'spe', 'combined'))!r}")  # fmt: skip
    scales = _scales(model, of, alpha, bounds)
    rows = rows_of(model, X)
    _fits(model, int(rows.shape[0]), plane.d)
    step = _summed(plane, *scales) if method == "sum" else _rebuilt(plane, *scales)
    shares = mapped(plane, rows, plane.d, step, whole=True)
    names = column_labels(model)
    return shares if names is None else rows_named(X, shares, [str(name) for name in names])


def _scales(model: Any, of: str, alpha: float, bounds: Limits | None) -> tuple[float, float]:
    """1/τ² and 1/δ²: the weights of both parts."""
    if of != "combined":
        return (1.0, 0.0) if of == "t2" else (0.0, 1.0)
    limit = limits(model, alpha) if bounds is None else bounds
    inside, off = (1 / bound if 0 < bound < np.inf else 0.0 for bound in (limit.t2, limit.spe))
    return inside, off


def _fits(model: Any, n: int, d: int) -> None:
    size, most = 8.0 * n * d, memory_limit.limit(getattr(model, "memory", None))
    if size > most:
        raise MemoryLimitError(
            f"what every column contributes to every row takes {size / 1e9:.3g} GB",
            received=f"{n:,} rows of {d:,} columns and a limit of {most / 1e9:.3g} GB",
            hint="pass the outliers only: blame(model, X[outliers.mask])",
        )


def _metric(plane: Plane) -> tuple[Floats, Floats]:
    """WWᵀ (k, k) and what turns yW into y(WWᵀ)^½."""
    M = plane.white @ plane.white.T
    values, vectors = np.linalg.eigh(M)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return M, np.linalg.pinv(plane.white) @ root


def _summed(plane: Plane, inside: float, off: float) -> Callable[[Parts], Floats]:
    turn = _metric(plane)[1] @ plane.basis * np.sqrt(inside)

    def step(row_parts: Parts) -> Floats:
        return np.square(row_parts.whitened @ turn + np.sqrt(off) * _left(row_parts))

    return step


def _rebuilt(plane: Plane, inside: float, off: float) -> Callable[[Parts], Floats]:
    M, B = plane.white @ plane.white.T, plane.basis
    diagonal = inside * np.einsum("ij,ik,kj->j", B, M, B) + off * np.maximum(1 - np.square(B).sum(axis=0), 0.0)
    floor = 1e-12 * float(np.max(diagonal, initial=0.0))
    weight = np.where(diagonal > floor, 1 / np.maximum(diagonal, floor or 1.0), 0.0)
    turn = plane.white.T @ B * inside  # yW Wᵀ B

    def step(row_parts: Parts) -> Floats:
        return np.square(row_parts.whitened @ turn + off * _left(row_parts)) * weight

    return step


def _left(row_parts: Parts) -> Floats:
    return row_parts.left if row_parts.left is not None else np.zeros((len(row_parts.squares), 1))
