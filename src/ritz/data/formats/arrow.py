"""Sources whose rows come as Arrow record batches: Parquet, Arrow files, data sets, queries, frames.

    fields   x, y, emb (m numbers a row), colour           as the file has them
    names    x, y, emb[0] … emb[m−1]                       the numbers among them, one name a column
    labels   colour                                        all else, handed out as Arrow only

A subclass says where record batches come from; packing them into rows is done here. ``batches`` decodes no less
than a few megabytes at a time and hands out views of them.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.declared import require_columns
from ritz.data.formats.pack import (
    DECODE_BYTES,
    list_rows,
    numbers,
    numpy_dtype,
    pack_columns,
    plain_dtype,
    unwrapped,
)  # fmt: skip
from ritz.data.formats.source import Span, places_in, spans_with
from ritz.data.formats.stamp import Stamp

__all__ = ["LIST_BYTES", "TEXT_BYTES", "ArrowSource", "Field", "fields_of", "views"]

#: Decoded of a column of lists at once, at most: Arrow takes what is larger from the system each time, and gives it
#: back. 196,608 embeddings of 768 float32 took 0.70 s in batches of 3 to 12 MB, 0.85 s in batches of 17 MB.
LIST_BYTES = 8 << 20
#: Rows of a batch of which some are kept, and parts of those that are put together.
PICKED_ROWS, MANY = 1 << 14, 64
TEXT_BYTES = 32  # a guess at one text in memory, where nothing better is known


@dataclasses.dataclass(frozen=True)
class Field:
    """One column as the source has it."""

    name: str
    type: Any
    at: int  # its place in the source's own schema
    width: int = 0  # entries of a list column; 0 where a row has one value
    parse: bool = False  # text that is to be read as numbers
    complete: bool = False  # known to lack no values
    shared: bool = False  # another column has the same name in the source

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype of its numbers; None where it holds none."""
        if self.parse:
            return np.dtype(np.float64)
        kind = unwrapped(self.type)
        return numpy_dtype(kind.value_type if self.width else kind)

    @property
    def names(self) -> list[str]:
        """The names of its columns of numbers."""
        return [f"{self.name}[{i}]" for i in range(self.width)] if self.width else [self.name]

    @property
    def nbytes(self) -> int:
        """About how many bytes one row takes in memory."""
        return TEXT_BYTES if self.dtype is None else self.dtype.itemsize * max(1, self.width)


