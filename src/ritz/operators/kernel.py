"""The kernel matrix and its centred form, known by their products.

    K V            K = [k(xᵢ, xⱼ)] (n×n), in tiles
    J K J V        J = I − 11ᵀ/n:   J(K(JV)),  a rank-two correction

The first product sums the tiles, too, so that row means r = K1/n, the grand mean g = 1ᵀK1/n², the exact total variance
tr(JKJ) = Σk(xᵢ, xᵢ) − n·g and ‖JKJ‖_F² = ‖K‖_F² − 2n·rᵀr + n²g² cost next to nothing. A product in a finer precision
learns them again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.keys import key_of_bytes
from ritz._core.linalg import Array
from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.keys import content_key
from ritz.kernels.base import Kernel, Prepared, chunks, symmetric_matrix
from ritz.operators.base import DENSE_BUDGET, Operator
from ritz.operators.kernel_noise import SampledRows, sample_rows
from ritz.operators.kernel_tiles import TileStore, cached_bytes, sweep

__all__ = ["CenteredKernel", "KernelMatrix", "KernelStatistics"]

#: float32 tiles are not used where they would be off by more than this, in units of k(x, x).
COARSE = 1e-3

#: Roundings of sums over all entries of K, which are float64, in units of u·‖K‖_F².
SUMMED = 1e3

#: By how much the roughness of a kernel, which is about right, is raised where all of ‖K̃ − K‖_F must be covered.
ROUGH = 4.0

#: Rows of K that are centred at a time: they stay in the cache of a core.
CENTRED_ROWS = 32

#: Nor where squares of entries could leave the range of float32.
LARGE = 1e15


@dataclass(frozen=True)
class KernelStatistics:
    """What one pass over the tiles tells of K."""

    row_means: NDArray[np.float64]  # (n,) r = K1/n
    mean: float  # g = 1ᵀK1/n²
    diagonal: NDArray[np.float64]  # (n,) k(xᵢ, xᵢ)
    square: float  # ‖K‖_F²
    dtype: np.dtype[Any]  # of the tiles that it was learned from
    reach: float = 0.0  # max_i Σ kᵢⱼ(ρᵢ + ρⱼ)/2 over j ≠ i, ρ the roughness of rows; of a ``relative`` kernel

    @property
    def trace(self) -> float:
        """tr K."""
        return float(self.diagonal.sum())

    @property
    def centered_trace(self) -> float:
        """tr(JKJ)."""
        return float(np.sum(self.diagonal - self.mean))

    @property
    def centered_square(self) -> float:
        """‖JKJ‖_F², to within about u·‖K‖_F² of the tiles' precision."""
        n, r, g = len(self.row_means), self.row_means, self.mean
        # 2n rᵀr − n²g² = n²g² + 2n‖r − g‖²: the second form does not cancel
        return max(self.square - n * n * g * g - 2 * n * float(np.square(r - g).sum()), 0.0)

    @property
    def centered_square_error(self) -> float:
        """About how far ``centered_square`` may be off."""
        return 4 * unit_roundoff(self.dtype) * self.square


@dataclass
class _Known:
    """What all precisions of one kernel matrix share."""

    cache_bytes: float
    prepared: dict[np.dtype[Any], Prepared] = field(default_factory=dict)
    stores: dict[np.dtype[Any], TileStore] = field(default_factory=dict)
    statistics: KernelStatistics | None = None
    sampled: SampledRows | None = None
    diagonals: dict[np.dtype[Any], NDArray[np.float64]] = field(default_factory=dict)
    passes: int = 0
    evaluated: int = 0  # passes that made tiles
    narrows: bool | None = None

    def store(self, n: int, dtype: np.dtype[Any]) -> TileStore | None:
        """Where to keep tiles of this precision, if they fit; a finer one may push out a coarser one."""
        if dtype not in self.stores:
            size = cached_bytes(n, dtype)
            if size > self.cache_bytes:
                return None
            if size + sum(cached_bytes(n, other) for other in self.stores) > self.cache_bytes:
                self.stores.clear()
            self.stores[dtype] = TileStore(n, dtype)
        return self.stores[dtype]


