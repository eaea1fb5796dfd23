"""What took no part in the fit, placed among what did: columns and rows, as FactoMineR draws them.

a column of numbers     correlations with the axes                 circle, table, and r² among the variables
a level                 its barycentre, or its place in a map      maps, with cos² and v-tests
a categorical column    η² with the axes                           among the variables
a column of a CA        coordinates by the transition formulae     the map
a row                   ``transform``                              maps of rows
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.tables.frames import is_frame, row_labels
from ritz.data.tables.table import Table
from ritz.insight.axes.of_model import scores_of
from ritz.insight.axes.supplementary import supplementary
from ritz.methods.fitted import fitted_of
from ritz.report.html import KEPT, clip
from ritz.report.words import numbers_of

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["Further", "FurtherRows", "further_of", "further_rows_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Further:
    """Columns without part in the fit; an array of no rows where there is nothing of a kind."""

    numbers: list[str]
    correlations: Floats  # (m, k)
    levels: list[str]
    places: Floats  # (q, k) of the levels, or of the columns of a CA
    v_tests: Floats | None  # (q, k)
    cos2: Floats | None  # (q, k)
    variables: list[str]
    eta2: Floats  # (J, k)
    table: Any  # the columns themselves


@dataclass(frozen=True, eq=False)
class FurtherRows:
    """Rows without part in the fit."""

    names: list[str]
    places: Floats  # (r, k)
    cos2: Floats | None  # (r, k)


def further_of(about: Context) -> Further:
    """Place the columns that the user names."""
    table = _columns(about)
    if about.correspondence:
        return _of_counts(about, table) if about.known.about.takes == "counts" else _encoded(about, table)
    placed = supplementary(about.model, about.table, table)
    k = about.k
    return Further(
        [clip(name, KEPT) for name in placed.measurements], _plain(placed.correlations, k),
        [clip(name, KEPT) for name in placed.levels], _plain(placed.barycentres, k), _plain(placed.v_tests, k),
        None if placed.cos2 is None else _plain(placed.cos2, k), [clip(name, KEPT) for name in placed.variables],
        _plain(placed.eta2, k), table,
    )  # fmt: skip


def _columns(about: Context) -> Any:
    """The columns as a table: those of X that are named, or a table of their own."""
    given, X = about.supplementary, about.whole_table
    if not isinstance(given, (list, tuple)):
        return given
    names = [str(name) for name in given]
    if isinstance(X, Table):
        import pyarrow as pa

        if about.known.about.takes == "counts":
            return X.narrowed(names)
        return pa.table({name: pa.array(X.labels(name)) for name in names})
    if is_frame(X):
        return X[names]
    raise InputError(
        "supplementary names columns of a frame or a table", received=type(X).__name__,
        hint="pass the columns themselves: supplementary=frame",
    )  # fmt: skip


def _encoded(about: Context, table: Any) -> Further:
    """Of MCA, FAMD and MFA: numbers have correlations, levels a place, a test value and cos²."""
    model = about.model
    given: dict[str, Any] = {"rows": about.table}

    def ask(result: str) -> tuple[list[str], Floats]:
        return _named(model.supplementary_columns(table, result, **given), about.k)

    names, places = ask("coordinates")
    tested, tests = ask("v_tests")
    variables, eta2 = ask("eta2")
    _, cos2 = ask("cos2")
    p = len(names) - len(tested)
    return Further(names[:p], places[:p], names[p:], places[p:], tests, cos2[p:], variables, eta2, table)


def _of_counts(about: Context, table: Any) -> Further:
    names, places = _named(about.model.supplementary_columns(table), about.k)
    if isinstance(table, Table):  # whose results are plain arrays
        names = [clip(name, KEPT) for name, kind in table.kinds.items() if kind == "numeric"]
    _, cos2 = _named(about.model.supplementary_columns(table, "cos2"), about.k)
    none = np.zeros((0, about.k))
    return Further([], none, names, places, None, cos2, [], none, table)


def _named(result: Any, k: int) -> tuple[list[str], Floats]:
    """Names and numbers of a result, whatever library holds it."""
    if isinstance(result, np.ndarray):
        return [f"column {i + 1}" for i in range(len(result))], result[:, :k]
    if hasattr(result, "index"):
        return [clip(name, KEPT) for name in result.index], np.asarray(result, np.float64)[:, :k]
    import narwhals as nw

    frame = nw.from_native(result, eager_only=True)
    first, *rest = frame.columns
    return [clip(name, KEPT) for name in frame[first].to_list()], frame.select(rest).to_numpy()[:, :k]


def _plain(values: Any, k: int) -> Floats:
    if isinstance(values, np.ndarray):
        return values[:, :k]
    if not hasattr(values, "index"):
        return _named(values, k)[1]
    return np.asarray(numbers_of(values), np.float64)[:, :k]


def further_rows_of(about: Context) -> FurtherRows:
    """Place the rows that took no part."""
    rows = about.supplementary_rows
    F = np.asarray(scores_of(about.model, rows), np.float64)
    labels = _row_names(rows)
    names = [f"further row {i + 1}" for i in range(len(F))] if labels is None else [clip(one, KEPT) for one in labels]
    try:
        squares = np.asarray(fitted_of(about.model).squares(rows)[1], np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            cos2 = np.square(F) / squares[:, None]
    except InputError:
        cos2 = None
    return FurtherRows(names, F, cos2)


def _row_names(rows: Any) -> list[Any] | None:
    if isinstance(rows, Table):
        from ritz.report.rows import naming_column

        name = naming_column(rows)
        return None if name is None else rows.labels(name)
    labels = row_labels(rows)
    return None if labels is None or type(getattr(rows, "index", None)).__name__ == "RangeIndex" else list(labels)
