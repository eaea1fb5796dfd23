"""Residuals of vectors that were turned from the side of the rows: no smaller than they are.

v = Aᵀu/σ,      ‖AᵀAv − θv‖ = ‖Aᵀr_u‖/σ ≤ √λ₁‖r_u‖/σ,      λ₁ above θ₁ + ‖r_u‖ where the largest was missed
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import ritz
from ritz.operators import Dense, Operator
from ritz.operators.center import Centered
from ritz.operators.framed import Rows
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.testing.certify.problem import Case


class Silent(Operator):
    """A table that tells neither trace nor Frobenius norm."""

    def __init__(self, X: np.ndarray) -> None:
        super().__init__(X.shape, X.dtype)
        self.X = X

    def _matmat(self, V):
        return self.X @ V

    def _rmatmat(self, U):
        return self.X.T @ U

    def symbol(self) -> str:
        return "X"


def clustered(n: int = 40, d: int = 200, seed: int = 0) -> np.ndarray:
    """Rows whose ten largest singular values lie within a thousandth, so that a power iteration stops between them."""
    rng = np.random.default_rng(seed)
    U, V = np.linalg.qr(rng.standard_normal((n, n)))[0], np.linalg.qr(rng.standard_normal((d, n)))[0]
    sigma = np.concatenate([np.linspace(1, 0.999, 10), np.full(n - 10, 0.3)])
    return (U * sigma) @ V.T


def residuals(X: np.ndarray, values, V) -> np.ndarray:
    return np.linalg.norm(X.T @ (X @ V) - V * values, axis=0)


def test_a_right_model_between_close_values_is_verified():
    case = Case("dense", "clustered", 60, 300, seed=20100686, cond=1.0, dtype="float32", means=100.0, k=1)
    X = case.data()
    with pytest.warns(ritz.AccuracyWarning):
        model = case.fit("power", X)
    assert model.verify(X), str(model.verify(X))


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("told", [True, False])
def test_residuals_on_the_side_of_the_columns_are_certified(told, number):
    X = clustered(seed=number)
    A = Dense(X) if told else Silent(X)
    problem = SpectralProblem(A, 2, tol=1e-12, seed=number)
    plan = ritz.plan(X, ritz.PCA(2, center=False, solver="power"))
    assert plan.side == "rows"
    found = solve(problem, plan)
    true = residuals(X, found.values, found.vectors)
    assert np.all(true <= found.certificate.residuals * (1 + 1e-9) + 1e-14)
    assert np.all(true > 1e-9)  # the iteration has not settled, or nothing is tested


@pytest.mark.parametrize("far", [0.0, 40.0])
def test_wide_sparse_rows_about_their_means_are_turned_with_what_measuring_has_made(monkeypatch, far, seed):
    rng = np.random.default_rng(seed)
    X = scipy.sparse.random(300, 2000, 0.03, format="csr", rng=rng)
    X.data += far
    crossed = []
    monkeypatch.setattr(Rows, "across", lambda self, U: crossed.append(U) or self.T.matmat(U))
    monkeypatch.setattr(Centered, "across", Rows.across)
    model = ritz.PCA(5, solver="lanczos").fit(X)
    assert model.plan_.side == "rows"
    assert not crossed  # no product more
    dense = X.toarray()
    V = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, V[1][:5], rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.components_ @ V[2][:5].T), np.eye(5), atol=1e-4)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-14)
