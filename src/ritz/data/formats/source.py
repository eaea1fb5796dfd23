"""A source: rows that stay outside memory, cut into spans that can be read on their own.

    spans   [0, n) = [0, a) ∪ [a, b) ∪ …      row groups of Parquet, ranges of an array file, pieces of a text file
    batches(span, columns, rows)  →  (≤ rows, d) arrays or CSR matrices, in row order

Several lanes read different spans at the same time. A missing value is NaN.

Reading may take more than the batches themselves: text that is parsed, pages that are decoded. A source may tell, and
choose how it reads by what there is:

    held(columns, rows) → float     bytes that one lane takes, three batches of ``rows`` rows included
    within(room)        → Source    the same rows, in a way that takes at most ``room`` bytes a lane where there is one

A source whose columns come one after another may hand them out so, to sums that do not mind: turning them into rows
takes as long as a third of decoding.

    column_batches(span, columns, rows)     as ``batches``, in any order of the entries

One whose batches are in memory of their own, which nothing else reads, says so: sums are formed where they lie then.

    own_batches                             whether that is so, of batches that can be written to
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["HELD_BATCHES", "Source", "Span", "equal_shares", "held_bytes", "places_in", "spans_with"]

#: Batches that a lane holds: one being read, one waiting, one in use.
HELD_BATCHES = 3


@dataclass(frozen=True)
class Span:
    """Rows ``start : stop`` of a table; ``key`` tells the source where they lie."""

    start: int
    stop: int
    key: Any = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start


class Source(Protocol):
    """Where the numbers of a table come from."""

    #: names of all numeric columns that it can deliver; an embedding column is expanded to ``name[0]``, ``name[1]``, …
    names: list[str]
    #: dtype of the rows handed out
    dtype: np.dtype[Any]
    #: whether rows come as CSR matrices
    sparse: bool
    #: in row order, covering all rows
    spans: list[Span]
    #: files behind it, for messages
    files: list[Path]

    @property
    def nbytes(self) -> int:
        """Bytes to read in one pass."""
        ...

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        """Rows of a span in row-major batches of at most ``rows``; ``columns`` are positions in ``names``.

        Batches are read ahead: one must stay as it is while the next three are read.
        """
        ...

    def fingerprint(self) -> str:
        """Changes when the data change: the identity that a checkpoint remembers."""
        ...


def places_in(index: NDArray[np.intp], start: int, rows: int) -> NDArray[np.intp]:
    """Which of ``rows`` rows from ``start`` on have a number in ``index``, which increases: counted from ``start``."""
    first, last = np.searchsorted(index, [start, start + rows])
    return index[first:last] - start


def spans_with(spans: Sequence[Span], index: NDArray[np.intp]) -> Iterator[Span]:
    """Spans that may hold rows with these numbers: those of unknown length may."""
    return (span for span in spans if span.stop < 0 or len(places_in(index, span.start, span.stop - span.start)))


def equal_shares(spans: Sequence[Span], lanes: int) -> list[list[Span]]:
    """Neighbouring spans for each of at most ``lanes`` lanes, as equal in rows as whole spans allow."""
    edges = np.cumsum([0, *(span.rows for span in spans)])
    marks = [int(np.argmin(np.abs(edges - edges[-1] * i / lanes))) for i in range(lanes + 1)]
    return [list(spans[a:b]) for a, b in pairwise(marks) if b > a]


def held_bytes(source: Source, columns: Sequence[int] | None, rows: int, row_bytes: float) -> float:
    """Bytes that one lane of reading takes: what the source tells, or its batches."""
    told = getattr(source, "held", None)
    return float(HELD_BATCHES * rows * row_bytes if told is None else told(columns, rows))
