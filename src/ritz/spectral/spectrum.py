"""The answer to a spectral problem: values, vectors, certificate, plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.spectral.certificate import Certificate
from ritz.spectral.plan import Plan

__all__ = ["Spectrum"]


@dataclass(frozen=True)
class Spectrum:
    """Leading pairs of AᵀA, or of a symmetric operator.

    ``known`` holds every eigenvalue the solver knows, at least the k returned ones; ``total`` is the exact trace.
    """

    values: NDArray[np.float64]  # (k,) λ, decreasing
    vectors: NDArray[np.float64]  # (d, k)
    known: NDArray[np.float64]  # (m,) m ≥ k
    total: float
    certificate: Certificate
    plan: Plan

    @property
    def singular_values(self) -> NDArray[np.float64]:
        """σ = √λ."""
        return np.sqrt(np.maximum(self.values, 0.0))
