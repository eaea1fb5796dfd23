"""Tensor trains: a chain of small tensors, one a mode.                                                       [Ose11]

    x̂[i₁, …, i_p] = G₁[:, i₁, :] G₂[:, i₂, :] ⋯ G_p[:, i_p, :],     G_m (r_{m−1}, n_m, r_m),  r₀ = r_p = 1

p − 1 unfoldings are decomposed, each of what the one before keeps. Numbers grow with the number of modes, not with its
power, so a train goes where a core would not fit. The error is at most √(p − 1) times that of the best train of the
same ranks. Cores but the first have orthonormal rows, so the first one holds the axes of slices: G₁ = P S Tᵀ.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.factors import svd
from ritz._core.linalg import signs
from ritz.methods.fitted.about import About
from ritz.methods.tensors.base import Decomposed, Tensor, TensorMethod
from ritz.methods.tensors.parts import chain
from ritz.methods.tensors.source import is_mapped
from ritz.methods.tensors.steps import by_train, by_train_forward
from ritz.methods.tensors.tucker_form import rounding_of

__all__ = ["TensorTrain"]

Floats = NDArray[Any]


class TensorTrain(TensorMethod):
    """Tensor train by singular value decompositions (TT-SVD).

    Parameters
    ----------
    n_components : None, int, tuple of int, or float
        Ranks: all of them, one for all p − 1 unfoldings, one for each, or a share of ‖X‖² to keep.
    error : float, optional
        Ranks follow from the relative error ‖X − X̂‖/‖X‖ that may be left.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.HOSVD`. Tensors in memory are taken apart from the first mode on, mapped ones from the last.

    Attributes
    ----------
    cores_ : list of (r, n_m, r')
    ranks_ : the p − 1 ranks inside the train
    shape_, relative_error_, compression_, mode_singular_values_, embedding_, singular_values_,
    explained_variance_ratio_, certificate_, plan_, n_components_, n_samples_, n_features_in_
        As for :class:`ritz.HOSVD`.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> grid = np.arange(8) / 8
    >>> X = np.sin(sum(np.meshgrid(*[grid] * 6, indexing="ij")))       # of rank 2, whatever the number of modes
    >>> model = ritz.TensorTrain(error=1e-10).fit(X)
    >>> model.ranks_, X.size, sum(core.size for core in model.cores_)
    ((2, 2, 2, 2, 2), 262144, 160)
    """

    about: ClassVar[About] = About(
        "Tensor train",
        "tt",
        "T",
        whole="sum of squares",
        measure="σ²",
        component="axis",
        cites=("[Ose11]",),
        paper="I. V. Oseledets, Tensor-train decomposition, SIAM Journal on Scientific Computing 33 (2011), 2295–2317.",
    )
    _ranks_of = "unfoldings"

    def __init__(
        self, n_components: Any = None, *, error: float | None = None, solver: str = "auto", tol: float = 1e-6,
        random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.error, self.solver, self.tol = n_components, error, solver, tol
        self.random_state, self.memory, self.device, self.progress = random_state, memory, device, progress

    def _decomposed(self, tensor: Tensor, options: dict[str, Any]) -> Decomposed:
        X, (ranks, budget) = tensor.array, self._wanted_ranks(tensor)
        go = by_train if is_mapped(X) else by_train_forward
        cores, modes = go(X, ranks, budget, tensor.square, options)
        first = modes[-1] if is_mapped(X) else modes[0]
        rounding = rounding_of([core.shape[0] * core.shape[1] for core in cores])
        return Decomposed({"cores": cores}, modes, rounding, math.sqrt(X.ndim - 1), passes=first.passes + 1)

    def _name(self, found: Decomposed, unit: float, dtype: Any) -> None:
        cores = found.parts["cores"]
        self.cores_ = [np.ascontiguousarray(core * (unit if m == 0 else 1.0), dtype) for m, core in enumerate(cores)]
        self.ranks_ = tuple(int(core.shape[2]) for core in self.cores_[:-1])
        self.mode_singular_values_ = [np.asarray(mode.values * unit, dtype) for mode in found.modes]

    def _wide(self) -> list[Floats]:
        return [np.asarray(core, np.float64) for core in self.cores_]

    def _made(self, places: Any) -> Floats:
        return chain([core[:, at] for core, at in zip(self._wide(), places, strict=True)])

    def _einsum(self, first: slice) -> Floats:
        terms: list[Any] = []
        p = len(self.shape_)
        for mode, core in enumerate(self._wide()):
            terms += [core[:, first] if mode == 0 else core, [mode, p + 1 + mode, mode + 1]]
        out = np.einsum(*terms, [0, *range(p + 1, 2 * p + 1), p], optimize="greedy")
        return np.asarray(out[0, ..., 0])

    def _orthogonality(self) -> float:
        rows = [core.reshape(core.shape[0], -1) for core in self._wide()[1:]]
        return max(float(np.max(np.abs(Q @ Q.T - np.eye(len(Q))))) for Q in rows)

    def _unfoldings(self) -> list[tuple[tuple[int, ...], int]]:
        return [(tuple(range(mode + 1)), rank) for mode, rank in enumerate(self.ranks_)]

    def _stored_numbers(self) -> int:
        return int(sum(core.size for core in self.cores_))

    def _place_slices(self) -> None:
        P, s, Tt = svd(self._wide()[0][0])
        side = signs(Tt.T)
        self._record.turn = np.ascontiguousarray(Tt.T * side)
        self.singular_values_ = np.asarray(s, self._record.dtype)
        self.embedding_ = np.asarray(P * side * s, self._record.dtype)

    def _coordinates(self, X: Floats) -> Floats:
        out = X.reshape(-1, X.shape[-1])
        for core in reversed(self._wide()[1:]):  # (…, n·r') times (n·r', r)
            out = out.reshape(-1, core.shape[1] * core.shape[2]) @ core.reshape(core.shape[0], -1).T
        return np.asarray(out.reshape(len(X), -1) @ self._record.turn)

    def _slices(self, F: Floats) -> Floats:
        return chain([(F @ self._record.turn.T)[None], *self._wide()[1:]])
