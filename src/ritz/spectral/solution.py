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
    ``scaled``, ``scaled_total`` and ``thetas`` are values, total and ``known`` in units of unit², where those may have
    left the range of float64.
    """

    values: NDArray[np.float64]  # (k,) λ, decreasing
    vectors: NDArray[np.float64]  # (d, k)
    known: NDArray[np.float64]  # (m,) m ≥ k
    total: float
    certificate: Certificate
    plan: Plan
    unit: float
    scaled: NDArray[np.float64]  # (k,)
    scaled_total: float
    thetas: NDArray[np.float64]  # (m,)
    singular_values: NDArray[np.float64]  # (k,) σ = √λ
