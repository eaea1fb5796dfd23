"""Any iterable of batches: arrays, sparse matrices, frames, Arrow tables and record batches.

    iter(x) is x        it can be read once        n unknown until then: one span with stop = −1
    iter(x) is not x    it can be read again       its rows are counted when it is read

The first batch says what the columns are; a later one that has others is refused by its number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ritz._core.callback import users
from ritz._core.errors import InputError
from ritz.data.formats.arrow import ArrowSource, Field, fields_of
from ritz.data.formats.matrix import MatrixSource, matrix_names
from ritz.data.formats.memory import arrow_table
from ritz.data.formats.source import Span
from ritz.data.tables.frames import is_frame
from ritz.data.words import describe

__all__ = ["FrameBatches", "MatrixBatches", "from_iterable"]

UNKNOWN = -1


class _Batches:
    """Batches in order, once or again; what was taken off the front is put back."""

    def __init__(self, iterable: Iterable[Any]) -> None:
        self._iterable = iterable
        iterator = iter(iterable)
        self.repeatable = iterator is not iterable
        self.first = next(iterator, None)
        self._rest: Iterator[Any] | None = None if self.repeatable else itertools.chain([self.first], users(iterator))

    def __iter__(self) -> Iterator[Any]:
        if self.repeatable:
            return users(self._iterable)
        if self._rest is None:
            raise InputError(
                "rows that can be read again",
                received="an iterator of batches that was read before",
                hint="pass a list of batches, an object whose __iter__ starts anew, or a file",
            )
        rest, self._rest = self._rest, None
        return rest


class MatrixBatches(MatrixSource):
    """Batches that are arrays or sparse matrices."""

    def __init__(self, batches: _Batches) -> None:
        first = _matrix(batches.first, 0)
        self._batches, self.repeatable = batches, batches.repeatable
        super().__init__(matrix_names(first.shape[1]), first.dtype, [Span(0, UNKNOWN)])
        self.sparse = not isinstance(first, np.ndarray)

    def read_rows(self, span: Span, rows: int) -> Iterator[Any]:
        """The batches, cut to at most ``rows`` rows."""
        for number, batch in enumerate(self._batches):
            block = _matrix(batch, number)
            if block.shape[1] != len(self.names):
                raise _changed(number, f"{block.shape[1]} columns", f"{len(self.names)} columns")
            if np.result_type(block.dtype, self.dtype) != self.dtype:
                raise _changed(number, f"numbers of type {block.dtype}", str(self.dtype))
            if isinstance(block, np.ndarray) == self.sparse:
                raise _changed(number, describe(batch), "sparse matrices" if self.sparse else "arrays")
            for i in range(0, block.shape[0], rows):
                cut = block[i : i + rows].astype(self.dtype, copy=False)
                yield cut if self.sparse else np.ascontiguousarray(cut)

    def fingerprint(self) -> str:
        """Good as long as the iterable lives."""
        return f"batches:{id(self._batches):x}"


class FrameBatches(ArrowSource):
    """Batches that are frames, Arrow tables or record batches."""

    def __init__(self, batches: _Batches) -> None:
        first = _frame(batches.first, 0)
        self._batches, self.repeatable = batches, batches.repeatable
        self.first = first
        super().__init__(fields_of(first.schema, first.slice(0, 1024)), [Span(0, UNKNOWN)])
        self._schema = first.schema

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """The batches, cut to at most ``rows`` rows."""
        import pyarrow as pa

        names = [field.name for field in fields]
        for number, batch in enumerate(self._batches):
            table = _frame(batch, number)
            self._require_same(table.schema, number)
            some = table.select([field.at for field in fields]).rename_columns(names)
            some = some.cast(
                pa.schema([(f.name, _wider(f, t)) for f, t in zip(fields, some.schema.types, strict=True)])
            )
            yield from some.combine_chunks().to_batches(max_chunksize=rows)

    def _require_same(self, schema: Any, number: int) -> None:
        names, expected = schema.names, self._schema.names
        if names != expected:
            new = [name for name in names if name not in expected]
            gone = [name for name in expected if name not in names]
            what = (
                f"a new column {new[0]!r}" if new else f"no column {gone[0]!r}" if gone else "another order of columns"
            )
            raise _changed(number, what, f"columns {expected}")
        types = schema.types
        for field in self.fields:
            kind = types[field.at]
            if _wider(field, kind) is None:
                raise _changed(number, f"column {field.name!r} of type {kind}", str(field.type))

    def fingerprint(self) -> str:
        """Good as long as the iterable lives."""
        return f"batches:{id(self._batches):x}"


def _wider(field: Field, kind: Any) -> Any:
    """The type under which a later batch's column is handed out; None where it does not fit the first's."""
    import pyarrow as pa
    import pyarrow.types as pt

    if kind == field.type or pt.is_null(kind):
        return field.type
    new = Field(field.name, kind, field.at, field.width if pt.is_nested(kind) else 0)
    if field.dtype is not None and new.dtype is not None and field.width == new.width:
        common = np.result_type(new.dtype, field.dtype)
        # Whole numbers that became floating because one is missing: rows are handed out as float64 anyway.
        return kind if common == field.dtype or (common == np.float64 and field.dtype.kind in "iu") else None
    text = (pa.string(), pa.large_string())
    return field.type if kind in text and field.type in text else None


def from_iterable(iterable: Iterable[Any]) -> MatrixBatches | FrameBatches:
    """A source over an iterable of batches; one that can be read again is counted at once."""
    batches = _Batches(iterable)
    if batches.first is None:
        raise InputError("batches of rows", received=f"{describe(iterable)} without any", hint="check what makes them")
    matrix = _is_matrix(batches.first)
    source: Any = MatrixBatches(batches) if matrix else FrameBatches(batches)
    if source.repeatable:
        every = source.read_rows(source.spans[0], 1 << 62) if matrix else (_frame(b, i) for i, b in enumerate(batches))
        n = sum(block.shape[0] for block in every)
        source.spans = [Span(0, n)]
    return source


def _is_matrix(batch: Any) -> bool:
    import scipy.sparse

    return isinstance(batch, np.ndarray) or scipy.sparse.issparse(batch)


def _matrix(batch: Any, number: int) -> Any:
    block = batch if isinstance(batch, np.ndarray) else batch.tocsr() if hasattr(batch, "tocsr") else None
    if block is None or block.ndim != 2 or block.dtype.kind not in "biuf":
        raise _changed(number, describe(batch), "an array of numbers of shape (n_rows, n_columns)")
    native = block.dtype.newbyteorder("=") if block.dtype.itemsize <= 8 else np.dtype(np.float64)
    return block.astype(native, copy=False)


def _frame(batch: Any, number: int) -> Any:
    import pyarrow as pa

    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    if isinstance(batch, pa.Table):
        return batch
    if is_frame(batch):
        return arrow_table(batch)
    raise _changed(number, describe(batch), "an array, a frame or an Arrow table")


def _changed(number: int, received: str, expected: str) -> InputError:
    which = "the first batch" if number == 0 else f"batch {number} (from 0), as in the first"
    return InputError(f"{expected} in {which}", received=received, hint="give every batch the same columns")
