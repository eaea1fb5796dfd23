"""Chains of single vectors that are tried before the Gram matrix: what they find, and what noise gets instead."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.faint import narrowed
from ritz.data.passes.statistics import Statistics

SIDES = [(500, 9_000), (4_000, 500)]


def known(n, d, sigma, seed, dtype):
    """A table of known singular values, to the rounding of its numbers."""
    rng = np.random.default_rng(seed)
    p = min(n, d)
    U = np.linalg.qr(rng.standard_normal((n, p)))[0]
    V = np.linalg.qr(rng.standard_normal((d, p)))[0]
    return ((U * sigma) @ V.T).astype(dtype), V


def inside(model, exact) -> bool:
    """Whether eigenvalues that a decomposition in float64 knows lie in their intervals, but for its own rounding."""
    certificate, slack = model.certificate_, 1e-12 * exact[0]
    return bool(np.all(certificate.lower <= exact + slack) and np.all(exact <= certificate.upper + slack))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), SIDES)
def test_what_a_tried_chain_finds_is_known_and_proved(seed, n, d, dtype):
    sigma = 100.0 * 0.9 ** np.arange(min(n, d)) + 1e-3
    X, V = known(n, d, sigma, seed, dtype)
    model = ritz.SVD(2).fit(X)
    assert model.plan_.solver == "lanczos"
    assert model.certificate_.labelled.all()
    exact = np.linalg.svd(X.astype(np.float64), compute_uv=False)[:2] ** 2
    assert inside(model, exact)
    assert np.all(np.abs(np.sum(model.components_ * V[:, :2].T, axis=1)) > 1 - 1e-6)
    assert model.verify(X)


@pytest.mark.parametrize(("n", "d"), SIDES)
@pytest.mark.parametrize("model", [ritz.SVD(2), ritz.PCA(2)], ids=lambda one: type(one).__name__)
def test_noise_of_float32_gets_the_gram_matrix_in_float32(seed, n, d, model):
    X = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)
    fitted = model.fit(X)
    plan = fitted.plan_
    assert plan.reasons[0] == "lanczos was planned"
    assert (plan.solver, plan.precision) == ("moments", "float32")
    assert fitted.certificate_.labelled.all()
    Z = X.astype(np.float64)
    Z = Z - Z.mean(axis=0) if isinstance(model, ritz.PCA) else Z
    exact = np.linalg.svd(Z, compute_uv=False)[:2] ** 2
    assert inside(fitted, exact)
    assert np.all(np.abs(np.float64(fitted.singular_values_) ** 2 - exact) <= 1e-6 * exact[0])
    assert fitted.verify(X)


@pytest.mark.parametrize("size", [1e-14, 1e12])
def test_numbers_beyond_the_range_of_their_squares_are_not_formed_in_float32(seed, size):
    X = (size * np.random.default_rng(seed).standard_normal((300, 9_000))).astype(np.float32)
    stats = Statistics(blocks_of(X), None, np.float64)
    assert not narrowed(stats)
    assert stats.precision is np.float64
    fitted = ritz.SVD(1).fit(X)
    exact = np.linalg.svd(X.astype(np.float64), compute_uv=False)[0]
    assert abs(fitted.singular_values_[0] - exact) <= 1e-6 * exact


def test_a_state_that_is_known_or_weighted_stays_in_float64(seed):
    X = np.random.default_rng(seed).standard_normal((300, 50)).astype(np.float32)
    known, weighted, wide = (
        Statistics(blocks_of(X), None, np.float64),
        Statistics(blocks_of(X), np.ones(300), np.float64),
        Statistics(blocks_of(X.astype(np.float64)), None, np.float64),
    )
    assert known.moments.rows == 300
    assert not any(map(narrowed, (known, weighted, wide)))
    fresh = Statistics(blocks_of(X), None, np.float64)
    assert narrowed(fresh)
    assert fresh.precision is np.float32
    assert np.array_equal(fresh.shift, fresh.shift.astype(np.float32))
