"""Products of CSR rows with blocks of vectors: SciPy's loops, or vector instructions where these have paid.

    csr_matvecs     Y ← Y + X W                    X (n×d) by its rows,     W, Y flat, l numbers a row
    csc_matvecs     Y ← Y + X W                    X (n×d) by its columns

    normal          b ← −c + X v,  y ← Xᵀb         X (n×d) by its rows,     one vector, c a number

    add_tile        S ← S + AᵀB                    A, B: columns of the same rows, one by columns and one by rows

Both give the same bits, so that which of them runs changes the time alone. Loading numba takes as long as some products
do: it is loaded once a process has multiplied so many entries that it would have paid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.imports import module_of

try:
    from scipy.sparse import _sparsetools as tools  # multiplies without making a matrix first
except ImportError:  # a private module: it may go
    tools = None

__all__ = ["add_tile", "csc_matvecs", "csr_matvecs", "leave", "normal", "tiles_pay", "tools"]

#: Entries, times columns, that a process multiplies before numba is loaded for more: 0.26 s to load it and 0.26 for the
#: first loop, compiled in an earlier process. SVD(100) of 18,846×168,000 with 2.9·10⁶ entries multiplies 4·10⁹ and
#: takes 2.4 s then, 3.2 before.
ENOUGH = 2e9
#: How many of these a multiplication of a Gram matrix counts for: 2.5·10⁸ of them, 100,000×5,000 with 1 %, take 0.72 s
#: and took 1.55; 300,000×1,000 with 2 % 0.30 and 0.68; 20,000×2,000 with 11 % 0.94 and 1.18.
PAIR = 14.0
#: Products of a chain of single vectors, of which it is told before they are made: some 20 to 200.
CHAIN = 50.0
#: Bytes that a fit must be allowed to take for numba to be loaded in its course: numba itself takes 80 MB.
ROOM = 8e8
#: Entries of one product below which calling a compiled loop, 5 µs, is not worth it.
FEW = 4096

_made, _room = 0.0, float("inf")
_loops: dict[Any, Any] | None = None


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
    if l not in (8, 16) or (entries := int(indptr[-1]) - int(indptr[0])) < FEW or not _pays(float(entries) * l):
        return None
    kind = data.dtype
    if kind not in (np.float32, np.float64) or W.dtype != kind or Y.dtype != kind or len(indptr) < 2:
        return None
    plain = all(array.flags.c_contiguous and array.ndim == 1 for array in (indptr, indices, data, W, Y))
    return (_loops or {}).get((what, l)) if plain and Y.flags.writeable and indices.dtype.kind == "i" else None


def normal(indptr: Any, indices: Any, data: Any) -> Callable[[Any, Any, Any, Any], bool] | None:
    """What fills b and y for v and c, all of the dtype of ``data``, and tells whether it did; None where compiled loops
    are not there. Microseconds of that and of SciPy's two loops: 1,000×300 with 5 % 12 and 17, 5,000×1,000 with 1 % 38
    and 53, 3,000×3,000 with 1 % 90 and 107: as much is saved for an entry as by a column of a block.
    """
    entries = int(indptr[-1]) - int(indptr[0])
    loop = (_loops or {}).get("normal") if entries >= FEW and _pays(CHAIN * entries) else None
    plain = all(array.flags.c_contiguous and array.ndim == 1 for array in (indptr, indices, data))
    kinds = data.dtype in (np.float32, np.float64) and indices.dtype.kind == indptr.dtype.kind == "i"
    if loop is None or not plain or not kinds or len(indptr) < 2:
        return None
    return lambda v, c, b, y: bool(_loops) and _run(loop, indptr, indices, data, v, c, b, y)


def leave(room: float) -> None:
    """Say what the fit that begins may take."""
    global _room
    _room = room


def tiles_pay(x: Any) -> bool:
    """Whether compiled loops form the Gram matrix of these CSR rows."""
    if x.nnz < FEW or x.dtype != np.float64 or x.indices.dtype != x.indptr.dtype:
        return False
    lengths = np.diff(x.indptr).astype(np.float64)
    return _pays(PAIR * float(lengths @ lengths)) and "upper" in (_loops or {}) and bool(x.has_sorted_indices)


def add_tile(S: NDArray[np.float64], A: Any, B: Any, first: tuple[int, int]) -> bool:
    """Add AᵀB to S from ``first`` on, above its diagonal: A (columns×rows) and B (rows×columns) CSR; whether it ran."""
    loops, row = _loops or {}, np.empty(B.shape[1])
    arrays = (A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, S, *first, row)
    if first[0] == first[1]:
        return "upper" in loops and _run(loops["upper"], *arrays, np.empty(B.shape[0], B.indptr.dtype))
    return "across" in loops and _run(loops["across"], *arrays)


def _pays(work: float) -> bool:
    """Whether compiled loops are there, or so much has been done that they are worth being loaded."""
    global _made
    if _loops is None:
        _made += work
        if _made < ENOUGH or _room < ROOM:
            return False
        _load()
    return bool(_loops)


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
