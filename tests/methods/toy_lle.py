"""Locally linear embedding of a weight matrix that is given: the smallest eigenvectors of (I − W)ᵀ(I − W).    [RS00]

Row i of W (n×n) writes point i as a combination of its neighbours; its entries sum to 1, so the constant is null.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz.methods.fitted import About, Embedded
from ritz.methods.method import Method
from ritz.methods.posed import Posed
from ritz.operators import Aligned
from ritz.spectral.solution import Solution


class WeightedLLE(Method):
    """Coordinates that the weights of every row reproduce best.

    Parameters
    ----------
    n_components : int
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates, of unit length each
    eigenvalues_ : (k,) the smallest eigenvalues but that of the constant, increasing
    certificate_, plan_, n_components_, n_samples_, n_features_in_
    """

    about = About(
        "LLE of given weights", "weighted-lle", "LLE", measure="eigenvalue", whole="trace", cites=("[RS00]",),
        paper="S. T. Roweis and L. K. Saul, Nonlinear dimensionality reduction by locally linear embedding, "
        "Science 290 (2000), 2323–2326.",
    )  # fmt: skip
    fitted = Embedded

    def __init__(
        self, n_components: Any = 2, *, solver: str = "auto", tol: float = 1e-6, random_state: Any = 0,
        memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.solver, self.tol, self.random_state = n_components, solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def pose(self, rows: Any, weights: Any) -> Posed:
        """(I − W)ᵀ(I − W), smallest first; constants are known."""
        n = rows.shape[0]
        return Posed(Aligned(sp.eye_array(n) - sp.csr_array(rows)), kind="eigh", which="smallest", null=np.ones(n))

    def read(self, solution: Solution, posed: Posed) -> None:
        """Coordinates and eigenvalues."""
        self.embedding_, self.eigenvalues_ = solution.vectors, solution.values
        self._keep(solution, len(self.embedding_))
