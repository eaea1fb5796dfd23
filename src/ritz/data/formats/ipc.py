"""Arrow files (IPC, Feather version 2): one span a record batch.

Only the columns asked for are read; a batch is read as a whole, as the format has it, and is counted with as a whole.
What a batch says of its length is held against its buffers before a number is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz.data.formats.arrow import ArrowSource, Field, fields_of
from ritz.data.formats.declared import require_packed
from ritz.data.formats.files import damaged, file_identity, require_shape
from ritz.data.formats.source import Span
from ritz.data.formats.stamp import Stamp

__all__ = ["IpcSource"]


class IpcSource(ArrowSource):
    """Rows of an Arrow IPC file."""

    whole_spans = True

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self.stamp = Stamp([path])
        try:
            with pa.OSFile(str(path)) as file:
                schema = pa.ipc.open_file(file).schema
                narrow = min(range(len(schema)), key=lambda j: _width(schema.types[j]), default=0)
                reader = _opened(file, [narrow])
                counts = [_sound(reader.get_batch(i)).num_rows for i in range(reader.num_record_batches)]
                require_packed(float(sum(counts)) / 8, path, "its columns")
                peek = self._peek(file, counts, schema)
                _release()
        except (pa.ArrowException, OSError) as error:
            raise damaged(path, "Arrow file", error) from error
        spans, start = [], 0
        for i, count in enumerate(counts):
            if count:
                spans.append(Span(start, start + count, i))
                start += count
        require_shape(start, len(schema), path)
        super().__init__(fields_of(schema, peek), spans, [path])

    @staticmethod
    def _peek(file: Any, counts: list[int], schema: Any) -> Any:
        """The first rows of all columns, where a list column must tell its length."""
        import pyarrow.types as pt

        first = next((i for i, count in enumerate(counts) if count), None)
        lists = [j for j, kind in enumerate(schema.types) if pt.is_list(kind) or pt.is_large_list(kind)]
        if first is None or not lists:
            return None
        some = _sound(_opened(file, lists).get_batch(first)).slice(0, 1024)
        empty = schema.empty_table().slice(0, 0)
        columns = [some.column(lists.index(j)) if j in lists else empty.column(j) for j in range(len(schema))]
        return _Peek(columns)

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane takes: a record batch as stored and as it is, rows in use, waiting and being packed."""
        at = range(len(self.names)) if columns is None else columns
        return self.overhead(self._pieces(at)[0]) + super().held(columns, rows)

    def overhead(self, fields: Sequence[Field]) -> float:
        """Bytes of a record batch, as stored and as it is."""
        most = max((span.rows for span in self.spans), default=0)
        return 2.0 * most * sum(field.nbytes for field in fields)

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """The record batch of a span, cut to at most ``rows`` rows."""
        import pyarrow as pa

        path = self.files[0]
        wanted = sorted({field.at for field in fields})
        try:
            with pa.OSFile(str(path)) as file:
                batch = _sound(_opened(file, wanted).get_batch(span.key))
        except (pa.ArrowException, OSError) as error:
            raise damaged(path, "Arrow file", error) from error
        columns = [batch.column(wanted.index(field.at)) for field in fields]
        batch = pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])
        for i in range(0, batch.num_rows, rows):
            yield batch.slice(i, rows)
        del batch, columns
        _release()

    def fingerprint(self) -> str:
        """Changes with the file and the columns."""
        return file_identity(self.stamp, [field.name for field in self.fields])


def _width(kind: Any) -> int:
    try:
        return int(kind.bit_width)
    except ValueError:
        return 1 << 20


def _opened(file: Any, columns: list[int]) -> Any:
    """A reader of some columns."""
    import pyarrow as pa

    return pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=columns, use_threads=False))


def _release() -> None:
    """Give back what Arrow keeps: it takes room for all columns and fills that of a few, other ones each time."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


class _Peek:
    """Columns by their place, some of them empty."""

    def __init__(self, columns: list[Any]) -> None:
        self._columns = columns

    def column(self, j: int) -> Any:
        return self._columns[j]


def _sound(batch: Any) -> Any:
    """The batch, whose buffers must be as long as it says: compiled code would read foreign memory."""
    import pyarrow.types as pt

    for values in batch.columns:
        values.validate(full=not pt.is_primitive(values.type))
    return batch
