"""Fraction, Kaiser, broken stick and Gavish–Donoho against published and independent numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ritz._core.errors import ParameterError
from ritz.rank import Fraction, criterion
from ritz.rank.material import Material
from ritz.rank.thresholds import GavishDonoho, marchenko_pastur_median, omega, optimal

# ---------------------------------------------------------------------------------------------- fraction


def test_iris_shares(iris):
    shares = np.diff(Fraction(0.9).curve(iris).value, prepend=0.0)
    np.testing.assert_allclose(shares, [0.92462, 0.05307, 0.01710, 0.00521], atol=5e-6)
    assert [Fraction(f).decide(iris) for f in (0.01, 0.92, 0.93, 0.95, 0.99, 0.9999)] == [1, 1, 2, 2, 3, 4]


def test_a_share_that_only_equals_the_fraction_is_not_enough(iris, make):
    equal = float(Fraction(0.5).curve(iris).value[-2])
    assert Fraction(equal).decide(iris) == 4
    assert Fraction(np.nextafter(equal, 0)).decide(iris) == 4
    assert Fraction(equal - 1e-9).decide(iris) == 3
    assert Fraction(0.9).decide(make.of_values([9.0, 1.0], n=30)) == 2


def test_fractions_agree_with_scikit_learn(make):
    from sklearn.datasets import load_wine
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import scale

    X = scale(load_wine().data)
    seen = make.of_data(X)
    for f in np.linspace(0.05, 0.99, 48):
        assert Fraction(f).decide(seen) == PCA(n_components=f, svd_solver="full").fit(X).n_components_


def test_a_fraction_is_decided_by_the_first_share_that_exceeds_it(make, decathlon):
    assert [Fraction(0.6).decide(make.part(decathlon, m)) for m in range(5)] == [None, None, None, 3, 3]
    assert Fraction(0.6).why(decathlon) == (
        "3 components explain 64.14 % of the total, 2 explain 50.09 %; asked for more than 60.00 %"
    )


def test_a_fraction_that_rounds_to_one_keeps_what_there_is(make):
    almost = float(np.nextafter(1.0, 0.0))
    assert Fraction(almost).decide(make.of_values([4.0, 2.0, 1.0], n=9)) == 3
    assert Fraction(almost).decide(make.of_values([4.0, 2.0, 0.0], n=9)) == 2
    assert Fraction(0.5).decide(make.of_values([0.0, 0.0], n=9)) == 1


# ------------------------------------------------------------------------------- Kaiser and broken stick


def test_decathlon_kaiser_keeps_four_and_the_broken_stick_one(decathlon, make):
    kaiser, stick = criterion("kaiser"), criterion("broken-stick")
    assert kaiser.decide(decathlon) == 4
    assert stick.decide(decathlon) == 1
    assert [kaiser.decide(make.part(decathlon, m)) for m in range(6)] == [None] * 5 + [4]
    assert [stick.decide(make.part(decathlon, m)) for m in range(3)] == [None, None, 1]


def test_the_pieces_of_a_stick_of_ten(decathlon):
    pieces = criterion("broken-stick").curve(decathlon).threshold
    expected = [0.2929, 0.1929, 0.1429, 0.1096, 0.0846, 0.0646, 0.0479, 0.0336, 0.0211, 0.01]
    np.testing.assert_allclose(pieces, expected, atol=5.1e-5)
    assert pieces.sum() == pytest.approx(1.0)


def test_equal_variances_give_no_component_even_when_rounding_tilts_them(make):
    tilted = 1.0 + 1e-16 * np.arange(8)[::-1]
    for name in ("kaiser", "broken-stick", "gavish-donoho"):
        assert criterion(name).decide(make.of_values(tilted, n=100)) == 0


def test_kaiser_counts_variables_and_the_stick_counts_what_can_exist(make):
    # Nine directions in 60 columns: the average variable is small, the average piece is not.
    seen = make.of_values([2.0] + [1.0] * 8, n=10, d=60)
    assert criterion("kaiser").decide(seen) == 9
    assert criterion("broken-stick").decide(seen) == 0
    longest = sum(1 / i for i in range(1, 10)) / 9
    assert criterion("broken-stick").curve(seen).threshold[0] == pytest.approx(longest)


def test_a_small_rest_decides_before_a_component_fails(make):
    seen = make.part(make.of_values([50.0, 45.0] + [0.5] * 10, n=99), 2)
    assert criterion("kaiser").decide(seen) == 2  # 5 of 100 are left, the average of 12 variables is 8.3
    assert "what is left, 5.00 %, cannot reach it (8.33 %)" in criterion("kaiser").why(seen)
    assert criterion("broken-stick").decide(seen) == 2


# ----------------------------------------------------------------------------------------- Gavish–Donoho


@pytest.mark.parametrize(("beta", "expected"), [(0.1, 1.6088), (0.25, 1.8369), (0.5, 2.1712), (1.0, 2.8584)])
def test_omega_as_published(beta, expected):
    assert omega(beta) == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize("beta", [0.01, 0.3, 0.77, 0.999, 1.0])
def test_half_of_the_marchenko_pastur_law_lies_below_its_median(beta):
    from scipy.integrate import quad

    low, high = (1 - math.sqrt(beta)) ** 2, (1 + math.sqrt(beta)) ** 2

    def density(t):
        return math.sqrt((high - t) * (t - low)) / (2 * math.pi * beta * t)

    assert quad(density, marchenko_pastur_median(beta), high, epsabs=1e-12)[0] == pytest.approx(0.5, abs=1e-8)


def test_omega_for_very_tall_data_is_the_square_root_of_two():
    assert omega(1e-12) == pytest.approx(math.sqrt(2.0), abs=1e-6)  # μ → 1, λ* → √2


@pytest.mark.parametrize(("n", "d"), [(300, 100), (100, 300), (200, 200)])
@pytest.mark.parametrize("centered", [True, False])
def test_spikes_in_white_noise_are_found_for_every_shape(n, d, centered, make):
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) * 3.0
    X = signal + rng.standard_normal((n, d)) + (5.0 if centered else 0.0)
    assert criterion("gavish-donoho").decide(make.of_data(X, centered=centered)) == 4
    assert criterion("gavish-donoho").decide(make.of_data(X - signal, centered=True)) == 0


def test_tall_and_wide_data_have_one_threshold(make):
    X = np.random.default_rng(2).standard_normal((80, 30))
    rule = criterion("gavish-donoho")
    tall, wide = make.of_data(X, centered=False), make.of_data(X.T, centered=False)
    np.testing.assert_allclose(rule.curve(tall).threshold, rule.curve(wide).threshold)


def test_centring_costs_a_row(make):
    X = np.random.default_rng(2).standard_normal((21, 20))
    why = criterion("gavish-donoho").why(make.of_data(X))
    assert "2.8584 × their median, for aspect ratio 1;" in why


def test_repeated_rows_count_as_rows_without_directions(make):
    X = np.repeat(np.random.default_rng(5).standard_normal((4, 30)), 10, axis=0)
    assert criterion("gavish-donoho").decide(make.of_data(X)) == 3


# ------------------------------------------------------------------------------------------- known noise


def test_optimal_thresholds_of_the_paper():  # [Gavish and Donoho 2014, table I]; 4/√3 for square matrices
    betas = (0.1, 0.25, 0.5, 1.0)
    np.testing.assert_allclose([optimal(b) for b in betas], [1.5816, 1.7580, 1.9786, 2.3094], atol=5e-5)
    np.testing.assert_allclose([omega(b) for b in betas], [1.6088, 1.8369, 2.1712, 2.8584], atol=5e-5)
    assert abs(optimal(1.0) - 4 / math.sqrt(3)) < 1e-12


@pytest.mark.parametrize(("n", "d"), [(400, 100), (80, 200)])
def test_known_noise_counts_what_was_planted_and_needs_no_whole_spectrum(n, d, make):
    X = 2.5 * make.planted(n, d, 5, strength=10.0)
    seen, rule = make.of_data(X), GavishDonoho(2.5)
    assert not rule.needs_all
    assert rule.decide(seen) == 5
    assert rule.decide(make.part(seen, 6)) == 5
    assert rule.decide(make.part(seen, 4)) is None
    line = optimal(min(n - 1, d) / max(n - 1, d)) * math.sqrt(max(n - 1, d)) * 2.5
    np.testing.assert_allclose(rule.curve(seen).threshold[0] * math.sqrt(seen.total), line)
    assert f"singular values above {line:.4g} = " in rule.why(seen)
    assert GavishDonoho().decide(seen) == 5


def test_noise_is_above_zero():
    with pytest.raises(ParameterError, match="noise must be a standard deviation above 0"):
        GavishDonoho(0.0)


def test_known_noise_in_the_units_of_the_operator(make):
    X = make.planted(200, 30, 3, strength=10.0)
    seen = make.of_data(X / 1024.0)
    material = Material(unit=1024.0)
    assert GavishDonoho(1.0).on(material).decide(seen) == 3
    assert GavishDonoho(1.0).decide(seen) == 0
