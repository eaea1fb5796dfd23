"""Arrow files (IPC, Feather version 2): one span a record batch.

Only the columns asked for are read; a batch is read as a whole, as the format has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz.data.source import Span
from ritz.data.sources.arrow import ArrowSource, Field, fields_of
from ritz.data.sources.files import damaged, file_identity, require_shape
from ritz.data.stamp import Stamp

__all__ = ["IpcSource"]


class IpcSource(ArrowSource):
    """Rows of an Arrow IPC file."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self.stamp = Stamp([path])
        try:
            with pa.OSFile(str(path)) as file:
                schema = pa.ipc.open_file(file).schema
                narrow = min(range(len(schema)), key=lambda j: _width(schema.types[j]), default=0)
                reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[narrow]))
                counts = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
                peek = self._peek(file, counts)
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
    def _peek(file: Any, counts: list[int]) -> Any:
        import pyarrow as pa

        first = next((i for i, count in enumerate(counts) if count), None)
        return None if first is None else pa.ipc.open_file(file).get_batch(first).slice(0, 1024)

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """The record batch of a span, cut to at most ``rows`` rows."""
        import pyarrow as pa

        path = self.files[0]
        wanted = sorted({field.at for field in fields})
        options = pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        try:
            with pa.OSFile(str(path)) as file:
                batch = pa.ipc.open_file(file, options=options).get_batch(span.key)
        except (pa.ArrowException, OSError) as error:
            raise damaged(path, "Arrow file", error) from error
        columns = [batch.column(wanted.index(field.at)) for field in fields]
        batch = pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])
        for i in range(0, batch.num_rows, rows):
            yield batch.slice(i, rows)

    def fingerprint(self) -> str:
        """Changes with the file and the columns."""
        return file_identity(self.stamp, [field.name for field in self.fields])


def _width(kind: Any) -> int:
    try:
        return int(kind.bit_width)
    except ValueError:
        return 1 << 20
