"""The outlier map: how far a row lies in the plane, against how far off it.                                   [HRV05]

score distance √T²,  orthogonal distance √Q,  a cut-off for each

           √Q
 orthogonal │ bad leverage          off the plane, and where the plane is tilted most by it
────────────┼────────────
    regular │ good leverage  √T²    far out, but where the plane says
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tabular import Tabular
from ritz.data.tables.frames import row_labels
from ritz.insight.calls import asked
from ritz.insight.rows.limits import Limits, limits
from ritz.insight.rows.plane import distances

__all__ = ["KINDS", "OutlierMap", "outlier_map"]

Floats = NDArray[np.float64]

#: What a row can be, by (beyond the score cut-off) + 2·(beyond the orthogonal cut-off).
KINDS = ("regular", "good leverage", "orthogonal outlier", "bad leverage")


@dataclass(frozen=True)
class OutlierMap(Tabular):
    """Both distances of every row, their cut-offs, and what follows.

    Attributes
    ----------
    score_distance, orthogonal_distance : (n,)
    score_cutoff, orthogonal_cutoff : float
    kind : (n,) "regular", "good leverage", "orthogonal outlier" or "bad leverage"
    names : (n,) of the rows, where they have some
    """

    score_distance: Floats
    orthogonal_distance: Floats
    score_cutoff: float
    orthogonal_cutoff: float
    kind: NDArray[Any]
    names: list[Any] | None = None

    @property
    def mask(self) -> NDArray[np.bool_]:
        """(n,) True beyond either cut-off."""
        return np.asarray(self.kind != KINDS[0])

    def count(self) -> dict[str, int]:
        """How many rows of each kind."""
        return {name: int(np.count_nonzero(self.kind == name)) for name in KINDS}

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.count().items())
        return f"OutlierMap({counts}; cut-offs {self.score_cutoff:.4g} and {self.orthogonal_cutoff:.4g})"

    def _table(self) -> dict[str, Any]:
        return {
            "row": range(len(self.kind)) if self.names is None else self.names,
            "score_distance": self.score_distance, "orthogonal_distance": self.orthogonal_distance, "kind": self.kind,
        }  # fmt: skip


@asked
def outlier_map(
    model: Any, X: Any, alpha: float = 0.025, rows: str = "training", *, bounds: Limits | None = None
) -> OutlierMap:
    """Score distance against orthogonal distance of every row, with cut-offs.

    Parameters
    ----------
    model : fitted PCA, SVD, KernelPCA, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA
    X : array-like, sparse matrix, frame or Table of shape (n, d)
    alpha : float
        Share of rows beyond each cut-off if nothing is wrong.
    rows : "training" or "new"
        Whether X are the rows of the fit.
    bounds : Limits, optional
        Limits that are known already, such as ``limits(model, X=X_fit)`` of a model that needs the rows of its fit.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> found = insight.outlier_map(pca, np.vstack([X[:3], [far, off]]), rows="new")
    >>> found.kind.tolist()
    ['regular', 'regular', 'regular', 'good leverage', 'orthogonal outlier']
    """
    limit = bounds
    if limit is None:
        limit = limits(model, alpha, rows, X=X if rows == "training" else None)
    inside, off = distances(model, X)
    beyond = (inside > limit.t2).astype(int) + 2 * (off > limit.spe)
    return OutlierMap(
        np.sqrt(inside), np.sqrt(off), float(np.sqrt(limit.t2)), float(np.sqrt(limit.spe)), np.array(KINDS)[beyond],
        row_labels(X),
    )  # fmt: skip
