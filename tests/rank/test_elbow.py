"""Zhu and Ghodsi's profile likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from ritz.rank import criterion


def plain(values, q):
    """The formula, written down."""
    p, a, b = len(values), values[:q], values[q:]
    squares = np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2)
    sd = np.sqrt(squares / (p - 2))
    return norm.logpdf(a, a.mean(), sd).sum() + norm.logpdf(b, b.mean(), sd).sum()


def test_decathlon(decathlon):
    curve = criterion("elbow").curve(decathlon)
    assert criterion("elbow").decide(decathlon) == 1
    assert curve.value[0] == pytest.approx(-7.058, abs=5e-4)
    np.testing.assert_allclose(curve.value, [plain(decathlon.values / 40, q) for q in range(1, 10)], rtol=1e-12)


def test_random_spectra_agree_with_the_formula(make):
    rng = np.random.default_rng(0)
    for p in (3, 4, 17, 120):
        values = np.sort(rng.gamma(0.7, size=p))[::-1]
        seen = make.of_values(values, n=500, centered=False)
        expected = [plain(values / 500, q) for q in range(1, p)]
        np.testing.assert_allclose(criterion("elbow").curve(seen).value, expected, rtol=1e-9)
        assert criterion("elbow").decide(seen) == 1 + int(np.argmax(expected))


@pytest.mark.parametrize("q", [1, 2, 5, 9])
def test_two_exact_levels_are_split_between_them(q, make):
    assert criterion("elbow").decide(make.of_values([7.0] * q + [1.0] * (10 - q), n=99)) == q


def test_few_eigenvalues_have_no_elbow_to_choose(make):
    assert criterion("elbow").decide(make.of_values([3.0, 1.0], n=99)) == 1
    assert "an elbow needs three eigenvalues, there is 1" in criterion("elbow").why(make.of_values([3.0], n=9))
    assert "an elbow needs three eigenvalues, there are 2" in criterion("elbow").why(make.of_values([3.0, 1.0], n=9))


def test_zeros_forced_by_the_shape_are_no_data(make):
    values = [9.0, 5.0, 4.5, 4.0, 3.9]
    wide = make.of_values(values, n=6, d=1000)
    assert criterion("elbow").decide(wide) == criterion("elbow").decide(make.of_values(values, n=6)) == 1
