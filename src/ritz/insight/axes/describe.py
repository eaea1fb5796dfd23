"""What an axis is about, in terms of variables that took part in it and of others.

    a measurement   r = correlation with the scores t           p from  r√((n − 2)/(1 − r²)) ~ t(n − 2)
    a variable      η² = between-level share of the variance     p from  η²/(J − 1) · (n − J)/(1 − η²) ~ F(J − 1, n − J)
    one level       estimate t̄ₖ − mean of the J level means      p from the t test of the level against all others;
                    v-test (t̄ₖ − t̄)/√(s²/nₖ · (n − nₖ)/(n − 1))   s² = Σw(t − t̄)²/n                            [HLP17]

n counts the rows that have a value. p-values are those of single variables: with many, some are small by chance; and a
variable that made the axis is related to it by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz._core import memory as memory_limit
from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz._core.tabular import Tabular
from ritz.data.encode import Encoder
from ritz.data.encode.columns import opened
from ritz.data.tables.frames import library_of
from ritz.data.tables.labelled import labelled
from ritz.insight.arguments import component_numbers, table_of_variables
from ritz.insight.axes.of_model import axis_names, scores_of, weights_of
from ritz.insight.calls import asked
from ritz.methods.correspondence.mca.supplementary import Sums
from ritz.methods.fitted import fitted_of

__all__ = ["AxisDescription", "Category", "Description", "Qualitative", "Quantitative", "describe", "level_tests"]

Floats = NDArray[np.float64]


class Quantitative(NamedTuple):
    """A measurement and an axis."""

    variable: str
    correlation: float
    p_value: float


class Qualitative(NamedTuple):
    """A categorical variable and an axis."""

    variable: str
    eta2: float
    p_value: float


class Category(NamedTuple):
    """One level of a categorical variable and an axis."""

    category: str
    estimate: float
    v_test: float
    p_value: float


class AxisDescription(NamedTuple):
    """What one axis is related to: frames where a frame was given, lists of records otherwise.

    Attributes
    ----------
    quantitative : variable, correlation, p_value; from the largest correlation to the smallest
    qualitative : variable, eta2, p_value; from the smallest p_value
    categories : category, estimate, v_test, p_value; from the largest v_test to the smallest
    """

    quantitative: Any
    qualitative: Any
    categories: Any


_KINDS = (Quantitative, Qualitative, Category)


class Description(Tabular, dict[str, AxisDescription]):
    """Descriptions of axes by name."""

    def __init__(self, records: dict[str, tuple[list[Any], ...]], library: str | None) -> None:
        super().__init__(
            {axis: AxisDescription(*map(_framed, parts, _KINDS, [library] * 3)) for axis, parts in records.items()}
        )
        #: The same as lists of records, whatever library the frames are of.
        self.records = records

    def __repr__(self) -> str:
        lines = []
        for axis, (numbers, variables, levels) in self.records.items():
            lines.append(axis)
            lines += [f"  {r.correlation:+.3f}  p {r.p_value:.2g}  {r.variable}" for r in numbers]
            lines += [f"  η² {r.eta2:.3f}  p {r.p_value:.2g}  {r.variable}" for r in variables]
            lines += [f"  v {r.v_test:+.2f}  p {r.p_value:.2g}  {r.category}" for r in levels]
            if not (numbers or variables or levels):
                lines.append("  nothing")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        lines: list[tuple[str, str, str, str, float, float]] = []
        for axis, (numbers, variables, levels) in self.records.items():
            lines += [(axis, "number", r.variable, "correlation", r.correlation, r.p_value) for r in numbers]
            lines += [(axis, "variable", r.variable, "eta2", r.eta2, r.p_value) for r in variables]
            lines += [(axis, "category", r.category, "v_test", r.v_test, r.p_value) for r in levels]
        titles = ("axis", "kind", "name", "statistic", "value", "p_value")
        return {title: [line[i] for line in lines] for i, title in enumerate(titles)}


@asked
def describe(
    model: Any, X: Any, variables: Any = None, *, components: Sequence[int | str] | None = None, alpha: float = 0.05,
    categorical: Any = None, sample_weight: Any = None,
) -> Description:  # fmt: skip
    """Describe axes by the variables that are related to them.

    Parameters
    ----------
    model : any fitted model with ``transform``
    X : frame, Table, array or sparse matrix of shape (n, d)
        Rows, as ``transform`` takes them; their columns are looked at too. Strings and kernel matrices have none.
    variables : frame, Table or array of shape (n, m), one column of a frame, or dict of columns; optional
        Further columns for the same rows, numbers or categories.
    components : list of int or str, optional
        Which axes, from 0 or by name, 0 or "PC1"; all by default.
    alpha : float
        Largest p-value that is shown; 1 for all.
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
    >>> kind = {"kind": load_iris().target_names[load_iris().target]}
    >>> told = insight.describe(pca, X, kind)["PC1"]
    >>> told.quantitative["correlation"].round(2).head(2).to_dict()
    {'petal length': 0.99, 'petal width': 0.96}
    >>> told.qualitative["eta2"].round(2).to_dict()  # the first axis tells the kinds apart
    {'kind': 0.93}
    """
    if not (isinstance(alpha, (int, float)) and 0 < alpha <= 1):
        raise ParameterError("alpha must be a number in (0, 1]", received=repr(alpha), hint="alpha=0.05")
    T = scores_of(model, X)
    w = weights_of(model, X, len(T), sample_weight)
    n = float(len(T)) if sample_weight is None else float(np.sum(w))
    names = axis_names(model, T.shape[1])
    chosen = list(range(len(names))) if components is None else component_numbers(components, names)
    descriptions: dict[str, tuple[list[Any], ...]] = {names[i]: ([], [], []) for i in chosen}
    columns = fitted_of(model).has_columns()  # strings and matrices of kernels have none
    for table in (fitted_of(model).tabled(X) if columns else None, table_of_variables(variables)):
        if table is not None:
            for i, lists in _related(T[:, chosen], w / np.sum(w), n, _dense_table(model, table), categorical):
                for kept, records in zip(descriptions[names[chosen[i]]], lists, strict=True):
                    kept.extend(r for r in records if r.p_value <= alpha)
    for numbers, levels, parts in descriptions.values():
        numbers.sort(key=lambda r: -r.correlation)
        levels.sort(key=lambda r: (r.p_value, -r.eta2))
        parts.sort(key=lambda r: -r.v_test)
    return Description(descriptions, library_of(X))


def _dense_table(model: Any, table: Any) -> Any:
    """A sparse matrix as an array, which is what a table of variables can be read from."""
    if not hasattr(table, "toarray"):
        return table
    size, most = 8.0 * table.shape[0] * table.shape[1], memory_limit.limit(getattr(model, "memory", None))
    if size > most / 4:
        raise MemoryLimitError(
            f"describing the columns of a sparse matrix needs a dense copy of {size / 1e9:.3g} GB",
            received=f"a limit of {most / 1e9:.3g} GB", hint="top_variables(model) names the columns of every axis",
        )  # fmt: skip
    return np.asarray(table.toarray(), np.float64)


def _related(T: Floats, w: Floats, n: float, X: Any, categorical: Any) -> list[tuple[int, tuple[list[Any], ...]]]:
    """Records of every axis: measurements, variables, levels."""
    table = opened(X)
    if table.n_rows != len(T):
        raise InputError(
            f"expected a value of every variable for each of the {len(T)} rows", received=f"{table.n_rows} rows",
            hint="pass the same rows, in the same order",
        )  # fmt: skip
    asked = categorical
    if asked is not None and not isinstance(asked, str):
        asked = [name for name in asked if name in table.names] or None
    encoder = Encoder.learn(table, categorical=asked, numbers=True, missing="exclude", weights=w)
    f = T - w @ T
    sums = Sums(encoder, f, w, encoder.rows(table, unseen=None))
    numbers, variables, levels = _numbers(sums, n), _variables(sums, n), _levels(sums, n)
    return [(i, (numbers(i), variables(i), levels(i))) for i in range(T.shape[1])]


def _numbers(sums: Sums, n: float) -> Any:
    from scipy.stats import t

    names, r = sums.encoder.labels[: sums.encoder.p], sums.correlations()
    count = n * sums.numbers[0][:, :1]
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * t.sf(np.abs(r) * np.sqrt((count - 2) / np.maximum(1 - r * r, 0.0)), count - 2)
    return lambda i: [Quantitative(str(name), float(r[j, i]), float(p[j, i])) for j, name in enumerate(names)]


def _moments(sums: Sums) -> tuple[Any, Floats, Floats, Any]:
    """Of each variable: share of the rows that answered (J,), mean and variance (J, k) of their scores, levels (J,)."""
    p, owners, J = sums.encoder.p, sums.encoder.active.owners, sums.encoder.vocabulary.J
    k = sums.first.shape[1]
    answered, mean, square = np.bincount(owners, sums.mass[p:], J), np.zeros((J, k)), np.zeros((J, k))
    np.add.at(mean, owners, sums.first[p:])
    np.add.at(square, owners, sums.second[p:])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean /= answered[:, None]
        variance = square / answered[:, None] - np.square(mean)
    return answered, mean, variance, np.bincount(owners, sums.mass[p:] > 0, J)


def _variables(sums: Sums, n: float) -> Any:
    from scipy.stats import f as fisher

    answered, _, _, J = _moments(sums)
    eta2, names = sums.result("eta2", n)
    within = (n * answered - J)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        p = fisher.sf(eta2 / (J - 1)[:, None] * within / (1 - eta2), (J - 1)[:, None], within)
    return lambda i: [Qualitative(str(name), float(eta2[j, i]), float(p[j, i])) for j, name in enumerate(names)]


def level_tests(sums: Sums, n: float) -> tuple[Floats, Floats, Floats]:
    """Estimates, v-tests and p-values of the levels, (q, k) each."""
    from scipy.stats import t

    p, owners = sums.encoder.p, sums.encoder.active.owners
    answered, mean, variance, J = _moments(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        G = sums.first[p:] / sums.mass[p:, None]
        share = (sums.mass[p:] / answered[owners])[:, None]
        r = (G - mean[owners]) * np.sqrt(share / (1 - share) / variance[owners])  # of the level's indicator
        count = (n * answered[owners])[:, None]
        probability = 2 * t.sf(np.abs(r) * np.sqrt((count - 2) / np.maximum(1 - r * r, 0.0)), count - 2)
        middle = np.zeros_like(mean)
        np.add.at(middle, owners, np.nan_to_num(G))
        estimate = G - (middle / J[:, None])[owners]
    return estimate, r * np.sqrt(count - 1), probability


def _levels(sums: Sums, n: float) -> Any:
    tests, labels = level_tests(sums, n), sums.encoder.active.labels
    return lambda i: [Category(str(name), *(float(test[j, i]) for test in tests)) for j, name in enumerate(labels)]


def _framed(records: list[Any], kind: Any, library: str | None) -> Any:
    if library is None:
        return records
    name, *fields = kind._fields
    values = np.array([record[1:] for record in records], np.float64).reshape(len(records), len(fields))
    return labelled(values, [record[0] for record in records], fields, library, name)
