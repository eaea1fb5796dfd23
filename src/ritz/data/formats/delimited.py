"""Delimited text larger than memory: pieces of whole rows, each parsed on its own with types that hold for all.

    span   some megabytes of whole rows; its key is a Piece: offsets and the line it begins in
    batch  parsed a megabyte at a time, on the thread that asks

The file is read once from end to end before the first span is: rows are counted and the types of all columns found, so
that a column that is integer at first and 3.5 further down is float everywhere. What was parsed then is read back from
disk where that was kept and its types hold (``text/parsed.py``). A file that has changed since is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError
from ritz.data.formats.arrow import ArrowSource, Field
from ritz.data.formats.files import file_identity
from ritz.data.formats.source import Span
from ritz.data.formats.text.columns import is_number
from ritz.data.formats.text.dialect import TextOptions
from ritz.data.formats.text.file import BLOCK_BYTES, TextFile
from ritz.data.formats.text.rows import Piece
from ritz.data.formats.text.scan import SPAN_BYTES, Scanned, scan
from ritz.data.words import counted

__all__ = ["DelimitedSource"]

PARSED = 4.0  # bytes for a byte of text that is being parsed: where its fields are, and its values


class DelimitedSource(ArrowSource):
    """Rows of a delimited text file that stays on disk.

    Parameters
    ----------
    file : path or TextFile
        Packed or wide text is unpacked to a temporary file once.
    options : TextOptions
        What the user says about the file.
    span_bytes : int
        Bytes of text in a span.
    """

    def __init__(
        self, file: Path | TextFile, options: TextOptions | None = None, *, span_bytes: int = SPAN_BYTES
    ) -> None:
        self.text = file if isinstance(file, TextFile) else TextFile(Path(file), options)
        self.stamp = self.text.seen
        self.scanned: Scanned = scan(self.text, span_bytes, keep=False)
        self.notes = (*self.text.notes, *self.scanned.notes)
        ends = [*self.scanned.starts[1:], self.scanned.rows]
        starts = zip(self.scanned.starts, ends, self.scanned.pieces, strict=True)
        fields = [
            Field(form.name, form.final_type, j, complete=not self.scanned.missing[j] and form.form is None)
            for j, form in enumerate(self.scanned.forms)
        ]
        super().__init__(fields, [Span(a, b, piece) for a, b, piece in starts], [self.text.path])

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """Record batches of a span, parsed as they are asked for."""
        import pyarrow as pa

        forms = [self.scanned.forms[field.at] for field in fields]
        types = {form.name: form.type for form in forms}
        marks, seen = self.text.options.marks, 0
        for batch in self._parsed(span.key, types):
            seen += batch.num_rows
            columns = [form.finish(batch.column(j), marks) for j, form in enumerate(forms)]
            yield pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])
        if seen != span.rows:
            raise FileError(
                f"expected {counted(span.rows, 'row')} from line {span.key.line} of {self.text.path} on",
                received=f"{seen}",
                hint="the file has changed since it was first read; read it again with ritz.read",
            )

    def _parsed(self, piece: Piece, types: dict[str, Any]) -> Iterator[Any]:
        """Record batches of a piece with these types: as they were parsed before, or parsed again."""
        import pyarrow as pa

        kept = self.scanned.parsed
        before = None if kept is None else kept.types(piece.start)
        if kept is None or before is None or not all(_holds(before[name], kind) for name, kind in types.items()):
            yield from self.text.stream(self.text.read(piece), piece, types, list(types))
            return
        self.text.require_unchanged()
        for batch in kept.batches(piece.start, list(types)):
            columns = [
                values if values.type == kind else values.cast(kind, safe=False)
                for values, kind in zip(batch.columns, types.values(), strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, names=list(types))

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane of reading takes: the text of a span among them."""
        return self.overhead(self.fields) + super().held(columns, rows)

    def overhead(self, fields: Sequence[Field]) -> float:
        """Bytes of the text of a span, as it is read and as it is cut, and of what is parsed of it at a time."""
        most = max((span.key.stop - span.key.start for span in self.spans), default=0)
        return 2.0 * most + PARSED * min(most, BLOCK_BYTES)

    def summaries(self) -> dict[str, Any]:
        """What the first look at the file told of its columns."""
        return dict(self.scanned.summaries)

    @property
    def decoded(self) -> int:
        """About how many bytes all columns take in memory: numbers by count, text by the size of the file."""
        numbers = self.scanned.rows * sum(field.nbytes for field in self.fields if field.dtype is not None)
        return numbers + (self.text.text.size if self.label_names else 0)

    @property
    def nbytes(self) -> int:
        """Bytes of text to read in one pass; all columns are parsed, whichever are used."""
        return self.text.stop - self.text.start

    def fingerprint(self) -> str:
        """Changes with the file, how it is cut into fields, and what its columns are."""
        return file_identity(self.stamp, self.text.dialect, [repr(form) for form in self.scanned.forms])


def _holds(before: Any, kind: Any) -> bool:
    """Whether what was parsed as one type is, turned into the other, what would be parsed as that."""
    import pyarrow.types as pt

    return bool(before == kind or pt.is_null(before) or (is_number(before) and pt.is_float64(kind)))
