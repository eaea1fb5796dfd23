"""One column as codes: every row a small number that stands for a text, −1 where the answer is missing.

    ["tea", "milk", None, "tea"]   →   codes [0, 1, −1, 0],   levels ("tea", "milk")

Rows are compared by Arrow's or pandas' hash tables, never one by one in Python; only different values become texts:
True → "True", 3 and 3.0 → "3", 2.5 → "2.5", a text itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.pack import numbers as arrow_numbers
from ritz.data.tables.frames import is_missing

__all__ = ["Coded", "arrow_kind", "code_arrow", "code_objects", "code_pandas", "text_of"]


@dataclass(frozen=True, eq=False)
class Coded:
    """A categorical column: ``levels[codes[i]]`` is the answer of row i, −1 none; a level may come twice."""

    codes: NDArray[np.int32]
    levels: tuple[str, ...]
    kind: str = "text"  # "text", "truth" or "number"
    order: tuple[str, ...] = ()  # declared categories
    twofold: str | None = None  # a level that stands for a text and for something else, such as "1" and 1

    def __len__(self) -> int:
        return len(self.codes)


def text_of(value: Any) -> str | None:
    """The text of a value; None where it is missing."""
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            return None
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value.item()) if isinstance(value, np.generic) else str(value)


def arrow_kind(kind: Any) -> str:
    """What an Arrow column holds: ``category``, ``integer``, ``number``, ``nothing`` or ``other``."""
    import pyarrow.types as pt

    if pt.is_dictionary(kind) or pt.is_boolean(kind) or _is_text(kind):
        return "category"
    if pt.is_run_end_encoded(kind):
        return arrow_kind(kind.value_type)
    if pt.is_integer(kind):
        return "integer"
    if pt.is_floating(kind) or pt.is_decimal(kind):
        return "number"
    return "nothing" if pt.is_null(kind) else "other"


def _is_text(kind: Any) -> bool:
    import pyarrow.types as pt

    return pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)


def code_arrow(values: Any, *, empty: bool = False) -> Coded:
    """Codes of an Arrow array or chunked array; ``empty``: empty texts count as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as pt

    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    if pt.is_null(values.type):
        return Coded(np.full(len(values), -1, np.int32), ())
    if pt.is_run_end_encoded(values.type):
        values = pa.chunked_array([pc.run_end_decode(chunk) for chunk in values.chunks], values.type.value_type)
    declared = pt.is_dictionary(values.type)
    if declared:
        ordered, inner = bool(values.type.ordered), values.type.value_type
        values = values.unify_dictionaries()
    else:
        ordered, inner = False, values.type
        if pt.is_string_view(inner) or pt.is_float16(inner):
            values = values.cast(pa.large_string() if pt.is_string_view(inner) else pa.float32())
        values = values.dictionary_encode()
    dictionary = values.chunk(0).dictionary.to_pylist() if values.num_chunks else []
    parts = [arrow_numbers(pc.fill_null(chunk.indices.cast(pa.int32()), -1)) for chunk in values.chunks]
    codes = np.concatenate(parts) if len(parts) != 1 else parts[0]
    order = tuple(text for value in dictionary if (text := text_of(value)) is not None) if ordered else ()
    return _coded(codes.astype(np.int32, copy=False), dictionary, _value_kind(inner), order, empty)


def _value_kind(kind: Any) -> str:
    import pyarrow.types as pt

    if pt.is_boolean(kind):
        return "truth"
    return "number" if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind) else "text"


def code_pandas(series: Any, *, empty: bool = False) -> Coded:
    """Codes of a pandas series, or of an array of Python objects given as one."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(series.dtype, pd.CategoricalDtype):
        values = series.cat.categories.tolist()
        order = tuple(text for value in values if (text := text_of(value)) is not None)
        return _coded(series.cat.codes.to_numpy(np.int32), values, _python_kind(values), order, empty)
    try:
        return code_arrow(pa.array(series, from_pandas=True), empty=empty)
    except (pa.ArrowException, TypeError, ValueError, AttributeError):
        codes, values = pd.factorize(series)
        values = list(values)
        return _coded(codes.astype(np.int32), values, _python_kind(values), (), empty)


def code_objects(values: NDArray[Any], *, empty: bool = False) -> Coded:
    """Codes of a NumPy array (n,) of texts, truth values, numbers or any Python objects."""
    import pyarrow as pa

    try:
        return code_arrow(pa.array(values, from_pandas=True), empty=empty)
    except (pa.ArrowException, TypeError, ValueError):
        # Values of several types in one column, which Arrow does not take: told apart by their texts.
        objects = values.tolist()
        place: dict[tuple[str | None, bool], int] = {(None, False): -1}
        codes = [place.setdefault((text_of(value), isinstance(value, str)), len(place) - 1) for value in objects]
        del place[None, False]
        texts = [text if plain else _Shown(text) for text, plain in place]
        return _coded(np.asarray(codes, np.int32), texts, _python_kind(objects), (), empty)


def _python_kind(values: list[Any]) -> str:
    present = [value for value in values if text_of(value) is not None]
    if present and all(isinstance(value, (bool, np.bool_)) for value in present):
        return "truth"
    plain = all(
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) for value in present
    )
    return "number" if present and plain else "text"


def _coded(codes: NDArray[np.int32], values: list[Any], kind: str, order: tuple[str, ...], empty: bool) -> Coded:
    """Codes whose values are texts; values that mean missing become −1."""
    texts = [text_of(value) for value in values]
    gone = [text is None or (empty and not text.strip()) for text in texts]
    if any(gone):
        place = np.append(np.cumsum(~np.asarray(gone)) - 1, -1).astype(np.int32)  # the last one is for −1 itself
        place[:-1][gone] = -1
        codes = place[codes]
    levels = tuple(text for text, lost in zip(texts, gone, strict=True) if not lost and text is not None)
    return Coded(codes, levels, kind, order, _twofold(texts, values))


class _Shown:
    """A value of which only the text is known: not a text itself."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __str__(self) -> str:
        return str(self.text)


def _twofold(texts: list[str | None], values: list[Any]) -> str | None:
    """A text that is a value itself and what another value, of another type, is written as."""
    if len(set(texts)) == len(texts):
        return None
    words = {text for text, value in zip(texts, values, strict=True) if isinstance(value, str)}
    others = (text for text, value in zip(texts, values, strict=True) if not isinstance(value, str))
    return next((text for text in others if text is not None and text in words), None)
