"""The answer to a spectral problem: values, vectors, certificate, plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz._core.frozen import quick
from ritz.spectral.certificate.certificate import Certificate
from ritz.spectral.plan import Plan

__all__ = ["Solution"]


@quick
@dataclass(frozen=True)
class Solution:
    """Leading pairs of AᵀA, or of a symmetric operator.

    Attributes
    ----------
    values : (k,) eigenvalues λ, decreasing
    vectors : (d, k) unit vectors
    known : (m,) every eigenvalue that the solver knows, m ≥ k
    total : exact trace
    certificate, plan : how far this can be from the truth, and how it was found
    unit : A was divided by it before it was solved
    scaled, scaled_total, thetas : values, total and known in units of unit², where those may have left the range

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators import Centered, Dense
    >>> from ritz.spectral.plan import Shape, choose
    >>> from ritz.spectral.problem import SpectralProblem
    >>> from ritz.spectral.solve import solve
    >>> X = np.random.default_rng(0).standard_normal((100, 6)) * [6, 5, 4, 3, 2, 1]
    >>> found = solve(SpectralProblem(Centered(Dense(X), X.mean(axis=0)), k=2), choose(Shape(100, 6), 2))
    >>> bool(np.allclose(found.singular_values, np.linalg.svd(X - X.mean(axis=0))[1][:2]))
    True
    >>> found.certificate.kind, found.plan.solver
    ('certified', 'moments')
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
