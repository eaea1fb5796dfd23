"""Kernels of a graphics processor in the first shape that its memory holds.

    shapes   from the quickest to the smallest; threads of one multiprocessor share 227 KB on some devices, 99 on others

A kernel that does not fit is refused before it computes anything. Which shape fits is remembered by what decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["DoesNotFit", "run_fitting"]

_known: dict[tuple[Any, ...], int] = {}


class DoesNotFit(Exception):
    """No shape of a kernel fits the device."""


def run_fitting(launch: Callable[..., Any], shapes: Sequence[tuple[int, ...]], *key: Any) -> None:
    """``launch(*shape)`` with the first of the shapes that fits."""
    for i in range(_known.get(key, 0), len(shapes)):
        try:
            launch(*shapes[i])
        except Exception as error:
            if type(error).__name__ != "OutOfResources":  # Triton's, which need not be installed
                raise
        else:
            _known[key] = i
            return
    _known[key] = len(shapes)
    raise DoesNotFit(f"none of {len(shapes)} shapes fits this device")
