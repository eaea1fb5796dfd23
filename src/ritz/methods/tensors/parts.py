"""The tensor from its parts: whole, slices, elements, and how far it is from the data.

    Tucker   x̂[i₁, …] = Σ G[j₁, …] ∏ U_m[i_m, j_m]        train   x̂[i₁, …] = G₁[:, i₁, :] ⋯ G_p[:, i_p, :]
    CP       x̂[i₁, …] = Σ_r λ_r ∏ A_m[i_m, r]

An index costs what it shows: one element of a tensor of 10¹² entries is a few products of small matrices.
Every product of a matrix with r columns of length 1 rounds by at most γ_r √r ‖·‖_F, γ_r = ru/(1 − ru)  [Higham02, 3.5],
so the distance that is measured is right to the sum of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.methods.tensors.source import slabs, taken

__all__ = ["chain", "distance", "gamma", "index_of", "kruskal", "times", "tucker"]

Floats = NDArray[Any]
ROUND = 2.0**-53


def gamma(r: int) -> float:
    """γ_r = ru/(1 − ru)."""
    return r * ROUND / (1 - r * ROUND)


def times(G: Floats, U: Floats, mode: int) -> Floats:
    """G ×_mode U: the matrix takes the place of a mode."""
    return np.moveaxis(np.tensordot(U, G, (1, mode)), 0, mode)


def tucker(core: Floats, factors: Sequence[Floats]) -> Floats:
    """G ×₁ U₁ … ×_p U_p; modes that grow least come first."""
    order = sorted(range(len(factors)), key=lambda m: len(factors[m]) / max(factors[m].shape[1], 1))
    for mode in order:
        core = times(core, factors[mode], mode)
    return core


def chain(cores: Sequence[Floats]) -> Floats:
    """The tensor of a train, from left to right."""
    out = cores[0].reshape(-1, cores[0].shape[2])
    for core in cores[1:]:
        out = (out @ core.reshape(core.shape[0], -1)).reshape(-1, core.shape[2])
    return out.reshape([core.shape[1] for core in cores])


def kruskal(weights: Floats, factors: Sequence[Floats]) -> Floats:
    """Σ_r λ_r a_r ⊗ b_r ⊗ …"""
    out = factors[0] * weights
    for A in factors[1:-1]:
        out = (out[:, None, :] * A[None, :, :]).reshape(-1, A.shape[1])
    return (out @ factors[-1].T).reshape([len(A) for A in factors])


def index_of(key: Any, shape: tuple[int, ...]) -> tuple[list[Any], tuple[int, ...]]:
    """An index of a tensor as one array of places a mode, and the modes that single numbers take away.

    Numbers, slices, ``...`` and lists of places are understood; lists of several modes are combined with each other.
    """
    key = key if isinstance(key, tuple) else (key,)
    given = sum(one is not Ellipsis for one in key)
    if given > len(shape) or sum(one is Ellipsis for one in key) > 1:
        raise ParameterError(f"an index of {len(shape)} modes", received=f"{given} of them", hint="model[0, :, 3]")
    if any(one is Ellipsis for one in key):
        at = next(i for i, one in enumerate(key) if one is Ellipsis)
        key = (*key[:at], *(slice(None),) * (len(shape) - given), *key[at + 1 :])
    key = (*key, *(slice(None),) * (len(shape) - len(key)))
    places, gone = [], []
    for mode, (one, n) in enumerate(zip(key, shape, strict=True)):
        if isinstance(one, slice):
            places.append(np.arange(n)[one])
            continue
        found = np.asarray(one)
        if found.dtype == bool and found.shape == (n,):
            found = np.flatnonzero(found)
        if found.dtype.kind not in "iu" or found.ndim > 1:
            raise ParameterError("an index is a number, a slice, or a list of places", received=repr(one)[:60],
                                 hint="model[0, 2:5, [1, 3]]")  # fmt: skip
        if np.any((found < -n) | (found >= n)):
            raise IndexError(f"place {int(found.max() if found.max() >= n else found.min())} of mode {mode}, "
                             f"which has {n}")  # fmt: skip
        if found.ndim == 0:
            gone.append(mode)
        places.append(np.atleast_1d(found))
    return places, tuple(gone)


def distance(X: Floats, made: Callable[[tuple[slice, ...]], Floats], room: float, unit: float) -> tuple[float, float]:
    """‖X − X̂‖ and ‖X‖ in units, by pieces; ``made`` gives a piece of X̂."""
    off: list[float] = []
    size: list[float] = []
    for index in slabs(X.shape, room):
        part = taken(X, index) / unit
        size.append(float(np.vdot(part, part)))
        part = part - np.asarray(made(index), np.float64) / unit
        off.append(float(np.vdot(part, part)))
    return math.sqrt(math.fsum(off)), math.sqrt(math.fsum(size))
