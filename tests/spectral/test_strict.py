"""The direct solvers and the sketch on strict array-API arrays: what runs here runs on any array library."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

from ritz._core.factors import svd, triangle
from ritz._core.linalg import leading, positive, root, wide
from ritz._core.tolerance import REPAIR_SHARE
from ritz.operators.base import Operator
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.dense import dense_eigh, dense_svd
from ritz.spectral.solvers.moments import moments
from ritz.spectral.solvers.sketch import sketch
from ritz.testing import known_hadamard, largest_sine

BUDGET = 1 << 30
LIBRARIES = pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])


class Matrix(Operator):
    """A matrix of any array library."""

    def __init__(self, A, xp, *, symmetric=False):
        super().__init__(A.shape, np.float64)
        self.xp, self.A = xp, xp.asarray(A)
        self.symmetric = self.positive = symmetric

    def _matmat(self, V):
        return self.A @ V

    def _rmatmat(self, U):
        return self.xp.matrix_transpose(self.A) @ U

    def _gram(self, W):
        B = self.A if W is None else self.A @ W
        return self.xp.matrix_transpose(B) @ B

    def gram_noise(self):
        return 8 * 2.0**-53 * float(self.xp.sum(self.A * self.A))

    def trace(self):
        return float(self.xp.linalg.trace(self.A)) if self.symmetric else None

    def to_dense(self, budget=0):
        return self.A

    def symbol(self):
        return "A"


def exact(cond):
    """A matrix of exactly known singular values, which are returned decreasing, with its right vectors."""
    known = known_hadamard("geometric", 128, 24, cond=cond, seed=3)
    sigma = np.sqrt([float(v.rational) for v in known.eigenvalues])
    order = np.argsort(-sigma)
    return known.X, sigma[order], known.vectors[:, order]


def stays(found, xp):
    """Vectors and residuals are arrays of the library that came in; values are NumPy's."""
    kind = type(xp.ones(1))
    return (
        isinstance(found.vectors, kind) and isinstance(found.residual_block, kind) and type(found.values) is np.ndarray
    )


@LIBRARIES
@pytest.mark.parametrize("k", [1, 5, 24])
@pytest.mark.parametrize("solver", ["svd", "moments"])
@pytest.mark.parametrize("cond", [1e2, 1e10])
@pytest.mark.parametrize("tol", [0.0, 1e-6])
def test_direct_solvers(solver, cond, k, tol, xp):
    X, sigma, V = exact(cond)
    problem = SpectralProblem(Matrix(X, xp), k, tol=tol)
    found = dense_svd(problem, problem.operator, BUDGET) if solver == "svd" else moments(problem, problem.operator)
    assert stays(found, xp)
    u = 2.0**-53
    share = REPAIR_SHARE * tol if solver == "moments" else 0.0
    off = np.abs(np.sqrt(found.leading()) - sigma[:k])
    assert np.all(off <= np.maximum(100 * u * sigma[0], share * sigma[:k]))
    assert np.all(np.abs(found.leading() - sigma[:k] ** 2) <= found.error)
    # a Gram matrix cannot show σ this far below σ₁: to the last digit, or to a share of tol
    lost = k >= 5 if tol == 0 else k == 24 and cond > 1e8
    assert ("repaired" in found.precision) == (solver == "moments" and lost)
    strong = min(k, 8)
    assert largest_sine(np.asarray(found.vectors)[:, :strong], V[:, :strong]) < 1e-8
    residual = X.T @ (X @ np.asarray(found.vectors)) - np.asarray(found.vectors) * found.leading()
    assert np.max(np.abs(residual - np.asarray(found.residual_block))) <= found.rounding


