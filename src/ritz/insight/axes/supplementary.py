"""Variables that took no part in the axes, placed among those that did.

    a measurement   coordinates and correlations: r with the scores, cos² r²
    a level         the barycentre ḡₖ of its rows' scores, cos² ḡ²/‖z̄‖² with z̄ the mean of its rows in the frame of
                    the fit, v-test as in ``describe.py``
    a variable      η² with the scores                                                                      [HLP17]

Supplementary rows need nothing of their own: ``transform`` gives coordinates, ``cos2`` how well axes show them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.tabular import Tabular, flat_names
from ritz.data.encode import Encoder
from ritz.data.encode.columns import opened
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.center import taken_off
from ritz.data.tables.frames import library_of
from ritz.data.tables.labelled import labelled
from ritz.insight.arguments import table_of_variables
from ritz.insight.axes.describe import level_tests
from ritz.insight.axes.of_model import axis_names, scores_of, weights_of
from ritz.insight.calls import asked
from ritz.insight.rows.plane import rows_of
from ritz.methods.correspondence.mca.supplementary import Sums
from ritz.methods.fitted import fitted_of

__all__ = ["Supplementary", "supplementary"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Supplementary(Tabular):
    """Where further variables lie: frames where a frame was given, arrays otherwise.

    Attributes
    ----------
    correlations : (m, k) of measurements with the scores
    barycentres : (q, k) mean scores of the rows of every level
    cos2 : (q, k) share of every axis in the squared distance of a level from the centre; None for FactorAnalysis
    v_tests : (q, k) test values of the levels
    eta2 : (J, k) of the categorical variables
    measurements, levels, variables : their names
    """

    correlations: Any
    barycentres: Any
    cos2: Any
    v_tests: Any
    eta2: Any
    measurements: list[str]
    levels: list[str]
    variables: list[str]

    def __repr__(self) -> str:
        parts = {"correlations": self.correlations, "barycentres": self.barycentres, "v-tests": self.v_tests,
                 "η²": self.eta2}  # fmt: skip
        return "\n".join(f"{title}\n{values}" for title, values in parts.items() if len(values))

    def _table(self) -> dict[str, Any]:
        kinds = {"correlation": (self.correlations, self.measurements), "barycentre": (self.barycentres, self.levels),
                 "cos2": (self.cos2, self.levels), "v-test": (self.v_tests, self.levels),
                 "eta2": (self.eta2, self.variables)}  # fmt: skip
        parts = {kind: (flat_names(one, "")[0], names) for kind, (one, names) in kinds.items() if names}
        parts = {kind: part for kind, part in parts.items() if part[0].ndim == 2}
        titles = next((flat_names(kinds[kind][0], "")[2] for kind in parts), None)
        width = next((part[0].shape[1] for part in parts.values()), 0)
        table = np.vstack([part[0] for part in parts.values()]) if parts else np.zeros((0, width))
        lines = [(name, kind) for kind, (_, names) in parts.items() for name in names]
        first = {"name": [name for name, _ in lines], "statistic": [kind for _, kind in lines]}
        titles = titles or [f"PC{i + 1}" for i in range(width)]
        return first | {title: table[:, i] for i, title in enumerate(titles)}


@asked
def supplementary(
    model: Any, X: Any, variables: Any, *, categorical: Any = None, sample_weight: Any = None
) -> Supplementary:
    """Place variables that took no part in the fit.

    Parameters
    ----------
    model : fitted PCA, SVD, RobustPCA, SparsePCA or FactorAnalysis
        The correspondence family has ``supplementary_columns`` of its own.
    X : array-like, sparse matrix, frame or Table of shape (n, d)
        Rows, as ``transform`` takes them.
    variables : frame, Table or array of shape (n, m), one column of a frame, or dict of columns
        Further columns for the same rows, numbers or categories.
    categorical : None, "all" or list of names
        Columns of numbers that are categories.
    sample_weight : (n,) frequencies of the rows, or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> petal = ritz.PCA(2, scale=True).fit(X[["petal length", "petal width"]])
    >>> placed = insight.supplementary(petal, X[["petal length", "petal width"]], X[["sepal length", "sepal width"]])
    >>> placed.correlations.round(2)              # how sepals go along with what petals say
                   PC1   PC2
    sepal length  0.85  0.20
    sepal width  -0.40 -0.23
    """
    fitted_of(model).axes()  # refused where components are not made of columns of numbers
    T = scores_of(model, X)
    w = weights_of(model, X, len(T), sample_weight)
    variables = table_of_variables(variables)
    table = opened(variables)
    if table.n_rows != len(T):
        raise InputError(
            f"supplementary variables need a value for each of the {len(T)} rows", received=f"{table.n_rows} rows",
            hint="pass the same rows, in the same order",
        )  # fmt: skip
    share = w / np.sum(w)
    encoder = Encoder.learn(table, categorical=categorical, numbers=True, missing="exclude", weights=share)
    rows = encoder.rows(table, unseen=None)
    sums, p = Sums(encoder, T, share, rows), encoder.p
    with np.errstate(invalid="ignore", divide="ignore"):
        G = sums.first[p:] / sums.mass[p:, None]
    eta2, names = sums.result("eta2", float(np.sum(w)))
    names = [str(name) for name in names]
    cos2 = None if fitted_of(model).rotates_all else np.square(G) / _squares(model, X, rows, share, sums)[:, None]
    numbers, levels = encoder.labels[:p], list(encoder.active.labels)
    library, axes = library_of(variables), axis_names(model, T.shape[1])

    def shown(values: Any, labels: list[str], corner: str) -> Any:
        return None if values is None else labelled(values, labels, axes, library, corner)

    tests = level_tests(sums, float(np.sum(w)))[1]
    return Supplementary(
        shown(sums.correlations(), numbers, "variable"), shown(G, levels, "category"), shown(cos2, levels, "category"),
        shown(tests, levels, "category"), shown(eta2, names, "variable"), numbers, levels, names,
    )  # fmt: skip


def _squares(model: Any, X: Any, levels: Any, w: Floats, sums: Sums) -> Floats:
    """‖z̄‖² of every level, (q,): the mean of its rows in the frame of the fit."""
    p, active = sums.encoder.p, rows_of(model, X)
    means = np.zeros((sums.encoder.d - p, int(active.shape[1])))
    coded = np.concatenate([_dense(block.values)[:, p:] for block in blocks_of(levels).each()])
    linear = fitted_of(model).linear_map()
    for block in blocks_of(active).each():
        z = taken_off(_dense(block.values), linear.mean, linear.low)
        means += coded[block.rows].T @ (w[block.rows, None] * z)
    means /= sums.mass[p:, None]
    means = means if linear.scale is None else means / linear.scale
    return np.asarray(np.square(means).sum(axis=1))


def _dense(values: Any) -> Floats:
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray(), np.float64)
