"""Kernels between strings.

    Spectrum(k)            Σ_u #u(s) #u(t)                      u: windows of k letters
    BoundedSpectrum(k)     the sum of Spectrum(1) … Spectrum(k)
    Mismatch(k, m)         Spectrum whose windows may differ in m letters
    Subsequence(p, λ)      Σ_u Σ λ^(span in s + span in t)      u: p letters in order, gaps allowed
    EditDistance(γ)        exp(−γ · Levenshtein(s, t))

The first four are inner products, hence positive, and are normalised to k(s, t)/√(k(s, s) k(t, t)) unless
``normalize=False``. A string too short to hold any window or subsequence has k(s, s) = 0 and k(s, t) = 0 with every
t: it lies in the origin of the feature space, also when normalised, so there are no NaN.

kernlab's ``stringdot`` appends a newline to each string for spectrum and boundrange and counts it as a letter; add
``"\\n"`` yourself to have its numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import comb
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.kernels.base import Kernel, Prepared, Takes
from ritz.kernels.strings.features import Counts, Windows
from ritz.kernels.strings.input import Sequences, kept_source, read_strings, translate
from ritz.kernels.strings.mismatch import NearWindows

__all__ = ["BoundedSpectrum", "EditDistance", "Mismatch", "Spectrum", "StringFeatures", "Subsequence"]


#: Bytes that reading strings takes a symbol, and counting windows an occurrence: codes, their order, ranks and rows.
SYMBOL_BYTES, WINDOW_BYTES = 24.0, 110.0


class StringKernel(Kernel):
    """What all string kernels share."""

    @property
    def takes(self) -> Takes:
        return "strings"

    def working_bytes(self, X: Any) -> float | None:
        return SYMBOL_BYTES * float(np.sum(_sizes(X)))

    @property
    def relative(self) -> bool:
        return True

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        # counts are whole numbers; what follows them is a root and a quotient
        return np.full(A.n, 3.0)


class StringFeatures:
    """φ of a string kernel over the windows of the strings it was made from; rows have norm 1 if the kernel is
    normalised, windows that those strings lack included."""

    def __init__(self, kernel: WindowKernel, vocabulary: Windows | NearWindows) -> None:
        self.kernel, self.vocabulary = kernel, vocabulary
        self.size = vocabulary.size

    def transform(self, X: Any, dtype: Any = np.float64) -> Any:
        """φ of each string, CSR (n, size)."""
        counts = self.vocabulary.count(read_strings(X), np.dtype(dtype))
        return _unit_rows(counts, self.size, self.kernel.normalize)

    def names(self) -> list[Any]:
        """The window of each column."""
        return self.vocabulary.spell()


class WindowKernel(StringKernel):
    """Kernels whose φ counts windows: products of sparse rows."""

    length: int
    normalize: bool

    def __post_init__(self) -> None:
        _set_whole(self, "length", 1)
        object.__setattr__(self, "normalize", bool(self.normalize))

    def working_bytes(self, X: Any) -> float | None:
        size = _sizes(X)
        count = sum(float(np.maximum(size - length + 1, 0).sum()) for length in self._lengths())
        return SYMBOL_BYTES * float(size.sum()) + WINDOW_BYTES * count * self._each(X)

    def _lengths(self) -> Iterable[int]:
        """Lengths of the windows that are counted."""
        return (self.length,)

    def _each(self, X: Any) -> float:
        """Features that one window counts in."""
        return 1.0

    @abstractmethod
    def learn(self, strings: Sequences, dtype: Any) -> tuple[Windows | NearWindows, Counts]:
        """The vocabulary of some strings, and their counts."""

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        strings = read_strings(X)
        dtype = np.dtype(np.float64 if dtype is None else dtype)
        if like is None:
            vocabulary, counts = self.learn(strings, dtype)
        else:
            vocabulary = like["vocabulary"]
            counts = vocabulary.count(strings, dtype)
        # Columns behind the vocabulary mean something to these rows only.
        columns = vocabulary if counts.matrix.shape[1] == vocabulary.size else object()
        rows = {"strings": strings, "counts": counts.matrix, "squares": counts.squares}
        shared = {"vocabulary": vocabulary, "columns": columns}
        return Prepared(self, len(strings), dtype, rows, shared, kept_source(X))

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        base, a, b = A["vocabulary"], A["columns"], B["columns"]
        if B["vocabulary"] is not base or not (a is b or a is base or b is base):
            A = self.prepare(A["strings"][rows], dtype=A.dtype)
            B = self.prepare(B["strings"][cols], dtype=A.dtype, like=A)
            rows, cols = slice(0, A.n), slice(0, B.n)
        width = max(A["counts"].shape[1], B["counts"].shape[1])
        K = _wide(A["counts"][rows], width) @ _wide(B["counts"][cols], width).T
        dense = K.toarray()
        if self.normalize:
            dense = _normalised(dense, A["squares"][rows], B["squares"][cols])
        return _into(dense, A.dtype, out)

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        squares: NDArray[np.float64] = A["squares"]
        return (squares > 0).astype(np.float64) if self.normalize else squares

    def feature_map(self, X: Any) -> StringFeatures:
        return StringFeatures(self, self.learn(read_strings(X), np.dtype(np.float64))[0])

    def features(self, X: Any, dtype: Any = np.float64) -> Any:
        """φ of each string, CSR; columns are the windows that occur in X, in order."""
        vocabulary, counts = self.learn(read_strings(X), np.dtype(dtype))
        return _unit_rows(counts, vocabulary.size, self.normalize)


@dataclass(frozen=True)
class Spectrum(WindowKernel):
    """``Σ_u #u(s) #u(t)`` over windows u of ``length`` letters (Leslie, Eskin & Noble 2002).

    Parameters
    ----------
    length : int
        Letters of a window.
    normalize : bool
        Divide by √(k(s, s) k(t, t)), so that long strings are not alike for their length.

    Examples
    --------
    >>> from ritz import kernels
    >>> k = kernels.Spectrum(2, normalize=False)
    >>> k(["banana", "bandana", "cherry"])        # banana: ba, an, na, an, na
    array([[9., 7., 0.],
           [7., 8., 0.],
           [0., 0., 5.]])
    """

    length: int = 3
    normalize: bool = field(default=True, kw_only=True)

    def learn(self, strings: Sequences, dtype: Any) -> tuple[Windows, Counts]:
        return Windows.learn(strings, [self.length], dtype)


@dataclass(frozen=True)
class BoundedSpectrum(WindowKernel):
    """``Σ_u #u(s) #u(t)`` over windows u of 1 to ``length`` letters; kernlab calls it boundrange.

    Parameters
    ----------
    length : int
        Letters of the longest window.
    normalize : bool
        Divide by √(k(s, s) k(t, t)), so that long strings are not alike for their length.

    Examples
    --------
    >>> from ritz import kernels
    >>> words = ["ab", "ba"]
    >>> for k in (kernels.Spectrum(2), kernels.BoundedSpectrum(2)):
    ...     print(k(words).round(3)[0])           # letters count as well
    [1. 0.]
    [1.    0.667]
    """

    length: int = 3
    normalize: bool = field(default=True, kw_only=True)

    def learn(self, strings: Sequences, dtype: Any) -> tuple[Windows, Counts]:
        return Windows.learn(strings, self._lengths(), dtype)

    def _lengths(self) -> Iterable[int]:
        return range(1, self.length + 1)


@dataclass(frozen=True)
class Mismatch(WindowKernel):
    """``Σ_v φ_v(s) φ_v(t)``, φ_v the number of windows of ``length`` letters with at most ``mismatches`` other than v.

    v runs over all words over ``alphabet``: a str, or a tuple of tokens (of numbers for bytes). None stands for the
    letters of the strings that the kernel is fitted to. A letter outside the alphabet differs from every letter.
    (Leslie et al. 2004.)

    Parameters
    ----------
    length : int
        Letters of a window.
    mismatches : int
        Letters that may differ.
    alphabet : str, tuple or None
        The letters that words are made of.
    normalize : bool
        Divide by √(k(s, s) k(t, t)), so that long strings are not alike for their length.

    Examples
    --------
    >>> from ritz import kernels
    >>> words = ["GATTACA", "GACTATA"]
    >>> for k in (kernels.Spectrum(3), kernels.Mismatch(3, 1, alphabet="ACGT")):
    ...     print(k(words).round(2)[0])           # mutations are forgiven
    [1. 0.]
    [1.   0.69]
    """

    length: int = 3
    mismatches: int = 1
    alphabet: str | tuple[Any, ...] | None = None
    normalize: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _set_whole(self, "mismatches", 0)
        if self.mismatches >= self.length:
            raise ParameterError("mismatches must be fewer than length", received=f"{self.mismatches} of {self.length}")
        if isinstance(self.alphabet, str):
            object.__setattr__(self, "alphabet", "".join(sorted(set(self.alphabet))))
        elif self.alphabet is not None:
            letters = dict.fromkeys(tuple(a) if isinstance(a, list) else a for a in self.alphabet)
            object.__setattr__(self, "alphabet", tuple(letters))

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Mismatch:
        """The same kernel with the letters of X for its alphabet."""
        if self.alphabet is not None:
            return self
        strings = read_strings(X)
        letters = np.arange(len(strings.alphabet))
        alphabet = strings.spell(letters)
        return cast(Mismatch, self.with_params(alphabet=tuple(alphabet) if strings.kind == "bytes" else alphabet))

    def _each(self, X: Any) -> float:
        letters = len(self.alphabet) if self.alphabet is not None else len(read_strings(X).alphabet)
        return float(sum(comb(self.length, m) * (letters - 1) ** m for m in range(self.mismatches + 1)))

    def learn(self, strings: Sequences, dtype: Any) -> tuple[NearWindows, Counts]:
        return NearWindows.learn(strings, self._letters(strings), self.length, self.mismatches, dtype)

    def _letters(self, strings: Sequences) -> Any:
        if self.alphabet is None:
            return strings.alphabet
        if strings.kind == "tokens":
            return tuple(self.alphabet)
        if strings.kind == "str" and isinstance(self.alphabet, str):
            return np.array([ord(letter) for letter in self.alphabet], dtype=np.uint32)
        if strings.kind == "bytes" and not isinstance(self.alphabet, str):
            return np.array(sorted(self.alphabet), dtype=np.uint32)
        raise InputError(
            "expected an alphabet of the same kind as the strings", received=f"{strings.kind} and {self.alphabet!r}"
        )


@dataclass(frozen=True)
class Subsequence(StringKernel):
    """Common subsequences of ``length`` letters, ``decay`` to the power of the letters they span (Lodhi et al. 2002).

    Loops are compiled by numba where it is installed, otherwise they run in NumPy, slower.

    Parameters
    ----------
    length : int
        Letters of a subsequence.
    decay : float
        Factor for every letter that a subsequence spans, gaps included, in (0, 1].
    normalize : bool
        Divide by √(k(s, s) k(t, t)), so that long strings are not alike for their length.

    Examples
    --------
    >>> from ritz import kernels
    >>> k = kernels.Subsequence(2, decay=0.5, normalize=False)
    >>> k(["cat", "car", "cxxxxt"])[0].round(4)   # "c-t" with a gap counts, the less the longer the gap
    array([0.1406, 0.0625, 0.002 ])
    """

    length: int = 3
    decay: float = 0.5
    normalize: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        _set_whole(self, "length", 1)
        object.__setattr__(self, "normalize", bool(self.normalize))
        object.__setattr__(self, "decay", float(self.decay))
        if not 0 < self.decay <= 1:
            raise ParameterError("0 < decay ≤ 1", received=str(self.decay))

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        from ritz.kernels.strings.subsequence import own_values

        strings = read_strings(X)
        squares = own_values(strings, self.length, self.decay)
        if not np.all(np.isfinite(squares)):
            row = int(np.argmax(~np.isfinite(squares)))
            raise InputError(
                "expected subsequence counts in the range of float64",
                received=f"larger ones in row {row}",
                hint="choose a smaller decay or length",
            )
        dtype = np.dtype(np.float64 if dtype is None else dtype)
        return Prepared(self, len(strings), dtype, {"strings": strings, "squares": squares}, source=kept_source(X))

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        from ritz.kernels.strings.subsequence import ALL, UPPER, scale, subsequence_tile

        which = UPPER if A is B and rows == cols else ALL
        K = subsequence_tile(*_comparable(A, B, rows, cols), self.length, self.decay, which)
        if self.normalize:
            return _into(_normalised(K, A["squares"][rows], B["squares"][cols]), A.dtype, out)
        return _into(K * scale(self.length, self.decay), A.dtype, out)

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        # nothing is subtracted: each letter rounds the sums once more
        return 4.0 + 2.0 * np.asarray(A["strings"].lengths, np.float64)

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        from ritz.kernels.strings.subsequence import scale

        squares: NDArray[np.float64] = A["squares"]
        return (squares > 0).astype(np.float64) if self.normalize else squares * scale(self.length, self.decay)


@dataclass(frozen=True)
class EditDistance(StringKernel):
    """``exp(−γ · Levenshtein(s, t))``; ``gamma="median"`` is 1 over the median distance of the strings.

    Not positive: the edit distance is no Euclidean distance, so kernel matrices have negative eigenvalues when γ is
    small; how small depends on the strings.

    Parameters
    ----------
    gamma : float or "median"
        A positive number, or 1 over the median distance of the strings.

    Examples
    --------
    >>> from ritz import kernels
    >>> k = kernels.EditDistance(gamma=0.5)
    >>> k(["kitten", "sitting", "mitten"])[0].round(3)  # three edits, one edit
    array([1.   , 0.223, 0.607])
    >>> k.positive                                # negative eigenvalues are possible; KernelPCA says so
    False
    """

    gamma: float | Literal["median"] = "median"

    def __post_init__(self) -> None:
        if self.gamma == "median":
            return
        if isinstance(self.gamma, str | bool) or not 0 < float(self.gamma) < np.inf:
            raise ParameterError("gamma must be a number > 0, or 'median'", received=repr(self.gamma))
        object.__setattr__(self, "gamma", float(self.gamma))

    @property
    def positive(self) -> bool:
        return False

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> EditDistance:
        """The same kernel with a number for gamma, from at most 500 strings."""
        from ritz.kernels.strings.edit import edit_distances

        if self.gamma != "median":
            return self
        strings = read_strings(X)
        if len(strings) > 500:
            chosen = np.random.default_rng(seed).choice(len(strings), 500, replace=False)
            strings = strings[np.sort(chosen)]
        distances = edit_distances(strings, strings, strings.symbols)[np.triu_indices(len(strings), 1)]
        positive = distances[distances > 0]
        return EditDistance(1.0 / float(np.median(positive)) if len(positive) else 1.0)

    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        if isinstance(self.gamma, str):
            raise ParameterError(
                "gamma must be a number before strings are compared",
                received=repr(self.gamma),
                hint="kernel.fix(X) finds it",
            )
        strings = read_strings(X)
        dtype = np.dtype(np.float64 if dtype is None else dtype)
        return Prepared(self, len(strings), dtype, {"strings": strings}, source=kept_source(X))

    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        from ritz.kernels.strings.edit import edit_distances

        return _into(np.exp(-float(self.gamma) * edit_distances(*_comparable(A, B, rows, cols))), A.dtype, out)

    def diag(self, A: Prepared) -> NDArray[np.float64]:
        return np.ones(A.n)


def _sizes(X: Any) -> NDArray[np.int64]:
    """Symbols of each string, (n,); what is no string is refused where strings are read."""
    return np.fromiter((len(text) if hasattr(text, "__len__") else 0 for text in X), np.int64)


def _comparable(A: Prepared, B: Prepared, rows: slice, cols: slice) -> tuple[Sequences, Sequences, NDArray[np.int32]]:
    """Strings of both sides, and the symbols of the second by the alphabet of the first."""
    s, t = A["strings"][rows], B["strings"][cols]
    return s, t, translate(t, s.alphabet, s.kind) if len(s.symbols) else np.full_like(t.symbols, -1)


def _wide(matrix: Any, width: int) -> Any:
    """The same CSR rows with empty columns behind."""
    if matrix.shape[1] == width:
        return matrix
    return type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))


def _normalised(K: NDArray[Any], a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[Any]:
    """``K / √(a bᵀ)``, 0 where either is 0; exactly 1 for equal strings unless a·b would overflow."""
    if max(a.max(initial=0.0), b.max(initial=0.0)) < 1e150:
        scale = np.sqrt(np.outer(a, b))
    else:
        scale = np.outer(np.sqrt(a), np.sqrt(b))
    return np.divide(K, scale, out=np.zeros(K.shape), where=scale > 0)


def _unit_rows(counts: Counts, size: int, normalize: bool) -> Any:
    """The columns of the vocabulary, each row divided by its norm over all columns."""
    matrix = counts.matrix if counts.matrix.shape[1] == size else counts.matrix[:, :size]
    if normalize:
        norms = np.sqrt(np.where(counts.squares > 0, counts.squares, 1.0))
        matrix.data /= np.repeat(norms, np.diff(matrix.indptr)).astype(matrix.dtype)
    return matrix


def _into(K: NDArray[Any], dtype: np.dtype[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    if out is None:
        return K.astype(dtype, copy=False)
    out[...] = K
    return out


def _set_whole(kernel: Any, name: str, least: int) -> None:
    value = getattr(kernel, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}", received=repr(value))
    object.__setattr__(kernel, name, int(value))
