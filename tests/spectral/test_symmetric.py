"""Problems of kind "eigh": every claim of every solver on matrices of any sign, against the known eigenvalues."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ritz._core.errors import InputError, ParameterError
from ritz.operators import Dense, Gram, Identity, Sparse, Sum, Symmetric
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve

SOLVERS = ["svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch"]
P = 120


def spectra():
    tail = 0.05 * 0.9 ** np.arange(P - 3)
    return {
        "positive": np.concatenate([[0.5, 0.5, 0.2], tail]),
        "indefinite": np.concatenate([[3.0, 1.0, 0.4], [-7.0], tail - 0.02])[:P],
        "mostly negative": np.concatenate([[0.3, 0.1], -np.linspace(0.01, 5, P - 2)]),
        "negative": -np.concatenate([[0.2, 0.5, 1.0], np.linspace(2, 9, P - 3)]),
    }


def matrix(values, seed=0):
    """Diagonal, permuted and turned by a reflection: eigenvalues known to a few roundings."""
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(len(values))
    H = np.eye(len(values)) - 2 * np.outer(v, v) / (v @ v)
    S = H @ np.diag(rng.permutation(values)) @ H
    return (S + S.T) / 2


def solved(operator, k, solver, tol=1e-6, seed=0):
    plan = choose(Shape(*operator.shape, symmetric=True), k, solver=solver, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solve(SpectralProblem(operator, k, kind="eigh", tol=tol, seed=seed), plan)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", list(spectra()))
def test_no_claim_is_stronger_than_the_truth(name, solver, form):
    true = np.sort(spectra()[name])[::-1]
    positive = name == "positive"
    S = matrix(spectra()[name])
    if solver == "sketch" and not positive:
        with pytest.raises(ParameterError, match="needs an operator without negative eigenvalues"):
            solved(Symmetric(form(S)), 2, solver)
        return
    for k in (1, 2, 5):
        c = solved(Symmetric(form(S), positive=positive), k, solver).certificate
        slack = 1e-13 * np.max(np.abs(true))  # of the reflection
        assert c.total == pytest.approx(true.sum(), abs=1e-12 * np.abs(true).sum())
        for i in range(k):
            held = true[i : i + 1] if c.labelled[i] else true
            assert np.any((c.lower[i] - slack <= held) & (held <= c.upper[i] + slack)), (name, solver, k, i)
        assert true[k] <= c.ceiling + slack
        if solver != "sketch" and c.converged:
            np.testing.assert_allclose(c.values, true[:k], atol=1e-5 * np.max(np.abs(true)))
        if not positive:
            assert "trace" not in c.completeness or "only through the trace" in c.completeness


@pytest.mark.parametrize("name", list(spectra()))
@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos"])
def test_these_solvers_reach_the_largest_of_any_sign(name, solver):
    true = np.sort(spectra()[name])[::-1]
    c = solved(Symmetric(matrix(spectra()[name])), 3, solver, tol=1e-8).certificate
    assert c.converged
    np.testing.assert_allclose(c.values, true[:3], atol=1e-9 * np.max(np.abs(true)))


def test_a_trace_that_leaves_room_proves_nothing():
    """0.2 follows two eigenvalues 0.5: a solver that stops at k has not proved that nothing was missed."""
    values = np.concatenate([[0.5, 0.5, 0.2], 0.05 * 0.9 ** np.arange(397)])
    c = solved(Symmetric(np.diag(values), positive=True), 2, "power").certificate
    assert c.total == pytest.approx(1.7, rel=1e-12)
    assert c.ceiling >= 0.2
    assert not c.labelled.any()


@pytest.mark.parametrize("kind", [Dense, lambda S: Sparse(sp.csr_matrix(S))], ids=["dense", "sparse"])
def test_a_table_is_no_symmetric_operator(kind):
    with pytest.raises(InputError, match="says that it is symmetric") as error:
        SpectralProblem(kind(np.eye(4)), 2, kind="eigh")
    assert "Symmetric(S)" in str(error.value)
    assert SpectralProblem(kind(np.eye(4)), 2).kind == "svd"


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", [Dense, lambda S: Sparse(sp.csr_matrix(S))], ids=["dense", "sparse"])
def test_a_table_that_happens_to_be_symmetric(kind, solver):
    """diag(½, ½, 0.2, …) once had the total of two eigenvalues, and nothing missed: 0.2 was."""
    values = np.concatenate([[0.5, 0.5, 0.2], 0.05 * 0.9 ** np.arange(397)])
    S = np.diag(values)
    with pytest.raises(InputError, match="says that it is symmetric"):
        solved(kind(S), 2, solver)
    for A, true, kind_of in (
        (kind(S), np.square(values), "svd"),
        (Symmetric(kind(S), positive=True), values, "eigh"),
        (Symmetric(S, positive=True), values, "eigh"),
    ):
        plan = choose(Shape(*A.shape, symmetric=kind_of == "eigh"), 2, solver=solver)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            c = solve(SpectralProblem(A, 2, kind=kind_of), plan).certificate
        told = A.frobenius2() if kind_of == "svd" else A.trace()
        if told is None and solver != "svd":
            assert any("does not tell its trace" in note for note in c.notes)
        else:
            assert c.total == pytest.approx(true.sum(), rel=1e-12)
        assert true[2] <= c.ceiling
        assert np.all(c.lower <= true[:2])
        assert np.all((true[:2] <= c.upper) | ~c.labelled)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_what_is_not_symmetric_or_not_positive_is_refused(form):
    S = matrix(spectra()["indefinite"])
    off = S.copy()
    off[0, 3] += 1e-9
    with pytest.raises(InputError, match="equals its transpose"):
        Symmetric(form(off))
    with pytest.raises(InputError, match="square"):
        Symmetric(form(S[:, :-1]))
    with pytest.raises(InputError, match="no eigenvalue is negative"):
        Symmetric(form(S), positive=True)
    holed = S.copy()
    holed[1, 1] = np.nan
    with pytest.raises(InputError, match="finite"):
        Symmetric(form(holed))


@pytest.mark.parametrize("solver", ["krylov", "lanczos", "svd", "power", "chebyshev", "moments"])
def test_a_false_claim_of_no_negative_eigenvalue_is_met(solver):
    """A sparse matrix whose small minors are fine: only the solver can tell."""
    n = 30
    S = sp.csr_matrix(np.full((n, n), -0.4) + 1.4 * np.eye(n))  # one eigenvalue 1 − 0.4·29, all others 1.4
    with pytest.raises(InputError, match="said to have no negative eigenvalue"):
        solved(Symmetric(S, positive=True), n - 1, solver)


def test_sums_and_grams_know_their_trace_and_sign():
    X = np.random.default_rng(0).standard_normal((30, 8))
    M = Gram(Dense(X))
    assert M.positive
    assert M.trace() == pytest.approx(np.sum(X**2), rel=1e-14)
    total = Sum(M, Identity(8), 2.0)
    assert total.positive
    assert total.trace() == pytest.approx(np.sum(X**2) + 16, rel=1e-14)
    less = Sum(M, Identity(8), -200.0)
    assert not less.positive
    true = np.linalg.eigvalsh(X.T @ X)[::-1] - 200
    np.testing.assert_allclose(solved(less, 3, "krylov").values, true[:3], rtol=1e-9)
