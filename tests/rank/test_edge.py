"""The edge of generalised Marčenko–Pastur laws against closed forms, brute force and large samples."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.rank.edge import Deterministic, upper_edge


def test_equal_variances_have_the_classical_edge():
    assert round(upper_edge(np.ones(10), 0.5), 3) == 2.914
    for gamma in (1e-4, 0.1, 1.0, 7.0):
        for variance in (1e-8, 1.0, 3.7e9):
            expected = variance * (1 + np.sqrt(gamma)) ** 2
            assert abs(upper_edge(np.full(5, variance), gamma) / expected - 1) < 1e-9


@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
def test_unequal_variances_against_a_fine_search(gamma):
    t = np.random.default_rng(0).exponential(size=50)
    x = t.max() * (1 + np.geomspace(1e-6, 1e3, 400_000))
    brute = np.min(x * (1 + gamma * np.mean(t[:, None] / (x[None, :] - t[:, None]), axis=0)))
    assert abs(upper_edge(t, gamma) / brute - 1) < 1e-8


@pytest.mark.parametrize(("n", "d"), [(1500, 300), (300, 900)])
def test_the_largest_eigenvalue_of_independent_columns_comes_near(n, d):
    t = np.linspace(0.3, 3.0, d)
    X = np.random.default_rng(1).standard_normal((n, d)) * np.sqrt(t)
    largest = np.linalg.norm(X, 2) ** 2 / n
    assert abs(largest / upper_edge(t, d / n) - 1) < 0.04


def test_nothing_that_varies_has_no_edge():
    assert upper_edge(np.zeros(3), 0.5) == 0.0
    assert upper_edge(np.ones(3), 0.0) == 1.0


def test_decathlon(decathlon):
    rule = Deterministic()
    assert rule.decide(decathlon) == 1
    np.testing.assert_allclose(10 * rule.curve(decathlon).threshold, 2.25)  # (1 + √(10/40))²
    assert rule.why(decathlon) == (
        "1 component: independent columns reach 22.50 % of the total; "
        "component 1 holds 32.72 %, component 2 holds 17.37 %"
    )


@pytest.mark.parametrize("noise", ["white", "uneven"])
@pytest.mark.parametrize(("n", "d"), [(800, 100), (150, 600)])
def test_planted_components_are_found_whatever_the_columns_variances(n, d, noise, make):
    X = make.planted(n, d, 4, strength=20.0, noise=noise)
    assert Deterministic().on(make.handed(X)).decide(make.of_data(X)) == 4


def test_loud_columns_are_no_components(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 60)) * np.where(np.arange(60) < 3, 4.0, 1.0)
    seen = make.of_data(X)
    assert Deterministic().decide(seen) == 3
    assert Deterministic().on(make.handed(X)).decide(seen) == 0
