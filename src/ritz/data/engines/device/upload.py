"""Numbers of the host on their way to a device: two pinned buffers, one being filled while the other is copied.

    array of the host  → (lanes copy)  pinned buffer 0, 1, 0, …  → (copy engine, its own stream)  tensor on the device

The copy engine reads pinned memory at the rate of the link; pageable memory it would read through a buffer of the
driver, at half of it. Tensors in the memory of the host (device="torch:cpu") share that of the array.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ritz._core.imports import module_of
from ritz._core.linalg import Place
from ritz._core.threads import lane_count, run_lanes

__all__ = ["Pinned", "uploaded"]

#: Bytes of a pinned buffer: copying so much takes a millisecond, beginning a copy some microseconds.
PINNED_BYTES = 64 << 20
#: Bytes below which one thread fills a buffer.
LANE_BYTES = 1 << 20


class Pinned:
    """Two pinned buffers, and the stream on which they are copied."""

    def __init__(self, place: Place, size: int = PINNED_BYTES) -> None:
        torch = module_of("torch")
        self.device, self.size = place.device, size
        self.stream = torch.cuda.Stream(device=self.device)
        self.buffers = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
        self.done = [torch.cuda.Event() for _ in range(2)]
        self.turn = 0

    def copy(self, x: Any, out: Any) -> None:
        """Copy rows ``x`` of the host, contiguous or not, into the tensor ``out``; the current stream waits for it."""
        torch = module_of("torch")
        if x[:1].nbytes > self.size:  # one row takes more than a buffer has
            torch.cuda.current_stream(self.device).wait_stream(self.stream)
            self.size = x[:1].nbytes
            self.buffers = [torch.empty(self.size, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
        rows = max(1, self.size // max(1, x[:1].nbytes))
        self.stream.wait_stream(torch.cuda.current_stream(self.device))  # which may still read what was there before
        for start in range(0, len(x), rows):
            some = x[start : start + rows]
            i, self.turn = self.turn, 1 - self.turn
            self.done[i].synchronize()  # the copy that used this buffer before
            held = self.buffers[i][: some.nbytes].view(out.dtype).view(some.shape)
            _fill(held.numpy(), some)
            with torch.cuda.stream(self.stream):
                out[start : start + rows].copy_(held, non_blocking=True)
                self.done[i].record(self.stream)
        torch.cuda.current_stream(self.device).wait_stream(self.stream)
        out.record_stream(self.stream)


def _fill(out: Any, x: Any) -> None:
    """Copy within the host, shared out among lanes."""
    lanes = max(1, min(lane_count(), x.nbytes // LANE_BYTES))
    edges = [len(x) * i // lanes for i in range(lanes + 1)]
    run_lanes(lambda span: np.copyto(out[span], x[span]), [slice(a, b) for a, b in pairwise(edges)])


def uploaded(x: Any, place: Place) -> Any:
    """An array of the host as a tensor at ``place``."""
    torch = module_of("torch")
    if place.device.type == "cpu":
        plain = x.flags.writeable and all(stride >= 0 for stride in x.strides)
        return torch.from_numpy(x if plain else x.copy())
    out = torch.empty(x.shape, dtype=getattr(torch, x.dtype.name), device=place.device)
    Pinned(place).copy(x, out)
    return out
