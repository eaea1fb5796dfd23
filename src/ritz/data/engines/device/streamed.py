"""Rows of the host that a device computes with, and does not hold: they are copied there in every pass.

    host blocks  →  pinned buffers (``upload.py``)  →  a tensor for each block  →  the pass

While a block is computed with, the next one is read and copied: kernels run on one stream, copies on another. Rows may
come from memory, files, a query or a cluster: whatever hands out host blocks. The tensors are of the working
precision's own dtype, as those that lie on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.device import place_name
from ritz._core.linalg import Place
from ritz.data.engines.device.blocks import SLAB, anew, csr_tensor, reduced_there
from ritz.data.engines.device.room import with_room
from ritz.data.engines.device.upload import Pinned, uploaded
from ritz.data.passes.blocks import Accumulator, Block, MemoryBlocks, RowBlocks, csr_rows

__all__ = ["StreamedBlocks"]

S = TypeVar("S", bound=Accumulator)

#: Bytes of rows in memory that are copied as one block.
STREAM_BYTES = 128 << 20
#: dtypes that torch does not compute with, by those that hold them.
HELD = {"uint16": np.int32, "uint32": np.int64, "bool": np.uint8}


class StreamedBlocks:
    """Host row blocks that are computed with on a device."""

    def __init__(self, inner: RowBlocks, place: Place) -> None:
        self.inner, self.place = inner, place
        self.limit: int | None = None
        self.there_rows = int(inner.shape[0])
        self._absent: NDArray[np.bool_] | None = None
        self.shape, self.dtype, self.sparse = inner.shape, inner.dtype, inner.sparse
        self.nbytes, self.stored = inner.nbytes, inner.stored
        self.names, self.reading = getattr(inner, "names", None), getattr(inner, "reading", None)
        self.resident = bool(getattr(inner, "resident", False))
        # integers that may be too long for float64 are taken apart on the host
        self.computes = inner.dtype.kind not in "iu" or inner.dtype.itemsize < 8

    @property
    def absent(self) -> NDArray[np.bool_] | None:
        """Rows of weight zero, which are handed out as zeros."""
        return self._absent

    @absent.setter
    def absent(self, gone: NDArray[np.bool_] | None) -> None:
        self._absent = gone
        if not isinstance(self.inner, MemoryBlocks):  # which know of none, since rows in memory are left out
            self.inner.absent = gone  # type: ignore[attr-defined]

    def _present(self, block: Block) -> Block:
        """A block of rows in memory with absent ones as zeros."""
        gone = None if self._absent is None or not isinstance(self.inner, MemoryBlocks) else self._absent[block.rows]
        if gone is None or not gone.any():
            return block
        if not self.sparse:
            return Block(np.where(gone[:, None], block.values.dtype.type(0), block.values), block.start)
        rows = block.values.copy()
        rows.data[np.repeat(gone, np.diff(rows.indptr))] = 0
        return Block(rows, block.start)

    @property
    def where(self) -> str:
        """The device by its name, for the planner and its words; none where passes run on the host."""
        return place_name(self.place) if self.computes else ""

    def accumulators(self) -> Any:
        """The class of accumulators for a moment pass on the device; None where it runs on the host."""
        if not self.computes:
            return None
        from ritz.data.passes.device.dense import DevicePass
        from ritz.data.passes.device.sparse import SparseDevicePass

        return SparseDevicePass if self.sparse else DevicePass

    def parts(self) -> list[tuple[int, StreamedBlocks]]:
        """The row blocks of each device, with the number of their first row."""
        return [(0, self)]

    def each_there(self, rows: int | None = None) -> Iterator[Block]:
        """Blocks of tensors, in row order; the next is on its way while one is computed with."""
        pinned = Pinned(self.place) if self.place.device.type == "cuda" else None
        for block in self._host_blocks():
            step = self.limit or block.values.shape[0]
            for first in range(0, block.values.shape[0], max(1, step)):
                piece = block if step >= block.values.shape[0] else Block(
                    block.values[first : first + step], block.start + first
                )  # fmt: skip
                yield Block(self._there(piece, pinned), piece.start)

    def _host_blocks(self) -> Iterator[Block]:
        inner: Any = self.inner
        if not isinstance(inner, MemoryBlocks):
            yield from inner.each()
            return
        width = inner.nbytes / max(1, inner.shape[0])
        step = int(max(1, STREAM_BYTES // max(1.0, width) // SLAB)) * SLAB
        for start in range(0, inner.shape[0], step):
            stop = min(start + step, inner.shape[0])
            dense = isinstance(inner.X, np.ndarray)
            rows = inner.X[start:stop] if dense else csr_rows(inner.X, start, stop)
            yield self._present(Block(rows if dense or self.sparse else rows.toarray(), start))

    def _there(self, block: Block, pinned: Pinned | None) -> Any:
        if self.sparse:
            x = block.values
            kind = np.float32 if x.dtype.kind == "f" and x.dtype.itemsize <= 4 else np.float64
            parts = (x.indptr, x.indices, x.data.astype(kind, copy=False))
            moved = [self._copied(np.ascontiguousarray(part), pinned) for part in parts]
            ends, columns, values = moved
            return csr_tensor(ends, columns, values, x.shape)
        rows = np.asarray(block.values)
        return self._copied(rows.astype(HELD.get(rows.dtype.name, rows.dtype), copy=False), pinned)

    def _copied(self, x: NDArray[Any], pinned: Pinned | None) -> Any:
        import torch

        if pinned is None:
            return uploaded(np.ascontiguousarray(x), self.place)
        out = torch.empty(x.shape, dtype=getattr(torch, x.dtype.name), device=self.place.device)
        pinned.copy(x, out)
        return out

    # on the host

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to one accumulator, as tensors where it computes on the device."""
        state = create()
        if not getattr(state, "THERE", False):
            return self.inner.map_reduce(create, lambda state, block: step(state, self._present(block)))
        fresh = anew(state, create)
        return with_room(self, "what a pass makes of some rows", lambda: reduced_there(self, fresh, step))

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i."""
        return self.inner.map_rows(lambda scratch, block: step(scratch, self._present(block)), out)

    def each(self) -> Iterator[Block]:
        """Batches of rows in row order."""
        return map(self._present, self.inner.each())

    def sample(self, rows: int) -> Any:
        """About ``rows`` rows spread evenly over the table."""
        some = self.inner.sample(rows)
        if self._absent is None or not isinstance(self.inner, MemoryBlocks):
            return some
        kept = ~self._absent[:: max(1, -(-self.shape[0] // max(1, rows)))]
        return (
            some.multiply(kept[:, None]).tocsr() if self.sparse else np.where(kept[:, None], some, some.dtype.type(0))
        )

    def to_host(self) -> Any:
        """All rows in the memory of the host, where they are there already; row blocks otherwise."""
        return self.inner.X if isinstance(self.inner, MemoryBlocks) else self.inner
