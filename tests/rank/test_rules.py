"""What all rules have in common: no unit matters, no part of a spectrum misleads, answers are explained."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ritz.rank import SPECTRAL, Fraction, criterion
from ritz.spectral.problem import Seen

PARTIAL = [name for name in SPECTRAL if not criterion(name).needs_all]
RULES = [criterion(name) for name in SPECTRAL] + [Fraction(f) for f in (0.3, 0.9, 0.999)]
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}{getattr(rule, 'fraction', '')}")


@each_rule
@pytest.mark.parametrize("c", [1e-200, 1e-9, 3.7, 1e200])
def test_the_unit_of_the_data_does_not_matter(rule, c, make, iris, decathlon, digits):
    for seen in (iris, decathlon, digits, make.spiked(60, 8, [9.0, 4.0])):
        assert rule.decide(make.times(seen, c)) == rule.decide(seen)
        assert np.isfinite(rule.curve(make.times(seen, c)).value[:-1]).all()


@each_rule
def test_a_part_of_the_spectrum_gives_the_same_answer_or_none(rule, make, iris, decathlon, digits):
    for seen in (iris, decathlon, digits, make.spiked(400, 200, [20.0] * 3), make.spiked(30, 60, [40.0])):
        if seen.r < seen.d and rule.name in ("aic", "bic", "mle"):
            continue
        answer = rule.decide(seen)
        assert answer is not None
        decided = False
        for m in range(seen.r + 1):
            early = rule.decide(make.part(seen, m))
            assert early in (None, answer)
            assert not (decided and early is None)  # more values never make it less certain
            decided = early is not None
            assert not (rule.needs_all and decided and m < seen.r)
        assert decided


@each_rule
def test_every_rule_shows_and_explains_its_answer(rule, make, decathlon):
    k = rule.decide(decathlon)
    curve, text = rule.curve(decathlon), rule.why(decathlon)
    assert text.startswith(f"{k} component")
    assert any(mark in text for mark in "%.")
    assert "\n" not in text
    assert len(curve.k) == len(curve.value) > 0
    assert curve.threshold is None or len(curve.threshold) == len(curve.k)
    assert curve.label
    assert "not decided by the 0 largest of 10 eigenvalues" in rule.why(make.part(decathlon, 0))


@each_rule
@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_data_of_exact_rank_are_never_given_more_components(rule, scale, make):
    rng = np.random.default_rng(3)
    for d, rank in ((6, 1), (12, 4), (40, 7)):
        seen = make.of_data(rng.standard_normal((100, rank)) @ rng.standard_normal((rank, d)))
        assert 0 <= rule.decide(make.times(seen, scale)) <= rank


@each_rule
def test_low_rank_is_settled_by_a_part_of_the_spectrum(rule, make):
    rng = np.random.default_rng(4)
    seen = make.of_data(rng.standard_normal((900, 5)) @ rng.standard_normal((5, 300)))
    if not rule.needs_all:
        assert rule.decide(make.part(seen, 5)) == rule.decide(seen)


@each_rule
def test_degenerate_spectra_have_an_answer(rule, make):
    for values in (
        [1.0],
        [2.0, 2.0],
        [1.0] * 7,
        [5.0, 5.0, 1.0, 1.0],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [3.0, -1e-16],
    ):
        for centered in (True, False):
            seen = make.of_values(values, n=50, centered=centered)
            k = rule.decide(seen)
            assert k is not None
            assert 0 <= k <= len(values)
            assert isinstance(rule.why(seen), str)
            rule.curve(seen)
            for m in range(len(values)):  # and no part of it raises or contradicts
                assert rule.decide(make.part(seen, m)) in (None, k)


@given(
    st.lists(st.floats(0.0, 10.0), min_size=2, max_size=9).filter(lambda v: max(v) > 0.1),
    st.integers(12, 500),
    st.sampled_from(PARTIAL),
)
def test_no_part_of_a_random_spectrum_misleads(values, n, name):
    values = np.sort(values)[::-1]
    d, total = len(values), float(values.sum())
    rule, answers = criterion(name), []
    for m in range(d + 1):
        seen = Seen(values[:m], total, n=n, d=d, r=d, centered=True, complete=m == d)
        answers.append(rule.decide(seen))
    assert {a for a in answers if a is not None} == {answers[-1]}


def test_single_precision_values_are_read(make, decathlon):
    for rule in RULES:
        seen = make.of_values(decathlon.values, n=41)
        object.__setattr__(seen, "values", decathlon.values.astype(np.float32))
        assert rule.decide(seen) == rule.decide(decathlon)
