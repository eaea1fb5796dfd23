"""Solvers against matrices of known spectrum, on NumPy and on strict array-API arrays."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

from ritz._core.errors import AccuracyWarning
from ritz._core.random import gaussian_rows
from ritz.operators import Centered, Dense, Gram
from ritz.operators.base import Operator
from ritz.spectral.plan import Plan, Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.spectral.solvers.chebyshev import chebyshev
from ritz.spectral.solvers.krylov import krylov
from ritz.spectral.solvers.lanczos import lanczos
from ritz.spectral.solvers.power import power
from ritz.spectral.solvers.sketch import sketch
from ritz.spectral.subspace import Subspace
from ritz.testing.angles import largest_sine

ITERATIVE = {"krylov": krylov, "lanczos": lanczos, "chebyshev": chebyshev, "power": power}


class Matrix(Operator):
    """A symmetric matrix of any array library."""

    symmetric = True
    positive = True

    def __init__(self, S, xp=np):
        super().__init__(S.shape, np.float64)
        self.xp = xp
        self.S = xp.asarray(S)
        self.matrix = S

    def trace(self):
        return float(np.trace(self.matrix))

    def _matmat(self, V):
        return self.S @ V

    def _rmatmat(self, U):
        return self.S @ U

    def symbol(self):
        return "S"


def known(p, values, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((p, p)))
    full = np.zeros(p)
    full[: len(values)] = values
    return (Q * full) @ Q.T, Q


@pytest.mark.parametrize("name", ITERATIVE)
@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
def test_iterative_solvers_find_a_known_spectrum(name, xp):
    values = 2.0 ** -np.arange(30)
    S, Q = known(60, values)
    found = ITERATIVE[name](SpectralProblem(Matrix(S, xp), 5, kind="eigh", tol=1e-10), Matrix(S, xp))
    V = np.asarray(found.vectors)
    assert found.converged
    np.testing.assert_allclose(found.leading(), values[:5], atol=1e-14)
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-13)
    residual = np.linalg.norm(S @ V - V * found.leading(), axis=0)
    assert residual.max() <= 1.1e-10
    np.testing.assert_allclose(np.linalg.norm(np.asarray(found.residual_block), axis=0), residual, atol=1e-14)
    assert largest_sine(V, Q[:, :5]) < 1e-8


@pytest.mark.parametrize("name", ["krylov", "chebyshev"])
def test_blocks_see_repeated_eigenvalues(name):
    values = np.repeat([4.0, 2.0, 1.0], [3, 4, 20])
    S, _ = known(80, values)
    found = ITERATIVE[name](SpectralProblem(Matrix(S), 7, kind="eigh", tol=1e-9), Matrix(S))
    np.testing.assert_allclose(found.leading(), values[:7], atol=1e-12)


def test_krylov_restarts_when_its_basis_is_full():
    values = np.arange(1, 401, dtype=float)[::-1] ** -0.5
    S, _ = known(400, np.sort(values)[::-1])
    found = krylov(SpectralProblem(Matrix(S), 6, kind="eigh", tol=1e-9, basis=16 * 400 * 60), Matrix(S))
    assert found.converged
    np.testing.assert_allclose(found.leading(), np.sort(values)[::-1][:6], rtol=1e-12)


def test_float32_iterations_finish_in_float64():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 400)) * (np.arange(1, 401) ** -0.5)
    A = Dense(X)
    problem = SpectralProblem(A, 5, tol=1e-6)
    plan = Plan("krylov", "columns", "float32 then float64", 1, 1, 1, ())
    spectrum = solve(problem, plan)
    true = np.linalg.svd(X, compute_uv=False)[:5] ** 2
    assert spectrum.certificate.precision == "float32 iterations, float64 finish"
    np.testing.assert_allclose(spectrum.values, true, rtol=1e-10)
    assert spectrum.certificate.residuals.max() <= 1e-6 * true[0]


def test_a_solver_that_gives_up_says_so(monkeypatch):
    monkeypatch.setattr("ritz.spectral.solvers.power.MAX_POWER_STEPS", 3)
    S, _ = known(50, np.linspace(1, 0.9, 50))
    M = Matrix(S)
    plan = choose(Shape(50, 50, symmetric=True), 2, solver="power")
    with pytest.warns(AccuracyWarning, match="power reached a residual of .* instead of tol=1e-06"):
        spectrum = solve(SpectralProblem(M, 2, kind="eigh"), plan)
    assert not spectrum.certificate.converged
    assert "not reached" in str(spectrum.certificate)


def test_the_subspace_keeps_its_identity_through_a_restart():
    S, _ = known(40, np.arange(40, 0, -1.0))
    M = Matrix(S)
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((40, 12)))
    space = Subspace(40, 20)
    space.extend(Q[:, :6], M.matmat(Q[:, :6]))
    space.extend(Q[:, 6:], M.matmat(Q[:, 6:]))
    before = space.theta[:4].copy()
    np.testing.assert_allclose(np.linalg.eigvalsh(Q.T @ S @ Q)[::-1], space.theta, rtol=1e-12)
    np.testing.assert_allclose(
        space.residual_block(3), S @ space.vectors(3) - space.vectors(3) * space.theta[:3], atol=1e-11
    )
    space.restart(4)
    np.testing.assert_allclose(space.theta, before)
    np.testing.assert_allclose(space.MV, S @ space.V, atol=1e-11)


def test_the_sketch_encloses_and_estimates():
    """Enclosures hold always; the leave-one-out estimate of ‖M − M̂‖_F is right within a factor of three."""
    values = 0.8 ** np.arange(120)
    for seed in range(20):
        S, _ = known(120, values, seed)
        plan = choose(Shape(120, 120, symmetric=True), 5, solver="sketch")
        problem = SpectralProblem(Matrix(S), 5, kind="eigh", tol=0.5, seed=seed)
        found = sketch(problem, Matrix(S))
        c = solve(problem, plan).certificate
        assert c.kind == "estimate"
        assert np.all(c.lower <= values[:5])
        assert np.all(values[:5] <= c.upper)
        # width 20 of the sketch: M̂ from an independent computation
        omega = np.linalg.qr(gaussian_rows(problem.start, 1, 0, 120, 20))[0]
        Y = S @ omega
        approximate = Y @ np.linalg.solve(omega.T @ Y, Y.T)
        true = np.linalg.norm(S - approximate, "fro")
        assert true / 3 < found.estimate < 3 * true
        np.testing.assert_allclose(found.leading(), np.linalg.eigvalsh(approximate)[::-1][:5], rtol=1e-6)


@pytest.mark.parametrize("decay", ["slow", "flat", "low rank"])
@pytest.mark.parametrize("columns", [400, 60], ids=["whole basis", "restarted"])
def test_a_float32_basis_serves_a_float64_answer(decay, columns):
    """The float32 phase holds neither images nor float64 vectors, restarted or not; the answer is a float64 one."""
    p, k = 400, 10
    values = {
        "slow": 1 / np.arange(1.0, p + 1),
        "flat": 1 + 0.5 * np.exp(-np.arange(p) / 5.0),
        "low rank": np.where(np.arange(p) < 7, 2.0 ** -np.arange(p), 0.0),
    }[decay]
    X = (known(p, np.sqrt(values))[0] * 1.0).astype(np.float32)
    truth = np.linalg.svd(X.astype(np.float64), compute_uv=False)[:k] ** 2
    A = Dense(X)
    problem = SpectralProblem(A, k=k, kind="svd", n=p, d=p, tol=1e-6, basis=16 * p * columns)
    found = krylov(problem, Gram(A), narrow=True)
    assert found.converged
    assert found.precision == "float32 iterations, float64 finish"
    V = found.vectors
    Y = X.astype(np.float64)
    assert V.dtype == np.float64
    assert np.max(np.abs(V.T @ V - np.eye(V.shape[1]))) < 1e-13
    residual = np.linalg.norm(Y.T @ (Y @ V) - V * found.values[: V.shape[1]], axis=0)
    assert np.max(residual) <= 1e-6 * truth[0]
    assert found.values[: len(truth)] == pytest.approx(truth, abs=1e-10 * truth[0])
    if np.isfinite(found.completeness.ceiling):
        assert np.linalg.svd(Y, compute_uv=False)[k] ** 2 <= found.completeness.ceiling * (1 + 1e-12)


def test_wide_float64_rows_reach_float32_products_centred():
    """Offsets of turned rows are taken off before rounding; without any, rows are only rounded."""
    X = np.random.default_rng(3).standard_normal((30, 500)) + 1e6
    mean, V = X.mean(axis=0), np.random.default_rng(4).standard_normal((30, 4))
    for operator, Z in ((Centered(Dense(X), mean), X - mean), (Dense(X - mean), X - mean)):
        M = Gram(operator.at(np.float32).T)
        assert M.matmat(V) == pytest.approx(Z @ (Z.T @ V), abs=1e-4 * np.linalg.norm(Z, 2) ** 2)
