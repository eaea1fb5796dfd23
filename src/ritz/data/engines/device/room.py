"""Passes on a device that has little room: in smaller blocks, and where not even these fit, an error in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ritz._core.device import within_memory
from ritz._core.imports import module_of

__all__ = ["LEAST_ROWS", "with_room"]

R = TypeVar("R")

#: Rows of a block below which a smaller one would save nothing that counts.
LEAST_ROWS = 1024


def with_room(blocks: Any, what: str, run: Callable[[], R]) -> R:
    """``run()``; again in blocks of half as many rows as often as the device has no room, down to LEAST_ROWS."""
    while True:
        try:
            return run()
        except Exception as error:
            smaller = min(blocks.limit or blocks.there_rows, blocks.shape[0]) // 2
            if "OutOfMemory" not in type(error).__name__:
                raise
            if smaller < LEAST_ROWS:
                with within_memory(blocks.place, what):
                    raise
            blocks.limit = smaller
        if blocks.place.device.type == "cuda":
            module_of("torch").cuda.empty_cache()  # outside the handler, whose traceback holds on to tensors
