"""Parallel analysis by simulation and by permutation: reference answers, partial spectra, what was promised."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.errors import ParameterError
from ritz.rank.parallel import Parallel, Permutation


def test_decathlon_keeps_three_by_the_mean_and_one_by_the_quantile(decathlon):
    assert Parallel().decide(decathlon) == 3
    assert Parallel(0.95).decide(decathlon) == 1  # λ₂ = 1.737 against 1.745: a near tie
    assert "3 components: component 3 holds 14.05 % of the total, above the mean of 1000" in Parallel().why(decathlon)
    assert "not above the 95 % quantile" in Parallel(0.95).why(decathlon).replace("it", "the 95 % quantile")


def test_harman_keeps_four_as_nfactors_says(golden, make):
    held = golden["harman74"]
    seen = make.of_values(np.array(held["eigenvalues"]) * 144, n=145)
    rule = Parallel(0.05)
    assert rule.decide(seen) == held["nScree"]["nparallel"] == 4
    line = 24 * rule.curve(seen).threshold
    np.testing.assert_allclose(line, held["parallel_5_percent"], atol=0.03)


def test_the_line_follows_the_variances_of_the_columns(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 10)) * np.array([5.0] + [1.0] * 9)  # one loud column, nothing in common
    seen, material = make.of_data(X), make.handed(X)
    assert Parallel().decide(seen) >= 1  # as if the columns were standardised
    assert Parallel(0.99).on(material).decide(seen) == 0


@pytest.mark.parametrize("quantile", [None, 0.95])
def test_a_part_of_the_spectrum_decides_as_the_whole(quantile, make):
    seen = make.of_data(make.planted(300, 40, 4))
    rule = Parallel(quantile)
    answers = [rule.decide(make.part(seen, m)) for m in range(seen.r + 1)]
    assert answers[-1] == 4
    assert set(answers) <= {None, 4}
    assert answers[5] == 4


def test_large_tables_ask_for_leading_eigenvalues_only(make, monkeypatch):
    from ritz.rank import parallel, wishart

    monkeypatch.setattr(wishart, "DENSE", 20)
    monkeypatch.setattr(parallel, "DENSE", 20)
    monkeypatch.setattr(parallel, "FIRST", 2)
    seen = make.of_data(make.planted(400, 60, 7))
    rule = Parallel()
    assert rule.decide(seen) == 7
    assert 8 <= rule.held["spectra"].shape[1] < 60
    assert "7 components" in rule.why(seen)


def test_seeds_repeat_and_differ(make):
    seen = make.of_data(make.planted(60, 12, 2))
    lines = [Parallel().on(make.handed(np.eye(12), seed=seed)).curve(seen).threshold for seed in (0, 0, 1)]
    np.testing.assert_array_equal(lines[0], lines[1])
    assert np.max(np.abs(lines[0] - lines[2])) > 0


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.5, 95])
def test_a_quantile_lies_between_0_and_1(quantile):
    for rule in (Parallel, Permutation):
        with pytest.raises(ParameterError, match=r"quantile must be None .* or strictly between 0 and 1"):
            rule(quantile)


# ------------------------------------------------------------------------------------------- permutation


def test_decathlon_by_permutation(events, make, decathlon):
    rule = Permutation().on(make.handed(events, scale=True))
    assert rule.decide(decathlon) == 1
    assert rule.why(decathlon).endswith("; all 41 rows")
    by_mean = Permutation(None).on(make.handed(events, scale=True))
    assert by_mean.decide(decathlon) == 3
    # Permuted columns and Gaussian ones differ little in 41 rows of sports results.
    line = 10 * by_mean.curve(decathlon).threshold
    np.testing.assert_allclose(line[:4], [1.869, 1.568, 1.352, 1.170], atol=0.06)


@pytest.mark.parametrize(("n", "d"), [(200, 15), (40, 120)])
def test_permutation_finds_what_was_planted(n, d, make):
    for q in (2, 5):
        X = make.planted(n, d, q, seed=q)
        assert Permutation().on(make.handed(X)).decide(make.of_data(X)) == q


def test_pure_noise_has_no_component_19_times_in_20(make):
    kept = 0
    for seed in range(60):
        X = np.random.default_rng(seed).exponential(size=(50, 8))
        kept += Permutation(draws=99).on(make.handed(X, seed=seed)).decide(make.of_data(X)) > 0
    assert kept <= 8  # 3 are expected at 5 %; 9 or more have probability 0.002


def test_a_column_alone_is_its_own_permutation(make):
    X = np.random.default_rng(0).standard_normal((30, 1))
    assert Permutation().on(make.handed(X)).decide(make.of_data(X)) == 0


def test_columns_that_are_not_centred_get_random_signs(make):
    X = make.planted(300, 12, 2, strength=40.0)
    X = X - X.mean(axis=0) + 1.0
    rule = Permutation().on(make.handed(X, center=False))
    assert rule.decide(make.of_data(X, centered=False)) == 3  # the mean is a direction too
    assert "draws of random signs" in rule.why(make.of_data(X, centered=False))


def test_without_rows_it_says_so(make, decathlon):
    rule = Permutation()
    assert rule.decide(decathlon) is None
    assert rule.why(decathlon) == "permutation needs rows"
    assert len(rule.curve(decathlon).k) == 0
