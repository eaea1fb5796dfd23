"""Buffers that go back to the system when they are no longer used.

What malloc hands out up to 32 MB it keeps for later, in pieces that do not fit what is asked for next: the buffers of
one pass would stay beside those of the next. A mapping of its own ends with its array.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["fresh"]

#: Smaller arrays are left to malloc.
MAPPED_BYTES = 1 << 20


def fresh(shape: tuple[int, int], dtype: Any, order: Literal["C", "F"] = "C") -> NDArray[Any]:
    """An uninitialised array (r, c) in a mapping of its own, if it is large."""
    dtype = np.dtype(dtype)
    size = shape[0] * shape[1] * dtype.itemsize
    if size < MAPPED_BYTES or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(shape, dtype, order=order)
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a shared one gets no large pages
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            held.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(held, dtype).reshape(shape, order=order)
