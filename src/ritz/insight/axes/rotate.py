"""Rotated components and factors.

    L = A T^-ᵀ,   f = z T,   Φ = TᵀT,   variances diag(Φ LᵀL)       A (d×k) loadings, z (n×k) standardised scores

Components of a PCA that are rotated still span the same plane and account for the same variance in total, but they are
no principal components any more: none has the largest variance. Criteria: ``methods/rotation.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular, flat_names
from ritz.data.words import counted
from ritz.insight.axes.of_model import Axes, axes_of, axis_names, columns_named, independent, rows_named
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of
from ritz.methods.rotation import Rotated, rotate_loadings

__all__ = ["Rotation", "rotate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rotation(Tabular):
    """Rotated components of a model, or rotated loadings.

    Attributes
    ----------
    method : the criterion
    loadings : (d, k) pattern: weights of the factors in the columns
    structure : (d, k) covariances of the columns with the factors; the loadings, unless factors are correlated
    variances, variance_ratio : (k,) variance that each factor accounts for, and its share in all
    factor_correlations : (k, k) Φ
    matrix : (k, k) T
    communalities : (d,) variance of each column that the factors account for: a rotation does not change it
    """

    method: str
    loadings: Any
    structure: Any
    variances: Floats
    variance_ratio: Floats
    factor_correlations: Floats
    matrix: Floats
    communalities: Any
    _model: Any = None

    def scores(self, X: Any) -> Any:
        """Scores of rows on the rotated factors, (n, k): of unit variance for the rows of a PCA."""
        model, k = self._model, len(self.matrix)
        if model is None:
            raise InputError(
                "scores need the model that was rotated", received="a rotation of loadings alone",
                hint="rotate(model, …).scores(X)",
            )  # fmt: skip
        F = fitted_of(model).rotated_scores(X, self.matrix, self.factor_correlations)
        return rows_named(X, F, _names(model, k))

    def __repr__(self) -> str:
        shares = ", ".join(f"{100 * share:.1f} %" for share in self.variance_ratio)
        return f"Rotation({self.method!r}, {counted(len(self.matrix), 'factor')} with {shares} of the variance)"

    def _table(self) -> dict[str, Any]:
        L, names, titles = flat_names(self.loadings, "")
        titles = titles or [f"RC{i + 1}" for i in range(L.shape[1])]
        columns = {"variable": names} | {title: L[:, i] for i, title in enumerate(titles)}
        return columns | {"communality": flat_names(self.communalities, "")[0]}


@asked
def rotate(
    model: Any, method: str = "varimax", *, n_components: int | None = None, normalize: bool | None = None,
    power: float = 4, gamma: float = 0.0, max_iter: int = 1000, tol: float = 1e-10,
) -> Rotation:  # fmt: skip
    """Rotate components towards a simple structure.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA or FactorAnalysis, or an array of loadings (d, k)
    method : "varimax", "quartimax", "promax" or "oblimin"
        Two orthogonal rotations, and two whose factors may be correlated.
    n_components : int, optional
        Rotate the first so many only: rotating components that are noise spoils the others.
    normalize : bool, optional
        Weigh all variables alike (Kaiser); None: for varimax and promax, as R does.
    power : float
        promax: exponent of the target.
    gamma : float
        oblimin: 0 is quartimin; larger is more oblique, smaller less.
    max_iter, tol
        Iterations at most; angle, or slope of the criterion, at which they end.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.standard_normal((2, 400))
    >>> X = np.c_[a, a, b, b] + 0.3 * rng.standard_normal((400, 4))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> np.abs(insight.loadings(pca)).round(1)    # components mix the two pairs
    array([[0.7, 0.7],
           [0.7, 0.7],
           [0.7, 0.7],
           [0.7, 0.7]])
    >>> np.abs(insight.rotate(pca).loadings).round(1)
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    axes = None if isinstance(model, (np.ndarray, list)) else axes_of(model)
    A = _unrotated(model, axes)
    if n_components is not None:
        if not (isinstance(n_components, (int, np.integer)) and 1 <= n_components <= A.shape[1]):
            raise ParameterError(f"n_components must be from 1 to {A.shape[1]}", received=repr(n_components))
        if axes is not None and fitted_of(model).rotates_all and n_components != A.shape[1]:
            raise ParameterError(
                "factors are rotated all together", received=f"n_components={n_components}",
                hint=f"fit {type(model).__name__}({n_components})",
            )  # fmt: skip
        A = A[:, : int(n_components)]
    options: dict[str, Any] = {"power": power, "gamma": gamma, "max_iter": max_iter, "tol": tol}
    return _named(rotate_loadings(A, method, normalize=normalize, **options), method, axes)


def _unrotated(model: Any, axes: Axes | None) -> Floats:
    if axes is None:
        A = np.asarray(model, np.float64)
        if A.ndim != 2 or not np.isfinite(A).all():
            raise InputError("expected finite loadings of shape (d, k)", received=f"shape {A.shape}")
        return A
    independent(axes, "rotations")
    return fitted_of(model).unrotated()


def _named(turned: Rotated, method: str, axes: Axes | None) -> Rotation:
    L, phi, variances = turned.loadings, turned.correlations, turned.variances
    common = np.einsum("ij,jk,ik->i", L, phi, L)
    if axes is None:
        ratio = variances / len(L)  # of standardised columns
        return Rotation(method, L, L @ phi, variances, ratio, phi, turned.matrix, common)
    names = _names(axes.model, L.shape[1])
    ratio = variances / axes.total if axes.total > 0 else np.zeros_like(variances)
    pattern, structure = columns_named(axes.model, L, names), columns_named(axes.model, L @ phi, names)
    communal = columns_named(axes.model, common, None)
    return Rotation(method, pattern, structure, variances, ratio, phi, turned.matrix, communal, axes.model)


def _names(model: Any, k: int) -> list[str]:
    """RC1, … for rotated components, as psych says; F1, … for factors."""
    return axis_names(model, k) if fitted_of(model).rotates_all else [f"RC{i + 1}" for i in range(k)]
