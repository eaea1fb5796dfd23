"""Frequent directions: both small matrices enclose the scatter matrix itself, which is formed in whole numbers."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

import ritz
from ritz.data.streams.directions import Directions
from ritz.methods.streams.held import with_state


def scatter(X, weights=None):
    """Σw(x − μ)(x − μ)ᵀ of whole numbers and weights: W·XᵀDX − (XᵀD1)(XᵀD1)ᵀ in integers, over W, rounded once."""
    rows = np.array([[int(x) for x in row] for row in X], object)
    w = np.array([1] * len(rows) if weights is None else [int(each) for each in weights], object)
    total, sums = int(w.sum()), w @ rows
    exact = total * (rows.T @ (w[:, None] * rows)) - np.outer(sums, sums)
    return np.array([[float(Fraction(int(entry), total)) for entry in line] for line in exact])


def joined(parts, width, *, merged):
    state = Directions.empty(parts[0].shape[1], width)
    for part in parts:
        more = Directions.empty(part.shape[1], width).add(part) if merged else None
        state = state.add(part) if more is None else state.merge(more)
    return state


def between(state, S):
    """How far S lies outside of its two bounds, in units of what rounding is allowed."""
    Q, c = state.basis, state.unit**2
    low = c * (Q.T @ ((np.diag(state.high) + state.spare) @ Q))
    high = c * (Q.T @ (state.high[:, None] * Q))
    below = -np.linalg.eigvalsh(S - low)[0] - c * state.ridge
    above = np.linalg.eigvalsh(S - high)[-1] - c * state.lost
    return below / (c * state.noise), above / (c * state.noise)


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("jump", [0, 3e2, 1e3, 3e3, 1e6])
@pytest.mark.parametrize("draw", range(6))
def test_a_mean_that_jumps_leaves_the_scatter_between_its_bounds(draw, jump, merged):
    """The row between the means is far longer than the others: what it leaves of their directions is rounding."""
    rng = np.random.default_rng(100 + draw)
    d, width = int(rng.integers(12, 30)), int(rng.integers(4, 12))
    parts = [np.rint(2.0**10 * rng.standard_normal((int(rng.integers(d, 2 * d)), d))) for _ in range(4)]
    for i in (1, 3):
        parts[i] = parts[i] + np.rint(2.0**10 * jump * rng.standard_normal(d))
    for many in range(1, 5):
        state = joined(parts[:many], width, merged=merged)
        below, above = between(state, scatter(np.vstack(parts[:many])))
        assert below <= 1, (many, below)
        assert above <= 1, (many, above)


@pytest.mark.parametrize("draw", range(20))
def test_directions_of_nearly_equal_length_are_orthonormal(draw):
    """Vectors of close eigenvalues: LAPACK's quickest routine gives some that are orthonormal to 1e-13 only."""
    rng = np.random.default_rng(draw)
    d = 34
    sizes = np.where(np.arange(d) < 12, 2.0**20, 2.0**7)
    X = np.rint(rng.standard_normal((22, d)) * sizes @ np.linalg.qr(rng.standard_normal((d, d)))[0])
    state = Directions.empty(d, d).add(X)
    assert np.max(np.abs(state.basis @ state.basis.T - np.eye(len(state.basis)))) < 1e-14
    below, above = between(state, scatter(X))
    assert max(below, above) <= 1


@pytest.mark.parametrize("draw", range(10))
def test_certificates_after_a_jump_hold(draw):
    rng = np.random.default_rng(draw)
    d, width, k = 24, 10, 6
    parts = [np.rint(2.0**10 * rng.standard_normal((30, d))) for _ in range(3)]
    parts[1] = parts[1] + np.rint(2.0**10 * 10.0 ** rng.integers(2, 6) * rng.standard_normal(d))
    X = np.vstack(parts)
    model = with_state(ritz.PCA(k, mergeable="directions"), X, joined(parts, width, merged=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.WideEnclosure)
        c = model.certificate_
    true = np.linalg.eigvalsh(scatter(X))[::-1]
    off = np.maximum(c.lower - true[:k], true[:k] - c.upper)
    assert np.max(off) <= 1e-15 * true[0], off / true[0]


@pytest.mark.parametrize("draw", range(8))
def test_a_state_that_fades_encloses_what_is_left_of_its_rows(draw):
    """Every further block halves the weights: powers of two, exact as whole numbers of the last weight's share."""
    rng = np.random.default_rng(draw)
    d, blocks = 14, 6
    state, parts, weights = Directions.empty(d, 5), [], []
    for i in range(blocks):
        parts.append(np.rint(2.0**10 * rng.standard_normal((20, d)) * 0.8 ** np.arange(d)))
        weights.append(np.full(20, 2 ** (i + 1)))
        state = state.times(0.5).add(parts[-1])
    below, above = between(state, scatter(np.vstack(parts), np.concatenate(weights)) / 2.0**blocks)
    assert below <= 1
    assert above <= 1


def test_one_direction_that_was_let_go_of_is_below_the_ceiling():
    """Six directions in a basis of five: what was left out is one eigenvalue, and the ceiling is no lower."""
    sizes = np.array([900, 700, 500, 300, 200, 100])
    X = np.zeros((24, 9))
    for j, size in enumerate(sizes):  # pairs of opposite rows: the mean is zero
        X[2 * j, j], X[2 * j + 1, j] = size, -size
    model = with_state(ritz.PCA(5, mergeable="directions"), X, joined([X[:12], X[12:]], 5, merged=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.WideEnclosure)
        c = model.certificate_
    true = 2.0 * sizes**2
    assert np.all((c.lower <= true[:5]) & (true[:5] <= c.upper))
    assert c.ceiling >= true[5]
    assert c.ceiling <= 1.001 * true[5]


def test_a_mean_of_many_mergers_errs_by_one_rounding():
    rows = 1e8 + np.random.default_rng(0).standard_normal((600, 3))
    state = Directions.empty(3, 3)
    for i in range(0, 600, 2):
        state = state.add(rows[i : i + 2])
    high, low = state.parts()
    for j in range(3):
        exact = sum(Fraction(float(x)) for x in rows[:, j]) / 600
        off = Fraction(float(high[j])) + (0 if low is None else Fraction(float(low[j]))) - exact
        assert abs(off) <= 2.0**-52, j  # of a spread of one; the mean itself is rounded to 1.5e-8
