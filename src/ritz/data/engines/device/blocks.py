"""Row blocks of a tensor: rows that lie on a device.

    map_reduce   an accumulator that computes THERE gets blocks that are tensors; every other gets host blocks, copied
    map_rows     host blocks
    each_there   blocks as tensors, for products that are made on the device
    parts        the row blocks of each device: one, unless rows are shared out (``shards.py``)

Nothing is copied or cast on the device but the block that is worked on. Rows of weight zero are zeros, as everywhere.
Rows of the host may still be on their way (``upload.py``): they come when a block of them is asked for, or as the pass
over the block asks for them (``Coming``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ritz._core.device import place_name, torch_place, within_memory
from ritz._core.linalg import Place
from ritz._core.threads import go_on
from ritz.data.engines.device import WIDER, numpy_dtype
from ritz.data.engines.device.room import with_room
from ritz.data.passes.blocks import DENSE_DENSITY, Accumulator, Block, block_rows, sparse_rows
from ritz.data.passes.integers import EXACT

if TYPE_CHECKING:
    from ritz.data.engines.device.upload import Arriving

__all__ = ["Coming", "DeviceBlocks", "anew", "csr_slice", "csr_tensor", "host_csr", "hosted", "reduced_there", "turned"]

S = TypeVar("S", bound=Accumulator)

#: Bytes of a block that is worked on as a whole on a device. Its copies in the working precision, and what passes make
#: of it, take a few times as much beside the rows: little of a memory of tens of GB, and large enough that starting the
#: kernels of a block takes no time beside running them.
BLOCK_BYTES = 256 << 20
#: Rows of such a block: a multiple of this, so that slabs of products are whole.
SLAB = 8192
#: Bytes that are copied to the host at once.
COPY_BYTES = 64 << 20


class DeviceBlocks:
    """Row blocks of a tensor (n, d), dense or CSR."""

    def __init__(
        self, tensor: Any, names: Any = None, rows: int | None = None, *, filled: bool = False,
        arriving: Arriving | None = None,
    ) -> None:  # fmt: skip
        import torch

        self._tensor, self.arriving, self.names = tensor, arriving, names
        self.absent: NDArray[np.bool_] | None = None
        self.place: Place = torch_place(tensor.device)
        self.shape: tuple[int, int] = (int(tensor.shape[0]), int(tensor.shape[1]))
        self.dtype = numpy_dtype(tensor.dtype)
        self._csr = tensor.layout is not torch.strided
        n, d = self.shape
        self.stored = int(tensor.values().shape[0]) if self._csr else n * d
        self._filled = filled
        self.sparse = self._csr and self.stored <= DENSE_DENSITY * n * d and not filled
        self.nbytes = self.stored * self.dtype.itemsize
        self.keeps = True  # what products make of sparse rows
        self.resident = True  # a pass reads nothing but the memory of the device
        width = max(1, self.stored // max(1, n)) if self.sparse else d
        self.rows = sparse_rows(width) if self.sparse else block_rows(d)
        self.limit: int | None = None  # rows of a block at most, where the device has little room
        self.there_rows = rows or max(SLAB, BLOCK_BYTES // max(1, width * 8) // SLAB * SLAB)

    @property
    def tensor(self) -> Any:
        """All rows, as they lie."""
        self._bring(self.shape[0])
        return self._tensor

    def _bring(self, stop: int) -> None:
        """Have rows up to ``stop`` come to the device, if they are on their way."""
        if self.arriving is not None:
            self.arriving.upto(stop)
            self.arriving = None if stop >= self.shape[0] else self.arriving

    @cached_property
    def computes(self) -> bool:
        """Whether passes may run on the device: not of integers too long for float64, which the host takes apart."""
        if self.dtype.kind not in "iu" or self.dtype.itemsize < 8:
            return True
        return bool(abs(int(self.tensor.max())) <= EXACT and abs(int(self.tensor.min())) <= EXACT)

    @property
    def where(self) -> str:
        """The device by its name, for the planner and its words; none where passes run on the host."""
        return place_name(self.place) if self.computes else ""

    def accumulators(self) -> Any:
        """The class of accumulators for a moment pass on the device; None where it runs on the host."""
        if not self.computes:
            return None
        if self.sparse:
            from ritz.data.passes.device.sparse import SparseDevicePass

            return SparseDevicePass
        from ritz.data.passes.device.dense import DevicePass

        return DevicePass

    def parts(self) -> list[tuple[int, DeviceBlocks]]:
        """The row blocks of each device, with the number of their first row."""
        return [(0, self)]

    def transposed(self) -> DeviceBlocks:
        """The same table with rows and columns exchanged; a view, or of CSR rows a copy that is made once."""
        return self._turned

    @cached_property
    def _turned(self) -> DeviceBlocks:
        if not self._csr:
            return DeviceBlocks(self.tensor.T)
        with within_memory(self.place, "the sparse rows, turned"):
            return DeviceBlocks(turned(self.tensor), filled=self._filled)

    def dense(self) -> DeviceBlocks:
        """CSR rows that are handed out as dense blocks; themselves if they are."""
        if not self.sparse:
            return self
        other = DeviceBlocks(self.tensor, self.names, filled=True)
        other.absent = self.absent
        return other

    # on the device

    def take_there(self, start: int, stop: int) -> Any:
        """Rows ``start:stop`` as a tensor; those of weight zero as zeros."""
        if self._csr:
            rows = csr_slice(self.tensor, start, stop) if stop - start < self.shape[0] else self.tensor
            if not self.sparse:
                rows = rows.to_dense()
        else:
            self._bring(stop)
            rows = self._tensor[start:stop]
            name = str(rows.dtype).rpartition(".")[2]
            rows = rows.to(self.place.dtype(self.dtype)) if name in WIDER else rows
        if self.absent is None or not bool(self.absent[start:stop].any()):
            return rows
        return _without(rows, self.absent[start:stop])

    def each_there(self, rows: int | None = None) -> Iterator[Block]:
        """Blocks of tensors, in row order."""
        n, step = self.shape[0], min(rows or self.there_rows, self.limit or self.shape[0])
        for start in range(0, n, step):
            go_on()
            stop = min(start + step, n)
            if self.arriving is not None and self.absent is None and self.dtype.kind == "f":
                yield cast("Block", Coming(self, self._tensor[start:stop], start))
            else:
                yield Block(self.take_there(start, stop), start)

    # on the host

    def _host(self, start: int, stop: int) -> Any:
        rows = self.take_there(start, stop)
        return host_csr(rows) if self.sparse else rows.cpu().numpy()

    def _blocks(self, height: int | None = None) -> Iterator[Block]:
        """Host blocks in row order, copied some at a time."""
        n, rows = self.shape[0], height or self.rows
        width = self.nbytes / max(1, n)
        many = max(1, int(COPY_BYTES // max(1.0, width * rows))) * rows
        for first in range(0, n, many):
            last = min(first + many, n)
            held = self._host(first, last)
            for start in range(first, last, rows):
                go_on()
                yield Block(held[start - first : min(start + rows, last) - first], start)

    def map_reduce(self, create: Callable[[], S], step: Callable[[S, Block], None]) -> S:
        """Feed every block to one accumulator, as tensors where it computes on the device."""
        first = create()
        if getattr(first, "THERE", False):
            fresh = anew(first, create)
            return with_room(self, "what a pass makes of the rows", lambda: reduced_there(self, fresh, step))
        for block in self._blocks():
            step(first, block)
        return first

    def map_rows(self, step: Callable[[dict[str, Any], Block], Any], out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out[i]`` with ``step`` of row i."""
        scratch: dict[str, Any] = {}
        for block in self._blocks():
            out[block.rows] = step(scratch, block)
        return out

    def each(self) -> Iterator[Block]:
        """Batches of rows in row order."""
        return self._blocks(8 * self.rows)

    def sample(self, rows: int) -> Any:
        """``rows`` rows spread evenly over the table, or more than half as many, on the host."""
        step = max(1, -(-self.shape[0] // max(1, rows)))
        if self.arriving is not None and self.absent is None and self.dtype.kind == "f":
            return self.arriving.x[::step].astype(self.dtype)  # of the host, where they are
        if not self._csr:
            some = self.tensor[::step]
            if (
                some.dtype.itemsize > 1 and self.place.device.type == "cuda"
            ):  # one step where a slice of long rows takes many
                import torch

                some = self.tensor.index_select(0, torch.arange(0, self.shape[0], step, device=some.device))
            gone = None if self.absent is None else self.absent[::step]
            some = some.to(self.place.dtype(self.dtype)) if self.dtype.kind == "f" else some
            return (some if gone is None else _without(some, gone)).cpu().numpy()
        parts = [self._host(start, start + 1) for start in range(0, self.shape[0], step)]
        if not self.sparse:
            return np.concatenate(parts)
        import scipy.sparse

        return scipy.sparse.vstack(parts, format="csr")

    def to_host(self) -> Any:
        """All rows in the memory of the host: an array, or CSR."""
        if self.arriving is not None and self.absent is None and self.dtype.kind == "f":
            return self.arriving.x
        with within_memory(self.place, "a copy of the rows"):
            return host_csr(self.tensor) if self._csr else self.take_there(0, self.shape[0]).cpu().numpy()


class Coming:
    """A block of rows that are still on their way: ``values`` has them all come first.

    A pass that takes rows as they come reads ``tensor`` up to row i of the block once it has called ``upto(i)``, and
    may have every so many rows of the block before all others (``every``).
    """

    def __init__(self, blocks: DeviceBlocks, tensor: Any, start: int) -> None:
        self.tensor, self.start, self._blocks = tensor, start, blocks
        self._arriving = cast("Arriving", blocks.arriving)

    @property
    def rows(self) -> slice:
        """Where these rows stand in the table."""
        return slice(self.start, self.start + int(self.tensor.shape[0]))

    @property
    def values(self) -> Any:
        """The rows, as a tensor."""
        self.upto(int(self.tensor.shape[0]))
        return self.tensor

    def upto(self, stop: int) -> None:
        """Have the rows of the block before ``stop`` come."""
        self._blocks._bring(self.start + stop)

    def every(self, step: int) -> Any:
        """Every ``step``-th row as a tensor."""
        return self._arriving.every(step, self.start, self.rows.stop)


def anew(first: S, create: Callable[[], S]) -> Callable[[], S]:
    """``create`` that gives ``first`` the first time."""
    ready = [first]
    return lambda: ready.pop() if ready else create()


def reduced_there(blocks: Any, create: Callable[[], Any], step: Callable[[Any, Block], None]) -> Any:
    """One accumulator that computes on the device, fed with tensors, with its sums on the host."""
    state = create()
    for block in blocks.each_there(state.height(blocks.shape[1])):
        step(state, block)
    state.close()
    return state


def hosted(rows: Any) -> Any:
    """Rows in the memory of the host: those of a device copied, all others as they are."""
    to_host = getattr(rows, "to_host", None)
    return rows if to_host is None else to_host()


def host_csr(rows: Any) -> Any:
    """A CSR tensor as a matrix of SciPy."""
    import scipy.sparse

    parts = (rows.values(), rows.col_indices(), rows.crow_indices())
    return scipy.sparse.csr_matrix(tuple(part.cpu().numpy() for part in parts), shape=tuple(rows.shape))


def csr_slice(rows: Any, start: int, stop: int) -> Any:
    """Rows ``start:stop`` of a CSR tensor; its entries are views."""
    ends = rows.crow_indices()[start : stop + 1]
    a, b = int(ends[0]), int(ends[-1])
    return csr_tensor(ends - a, rows.col_indices()[a:b], rows.values()[a:b], (stop - start, int(rows.shape[1])))


def turned(rows: Any) -> Any:
    """The transpose of a CSR tensor as a CSR tensor; entries of a row are in the order of their columns."""
    import torch

    ends, columns, (n, d) = rows.crow_indices(), rows.col_indices(), rows.shape
    order = torch.argsort(columns, stable=True)
    at = torch.repeat_interleave(torch.arange(n, device=ends.device, dtype=columns.dtype), ends[1:] - ends[:-1])
    counts = torch.zeros(d + 1, device=ends.device, dtype=torch.int64)
    counts[1:] = torch.cumsum(torch.bincount(columns, minlength=d), 0)
    return csr_tensor(counts.to(ends.dtype), at[order], rows.values()[order], (int(d), int(n)))


def csr_tensor(ends: Any, columns: Any, values: Any, shape: tuple[int, ...]) -> Any:
    """A CSR tensor of arrays that are known to be sound; without torch's remark that such tensors are new."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(ends, columns, values, size=shape, check_invariants=False)


def _without(rows: Any, gone: NDArray[np.bool_]) -> Any:
    """Rows of a block with those that are ``gone`` as zeros."""
    import torch

    mask = torch.as_tensor(gone, device=rows.device)
    if rows.layout is torch.strided:
        return torch.where(mask[:, None], torch.zeros((), dtype=rows.dtype, device=rows.device), rows)
    ends = rows.crow_indices()
    entries = torch.repeat_interleave(mask, ends[1:] - ends[:-1])
    kept = torch.where(entries, torch.zeros((), dtype=rows.dtype, device=rows.device), rows.values())
    return csr_tensor(ends, rows.col_indices(), kept, tuple(rows.shape))
