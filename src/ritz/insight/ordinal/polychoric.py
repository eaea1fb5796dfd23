"""Correlations of the normal variables behind ordered categories: polychoric, and tetrachoric where there are two.

    x_j = level l   ⇔   τ_{j,l−1} < z_j ≤ τ_{j,l},      z ~ N(0, R),      R pair by pair (``pair.py``)

R of pairs need not be a correlation matrix; then the nearest one takes its place, and a warning says so. With it,
``FactorAnalysis.from_covariance(found.correlations, n)`` is the factor analysis of the answers, ``PCA`` likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz._core.warn import warn
from ritz.data.tables.frames import frame_names, is_frame, library_of, narwhal
from ritz.data.tables.labelled import labelled
from ritz.data.tables.table import Table
from ritz.data.validate import validate_weights
from ritz.insight.calls import asked
from ritz.insight.ordinal.pair import correlate, thresholds
from ritz.insight.repair import NearestCorrelation, repaired

__all__ = ["Polychoric", "polychoric"]

Floats = NDArray[np.float64]

#: Different values of a column beyond which it is a measurement.
LEVELS = 25


@dataclass(frozen=True)
class Polychoric(Tabular):
    """Correlations behind ordered categories.

    Attributes
    ----------
    correlations : (d, d) positive definite; a frame where one was given
    standard_errors : (d, d) of the correlations before any repair, thresholds being estimates; 0 on the diagonal
    thresholds : for each column, the points that divide the normal variable, (levels − 1,)
    levels : for each column, its levels in order
    n : rows of the table; ``pairs`` (d, d) are those that each correlation rests on
    filled : pairs of columns whose empty cells were filled, because their likelihood has no maximum otherwise
    repair : what was done where the pairs are no correlation matrix; None where they are
    """

    correlations: Any
    standard_errors: Any
    thresholds: dict[Any, Floats]
    levels: dict[Any, list[Any]]
    n: int
    pairs: NDArray[np.float64]
    filled: list[tuple[Any, Any]]
    repair: NearestCorrelation | None

    def _table(self) -> dict[str, Any]:
        names, R, E = list(self.levels), np.asarray(_bare(self.correlations)), np.asarray(_bare(self.standard_errors))
        i, j = np.triu_indices(len(names), 1)
        return {
            "a": [names[k] for k in i], "b": [names[k] for k in j], "correlation": R[i, j], "error": E[i, j],
            "n": self.pairs[i, j],
        }  # fmt: skip

    def __repr__(self) -> str:
        told = [f"polychoric correlations of {len(self.levels)} columns, {self.n} rows"]
        if self.filled:
            told.append(f"{len(self.filled)} pairs with empty cells filled")
        if self.repair is not None:
            told.append(repr(self.repair))
        return "\n".join([*told, str(self.correlations)])


@asked
def polychoric(
    X: Any, *, empty: float = 0.5, repair: bool = True, levels: int = LEVELS, sample_weight: Any = None
) -> Polychoric:
    """Polychoric correlations; tetrachoric ones of columns with two levels.

    Parameters
    ----------
    X : table (n, d) of ordered categories
        Whole numbers, booleans, or ordered categories of pandas or polars. Where a value is missing, the pairs of that
        column are those of the other rows.
    empty : float
        What is put into empty cells of a pair whose likelihood has its maximum at ±1 otherwise; 0: nothing, and the
        correlation is ±0.9999.
    repair : bool
        Where the pairs are no correlation matrix, give the nearest one, with a warning.
    levels : int
        Different values at most: more make a measurement, which is refused.
    sample_weight : (n,) frequencies, or None

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> rng = np.random.default_rng(0)
    >>> z = rng.multivariate_normal([0, 0, 0], [[1, 0.7, 0.5], [0.7, 1, 0.6], [0.5, 0.6, 1]], 2000, method="cholesky")
    >>> answers = np.digitize(z, [-0.5, 0.8])     # low, middle, high
    >>> found = insight.polychoric(answers)
    >>> found.correlations.round(2)
    array([[1.  , 0.7 , 0.54],
           [0.7 , 1.  , 0.6 ],
           [0.54, 0.6 , 1.  ]])
    >>> float(np.corrcoef(answers.T)[0, 1].round(2))  # of the codes themselves: too small
    0.59
    >>> fa = ritz.FactorAnalysis.from_covariance(found.correlations, n=2000, n_components=1)
    """
    if not 0 <= empty <= 1:
        raise ParameterError("empty is a number in [0, 1]", received=repr(empty), hint="empty=0.5")
    codes, names, seen = _codes(X, levels)
    n, d = codes.shape
    weights = np.ones(n) if sample_weight is None else validate_weights(sample_weight, n)
    R, E, pairs, filled, edge = np.eye(d), np.zeros((d, d)), np.zeros((d, d)), [], []
    for i in range(d):
        pairs[i, i] = weights[codes[:, i] >= 0].sum()
        for j in range(i + 1, d):
            table = _crossed(codes[:, i], codes[:, j], weights, len(seen[i]), len(seen[j]))
            pairs[i, j] = pairs[j, i] = table.sum()
            one = correlate(table, empty)
            if not np.isfinite(one.rho):
                raise InputError(
                    f"columns {names[i]!r} and {names[j]!r} have no rows in common in which both vary",
                    received=f"{int(table.sum())} rows", hint="leave one of them out",
                )  # fmt: skip
            R[i, j] = R[j, i] = one.rho
            E[i, j] = E[j, i] = one.error
            if one.filled:
                filled.append((names[i], names[j]))
            elif not np.isfinite(one.error):
                edge.append((names[i], names[j]))
    _tell(filled, edge, empty)
    fixed, how = repaired(R, "polychoric correlations of the pairs") if repair else (R, None)
    library = library_of(X)
    frame = [labelled(one, names, [str(name) for name in names], library, "column") for one in (fixed, E)]
    cut = {name: thresholds(_margin(codes[:, i], weights, len(seen[i]))) for i, name in enumerate(names)}
    told = dict(zip(names, seen, strict=True))
    return Polychoric(frame[0], frame[1], cut, told, n, pairs, filled, how)


def _tell(filled: list[tuple[Any, Any]], edge: list[tuple[Any, Any]], empty: float) -> None:
    """Warn of pairs whose likelihood has no maximum inside."""
    if filled:
        shown = ", ".join(f"{a} and {b}" for a, b in filled[:3])
        more = f" and {len(filled) - 3} more pairs" if len(filled) > 3 else ""
        warn(f"empty cells leave the likelihood of {shown}{more} without a maximum: {empty:g} was put into each",
             AccuracyWarning)  # fmt: skip
    if edge:
        shown = ", ".join(f"{a} and {b}" for a, b in edge[:3])
        warn(f"the likelihood of {shown} has its maximum at ±1: no standard error", AccuracyWarning)


def _crossed(a: Any, b: Any, weights: Floats, r: int, c: int) -> Floats:
    there = (a >= 0) & (b >= 0)
    return np.asarray(np.bincount(a[there] * c + b[there], weights[there], r * c), np.float64).reshape(r, c)


def _margin(a: Any, weights: Floats, r: int) -> Floats:
    return np.asarray(np.bincount(a[a >= 0], weights[a >= 0], r), np.float64)


def _bare(values: Any) -> Any:
    """A labelled square as numbers."""
    if hasattr(values, "to_numpy") and hasattr(values, "index"):
        return values.to_numpy()
    if hasattr(values, "columns") or hasattr(values, "column_names"):
        titles = list(values.columns if not hasattr(values, "column_names") else values.column_names)
        return np.column_stack([np.asarray(values[title]) for title in titles[1:]])
    return values


# codes of ordered categories


def _codes(X: Any, most: int) -> tuple[NDArray[np.int64], list[Any], list[list[Any]]]:
    """Codes (n, d) from 0, −1 for what is missing, with the names of the columns and their levels in order."""
    if isinstance(X, Table):
        X = X.to_pandas() if library_of(X) == "pandas" else X.to_arrow()
    if is_frame(X):
        names = [str(name) for name in frame_names(X)]
        columns = [_ordered(narwhal(X)[name], name) for name in frame_names(X)]
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise InputError("expected a table of ordered categories", received=f"shape {array.shape}")
        names, columns = [str(j) for j in range(array.shape[1])], [(array[:, j], None) for j in range(array.shape[1])]
    if len(columns) < 2:
        raise InputError("correlations need two columns at least", received=f"{len(columns)}")
    coded = [_coded(values, order, name, most) for name, (values, order) in zip(names, columns, strict=True)]
    return np.column_stack([codes for codes, _ in coded]), names, [levels for _, levels in coded]


def _ordered(column: Any, name: Any) -> tuple[Any, list[Any] | None]:
    """Values of a column of a frame, and its levels in order where its type tells them."""
    import narwhals as nw

    if column.dtype in (nw.Categorical, nw.Enum):
        native = column.to_native()
        order = _order_of(native)
        if order is None:
            raise InputError(
                "polychoric correlations need ordered categories", received=f"column {name!r}, whose order is not told",
                hint="pandas.Categorical(values, categories=[...], ordered=True), or whole numbers in order",
            )  # fmt: skip
        return np.asarray(column.to_list(), object), order
    return np.asarray(column.to_list(), object if not column.dtype.is_numeric() else None), None


def _order_of(column: Any) -> list[Any] | None:
    """Levels of a categorical column in order; None where their order says nothing."""
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if categories is not None and not callable(categories):  # of pandas
        return list(categories) if column.cat.ordered else None
    categories = getattr(getattr(column, "dtype", None), "categories", None)  # an Enum of polars
    return None if categories is None or callable(categories) else list(categories)


def _coded(values: Any, order: list[Any] | None, name: Any, most: int) -> tuple[NDArray[np.int64], list[Any]]:
    values = np.asarray(values)
    if values.dtype == object:
        values = np.array([np.nan if value is None else value for value in values], object)
    if order is None:
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "polychoric correlations need ordered categories", received=f"text in column {name!r}",
                hint="pandas.Categorical(values, categories=[...], ordered=True), or whole numbers in order",
            ) from None  # fmt: skip
        levels = np.unique(numbers[~np.isnan(numbers)]).tolist()
        codes = np.searchsorted(levels, numbers) if levels else np.zeros(len(numbers), np.int64)
        codes = np.where(np.isnan(numbers), -1, codes)
    else:
        place = {level: i for i, level in enumerate(order)}
        codes = np.array([place.get(value, -1) for value in values])
        used = np.unique(codes[codes >= 0])
        levels = [order[i] for i in used]
        codes = np.where(codes < 0, -1, np.searchsorted(used, codes))
    if len(levels) < 2:
        raise InputError("correlations need columns that vary", received=f"column {name!r} with one level",
                         hint="leave it out")  # fmt: skip
    if len(levels) > most:
        raise InputError(
            f"polychoric correlations are of ordered categories, at most {most}",
            received=f"column {name!r} with {len(levels)} different values, as measurements have",
            hint="group its values, or levels=... allows more",
        )
    return codes.astype(np.int64), levels
