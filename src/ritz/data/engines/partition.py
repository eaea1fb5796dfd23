"""Partitions of rows on a cluster: what a worker does with one, and how the sums of several become one.

    pass    s_p = state of  step(…step(create(), block₁)…, block_b)          blocks of partition p, in row order
    merge   s_G = s_p ⊕ s_p+1 ⊕ … ⊕ s_p+7                                    into a fresh accumulator, left to right

The engines of clusters share it. Nothing here changes what it is given, so whatever is run again, because its worker
died or because two ran it at once, gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ritz.data.passes.blocks import Block, csr_rows

__all__ = [
    "CHECKED", "MERGED_AT_ONCE", "Layout", "Outline", "Part", "cut", "join", "laid_out", "present", "spread", "stacked",
    "sums_of",
]  # fmt: skip

#: Results that one merge takes.
MERGED_AT_ONCE = 8
#: Partitions that measure rounding for all of them.
CHECKED = 4


class Layout:
    """What is the same for all partitions: how rows are handed out."""

    def __init__(self, d: int, sparse: bool, rows: int) -> None:
        self.d, self.sparse, self.rows = d, sparse, rows


class Part:
    """What a task knows of its partition besides the numbers."""

    def __init__(self, number: int, start: int, rows: int, layout: Layout) -> None:
        self.number, self.start, self.rows, self.layout = number, start, rows, layout
        self.absent: Any = None  # (rows,) which rows have weight zero and are handed out as zeros


class Outline:
    """What a task may ask the row blocks of its operator: what the table looks like, not where it is."""

    def __init__(self, shape: tuple[int, int], dtype: Any, sparse: bool, nbytes: int, stored: int) -> None:
        self.shape, self.dtype, self.sparse, self.nbytes, self.stored = shape, dtype, sparse, nbytes, stored


# sums


def sums_of(create: Any, step: Any, blocks: Iterable[Block], checked: bool) -> dict[str, Any]:
    """The sums of one partition; its measured roundings only where it is one of the few that speak for all."""
    sums = create()
    if not checked and hasattr(sums, "unchecked"):
        sums.unchecked()
    for block in blocks:
        step(sums, block)
    state: dict[str, Any] = sums.state()
    return state if checked else {key: value for key, value in state.items() if not key.startswith("errors.")}


def join(create: Any, states: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The sums of several partitions, in row order. What was given stays as it is: another try may need it."""
    total = create()
    for state in states:
        other = create()
        other.restore(state)
        total.merge(other)
    return dict(total.state())


def spread(count: int, wanted: int) -> list[int]:
    """At most ``wanted`` of ``count`` positions, evenly spread."""
    wanted = min(count, wanted)
    return [int((i + 0.5) * count / wanted) for i in range(wanted)]


# rows


def present(values: Any, partition: Part, first: int) -> Any:
    """Rows from the partition's row ``first`` on, absent ones as zeros, whatever they hold."""
    gone = None if partition.absent is None else partition.absent[first : first + values.shape[0]]
    if gone is None or not gone.any():
        return values
    if isinstance(values, np.ndarray):
        return np.where(gone[:, None], values.dtype.type(0), values)
    kept = values.copy()
    kept.data[np.repeat(gone, np.diff(kept.indptr))] = 0
    return kept


def cut(rows: Any, layout: Layout) -> Iterator[Any]:
    """Blocks of rows, dense or CSR as the layout says."""
    for start in range(0, rows.shape[0], layout.rows):
        stop = min(start + layout.rows, rows.shape[0])
        piece = rows[start:stop] if isinstance(rows, np.ndarray) else csr_rows(rows, start, stop)
        yield laid_out(piece, layout)


def laid_out(rows: Any, layout: Layout) -> Any:
    """Rows, dense or CSR as the layout says."""
    if isinstance(rows, np.ndarray):
        if not layout.sparse:
            return rows
        import scipy.sparse

        return scipy.sparse.csr_array(rows)
    return rows if layout.sparse else rows.toarray()


def stacked(pieces: list[Any]) -> Any:
    """Rows of all pieces."""
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    import scipy.sparse

    return scipy.sparse.vstack(pieces, format="csr")
