"""What LAPACK loses in matrices of known spectrum stays within the allowance of a dense eigenproblem.

    G = aI + b(J⊗I) + c(I⊗J) in integers, n = n₁n₂,     λ ∈ {a, a + bn₁, a + cn₂, a + bn₁ + cn₂}

Eigenvalues that are many times over are the hardest: random matrices lose a tenth of what complete graphs lose.
"""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.tolerance import solving
from ritz.testing.certify.problem import Case

U = 2.0**-53


def losses(n1: int, n2: int, a: int, b: int, c: int, seed: int) -> float:
    """max |λ̂ − λ|/max |λ| of LAPACK's eigenvalues, rows and signs shuffled."""
    n, rng = n1 * n2, np.random.default_rng(seed)
    G = a * np.eye(n) + b * np.kron(np.ones((n1, n1)), np.eye(n2)) + c * np.kron(np.eye(n1), np.ones((n2, n2)))
    truth = np.sort([a + b * n1 * (i == 0) + c * n2 * (j == 0) for i in range(n1) for j in range(n2)])
    order, signs = rng.permutation(n), rng.choice([-1.0, 1.0], n)
    G = G[np.ix_(order, order)] * np.outer(signs, signs)
    return float(np.abs(np.linalg.eigh(G)[0] - truth).max() / np.abs(truth).max())


@pytest.mark.parametrize(
    ("n1", "n2", "a", "b", "c"),
    [(8, 1, 8, -1, 0), (19, 1, 19, -1, 0), (24, 1, 24, -1, 0), (18, 2, 36, -1, 0), (8, 10, 80, -1, 0),
     (17, 8, 136, -1, 0), (4, 1, -5, 5, -4), (12, 12, 3, 7, -2), (20, 20, 400, -1, 0)],
)  # fmt: skip
def test_eigenvalues_many_times_over_stay_within_the_allowance(n1: int, n2: int, a: int, b: int, c: int) -> None:
    worst = max(losses(n1, n2, a, b, c, seed) for seed in range(12))
    assert 0 < worst <= solving(n1 * n2, U)


@pytest.mark.parametrize("nodes", [8, 12, 19, 24, 33, 48])
@pytest.mark.parametrize("route", ["moments", "svd", "krylov→moments", "chebyshev→moments", "iterated", "stream"])
def test_enclosures_of_complete_graphs_hold_the_number_of_nodes(nodes: int, route: str) -> None:
    """Every eigenvalue but one of a complete graph's Laplacian is n, n − 1 times over."""
    case = Case("graph", "complete", nodes, nodes, seed=0, k=2)
    certificate = case.fit(route, case.data()).certificate_
    assert np.all(certificate.lower <= nodes)
    assert np.all(nodes <= certificate.upper)
