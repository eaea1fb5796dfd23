"""Exact search: cosines of queries with all documents, a block of documents at a time.

    cos(q, x_i) = ⟨q V, e_i⟩ / (‖q V‖ ‖e_i‖),   e_i = x_i V the rows of ``embedding_`` (n, k)

    hybrid h:   h·z(BM25) + (1 − h)·z(cos),   z: mean 0 and standard deviation 1 over all documents, query by query

Scores that agree to ``DIGITS`` count as equal, and equal ones come in the order of their rows: a product of matrices
may round copies of one document differently. Documents without a known word are never found; a document that has no
part in any topic is found by its words alone. One that has nothing in common with the query, no topic (a cosine of 0 up
to the error of the topics) and no word, is no hit: a hit is what shares something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIGITS", "NOTHING", "TOGETHER", "Shared", "best", "exact", "mixed", "reachable", "standard", "standards"]

Floats = NDArray[np.float64]

#: Bytes of a block of documents with its scores.
BLOCK = 1 << 25
#: Queries that are multiplied at once.
TOGETHER = 256
#: Difference of scores below which they are equal, for float64 and float32 coordinates.
DIGITS = {8: 1e-12, 4: 1e-6}
#: Cosine that is nothing in common: four digits show it as 0.
NOTHING = 5e-5
#: Which of some documents share something with a query: its number, their cosines, their rows, ↦ (m,) bool.
Shared = Callable[[int, Floats, NDArray[np.int64]], NDArray[np.bool_]]


def best(scores: Floats, rows: NDArray[np.int64], top: int, same: float) -> tuple[NDArray[np.int64], Floats]:
    """The ``top`` largest scores, those of equal size in the order of their rows."""
    if len(scores) > top:
        least = np.partition(scores, len(scores) - top)[len(scores) - top]
        near = np.flatnonzero(scores >= least - 2 * same)
        scores, rows = scores[near], rows[near]
    order = np.lexsort((rows, -np.round(scores / same)))[:top]
    return rows[order], scores[order]


def exact(
    embedding: Any, norms: Floats, queries: Floats, top: int, *, leave_out: int | None = None,
    shared: Shared | None = None, found_in: NDArray[np.int64] | None = None,
) -> list[tuple[NDArray[np.int64], Floats]]:  # fmt: skip
    """Rows and cosines of the ``top`` documents nearest to each query (m, k), never all cosines at once.

    Only those that are ``shared`` with it, where that is given; ``found_in`` (m,) is told how many of all have a cosine
    above 0.
    """
    n, k = embedding.shape
    same = DIGITS[embedding.dtype.itemsize]
    found: list[tuple[NDArray[np.int64], Floats]] = []
    for first in range(0, len(queries), TOGETHER):
        block = queries[first : first + TOGETHER]
        unit = (block / np.linalg.norm(block, axis=1, keepdims=True)).astype(embedding.dtype)
        step = max(1, BLOCK // (8 * (k + len(block))))
        kept: list[tuple[NDArray[np.int64], Floats]] = [(np.zeros(0, np.int64), np.zeros(0)) for _ in block]
        for start in range(0, n, step):
            stop = min(start + step, n)
            there = np.flatnonzero(norms[start:stop] > 0) + start
            if leave_out is not None:
                there = there[there != leave_out]
            if not len(there):
                continue
            rows = embedding[start:stop] if len(there) == stop - start else embedding[there]
            cosines = np.asarray(unit @ rows.T, np.float64) / norms[there]
            for i, scores in enumerate(cosines):
                (old_rows, old), mine = kept[i], there
                if shared is not None:
                    hit = shared(first + i, scores, there)
                    scores, mine = scores[hit], there[hit]
                if found_in is not None:
                    found_in[first + i] += np.count_nonzero(scores > 0)
                kept[i] = best(np.concatenate([old, scores]), np.concatenate([old_rows, mine]), top, same)
        found += kept
    return found


def standard(scores: Floats, same: float = DIGITS[8]) -> Floats:
    """Scores with mean 0 and standard deviation 1; zeros where all are the same up to rounding."""
    spread = float(np.std(scores))
    if spread <= same * float(np.max(np.abs(scores), initial=0.0)):
        return np.zeros(len(scores))
    return np.asarray((scores - np.mean(scores)) / spread)


def standards(embedding: Any, norms: Floats, query: Floats, words: Floats) -> tuple[Floats, Floats, Floats]:
    """Standard scores of all documents (n,) by BM25, whose scores are ``words``, and by cosine; and the cosines."""
    cosines, same = np.zeros(len(norms)), DIGITS[embedding.dtype.itemsize]
    there, length = np.flatnonzero(norms > 0), float(np.linalg.norm(query))
    if length > 0:
        unit = (query / length).astype(embedding.dtype)
        step = max(1, BLOCK // (8 * embedding.shape[1]))
        for start in range(0, len(norms), step):
            cosines[start : start + step] = embedding[start : start + step] @ unit
        cosines[there] /= norms[there]
    return standard(words), standard(cosines, same), np.where(norms > 0, cosines, 0.0)


def mixed(
    by_words: Floats, by_topics: Floats, found: NDArray[np.int64], share: float, top: int, same: float
) -> tuple[NDArray[np.int64], Floats]:
    """Rows and scores of the ``top`` of the documents ``found`` by both standard scores (n,) together."""
    scores = share * by_words[found] + (1.0 - share) * by_topics[found]
    return best(scores, found, top, same)


def reachable(shared: Floats, words: Floats, share: float, least: float = NOTHING) -> NDArray[np.int64]:
    """Documents that share a word or a topic with a query; a word where nothing else counts."""
    return np.flatnonzero(words > 0 if share == 1 else (shared > least) | (words > 0))
