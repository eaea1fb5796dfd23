"""``check_kernel`` finds what is broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ritz import kernels
from ritz.kernels.distances import RBF
from ritz.kernels.rows import on_diagonal
from ritz.testing.kernels import check_kernel

X = np.random.default_rng(0).standard_normal((24, 3))


@dataclass(frozen=True)
class Asymmetric(RBF):
    def tile(self, A: Any, B: Any, rows: slice, cols: slice, out: Any = None) -> Any:
        T = super().tile(A, B, rows, cols, out)
        T *= 1 + 1e-9 * np.arange(rows.start, rows.stop)[:, None]
        return T


@dataclass(frozen=True)
class WrongDiagonal(RBF):
    def diag(self, A: Any) -> Any:
        return np.full(A.n, 1.0 + 1e-10)


@dataclass(frozen=True)
class Indefinite(RBF):
    def tile(self, A: Any, B: Any, rows: slice, cols: slice, out: Any = None) -> Any:
        T = super().tile(A, B, rows, cols, out)
        T -= 0.5
        return T

    def diag(self, A: Any) -> Any:
        return np.full(A.n, 0.5)

    def reference(self, A: Any, index: Any) -> Any:
        return super().reference(A, index) - 0.5


@dataclass(frozen=True)
class SeesTheTile(RBF):
    """The mean of a tile is taken off: what an entry is depends on its neighbours."""

    def tile(self, A: Any, B: Any, rows: slice, cols: slice, out: Any = None) -> Any:
        T = super().tile(A, B, rows, cols, out)
        T += 1e-6 * (rows.stop - rows.start)
        return T

    def diag(self, A: Any) -> Any:
        return np.full(A.n, 1 + 1e-6 * A.n)

    def reference(self, A: Any, index: Any) -> Any:
        return super().reference(A, index) + 1e-6 * A.n


@dataclass(frozen=True)
class IgnoresOut(RBF):
    def tile(self, A: Any, B: Any, rows: slice, cols: slice, out: Any = None) -> Any:
        return super().tile(A, B, rows, cols)


@dataclass(frozen=True)
class OwnShift(RBF):
    """New rows are shifted by their own mean."""

    def prepare(self, X: Any, *, dtype: Any = None, like: Any = None) -> Any:
        return super().prepare(X, dtype=dtype)


@dataclass(frozen=True)
class Narrow(RBF):
    """Everything is computed in float32."""

    def _apply(self, E: Any) -> Any:
        E[...] = np.exp(E.astype(np.float32))
        return E


@dataclass(frozen=True)
class Restless(RBF):
    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Any:
        return Restless((self.gamma or 1.0) * 1.1)


@dataclass(frozen=True)
class WrongFeatures(kernels.Polynomial):
    def _apply(self, G: Any) -> Any:
        G = super()._apply(G)
        G += 1e-8
        return G


@dataclass(frozen=True)
class DiagonalOnly(RBF):
    """A ridge in tiles that rows of their own do not see."""

    def tile(self, A: Any, B: Any, rows: slice, cols: slice, out: Any = None) -> Any:
        T = super().tile(A, B, rows, cols, out)
        if A is B:
            on_diagonal(T, rows, cols, 1.001)
        return T

    def diag(self, A: Any) -> Any:
        return np.full(A.n, 1.001)


BROKEN = [
    (Asymmetric(0.3), "K − Kᵀ"),
    (WrongDiagonal(0.3), "diag"),
    (Indefinite(0.3), "eigenvalue"),
    (SeesTheTile(0.3), "tile"),
    (IgnoresOut(0.3), "memory it was given"),
    (OwnShift(0.3), "prepared like the old ones"),
    (Restless(0.3), "idempotent"),
    (WrongFeatures(2, 0.3, 1.0), "φ"),
    (DiagonalOnly(0.3), "reference"),
]


@pytest.mark.parametrize(("kernel", "words"), BROKEN, ids=lambda value: type(value).__name__)
def test_a_broken_kernel_is_found(kernel, words):
    with pytest.raises(AssertionError, match=words):
        check_kernel(kernel, X, written=False)


def test_a_wrong_formula_and_a_sound_kernel():
    check_kernel(kernels.RBF(0.3), X, formula=lambda x, y: np.exp(-0.3 * np.sum((x - y) ** 2)))
    with pytest.raises(AssertionError, match="formula"):
        check_kernel(Narrow(0.3), X, formula=lambda x, y: np.exp(-0.3 * np.sum((x - y) ** 2)), written=False)
    with pytest.raises(AssertionError, match="formula"):
        check_kernel(kernels.RBF(0.3), X, formula=lambda x, y: np.exp(-0.3000001 * np.sum((x - y) ** 2)))


def test_a_kernel_that_cannot_be_written():
    with pytest.raises((AssertionError, AttributeError, ValueError)):
        check_kernel(kernels.Callable(lambda x, y: 1.0), X)
