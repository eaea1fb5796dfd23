"""Memory for the buffers of a pass: mappings of their own, a few of which wait for the next pass.

    size ≥ 1 MB   →   pages that no other array has, given back to the system, or kept, when their last view ends

What malloc hands out up to 32 MB it keeps for later, in pieces that do not fit what is asked for next: buffers of one
pass would stay beside those of the next. Pages that are touched for the first time cost more than what is written to
them, on a virtual machine 0.4 ms a MB where a copy takes 0.02; a fit of a small table makes several passes.
"""

from __future__ import annotations

import contextlib
import mmap
import threading
import weakref

import numpy as np
from numpy.typing import NDArray

__all__ = ["KEPT_BYTES", "KEPT_EACH", "give_back_heaps", "mapped_bytes"]

#: Bytes of a mapping that is kept, at most, and of all that are.
KEPT_EACH, KEPT_BYTES = 8 << 20, 16 << 20
#: Sizes are multiples of this, and a mapping serves for a buffer of half its size.
GRAIN = 1 << 18

_lock = threading.Lock()
_kept: list[mmap.mmap] = []


def mapped_bytes(size: int) -> NDArray[np.uint8]:
    """``size`` bytes or more, in pages of their own where the system has such."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(size, np.uint8)
    small = size <= KEPT_EACH
    pages = (_taken(size) if small else None) or _new(-(-size // GRAIN) * GRAIN if small else size)
    held = np.frombuffer(pages, np.uint8)
    if small:
        weakref.finalize(held, _give_back, pages).atexit = False  # every view of it keeps it alive
    return held


def _new(size: int) -> mmap.mmap:
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a shared one gets no large pages
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def _taken(size: int) -> mmap.mmap | None:
    """The smallest mapping kept that is large enough, and not more than twice as large."""
    if not _lock.acquire(blocking=False):  # which a thread may have held when this process was forked
        return None
    try:
        fitting = [i for i, pages in enumerate(_kept) if size <= len(pages) <= 2 * size]
        return _kept.pop(min(fitting, key=lambda i: len(_kept[i]))) if fitting else None
    finally:
        _lock.release()


def _give_back(pages: mmap.mmap) -> None:
    """Keep a mapping; the oldest ones end where they are too many."""
    if not _lock.acquire(blocking=False):  # a collection of garbage may end an array anywhere
        return
    try:
        _kept.append(pages)
        while sum(map(len, _kept)) > KEPT_BYTES:
            del _kept[0]
    finally:
        _lock.release()


def give_back_heaps() -> None:
    """Give the system what malloc keeps of arrays that have ended, where malloc can (glibc).

    Every thread allocates from a heap of its own, so that what lanes leave behind does not serve the thread that goes
    on: 8 of 12 p×p matrices once a Gram matrix is formed. Takes 1 ms at p = 1,000, 10 at p = 2,000.
    """
    import ctypes  # small tables do without

    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library, or none that can be asked
        ctypes.CDLL(None).malloc_trim(0)
