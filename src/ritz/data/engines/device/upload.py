"""Numbers of the host on their way to a device: pinned buffers, some being filled while others are copied.

    array of the host  → (lanes)  pinned buffers 0, 1, 0, … of each  → (copy engine, streams)  tensor on the device

The copy engine reads pinned memory at the rate of the link; pageable memory it would read through a buffer of the
driver, at half of it. Tensors in the memory of the host (device="torch:cpu") share that of the array.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ritz._core.imports import module_of
from ritz._core.linalg import Place
from ritz._core.threads import lane_count, run_lanes

__all__ = ["Pinned", "uploaded"]

#: Bytes of a pinned buffer, and lanes that fill buffers of their own: one thread copies 11 GB/s within the host, eight
#: 38, and the link takes 55.
PINNED_BYTES, LANES = 8 << 20, 12


#: Pairs of buffers that are kept for each device.
SPARE = 1
_spare: dict[str, list[Pinned]] = {}


class Pinned:
    """Pairs of pinned buffers, a pair and a stream for every lane."""

    def __init__(self, place: Place, size: int = PINNED_BYTES, lanes: int | None = None) -> None:
        torch = module_of("torch")
        self.device, self.size = place.device, size
        self.lanes = max(1, min(LANES, lane_count())) if lanes is None else lanes
        self.streams = [torch.cuda.Stream(device=self.device) for _ in range(self.lanes)]
        self.buffers = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for _ in range(2 * self.lanes)]
        self.done = [torch.cuda.Event() for _ in range(2 * self.lanes)]

    def copy(self, x: Any, out: Any) -> None:
        """Copy rows ``x`` of the host, contiguous or not, into the tensor ``out``; the current stream waits for it."""
        torch = module_of("torch")
        rows = max(1, self.size // max(1, x[:1].nbytes))
        starts = list(range(0, len(x), rows))
        lanes = min(self.lanes, len(starts))
        current = torch.cuda.current_stream(self.device)
        for stream in self.streams[:lanes]:
            stream.wait_stream(current)  # which may still read what was there before

        def work(lane: int) -> None:
            for turn, start in enumerate(starts[lane::lanes]):
                some, i = x[start : start + rows], 2 * lane + turn % 2
                self.done[i].synchronize()  # the copy that used this buffer before
                held = self._held(i, some, out.dtype)
                np.copyto(held.numpy(), some)
                with torch.cuda.stream(self.streams[lane]):
                    out[start : start + rows].copy_(held, non_blocking=True)
                    self.done[i].record(self.streams[lane])

        run_lanes(work, list(range(lanes)))
        for stream in self.streams[:lanes]:
            current.wait_stream(stream)
            out.record_stream(stream)

    def _held(self, i: int, some: Any, dtype: Any) -> Any:
        """The front of a buffer, in the shape of some rows; one row may be longer than a buffer."""
        if some.nbytes > self.buffers[i].numel():
            torch = module_of("torch")
            self.buffers[i] = torch.empty(some.nbytes, dtype=torch.uint8, pin_memory=True)
        return self.buffers[i][: some.nbytes].view(dtype).view(some.shape)


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
