"""Row blocks that are read from a source in every pass: tables larger than memory.

    spans of the source  →  shared out among lanes in row order  →  batches, read ahead  →  blocks of rows

What is held at any time are a few batches a lane, in buffers that the memory limit sizes, and the accumulators. Sums
that do not mind get columns as they lie (``for_products``); what a sample decoded is not decoded again (``sample.py``).
Where a journal is kept (``_core/journal.py``), a pass that was summed before is not made again, and one that was broken
off goes on from where its lanes had written down their sums.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core import journal as journals
from ritz._core.blas import freed_blas
from ritz._core.progress import Step, track
from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.data.engines.stream.sample import Begun, first_rows, sampled_spans
from ritz.data.formats.source import HELD_BATCHES, Source, Span, equal_shares, held_bytes
from ritz.data.formats.stamp import unchanged
from ritz.data.passes.blocks import BLOCK_BYTES, Accumulator, Block, block_rows, merged
from ritz.data.passes.read_ahead import ahead

__all__ = ["StreamBlocks", "batch_bytes", "reading_bytes"]

S = TypeVar("S", bound=Accumulator)

#: Bytes of a batch that is read at once, and the share of the memory limit that all batches of all lanes may take.
BATCH_BYTES, BATCH_SHARE = 16 << 20, 0.25
LEAST_BATCH = 1 << 16
#: Share of the memory limit that is left to what is added up, at most: d² numbers a lane, what rounding took from
#: them, and a product as large.
STATE_SHARE = 0.5
#: Share that no lane plans with: what malloc keeps for later in pieces that fit nothing.
SPARE_SHARE = 0.1
#: What a run takes beside all that: thread stacks and BLAS work space. 13 to 15 MB were seen at d = 768.
RUN_BYTES = 20e6


#: The room for reading is shared by at least so many.
LEAST_SHARES = 1.6


def batch_bytes(budget: float | None, lanes: int) -> int:
    """Bytes of a batch within a memory limit."""
    most = BATCH_BYTES if budget is None else budget * BATCH_SHARE / (HELD_BATCHES * lanes)
    return int(max(LEAST_BATCH, min(BATCH_BYTES, most)))


def reading_bytes(budget: float) -> float:
    """Bytes that batches and the buffers of blocks take within a memory limit, where no more is known of the rows."""
    lanes = lane_count()
    batch = batch_bytes(budget, lanes)
    return float(lanes * (HELD_BATCHES * batch + 2 * min(BLOCK_BYTES, 2 * batch)) + RUN_BYTES)


def _sizes(budget: float | None, most: int) -> Iterator[tuple[int, int]]:
    """Lanes and bytes of a batch, from the fastest to the smallest."""
    for lanes in range(most, 0, -1):
        yield lanes, batch_bytes(budget, lanes)
    size = batch_bytes(budget, most)
    while size >= LEAST_BATCH:
        yield 1, size
        size //= 2


class StreamBlocks:
    """Row blocks of a source.

    Parameters
    ----------
    source
        Where the rows come from.
    columns
        Positions of the columns to use in ``source.names``; all without it.
    budget
        Memory limit in bytes, for the size of batches and the number of lanes.
    absent
        Rows to leave out, as a boolean mask (n,): they are handed out as zeros, and have weight zero.
    """

    def __init__(
        self,
        source: Source,
        columns: Sequence[int] | None = None,
        *,
        budget: float | None = None,
        absent: NDArray[np.bool_] | None = None,
    ) -> None:
        self.source, self.budget, self.absent = source, budget, absent
        self.columns = None if columns is None else list(columns)
        n = source.spans[-1].stop if source.spans else 0
        d = len(source.names) if self.columns is None else len(self.columns)
        self.shape: tuple[int, int] = (int(n), d)
        self.dtype: np.dtype[Any] = np.dtype(source.dtype)
        self.sparse = bool(source.sparse)
        self.stored = int(getattr(source, "stored", n * d) if self.sparse else n * d)
        self.nbytes = int(source.nbytes)
        self.spare = float("inf")  # bytes of the memory limit that a lane leaves
        self.lanes, self.batch, self.rows, self.reading = self._sized()
        self.any_order = False  # whether rows may come column after column
        self._sampled: dict[int, Any] = {}
        self._begun: dict[int, Begun] = {}  # spans that a sample was taken of, by their first row

    def _sized(self) -> tuple[int, int, int, float]:
        """Lanes, rows of a batch and of a block, bytes for reading: as much as the memory limit holds."""
        n, d = self.shape
        width = max(1, self.stored // max(1, n)) if self.sparse else d
        row_bytes = max(1, width * (12 if self.sparse else self.dtype.itemsize))
        source, budget = self.source, self.budget
        for lanes, size in _sizes(budget, min(lane_count(), max(1, len(source.spans)))):
            batch = max(16, size // row_bytes)
            rows = min(batch, block_rows(width))
            buffers = 2.0 * rows * width * 8
            if budget is None:
                reading = held_bytes(source, self.columns, batch, row_bytes)
                break
            room = (1 - SPARE_SHARE) * budget - min(STATE_SHARE * budget, 24.0 * lanes * d * d) - RUN_BYTES
            # What an allocator keeps grows with the size of a lane's pieces: 108 MB were seen for 90 with one lane.
            room = room / max(lanes, LEAST_SHARES) - buffers
            self.source = source.within(max(0.0, room)) if hasattr(source, "within") else source
            reading = held_bytes(self.source, self.columns, batch, row_bytes)
            self.spare = room - reading
            if reading <= room:
                break
        return lanes, batch, rows, lanes * (reading + buffers) + RUN_BYTES

    def for_products(self, rows: int) -> StreamBlocks:
        """The same rows for an accumulator that takes them in any order, in blocks of ``rows`` if there is room."""
        other = copy.copy(self)
        other.any_order = True
        more = 2.0 * (rows - self.rows) * self.shape[1] * 8
        if rows > self.rows and more <= self.spare:
            # A batch is a block then: what was decoded together is used together.
            other.batch = other.rows = min(rows, self.batch)
        return other

    # lanes

    def _shares(self, lanes: int) -> list[list[Span]]:
        """Spans of every lane: contiguous, as equal in rows as whole spans allow."""
        spans = [span for span in self.source.spans if span.rows]
        return equal_shares(spans, lanes) or [spans]

    def _lanes(self, first: Any) -> int:
        """How many lanes: one for accumulators that use both cores themselves, or that would not fit twice."""
        lanes = self.lanes
        if getattr(first, "ALONE", False):
            return 1
        size = int(getattr(first, "nbytes", 0))
        while lanes > 1 and self.budget is not None and size * lanes > 0.5 * self.budget:
            lanes -= 1
        return lanes

    def _blocks(self, spans: Sequence[Span], begin: int, advance: Step) -> Iterator[Block]:
        """Blocks of rows from row ``begin`` on, read ahead."""
        free = bool(getattr(self.source, "own_batches", False))
        for start, batch in ahead(self._batches(spans, begin)):
            go_on()
            n = batch.shape[0]
            rows = max(1, -(-n // -(-n // self.rows)))  # equal blocks: a last one of few rows costs as much as others
            for first in range(0, n, rows):
                yield Block(batch[first : first + rows], start + first, free)
            share = batch.shape[0] / max(1, self.shape[0])
            advance(share, passes=share, bytes=int(self.nbytes * share))

    def _batches(self, spans: Sequence[Span], begin: int) -> Iterator[tuple[int, Any]]:
        for span in spans:
            if span.stop <= begin:
                continue
            at = span.start
            for batch in self._span(span):
                skip = min(max(0, begin - at), batch.shape[0])
                if skip < batch.shape[0]:
                    yield at + skip, self._present(batch[skip:] if skip else batch, at + skip)
                at += batch.shape[0]

    def _span(self, span: Span) -> Iterator[Any]:
        """Batches of a span: the ones that a sample began with, where there are any."""
        begun = self._begun.pop(span.start, None)
        return iter(self._read(span, self.batch)) if begun is None else begun.all()

    def _read(self, span: Span, rows: int) -> Iterator[Any]:
        read = getattr(self.source, "column_batches", self.source.batches) if self.any_order else self.source.batches
        return iter(read(span, self.columns, rows))

    def _keep_begun(self, shares: Sequence[Sequence[Span]]) -> None:
        """Let go of what a sample decoded, unless a lane begins with it and takes it in any order."""
        firsts = {share[0].start for share in shares if share and self.any_order}
        for start in set(self._begun) - firsts:
            del self._begun[start]

    def _present(self, batch: Any, start: int) -> Any:
        """The batch with absent rows as zeros, whatever they hold."""
        gone = None if self.absent is None else self.absent[start : start + batch.shape[0]]
        if gone is None or not gone.any():
            return batch
        if self.sparse:
            kept = batch.copy()
            kept.data[np.repeat(gone, np.diff(kept.indptr))] = 0
            return kept
        return np.where(gone[:, None], batch.dtype.type(0), batch)

    # the two verbs

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to an accumulator; the accumulators of all lanes are merged in row order."""
        first, journal = create(), journals.current()
        number = -1 if journal is None else journal.next_pass()
        shares = self._shares(self._lanes(first))
        self._keep_begun(shares)
        label = f"{type(first).__name__} {self.shape} {[share[0].start for share in shares]}"
        state = None if journal is None else journal.finished(number, label)
        if state is not None:
            self._keep_begun([])
            first.restore(state)
            return first

        def work(lane: int) -> S:
            total = first if lane == 0 else create()
            keeper = None if journal is None else journal.keeper(number, lane, label)
            before = None if keeper is None else keeper.restore()
            if before is not None:
                total.restore(before[1])
            for block in self._blocks(shares[lane], before[0] if before else 0, advance):
                step(total, block)
                if keeper is not None and keeper.due():
                    keeper.save(block.rows.stop, total.state())
            return total

        own = freed_blas() if getattr(first, "ALONE", False) else nullcontext()  # one that uses all cores itself
        with unchanged(self.source), own, track("reading", total=1.0) as advance:
            total = merged(run_lanes(work, list(range(len(shares)))))
        if journal is not None:
            journal.finish(number, label, total.state())
        return total

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i; ``step`` gets a scratch dictionary of its lane for buffers."""

        def work(share: list[Span]) -> None:
            scratch: dict[str, Any] = {}
            for block in self._blocks(share, 0, advance):
                out[block.rows] = step(scratch, block)

        shares = self._shares(self.lanes)
        self._keep_begun(shares)
        with unchanged(self.source), track("reading", total=1.0) as advance:
            run_lanes(work, shares)
        return out

    def each(self) -> Iterator[Block]:
        """Batches of rows in row order, read ahead; for outputs that go to a file."""
        self._keep_begun([self.source.spans])
        with unchanged(self.source), track("reading", total=1.0) as advance:
            for start, batch in ahead(self._batches(self.source.spans, 0)):
                yield Block(batch, start)
                share = batch.shape[0] / max(1, self.shape[0])
                advance(share, passes=share, bytes=int(self.nbytes * share))

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows: the first ones of some spans, spread over the table; to be looked at only."""
        # Kept, because some sources decode a whole span for its first row.
        if rows not in self._sampled:
            self._sampled[rows] = self._first_rows(rows)
        return self._sampled[rows]

    def _first_rows(self, rows: int) -> Any:
        decodes = bool(getattr(self.source, "decodes", False))
        firsts = [share[0] for share in self._shares(self.lanes) if share] if decodes and not self.sparse else []
        kept = {span.start for span in firsts}

        def look(span: Span, count: int) -> Any:
            if span.start not in kept:
                return self._present(next(self._read(span, count)), span.start)[:count]
            if span.start not in self._begun:
                self._begun[span.start] = Begun(self.for_products(0)._read(span, self.batch))
            return self._present(self._begun[span.start].first(count), span.start)

        spans = [span for span in self.source.spans if span.rows]
        parts = first_rows(sampled_spans(spans, firsts, decodes), look, rows, self.lanes)
        if not parts:
            return np.empty((0, self.shape[1]), self.dtype)
        if not self.sparse:
            return np.concatenate(parts)
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
