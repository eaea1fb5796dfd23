"""Laplacian eigenmaps of a graph that is given by the weights of its edges.                                   [BN03]

    S = D^-½ W D^-½  (n×n),  D = diag(W1),     ½(I + S) − qqᵀ = U Λ Uᵀ,  q = D^½1/‖D^½1‖,     node i ↦ uᵢ/√dᵢ

The smallest eigenvalues of L = I − S are the largest of ½(I + S), which has none below zero; qqᵀ takes off the one
that every connected graph has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz import InputError
from ritz.methods import register
from ritz.methods.fitted import About, Embedded
from ritz.methods.method import Method
from ritz.methods.posed import Posed
from ritz.operators import Symmetric
from ritz.spectral.solution import Solution


@register
class GraphMap(Method):
    """Coordinates of the nodes of a graph: nodes with heavy edges between them lie close together.

    Parameters
    ----------
    n_components : int
        Number of axes.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates of the nodes
    eigenvalues_ : (k,) the smallest eigenvalues of L but the first, increasing
    certificate_, plan_, n_components_, n_samples_, n_features_in_
    """

    about = About(
        "Laplacian eigenmaps", "graphmap", "GM", measure="eigenvalue", whole="trace", cites=("[BN03]",),
        paper="M. Belkin and P. Niyogi, Laplacian eigenmaps for dimensionality reduction and data representation, "
        "Neural Computation 15 (2003), 1373–1396.",
    )  # fmt: skip
    fitted = Embedded

    def __init__(
        self, n_components: Any = 2, *, solver: str = "auto", tol: float = 1e-6, random_state: Any = 0,
        memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.solver, self.tol, self.random_state = n_components, solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def pose(self, rows: Any, weights: Any) -> Posed:
        """The normalised graph, without the eigenvector that says nothing."""
        W = np.asarray(rows, np.float64)
        if W.shape[0] != W.shape[1] or not np.array_equal(W, W.T) or not np.all(W.sum(axis=1) > 0):
            raise InputError("a graph is a symmetric matrix of weights, each node with an edge", received=f"{W.shape}")
        root = np.sqrt(W.sum(axis=1))
        q = root / np.linalg.norm(root)
        S = 0.5 * (np.eye(len(W)) + W / np.outer(root, root)) - np.outer(q, q)
        return Posed(Symmetric((S + S.T) / 2), kind="eigh", kept=root)

    def read(self, solution: Solution, posed: Posed) -> None:
        """Coordinates of the nodes, and eigenvalues of L."""
        self.embedding_ = solution.vectors / posed.kept[:, None]
        self.eigenvalues_ = 2 * (1 - solution.values)
        self._keep(solution, len(self.embedding_))
