"""Numbers of the host on their way to a device: pinned buffers, one being filled while others are copied.

    array of the host  → (all cores)  pinned buffer 0, 1, 2, 0, …  → (copy engine, a stream of its own)  tensor there

The copy engine reads pinned memory at the rate of the link; pageable memory it would read through a buffer of the
driver, at a seventh of it. An array that is pinned already is read as it lies; pinning one takes longer than the copy.
Tensors in the memory of the host (device="torch:cpu") share that of the array.

Rows come when they are asked for (``Arriving``), a stretch after the other. Filling the buffers takes all cores of the
host nearly as long as the link, so that whoever works with the rows that are there may do little beside: the kernels of
a Gram matrix are launched between two stretches, and all that its rounding asks for is left until the rows are there.
(Measured of 3.07 GB: a pass that measured every stretch, in 8, 2 or 1 of them, took 88 to 120 ms, one that waited for
all rows 84 to 89; a second thread that launches kernels delays the copy by more than the kernels take.)
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np

from ritz._core.imports import module_of
from ritz._core.linalg import Place
from ritz._core.threads import go_on

__all__ = ["Arriving", "Pinned", "uploaded"]

#: Bytes of a pinned buffer, and how many take turns. On a host of 16 cores with a link of 55 GB/s, torch's own threads
#: fill buffers of 32 MB at 54 GB/s in all, of 8 MB at 42; twelve Python threads with buffers of their own reached 33.
#: Three of 32 MB take 61 ms for 3.07 GB, four 57, eight 75, eight of 16 MB 80: more of them do not stay in the cache.
PINNED_BYTES, BUFFERS = 32 << 20, 4


#: Sets of buffers that are kept for each device.
SPARE = 1
_spare: dict[str, list[Pinned]] = {}


class Pinned:
    """Pinned buffers that take turns, and the stream of their copies."""

    def __init__(self, place: Place, size: int = PINNED_BYTES) -> None:
        torch = module_of("torch")
        self.device, self.size, self.turn = place.device, size, 0
        self.stream = torch.cuda.Stream(device=self.device)
        self.done = [torch.cuda.Event() for _ in range(BUFFERS)]

    @cached_property
    def buffers(self) -> list[Any]:
        """The buffers themselves, for arrays that are not pinned."""
        torch = module_of("torch")
        return [torch.empty(self.size, dtype=torch.uint8, pin_memory=True) for _ in range(BUFFERS)]

    def copy(self, x: Any, out: Any, *, fresh: bool = True) -> None:
        """Copy rows ``x`` of the host, contiguous or not, into the tensor ``out``; the current stream waits for it.

        ``fresh``: the tensor is new, so that the current stream may still read what was in its memory before.
        """
        torch = module_of("torch")
        rows = max(1, self.size // max(1, x[:1].nbytes))
        current = torch.cuda.current_stream(self.device)
        if fresh:
            self.stream.wait_stream(current)
        for start in range(0, len(x), rows):
            go_on()
            some, i = x[start : start + rows], self.turn
            self.turn = (i + 1) % BUFFERS
            self.done[i].synchronize()  # the copy that used this buffer before
            held = self._held(i, some, out.dtype)
            _fill(held, some)
            with torch.cuda.stream(self.stream):
                out[start : start + rows].copy_(held, non_blocking=True)
                self.done[i].record(self.stream)
        current.wait_stream(self.stream)
        out.record_stream(self.stream)

    def read(self, x: Any, out: Any, *, fresh: bool = True) -> None:
        """Have the copy engine read pinned rows as they lie, which are there when something made of them is."""
        torch = module_of("torch")
        current = torch.cuda.current_stream(self.device)
        if fresh:
            self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            out.copy_(_tensor(x), non_blocking=True)
        current.wait_stream(self.stream)
        out.record_stream(self.stream)

    def _held(self, i: int, some: Any, dtype: Any) -> Any:
        """The front of a buffer, in the shape of some rows; one row may be longer than a buffer."""
        if some.nbytes > self.buffers[i].numel():
            torch = module_of("torch")
            self.buffers[i] = torch.empty(some.nbytes, dtype=torch.uint8, pin_memory=True)
        return self.buffers[i][: some.nbytes].view(dtype).view(some.shape)


def _fill(held: Any, some: Any) -> None:
    """Copy rows into a buffer by torch's threads, where torch can read them."""
    if _readable(some):
        held.copy_(_tensor(some))
    else:
        np.copyto(held.numpy(), some)


def _tensor(x: Any) -> Any:
    """An array of the host as a tensor that shares its memory."""
    if x.flags.writeable:
        return module_of("torch").from_numpy(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that rows may be read-only: they are read only
        return module_of("torch").from_numpy(x)


def _readable(x: Any) -> bool:
    """Whether torch can read an array as it lies."""
    return bool(x.dtype.isnative and not any(stride < 0 or stride % x.itemsize for stride in x.strides))


def uploaded(x: Any, place: Place) -> Any:
    """An array of the host as a tensor at ``place``."""
    torch = module_of("torch")
    if place.device.type == "cpu":
        plain = x.flags.writeable and all(stride >= 0 for stride in x.strides)
        return torch.from_numpy(x if plain else x.copy())
    arriving = Arriving(x, place)
    arriving.upto(len(x))
    return arriving.out


class Arriving:
    """Rows of the host on their way to a tensor ``out``: those before ``there`` were asked for.

    What is launched on the current stream after ``upto(i)`` finds rows 0:i there.
    """

    def __init__(self, x: Any, place: Place) -> None:
        torch = module_of("torch")
        self.x, self.place, self.there = x, place, 0
        self.out = torch.empty(x.shape, dtype=getattr(torch, x.dtype.name), device=place.device)
        self._way: Pinned | None = None

    def upto(self, stop: int) -> None:
        """Bring rows up to ``stop``."""
        first, self.there = self.there, max(self.there, min(stop, len(self.x)))
        if first == self.there:
            return
        some, out = self.x[first : self.there], self.out[first : self.there]
        if self.place.device.type == "cpu":
            _fill(out, some)
            return
        fresh, self._way = self._way is None, self._way or _taken(self.place)
        if self._pinned:
            self._way.read(some, out, fresh=fresh)
        else:
            self._way.copy(some, out, fresh=fresh)
        if self.there == len(self.x):
            _given_back(self._way, self.place)

    def every(self, step: int, start: int, stop: int) -> Any:
        """Every ``step``-th row of a stretch as a tensor there, before the others."""
        return _tensor(np.ascontiguousarray(self.x[start:stop:step])).to(self.place.device)

    @cached_property
    def _pinned(self) -> bool:
        """Whether the copy engine reads the array as it lies."""
        return bool(_readable(self.x) and self.x.flags.c_contiguous and _tensor(self.x[:1]).is_pinned())


def _taken(place: Place) -> Pinned:
    """Pinned buffers for copies to a device: some that were used before, since pinning takes as long as a copy."""
    kept = _spare.setdefault(str(place.device), [])
    try:
        return kept.pop()
    except IndexError:
        return Pinned(place)


def _given_back(pinned: Pinned, place: Place) -> None:
    kept = _spare.setdefault(str(place.device), [])
    if len(kept) < SPARE:
        kept.append(pinned)
