"""Routes of tall tables that a sample of their rows decides: taken where it says so, told, and never what is proved."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ritz
from ritz.operators.framed import Rows
from ritz.operators.gram import Gram
from ritz.spectral.certificate.completeness import by_settled
from ritz.spectral.plan import Shape, route
from ritz.spectral.problem import Completeness
from ritz.spectral.sampled_plan import by_sample, expected_passes, sampled
from ritz.spectral.solvers import krylov
from ritz.spectral.subspace import Subspace

N, D = 14_000, 1_200


def table(sigma, seed: int, dtype=np.float32):
    """Rows of Gaussian numbers, columns times σ, turned by two reflections."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, len(sigma)), np.float32) * np.asarray(sigma, np.float32)
    for _ in range(2):
        v = rng.standard_normal(len(sigma)).astype(np.float32)
        v /= np.linalg.norm(v)
        X -= np.multiply.outer(2 * (X @ v), v)
    return X.astype(dtype)


FAST = np.exp(-np.arange(D) / 2.0) + 1e-4
CLUSTERS = 0.9 ** (np.arange(D) // 2) + 1e-3


def angle(a, b) -> float:
    """Largest principal angle of two spaces, rows of a and b."""
    a, b = np.linalg.qr(np.float64(a.T))[0], np.linalg.qr(np.float64(b.T))[0]
    return float(np.linalg.norm(a - b @ (b.T @ a), 2))


@pytest.mark.parametrize("model", [ritz.SVD(3), ritz.PCA(3)], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_decay_are_iterated_and_the_answer_is_that_of_the_gram_matrix(seed, model, dtype):
    X = table(FAST, seed, dtype)
    fitted = model.fit(X)
    assert fitted.plan_.solver == "krylov"
    assert "256 of the rows say that about" in str(fitted.plan_)
    assert "several times as many" not in str(fitted.plan_)
    told = ritz.plan(X, type(model)(3))
    assert (told.solver, told.reasons) == (fitted.plan_.solver, fitted.plan_.reasons)
    assert abs(fitted.plan_.actual_passes - fitted.plan_.passes) <= 2
    other = type(model)(3, solver="moments").fit(X)
    assert angle(fitted.components_, other.components_) < 1e-4
    np.testing.assert_allclose(fitted.singular_values_, other.singular_values_, rtol=1e-6)
    assert fitted.certificate_.labelled.all()
    assert fitted.verify(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_noise_is_formed_at_once(seed, dtype):
    X = table(np.ones(D), seed, dtype)
    plan = ritz.SVD(2).fit(X).plan_
    assert plan.solver in ("moments", "refined")
    assert plan.actual_passes <= 3
    assert not any("was planned" in reason for reason in plan.reasons)
    assert ritz.plan(X, ritz.SVD(2)).solver == plan.solver
    if dtype == np.float64:  # which shapes alone would have iterated
        assert route(Shape(N, D, 8), 2, solver="auto", tol=1e-6, memory=None).solver == "krylov"
        assert any("would be needed otherwise" in reason for reason in plan.reasons)


def test_rows_are_looked_at_as_they_are_decomposed(seed):
    noise = table(np.ones(D), seed)
    far = noise + np.float32(50)
    assert ritz.plan(far, ritz.SVD(1)).solver == "krylov"  # the mean is what decays
    assert ritz.plan(far, ritz.PCA(1)).solver == "moments"
    long = noise.copy()
    long[:, :3] *= [400, 200, 100]
    assert ritz.plan(long, ritz.PCA(3)).solver == "krylov"
    assert ritz.plan(long, ritz.PCA(3, scale=True)).solver == "moments"


def test_nobody_looks_where_the_route_is_asked_for_or_needs_more(seed):
    X = table(FAST, seed)

    def said(model, **more) -> bool:
        return "of the rows say" in str(ritz.plan(X, model, **more))

    assert said(ritz.PCA(2))
    assert not said(ritz.PCA(2, solver="krylov"))
    assert not said(ritz.PCA(2, mergeable=True))
    assert not said(ritz.PCA(0.9))
    assert not said(ritz.PCA(2), sample_weight=np.ones(N))
    assert sampled(Shape(N, D, 4, stored=1000), 2, ritz.plan(X, ritz.PCA(2))) == 0
    assert sampled(Shape(D, N, 4), 2, ritz.plan(X, ritz.PCA(2))) == 0


def test_a_limit_of_memory_keeps_its_plan(seed):
    X = table(FAST, seed)
    plan = route(Shape(N, D, 4), 2, solver="auto", tol=1e-6, memory=None)
    Z = np.float64(X[:256])
    assert by_sample(plan, Shape(N, D, 4), 2, Z, 1e-6, None).solver == "krylov"
    assert by_sample(plan, Shape(N, D, 4), 2, Z, 1e-6, 1e6) is plan


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_named_as_ever(seed, bad):
    X = table(FAST, seed)
    X[7, 3] = bad
    for rows in (X, np.where(np.isfinite(X), X, bad)):
        with pytest.raises(ValueError, match="row 7"):
            ritz.PCA(2).fit(rows)
    X[:] = bad
    with pytest.raises(ValueError, match="row 0"):
        ritz.SVD(2).fit(X)


def test_passes_that_a_sample_expects():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((256, D))
    fast, slow, noise = (expected_passes(Z * s, 3, 16, 1e-6) for s in (FAST, np.arange(1, D + 1) ** -0.5, 1.0))
    assert 5 <= fast <= 6 < slow <= 9 < 20 < noise
    assert expected_passes(Z * FAST, 3, 16, 1e-3) <= fast <= expected_passes(Z * FAST, 3, 16, 1e-12)
    few = np.zeros((256, D))
    few[:, :5] = rng.standard_normal((256, 5))
    assert expected_passes(few, 3, 16, 1e-6) == 5
    assert expected_passes(np.zeros((256, D)), 3, 16, 1e-6) is None
    assert expected_passes(Z * np.inf, 3, 16, 1e-6) is None
    assert math.isfinite(expected_passes(np.ones((256, D)) + 1e-9 * Z, 1, 16, 1e-6))


@pytest.mark.parametrize(("k", "sigma"), [(1, CLUSTERS), (4, CLUSTERS), (9, CLUSTERS), (6, FAST)])
def test_the_finish_measures_as_many_vectors_as_prove_the_answer(seed, k, sigma):
    X = table(sigma, seed)
    found = ritz.SVD(k, solver="krylov").fit(X).certificate_
    true = np.linalg.eigvalsh(np.float64(X).T @ np.float64(X))[::-1]
    assert found.labelled.all()
    assert true[k] <= found.ceiling < true[k - 1]
    slack = 1e-13 * true[0]
    assert np.all(found.lower - slack <= true[:k])
    assert np.all(true[:k] <= found.upper + slack)


def test_vectors_that_nobody_has_measured_prove_nothing_and_rounding_counts(monkeypatch):
    """Residuals beyond those that are looked at are not zero, and Ritz values are known to rounding."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 90)) * 0.99 ** np.arange(90)
    M = Gram(Rows(X))
    V = np.linalg.qr(M.matmat(rng.standard_normal((90, 50))))[0]
    space = Subspace(90, 50)
    space.extend(V, M.matmat(V))
    told = []
    monkeypatch.setattr(krylov, "by_settled", lambda *given: told.append(given) or by_settled(*given))
    krylov.package(M, space, 2, Completeness("none", np.inf, 0.0, ""), True, 1)
    theta, sizes, k, total, slack = told[-1]
    most = 2 * 2 + krylov.SPARED
    true = np.linalg.norm(M.matmat(space.vectors(most)) - space.vectors(most) * theta[:most], axis=0)
    assert np.all(sizes[:most] >= true - slack)
    assert np.isinf(sizes[most:]).all()
    assert (len(sizes), k, total) == (50, 2, M.trace())
    assert slack >= 0.5 * krylov.rounding_of(M, float(theta[0])) > 0  # which grows with what is measured
