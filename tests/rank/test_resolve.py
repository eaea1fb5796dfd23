"""What may stand in n_components, and what a user reads when it may not."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.errors import ParameterError
from ritz.rank import NAMES, Fraction, criterion, resolve

SHAPE = {"n": 150, "d": 4, "centered": True}


def test_none_is_everything():
    assert resolve(None, **SHAPE) == 4
    assert resolve(None, n=3, d=10, centered=True) == 3  # as scikit-learn: min(n, d), whatever the rank


@pytest.mark.parametrize("k", [0, 1, 4, np.int64(2), np.uint8(3)])
def test_a_number_is_itself(k):
    answer = resolve(k, **SHAPE)
    assert answer == int(k)
    assert type(answer) is int


@pytest.mark.parametrize("k", [-1, 5, np.int32(7)])
def test_a_number_out_of_range_is_refused_in_the_words_of_scikit_learn(k):
    words = rf"n_components={k} must be between 0 and min\(n_samples, n_features\)=4; received {k} for 150 rows"
    with pytest.raises(ParameterError, match=words) as caught:
        resolve(k, **SHAPE)
    assert "hint: n_components=None keeps all 4" in str(caught.value)


@pytest.mark.parametrize("share", [0.9, np.float32(0.5), np.float64(1e-9)])
def test_a_fraction_is_a_rule(share):
    rule = resolve(share, **SHAPE)
    assert isinstance(rule, Fraction)
    assert rule.fraction == float(share)


@pytest.mark.parametrize(
    ("share", "hint"),
    [
        (1.0, "n_components=None keeps everything, n_components=1 keeps one component"),
        (3.0, "write n_components=3 for a number of components"),
        (97.5, "n_components=0.975 if 97.5 was a percentage"),
        (0.0, "n_components=0.9 keeps what explains more than 90 %"),
        (-0.5, "n_components=0.9"),
        (float("nan"), "n_components=0.9"),
        (float("inf"), "n_components=0.9"),
    ],
)
def test_a_float_outside_of_0_and_1_is_refused_with_what_may_have_been_meant(share, hint):
    with pytest.raises(ParameterError, match="must be strictly between 0 and 1; received") as caught:
        resolve(share, **SHAPE)
    assert hint in str(caught.value)


@pytest.mark.parametrize("what", [True, np.True_, [2], np.array([1, 2]), 1j, object(), b"mle"])
def test_other_types_are_refused(what):
    with pytest.raises(ParameterError, match="must be None, an int, a fraction between 0 and 1, or the name"):
        resolve(what, **SHAPE)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_its_rule(name):
    rule = resolve(name, **SHAPE)
    assert rule.name == name
    assert rule.needs_all == (name in ("mle", "elbow", "gavish-donoho"))
    assert resolve(np.str_(name), **SHAPE).name == name


def test_a_consensus_asks_all_rules_and_the_whole_spectrum_where_it_is_small():
    rule = resolve("consensus", **SHAPE)
    assert sorted(r.name for r in rule.rules) == sorted((*NAMES, "fraction"))
    assert rule.needs_all
    assert not resolve("consensus", n=10_000, d=6_000, centered=True).needs_all


def test_a_rule_itself_is_taken_as_it_is():
    rule = criterion("kaiser")
    assert resolve(rule, **SHAPE) is rule


@pytest.mark.parametrize("name", ["map", "mle", "bcv"])
def test_names_that_make_no_sense_for_a_method_say_which_do(name):
    words = f"n_components='{name}' makes no sense for CA\nhint: these rules do: 'kaiser', 'parallel', 'consensus'"
    with pytest.raises(ParameterError, match=words):
        resolve(name, **SHAPE, names=("kaiser", "parallel"), method="CA")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("keiser", "kaiser"), ("broken_stick", "broken-stick"), ("MLE", "mle"), ("gavish", "gavish-donoho")],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, meant):
    with pytest.raises(ParameterError, match=f"received '{name}'\nhint: did you mean '{meant}'"):
        criterion(name)


def test_unknown_names_without_a_neighbour_and_the_word_fraction():
    with pytest.raises(ParameterError, match="hint: these names work: 'aic'"):
        criterion("xyzzy")
    with pytest.raises(ParameterError, match="write the fraction itself"):
        criterion("fraction")


@pytest.mark.parametrize("name", ["mle", "aic", "bic"])
@pytest.mark.parametrize(("n", "centered"), [(20, True), (20, False), (21, True)])
def test_likelihoods_need_more_rows_than_columns(name, n, centered):
    words = f"n_components='{name}' is only supported if n_samples >= n_features"
    with pytest.raises(ParameterError, match=words) as caught:
        resolve(name, n=n, d=21, centered=centered)
    assert f"received {n} rows and 21 columns" in str(caught.value)


@pytest.mark.parametrize("name", ["mle", "aic", "bic"])
def test_likelihoods_take_square_data_that_are_not_centred(name):
    assert resolve(name, n=21, d=21, centered=False).name == name
    assert resolve(name, n=22, d=21, centered=True).name == name
