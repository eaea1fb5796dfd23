"""Locality-sensitive hashing by random hyperplanes.                                            [Cha02, LJWCL07]

    h_r(x) = 1 if ⟨r, x⟩ ≥ 0, else 0,     r ~ N(0, I)          P(h_r(x) = h_r(y)) = 1 − θ/π,   θ the angle of x and y
    a table: b of them at once            P(same bucket) = (1 − θ/π)^b
    L tables                              P(same bucket in one of them) = 1 − (1 − (1 − θ/π)^b)^L

Beside its own bucket a query looks into those that differ in the bits of which it is least sure, |⟨r, q⟩| being small:
the ``n_probes`` first ones. Of the rows found there those that differ from it in the fewest of up to 256 bits are kept,
some hundreds, and their cosines are computed exactly.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import ParameterError
from ritz.methods.nearest.base import Nearest

__all__ = ["LSH"]

#: Bits of a table at most: buckets are addressed directly.
MOST_BITS = 24
#: Rows that a bucket holds on average, unless bits are given, and tables and probes to begin with.
BUCKET, TABLES, PROBES = 2, 32, 8
#: Probes at most.
MOST_PROBES = 1 << 11
#: Bits that are turned over at most at once, and bits among which they are chosen.
TURNED, UNSURE = 4, 16
#: Queries that are hashed at once.
TOGETHER = 64
#: Rows that are hashed at once.
ROWS = 1 << 15
#: Words of 64 bits, at most, in which candidates are compared with a query.
SIEVE = 4
#: Rows whose cosines are computed: so many for each that is asked for, and at least.
KEPT, LEAST = 32, 400
#: Bits that are set in each byte.
COUNTS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


class LSH(TransformerMixin, Nearest):
    """Locality-sensitive hashing by random hyperplanes: bits of rows, and an index of their directions.

    Parameters
    ----------
    n_bits : int, optional
        Bits of a table, 24 at most; None: so many that a bucket holds about two rows.
    n_tables : int
        Tables.
    n_probes : int, optional
        Buckets of each table that a query looks into; None: as many as ``recall`` needs, 8 at least.
    recall : float or None
        Recall@10 that is aimed at where ``n_probes`` is None; ``recall_`` says what was reached.
    random_state : int
        Seed of the hyperplanes.

    Attributes
    ----------
    hyperplanes_ : (n_tables, n_bits, d)
    n_bits_, n_probes_ : int
    recall_ : measured recall@10 with its interval

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.standard_normal((50, 16)), 4, axis=0) + 0.1 * rng.standard_normal((200, 16))
    >>> lsh = ritz.LSH(n_bits=6).fit(X)
    >>> lsh.kneighbors(X[:1], 4, return_distance=False)[0].tolist() == [0, 1, 2, 3]
    False
    >>> sorted(lsh.kneighbors(X[:1], 4, return_distance=False)[0].tolist())
    [0, 1, 2, 3]
    >>> lsh.transform(X).shape, round(float(lsh.collision_probability(np.pi / 3)), 3)
    ((200, 192), 0.088)
    """

    def __init__(
        self,
        n_bits: int | None = None,
        n_tables: int = TABLES,
        *,
        n_probes: int | None = None,
        recall: float | None = 0.95,
        random_state: Any = 0,
    ) -> None:
        self.n_bits = n_bits
        self.n_tables = n_tables
        self.n_probes = n_probes
        self.recall = recall
        self.random_state = random_state

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Bits of rows, (n, n_tables × n_bits): two rows at the angle θ differ in a share θ/π of them on average.

        Parameters
        ----------
        X : array (n, d)
        """
        check_is_fitted(self)
        rows = self._numbers(X, reset=False)
        R = self.hyperplanes_.reshape(-1, rows.shape[1]).T.astype(rows.dtype)
        return (rows @ R >= 0).astype(np.uint8)

    def collision_probability(self, angle: Any, tables: int = 1) -> Any:
        """Probability that two rows at an angle share a bucket in one of so many tables, own buckets alone.

        Parameters
        ----------
        angle : float or array
            In radians, from 0 to π.
        tables : int
            How many.
        """
        check_is_fitted(self)
        theta = np.asarray(angle, np.float64)
        if not bool(np.all((theta >= 0) & (theta <= np.pi))):
            raise ParameterError("an angle lies between 0 and π", received=repr(angle), hint="np.arccos(cosine)")
        one = np.power(1.0 - theta / np.pi, self.n_bits_)
        return 1.0 - np.power(1.0 - one, tables)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # bits
        return tags

    def _build(self) -> None:
        self._check()
        n, d = self._unit.shape
        bits = self.n_bits
        self.n_bits_ = int(np.clip(np.round(np.log2(max(n, 2) / BUCKET)), 1, MOST_BITS)) if bits is None else int(bits)
        self.n_probes_ = min(PROBES, 1 << self.n_bits_) if self.n_probes is None else int(self.n_probes)
        rng = np.random.default_rng(self.random_state)
        self.hyperplanes_ = rng.standard_normal((self.n_tables, self.n_bits_, d)).astype(self._unit.dtype)
        small = n < np.iinfo(np.int32).max
        # the rows of all tables, sorted by their buckets, one table after the other, and where buckets begin
        self._rows = np.empty(self.n_tables * n, np.int32 if small else np.int64)
        self._starts = np.empty((self.n_tables, (1 << self.n_bits_) + 1), np.int64)
        self._codes = np.zeros((self._words(), n), np.uint64)
        for t, R in enumerate(self.hyperplanes_):
            keys = np.concatenate([self._keys(self._unit[i : i + ROWS] @ R.T) for i in range(0, n, ROWS)])
            self._write(self._codes, t, keys)
            self._rows[t * n : (t + 1) * n] = np.argsort(keys, kind="stable")
            self._starts[t, 0] = t * n
            np.cumsum(np.bincount(keys, minlength=1 << self.n_bits_), out=self._starts[t, 1:])
            self._starts[t, 1:] += t * n

    def _check(self) -> None:
        for name, least, most in (("n_bits", 1, MOST_BITS), ("n_tables", 1, 1 << 12), ("n_probes", 1, MOST_PROBES)):
            value = getattr(self, name)
            if value is None and name != "n_tables":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
                raise ParameterError(f"{name} must be a whole number from {least} to {most}", received=repr(value))

    def _keys(self, projected: NDArray[Any]) -> NDArray[np.int64]:
        return (projected >= 0) @ (1 << np.arange(self.n_bits_, dtype=np.int64))

    def _words(self) -> int:
        return min(SIEVE, -(-self.n_tables // (64 // self.n_bits_)))

    def _write(self, codes: NDArray[np.uint64], table: int, keys: NDArray[np.int64]) -> None:
        """Put the bits of a table into the codes (words, m) of rows: as many tables to a word as go into 64 bits."""
        word, place = divmod(table, 64 // self.n_bits_)
        if word < len(codes):
            codes[word] |= keys.astype(np.uint64) << np.uint64(place * self.n_bits_)

    def _try_harder(self) -> bool:
        more = min(-(-3 * self.n_probes_ // 2), MOST_PROBES, 1 << self.n_bits_)
        if self.n_probes is not None or more <= self.n_probes_:
            return False
        self.n_probes_ = more
        return True

    def _search(self, unit: NDArray[Any], top: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        near, cosines = np.full((len(unit), top), -1, np.int64), np.full((len(unit), top), np.nan)
        turned, kept = turns(self.n_bits_, self.n_probes_), max(LEAST, KEPT * top)
        place = np.empty(self.n_samples_, np.int32)  # of a row among candidates; never read before it is written
        for first in range(0, len(unit), TOGETHER):
            queries = unit[first : first + TOGETHER]
            lo, hi, codes = self._buckets(queries, turned)
            for i, query in enumerate(queries):
                found = self._candidates(lo[i].ravel(), hi[i].ravel(), codes[:, i], kept, place)
                scores = self._unit[found] @ query
                if len(found) > top:
                    best = np.argpartition(-scores, top - 1)[:top]
                    found, scores = found[best], scores[best]
                near[first + i, : len(found)], cosines[first + i, : len(found)] = found, scores
        return near, cosines

    def _buckets(self, queries: NDArray[Any], turned: NDArray[np.int64]) -> tuple[Any, Any, NDArray[np.uint64]]:
        """Begin and end of the buckets that each query looks into, (m, tables, probes), and the codes of queries."""
        m = len(queries)
        lo = np.empty((m, self.n_tables, len(turned)), np.int64)
        hi, codes = np.empty_like(lo), np.zeros((self._words(), m), np.uint64)
        for t, (R, starts) in enumerate(zip(self.hyperplanes_, self._starts, strict=True)):
            projected = queries @ R.T
            order = np.argsort(np.abs(projected), axis=1)  # the bits of which a query is least sure come first
            own = self._keys(projected)
            self._write(codes, t, own)
            keys = own[:, None] ^ ((np.int64(1) << order) @ turned.T)
            lo[:, t], hi[:, t] = starts[keys], starts[keys + 1]
        return lo, hi, codes

    def _candidates(self, lo: Any, hi: Any, code: NDArray[np.uint64], kept: int, place: NDArray[np.int32]) -> Any:
        """Rows in the buckets of a query, each once; of many, those that differ from it in the fewest bits."""
        found = self._rows[_spans(lo, hi)]
        numbers = np.arange(len(found), dtype=np.int32)
        place[found] = numbers  # of a row in several buckets the last number stays
        found = found[place[found] == numbers]
        if len(found) <= kept:
            return found
        differ = _ones(self._codes[0][found] ^ code[0])
        for word, own in zip(self._codes[1:], code[1:], strict=True):
            differ += _ones(word[found] ^ own)
        return found[np.argpartition(differ, kept - 1)[:kept]]


def _ones(words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """(m,) bits that are set in each word."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words).astype(np.uint16)
    return COUNTS[words.view(np.uint8).reshape(-1, 8)].sum(axis=1, dtype=np.uint16)  # NumPy before 2


def _spans(lo: NDArray[np.int64], hi: NDArray[np.int64]) -> NDArray[np.int64]:
    """lo₀ … hi₀−1, lo₁ … hi₁−1, …"""
    there = np.flatnonzero(hi > lo)
    lo, sizes = lo[there], (hi - lo)[there]
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(lo - (ends - sizes), sizes)


@lru_cache(maxsize=16)
def turns(bits: int, probes: int) -> NDArray[np.int64]:
    """(probes, bits) 0 and 1: which of the bits, least sure first, are turned over; the likeliest sets first.

    The j-th smallest of b margins grows about as j, so that sets are ordered by the sum of their squares [LJWCL07].
    """
    among = range(min(bits, UNSURE))
    sets = [chosen for size in range(min(TURNED, bits) + 1) for chosen in combinations(among, size)]
    sets.sort(key=lambda chosen: (sum((j + 1) ** 2 for j in chosen), chosen))
    table = np.zeros((min(probes, len(sets)), bits), np.int64)
    for row, chosen in enumerate(sets[: len(table)]):
        table[row, list(chosen)] = 1
    table.flags.writeable = False  # it is shared
    return table
