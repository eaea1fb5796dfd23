"""Products of CSR rows with blocks of vectors: SciPy's loops, or vector instructions where these have paid.

    csr_matvecs     Y ← Y + X W                    X (n×d) by its rows,     W, Y flat, l numbers a row
    csc_matvecs     Y ← Y + X W                    X (n×d) by its columns

Both give the same bits, so that which of them runs changes the time alone. Loading numba takes as long as some products
do: it is loaded once a process has multiplied so many entries that it would have paid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.imports import module_of

try:
    from scipy.sparse import _sparsetools as tools  # multiplies without making a matrix first
except ImportError:  # a private module: it may go
    tools = None

__all__ = ["csc_matvecs", "csr_matvecs", "tools"]

#: Entries, times columns, that a process multiplies before numba is loaded for more: 0.16 s to load it and 0.1 for
#: loops that were compiled in an earlier process; both products with 16 columns take 6.0 ns an entry, not 8.9, at
#: 250,000×200,000 with 2·10⁷ entries in float32, and 3.6, not 7.2, at 18,846×168,000 with 2.9·10⁶ by its columns.
ENOUGH = 2e9
#: Entries of one product below which calling a compiled loop, 5 µs, is not worth it.
FEW = 4096

_made = 0.0
_loops: dict[tuple[str, int], Any] | None = None


def csr_matvecs(n: int, d: int, l: int, indptr: Any, indices: Any, data: Any, W: Any, Y: Any) -> None:
    """Rows of X are those of ``indptr``."""
    loop = _loop("gather", l, indptr, indices, data, W, Y)
    if loop is None or not _run(loop, indptr, indices, data, W, Y):
        tools.csr_matvecs(n, d, l, indptr, indices, data, W, Y)


def csc_matvecs(n: int, d: int, l: int, indptr: Any, indices: Any, data: Any, W: Any, Y: Any) -> None:
    """Columns of X are the rows of ``indptr``."""
    loop = _loop("scatter", l, indptr, indices, data, W, Y)
    if loop is None or not _run(loop, indptr, indices, data, W, Y):
        tools.csc_matvecs(n, d, l, indptr, indices, data, W, Y)


def _loop(what: str, l: int, indptr: Any, indices: Any, data: Any, W: Any, Y: Any) -> Any:
    """The compiled loop for these arrays; None where there is none, or it does not pay."""
    global _made
    if l not in (8, 16) or (entries := int(indptr[-1]) - int(indptr[0])) < FEW:
        return None
    if _loops is None:
        _made += entries * l
        if _made < ENOUGH:
            return None
        _load()
    kind = data.dtype
    if kind not in (np.float32, np.float64) or W.dtype != kind or Y.dtype != kind or len(indptr) < 2:
        return None
    plain = all(array.flags.c_contiguous and array.ndim == 1 for array in (indptr, indices, data, W, Y))
    return (_loops or {}).get((what, l)) if plain and Y.flags.writeable and indices.dtype.kind == "i" else None


def _load() -> None:
    global _loops
    try:
        _loops = module_of("ritz.data.passes.numba_kernels").LOOPS
    except Exception:  # noqa: BLE001 — numba is not there, or does not go with this NumPy
        _loops = {}


def _run(loop: Any, *arrays: Any) -> bool:
    """Whether it ran: what cannot be compiled here has changed nothing."""
    global _loops
    try:
        loop(*arrays)
    except Exception:  # noqa: BLE001 — from the compiler: the loops themselves raise nothing
        _loops = {}
        return False
    return True