@LIBRARIES
def test_a_repair_that_reads_a_part_of_the_directions(xp):
    X, sigma, _ = exact(1e14)
    wide_matrix = np.hstack([X, np.zeros((128, 40))])
    problem = SpectralProblem(Matrix(wide_matrix, xp), 20)
    found = moments(problem, problem.operator)
    assert stays(found, xp)
    assert "repaired" in found.precision
    assert np.max(np.abs(np.sqrt(found.leading()) - sigma[:20])) <= 1e-14 * sigma[0]


@LIBRARIES
@pytest.mark.parametrize("k", [1, 6, 24])
@pytest.mark.parametrize("solve", [lambda p, M: dense_eigh(p, M, BUDGET), moments], ids=["svd", "moments"])
def test_symmetric_operators(solve, k, xp):
    X, sigma, V = exact(1e2)
    M = Matrix(X.T @ X, xp, symmetric=True)
    found = solve(SpectralProblem(M, k, kind="eigh"), M)
    assert stays(found, xp)
    np.testing.assert_allclose(found.leading(), sigma[:k] ** 2, atol=1e-13 * sigma[0] ** 2)
    assert largest_sine(np.asarray(found.vectors), V[:, :k]) < 1e-8


@LIBRARIES
def test_the_sketch(xp):
    X, sigma, _ = exact(1e6)
    M = Matrix(X.T @ X, xp, symmetric=True)
    found = sketch(SpectralProblem(M, 4, kind="eigh"), M)
    assert stays(found, xp)
    assert np.all(found.leading() <= sigma[:4] ** 2 + found.rounding)
    assert np.all(sigma[:4] ** 2 <= found.upper)
    # the same sketch from its definition
    plain = sketch(SpectralProblem(M, 4, kind="eigh"), Matrix(X.T @ X, np, symmetric=True))
    np.testing.assert_allclose(found.leading(), plain.leading(), rtol=1e-9)
    assert found.estimate == pytest.approx(plain.estimate, rel=1e-6)


@LIBRARIES
@pytest.mark.parametrize("solver", ["svd", "moments", "eigh", "sketch"])
def test_the_zero_operator(solver, xp):
    M = Matrix(np.zeros((6, 6)), xp, symmetric=solver in ("eigh", "sketch"))
    problem = SpectralProblem(M, 3, kind="eigh" if M.symmetric else "svd")
    run = {"svd": lambda: dense_svd(problem, M, BUDGET), "moments": lambda: moments(problem, M)}
    run |= {"eigh": lambda: dense_eigh(problem, M, BUDGET), "sketch": lambda: sketch(problem, M)}
    found = run[solver]()
    V = np.asarray(found.vectors)
    assert stays(found, xp)
    assert not np.any(found.leading())
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-14)


@LIBRARIES
def test_small_functions(xp):
    rng = np.random.default_rng(0)
    Z, W = rng.standard_normal((500, 6)), rng.standard_normal((40, 6))
    S = Z.T @ Z
    R = np.asarray(triangle(xp.asarray(Z)))
    assert R.shape[0] <= 64
    np.testing.assert_allclose(R.T @ R, S, rtol=0, atol=1e-12 * np.trace(S))
    B = np.asarray(root(xp.asarray(S), xp.asarray(W)))
    np.testing.assert_allclose(B @ B.T, W @ np.linalg.solve(S, W.T), rtol=0, atol=1e-13)
    flat = np.ones((3, 3))  # semidefinite: Cholesky needs a little help
    assert np.all(np.isfinite(np.asarray(root(xp.asarray(flat), xp.asarray(W[:, :3])))))
    U, s, Vt = (np.asarray(part) for part in svd(xp.asarray(W), graded=True))
    np.testing.assert_allclose(U * s @ Vt, W, atol=1e-13)
    np.testing.assert_array_equal(np.asarray(positive(xp.asarray([-1.0, 0.0, 2.0]))), [0, 0, 2])
    assert np.asarray(wide(xp.asarray(W.astype(np.float32)))).dtype == np.float64
    np.testing.assert_array_equal(np.asarray(leading(xp.asarray(W), 2)), W[:, :2])
