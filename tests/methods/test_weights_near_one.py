"""Σw just above 1: the divisor Σw − 1 keeps its digits, in scales, variances and states."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ritz
from ritz.data.passes.moments import Moments
from ritz.data.passes.weights import sum_of_weights
from ritz.testing import true_spectrum

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")


def problem(excess, seed=0, n=30, d=4):
    rng = np.random.default_rng(seed)
    w = rng.random(n)
    return rng.standard_normal((n, d)) * [3, 1, 0.5, 0.1] + 2, w / w.sum() * (1 + excess)


def exact_divisor(w):
    return sum(map(Fraction, w.tolist())) - 1


def holds(certificate, truth):
    """Half-widths from the values to the truth, at most one."""
    half = (certificate.upper - certificate.lower) / 2
    assert np.all(np.abs(certificate.values - truth.values[: len(half)]) <= half + truth.radii[: len(half)])


@pytest.mark.parametrize("low", [0, -60, -1070])
def test_sums_of_weights_of_any_size_are_exact(low):
    rng = np.random.default_rng(5)
    w = np.ldexp(rng.random(4001), rng.integers(low - 3, 0, 4001))
    high, rest = sum_of_weights(w)
    exact = sum(map(Fraction, w.tolist()))
    assert high == float(exact)
    assert rest == float(exact - Fraction(high))
    big = np.array([1.5e308, 3.0, 5e-324])  # a grid above these would leave the range
    assert sum_of_weights(big) == (1.5e308, 3.0)


@pytest.mark.parametrize("excess", [1e-2, 1e-5, 1e-8, 1e-11])
def test_the_sum_is_exact_in_two_parts(excess):
    _, w = problem(excess, n=1000)
    high, low = sum_of_weights(w)
    assert abs((Fraction(high) - 1) + Fraction(low) - exact_divisor(w)) <= exact_divisor(w) * Fraction(2) ** -52


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-10])
def test_standardised_fits_hold_their_enclosures(solver, excess):
    X, w = problem(excess)
    model = ritz.PCA(2, scale=True, solver=solver, tol=1e-9).fit(X, sample_weight=w)
    holds(model.certificate_, true_spectrum(X, center=True, scale=True, weights=w))
    assert model.verify(X, sample_weight=w)


@pytest.mark.parametrize("excess", [1e-4, 1e-9])
def test_variances_divide_by_the_exact_divisor(excess):
    X, w = problem(excess, seed=1)
    truth = true_spectrum(X, center=True, weights=w)
    model = ritz.PCA().fit(X, sample_weight=w)
    np.testing.assert_allclose(model.explained_variance_, truth.values / float(exact_divisor(w)), rtol=1e-12)
    assert model.verify(X, sample_weight=w)


@pytest.mark.parametrize("excess", [1e-4, 1e-9])
def test_states_keep_the_digits_of_the_divisor(excess, tmp_path):
    X, w = problem(excess, seed=2)
    truth = true_spectrum(X, center=True, scale=True, weights=w)
    parts = [slice(0, 7), slice(7, 19), slice(19, 30)]
    stream = ritz.PCA(scale=True)
    for part in parts:
        stream.partial_fit(X[part], sample_weight=w[part])
    models = [ritz.PCA(scale=True).partial_fit(X[part], sample_weight=w[part]) for part in parts]
    for model in (stream, models[2].merge(*models[:2])):
        holds(model.certificate_, truth)
        assert model.verify(X, sample_weight=w)
        ritz.save(model, tmp_path / "m.ritz")
        assert ritz.load(tmp_path / "m.ritz").verify(X, sample_weight=w)
    header, arrays = stream._need_state().arrays()
    assert Moments.from_arrays(header, arrays).weight_low == stream._need_state().weight_low


def test_subtracting_down_to_a_sum_near_one():
    X, w = problem(1e-5, seed=3)
    more = np.random.default_rng(9).standard_normal((5, 4))
    both = ritz.PCA().fit(np.vstack([X, more]), sample_weight=np.append(w, np.full(5, 0.7)))
    rest = both.subtract(ritz.PCA().fit(more, sample_weight=np.full(5, 0.7)))
    values = true_spectrum(X, center=True, weights=w).values / float(exact_divisor(w))
    np.testing.assert_allclose(rest.explained_variance_, values, rtol=1e-11)


def test_insight_divides_by_the_same_divisor():
    X, w = problem(0.5, seed=4)
    model = ritz.PCA(2).fit(X, sample_weight=w)
    scores = model.transform(X)
    np.testing.assert_allclose(ritz.insight.t2(model, X), np.sum(scores**2 / model.explained_variance_, axis=1))
