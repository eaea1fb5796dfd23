"""Strings as integers: a column of strings becomes one long array of symbol numbers.

    X = ["abba", "", "cab"]   →   symbols = [0 1 1 0 2 0 1],  offsets = [0 4 4 7],  alphabet = [a b c]

A string is a ``str`` (its symbols are code points: any Unicode), ``bytes``, or a sequence of hashable tokens (symbols
are the tokens, equal as Python says). The column may be a list, a NumPy array, a pandas, polars or Arrow column, or a
table of one column. Missing strings are refused by position; empty strings are strings. Texts of 10⁶ rows are encoded
by one ``join`` and one table look-up, never symbol by symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError

__all__ = ["Kind", "Sequences", "column_groups", "kept_source", "padded", "read_strings", "translate"]

Kind = Literal["str", "bytes", "tokens"]

_EXPECTED = "expected a column of strings (str, bytes, or sequences of tokens)"


@dataclass(frozen=True, eq=False)
class Sequences:
    """n strings over one alphabet of σ symbols; string i is ``symbols[offsets[i]:offsets[i + 1]]``."""

    kind: Kind
    symbols: NDArray[np.int32]  # (total length,), numbers of symbols in the alphabet
    offsets: NDArray[np.int64]  # (n + 1,)
    alphabet: NDArray[np.uint32] | tuple[Any, ...]  # (σ,), code points or bytes in order, or the tokens themselves

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of symbols in each string."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int]:
        """(n,): rows are taken from it as from an array."""
        return (len(self),)

    def __getitem__(self, index: Any) -> Sequences:
        """Some strings (a slice or positions), over the same alphabet."""
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            symbols = self.symbols[offsets[0] : offsets[-1]]
            return Sequences(self.kind, symbols, offsets - offsets[0], self.alphabet)
        index = np.arange(len(self))[index]
        lengths = self.lengths[index]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], lengths)
        return Sequences(self.kind, self.symbols[places], offsets, self.alphabet)

    def spell(self, symbols: NDArray[np.integer[Any]]) -> Any:
        """The string with these symbol numbers: a str, bytes, or a tuple of tokens."""
        if isinstance(self.alphabet, tuple):
            return tuple(self.alphabet[s] for s in symbols)
        points = self.alphabet[symbols]
        return bytes(points.tolist()) if self.kind == "bytes" else "".join(map(chr, points.tolist()))


def kept_source(X: Any) -> Any:
    """The column as it was given, or as a list where its library cannot hand out rows by position."""
    by_position = isinstance(X, list | tuple) or (hasattr(X, "shape") and not hasattr(X, "to_pylist"))
    return X if by_position else _column(X)


def read_strings(X: Any) -> Sequences:
    """Encode a column of strings."""
    if isinstance(X, Sequences):
        return X
    entries = _column(X)
    if not entries or isinstance(entries[0], str):
        return _read_text(entries)
    if isinstance(entries[0], bytes | bytearray):
        return _read_bytes(entries)
    return _read_tokens(entries)


def translate(strings: Sequences, alphabet: NDArray[np.uint32] | tuple[Any, ...], kind: Kind) -> NDArray[np.int32]:
    """The symbols of ``strings`` numbered by another alphabet; −1 stands for what that alphabet does not have."""
    if strings.alphabet is alphabet:
        return strings.symbols
    if not len(strings.symbols):
        return strings.symbols
    if not len(alphabet):
        return np.full_like(strings.symbols, -1)
    if strings.kind != kind:
        raise InputError(
            f"expected strings of the kind of the fit, {kind}",
            received=strings.kind,
            hint="convert all strings to one kind",
        )
    if isinstance(alphabet, tuple):
        numbers = {token: number for number, token in enumerate(alphabet)}
        table = np.array([numbers.get(token, -1) for token in strings.alphabet], dtype=np.int32)
    else:
        own = np.asarray(strings.alphabet)
        place = np.searchsorted(alphabet, own)
        shared = place < len(alphabet)
        shared[shared] = alphabet[place[shared]] == own[shared]
        table = np.where(shared, place, -1).astype(np.int32)
    return table[strings.symbols]


def padded(symbols: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int32], int]:
    """Strings side by side, (m, longest), with −1 behind their ends."""
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    table = np.full((len(lengths), longest), -1, np.int32)
    table[np.arange(longest) < lengths[:, None]] = symbols[offsets[0] : offsets[-1]]
    return table, longest


def column_groups(offsets: NDArray[np.int64], layers: int) -> Iterator[slice]:
    """Slices of strings whose padded tables, ``layers`` deep, hold about a million cells."""
    n = len(offsets) - 1
    longest = int(np.diff(offsets).max(initial=1))
    group = max(1, 2**20 // (max(longest, 1) * layers))
    for first in range(0, n, group):
        yield slice(first, min(first + group, n))


def _read_text(entries: list[Any]) -> Sequences:
    try:
        text = "".join(entries)
    except TypeError:
        raise _refusal(entries, str) from None
    # Lone surrogates are code points as well: a string read from a damaged file still has its spectrum.
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return _compact("str", points, entries)


def _read_bytes(entries: list[Any]) -> Sequences:
    try:
        text = b"".join(entries)
    except TypeError:
        raise _refusal(entries, bytes) from None
    return _compact("bytes", np.frombuffer(text, dtype=np.uint8), entries)


def _compact(kind: Kind, points: NDArray[Any], entries: list[Any]) -> Sequences:
    """Number the code points that occur, in their order: one pass over a table of all code points."""
    table = np.zeros(int(points.max(initial=0)) + 1, dtype=np.int32)
    table[points] = 1
    alphabet = np.flatnonzero(table).astype(np.uint32)
    table[alphabet] = np.arange(len(alphabet), dtype=np.int32)
    return Sequences(kind, table[points], _offsets(map(len, entries), len(entries)), alphabet)


def _offsets(lengths: Any, n: int) -> NDArray[np.int64]:
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=n), out=offsets[1:])
    return offsets


def _read_tokens(entries: list[Any]) -> Sequences:
    numbers: dict[Any, int] = {}
    symbols: list[int] = []
    lengths = []
    for i, entry in enumerate(entries):
        tokens = entry.tolist() if isinstance(entry, np.ndarray) and entry.ndim == 1 else entry
        if not isinstance(tokens, Sequence) or isinstance(tokens, str | bytes | bytearray):
            raise _refusal(entries, tuple)
        try:
            symbols.extend([numbers.setdefault(token, len(numbers)) for token in tokens])
        except TypeError:
            raise InputError("expected tokens that can be hashed", received=f"one that cannot in row {i}") from None
        lengths.append(len(tokens))
    if any(_missing(token) for token in numbers):
        row = next(i for i, entry in enumerate(entries) if any(_missing(token) for token in entry))
        raise InputError("expected tokens without missing values", received=f"a missing token in row {row}")
    tokens, symbols_array = _in_order(list(numbers), np.array(symbols, dtype=np.int32))
    return Sequences("tokens", symbols_array, _offsets(lengths, len(entries)), tokens)


def _in_order(tokens: list[Any], symbols: NDArray[np.int32]) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """Tokens in their own order where they have one, so that the order of rows does not matter."""
    try:
        order = sorted(range(len(tokens)), key=tokens.__getitem__)
    except TypeError:
        return tuple(tokens), symbols
    rank = np.empty(len(tokens), dtype=np.int32)
    rank[order] = np.arange(len(tokens), dtype=np.int32)
    return tuple(tokens[i] for i in order), rank[symbols] if len(symbols) else symbols


def _column(X: Any) -> list[Any]:
    """The entries of one column of any library, as Python objects."""
    if isinstance(X, str | bytes | bytearray):
        raise InputError(_EXPECTED, received="one string", hint="put it in a list: [string]")
    if isinstance(X, list | tuple):
        return list(X)
    if isinstance(X, np.ndarray):
        return _array_column(X)
    if hasattr(X, "to_pylist") and not hasattr(X, "column_names"):  # an Arrow array, chunked or not
        return list(X.to_pylist())
    import narwhals

    native = narwhals.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, narwhals.DataFrame):
        if len(native.columns) != 1:
            raise InputError("expected one column of strings", received=f"{len(native.columns)} columns")
        native = native[native.columns[0]]
    if isinstance(native, narwhals.Series):
        return list(native.to_list())
    if hasattr(X, "__len__") and hasattr(X, "__iter__"):
        return list(X)
    raise InputError(_EXPECTED, received=type(X).__name__)


def _array_column(X: NDArray[Any]) -> list[Any]:
    if X.dtype.kind in "fc":
        raise InputError(_EXPECTED, received=f"an array of {X.dtype}", hint="vectors need another kernel, such as RBF")
    if X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUST":
        X = X[:, 0]
    if X.ndim not in (1, 2):
        raise InputError(_EXPECTED, received=f"an array of shape {X.shape}")
    entries: list[Any] = X.tolist()
    return entries


def _missing(entry: Any) -> bool:
    return (
        entry is None or type(entry).__name__ in ("NAType", "NaTType") or (isinstance(entry, float) and entry != entry)
    )


def _refusal(entries: list[Any], kind: type) -> InputError:
    """Say which rows are missing, or which is the first of another kind."""
    missing = [i for i, entry in enumerate(entries) if _missing(entry)]
    if missing:
        rows = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        text = f"{len(missing)} missing, in row{'s' if len(missing) > 1 else ''} {rows}"
        return InputError(_EXPECTED, received=text, hint="drop these rows, or put an empty string for them")
    wanted: Any = str if kind is str else bytes | bytearray | memoryview if kind is bytes else list | tuple | np.ndarray
    row = next((i for i, entry in enumerate(entries) if not isinstance(entry, wanted)), 0)
    return InputError(
        f"{_EXPECTED}, all of one kind",
        received=f"{type(entries[row]).__name__} in row {row}, {kind.__name__} before it",
    )
