"""Numbers of the host on their way to a device: pinned buffers, one being filled while others are copied.

    array of the host  → (all cores)  pinned buffer 0, 1, 2, 0, …  → (copy engine, a stream of its own)  tensor there

The copy engine reads pinned memory at the rate of the link; pageable memory it would read through a buffer of the
driver, at half of it. Tensors in the memory of the host (device="torch:cpu") share that of the array. Of long rows a
pass takes those that are there while the others are on their way (``Arrival``).
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

__all__ = ["ARRIVING_BYTES", "Arrival", "Pinned", "arriving", "uploaded"]

#: Bytes of a pinned buffer, and how many take turns. On a host of 16 cores with a link of 55 GB/s, torch's own threads
#: fill buffers of 32 MB at 54 GB/s in all, of 8 MB at 42; twelve Python threads with buffers of their own reached 33.
PINNED_BYTES, BUFFERS = 32 << 20, 6
#: Bytes of rows from which a pass begins before all of them are there, and of a block of it: 384 MB are on their way
#: for 7 ms, of which the host needs 4 to fill the buffers, and 2 to ask for the sums of the block before.
LONG_BYTES, ARRIVING_BYTES = 512 << 20, 384 << 20

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

    def rows(self, x: Any) -> int:
        """Rows of a buffer."""
        return max(1, self.size // max(1, x[:1].nbytes))

    def free(self) -> bool:
        """Whether the next buffer can be filled at once."""
        return bool(self.done[self.turn].query())

    def send(self, some: Any, out: Any) -> None:
        """Fill the next buffer with some rows, and have them copied on the stream of copies."""
        torch, i = module_of("torch"), self.turn
        self.turn = (i + 1) % BUFFERS
        self.done[i].synchronize()  # the copy that used this buffer before
        held = self._held(i, some, out.dtype)
        _fill(held, some)
        with torch.cuda.stream(self.stream):
            out.copy_(held, non_blocking=True)
            self.done[i].record(self.stream)

    def copy(self, x: Any, out: Any) -> None:
        """Copy rows ``x`` of the host, contiguous or not, into the tensor ``out``; the current stream waits for it."""
        rows, current = self.rows(x), module_of("torch").cuda.current_stream(self.device)
        self.stream.wait_stream(current)  # which may still read what was there before
        for start in range(0, len(x), rows):
            go_on()
            self.send(x[start : start + rows], out[start : start + rows])
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


class Arrival:
    """Rows of the host on their way to a tensor; whoever needs some of them sends what is not under way yet.

    Nothing here is done by a thread of its own: two threads that ask torch for a thousand small things each wait
    milliseconds for the interpreter. As many buffers as there are go off at once, which is time enough for the host to
    ask for the sums of a block while the next one is copied.
    """

    def __init__(self, x: Any, place: Place) -> None:
        torch = module_of("torch")
        self.source, self.place, self._sent = x, place, 0
        self.tensor = torch.empty(x.shape, dtype=getattr(torch, x.dtype.name), device=place.device)
        self._pinned = _kept(place) or Pinned(place)
        self._pinned.stream.wait_stream(torch.cuda.current_stream(place.device))  # which may use this memory yet
        self._send(min(len(x), BUFFERS * self._pinned.rows(x)))

    def wait(self, rows: int) -> None:
        """Let the current stream wait until the first so many rows are there."""
        self._send(rows)
        module_of("torch").cuda.current_stream(self.place.device).wait_stream(self._pinned.stream)
        self._send(min(len(self.source), rows + BUFFERS * self._pinned.rows(self.source)), patient=False)

    def _send(self, rows: int, *, patient: bool = True) -> None:
        """Send rows up to there; without patience, those for which a buffer is free."""
        while self._sent < rows and (patient or self._pinned.free()):
            go_on()
            stop = min(len(self.source), self._sent + self._pinned.rows(self.source))
            self._pinned.send(self.source[self._sent : stop], self.tensor[self._sent : stop])
            self._sent = stop

    def over(self) -> None:
        """Give the buffers back: all rows were sent."""
        self.tensor.record_stream(self._pinned.stream)
        _keep(self.place, self._pinned)


def arriving(x: Any, place: Place) -> Arrival | None:
    """Long rows of the host on their way to a graphics processor; None where they are copied at once."""
    return Arrival(x, place) if place.device.type == "cuda" and x.nbytes >= LONG_BYTES and len(x) > 1 else None


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
    pinned = _kept(place) or Pinned(place)
    try:
        yield pinned
    finally:
        _keep(place, pinned)


def _kept(place: Place) -> Pinned | None:
    try:
        return _spare.setdefault(str(place.device), []).pop()
    except IndexError:
        return None


def _keep(place: Place, pinned: Pinned) -> None:
    kept = _spare.setdefault(str(place.device), [])
    if len(kept) < SPARE:
        kept.append(pinned)
