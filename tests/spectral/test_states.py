"""States that lost something, float32-born or subtracted, under every solver: bounds and totals against the truth."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import ritz
from ritz.spectral.plan import SOLVERS
from ritz.testing import known_hadamard, true_spectrum

# 16,384 rows of 160 columns in each half, more than fifty for each: products are formed in float32
TABLE = known_hadamard("slow", 32768, 160, cond=30.0, seed=11, dtype=np.float32, offset=100)
VALUES = np.sort([float(v.rational) for v in TABLE.eigenvalues])[::-1]
U32 = 2.0**-24


@pytest.fixture(scope="module")
def halves():
    return [ritz.PCA(6, mergeable=True).fit(TABLE.X[rows]) for rows in (slice(0, None, 2), slice(1, None, 2))]


def solved(model, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = model.set_params(solver=solver, tol=1e-9).certificate_
    return certificate


def holds(c, values):
    for i, (low, high) in enumerate(zip(c.lower, c.upper, strict=True)):
        held = values[i : i + 1] if c.labelled[i] else values
        assert np.any((low <= held) & (held <= high)), i
    assert values[len(c.values)] <= c.ceiling


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_state_of_float32_products(halves, solver):
    assert all(model.certificate_.unit_roundoff == U32 for model in halves)
    c = solved(halves[0].merge(halves[1]), solver)
    holds(c, VALUES)
    error = abs(c.values[0] - VALUES[0])
    assert error > 100 * 2.0**-53 * VALUES[0], "the state is better than float32: this test shows nothing"
    assert solver == "sketch" or error <= c.rounding  # what a sketch lost is more than rounding


@pytest.mark.parametrize("solver", SOLVERS)
def test_its_arithmetic_is_stated(halves, solver):
    c = solved(halves[0].merge(halves[1]), solver)
    assert c.unit_roundoff == U32
    assert "float32 products" in c.precision
    assert abs(c.total - VALUES.sum()) <= 100 * U32 * VALUES.sum()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1.0, 1e4, 1e7])
def test_a_subtracted_state(solver, size):
    """Rows ``size`` times as large go again, which leaves the rounding of squares ``size``² times as large."""
    known = known_hadamard("geometric", 64, 12, cond=4.0, seed=5)
    values = np.sort([float(v.rational) for v in known.eigenvalues])[::-1]
    large = size * np.random.default_rng(0).standard_normal((300, 12))
    fit = lambda X: ritz.PCA(3).fit(X)  # noqa: E731
    rounding = size * size * 2.0**-53 > 1e-3  # all that is left
    with pytest.warns(ritz.AccuracyWarning, match="is rounding") if rounding else nullcontext():
        left = fit(np.concatenate([known.X, large])).subtract(fit(large))
    c = solved(left, solver)
    holds(c, values)
    taken = 2.0**-53 * np.sum(large**2)
    assert c.rounding >= taken
    assert np.all(c.width <= 1000 * (taken + 2.0**-53 * values[0]) + 4 * c.residuals)


@pytest.mark.parametrize("draw", range(8))
def test_a_scaled_column_of_which_nothing_is_left(draw):
    """The first column of what is left varies by less than the rounding that the rows taken off left in it."""
    rng = np.random.default_rng(1000 + draw)
    A, B = rng.standard_normal((200, 3)) * [1e2, 1, 1], rng.standard_normal((50, 3)) * [1e-10, 1, 1]
    fit = lambda X: ritz.PCA(2, scale=True).fit(X)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = fit(np.concatenate([A, B])).subtract(fit(A)).certificate_
    holds(c, true_spectrum(B, center=True, scale=True).values)
