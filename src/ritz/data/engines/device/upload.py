"""Numbers of the host on their way to a device: pinned buffers, one being filled while others are copied.

    array of the host  → (all cores)  pinned buffer 0, 1, 2, 0, …  → (copy engine, a stream of its own)  tensor there

The copy engine reads pinned memory at the rate of the link; pageable memory it would read through a buffer of the
driver, at half of it. Tensors in the memory of the host (device="torch:cpu") share that of the array. A pass begins
when all rows are there: filling the buffers takes all cores of the host nearly as long as the link, so that what else
it does in that time, by a thread of its own or in between, delays the copy by more than the sums take. (Measured: a
pass that began with the rows that were there, in 8, 2 or 1 stretches, took 88 to 120 ms, one that waits 84 to 89.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ritz._core.imports import module_of
from ritz._core.linalg import Place
from ritz._core.threads import go_on

__all__ = ["Pinned", "uploaded"]

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
        self.buffers = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for _ in range(BUFFERS)]
        self.done = [torch.cuda.Event() for _ in range(BUFFERS)]

    def copy(self, x: Any, out: Any) -> None:
        """Copy rows ``x`` of the host, contiguous or not, into the tensor ``out``; the current stream waits for it."""
        torch = module_of("torch")
        rows = max(1, self.size // max(1, x[:1].nbytes))
        current = torch.cuda.current_stream(self.device)
        self.stream.wait_stream(current)  # which may still read what was there before
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

    def _held(self, i: int, some: Any, dtype: Any) -> Any:
        """The front of a buffer, in the shape of some rows; one row may be longer than a buffer."""
        if some.nbytes > self.buffers[i].numel():
            torch = module_of("torch")
            self.buffers[i] = torch.empty(some.nbytes, dtype=torch.uint8, pin_memory=True)
        return self.buffers[i][: some.nbytes].view(dtype).view(some.shape)


def _fill(held: Any, some: Any) -> None:
    """Copy rows into a buffer by torch's threads, where torch can read them."""
    if any(stride < 0 or stride % some.itemsize for stride in some.strides) or not some.dtype.isnative:
        np.copyto(held.numpy(), some)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that rows may be read-only: they are read only
        there = module_of("torch").from_numpy(some)
    held.copy_(there)


def uploaded(x: Any, place: Place) -> Any:
    """An array of the host as a tensor at ``place``."""
    torch = module_of("torch")
    if place.device.type == "cpu":
        plain = x.flags.writeable and all(stride >= 0 for stride in x.strides)
        return torch.from_numpy(x if plain else x.copy())
    out = torch.empty(x.shape, dtype=getattr(torch, x.dtype.name), device=place.device)
    with pinned_at(place) as pinned:
        pinned.copy(x, out)
    return out


@contextmanager
def pinned_at(place: Place) -> Iterator[Pinned]:
    """Pinned buffers for copies to a device: some that were used before, since pinning takes as long as a copy."""
    kept = _spare.setdefault(str(place.device), [])
    try:
        pinned = kept.pop()
    except IndexError:
        pinned = Pinned(place)
    try:
        yield pinned
    finally:
        if len(kept) < SPARE:
            kept.append(pinned)