class KernelMatrix(Operator):
    """``K`` (n×n), symmetric, never formed unless it fits into ``cache_bytes``.

    Parameters
    ----------
    kernel
        With numbers for all parameters (``kernel.fix(X)``).
    prepared
        ``kernel.prepare(X)``.
    precision
        dtype of the tiles; that of ``prepared`` if absent. Sums over tiles are always float64.
    finest
        The finest precision that ``at`` may go to. ``float32``: float64 solvers work with float32 tiles, whose
        rounding is in ``measured()``.
    cache_bytes
        Upper tiles are kept after the first product if they fit.
    """

    symmetric = True

    def __init__(
        self,
        kernel: Kernel,
        prepared: Prepared,
        *,
        precision: Any = None,
        finest: Any = np.float64,
        cache_bytes: float = 0.0,
    ) -> None:
        super().__init__((prepared.n, prepared.n), prepared.dtype if precision is None else precision)
        self.kernel, self.finest = kernel, np.dtype(finest)
        self.positive = kernel.positive
        self.checkable = kernel.takes == "vectors"
        self._given = prepared
        self._known = _Known(0.0 if kernel.takes == "precomputed" else cache_bytes, {prepared.dtype: prepared})
        self._noise: dict[np.dtype[Any], float] = {}
        self._checked = True

    @property
    def prepared(self) -> Prepared:
        """The rows in the precision of the tiles."""
        rows = self._known.prepared
        if self.dtype not in rows:
            rows[self.dtype] = self._given.at(self.dtype)
        return rows[self.dtype]

    # products

    def _matmat(self, V: Array) -> Array:
        shared, n = self._known, self.shape[0]
        V = np.asarray(V)
        learn = shared.statistics is None or shared.statistics.dtype.itemsize < self.dtype.itemsize
        store = shared.store(n, self.dtype)
        shared.evaluated += store is None or not store.complete
        shared.passes += 1
        weights = self._weights() if learn else None
        out, sums, square = sweep(self.kernel, self.prepared, V.astype(self.dtype, copy=False), store, sums=weights)
        if learn:
            self._learn(sums, square)
        if self._checked:
            self.check(V, out)
        return out

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def check(self, V: Array, MV: Array, *, answer: int = 0, length: NDArray[np.float64] | None = None) -> None:
        sample = self._sampled()
        self._found(sample.of_product(MV, V, self.dtype, length))
        if answer and self.dtype.itemsize < 8:
            self._found(sample.of_answer(MV[:, :answer], V[:, :answer], self.dtype))

    def _found(self, noise: float | None) -> None:
        """Count a rounding that was measured, and what float64 entries may be off."""
        roundings = [self._noise.get(self.dtype), noise, self._entries()]
        if any(each is not None for each in roundings):
            self._noise[self.dtype] = max(each for each in roundings if each is not None)

    def _entries(self) -> float | None:
        stats = self._known.statistics
        if self.dtype.itemsize < 8 or stats is None:
            return None
        return self._sampled().of_entries(stats.reach, self.shape[0] * float(np.max(stats.row_means, initial=0.0)))

    def _weights(self) -> NDArray[np.float64]:
        """What row sums are taken with: 1, and for a kernel that is off by a share of itself its roughness."""
        one = np.ones((self.shape[0], 1))
        return np.column_stack([one, self._sampled().rough]) if self.kernel.relative else one

    def _learn(self, sums: NDArray[np.float64], square: float) -> None:
        """``sums`` (n, 1 or 2): K times ``_weights``."""
        means = sums[:, 0] / self.shape[0]
        mean, reach = float(np.mean(means)), 0.0
        if sums.shape[1] > 1:
            rough = self._sampled().rough
            beside = rough * sums[:, 0] + sums[:, 1] - 2 * rough * self.diagonal()  # the diagonal is exact
            reach = float(np.max(beside, initial=0.0)) / 2
        self._known.statistics = KernelStatistics(means, mean, self.diagonal(), square, self.dtype, reach)

    def diagonal(self) -> NDArray[np.float64]:
        """``[k(xᵢ, xᵢ)]``, (n,): of the rows as given, or as they are in the tiles where those are finer."""
        rows = self.prepared if self.dtype.itemsize > self._given.dtype.itemsize else self._given
        diagonals = self._known.diagonals
        if rows.dtype not in diagonals:
            diagonals[rows.dtype] = self.kernel.diag(rows)
        return diagonals[rows.dtype]

    def statistics(self) -> KernelStatistics:
        """Row means, grand mean, diagonal and ‖K‖_F²: from the products so far, or from an empty one."""
        if self._known.statistics is None:
            self.matmat(np.empty((self.shape[0], 0)))
        assert self._known.statistics is not None  # noqa: S101  (for the type checker)
        return self._known.statistics

    def centered(self) -> CenteredKernel:
        """``J K J``."""
        return CenteredKernel(self)

    def to_dense(self, budget: int = DENSE_BUDGET) -> Array:
        """K in its finest precision, as float64; refused above ``budget`` bytes."""
        size = self.shape[0] ** 2 * 8
        if size > budget:
            raise MemoryLimitError(
                f"the kernel matrix must fit into {budget:,} bytes",
                received=f"{self.shape[0]:,} × {self.shape[0]:,}, {size:,} bytes",
                hint="use matmat, or raise the budget: to_dense(budget=…)",
            )
        fine = self.at(np.float64)
        K = symmetric_matrix(self.kernel, fine.prepared).astype(np.float64, copy=False)
        shared = self._known
        shared.passes, shared.evaluated = shared.passes + 1, shared.evaluated + 1
        if shared.statistics is None or shared.statistics.dtype.itemsize < fine.dtype.itemsize:
            sums = K.sum(axis=1)[:, None]  # by halves, which rounds less than a product would
            sums = np.column_stack([sums, K @ self._sampled().rough]) if self.kernel.relative else sums
            fine._learn(sums, float(np.vecdot(K, K).sum()))
        self._noise.clear()
        fine._found(self._sampled().of_matrix(K, fine.dtype))
        return K

    def trace(self) -> float:
        return float(self.diagonal().sum())

    # precision

    def at(self, dtype: Any) -> KernelMatrix:
        dtype = min(np.dtype(dtype), self.finest, key=lambda each: each.itemsize)
        if dtype == self.dtype or (dtype.itemsize < self.dtype.itemsize and not self.narrows()):
            return self
        return self._same(dtype)

    def _same(self, dtype: Any) -> KernelMatrix:
        other = KernelMatrix(self.kernel, self._given, precision=dtype, finest=self.finest)
        other._known, other._noise = self._known, self._noise
        return other

    def unchecked(self) -> KernelMatrix:
        other = self._same(self.dtype)
        other._checked, other._noise = False, {}
        return other

    def narrows(self) -> bool:
        """Whether float32 tiles are worth it: cheaper, in range, and not mostly rounding."""
        if self._known.narrows is None:
            self._known.narrows = self._narrows()
        return self._known.narrows

    def _narrows(self) -> bool:
        n = self.shape[0]
        if self.kernel.takes in ("strings", "any") or not n:
            return False
        most = min(int(0.99 * n), n - 1)  # of all rows but a hundredth
        rough = np.partition(self.kernel.roughness(self._known.prepared[self._given.dtype]), most)[most]
        coarse = unit_roundoff(np.float32) * float(rough) > COARSE
        return not coarse and float(np.max(np.abs(self.diagonal()))) <= LARGE

    def key(self) -> int:
        return key_of_bytes(repr(self.kernel), str(content_key(self._given.rows)))

    def gram_dtype(self) -> Any:
        """dtype of the tiles at their finest."""
        return self.finest if self.finest.itemsize < self.dtype.itemsize else self.dtype

    def _sampled(self) -> SampledRows:
        if self._known.sampled is None:
            self._known.sampled = sample_rows(self.kernel, self.prepared, self.diagonal())
        return self._known.sampled

    def measured(self) -> float | None:
        """Largest rounding of the products so far for a unit vector (or of the dense matrix formed last).

        All products in this precision count, because a Ritz vector is a combination of columns of several; where there
        was none, those in another.
        """
        return self._noise.get(self.dtype, max(self._noise.values(), default=None))

    # words and figures

    def passes(self) -> int:
        return self._known.passes

    def keeps(self) -> bool:
        """Whether tiles are kept after the first product."""
        return cached_bytes(self.shape[0], self.dtype) <= self._known.cache_bytes

    def evaluations(self) -> int:
        """Passes in which entries of K were computed rather than read from the cache."""
        return self._known.evaluated

    def symbol(self) -> str:
        return "K"


