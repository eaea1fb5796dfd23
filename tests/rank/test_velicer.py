"""Velicer's average partial correlations against the note, psych's answer and partial correlations proper."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.errors import ParameterError
from ritz.rank.velicer import Velicer, average_partials


def test_decathlon(events, make, decathlon):
    f = average_partials(np.corrcoef(events.T))
    np.testing.assert_allclose(f[:4], [0.0898, 0.0649, 0.0566, 0.0768], atol=5e-5)
    rule = Velicer().on(make.handed(events, scale=True))
    assert rule.decide(decathlon) == 2
    assert rule.why(decathlon) == (
        "2 components: the average square of the partial correlations is 0.0566 there, 0.0649 with 1, 0.0768 with 3"
    )
    np.testing.assert_array_equal(rule.curve(decathlon).k, np.arange(10))


def test_harman_has_four(harman):
    f = average_partials(harman)
    assert int(np.argmin(f)) == 4  # psych::VSS: the MAP of Harman74.cor has its least value with 4 factors
    assert round(f[4], 2) == 0.02


@pytest.mark.parametrize("power", [2, 4])
def test_against_residuals_of_regressions_on_the_scores(power):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 7)) @ rng.standard_normal((7, 7))
    A = X - X.mean(axis=0)
    scores = A @ np.linalg.svd(A)[2].T
    for k, value in enumerate(average_partials(A.T @ A, power)):
        left = A - scores[:, :k] @ np.linalg.lstsq(scores[:, :k], A, rcond=None)[0] if k else A
        R = np.corrcoef(left.T)
        expected = np.mean(np.abs(R[~np.eye(7, dtype=bool)]) ** power)
        assert abs(value - expected) < 1e-9


def test_the_last_value_is_one_and_columns_that_do_not_vary_are_left_out(harman):
    f = average_partials(harman)
    assert len(f) == 24
    assert abs(f[-1] - 1) < 1e-8  # one direction is left: every column is a multiple of it
    wide = np.zeros((26, 26))
    wide[1:25, 1:25] = harman
    np.testing.assert_allclose(average_partials(wide), f)
    assert len(average_partials(np.eye(1))) == 1


def test_it_ends_where_columns_are_explained_entirely():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 9))
    assert len(average_partials(np.cov(X.T))) == 3


def test_other_powers_are_refused_and_correlations_are_needed(decathlon):
    with pytest.raises(ParameterError, match="power must be 2 or 4; received 3"):
        Velicer(3)
    assert Velicer().decide(decathlon) is None
    assert Velicer().why(decathlon) == "map needs the correlations of the columns"


@pytest.mark.parametrize("noise", ["white", "uneven"])
@pytest.mark.parametrize(("n", "d"), [(300, 30), (80, 160)])
def test_planted_components_are_found(n, d, noise, make):
    for q in (2, 6):
        X = make.planted(n, d, q, strength=20.0, noise=noise, seed=q)
        assert Velicer().on(make.handed(X)).decide(make.of_data(X)) == q
