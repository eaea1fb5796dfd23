"""The columns of a source: what each one is, found by as little reading as will do, or said by the user.

in memory            every column is looked at
Parquet              numbers by the footers; text, and numbers that may identify rows, by one pass over them
other tables         one pass over all columns but lists of numbers
arrays, lists        numbers; constants and missing values are found in the fit
read once only       judged by the first batch
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz._core.progress import track
from ritz._core.threads import lane_count, run_lanes
from ritz.data.formats.arrow import ArrowSource, Field
from ritz.data.formats.load import shares
from ritz.data.formats.matrix import MatrixSource, MemoryMatrix
from ritz.data.formats.memory import ArrowTable
from ritz.data.formats.pack import list_rows, numbers
from ritz.data.formats.source import Span
from ritz.data.tables.kinds import MANY_ROWS, column_kind, matrix_columns, may_identify
from ritz.data.tables.summaries import MatrixSummary, Summary, is_plain, update_together
from ritz.data.tables.table import KINDS, Column
from ritz.data.words import ALIKE, counted, shorten

__all__ = ["SOFTLY", "judge", "said"]

SCAN_BYTES = 16 << 20  # of spans that are read as wholes
MANY_COLUMNS, FEW_ROWS = 200, 2000  # from which, and up to which, columns of a batch are looked at together
SCAN_ROWS = 1 << 13  # of text: a batch of long texts must fit into a small memory limit
LOOKING = "looking at columns, row"
#: Categories, unless the column names rows, holds dates or never varies: what is said of all columns at once.
SOFTLY = "categorical?"
SAYABLE = tuple(kind for kind in KINDS if kind != "constant")


def said(source: Any, kinds: Mapping[str, str] | None) -> tuple[Any, dict[str, str]]:
    """Check what the user says of columns; the source without the dropped ones, and the kind of every one named."""
    if not kinds:
        return source, {}
    fields: list[Field] = source.fields if isinstance(source, ArrowSource) else []
    groups = {field.name: field.names for field in fields if field.width}
    columns = [*source.names, *source.label_names, *groups]
    forced: dict[str, str] = {}
    for name, kind in kinds.items():
        if kind not in (*SAYABLE, "drop", SOFTLY):
            raise ParameterError(
                f"the kind of a column is one of {', '.join(SAYABLE)} or drop",
                received=f"{kind!r} for column {name!r}",
                hint=f"kinds={{{name!r}: 'categorical'}}",
            )
        if name not in columns:
            raise unknown_column(name, columns, "kinds=")
        forced |= dict.fromkeys(groups.get(name, [name]), kind)
    if isinstance(source, ArrowSource):
        kept = [f for f in fields if kinds.get(f.name) != "drop"]
        source = source.with_fields([_as_numbers(f) if forced.get(f.name) == "numeric" else f for f in kept])
    elif any(forced.get(name) == "numeric" for name in source.label_names):
        raise ParameterError("columns of numbers as numeric", received="names of rows", hint="leave it out of kinds=")
    return source, forced


def unknown_column(name: str, columns: Sequence[str], where: str) -> InputError:
    """The error for a column that is not there."""
    close = difflib.get_close_matches(name, columns, n=1, cutoff=ALIKE)
    return InputError(
        f"expected a column {name!r} for {where}",
        received=f"columns {shorten([repr(n) for n in columns])}",
        hint=f"did you mean {close[0]!r}?" if close else "check the name",
    )


def _as_numbers(field: Field) -> Field:
    """The field as numbers: as it is, or its text read as numbers."""
    import pyarrow.types as pt

    from ritz.data.formats.pack import unwrapped

    if field.dtype is not None:
        return field
    kind = unwrapped(field.type)
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return dataclasses.replace(field, parse=True)
    words = "dates or times" if pt.is_temporal(kind) else f"values of type {kind}"
    raise ParameterError(
        f"column {field.name!r} must hold numbers, or text that can be read as numbers, to be numeric",
        received=words,
        hint="turn it into numbers first, e.g. days since a date",
    )


def judge(source: Any, forced: Mapping[str, str], *, full: bool = False) -> list[Column]:
    """The columns in the order of the source; ``full`` looks at every number."""
    if isinstance(source, ArrowSource):
        columns = _judge_arrow(source, forced, full or isinstance(source, ArrowTable))
    else:
        columns = _judge_matrix(source, full or isinstance(source, MemoryMatrix))
    return [_overruled(c, forced.get(c.name)) for c in columns if forced.get(c.name) != "drop"]


def _overruled(column: Column, kind: str | None) -> Column:
    if kind == SOFTLY:
        kind = None if column.kind in ("identifier", "date", "constant") else "categorical"
    if kind is None or kind == column.kind:
        return column
    reason = "" if kind == "numeric" else f"{kind}, as you said"
    return dataclasses.replace(column, kind=kind, reason=reason, strays=(), stray_count=0)


def _judge_matrix(source: MatrixSource, full: bool) -> list[Column]:
    labels = [Column(name, "identifier", 0, "names of the rows") for name in source.label_names]
    if not full:
        return labels + [Column(name, "numeric", None if source.dtype.kind == "f" else 0) for name in source.names]
    d = len(source.names)
    if source.sparse:
        missing = np.zeros(d, dtype=np.int64)
        for block in _all_rows(source):
            missing += np.bincount(block.indices[np.isnan(block.data)], minlength=d)
        return labels + [Column(n, "numeric", m) for n, m in zip(source.names, missing.tolist(), strict=True)]
    summary = MatrixSummary(d)
    for block in _all_rows(source):
        summary.update(block)
    return labels + matrix_columns(summary, source.names)


def _all_rows(source: Any) -> Any:
    step = max(1, (1 << 20) // max(1, len(source.names)))
    with track(LOOKING, total=source.n_rows) as advance:
        for span in source.spans:
            for block in source.batches(span, None, step):
                advance(block.shape[0])
                yield block


def _judge_arrow(source: ArrowSource, forced: Mapping[str, str], full: bool) -> list[Column]:
    once = not source.repeatable
    summaries: dict[str, Any] = {} if full else source.summaries()
    wanted = [
        field
        for j, field in enumerate(source.fields)
        if (full or not field.width) and _must_read(field, summaries.get(field.name), j == 0, forced)
    ]
    summaries |= _first_batch(source, wanted) if once else _scan(source, wanted)
    columns: list[Column] = []
    for j, field in enumerate(source.fields):
        summary = summaries.get(field.name)
        if isinstance(summary, MatrixSummary):
            columns += matrix_columns(summary, field.names)
        elif summary is None:  # lists of numbers, and what the user said
            columns += [Column(name, "numeric", None) for name in field.names]
        else:
            column = column_kind(field.name, summary, first=j == 0)
            columns.append(_from_first(column, summary) if once else column)
    return columns


def _must_read(field: Field, summary: Summary | None, first: bool, forced: Mapping[str, str]) -> bool:
    """Whether a column's rows must be looked at, beyond what is known of it already."""
    kind = forced.get(field.name)
    if summary is None or field.parse:
        return True
    if kind is not None or not may_identify(field.name, summary.type, first) or summary.missing:
        return False
    if may_identify(field.name, summary.type, False):
        return True
    return summary.rows >= MANY_ROWS and summary.low in (0, 1) and summary.high - summary.low == summary.rows - 1


