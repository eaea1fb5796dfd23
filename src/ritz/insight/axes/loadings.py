"""What components are made of, column by column.

    loadings        L = V Λ^½             (d, k)    in the frame of the fit: of standardised columns when scale=True
    structure       LΦ/s                  (d, k)    correlations of the columns with the scores
    communalities   Σₖ (L∘LΦ)ⱼₖ/s²ⱼ       (d,)      share of a column's variance that the components account for

s the standard deviations of the columns, Φ the correlations of the factors (I unless a rotation made them oblique).
About zero (SVD) deviations are root mean squares and correlations are cosines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tabular import Tabular
from ritz.insight.arguments import component_numbers
from ritz.insight.axes.of_model import axes_of, axis_names, column_labels, columns_named, independent, spread
from ritz.insight.calls import asked

__all__ = ["TopVariable", "communalities", "loadings", "quotients", "structure", "top_variables"]

Floats = NDArray[np.float64]


@asked
def loadings(model: Any) -> Any:
    """Components times the standard deviations of their scores, (d, k).

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, SparsePCA or FactorAnalysis
        The result is a frame where the fit had names of columns, an array otherwise.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> insight.loadings(pca).round(2)            # of scaled columns: correlations with the components
                   PC1   PC2
    sepal length  0.89  0.36
    sepal width  -0.46  0.88
    petal length  0.99  0.02
    petal width   0.96  0.06
    """
    axes = axes_of(model)
    return columns_named(model, axes.loadings, axis_names(model, axes.loadings.shape[1]))


@asked
def structure(model: Any, X: Any = None, *, sample_weight: Any = None) -> Any:
    """Correlations of the columns with the scores, (d, k).

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA or FactorAnalysis
    X : rows of the fit, optional
        Needed where the model did not keep how much its columns vary: SVD, RobustPCA, a PCA of unscaled columns
        without its moment state.
    sample_weight : (n,) frequencies of the rows, or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> raw = ritz.PCA(2).fit(X)
    >>> insight.structure(raw).round(2)           # correlations, though this fit did not scale its columns
                   PC1   PC2
    sepal length  0.90  0.39
    sepal width  -0.40  0.83
    petal length  1.00 -0.05
    petal width   0.97 -0.05
    """
    axes = axes_of(model)
    independent(axes, "structure correlations")
    values = quotients(axes.structure, spread(model, X, sample_weight)[:, None])
    return columns_named(model, values, axis_names(model, values.shape[1]))


@asked
def communalities(model: Any, X: Any = None, *, sample_weight: Any = None) -> Any:
    """Share of the variance of every column that the components account for, (d,).

    Parameters
    ----------
    model, X, sample_weight
        As for :func:`ritz.insight.structure`.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> insight.communalities(pca).round(2)       # what two components keep of each column
    sepal length    0.92
    sepal width     0.99
    petal length    0.98
    petal width     0.94
    dtype: float64
    """
    axes = axes_of(model)
    independent(axes, "communalities")
    values = np.einsum("ij,ij->i", axes.loadings, axes.structure)
    return columns_named(model, quotients(values, np.square(spread(model, X, sample_weight))), None)


def quotients(values: Floats, size: Floats) -> Floats:
    """Quotients; NaN for columns that do not vary."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 0, values / size, np.nan)


@dataclass(frozen=True)
class TopVariable:
    """One of the columns that make a component.

    Attributes
    ----------
    axis : name of the component
    variable : name of the column, or its number
    loading : with its sign
    contribution : share of the squared loadings of the component
    """

    axis: str
    variable: Any
    loading: float
    contribution: float

    def __repr__(self) -> str:
        return f"{self.axis} {self.loading:+.3f} {self.variable} ({100 * self.contribution:.0f} %)"


class TopVariables(Tabular, list[TopVariable]):
    """The columns that make components, the largest first."""

    def _table(self) -> dict[str, Any]:
        return {name: [getattr(one, name) for one in self] for name in TopVariable.__dataclass_fields__}


@asked
def top_variables(model: Any, component: int | str | None = None, n: int = 5) -> TopVariables:
    """The columns with the largest loadings of a component, largest first, with their signs.

    Parameters
    ----------
    model : as for :func:`ritz.insight.loadings`
    component : int, str or None
        Which one, from 0 or by name, 0 or "PC1"; None: all, one after the other.
    n : int
        Columns of each component, at most.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> for top in insight.top_variables(pca, "PC2", n=2):
    ...     print(top.variable, round(top.loading, 2))
    sepal width 0.88
    sepal length 0.36
    """
    L = axes_of(model).loadings
    d, k = L.shape
    names: list[Any] = [*(column_labels(model) or range(d))]
    axes = axis_names(model, k)
    shares = quotients(np.square(L), np.square(L).sum(axis=0))
    variables = []
    for i in range(k) if component is None else component_numbers(component, axes):
        order = np.argsort(-np.abs(L[:, i]), kind="stable")[: max(int(n), 0)]
        variables += [TopVariable(axes[i], names[j], float(L[j, i]), float(shares[j, i])) for j in order]
    return TopVariables(variables)
