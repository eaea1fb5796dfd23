"""How far a row lies from the others in the plane of a model, and how far off the plane.

    T² = Σᵢ tᵢ²/λᵢ          Hotelling's distance in the plane, in units of its own spread                       [H47]
    Q  = ‖z − VVᵀz‖²        squared prediction error: what the plane leaves of the row                          [JM79]
    φ  = T²/τ² + Q/δ²       both in one number, each by its limit at level α                                    [YQ01]

Of a pandas frame they are Series with the names of its rows, of other rows arrays.

z is the row as the fit saw it, centred and scaled. In a kernel model t are the coordinates in feature space and Q is
Hoffmann's reconstruction error there. Rows may be new or those of the fit, dense, sparse, in files or on a cluster.
"""

from __future__ import annotations

from typing import Any

from ritz.insight.axes.of_model import rows_valued
from ritz.insight.calls import asked
from ritz.insight.rows.limits import Limits, limits
from ritz.insight.rows.plane import distances

__all__ = ["combined", "spe", "t2"]


@asked
def t2(model: Any, X: Any) -> Any:
    """Hotelling's T² of every row, (n,): its squared distance from the centre within the plane.

    Parameters
    ----------
    model : fitted PCA, SVD, KernelPCA, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA
        Components without variance do not count; what a row has along them is in ``spe``.
    X : array-like, sparse matrix, frame or Table of shape (n, d)

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> insight.t2(pca, [far, off]).round(1)      # distance within the plane
    array([19.7,  0. ])
    """
    return rows_valued(X, distances(model, X)[0])


@asked
def spe(model: Any, X: Any) -> Any:
    """Squared prediction error Q of every row, (n,): its squared distance from the plane.

    Parameters
    ----------
    model : fitted PCA, SVD, KernelPCA, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA
        In the units of the fit: with ``scale=True`` a column counts in its standard deviations.
    X : array-like, sparse matrix, frame or Table of shape (n, d)

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> insight.spe(pca, [far, off]).round(1)     # squared distance off the plane
    array([ 0.3, 80.9])
    """
    return rows_valued(X, distances(model, X)[1])


@asked
def combined(model: Any, X: Any, alpha: float = 0.05, *, bounds: Limits | None = None) -> Any:
    """The combined index φ = T²/τ² + Q/δ² of every row, (n,), τ² and δ² the limits of both at level ``alpha``.

    Parameters
    ----------
    model : fitted model
    X : array-like, sparse matrix, frame or Table of shape (n, d)
    alpha : float
        Level of the two limits.
    bounds : Limits, optional
        Limits that are known already; those of new rows otherwise. ``bounds.combined`` is the limit of φ.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> limit = insight.limits(pca).combined
    >>> insight.combined(pca, [far, off]) > limit  # one number finds both
    array([ True,  True])
    """
    limit = limits(model, alpha) if bounds is None else bounds
    inside, off = distances(model, X)
    return rows_valued(X, limit.index(inside, off))
