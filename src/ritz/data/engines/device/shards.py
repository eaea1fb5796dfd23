"""Rows shared out over several devices: a stretch of rows on each, one reduction at the end.

    part p holds rows n·p/P … n·(p + 1)/P;   every device sums its part in a thread of its own;   merged in row order

Products go over the parts one after the other, which are launched without waiting, and their sums come together on the
first device. Several names of one device are several parts of it: that is how this is tested without any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import Place
from ritz._core.threads import run_lanes
from ritz.data.engines.device.blocks import DeviceBlocks
from ritz.data.passes.blocks import Accumulator, Block, merged

__all__ = ["ShardedBlocks", "shared_out"]

S = TypeVar("S", bound=Accumulator)


def shared_out(rows: Any, places: list[Place], put: Callable[[Any, Place], Any]) -> Any:
    """Rows of the host over several places; ``put`` copies some of them to one. All on the first where that is all."""
    n, count = int(rows.shape[0]), len(places)
    if count < 2 or n < count:
        return put(rows, places[0])
    edges = [n * i // count for i in range(count + 1)]
    parts = [put(rows[a:b], place) for a, b, place in zip(edges, edges[1:], places, strict=False)]
    if not all(isinstance(part, DeviceBlocks) for part in parts):
        return put(rows, places[0])  # rows that do not fit stream to one device
    return ShardedBlocks(parts)


class ShardedBlocks:
    """Row blocks of several devices."""

    resident = True
    keeps = True

    def __init__(self, parts: list[DeviceBlocks]) -> None:
        self.shards = parts
        self.starts = [0, *accumulate(part.shape[0] for part in parts)]
        first = parts[0]
        self.place, self.names = first.place, first.names
        self.shape = (self.starts[-1], first.shape[1])
        self.dtype, self.sparse = first.dtype, any(part.sparse for part in parts)
        if self.sparse:  # of one kind: parts that are well filled beside others are CSR all the same
            for part in parts:
                part.sparse = True
        self.nbytes, self.stored = sum(part.nbytes for part in parts), sum(part.stored for part in parts)

    @cached_property
    def computes(self) -> bool:
        """Whether passes may run on the devices."""
        return all(part.computes for part in self.shards)

    @property
    def where(self) -> str:
        """The devices by their names."""
        names = [part.where for part in self.shards]
        return ", ".join(dict.fromkeys(names)) if all(names) else ""

    @property
    def absent(self) -> NDArray[np.bool_] | None:
        """Rows of weight zero."""
        gone = [part.absent for part in self.shards]
        return None if any(one is None for one in gone) else np.concatenate([one for one in gone if one is not None])

    @absent.setter
    def absent(self, gone: NDArray[np.bool_] | None) -> None:
        for start, part in self.parts():
            part.absent = None if gone is None else gone[start : start + part.shape[0]]

    @property
    def limit(self) -> int | None:
        """Rows of a block at most."""
        return self.shards[0].limit

    @limit.setter
    def limit(self, rows: int | None) -> None:
        for part in self.shards:
            part.limit = rows

    @property
    def there_rows(self) -> int:
        """Rows of a block."""
        return min(part.there_rows for part in self.shards)

    def parts(self) -> list[tuple[int, DeviceBlocks]]:
        """The row blocks of each device, with the number of their first row."""
        return list(zip(self.starts, self.shards, strict=False))

    def accumulators(self) -> Any:
        """The class of accumulators for a moment pass on the devices; None where it runs on the host."""
        return self.shards[0].accumulators() if self.computes else None

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """One accumulator a device, each in a thread of its own, merged in row order; on the host one after another."""

        def work(part: tuple[int, DeviceBlocks]) -> S:
            start, rows = part
            return rows.map_reduce(create, lambda state, block: step(state, Block(block.values, start + block.start)))

        if getattr(create(), "THERE", False):
            return merged(run_lanes(work, self.parts()))
        return merged([work(part) for part in self.parts()])

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i."""
        scratch: dict[str, Any] = {}
        for block in self._each(DeviceBlocks._blocks):
            out[block.rows] = step(scratch, block)
        return out

    def each(self) -> Iterator[Block]:
        """Batches of rows in row order."""
        return self._each(DeviceBlocks.each)

    def _each(self, blocks: Callable[[DeviceBlocks], Iterator[Block]]) -> Iterator[Block]:
        for start, part in self.parts():
            for block in blocks(part):
                yield Block(block.values, start + block.start)

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows spread evenly over the table, on the host."""
        share = max(1, -(-rows // len(self.shards)))
        return _joined([part.sample(share) for part in self.shards])

    def to_host(self) -> Any:
        """All rows in the memory of the host."""
        return _joined([part.to_host() for part in self.shards])


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import scipy.sparse

    return scipy.sparse.vstack(parts, format="csr")