def _empty(field: Field, first: bool) -> Any:
    import pyarrow as pa

    if field.width and field.dtype is not None:
        return MatrixSummary(field.width)
    if field.parse:
        return Summary(pa.float64())
    summary = Summary(field.type)
    summary.compared = may_identify(field.name, summary.type, first)
    return summary


def _update(summary: Any, field: Field, values: Any, start: int) -> None:
    import pyarrow as pa

    if isinstance(summary, MatrixSummary):
        summary.update(list_rows(values, field.width, field.name, start))
    elif field.parse:
        summary.update(pa.array(numbers(values, field.name), from_pandas=True))
    else:
        summary.update(values)


def _update_all(summaries: Sequence[Any], fields: Sequence[Field], columns: Sequence[Any], start: int) -> None:
    """The same for all columns of a batch: plain numbers of many short columns are looked at together."""
    rest: Sequence[int] = range(len(fields))
    if len(fields) >= MANY_COLUMNS and len(columns[0]) <= FEW_ROWS:
        plain = [not fields[j].parse and is_plain(summaries[j], columns[j]) for j in rest]
        together = [j for j in rest if plain[j]]
        if together:
            update_together([summaries[j] for j in together], [numbers(columns[j]) for j in together])
        rest = [j for j in rest if not plain[j]]
    for j in rest:
        _update(summaries[j], fields[j], columns[j], start)


def _scan(source: ArrowSource, fields: Sequence[Field]) -> dict[str, Any]:
    """Summaries of some columns by one pass; every lane makes its own, and they are merged in row order.

    Where a span is read as a whole, columns are looked at in turns: as many as the room holds.
    """
    if not fields:
        return {}
    if getattr(source, "whole_spans", False) and len(fields) > 1:
        most = max((span.rows for span in source.spans), default=0)
        width = sum(field.nbytes for field in fields) / len(fields)
        turn = max(1, int(SCAN_BYTES / lane_count() // max(1.0, most * width)))
        if turn < len(fields):
            parts = (_scan(source, fields[i : i + turn]) for i in range(0, len(fields), turn))
            return {name: summary for lane in parts for name, summary in lane.items()}
    lead = source.fields[0]

    def work(spans: list[Span]) -> list[Any]:
        summaries = [_empty(field, field is lead) for field in fields]
        for span in spans:
            start = span.start
            for batch in source.record_batches(span, fields, SCAN_ROWS):
                _update_all(summaries, fields, batch.columns, start)
                start += batch.num_rows
                advance(batch.num_rows)
                del batch  # what it lies in goes back before the next is read
        return summaries

    with track(LOOKING, total=source.n_rows) as advance:
        first, *more = run_lanes(work, shares(source.spans))
    for later in more:
        for summary, other in zip(first, later, strict=True):
            summary.merge(other)
    return {field.name: summary for field, summary in zip(fields, first, strict=True)}


def _first_batch(source: Any, fields: Sequence[Field]) -> dict[str, Any]:
    """Summaries of the first batch of an iterable that can be read once only."""
    summaries = {field.name: _empty(field, field is source.fields[0]) for field in fields}
    for field in fields:
        for values in source.first.column(field.at).chunks:
            _update(summaries[field.name], field, values, 0)
    return summaries


def _from_first(column: Column, summary: Summary) -> Column:
    """What the first batch can tell: numbers are numbers, even if they do not vary yet."""
    if summary.numeric and column.kind == "constant":
        return Column(column.name, "numeric", None)
    reason = column.reason and f"{column.reason} (judged by the first {counted(summary.rows, 'row')})"
    return dataclasses.replace(column, missing=None, reason=reason)
