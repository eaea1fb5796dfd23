"""Tensors as a core and one matrix a mode: X̂ = G ×₁ U₁ … ×_p U_p, U_m (n_m×r_m) orthonormal.

axes of slices: G₍₁₎ = P S Qᵀ,   slice x ↦ (x ×₂ U₂ᵀ … ×_p U_pᵀ) Q,   embedding_ = U₁ P S
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.factors import svd
from ritz._core.linalg import signs
from ritz.methods.tensors.base import Decomposed, TensorMethod
from ritz.methods.tensors.parts import gamma, times, tucker

__all__ = ["TuckerForm", "rounding_of"]

Floats = NDArray[Any]


def rounding_of(ranks: Sequence[int]) -> float:
    """What products with orthonormal factors of these ranks may round, relative to the norm."""
    return math.fsum(gamma(r) * math.sqrt(r) for r in ranks) + gamma(4)


class TuckerForm(TensorMethod):
    """Base of methods whose parts are a core and one matrix a mode."""

    def _name(self, found: Decomposed, unit: float, dtype: Any) -> None:
        core, factors = found.parts["core"], found.parts["factors"]
        self.core_ = np.ascontiguousarray(core * unit, dtype)
        self.factors_ = [np.ascontiguousarray(U, dtype) for U in factors]
        self.ranks_ = tuple(int(r) for r in self.core_.shape)
        self.mode_singular_values_ = [np.asarray(mode.values * unit, dtype) for mode in found.modes]

    def _wide(self) -> list[Floats]:
        return [np.asarray(U, np.float64) for U in self.factors_]

    def _made(self, places: Any) -> Floats:
        return tucker(np.asarray(self.core_, np.float64), [U[at] for U, at in zip(self._wide(), places, strict=True)])

    def _einsum(self, first: slice) -> Floats:
        p = len(self.shape_)
        terms: list[Any] = [np.asarray(self.core_, np.float64), list(range(p))]
        for mode, U in enumerate(self._wide()):
            terms += [U[first] if mode == 0 else U, [p + mode, mode]]
        return np.asarray(np.einsum(*terms, list(range(p, 2 * p)), optimize="greedy"))

    def _orthogonality(self) -> float:
        return max(float(np.max(np.abs(U.T @ U - np.eye(U.shape[1])))) for U in self._wide())

    def _unfoldings(self) -> list[tuple[tuple[int, ...], int]]:
        return [((mode,), rank) for mode, rank in enumerate(self.ranks_)]

    def _stored_numbers(self) -> int:
        return int(self.core_.size + sum(U.size for U in self.factors_))

    def _place_slices(self) -> None:
        unfolded = np.asarray(self.core_, np.float64).reshape(self.ranks_[0], -1)
        P, s, Qt = svd(unfolded)
        side = signs(Qt.T)
        self._record.turn = np.ascontiguousarray(Qt.T * side)
        self.singular_values_ = np.asarray(s, self._record.dtype)
        self.embedding_ = np.asarray(self._wide()[0] @ (P * side * s), self._record.dtype)

    def compress(self, X: Any) -> Floats:
        """Slices in the bases of all modes but the first: X ×₂ U₂ᵀ … ×_p U_pᵀ, (m, r₂, …, r_p).

        Parameters
        ----------
        X : array (m, n₂, …, n_p)

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((6, 5, 4))
        >>> model = ritz.HOSVD((6, 3, 2)).fit(X)
        >>> model.compress(X).shape, model.expand(model.compress(X)).shape
        ((6, 3, 2), (6, 5, 4))
        """
        return np.asarray(self._compressed(np.asarray(self._like(X), np.float64)), self._record.dtype)

    def expand(self, Z: Any) -> Floats:
        """Slices from what ``compress`` gives: Z ×₂ U₂ … ×_p U_p.

        Parameters
        ----------
        Z : array (m, r₂, …, r_p)
        """
        Z = np.asarray(Z, np.float64)
        if Z.shape[1:] != self.ranks_[1:]:
            raise ParameterError(f"slices of {self.ranks_[1:]}", received=f"shape {Z.shape}", hint="compress(X)")
        for mode, U in enumerate(self._wide()[1:], 1):
            Z = times(Z, U, mode)
        return np.asarray(Z, self._record.dtype)

    def _compressed(self, X: Floats) -> Floats:
        for mode, U in reversed(list(enumerate(self._wide()[1:], 1))):
            X = times(X, U.T, mode)
        return X

    def _coordinates(self, X: Floats) -> Floats:
        return np.asarray(self._compressed(X).reshape(len(X), -1) @ self._record.turn)

    def _slices(self, F: Floats) -> Floats:
        Z = (F @ self._record.turn.T).reshape(len(F), *self.ranks_[1:])
        for mode, U in enumerate(self._wide()[1:], 1):
            Z = times(Z, U, mode)
        return Z

    def choose_ranks(self, errors: Sequence[float] = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)) -> list[Any]:
        """Ranks for relative errors that are no smaller than the model's own, without reading the data again.

        Each is bounded by the error of the model and the singular values of the core that would be left.

        Parameters
        ----------
        errors : sequence of relative errors

        Returns
        -------
        list of (error, ranks, bound, compression) : what was asked, what does, what the error then is at most

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rng = np.random.default_rng(0)
        >>> X = np.einsum("ir,jr,kr->ijk", *(rng.standard_normal((n, 3)) for n in (30, 20, 10)))
        >>> model = ritz.HOSVD(error=1e-6).fit(X + 0.001 * rng.standard_normal(X.shape))
        >>> [(error, ranks) for error, ranks, bound, compression in model.choose_ranks([0.5, 0.01])]
        [(0.5, (2, 2, 2)), (0.01, (3, 3, 3))]
        """
        core = np.asarray(self.core_, np.float64)
        tails = []
        for mode in range(core.ndim):
            s = np.linalg.svd(np.moveaxis(core, mode, 0).reshape(core.shape[mode], -1), compute_uv=False)
            left = np.zeros(core.shape[mode] + 1)
            left[: len(s)] = np.cumsum(np.square(s[::-1]))[::-1]
            tails.append(left)
        told, size = [], self.certificate_.norm
        for error in errors:
            budget = ((error * size) ** 2 - self.certificate_.error_high**2) / core.ndim
            if budget < 0:
                continue
            ranks = tuple(max(1, int(np.argmax(left <= budget))) for left in tails)
            rest = math.fsum(left[rank] for left, rank in zip(tails, ranks, strict=True))
            bound = math.sqrt(self.certificate_.error_high**2 + rest) / size if size > 0 else 0.0
            stored = math.prod(ranks) + sum(n * r for n, r in zip(self.shape_, ranks, strict=True))
            told.append((float(error), ranks, bound, math.prod(self.shape_) / stored))
        return told
