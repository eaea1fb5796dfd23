"""Certificates of symmetric operators, checked against the operator: right ones pass, changed ones do not."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ritz
from ritz.operators import Dense, Symmetric
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.spectral.verify import operator as module
from ritz.spectral.verify.operator import verify_operator

P = 40
ITERATIVE = ["krylov", "lanczos", "chebyshev", "power"]
SPECTRA = {
    "positive": 0.8 ** np.arange(P),
    "indefinite": np.linspace(1, -0.9, P),
    "one small positive": np.concatenate([[1e-3], -np.linspace(0.01, 5, P - 1)]),
    "negative": -np.linspace(1, 1000, P),
    "nothing above zero": -np.maximum(np.arange(P) - 2.0, 0),
    "repeated": np.concatenate([[3, 3, 3, 2, 2], np.linspace(1, 0, P - 5)]),
}


def matrix(values):
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((P, P)))[0]
    S = (Q * values) @ Q.T
    return (S + S.T) / 2


@cache
def certified(name, k, solver, tol=1e-6):
    S = matrix(SPECTRA[name])
    plan = choose(Shape(P, P, symmetric=True), k, solver=solver, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solve(SpectralProblem(Symmetric(S), k, kind="eigh", tol=tol), plan).certificate


@pytest.fixture(params=[2_000, 10], ids=["written out", "searched"])
def size(request, monkeypatch):
    """Up to which operators are written out."""
    monkeypatch.setattr(module, "DENSE", request.param)
    return request.param


@pytest.mark.parametrize("name", list(SPECTRA))
def test_a_right_certificate_passes(name, size):
    S = matrix(SPECTRA[name])
    for k in (1, 3, P):
        for solver in ["svd", "moments", *ITERATIVE[: 4 if name == "positive" else 3]]:  # power takes seconds elsewhere
            for tol in (1e-1, 1e-4) if solver in ITERATIVE else (1e-6,):
                checked = verify_operator(certified(name, k, solver, tol), Symmetric(S))
                assert checked, (k, solver, tol, checked.words)


@pytest.mark.parametrize("name", list(SPECTRA))
def test_a_changed_number_does_not(name, size):
    S = matrix(SPECTRA[name])
    for solver in ("svd", "krylov"):
        c = certified(name, 3, solver)
        for field in ("values", "lower", "upper"):
            for i in range(3):
                for factor in (1 - 1e-3, 1 + 1e-3, 2.0):
                    changed = getattr(c, field).copy()
                    changed[i] *= factor
                    if abs(changed[i] - getattr(c, field)[i]) > 1e-9 * np.max(np.abs(SPECTRA[name])):
                        assert not verify_operator(replace(c, **{field: changed}), Symmetric(S)), (solver, field, i)
        for change in ({"labelled": ~c.labelled}, {"total": c.total * 1.001}, {"rounding": 2 * c.rounding}):
            assert not verify_operator(replace(c, **change), Symmetric(S)), (solver, change)


@pytest.mark.parametrize("solver", ITERATIVE)
def test_a_fit_that_converged_is_not_said_to_have_failed(solver, size):
    S = matrix(SPECTRA["positive"])
    c = certified("positive", 3, solver, 1e-4)
    assert c.converged
    checked = verify_operator(replace(c, converged=False), Symmetric(S))
    assert checked.words == ("said not to have converged, with residuals below the tolerance",)


def test_an_inner_pair_that_was_left_out_is_found_whatever_the_labels_say(size):
    S = matrix(SPECTRA["positive"])
    c = certified("positive", 3, "krylov", 1e-8)
    keep = [0, 2]
    fields = {name: getattr(c, name)[keep] for name in ("values", "lower", "upper", "residuals")}
    frame = {**c.frame, "vectors": c.frame["vectors"][:, keep], "grounds": None}
    lying = replace(
        c, **fields, labelled=np.zeros(2, bool), angles=np.full(2, np.nan), clusters=(), frame=frame, ceiling=0.7
    )  # λ₂ = 0.8 is missing, λ₃ = 0.64 is there
    assert any("was missed" in line for line in verify_operator(lying, Symmetric(S)).words)
    assert verify_operator(replace(lying, ceiling=0.8 + 1e-6), Symmetric(S))


def test_what_was_not_reached_is_told_in_multiples_of_an_eigenvalue():
    S = matrix(SPECTRA["negative"])
    plan = choose(Shape(P, P, symmetric=True), 1, solver="chebyshev", tol=1e-1)
    with pytest.warns(Warning, match=r"residual of [0-9.]+e[+-]0[0-3].max.λ. instead of tol=0.1"):
        c = solve(SpectralProblem(Symmetric(S), 1, kind="eigh", tol=1e-1), plan).certificate
    (told,) = (line for line in c.sentences() if "not reached" in line)
    assert told.endswith("·max|λ|")
    assert float(told.removesuffix("·max|λ|").rpartition(" ")[2]) == pytest.approx(
        c.residuals[0] / -c.values[0], rel=0.1
    )


def test_of_a_matrix_of_low_rank_the_search_finds_no_rounding():
    """Its Krylov space ends after three steps; what is left is rounding, turned towards the leading vectors."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((2500, 8)))[0]
    A = Dense(np.ascontiguousarray((U * 10.0 ** np.array([3, 2.3, -3, -3.1, -3.2, -3.3, -3.7, -3.9])).T))
    c = solve(SpectralProblem(A, k=2), choose(Shape(*A.shape), 2, solver="svd")).certificate
    for _ in range(3):
        assert verify_operator(c, A, "svd"), "a right certificate"


@pytest.mark.parametrize("n", [8, 20, 50, 200])
def test_the_largest_of_a_crowd_of_equal_values_is_found(n):
    gaps = 2.0**0.5 * (1 - np.eye(n))
    assert ritz.MDS(2, metric="precomputed").fit(gaps).verify(gaps)
