"""Loops as machine code, where numba is installed (the extra ``fast``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["compiled"]


def compiled(loop: Callable[..., Any]) -> Any:
    """``loop`` compiled, without the interpreter's lock and kept for the next run; None without numba."""
    try:
        from numba import njit
    except ImportError:
        return None
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # no folder that it could be kept in
        return njit(nogil=True)(loop)
