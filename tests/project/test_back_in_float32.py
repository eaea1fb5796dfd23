"""Rows from coordinates of float32: products of float32 keep what float32 holds, at any unit and beside any mean."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.project.linear import LinearMap

U = 2.0**-24


def off(model, T):
    """How far rows are from those of float64, in roundings of what they are sums of."""
    step = model._map()
    wide = step.backward(T.astype(np.float64))
    spread = 1.0 if step.spread is None else np.asarray(step.spread)[:, None]
    W = np.abs(np.asarray(step.components, np.float64) * spread * (1.0 if step.scale is None else step.scale))
    terms = np.abs(T.astype(np.float64)) @ W + (0.0 if step.mean is None else np.abs(step.mean))
    return float(np.max(np.abs(model.inverse_transform(T) - wide) / (U * np.maximum(terms, 1e-300))))


@pytest.mark.parametrize("mean", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("unit", [1e-30, 1e-6, 1.0, 1e15])
@pytest.mark.parametrize("options", [{}, {"whiten": True}, {"scale": True}])
def test_roundings_are_those_of_the_sum(seed, mean, unit, options):
    rng = np.random.default_rng(seed)
    X = ((rng.standard_normal((300, 5)) @ rng.standard_normal((5, 40)) + mean) * unit).astype(np.float32)
    model = ritz.PCA(5, **options).fit(X)
    T = np.asarray(model.transform(X))
    assert T.dtype == model.inverse_transform(T).dtype == np.float32
    assert off(model, T) <= 5 + 3


def test_columns_that_float32_cannot_multiply_are_made_in_float64():
    T = np.array([[1e30, -1e30]], np.float32)
    far = LinearMap(np.array([[3e8, 1e-45], [3e8, 0.0]]), None, None, None)
    assert np.array_equal(far.backward(T)[0], np.array([0.0, 1e-15], np.float32))


def test_a_column_below_the_range_of_float32_keeps_its_digits():
    T, small = np.array([[1e30]], np.float32), 1.2345e-40
    rows = LinearMap(np.array([[1.0, small]]), None, None, None).backward(T)
    assert rows[0, 1] == np.float32(float(T[0, 0]) * small)


def test_sums_that_leave_float32_on_their_way_are_made_in_float64():
    half = np.full((20, 3000), 2.0**60, np.float32)
    rows = LinearMap(np.full((6000, 20), 2.0**59), None, None, None).backward(np.hstack([half, -half]))
    assert not rows.any()


def test_coordinates_of_float32_are_not_widened(monkeypatch):
    seen = []
    monkeypatch.setattr(LinearMap, "_backward_single", lambda self, T, V: seen.append(T.dtype) or None)
    X = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    model = ritz.SVD(2).fit(X)
    model.inverse_transform(model.transform(X))
    model.inverse_transform(model.transform(X).astype(float))
    assert seen == [np.float32]
