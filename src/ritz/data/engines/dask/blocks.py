"""Row blocks that live on a Dask cluster, or in Dask collections on this machine.

    partitions, in row order     p₀  p₁  …  p₇   p₈  …  p₁₅   …
    one task each                s₀  s₁  …  s₇   s₈  …  s₁₅   …        sums of a partition, where its rows are
    merged eight by eight        └────s₀:₈───┘   └───s₈:₁₆──┘          on the workers, in row order
                                 └───────────s₀:₆₄──────────┘ …        until one is left, which comes home

The tree depends on the partitions alone and every task is pure, so the same partitions give the same bits whatever
worker runs which task in which order, and a worker that dies costs only the work that it held. Nothing here uses
dask.array.linalg.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core import journal as journals
from ritz._core.errors import InputError, ParameterError
from ritz._core.progress import track
from ritz.data.engines.dask.cluster import Watch, collected, current_client, free_memory, require_dask
from ritz.data.engines.dask.rows import Partitions, of_collection, of_source
from ritz.data.engines.dask.task import all_rows, hand_out, merge, run_pass, run_rows, sample_rows
from ritz.data.engines.parcel import Parcel
from ritz.data.engines.partition import CHECKED, MERGED_AT_ONCE, Layout, Outline, Part, spread
from ritz.data.formats.stamp import Stamp, unchanged
from ritz.data.passes.blocks import BLOCK_BYTES, DENSE_DENSITY, Accumulator, Block, block_rows, sparse_rows

__all__ = ["DaskBlocks"]

S = TypeVar("S", bound=Accumulator)

#: Partitions that rows are sampled from at most.
SAMPLED = 8
#: Share of the workers' free memory that partitions may be held in.
HOLD_SHARE = 0.5
#: Partitions that are gathered at once where results are coordinates, and bytes where they are the rows themselves.
WAVE, EACH_BYTES = 64, 256 << 20


class DaskBlocks:
    """Row blocks of a Dask array or frame.

    Parameters
    ----------
    collection
        Dask array (n, d) with chunks of any shape, dense or sparse, or a Dask frame of numeric columns.
    client
        The cluster; the default client without it; Dask's local scheduler where there is none.
    persist
        Whether the partitions are held in the memory of the workers between passes: "auto" where they fit in half of
        what is free, else they are computed again in every pass. ``notes`` says what was done. Without a cluster
        nothing is held.
    """

    def __init__(self, collection: Any, client: Any = None, *, persist: bool | Literal["auto"] = "auto") -> None:
        require_dask()
        self._client: Any = current_client() if client is None else client
        self._persist = persist
        self._set(of_collection(collection, self._gather))

    @classmethod
    def of(cls, partitions: Partitions, client: Any = None) -> Self:
        """Row blocks of partitions that are known already."""
        require_dask()
        blocks = cls.__new__(cls)
        blocks._client = current_client() if client is None else client
        blocks._persist = "auto"
        blocks._set(partitions)
        return blocks

    @classmethod
    def from_source(cls, source: Any, client: Any = None, columns: Sequence[int] | None = None) -> Self:
        """Row blocks of files that the workers read themselves in every pass."""
        require_dask()
        blocks = cls.__new__(cls)
        blocks._client = current_client() if client is None else client
        blocks._persist = False
        blocks._set(of_source(source, columns))
        blocks.nbytes, blocks.stamp = int(source.nbytes), getattr(source, "stamp", None)
        return blocks

    def _set(self, table: Partitions) -> None:
        if self._persist not in (True, False, "auto"):
            raise ParameterError("persist must be True, False or 'auto'", received=repr(self._persist))
        n = sum(table.rows)
        self.shape: tuple[int, int] = (n, table.d)
        self.dtype, self.stored, self.names = table.dtype, table.stored, table.names
        self.sparse = table.sparse and table.stored <= DENSE_DENSITY * n * table.d
        self.nbytes = table.stored * table.dtype.itemsize
        self.absent: NDArray[np.bool_] | None = None  # rows of weight zero: handed out as zeros
        self.notes: list[str] = []
        self.stamp: Stamp | None = None  # of files that the workers read
        width = max(1, self.stored // max(1, n)) if self.sparse else table.d
        self._layout = Layout(table.d, self.sparse, sparse_rows(width) if self.sparse else block_rows(width))
        starts = [0, *accumulate(table.rows)]
        self._parts = [Part(i, starts[i], rows, self._layout) for i, rows in enumerate(table.rows)]
        self._chunks, self._files, self._decided = table.chunks, table.files, False
        self._name, self._passes = uuid.uuid4().hex[:12], 0
        self._samples: dict[int, Any] = {}
        self._cut: list[tuple[Any, list[Any]]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        # What travels to the workers inside of operators: what the table looks like, not where it is.
        return Outline, (self.shape, self.dtype, self.sparse, self.nbytes, self.stored)

    @property
    def partitions(self) -> list[int]:
        """Rows of every partition."""
        return [partition.rows for partition in self._parts]

    # the two verbs

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to the accumulator of its partition; accumulators are merged in a fixed tree."""
        total, journal = create(), journals.current()
        number = -1 if journal is None else journal.next_pass()
        label = f"{type(total).__name__} {self.shape} {len(self._parts)} partitions"
        state = None if journal is None else journal.finished(number, label)
        if state is None:
            parcel = self._parcel((create, step), 3.0 * float(getattr(total, "nbytes", 0)))
            with unchanged(self):
                (state,) = self._gather([self._tree(parcel)], parcel.name)
            if journal is not None:
                journal.finish(number, label, state)
        total.restore(state)
        return total

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i; the rows of ``out`` come from the workers."""
        parcel = self._parcel((None, step))
        tasks = self._row_tasks(parcel)

        def take(i: int, rows: Any) -> None:
            out[self._parts[i].start : self._parts[i].start + rows.shape[0]] = rows

        with unchanged(self):
            self._run(tasks, take, parcel.name)
        return out

    def mapped(self, step: Callable[[dict[str, Any], Block], Any]) -> Iterator[tuple[int, Any]]:
        """``(first row, step(rows))`` of every partition, computed by the workers, in row order."""
        tasks = self._row_tasks(self._parcel((None, step)))
        for first in range(0, len(tasks), WAVE):
            with unchanged(self):
                results = self._gather(tasks[first : first + WAVE])
            for partition, rows in zip(self._parts[first : first + WAVE], results, strict=True):
                yield partition.start, rows

    def each(self) -> Iterator[Block]:
        """The rows themselves, a partition at a time, in row order: they all come to this machine, a few at once."""
        task, chunks = require_dask().delayed(all_rows, pure=False), self._held()
        wave = max(1, int(EACH_BYTES * len(self._parts) // max(1, self.nbytes)))
        for first in range(0, len(self._parts), wave):
            parts = self._prepared()[first : first + wave]
            with unchanged(self):
                gathered = self._gather([task(p, chunks[p.number]) for p in parts])
            for partition, rows in zip(parts, gathered, strict=True):
                yield Block(rows, partition.start)

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows, spread evenly over some partitions."""
        if rows not in self._samples:
            self._samples[rows] = self._sample(rows)
        return self._samples[rows]

    def _sample(self, rows: int) -> Any:
        parts = len(self._parts)
        if not parts:
            return np.empty((0, self.shape[1]), self.dtype)
        # Each may have to be computed for its few rows: one in eight, at least two.
        some = spread(parts, min(SAMPLED, max(2, -(-parts // 8))))
        each = max(1, -(-rows // len(some)))
        task = require_dask().delayed(sample_rows, pure=False)
        prepared, chunks = self._prepared(), self._held()
        samples = self._gather([task(prepared[p], each, chunks[p]) for p in some])
        if isinstance(samples[0], np.ndarray):
            return np.concatenate(samples)
        from scipy.sparse import vstack

        return vstack(samples, format="csr")

    # tasks

    def _tree(self, parcel: Parcel) -> Any:
        """The task whose result is the state of the whole table."""
        delayed, name = require_dask().delayed, parcel.name
        shipped, cuts = self._ship(parcel)
        checked, chunks = set(spread(len(self._parts), CHECKED)), self._held()
        task, join = delayed(run_pass, pure=False), delayed(merge, pure=False)
        level = [
            task(
                shipped, partition, p in checked, [cut[p] for cut in cuts], chunks[p], dask_key_name=f"{name}-pass-{p}"
            )
            for p, partition in enumerate(self._prepared())
        ]
        if not level:
            raise InputError("expected rows", received="a collection without any", hint="look at what made it")
        depth = 0
        while len(level) > 1:
            depth += 1
            groups = [level[i : i + MERGED_AT_ONCE] for i in range(0, len(level), MERGED_AT_ONCE)]
            level = [join(shipped, g, dask_key_name=f"{name}-merge-{depth}-{i}") for i, g in enumerate(groups)]
        return level[0]

    def _row_tasks(self, parcel: Parcel) -> list[Any]:
        (shipped, cuts), chunks = self._ship(parcel), self._held()
        task = require_dask().delayed(run_rows, pure=False)
        return [
            task(shipped, partition, [cut[p] for cut in cuts], chunks[p], dask_key_name=f"{parcel.name}-rows-{p}")
            for p, partition in enumerate(self._prepared())
        ]

    def _parcel(self, pair: tuple[Any, Any], allocated: float = 0.0) -> Parcel:
        self._passes += 1
        return Parcel(pair, self.shape, f"ritz-{self._name}-{self._passes}", allocated + 3 * BLOCK_BYTES)

    def _ship(self, parcel: Parcel) -> tuple[Any, list[list[Any]]]:
        """What every task of a pass needs, as one task, and its long arrays, cut by partition."""
        cuts = [self._cut_up(array) for array in parcel.take_long()]
        task = require_dask().delayed(hand_out, pure=False)
        return task(parcel, dask_key_name=f"{parcel.name}-parcel"), cuts

    def _cut_up(self, array: Any) -> list[Any]:
        """Pieces of an array of n rows, one a partition; those of weights are sent once and kept."""
        for earlier, pieces in self._cut:
            if earlier is array:
                return pieces
        task = require_dask().delayed(hand_out, pure=False)
        pieces = [task(array[partition.start : partition.start + partition.rows]) for partition in self._parts]
        if array.ndim == 1 and self._client is not None:
            pieces = self._persisted(pieces)
            self._cut = [*self._cut[-3:], (array, pieces)]
        return pieces

    def _prepared(self) -> list[Part]:
        """Partitions with their absent rows."""
        for partition in self._parts:
            gone = None if self.absent is None else self.absent[partition.start : partition.start + partition.rows]
            partition.absent = gone if gone is not None and gone.any() else None
        return self._parts

    # where partitions are

    def _held(self) -> list[list[Any]]:
        """The chunks of every partition; decided once whether workers hold them."""
        if self._decided or self._client is None or self._files:
            return self._chunks
        self._decided = True
        free = free_memory(self._client)
        if self._persist is True or (self._persist == "auto" and self.nbytes <= HOLD_SHARE * free):
            # Chunks that are taken together are held together, on one worker.
            together = require_dask().delayed(hand_out, pure=False)
            tasks = [chunks[0] if len(chunks) == 1 else together(chunks) for chunks in self._chunks]
            self._chunks = [[chunk] for chunk in self._persisted(tasks)]
            self.notes.append(f"the workers hold all {len(self._parts)} partitions ({self.nbytes:,} bytes) meanwhile")
        else:
            why = "as asked for" if self._persist is False else f"{free:,.0f} bytes are free for {self.nbytes:,}"
            self.notes.append(f"partitions are computed again in every pass: {why}")
        return self._chunks

    def _persisted(self, tasks: list[Any]) -> list[Any]:
        with require_dask().config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return list(self._client.persist(tasks))

    def _gather(self, tasks: list[Any], name: str = "") -> list[Any]:
        results: list[Any] = [None] * len(tasks)
        self._run(tasks, results.__setitem__, name)
        return results

    def _run(self, tasks: list[Any], take: Callable[[int, Any], None], name: str = "") -> None:
        """Compute tasks on the cluster, or with Dask's local scheduler; a pass has a name and reports its rows."""
        size = (self.shape[0], self.nbytes) if name else (0, 0)
        if self._client is not None:
            collected(self._client, tasks, take, Watch(name, *size))
            return
        with track("reading", total=1.0) as advance:
            for first in range(0, len(tasks), WAVE):
                wave = tasks[first : first + WAVE]
                for i, result in enumerate(require_dask().compute(*wave)):
                    take(first + i, result)
                if name:
                    share = len(wave) / len(tasks)
                    advance(share, passes=share, bytes=int(share * self.nbytes))
