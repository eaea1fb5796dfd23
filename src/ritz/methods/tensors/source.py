"""What a tensor may be, and pieces of it that fit in memory.

    X (n₁, …, n_p)  in memory, or mapped from a file    →  slabs: some indices of leading modes, all of the others
    rows of the unfolding of the last mode: X.reshape(−1, n_p), which lie one after the other

Numbers of every width are taken as float64, float32 as float32. A mapped array is read in pieces and never held.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import FileError, InputError, NonFiniteError
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.tables.table import Table

__all__ = [
    "MOST_MODES",
    "is_mapped",
    "pieces",
    "require_finite_tensor",
    "room_rows",
    "rows_of",
    "slabs",
    "taken",
    "tensor_of",
]

#: Modes at most: NumPy has 64 axes, and einsum letters for 26.
MOST_MODES = 24
#: Bytes of a piece: long enough for BLAS, short enough for the cache of a machine with little memory.
PIECE = 1 << 25

Floats = NDArray[Any]


def tensor_of(X: Any, name: str) -> Floats:
    """X as an array of numbers with two modes or more; a path of a .npy file is mapped, not read."""
    if isinstance(X, (str, os.PathLike)):
        X = _opened(Path(X))
    if isinstance(X, Table):
        X = _of_table(X, name)
    if hasattr(X, "detach"):  # a tensor of torch
        X = X.detach().cpu().numpy()
    refuse_masked(X)
    if hasattr(X, "toarray"):
        raise InputError(f"{name} takes a dense tensor", received="a sparse matrix", hint="ritz.SVD takes sparse rows")
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise InputError(f"{name} takes a tensor of real numbers", received=f"an array of {array.dtype}",
                         hint="np.asarray(X, float)")  # fmt: skip
    if not 2 <= array.ndim <= MOST_MODES:
        raise InputError(f"{name} takes a tensor of 2 to {MOST_MODES} modes", received=f"{array.ndim} modes",
                         hint="np.reshape gives it the modes that it has")  # fmt: skip
    if array.size == 0:
        raise InputError(f"{name} takes a tensor with entries", received=f"shape {array.shape}")
    if is_mapped(array):
        if not array.flags.c_contiguous:
            raise InputError(
                f"{name} reads a mapped tensor from its first entry to its last, the last mode fastest",
                received="entries in another order", hint="write it anew: np.save(path, np.ascontiguousarray(X))",
            )  # fmt: skip
        return array
    wanted = np.float32 if array.dtype in (np.float32, np.float16) else np.float64
    return np.ascontiguousarray(array, wanted)


def _of_table(table: Table, name: str) -> Floats:
    """The tensor whose slices a table has as rows: that of the file it was read from."""
    files = [Path(file) for file in table.files]
    if len(files) != 1 or files[0].suffix.lower() != ".npy":
        raise InputError(f"{name} takes a tensor, not a table", received=f"a Table of {table.source or 'rows'}",
                         hint="np.save('tensor.npy', X) keeps the modes of a tensor")  # fmt: skip
    return _opened(files[0])


def _opened(path: Path) -> Floats:
    try:
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise FileError(f"expected a tensor in a .npy file at {path}", received=str(error).splitlines()[0][:120],
                        hint="np.save(path, X) writes one") from error  # fmt: skip


def is_mapped(X: Floats) -> bool:
    """Whether entries lie in a file."""
    return _map_of(X) is not None


def _map_of(X: Floats) -> tuple[Any, int] | None:
    """The map of a file that an array looks at, and the byte of the file at which the array begins."""
    base: Any = X
    found: Any = None
    while base is not None:
        found = base if isinstance(base, np.memmap) and base.filename is not None else found
        base = getattr(base, "base", None)
    return None if found is None else (found, int(found.offset) + X.ctypes.data - found.ctypes.data)


def rows_of(X: Floats, n: int) -> Floats:
    """The entries as rows of n; of a file a map of its own, which solvers read instead of mapping it."""
    mapped = _map_of(X)
    if mapped is None or mapped[0].mode == "c":
        return X.reshape(-1, n)
    return np.memmap(mapped[0].filename, X.dtype, "r", mapped[1], (X.size // n, n))


def taken(X: Floats, index: tuple[slice, ...]) -> Floats:
    """A slab in float64; of a file it is read, because mapped pages count as memory."""
    mapped = _map_of(X)
    if mapped is None or mapped[0].mode == "c":
        return np.asarray(X[index], np.float64)
    lengths = [len(range(*one.indices(n))) for one, n in zip(index, X.shape, strict=True)]
    sizes = [math.prod(X.shape[i + 1 :]) for i in range(X.ndim)]
    first = sum(one.indices(n)[0] * size for one, n, size in zip(index, X.shape, sizes, strict=True))
    at = mapped[1] + first * X.dtype.itemsize
    some = np.fromfile(mapped[0].filename, X.dtype, math.prod(lengths), offset=at)
    return some.reshape(lengths).astype(np.float64, copy=False)


def room_rows(width: int, room: float) -> int:
    """Rows of ``width`` entries that make a piece."""
    return max(1, int(min(PIECE, max(room / 8, 1 << 16)) / (8 * max(width, 1))))


def pieces(A: Floats, room: float) -> Iterator[tuple[int, Floats]]:
    """Rows of a table, some at a time, in float64: where they begin, and the rows."""
    step = room_rows(A.shape[1], room)
    for start in range(0, len(A), step):
        yield start, taken(A, (slice(start, min(start + step, len(A))), slice(None)))


def slabs(shape: tuple[int, ...], room: float) -> Iterator[tuple[slice, ...]]:
    """Indices that cover a tensor: single ones of leading modes, a run of the next, all of those that follow."""
    most = max(1, int(min(PIECE, max(room / 8, 1 << 16)) / 8))
    sizes = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    split = next(i for i, size in enumerate(sizes) if size <= most)
    run = max(1, most // sizes[split])
    rest = (slice(None),) * (len(shape) - split - 1)
    for leading in product(*(range(n) for n in shape[:split])):
        fixed = tuple(slice(i, i + 1) for i in leading)
        for start in range(0, shape[split], run):
            yield (*fixed, slice(start, min(start + run, shape[split])), *rest)


def require_finite_tensor(X: Floats, name: str, room: float) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
    if X.dtype.kind in "iub":
        return
    for index in slabs(X.shape, room):
        part = taken(X, index)
        if np.isfinite(part).all():
            continue
        at = np.argwhere(~np.isfinite(part))[0]
        place = tuple(int(i) + (s.start or 0) for i, s in zip(at, index, strict=True))
        raise NonFiniteError(f"{name} takes finite numbers", received=f"{part[tuple(at)]} at {place}",
                             hint="fill or leave out what is missing")  # fmt: skip
