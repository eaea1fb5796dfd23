"""The rounding of kernel products, measured on sampled rows.

    rows i₁ … i_m with probabilities pᵢ;   E = computed − exact;   ‖E v‖² = 𝔼 (1/m) Σ (e_i·v)² / pᵢ

The exact rows k(xᵢ, ·) are formed once: from float64 tiles where float32 ones are checked, by the kernel's most
accurate formula (differences, not products) where float64 ones are.
Half of the probability is even, half goes where the kernel expects large errors (rows far from the mean), so a few
bad rows cannot hide [Horvitz & Thompson 1952]. A vector that lives on a few rows only, which a sample would miss, is
given the rounding that its entries may have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.threads import single_threaded_blas
from ritz._core.tolerance import unit_roundoff
from ritz.kernels.base import Kernel, Prepared

__all__ = ["SampledRows", "sample_rows"]

#: Rows that are checked.
CHECKED = 48

#: The estimate of a norm from that many rows is raised by this factor.
SAFETY = 2.0


@dataclass(frozen=True)
class SampledRows:
    """Rows of K that products are checked by."""

    kernel: Kernel
    prepared: Prepared
    index: NDArray[np.intp]  # (m,)
    weight: NDArray[np.float64]  # (m,) 1/√(m pᵢ)
    rough: NDArray[np.float64]  # (n,) units of round-off that entries of a row may be off
    diagonal: NDArray[np.float64]  # (n,)

    @cached_property
    def wide(self) -> NDArray[np.float64]:
        """Rows to check float32 tiles by, (m, n)."""
        with single_threaded_blas():
            return self.kernel.wide_rows(self.prepared, self.index)

    @cached_property
    def exact(self) -> NDArray[np.float64]:
        """Rows to check float64 tiles by, (m, n)."""
        return self.kernel.reference(self.prepared, self.index)

    def rows(self, dtype: np.dtype[Any]) -> NDArray[np.float64] | None:
        """Rows to check tiles of this precision by; None where the kernel knows no better formula than its tiles."""
        if dtype.itemsize < 8:
            return self.wide
        return None if type(self.kernel).reference is Kernel.reference else self.exact

    def of_product(
        self, product: NDArray[Any], V: NDArray[Any], dtype: np.dtype[Any], length: NDArray[np.float64] | None = None
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

    def _local(self, product: NDArray[Any], V: NDArray[np.float64], u: float) -> NDArray[np.float64]:
        """By how much K̃v may be off where v lives on so few rows that the sample misses them, (l,)."""
        own = self.diagonal[:, None] * V  # exact but for the rounding of v
        beside = np.maximum(np.abs(product - own) - 4 * u * np.abs(own), 0.0)
        beside *= np.minimum(u * self.rough, 1.0)[:, None]
        found = np.linalg.norm(beside, axis=0) + u * np.linalg.norm(product, axis=0)
        return np.asarray(found, np.float64)

    def of_matrix(self, K: NDArray[Any], dtype: np.dtype[Any]) -> float | None:
        """‖K̃ − K‖₂ (too large by √(n/m)/2 where rounding is random) of K̃ formed in this precision."""
        rows = self.rows(dtype)
        if rows is None:
            return None
        gap = (K[self.index] - rows) * self.weight[:, None]
        return SAFETY * float(np.linalg.norm(gap, 2)) if gap.size else 0.0


def sample_rows(kernel: Kernel, A: Prepared, diagonal: NDArray[np.float64]) -> SampledRows:
    """Rows of K to check products by, the same for every fit."""
    n = A.n
    if n <= CHECKED:
        return SampledRows(kernel, A, np.arange(n), np.ones(n), kernel.roughness(A), diagonal)
    rough = kernel.roughness(A)
    worst = np.square(rough) * np.abs(diagonal)
    total = float(worst.sum())
    share = np.full(n, 1.0 / n) if not (np.isfinite(total) and total > 0) else 0.5 / n + 0.5 * worst / total
    share /= share.sum()
    index = np.sort(np.random.default_rng(0x52495A).choice(n, CHECKED, p=share))
    return SampledRows(kernel, A, index, 1.0 / np.sqrt(CHECKED * share[index]), rough, diagonal)
