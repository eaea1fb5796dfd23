"""Symmetric products by BLAS that run beside other threads of Python.

    G ← ZᵀZ   or   G ← G + ZᵀZ        one triangle; Z (n×d) by rows or by columns, G (d×d) by columns

SciPy's own wrapper of ``syrk`` holds the interpreter's lock while it multiplies: two lanes then take as long as one
(5,000×500 in two lanes 29 ms, and 29 in one). The same routine is called here by the address that SciPy hands to
compiled code, without the lock: 15 ms. Where SciPy hands out none that is known, its wrapper does the work.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_product"]

#: What the name of the address has to say: sizes are C's int, and numbers of the kind of the routine.
SIGNATURE = r"void \(char \*, char \*, int \*, int \*, (\S+) \*, \1 \*, int \*, \1 \*, \1 \*, int \*\)"
#: Numbers from one row, or column, to the next at most, as C's int holds them.
LONGEST = 2**31 - 1


def add_product(Z: NDArray[Any], G: NDArray[Any], *, first: bool = False, lower: bool = False) -> None:
    """``G + ZᵀZ`` into a triangle of G, which lies by columns; ``first``: ``ZᵀZ``, whatever is there."""
    plain = Z.dtype == G.dtype and not (Z.strides[0] % Z.itemsize or Z.strides[1] % Z.itemsize)
    routine = _routine(Z.dtype.char) if plain else None
    by_rows = Z.strides[1] == Z.itemsize or Z.shape[1] == 1
    step = Z.strides[0 if by_rows else 1] // Z.itemsize
    laid = (by_rows or Z.strides[0] == Z.itemsize or len(Z) == 1) and Z.shape[1 if by_rows else 0] <= step <= LONGEST
    if routine is None or not laid or not Z.size:
        _wrapped(Z, G, first, lower)
        return
    number = ctypes.c_double if Z.dtype == np.float64 else ctypes.c_float
    integer, point = ctypes.c_int, ctypes.byref
    n, d = Z.shape
    routine(
        b"L" if lower else b"U", b"N" if by_rows else b"T", point(integer(d)), point(integer(n)), point(number(1.0)),
        Z.ctypes.data, point(integer(step)), point(number(0.0 if first else 1.0)), G.ctypes.data, point(integer(d)),
    )  # fmt: skip


def _wrapped(Z: NDArray[Any], G: NDArray[Any], first: bool, lower: bool) -> None:
    """By SciPy's wrapper, which copies what does not lie in one piece."""
    from scipy.linalg import blas

    if not G.size:
        return
    syrk = blas.dsyrk if G.dtype == np.float64 else blas.ssyrk
    turned = not Z.flags.c_contiguous
    syrk(1.0, Z if turned else Z.T, 0.0 if first else 1.0, G, trans=turned, lower=lower, overwrite_c=1)


@cache
def _routine(kind: str) -> Callable[..., Any] | None:
    """``dsyrk`` or ``ssyrk`` without the interpreter's lock; None where its address is not what is expected."""
    from scipy.linalg import cython_blas

    capsule = getattr(cython_blas, "__pyx_capi__", {}).get({"d": "dsyrk", "f": "ssyrk"}.get(kind))
    if capsule is None:
        return None
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    told = name(capsule)
    if told is None or re.fullmatch(SIGNATURE, told.decode()) is None:
        return None
    made = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, *[ctypes.c_void_p] * 8)
    return made(pointer(capsule, told))
