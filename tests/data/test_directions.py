"""Frequent directions: both small matrices enclose the scatter matrix itself, which is formed in whole numbers."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

import ritz
from ritz.data.streams.directions import Directions
from ritz.methods.streams.held import with_state


def scatter(X):
    """Σ(x − μ)(x − μ)ᵀ of whole numbers: n·XᵀX − (Xᵀ1)(Xᵀ1)ᵀ in Python's integers, over n, rounded once."""
    rows = X.astype(object)
    n, sums = len(rows), rows.sum(axis=0)
    exact = n * (rows.T @ rows) - np.outer(sums, sums)
    return np.array([[float(Fraction(int(entry), n)) for entry in line] for line in exact])


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
