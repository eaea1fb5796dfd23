"""Bootstrap stability: fast draws against refits, planted subspaces, planes that turn."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.rank.sample import LinearSample, drawn_axes
from ritz.rank.stability import Stability


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", [(40, 7), (12, 30)])
def test_draws_in_coordinates_are_refits_of_the_same_rows(shape, center, make):
    X = make.planted(*shape, 2, seed=1)
    sample = LinearSample(X, len(X), center=center, scale=False)
    k = 3
    found = sample.turned(np.random.default_rng(5), k)
    counts = np.random.default_rng(5).multinomial(len(X), np.full(len(X), 1 / len(X)))
    A = X - X.mean(axis=0) if center else X
    drawn = np.repeat(X, counts, axis=0)
    B = drawn - drawn.mean(axis=0) if center else drawn
    expected = np.linalg.svd(A)[2][:k] @ np.linalg.svd(B)[2][:k].T
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(300, 15), (200, 60)])
def test_planted_components_hold(n, d, make):
    for q in (2, 5):
        X = make.planted(n, d, q, strength=25.0, seed=q)
        rule = Stability().on(make.handed(X))
        assert rule.decide(make.of_data(X)) == q
        curve = rule.curve(make.of_data(X))
        assert curve.value[q - 1] > 0.9
        assert np.all(curve.threshold == 2 / 3)


def test_a_plane_of_equal_variances_holds_though_its_axes_turn(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 12)) * np.array([3.0, 3.0] + [1.0] * 10)
    rule = Stability().on(make.handed(X))
    curve = rule.curve(make.of_data(X))
    assert curve.value[0] < 0.95
    assert curve.value[1] > curve.value[0] + 0.02
    assert rule.decide(make.of_data(X)) == 2
    assert rule.why(make.of_data(X)).endswith("; all 400 rows")


def test_noise_holds_nothing(make):
    X = np.random.default_rng(1).standard_normal((200, 40))
    assert Stability().on(make.handed(X)).decide(make.of_data(X)) == 0


def test_one_coordinate_more_than_asked_changes_nothing():
    Z = np.random.default_rng(0).standard_normal((50, 6)) * np.array([5, 4, 3, 2, 1.0, 0.5])
    a = drawn_axes(Z, np.random.default_rng(1), 2, center=True)
    b = drawn_axes(Z, np.random.default_rng(1), 4, center=True)
    np.testing.assert_allclose(np.abs(a), np.abs(b[:2, :2]), atol=1e-10)
