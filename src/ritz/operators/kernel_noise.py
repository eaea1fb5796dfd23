"""The rounding of kernel entries and of products with them.

    E = computed − exact,   |eᵢⱼ| ≤ η·u·(ρᵢ + ρⱼ)/2·kᵢⱼ       ⇒   ‖E‖₂ ≤ η·u·max_i Σⱼ kᵢⱼ(ρᵢ + ρⱼ)/2        (rows)
    rows i₁ … i_m with probabilities pᵢ                       ⇒   ‖E V‖² = 𝔼 (1/m) Σ ‖eᵢV‖² / pᵢ           (sample)

Float64 entries of a kernel that is off by a share of itself (``relative``) are bounded by rows: η is the largest that
sampled rows, and every row with itself, show, times SAFETY. That holds for copies of a row too, whose entries are all
off by the same number and in the same direction: nothing averages out. For kernels of dot products ‖E‖_F of the
sampled rows bounds a dense matrix.

Products are compared with exact rows k(xᵢ, ·), which are formed once: from float64 tiles where float32 ones are
checked, by the kernel's most accurate formula (differences, not products) where float64 ones are. Half of the
probability is even, half goes where the kernel expects large errors (rows far from the mean) [Horvitz & Thompson 1952].
Vectors of an answer may live on few rows, which such a sample would miss: rows are drawn by the squares of their
entries too, and the norm is that of the block, since an eigenvalue repeated l times mixes l vectors.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.threads import single_threaded_blas
from ritz._core.tolerance import unit_roundoff
from ritz.kernels.base import Kernel, Prepared, chunks

__all__ = ["SampledRows", "counted", "sample_rows", "systematic"]

Floats = NDArray[np.float64]

#: Rows that are checked, and rows that are drawn for each vector of an answer.
CHECKED, DRAWN = 48, 4

#: The estimate of a norm from that many rows is raised by this factor; that of a block, from rows drawn where it lives
#: and itself about √(l/m) too large where rounding is random, by the second.
SAFETY, SURE = 2.0, 1.25

#: Units of round-off beside those: entries are compared with differences of the same rounded rows, by the same f, whose
#: own rounding that does not show. And the least η.
UNSEEN, SEEN = 4.0, 0.25

#: Rows of a block in which every row is compared with itself.
OWN = 64

#: Rows up to which BLAS may use its threads: asking it not to takes as long as what it does.
FEW = 1000

#: Entries below this share of 1 are not asked how far they are off, in units of themselves.
VANISHED = 1e-250


@dataclass(frozen=True)
class SampledRows:
    """Rows of K that products are checked by."""

    kernel: Kernel
    prepared: Prepared
    index: NDArray[np.intp]  # (m,)
    share: Floats  # (n,) m·pᵢ: how often a row is expected
    rough: Floats  # (n,) ρ
    diagonal: Floats  # (n,)

    @property
    def weight(self) -> Floats:
        """(m,) 1/√(m pᵢ)."""
        return np.asarray(1.0 / np.sqrt(self.share[self.index]))

    @cached_property
    def wide(self) -> Floats:
        """Rows to check float32 tiles by, (m, n)."""
        with single_threaded_blas():
            return self.kernel.wide_rows(self.prepared, self.index)

    @cached_property
    def exact(self) -> Floats:
        """Rows to check float64 tiles by, (m, n)."""
        return self.kernel.reference(self.prepared, self.index)

    def rows(self, dtype: np.dtype[Any]) -> Floats | None:
        """Rows to check tiles of this precision by; None where the kernel knows no better formula than its tiles."""
        if dtype.itemsize < 8:
            return self.wide
        return self.exact if self._referenced else None

    @property
    def _referenced(self) -> bool:
        return type(self.kernel).reference is not Kernel.reference

    def of_product(
        self, product: NDArray[Any], V: NDArray[Any], dtype: np.dtype[Any], length: Floats | None = None
    ) -> float | None:
        """Largest ‖K̃v − Kv‖/‖v‖ over the columns of V, from ``product`` = K̃V with tiles of this precision.

        ``length`` instead of ‖v‖: that of the vectors before their means were taken off.
        """
        rows = self.rows(dtype)
        if rows is None:
            return None
        V = np.asarray(V, np.float64)
        with single_threaded_blas():  # a threaded one leaves its threads spinning beside the lanes of the next pass
            gap = (product[self.index] - rows @ V) * self.weight[:, None]
        length = np.linalg.norm(V, axis=0) if length is None else length
        there = length > 0
        seen = SAFETY * np.linalg.norm(gap, axis=0)
        unseen = self._local(product, V, unit_roundoff(dtype))
        return float(np.max(np.maximum(seen, unseen)[there] / length[there], initial=0.0))

    def of_answer(self, product: NDArray[Any], V: NDArray[Any], dtype: np.dtype[Any]) -> float | None:
        """‖K̃V − KV‖₂ of orthonormal columns, from the sampled rows and rows drawn where these columns live."""
        rows = self.rows(dtype)
        if rows is None or not V.shape[1]:
            return None
        V = np.asarray(V, np.float64)
        leverage = np.einsum("ij,ij->i", V, V)
        drawn = systematic(leverage, DRAWN * V.shape[1])
        fresh = np.setdiff1d(drawn, self.index)
        with single_threaded_blas():
            more = self.kernel.wide_rows if dtype.itemsize < 8 else self.kernel.reference
            gap = np.concatenate([product[self.index] - rows @ V, product[fresh] - more(self.prepared, fresh) @ V])
        index = np.concatenate([self.index, fresh])
        # rows that both samples hold stand once for each of them
        times = np.concatenate([np.ones(len(self.index)), np.zeros(len(fresh))]) + counted(drawn, index)
        expected = self.share[index] + DRAWN * leverage[index] * V.shape[1] / max(float(leverage.sum()), 1e-300)
        return SURE * float(np.linalg.norm(gap * np.sqrt(times / expected)[:, None], 2))

    def _local(self, product: NDArray[Any], V: Floats, u: float) -> Floats:
        """By how much K̃v may be off where v lives on so few rows that the sample misses them, (l,)."""
        own = self.diagonal[:, None] * V  # exact but for the rounding of v
        beside = np.maximum(np.abs(product - own) - 4 * u * np.abs(own), 0.0)
        beside *= np.minimum(u * self.rough, 1.0)[:, None]
        bound = np.linalg.norm(beside, axis=0) + u * np.linalg.norm(product, axis=0)
        return np.asarray(bound, np.float64)

    def of_matrix(self, K: NDArray[Any], dtype: np.dtype[Any]) -> float | None:
        """‖K̃ − K‖_F of K̃ formed in this precision, from the sampled rows; None where ``of_entries`` bounds it."""
        rows = None if self.kernel.relative and dtype.itemsize >= 8 else self.rows(dtype)
        if rows is None:
            return None
        return SAFETY * float(np.linalg.norm((K[self.index] - rows) * self.weight[:, None]))

    def of_entries(self, reach: float, most: float) -> float | None:
        """‖K̃ − K‖₂ of float64 tiles from ``reach`` = max_i Σ kᵢⱼ(ρᵢ + ρⱼ)/2 and ``most`` = max_i Σ kᵢⱼ; None where
        entries are not bounded so.
        """
        if not self.kernel.relative:
            return None
        return unit_roundoff(np.float64) * (self.factor * reach + UNSEEN * most)

    @cached_property
    def factor(self) -> float:
        """η of float64 entries."""
        if not self._referenced or not self.prepared.n:
            return 1.0
        A, u = self.prepared.at(np.float64), unit_roundoff(np.float64)
        index = self.index[:: 2 if A.n > CHECKED else 1]  # the largest of half as many entries is hardly smaller
        few, reference, worst = A.take(index), self.kernel.reference(A, index), 0.0
        with single_threaded_blas() if A.n > FEW else nullcontext():
            for columns in chunks(A.n, 4096):
                off = self.kernel.tile(few, A, slice(0, few.n), columns)
                exact = reference[:, columns]
                np.abs(np.subtract(off, exact, out=off), out=off)
                off /= np.maximum(exact, VANISHED)
                off /= (u / 2) * (self.rough[index, None] + self.rough[columns])
                worst = max(worst, float(np.max(off, initial=0.0)))
            other, own = replace(A), np.empty(A.n)  # as if they were other rows: what products make of the diagonal
            for columns in chunks(A.n, OWN):
                own[columns] = self.kernel.tile(A, other, columns, columns).diagonal()
        worst = max(worst, float(np.max(np.abs(own - self.diagonal) / (u * self.rough), initial=0.0)))
        return max(SAFETY * worst, SEEN)


def sample_rows(kernel: Kernel, A: Prepared, diagonal: Floats) -> SampledRows:
    """Rows of K to check products by, the same for every fit."""
    n = A.n
    if n <= CHECKED:
        return SampledRows(kernel, A, np.arange(n), np.ones(n), kernel.roughness(A), diagonal)
    rough = kernel.roughness(A)
    worst = np.square(rough) * np.abs(diagonal)
    total = float(worst.sum())
    share = np.full(n, 1.0 / n) if not (np.isfinite(total) and total > 0) else 0.5 / n + 0.5 * worst / total
    share /= share.sum()
    edges = np.cumsum(share)  # as ``Generator.choice`` draws them, without its checks
    index = np.sort(np.minimum(np.searchsorted(edges / edges[-1], _drawn(), side="right"), n - 1))
    return SampledRows(kernel, A, index, CHECKED * share, rough, diagonal)


@lru_cache(maxsize=1)
def _drawn() -> Floats:
    """(CHECKED,) random numbers, always the same."""
    return np.random.default_rng(0x52495A).random(CHECKED)


def systematic(size: Floats, draws: int) -> NDArray[np.intp]:
    """``draws`` positions at equal steps through the running sum of sizes: none larger than a step is left out."""
    total = np.cumsum(size)
    if not len(total) or not total[-1] > 0:
        return np.zeros(0, np.intp)
    levels = (np.arange(draws) + 0.5) / draws * total[-1]
    return np.asarray(np.minimum(np.searchsorted(total, levels), len(total) - 1), np.intp)


def counted(drawn: NDArray[np.intp], index: NDArray[np.intp]) -> Floats:
    """How often each of ``index`` was drawn; a row that stands twice in ``index`` shares them out."""
    times = np.bincount(drawn, minlength=int(index.max(initial=0)) + 1)[index]
    return np.asarray(times / np.bincount(index)[index], np.float64)
