"""The answer to a spectral problem: values, vectors, certificate, plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.spectral.certificate.certificate import Certificate
from ritz.spectral.plan import Plan

__all__ = ["Solution"]


@dataclass(frozen=True)
class Solution:
    """Leading pairs of AᵀA, or of a symmetric operator.

    ``known`` holds every eigenvalue the solver knows, at least the k returned ones; ``total`` is the exact trace.
    ``theta`` and ``trace`` are values and total in units of unit², where those may have left the range of float64.
    """

    values: NDArray[np.float64]  # (k,) λ, decreasing
    vectors: NDArray[np.float64]  # (d, k)
    known: NDArray[np.float64]  # (m,) m ≥ k
    total: float
    certificate: Certificate
    plan: Plan
    unit: float = 1.0
    theta: NDArray[np.float64] | None = None  # (k,)
    trace: float | None = None
    thetas: NDArray[np.float64] | None = None  # (m,) ``known`` in units of unit²

    @property
    def scaled(self) -> NDArray[np.float64]:
        """(k,) λ in units of unit²."""
        return self.values if self.theta is None else self.theta

    @property
    def scaled_total(self) -> float:
        """The trace in units of unit²."""
        return self.total if self.trace is None else self.trace

    @property
    def singular_values(self) -> NDArray[np.float64]:
        """σ = √λ."""
        return np.sqrt(np.maximum(self.scaled, 0.0)) * self.unit