class CenteredKernel(Operator):
    """``J K J`` with J = I − 11ᵀ/n: the kernel matrix of features whose mean is taken off.

    ``below``: what negative eigenvalues add up to at most, where a proof says that they are rounding.
    """

    symmetric = True

    def __init__(self, inner: KernelMatrix, *, below: float = 0.0) -> None:
        super().__init__(inner.shape, inner.dtype)
        self.inner, self.below, self.positive = inner, below, inner.positive or below > 0
        self.checkable = inner.checkable

    def _matmat(self, V: Array) -> Array:
        V = np.asarray(V, np.float64)
        out = self.inner.matmat(V - V.mean(axis=0) if V.shape[0] else V)
        out -= out.mean(axis=0) if V.shape[0] else 0.0
        return out

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def statistics(self) -> KernelStatistics:
        """Those of K; ``centered_trace`` and ``centered_square`` are of J K J."""
        return self.inner.statistics()

    def trace(self) -> float | None:
        """tr(JKJ) + below; None for an indefinite kernel, whose trace bounds nothing."""
        return self.inner.statistics().centered_trace + self.below if self.positive else None

    def unchecked(self) -> CenteredKernel:
        return CenteredKernel(self.inner.unchecked(), below=self.below)

    def check(self, V: Array, MV: Array, *, answer: int = 0) -> None:
        stats = self.statistics()
        V = np.asarray(V, np.float64)
        length = np.linalg.norm(V, axis=0)  # of a constant vector J leaves rounding, which is nothing to divide by
        V = V - V.mean(axis=0)
        # 1ᵀK/n times V is what the second J took off
        self.inner.check(V, MV + stats.row_means @ V, answer=answer, length=length)

    def power_sums(self) -> tuple[float, float] | None:
        stats = self.inner._known.statistics
        if stats is None or not self.positive or self.below:
            return None
        # entries are off by about u·(ρᵢ + ρⱼ)/2·√(kᵢᵢ kⱼⱼ), ρ the roughness of a row
        rough = np.minimum(ROUGH * unit_roundoff(stats.dtype) * self.inner._sampled().rough, 1.0)
        entries = float(np.sqrt(np.sum(stats.diagonal * rough * rough) * stats.trace))
        sums = SUMMED * unit_roundoff(np.float64) * stats.square
        square = stats.centered_square + sums
        return (
            stats.centered_trace - float(np.sqrt(SUMMED * unit_roundoff(np.float64) * sums)) - entries,
            square + 2 * float(np.sqrt(square)) * entries + entries**2,
        )

    def to_dense(self, budget: int = DENSE_BUDGET) -> Array:
        K = self.inner.to_dense(budget)
        stats = self.inner.statistics()
        column = (stats.row_means - stats.mean)[:, None]
        for rows in chunks(len(K), CENTRED_ROWS):
            K[rows] -= stats.row_means
            K[rows] -= column[rows]
        return K

    def at(self, dtype: Any) -> CenteredKernel:
        inner = self.inner.at(dtype)
        return self if inner is self.inner else CenteredKernel(inner, below=self.below)

    def measured(self) -> float | None:
        return self.inner.measured()

    def inflation(self) -> float:
        """n·g: the eigenvalue of the constant vector, which is rounded along with the rest until it is taken off."""
        stats = self.inner._known.statistics
        return 0.0 if stats is None else max(self.shape[0] * abs(stats.mean), 0.0)

    def key(self) -> int:
        return self.inner.key()

    def gram_dtype(self) -> Any:
        """dtype of the tiles at their finest."""
        return self.inner.gram_dtype()

    def passes(self) -> int:
        return self.inner.passes()

    def keeps(self) -> bool:
        """Whether tiles are kept after the first product."""
        return self.inner.keeps()

    def symbol(self) -> str:
        return "J K J"
