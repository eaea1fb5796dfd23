"""Minka's evidence against scikit-learn, term by term against the formula, and where scikit-learn breaks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition._pca import _assess_dimension, _infer_dimension

from ritz._core.errors import ParameterError
from ritz.rank import criterion
from ritz.rank.minka import Minka
from ritz.spectral.problem import Seen

mle = criterion("mle")


def test_iris_and_digits(iris, digits):
    np.testing.assert_allclose(mle.curve(iris).value, [364.034, 420.935, 440.418], atol=1e-3)
    assert mle.decide(iris) == 3
    assert mle.decide(digits) == 61
    assert mle.why(iris) == "3 components: the log evidence is 440.42 there, 420.94 with 2"


@pytest.mark.parametrize("d", [2, 3, 7, 25])
def test_full_rank_data_agree_with_scikit_learn(d, make):
    for seed in range(8):
        n = d + 2 + 40 * (seed % 3)
        seen = make.spiked(n, d, [8.0, 3.0][: seed % 3], seed=seed)
        variances = seen.values / (n - 1)
        expected = [_assess_dimension(variances, k, n) for k in range(1, d)]
        np.testing.assert_allclose(mle.curve(seen).value, expected, rtol=1e-9)
        assert mle.decide(seen) == _infer_dimension(variances, n)


def test_uncentred_square_data_work(make):
    assert mle.decide(make.of_data(np.random.default_rng(0).standard_normal((9, 9)), centered=False)) >= 1


def test_the_cases_that_scikit_learn_got_wrong_over_the_years(make):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((600, 10))
    assert mle.decide(make.of_data(noise)) == 1
    singular = rng.standard_normal((1000, 10))
    singular[:, -1] = singular[:, :-1].mean(axis=1)
    assert mle.decide(make.of_data(singular)) == 9
    assert mle.decide(make.of_values([1.0, 1e-30, 1e-30, 1e-30], n=10)) == 1
    assert mle.decide(make.of_data(np.outer(rng.standard_normal(50), np.ones(6)))) == 1


def test_equal_eigenvalues_are_not_infinitely_likely(make):
    for values in (
        [5.0, 5.0, 1.0, 0.9, 0.8],
        [3.0] * 5,
        [9.0, 2.0, 2.0, 2.0, 2.0],
        [4.0, 4.0, 4.0, 1.0, 1.0],
    ):
        exact = mle.curve(make.of_values(values, n=200)).value
        assert np.isfinite(exact).all()
        # Eigenvalues that differ by rounding are the same eigenvalues.
        tilted = mle.curve(make.of_values(values * (1 + 1e-16 * np.arange(5)[::-1]), n=200)).value
        np.testing.assert_allclose(exact, tilted, rtol=1e-12)
    assert mle.decide(make.of_values([5.0, 5.0, 1.0, 1.0, 1.0], n=200)) == 2
    assert mle.decide(make.of_values([4.0, 4.0, 4.0, 1.0, 1.0], n=200)) == 3


def test_a_near_tie_in_a_long_tail_does_not_take_the_logarithm_of_zero(make):
    values = np.ones(3000)
    values[-1] -= 3e-14
    assert np.isfinite(mle.curve(make.of_values(values, n=9000)).value).all()


def test_one_column_is_one_component(make):
    assert mle.decide(make.of_values([2.0], n=20)) == 1


def test_too_few_rows_are_refused_even_late(make):
    seen = make.of_data(np.random.default_rng(0).standard_normal((20, 21)))
    with pytest.raises(ParameterError, match="'mle' is only supported if n_samples >= n_features"):
        mle.decide(seen)


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("d", [2, 3, 10, 60])
def test_all_pairs_at_a_time_give_what_one_component_after_another_gives(d, empty, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.random(d) ** 3)[::-1].copy()
    if empty:
        values[-1] = 0.0
    seen = Seen(values, float(values.sum()), 4.0 * d, d, d, centered=True, complete=True)
    quick = Minka().curve(seen).value
    words = Minka().why(seen)
    monkeypatch.setattr("ritz.rank.minka.AT_ONCE", 0)
    np.testing.assert_allclose(quick, Minka().curve(seen).value, rtol=1e-11)
    assert Minka().why(seen) == words
