"""Who makes an axis, and how well an axis shows somebody.

    rows      contribution wᵢt²ᵢₖ/Σ wt²ₖ      columns sum to 1           cos² t²ᵢₖ/‖zᵢ‖²     rows sum to at most 1
    columns   contribution v²ⱼₖ                columns sum to 1           cos² = squared structure correlations

t scores, z the row in the frame of the fit (in feature space for kernels), w weights (counts for CA). A large
contribution says that an axis is about a row; a large cos² says that the axis says much about the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.insight.axes.loadings import quotients, structure
from ritz.insight.axes.of_model import axes_of, axis_names, columns_named, rows_named, scores_of, weights_of
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of
from ritz.project.transition import cos2 as shares

__all__ = ["column_contributions", "column_cos2", "contributions", "cos2"]

Floats = NDArray[np.float64]


@asked
def contributions(model: Any, X: Any, *, sample_weight: Any = None) -> Any:
    """Share of every row in every axis, (n, k); columns sum to 1.

    Parameters
    ----------
    model : any fitted model of the library
    X : rows, as ``transform`` takes them
        Shares are those among these rows: pass the rows of the fit to ask who made its axes.
    sample_weight : (n,) frequencies of the rows, or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> share = insight.contributions(pca, X)
    >>> share.sum().round(2).to_dict()
    {'PC1': 1.0, 'PC2': 1.0}
    >>> int(share["PC2"].idxmax()), round(float(share["PC2"].max()), 2)  # one flower of 150 makes 5 % of an axis
    (15, 0.05)
    """
    F = scores_of(model, X)
    w = weights_of(model, X, len(F), sample_weight)
    squares = np.square(np.where(w[:, None] > 0, F, 0.0)) * w[:, None]
    return rows_named(X, quotients(squares, squares.sum(axis=0)), axis_names(model, F.shape[1]))


@asked
def cos2(model: Any, X: Any) -> Any:
    """Share of every axis in the squared distance of every row from the centre, (n, k); NaN at the centre itself.

    Parameters
    ----------
    model : fitted PCA, SVD, KernelPCA, RobustPCA, CA, MCA, FAMD or MFA
    X : rows, as ``transform`` takes them

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> quality = insight.cos2(pca, X).sum(axis=1)
    >>> quality.quantile([0, 0.5]).round(2).to_list()  # most flowers lie in the plane, one hardly does
    [0.21, 0.97]
    """
    F, squares = fitted_of(model).squares(X)
    return rows_named(X, shares(F, squares), axis_names(model, F.shape[1]))


@asked
def column_contributions(model: Any) -> Any:
    """Share of every column in every axis, (d, k); columns sum to 1.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, SparsePCA, FactorAnalysis, CA, MCA, FAMD or MFA

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> insight.column_contributions(pca)["PC2"].round(2).to_dict()  # the second axis is the width of sepals
    {'sepal length': 0.14, 'sepal width': 0.85, 'petal length': 0.0, 'petal width': 0.0}
    """
    own = fitted_of(model).column_contributions()
    if own is not None:
        return own
    L = np.square(axes_of(model).loadings)
    return columns_named(model, quotients(L, L.sum(axis=0)), axis_names(model, L.shape[1]))


@asked
def column_cos2(model: Any, X: Any = None, *, sample_weight: Any = None) -> Any:
    """Share of the variance of every column that lies along every axis, (d, k).

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, CA, MCA, FAMD or MFA
        Or FactorAnalysis, as long as its factors are uncorrelated.
    X, sample_weight
        As for :func:`ritz.insight.structure`.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> insight.column_cos2(pca).round(2)         # squared correlations; over all axes they would sum to 1
                   PC1   PC2
    sepal length  0.79  0.13
    sepal width   0.21  0.78
    petal length  0.98  0.00
    petal width   0.93  0.00
    """
    own = fitted_of(model).column_cos2()
    if own is not None:
        return own
    if axes_of(model).correlations is not None:
        raise ParameterError(
            "cos² of columns needs uncorrelated factors", received="a model with correlated factors",
            hint="structure(model) gives correlations, communalities(model) what the factors explain together",
        )  # fmt: skip
    correlations = structure(model, X, sample_weight=sample_weight)
    values = np.square(np.asarray(correlations if isinstance(correlations, np.ndarray) else _numbers(correlations)))
    return columns_named(model, values, axis_names(model, values.shape[1]))


def _numbers(frame: Any) -> Floats:
    """The numbers of a labelled frame, without its column of labels."""
    import narwhals as nw

    native = nw.from_native(frame, eager_only=True)
    return native.select([name for name in native.columns if name != "column"]).to_numpy()
