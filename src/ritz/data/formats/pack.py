"""Arrow columns to row-major numbers.

    columns c₀ … c_{d−1}, each (r,)   →   rows (r, d), row-major, or column after column as they come
    list column, m entries a row      →   rows (r, m): row-major as they lie, a view unless some are missing

Sixteen columns are laid side by side and then turned together: a cache line of float32 is written once instead of
sixteen times. Where the order does not matter they stay columns, which costs a quarter of that. Missing values become
NaN and therefore need a floating dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.integers import as_float, has_long, warn_lost
from ritz.data.words import counted, cut

__all__ = [
    "DECODE_BYTES", "column_numbers", "list_rows", "numbers", "numpy_dtype", "pack_arrays", "pack_columns",
    "plain_dtype", "unwrapped",
]  # fmt: skip

DECODE_BYTES = 4 << 20  # decoded at least at a time: calls cost as much for few rows as for many
TILE_COLUMNS, TILE_ROWS = 16, 4096  # a tile stays in the caches
#: Bytes between rows up to which a tile stays in the caches as it lies and need not be turned. Nanoseconds a number of
#: float32, turned and straight: 4.4 and 2.9 for 100 columns, 5.1 and 3.2 for 200, 4.8 and 6.6 for 768.
NARROW = 1024
KINDS = 1024  # Arrow types whose dtypes are remembered: it is asked for every column of every row group


@lru_cache(KINDS)
def unwrapped(kind: Any) -> Any:
    """The Arrow type of the values themselves: of a dictionary's or a run-end encoding's entries."""
    import pyarrow.types as pt

    while pt.is_dictionary(kind) or pt.is_run_end_encoded(kind):
        kind = kind.value_type
    return kind


@lru_cache(KINDS)
def numpy_dtype(kind: Any) -> np.dtype[Any] | None:
    """The dtype that holds every value of an Arrow type of real numbers; None for other types."""
    import pyarrow.types as pt

    kind = unwrapped(kind)
    if pt.is_decimal(kind) or pt.is_null(kind):  # a column without any value: numbers that are all missing
        return np.dtype(np.float64)
    if pt.is_boolean(kind) or pt.is_integer(kind) or pt.is_floating(kind):
        return np.dtype(kind.to_pandas_dtype())
    return None


def plain_dtype(kind: Any) -> np.dtype[Any] | None:
    """The dtype of an Arrow type whose buffer holds plain numbers; None for bits, decimals, dictionaries, text."""
    import pyarrow.types as pt

    return numpy_dtype(kind) if pt.is_integer(kind) or pt.is_floating(kind) else None


@lru_cache(1)
def _plain_ids() -> dict[int, np.dtype[Any]]:
    """dtypes by the number of the Arrow type, of those whose buffer holds plain numbers."""
    import pyarrow as pa

    kinds = (
        pa.float64(), pa.float32(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
        pa.uint64(),
    )  # fmt: skip
    return {kind.id: np.dtype(kind.to_pandas_dtype()) for kind in kinds}


def numbers(values: Any, name: str = "") -> NDArray[Any]:
    """Numbers of an Arrow array (r,): a view where it can be, missing as NaN."""
    plain = _plain_ids().get(values.type.id)
    if plain is not None and values.null_count == 0:  # most columns, and there may be many
        return _view(values, plain)
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as pt

    if pt.is_dictionary(values.type):
        values = values.dictionary_decode()
    elif pt.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if pt.is_null(values.type):
        return np.full(len(values), np.nan)
    if pt.is_decimal(values.type):
        return _decimals(values)
    if pt.is_boolean(values.type):
        # With missing values they become floating below, like whole numbers.
        return _bits(values) if values.null_count == 0 else numbers(values.cast(pa.uint8()))
    if pt.is_string(values.type) or pt.is_large_string(values.type) or pt.is_string_view(values.type):
        values = _parsed(values, name)
    rows = _view(values, np.dtype(values.type.to_pandas_dtype()))
    if values.null_count == 0:
        return rows
    what = f"column {name!r}" if name else "a column of the table"
    rows = rows.copy() if rows.dtype.kind == "f" else as_float(rows, what)
    rows[~_bits(values.is_valid())] = np.nan
    return rows


def _view(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The numbers as they lie in Arrow's buffer (its own ways to NumPy load pandas, and cost more than a copy)."""
    buffer = values.buffers()[1]
    if buffer is None:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype, len(values), values.offset * dtype.itemsize)


def _bits(values: Any) -> NDArray[np.bool_]:
    """Truth values of an Arrow array without missing ones."""
    import pyarrow as pa

    return _view(values.cast(pa.uint8()), np.dtype(np.uint8)).view(np.bool_)


def _decimals(values: Any) -> NDArray[Any]:
    """The nearest float64 of each decimal (Arrow's own cast is off by a unit in the last place for some)."""
    import pyarrow as pa
    import pyarrow.types as pt

    kind = values.type
    if pt.is_decimal128(kind) and kind.precision <= 15 and 0 <= kind.scale <= 22:
        # Digits below 2^53 and a power of ten up to 10^22 are exact, so their quotient is rounded once.
        digits = np.frombuffer(values.buffers()[1], dtype="<i8").reshape(-1, 2)
        rows = np.asarray(digits[values.offset : values.offset + len(values), 0] / 10.0**kind.scale)
        if values.null_count:
            rows[~_bits(values.is_valid())] = np.nan
        return rows
    return numbers(values.cast(pa.string()).cast(pa.float64()))


