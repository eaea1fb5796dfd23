"""Arrow batches as rows, in a Python worker: numbers as they lie, without pandas.

    scalar columns   →   laid side by side            array column   →   the same memory, (r, m)
    vectors          →   dense rows, or CSR where some are sparse
    categories       →   rows of a fitted encoder, CSR

Missing values are NaN; a missing sparse vector is NaN in its first entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.engines.spark.fields import Field
from ritz.data.formats.pack import list_rows, numbers, pack_columns, plain_dtype
from ritz.data.words import counted

__all__ = ["AnyReader", "EncodedReader", "NumberReader"]


class NumberReader:
    """Columns of numbers, in the order of their fields."""

    skips = False  # whether it must be told which rows are absent

    def __init__(self, fields: Sequence[Field], dtype: np.dtype[Any]) -> None:
        self.fields, self.dtype = list(fields), np.dtype(dtype)

    def rows(self, batch: Any, start: int = 0, absent: Any = None) -> Any:
        """Rows (r, d) of a record batch that begins with the columns of the fields."""
        pieces = []
        for scalar, some in groupby(enumerate(self.fields), key=lambda each: each[1].kind == "number"):
            if scalar:
                pieces.append(self._side_by_side([batch.column(j) for j, _ in some]))
                continue
            for j, field in some:
                read = list_rows if field.kind == "array" else _vectors
                try:
                    pieces.append(self._cast(read(batch.column(j), field.width, field.name)))
                except InputError as error:
                    raise InputError(
                        error.expected, received=error.received, hint="make them equally long, or leave the column out"
                    ) from None
        if len(pieces) == 1:
            return pieces[0]
        if all(isinstance(piece, np.ndarray) for piece in pieces):
            return np.hstack(pieces)
        import scipy.sparse

        return scipy.sparse.hstack([scipy.sparse.csr_array(piece) for piece in pieces], format="csr")

    def _side_by_side(self, columns: list[Any]) -> NDArray[Any]:
        out = np.empty((len(columns[0]), len(columns)), self.dtype)
        pack_columns(columns, [plain_dtype(values.type) for values in columns], out)
        return out

    def _cast(self, rows: Any) -> Any:
        return rows if rows.dtype == self.dtype else rows.astype(self.dtype)


def _vectors(values: Any, width: int, name: str) -> Any:
    """Rows of an Arrow array of vectors: a struct (type, size, indices, values), where type 0 is sparse."""
    kinds, entries = values.field(0), values.field(3)
    gone = ~np.asarray(values.is_valid().cast("uint8")).view(np.bool_)
    sparse = (numbers(kinds) == 0) & ~gone
    offsets = numbers(entries.offsets)
    lengths = np.diff(offsets)
    sizes = np.where(sparse, numbers(values.field(1)), lengths)
    if (wrong := (sizes != width) & ~gone).any():
        raise InputError(
            f"expected vectors of {counted(width, 'number')} in column {name!r}",
            received=f"{counted(int(sizes[int(wrong.argmax())]), 'number')} in one row",
        )
    flat = numbers(entries.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])))
    if not sparse.any():
        rows = np.full((len(values), width), np.nan)
        rows[~gone] = flat[np.repeat(~gone, lengths)].reshape(-1, width)
        return rows
    return _csr(flat, lengths, sparse, gone, numbers_of(values.field(2)), width)


def numbers_of(lists: Any) -> NDArray[Any]:
    """The entries of all lists of an Arrow array, one after the other."""
    offsets = numbers(lists.offsets)
    return numbers(lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])))


def _csr(flat: Any, lengths: Any, sparse: Any, gone: Any, indices: Any, width: int) -> Any:
    import scipy.sparse

    there = np.repeat(~gone, lengths)
    flat, lengths = flat[there], np.where(gone, 0, lengths)
    columns = np.empty(len(flat), np.int32)
    of_sparse = np.repeat(sparse, lengths)
    columns[of_sparse] = indices
    columns[~of_sparse] = np.tile(np.arange(width, dtype=np.int32), int(np.count_nonzero(~sparse & ~gone)))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    if gone.any():
        at = ends[:-1][gone]
        flat, columns = np.insert(flat, at, np.nan), np.insert(columns, at, 0)
        ends = np.concatenate([[0], np.cumsum(np.where(gone, 1, lengths))])
    rows = scipy.sparse.csr_array((len(lengths), width), dtype=np.float64)
    rows.data, rows.indices, rows.indptr = flat, columns, ends.astype(np.int32)
    return rows


class EncodedReader:
    """Columns of categories and numbers as rows of a fitted encoder."""

    def __init__(self, encoder: Any, names: Sequence[str], unseen: str | None, skips: bool = False) -> None:
        self.encoder, self.names, self.unseen, self.skips = encoder, list(names), unseen, skips

    def rows(self, batch: Any, start: int = 0, absent: Any = None) -> Any:
        """CSR (r, d); ``start`` is the number of the first row, for messages; ``absent`` rows may hold anything."""
        from ritz.data.encode.columns import memory_columns

        columns = memory_columns(batch.rename_columns(self.names))
        return self.encoder.encode(columns, self.unseen, start, absent)


class AnyReader:
    """Columns of any type as numbers that tell them apart, for prints."""

    skips = False

    def rows(self, batch: Any, start: int = 0, absent: Any = None) -> NDArray[np.uint64]:
        """(r, columns), a checksum of every value."""
        from zlib import crc32

        columns = []
        for values in batch.columns:
            coded = values.dictionary_encode() if not hasattr(values, "dictionary") else values
            sums = [crc32(repr(level).encode("utf8", "surrogatepass")) for level in coded.dictionary.to_pylist()]
            codes = numbers(coded.indices.fill_null(len(sums)))
            columns.append(np.asarray([*sums, 0], np.uint64)[codes])
        return np.column_stack(columns) if columns else np.zeros((batch.num_rows, 0), np.uint64)
