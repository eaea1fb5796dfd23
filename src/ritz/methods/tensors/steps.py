"""One unfolding after the other, each of what the one before has left.                        [VVM12, Alg. 1; Ose11]

    Tucker   A = Y.reshape(−1, n_m),  m = p, …, 1      V of A      Y ← (A V)ᵀ: the new mode comes first, m − 1 is last
    train    A = Y.reshape(−1, n_m·r)                  V of A      Y ← A V,  G_m = Vᵀ (r', n_m, r)

In both, rows of every step lie one after the other, so that a tensor mapped from a file is read as a table is, and
‖X − X̂‖² = Σ_m τ_m² exactly, because what one step leaves is orthogonal to whatever follows. A step's unfolding is a
projection of that of X, so τ_m² is also no more than what the best tensor of these ranks leaves.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.scratch import scratch
from ritz.methods.tensors.modes import Mode, solve_mode
from ritz.methods.tensors.source import is_mapped, pieces, rows_of

__all__ = ["by_modes", "by_train", "by_train_forward", "from_the_right", "projected", "unfolded"]

Floats = NDArray[Any]


def unfolded(X: Floats, mode: int) -> Floats:
    """Rows of the unfolding of a mode, (N/n, n)."""
    return np.ascontiguousarray(np.moveaxis(X, mode, -1)).reshape(-1, X.shape[mode])


def by_modes(
    X: Floats, ranks: Sequence[int] | None, budget: float | None, whole: float, options: dict[str, Any]
) -> tuple[Floats, list[Floats], list[Mode]]:
    """Core, factors and modes of a sequentially truncated HOSVD, from the last mode to the first."""
    p = X.ndim
    Y, shape = X, list(X.shape)
    factors: list[Floats] = [np.empty(0)] * p
    found: list[Mode] = []
    for step, mode in enumerate(range(p - 1, -1, -1)):
        A = rows_of(Y, shape[-1])
        rank = None if ranks is None else min(ranks[mode], *A.shape)
        share = None if budget is None else _share(budget, found, p - step)
        one = solve_mode(A, rank, share, whole, options)
        factors[mode] = one.vectors
        Y = projected(A, one.vectors, options["room"], turned=True)
        shape = [one.vectors.shape[1], *shape[:-1]]
        Y = Y.reshape(shape)
        found.append(one)
    return np.array(Y, np.float64), factors, found[::-1]


def by_train(
    X: Floats, ranks: Sequence[int] | None, budget: float | None, whole: float, options: dict[str, Any]
) -> tuple[list[Floats], list[Mode]]:
    """Cores (r, n, r') of a tensor train and the modes of its p − 1 unfoldings, from the last mode to the first."""
    p = X.ndim
    Y, after = X, 1
    cores: list[Floats] = []
    found: list[Mode] = []
    for step, mode in enumerate(range(p - 1, 0, -1)):
        A = rows_of(Y, X.shape[mode] * after)
        rank = None if ranks is None else min(ranks[mode - 1], *A.shape)
        share = None if budget is None else _share(budget, found, p - 1 - step)
        one = solve_mode(A, rank, share, whole, options)
        before = one.vectors.shape[1]
        cores.append(np.ascontiguousarray(one.vectors.T).reshape(before, X.shape[mode], after))
        Y, after = projected(A, one.vectors, options["room"]), before
        found.append(one)
    cores.append(np.array(Y, np.float64).reshape(1, X.shape[0], after))
    return cores[::-1], found[::-1]


def by_train_forward(
    X: Floats, ranks: Sequence[int] | None, budget: float | None, whole: float, options: dict[str, Any]
) -> tuple[list[Floats], list[Mode]]:
    """The same from the first mode to the last, of a tensor in memory; cores but the first have orthonormal rows."""
    p = X.ndim
    Y, before = X, 1
    cores: list[Floats] = []
    found: list[Mode] = []
    for mode in range(p - 1):
        Y = Y.reshape(before * X.shape[mode], -1)
        rank = None if ranks is None else min(ranks[mode], *Y.shape)
        share = None if budget is None else _share(budget, found, p - 1 - mode)
        one = solve_mode(Y.T, rank, share, whole, options)
        after = one.vectors.shape[1]
        cores.append(one.vectors.reshape(before, X.shape[mode], after))
        Y, before = one.vectors.T @ Y, after
        found.append(one)
    cores.append(np.array(Y, np.float64).reshape(before, X.shape[-1], 1))
    return from_the_right(cores), found


def from_the_right(cores: list[Floats]) -> list[Floats]:
    """The same train with orthonormal rows (r, n·r') in all cores but the first."""
    cores = list(cores)
    for m in range(len(cores) - 1, 0, -1):
        r, n, after = cores[m].shape
        Q, R = np.linalg.qr(cores[m].reshape(r, -1).T)
        cores[m] = np.ascontiguousarray(Q.T).reshape(-1, n, after)
        cores[m - 1] = np.tensordot(cores[m - 1], R.T, (2, 0))
    return cores


def _share(budget: float, found: list[Mode], steps: int) -> float:
    """What a step may leave: an equal part of what the steps before it have not used."""
    return max(0.0, budget - math.fsum(one.left for one in found)) / steps


def projected(A: Floats, V: Floats, room: float, *, turned: bool = False) -> Floats:
    """A V, or its transpose, in memory where that holds it and in a file otherwise."""
    shape = (V.shape[1], len(A)) if turned else (len(A), V.shape[1])
    size = 8 * math.prod(shape)
    if not is_mapped(A) and not turned and A.dtype == np.float64:
        return np.asarray(A @ V)
    held = size <= room / 2
    out = np.empty(shape) if held else np.lib.format.open_memmap(scratch("tensor.npy"), "w+", np.float64, shape)
    written = 0
    for start, block in pieces(A, room):
        part = block @ V
        if turned:
            out[:, start : start + len(block)] = part.T
        else:
            out[start : start + len(block)] = part
        written += part.nbytes
        if not held and written > room / 8:
            _let_go(out)
            written = 0
    if not held:
        _let_go(out)
    return out


def _let_go(out: Any) -> None:
    """Write what is held of a mapped file, and hold it no longer."""
    out.flush()
    if hasattr(mmap, "MADV_DONTNEED"):
        out._mmap.madvise(mmap.MADV_DONTNEED)