class ArrowSource:
    """Base: ``record_batches`` is all that a subclass must give, beside fields and spans."""

    sparse = False
    repeatable = True
    #: state of the files when they were opened
    stamp: Stamp | None = None
    #: whether the first row of a span costs as much as the whole span
    decodes = True

    def __init__(self, fields: Sequence[Field], spans: Sequence[Span], files: Sequence[Path] = ()) -> None:
        self.fields = list(fields)
        for name in ("_found_at", "_common"):  # of other fields, where this is a copy
            self.__dict__.pop(name, None)
        self.spans = list(spans)
        self.files = list(files)
        self._numeric = [field for field in self.fields if field.dtype is not None]
        require_columns(sum(max(1, field.width) for field in self.fields), self.files[0] if self.files else "a table")
        self.names = [name for field in self._numeric for name in field.names]

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """Record batches of a span with these fields, in this order, of at most about ``rows`` rows."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """Changes when the data change."""
        raise NotImplementedError

    def summaries(self) -> dict[str, Any]:
        """What is known of columns without reading them: summaries by name."""
        return {}

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where only reading would tell."""
        stop = self.spans[-1].stop if self.spans else 0
        return None if stop < 0 else stop

    @property
    def label_names(self) -> list[str]:
        """Names of the columns that hold no numbers."""
        return [field.name for field in self.fields if field.dtype is None]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Promotion of the columns' dtypes; floating wherever a value may be missing."""
        return self._common

    @cached_property
    def _common(self) -> np.dtype[Any]:
        dtypes = {field.dtype for field in self._numeric if field.dtype is not None}
        common = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
        if common.kind == "f" or all(field.complete for field in self._numeric):
            return common
        return np.dtype(np.float64)

    @property
    def decoded(self) -> int:
        """About how many bytes all columns take in memory."""
        return (self.n_rows or 0) * sum(field.nbytes for field in self.fields)

    @property
    def nbytes(self) -> int:
        """Bytes to read in one pass over the numbers."""
        return (self.n_rows or 0) * sum(field.nbytes for field in self._numeric)

    def with_fields(self, fields: Sequence[Field]) -> Self:
        """The same rows with other columns."""
        other = copy.copy(self)
        ArrowSource.__init__(other, fields, self.spans, self.files)
        return other

    def restrict(self, names: Sequence[str]) -> tuple[Self, list[int] | None]:
        """A source with the columns that ``names`` need and no others, and their positions in its names."""
        wanted = set(names)
        fields = [field for field in self._numeric if wanted.intersection(field.names)]
        other = self.with_fields(fields)
        place = {name: j for j, name in enumerate(other.names)}
        at = [place[name] for name in names]
        return other, None if at == list(range(len(other.names))) else at

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[NDArray[Any]]:
        """Rows of a span in row-major batches of at most ``rows``; ``columns`` are positions in ``names``."""
        return self._laid(span, columns, rows, "C")

    def column_batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[NDArray[Any]]:
        """The same rows, laid column after column where they come so: for sums, which do not mind."""
        return self._laid(span, columns, rows, "F")

    def _laid(
        self, span: Span, columns: Sequence[int] | None, rows: int, order: Literal["C", "F"]
    ) -> Iterator[NDArray[Any]]:
        at = range(len(self.names)) if columns is None else columns
        fields, pieces = self._pieces(at)
        dtype = self.dtype
        row_bytes = max(1, len(at) * dtype.itemsize)
        least, most = max(1, DECODE_BYTES // row_bytes), max(1, LIST_BYTES // row_bytes)
        # Lists are handed out as they are decoded, so there is no use in more than is asked for.
        asked = min(rows, most) if any(piece.vector for piece in pieces) else rows
        start = span.start
        for batch in self.record_batches(span, fields, max(asked, least)):
            if batch.num_rows:
                yield from views(_packed(batch, pieces, len(at), dtype, order, start), rows)
                start += batch.num_rows

    def lay(self, span: Span, columns: Sequence[int] | None, rows: int, out: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Lay the rows of a span into ``out`` (n, d), row-major; the parts that are filled, one after the other."""
        at = range(len(self.names)) if columns is None else columns
        fields, pieces = self._pieces(at)
        start = span.start
        for batch in self.record_batches(span, fields, rows):
            if batch.num_rows:
                part = out[start : start + batch.num_rows]
                _pack(batch, pieces, part, start)
                start += len(part)
                yield part

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane of reading takes: a record batch, and rows in use, waiting and being packed."""
        width = len(self.names) if columns is None else len(columns)
        return 4.0 * max(rows * width * self.dtype.itemsize, DECODE_BYTES)

    def overhead(self, fields: Sequence[Field]) -> float:
        """Bytes that record batches of these fields take while they are read, beside themselves."""
        return 0.0

    def within(self, room: float) -> Self:
        """The same rows, read in a way that takes at most ``room`` bytes a lane where there is one."""
        return self

    def arrow_batches(self, span: Span, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Columns of any kind by name as record batches of at most ``rows`` rows, in row order."""
        places = self._found_at
        locations = [places[name] for name in names]
        place = {f: at for at, f in enumerate(dict.fromkeys(f for f, _ in locations))}
        start = span.start
        for batch in self.record_batches(span, [self.fields[f] for f in place], rows):
            whole_batch = self._widened(batch, names, locations, place, start)
            start += batch.num_rows
            for i in range(0, whole_batch.num_rows, rows):
                yield whole_batch.slice(i, rows)

    def picked(self, names: Sequence[str], index: NDArray[np.intp]) -> Any:
        """The rows with these increasing numbers as one Arrow table; of all others nothing is kept."""
        import pyarrow as pa

        found = self._found_at
        used = list(dict.fromkeys(found[name][0] for name in names))
        most = self.open_together([self.fields[f] for f in used])
        columns: dict[str, Any] = {}
        for first in range(0, max(1, len(used)), most):
            some = set(used[first : first + most])
            here = [name for name in names if found[name][0] in some]
            columns |= zip(here, self._picked(here, index).columns, strict=True)
        return pa.table([columns[name] for name in names], names=list(names))

    def open_together(self, fields: Sequence[Field]) -> int:
        """How many of some fields to read at a time where only a few rows are kept of them."""
        return max(1, len(fields))

    def _picked(self, names: Sequence[str], index: NDArray[np.intp]) -> Any:
        import pyarrow as pa

        locations = [self._found_at[name] for name in names]
        place = {f: at for at, f in enumerate(dict.fromkeys(f for f, _ in locations))}
        wide = sum(8 * max(1, self.fields[f].width) for f in place)
        rows = int(min(PICKED_ROWS, max(MANY, LIST_BYTES // max(1, wide))))
        parts: list[Any] = []
        for span in list(spans_with(self.spans, index)) or self.spans[:1]:
            start = span.start
            for batch in self.record_batches(span, [self.fields[f] for f in place], rows):
                here = places_in(index, start, batch.num_rows)
                if len(here) or not parts:
                    some = batch.take(pa.array(here))
                    parts.append(pa.Table.from_batches([self._widened(some, names, locations, place, start)]))
                start += batch.num_rows
                if len(parts) >= MANY:  # every part of a column takes a kilobyte beside its numbers
                    parts = [pa.concat_tables(parts).unify_dictionaries().combine_chunks()]
        return pa.concat_tables(parts).unify_dictionaries().combine_chunks()

    def _widened(self, batch: Any, names: Sequence[str], locations: Any, place: dict[int, int], start: int) -> Any:
        """The named columns of a record batch whose first row has the number ``start``; lists become columns."""
        import pyarrow as pa

        columns = []
        for f, i in locations:
            field, values = self.fields[f], batch.column(place[f])
            if i is not None:
                values = pa.array(np.ascontiguousarray(list_rows(values, field.width, field.name, start)[:, i]))
            elif field.parse:
                values = pa.array(numbers(values), from_pandas=True)
            columns.append(values)
        return pa.RecordBatch.from_arrays(columns, names=list(names))

    @cached_property
    def _found_at(self) -> dict[str, tuple[int, int | None]]:
        """Where each name is found: the number of its field, and its entry in a list; looked up once for all names."""
        scalars = {field.name: (f, None) for f, field in enumerate(self.fields)}
        parts = {
            name: (f, i) for f, field in enumerate(self.fields) if field.width for i, name in enumerate(field.names)
        }
        return {**scalars, **parts}

    def _pieces(self, at: Sequence[int]) -> tuple[list[Field], list[_Piece]]:
        """The fields to read, and the runs of output columns that they fill."""
        places = [(f, i) for f, field in enumerate(self._numeric) for i in range(max(1, field.width))]
        used = sorted({places[j][0] for j in at})
        read = {f: q for q, f in enumerate(used)}
        pieces: list[_Piece] = []
        for out, j in enumerate(at):
            f, i = places[j]
            vector = self._numeric[f] if self._numeric[f].width else None
            if not pieces or pieces[-1].vector is not vector:
                pieces.append(_Piece(out, vector))
            pieces[-1].read.append(read[f])
            pieces[-1].dtypes.append(plain_dtype(self._numeric[f].type))
            pieces[-1].entries.append(i)
        return [self._numeric[f] for f in used], pieces


@dataclasses.dataclass
class _Piece:
    """Output columns next to each other: some scalar columns, or some entries of one list column."""

    first: int
    vector: Field | None
    read: list[int] = dataclasses.field(default_factory=list)
    entries: list[int] = dataclasses.field(default_factory=list)
    dtypes: list[np.dtype[Any] | None] = dataclasses.field(default_factory=list)

    @property
    def straight(self) -> bool:
        """Whether it is a list column with all entries in order."""
        return self.vector is not None and self.entries == list(range(self.vector.width))

    def rows(self, batch: Any, start: int) -> NDArray[Any]:
        """The entries of the list column (r, len(entries)); ``start`` is the number of the first row."""
        vector = self.vector
        if vector is None:
            raise TypeError("only list columns have rows of their own")
        rows = list_rows(batch.column(self.read[0]), vector.width, vector.name, start)
        return rows if self.straight else rows[:, self.entries]


def views(block: NDArray[Any], rows: int, pieces: int = 1) -> Iterator[NDArray[Any]]:
    """At least ``pieces`` pieces of a block, of at most ``rows`` rows and about equally many."""
    n = len(block)
    count = max(pieces, -(-n // rows))
    rows = max(1, -(-n // count))
    for i in range(0, n, rows):
        yield block[i : i + rows]


def _packed(
    batch: Any, pieces: list[_Piece], d: int, dtype: np.dtype[Any], order: Literal["C", "F"], start: int
) -> NDArray[Any]:
    if len(pieces) == 1 and pieces[0].vector is not None:
        return np.ascontiguousarray(pieces[0].rows(batch, start), dtype=dtype)  # as they lie, where that can be
    out = np.empty((batch.num_rows, d), dtype=dtype, order="C" if any(piece.vector for piece in pieces) else order)
    _pack(batch, pieces, out, start)
    return out


def _pack(batch: Any, pieces: list[_Piece], out: NDArray[Any], start: int) -> None:
    """Fill ``out`` (r, d) with the columns of a record batch that begins with row ``start``."""
    columns = batch.columns
    for piece in pieces:
        target = out[:, piece.first : piece.first + len(piece.read)]
        if piece.vector is None:
            pack_columns([columns[q] for q in piece.read], piece.dtypes, target)
        else:
            target[...] = piece.rows(batch, start)


def fields_of(schema: Any, first: Any = None, at: Sequence[int] | None = None) -> list[Field]:
    """Fields of a schema; ``first``, some rows of the table, tells how long the lists of a list column are."""
    import pyarrow.types as pt

    from ritz.data.formats.text.header import unique_names

    fields, given = [], list(schema.names)
    counts = Counter(given)
    for j, (name, kind) in enumerate(zip(unique_names(tuple(given)), schema.types, strict=True)):
        width = 0
        if pt.is_fixed_size_list(kind):
            width = kind.list_size
        elif (pt.is_list(kind) or pt.is_large_list(kind)) and first is not None:
            width = _common_length(first.column(j))
        if width and numpy_dtype(kind.value_type) is None:
            width = 0
        fields.append(Field(name, kind, j if at is None else at[j], width, shared=counts[given[j]] > 1))
    return fields


def _common_length(values: Any) -> int:
    """The length that all lists of an array share; 0 if they do not."""
    import pyarrow.compute as pc

    ends = pc.min_max(pc.list_value_length(values)).as_py()
    return int(ends["max"] or 0) if ends["min"] == ends["max"] else 0
