"""Columns as codes, and codes as a CSR matrix, without a loop over rows.

    ["tea", "milk", None, "tea"]   →   codes [0, 1, −1, 0],   levels ("tea", "milk")        −1: missing
    code of row i in variable j    →   place[j][code]   →   column p + place of row i, entry 1      −1: no entry

Rows are compared by Arrow's or pandas' hash tables, never one by one in Python; only different values become texts:
True → "True", 3 and 3.0 → "3", 2.5 → "2.5", a text itself. The codes of a table name its own levels; ``place`` is one
small table a variable that brings them to the columns of the encoder. Entries stand in the order of the columns, so the
matrix is canonical as it is built.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.encode.vocabulary import MISSING, label
from ritz.data.tables.frames import is_missing
from ritz.data.words import shorten

if TYPE_CHECKING:
    from ritz.data.encode.encoder import Encoder

__all__ = ["Coded", "arrow_kind", "code_arrow", "code_objects", "code_pandas", "encode", "text_of"]

#: Marks of cells that have no column: none by intention, none because the level was not seen, one to be filled in.
NONE, UNSEEN, GAP = -1, -2, -3


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
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return None
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
    parts = [np.from_dlpack(pc.fill_null(chunk.indices.cast(pa.int32()), -1)) for chunk in values.chunks]
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


# codes to rows


def encode(encoder: Encoder, columns: Any, unseen: str | None, start: int = 0, absent: Any = None) -> Any:
    """CSR (n, d) of columns in memory; rows with levels that were not seen by the policy ``unseen``.

    ``absent``: (n,) rows that may hold anything; what they hold that was not seen has no column.
    """
    words = encoder.vocabulary
    n, p, J = columns.rows, encoder.p, words.J
    columns.look(words.names)
    at = np.empty((n, J), np.int32)
    strange: list[str] = []
    for j, name in enumerate(words.names):
        coded = columns.coded(name)
        place, unknown = _places(encoder, j, coded, unseen)
        np.take(place, coded.codes, out=at[:, j], mode="wrap")  # the last entry is for −1
        codes = coded.codes
        if absent is not None:
            at[absent & (at[:, j] < 0), j], codes = NONE, codes[~absent]
        if unseen is None:
            continue
        homeless = encoder.missing == "error" or int(place[-1]) == UNSEEN
        if encoder.missing == "error" or (homeless and unseen in ("error", "missing")):
            _complete(encoder, coded.codes < 0 if absent is None else (coded.codes < 0) & ~absent, name, start)
        if unseen == "error" or (unseen == "missing" and homeless):
            strange += [label(name, coded.levels[c]) for c in unknown if bool(np.any(codes == c))]
    if strange:
        raise _not_seen(list(dict.fromkeys(strange)), unseen)
    numeric = _shifted(encoder, columns)
    Z = _matrix(at, numeric, p, encoder.d)
    flagged = _flagged(encoder, at, numeric, unseen)
    if len(flagged):
        Z = _mended(encoder, Z, at, flagged, unseen == "supplementary", start)
    return Z


def _flagged(
    encoder: Encoder, at: NDArray[np.int32], numeric: NDArray[np.float64], unseen: str | None
) -> NDArray[np.intp]:
    """Rows that are more than their cells: unseen levels with a policy, gaps that are filled in."""
    marked = np.zeros(at.shape, bool)
    if unseen in ("ignore", "supplementary"):
        marked |= at == UNSEEN
    rows: NDArray[np.bool_] = np.zeros(len(at), bool)
    if encoder.fill is not None:
        marked |= at == GAP
        rows = np.asarray(np.isnan(numeric).any(axis=1))
    return np.flatnonzero(marked.any(axis=1) | rows)


def _not_seen(levels: list[str], unseen: str | None) -> InputError:
    hint = "unseen='ignore' lets them contribute nothing, unseen='supplementary' places the row by its other answers"
    if unseen == "error":
        hint += ", unseen='missing' counts them as missing answers"
    else:
        hint = f"the fit has no missing answers to count them with (missing='category' or 'exclude'); {hint}"
    return InputError(
        "expected levels that the fit has seen", received=shorten([repr(level) for level in levels]), hint=hint
    )


def _shifted(encoder: Encoder, columns: Any) -> NDArray[np.float64]:
    out = np.empty((columns.rows, encoder.p))
    for j, name in enumerate(encoder.numeric):
        np.subtract(columns.numbers(name), encoder.shift[j], out=out[:, j])
    return out


def _places(encoder: Encoder, j: int, coded: Coded, unseen: str | None) -> tuple[NDArray[np.int32], list[int]]:
    """Columns of the indicator for every code, the last one for −1; and the codes of levels that were not seen."""
    variable, offset = encoder.vocabulary.variables[j], int(encoder.vocabulary.offsets[j])
    active = encoder.active.places
    gone = GAP if encoder.missing == "regularized" else NONE
    if encoder.missing == "category":
        place = variable.place.get(MISSING)
        gone = UNSEEN if place is None else int(active[offset + place])
    # In a table of its own, a level that was not seen can only stand in a row that has no weight.
    lost = NONE if unseen is None else gone if unseen == "missing" else UNSEEN
    out = np.empty(len(coded.levels) + 1, np.int32)
    unknown = []
    for c, level in enumerate(coded.levels):
        # A text that is spelled like the level of missing answers is not one of them.
        text = encoder.missing == "category" and level == MISSING
        place = None if text else variable.place.get(level)
        out[c] = lost if place is None else active[offset + place]
        if place is None:
            unknown.append(c)
    out[-1] = NONE if unseen is None and gone == UNSEEN else gone
    return out, unknown


def _complete(encoder: Encoder, gone: NDArray[np.bool_], name: str, start: int) -> None:
    """Refuse missing answers that the fit had no place for."""
    if not bool(np.any(gone)):
        return
    refused = encoder.missing == "error"
    why = "missing='error'" if refused else "missing='category', but the fit saw none missing here"
    raise InputError(
        f"expected an answer in every row of column {name!r}",
        received=f"{int(np.count_nonzero(gone))} missing, the first in row {start + int(np.argmax(gone))}, with {why}",
        hint=("fit with missing='category' or 'exclude'" if refused else "unseen='ignore' lets it contribute nothing")
        + "; None and NaN are missing",
    )


def _matrix(at: NDArray[np.int32], numeric: NDArray[np.float64], p: int, d: int) -> Any:
    from scipy.sparse import csr_array

    n, J = at.shape
    kept = at >= 0
    full = bool(kept.all())
    width = p + J
    index = np.int32 if n * width < 2**31 else np.int64
    if full and not p:
        data, indices = np.ones(n * J), at.reshape(-1)
        indptr = np.arange(0, n * J + 1, max(J, 1), dtype=index) if J else np.zeros(n + 1, index)
    else:
        places = np.empty((n, width), np.int32)
        places[:, :p], places[:, p:] = np.arange(p, dtype=np.int32), at + np.int32(p)
        values = np.ones((n, width))
        values[:, :p] = numeric
        mask = np.concatenate([np.ones((n, p), bool), kept], axis=1)
        data, indices = values[mask], places[mask]
        indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(index)
    Z = csr_array((data, indices.astype(index, copy=False), indptr), shape=(n, d))
    Z.has_sorted_indices = Z.has_canonical_format = True
    return Z


def _mended(encoder: Encoder, Z: Any, at: NDArray[np.int32], flagged: Any, supplementary: bool, start: int) -> Any:
    """Rows with unseen levels: the mean in their blocks; for ``supplementary``, the known part stretched.

    Gaps that are filled in get what the fit expects of the other cells.
    """
    from scipy.sparse import csr_array

    p, owners, mean = encoder.p, encoder.active.owners, encoder.mean
    seen = at[flagged] != UNSEEN  # (m, J)
    varied = (mean < 1 - 1e-12).astype(np.float64)
    telling = np.bincount(owners, varied, minlength=at.shape[1]) > 0  # a variable of one level tells nothing of a row
    hidden = at[flagged] == GAP
    heard = seen[:, telling].sum(axis=1)
    if supplementary and not heard.all():
        row = start + int(flagged[int(np.argmin(heard))])
        raise InputError(
            "expected rows with at least one level that the fit has seen",
            received=f"row {row}, which has none",
            hint="unseen='ignore' puts such a row in the centre",
        )
    rows = Z[flagged].toarray()
    stretch = telling.sum() / np.maximum(heard, 1) if supplementary else np.ones(len(flagged))
    block = rows[:, p:]
    block[...] = np.where(seen[:, owners], mean + stretch[:, None] * (block - mean), mean)
    if encoder.fill is not None:
        rows = encoder.fill.complete(rows, np.concatenate([np.isnan(rows[:, :p]), hidden], axis=1))
    Z.data[np.repeat(np.isin(np.arange(Z.shape[0]), flagged), np.diff(Z.indptr))] = 0.0
    new = csr_array(rows)
    lengths = np.zeros(Z.shape[0] + 1, np.int64)
    lengths[1:][flagged] = np.diff(new.indptr)
    return Z + csr_array((new.data, new.indices, np.cumsum(lengths)), shape=Z.shape)
