"""Arrow tables in memory, and frames brought to them.

pandas, polars and whatever else narwhals knows become Arrow tables; a pandas index that says something becomes
a column. Names are texts, and no two are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz._core.errors import InputError
from ritz.data.formats.arrow import ArrowSource, Field, fields_of
from ritz.data.formats.source import Span
from ritz.data.tables.frames import narwhal

__all__ = ["ArrowTable", "arrow_table", "coerced"]

SPAN_ROWS = 1 << 16


class ArrowTable(ArrowSource):
    """Rows of an Arrow table in memory."""

    def __init__(self, table: Any, fields: Sequence[Field] | None = None, files: Sequence[Path] = ()) -> None:
        n = table.num_rows
        spans = [Span(i, min(n, i + SPAN_ROWS)) for i in range(0, n, SPAN_ROWS)]
        if fields is None:
            fields = fields_of(table.schema, table.slice(0, 1024))
        fields = [_counted(field, table.column(field.at)) for field in fields]
        super().__init__(fields, spans, files)
        self.table = table
        self._bytes: int | None = None

    @property
    def decoded(self) -> int:
        """Bytes that the table takes; added up once, which takes Arrow half a second for 30,000 columns."""
        if self._bytes is None:
            self._bytes = int(self.table.nbytes)
        return self._bytes

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """Views of the rows of a span."""
        columns = self.table.select([field.at for field in fields]).slice(span.start, span.rows)
        yield from columns.rename_columns([field.name for field in fields]).to_batches(max_chunksize=rows)

    def fingerprint(self) -> str:
        """The place in memory: good as long as this object lives."""
        return f"memory:{id(self.table):x}:{self.table.num_rows}:{[field.name for field in self.fields]}"


def _counted(field: Field, values: Any) -> Field:
    import dataclasses

    inner = any(chunk.values.null_count for chunk in values.chunks) if field.width else False
    return dataclasses.replace(field, complete=not inner and values.null_count == 0 and not field.parse)


def arrow_table(frame: Any) -> Any:
    """A frame of any library as an Arrow table."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if not nw.dependencies.is_pandas_dataframe(frame):
        return narwhal(frame).to_arrow()
    from ritz.data.formats.text.header import unique_names

    given = [str(name) for name in frame.columns]
    frame = frame.copy(deep=False)
    frame.columns = unique_names(tuple(given))
    try:
        table = pa.Table.from_pandas(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            "columns of one type each in the frame",
            received=str(error).splitlines()[0],
            hint="convert such a column first, e.g. frame[name].astype(str)",
        ) from error
    indices = ["row" if name.startswith("__index_level_") else name for name in table.column_names[len(given) :]]
    names = [*(name or unique for name, unique in zip(given, table.column_names, strict=False)), *indices]
    return table.rename_columns(names).replace_schema_metadata(None)


def coerced(source: ArrowTable, names: Sequence[str]) -> tuple[ArrowTable, list[str]]:
    """The table with texts of these columns as numbers, what is none missing; and a note on each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table, notes = source.table, []
    place = {field.name: field.at for field in source.fields}
    for name in names:
        text = pc.utf8_trim_whitespace(table.column(place[name]).cast(pa.string()))
        numbers = pa.chunked_array(
            [[_number(value) for value in chunk.to_pylist()] for chunk in text.chunks], pa.float64()
        )
        gone = int(numbers.null_count - text.null_count)
        notes.append(f"{name!r}: values that are no numbers made missing, as asked ({gone})")
        table = table.set_column(place[name], table.schema.names[place[name]], numbers)
    return ArrowTable(table, files=source.files), notes


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
