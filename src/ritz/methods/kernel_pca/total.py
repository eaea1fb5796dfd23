"""The total variance of a Nyström model: of the kernel itself, not of its approximation.

    T = tr(JKJ) = Σ k(xᵢ, xᵢ) − 1ᵀK1/n,     1ᵀK1/n = n‖f̄‖² + (1/n) Σᵢ sᵢ,    sᵢ = Σⱼ k(xᵢ, xⱼ) − n φ̂(xᵢ)·f̄

φ̂ are Nyström's features with mean f̄, so Σsᵢ/n = 1ᵀ(K − K̂)1/n lies between 0 and tr K − tr K̂: that brackets T. Few rows
of K estimate it, with the standard error of a sample without replacement; all rows of a short table give it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.threads import single_threaded_blas
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.nystrom import NystromMap

__all__ = ["Total", "total_variance"]

#: Rows of K that are summed, and rows of a table of which all are.
SAMPLED, ALL = 256, 1024


@dataclass(frozen=True)
class Total:
    """tr(JKJ): its estimate, the standard error of that (0: exact), and what is proved."""

    value: float
    error: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """For the certificate."""
        if not self.error:
            return f"shares are relative to the total variance of the kernel, {self.value:.6g}"
        return (
            f"shares are relative to the total variance of the kernel, estimated as {self.value:.6g} "
            f"± {self.error:.2g} (standard error) and proved to lie between {self.low:.6g} and {self.high:.6g}"
        )


def total_variance(kernel: Kernel, A: Prepared, made: NystromMap, mean: Any, *, left: float, seed: int) -> Total:
    """T of rows A; ``left`` ≥ tr K − tr K̂, ``mean`` f̄ (m,)."""
    n, f, diagonal = A.n, np.asarray(mean, np.float64), kernel.diag(A)
    trace = float(diagonal.sum())
    high = max(trace - n * float(f @ f), 0.0)
    low = max(high - left, 0.0)
    count = n if n <= ALL else SAMPLED
    index = np.arange(n) if count == n else np.sort(np.random.default_rng([seed, 0x545F]).choice(n, count, False))
    sums = np.empty(count)
    with single_threaded_blas():
        for start in range(0, count, 64):
            chosen = index[start : start + 64]
            near = np.asarray(made.rows(A.take(chosen), 0, len(chosen)), np.float64)
            rows = kernel.wide_rows(A, chosen)
            rows[np.arange(len(chosen)), chosen] = diagonal[chosen]  # exact, which a distance from products is not
            sums[start : start + 64] = rows.sum(axis=1) - n * (near @ f)
    missing = float(np.mean(sums))
    error = float(np.std(sums, ddof=1)) * np.sqrt((1 - count / n) / count) if count < n else 0.0
    return Total(min(max(high - missing, low), high), float(error), low, high)