def _parsed(values: Any, name: str) -> Any:
    """Text read as numbers; empty text is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid as error:
        bad = next((word for word in text.to_pylist() if word is not None and not _is_float(word)), "")
        raise InputError(
            f"expected numbers{f' in column {name!r}' if name else ''}",
            received=f"the text {cut(bad)!r}",
            hint="coerce=True makes such values missing; to leave the column out: kinds={name: 'drop'}",
        ) from error


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def pack_columns(columns: Sequence[Any], dtypes: Sequence[np.dtype[Any] | None], out: NDArray[Any]) -> None:
    """Fill ``out`` (r, d) with ``columns``, d Arrow arrays, or chunked ones, of r numbers.

    ``dtypes`` are those of columns that hold plain numbers, None for all others.
    """
    if out.flags.f_contiguous and not out.flags.c_contiguous:
        for j, (values, dtype) in enumerate(zip(columns, dtypes, strict=True)):
            _lay(values, dtype, out[:, j])
        return
    for first in range(0, out.shape[1], TILE_COLUMNS):
        some = slice(first, first + TILE_COLUMNS)
        both = zip(columns[some], dtypes[some], strict=True)
        pack_arrays([column_numbers(values, dtype) for values, dtype in both], out[:, some])


def pack_arrays(columns: Sequence[NDArray[Any]], out: NDArray[Any]) -> None:
    """Fill ``out`` (r, d) with a few columns (r,), by tiles of rows."""
    r, d = out.shape
    if out.dtype.kind == "f" and any(has_long(values) for values in columns):
        warn_lost("a column of the table")
    if out.strides[0] <= NARROW:
        for start in range(0, r, TILE_ROWS):
            for j, values in enumerate(columns):
                out[start : start + TILE_ROWS, j] = values[start : start + TILE_ROWS]
        return
    tile = np.empty((d, min(r, TILE_ROWS) + TILE_COLUMNS), dtype=out.dtype)  # padded: no power of two between its rows
    for start in range(0, r, TILE_ROWS):
        stop = min(r, start + TILE_ROWS)
        for j, values in enumerate(columns):
            tile[j, : stop - start] = values[start:stop]
        out[start:stop] = tile[:, : stop - start].T


def _lay(values: Any, dtype: np.dtype[Any] | None, out: NDArray[Any]) -> None:
    """Copy one column, chunk after chunk, to ``out`` (r,)."""
    at = 0
    for chunk in getattr(values, "chunks", [values]):
        values = column_numbers(chunk, dtype)
        if out.dtype.kind == "f" and has_long(values):
            warn_lost("a column of the table")
        out[at : at + len(chunk)] = values
        at += len(chunk)


def column_numbers(values: Any, dtype: np.dtype[Any] | None) -> NDArray[Any]:
    """The numbers of one column (r,)."""
    chunks = getattr(values, "chunks", None)
    if chunks is not None:
        parts = [column_numbers(chunk, dtype) for chunk in chunks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return numbers(values) if dtype is None or values.null_count else _view(values, dtype)


def list_rows(values: Any, width: int, name: str, start: int | None = None) -> NDArray[Any]:
    """Rows (r, width) of an Arrow array of lists; a missing list is a row of NaN, a list of other length an error.

    ``start``: the number of the first row, where it is known; the error names the row then.
    """
    import pyarrow.types as pt

    r = len(values)
    if pt.is_fixed_size_list(values.type):
        flat = numbers(values.values.slice(values.offset * width, r * width))
        return _with_missing(flat.reshape(r, width), values)
    offsets = numbers(values.offsets)
    lengths = np.diff(offsets)
    wrong = (lengths != width) & _bits(values.is_valid())
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(
            f"expected lists of {counted(width, 'number')} in column {name!r}",
            received=f"{counted(int(lengths[i]), 'number')} in {'one row' if start is None else f'row {start + i}'}",
            hint=f"make the lists equally long, or leave the column out: kinds={{{name!r}: 'drop'}}"
            + ("" if start is None else "; rows count from 0"),
        )
    flat = numbers(values.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])))
    if values.null_count == 0:
        return flat.reshape(r, width)
    # Missing lists take no room among the values, or room that means nothing.
    starts = offsets[:-1][lengths == width] - offsets[0]
    rows = np.full((r, width), np.nan, dtype=np.result_type(flat.dtype, np.float16))
    rows[lengths == width] = flat[starts[:, None] + np.arange(width)]
    return _with_missing(rows, values)


def _with_missing(rows: NDArray[Any], values: Any) -> NDArray[Any]:
    if values.null_count == 0:
        return rows
    rows = rows.astype(np.result_type(rows.dtype, np.float16))
    rows[~_bits(values.is_valid())] = np.nan
    return rows
