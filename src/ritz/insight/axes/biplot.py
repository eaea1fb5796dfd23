"""Rows and columns in one picture: points whose inner products are the table.

    Z ≈ R Cᵀ          R (n×k) rows, C (d×k) columns, T scores, V directions, Λ variances

    form         R = T          C = V           distances between rows are true                        [Gab71]
    covariance   R = T Λ^-½     C = V Λ^½       angles between columns are correlations, lengths deviations
    symmetric    R = T Λ^-¼     C = V Λ^¼       both a little less

For the correspondence family V are the standard coordinates of the columns: form has rows in principal and columns in
standard coordinates, covariance the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.tabular import Tabular, flat_names
from ritz.data.words import nearest
from ritz.insight.axes.of_model import axes_of, axis_names, columns_named, rows_named, scores_of
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of
from ritz.project.transition import inverse_root

__all__ = ["SCALINGS", "Biplot", "biplot"]

Floats = NDArray[np.float64]

#: Exponent of Λ in the columns of each scaling; rows get its negative.
SCALINGS = {"form": 0.0, "covariance": 0.5, "symmetric": 0.25}


@dataclass(frozen=True)
class Biplot(Tabular):
    """Coordinates of a biplot.

    Attributes
    ----------
    rows : (n, k)
    columns : (d, k)
    scaling : "form", "covariance" or "symmetric"
    ratio : (k,) share of each axis in the variance
    """

    rows: Any
    columns: Any
    scaling: str
    ratio: Floats

    def __repr__(self) -> str:
        n, d, k = len(self.rows), len(self.columns), len(self.ratio)
        return (
            f"Biplot({self.scaling!r}: rows {n}×{k}, columns {d}×{k}, "
            f"{100 * np.sum(self.ratio[:2]):.1f} % in the first plane)"
        )

    def _table(self) -> dict[str, Any]:
        parts = [flat_names(side, "") for side in (self.rows, self.columns)]
        kinds = [kind for kind, part in zip(("row", "column"), parts, strict=True) for _ in part[1]]
        points = np.vstack([part[0] for part in parts])
        titles = parts[0][2] or parts[1][2] or [f"PC{i + 1}" for i in range(points.shape[1])]
        names = {"kind": kinds, "name": [*parts[0][1], *parts[1][1]]}
        return names | {title: points[:, i] for i, title in enumerate(titles)}


@asked
def biplot(model: Any, X: Any, *, scaling: str = "form") -> Biplot:
    """Coordinates of rows and columns whose inner products rebuild the table.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, FactorAnalysis, CA, MCA, FAMD or MFA
        FactorAnalysis has loadings with its scores, which is the covariance scaling.
    X : rows, as ``transform`` takes them
    scaling : "form", "covariance" or "symmetric"
        True distances between rows, true correlations between columns, or something between.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> drawn = insight.biplot(pca, X)
    >>> rebuilt = drawn.rows @ drawn.columns.T    # inner products of points and arrows are the table
    >>> scaled = (X - X.mean()) / X.std()
    >>> round(float(((rebuilt - scaled) ** 2).to_numpy().sum() / (scaled**2).to_numpy().sum()), 3)  # 1 − 0.958
    0.042
    """
    fitted = fitted_of(model)
    if scaling not in SCALINGS:
        words = ", ".join(map(repr, SCALINGS))
        raise ParameterError(f"scaling must be one of {words}", received=repr(scaling),
                             hint=f"scaling={nearest(scaling, tuple(SCALINGS))!r}")  # fmt: skip
    if fitted.rotates_all:
        return _factors(model, X, scaling)
    T, power = scores_of(model, X), SCALINGS[scaling]
    names = axis_names(model, T.shape[1])
    V, values, ratio = fitted.standard()
    columns = columns_named(model, V * values**power, names)
    rows = T * inverse_root(values) ** (2 * power)
    return Biplot(rows_named(X, rows, names), columns, scaling, np.asarray(ratio, np.float64))


def _factors(model: Any, X: Any, scaling: str) -> Biplot:
    if scaling != "covariance":
        raise ParameterError(
            "a model of factors has one biplot only, that of covariances: its factors have unit variance",
            received=repr(scaling),
            hint="scaling='covariance'",
        )
    axes, T = axes_of(model), scores_of(model, X)
    names = axis_names(model, T.shape[1])
    rows, columns = rows_named(X, T, names), columns_named(model, axes.loadings, names)
    return Biplot(rows, columns, scaling, axes.variances / axes.total)
