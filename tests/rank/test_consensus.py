"""The consensus: its arithmetic, its groups, its reasons, and how often it is right."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.rank import NAMES, Options
from ritz.rank.consensus import ORDER, Consensus, Row, judged, weighted_median
from ritz.rank.judge import ASSUMPTIONS, GROUPS, doubts, facts_of, near_tie, unevenness
from ritz.rank.shares import Curve

ALL = ("fraction", *NAMES)


def test_the_median_is_the_smallest_k_with_half_of_the_weight():
    assert weighted_median([(1, 1.0), (2, 1.0), (9, 1.0)]) == 2
    assert weighted_median([(1, 1.0), (9, 1.0)]) == 1
    assert weighted_median([(1, 1.0), (9, 1.01)]) == 9
    assert weighted_median([(3, 0.2), (5, 0.0), (4, 0.1)]) == 3
    assert weighted_median([(3, 1 / 3)] * 3 + [(5, 1 / 3)] * 3) == 3  # whatever thirds round to
    assert weighted_median([]) == 0


def test_every_rule_has_a_place_a_group_and_an_assumption():
    assert sorted(ORDER) == sorted(ALL) == sorted(ASSUMPTIONS)
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(ALL)


def asked(X, make, names=ALL, options=None, **frame):
    return Consensus(names, options).on(make.handed(X, **frame)).ranks(make.of_data(X))


def test_one_voice_a_group_however_many_speak(make, events):
    A = events / events.std(axis=0, ddof=1)
    seen = make.of_data(A)
    ranks = Consensus(ALL).on(make.handed(events, scale=True)).ranks(seen)
    by_group = {}
    for name in ranks:
        by_group.setdefault(ranks[name].group, []).append(ranks[name].weight)
    assert by_group["budget"] == [0.0]
    for group in ("noise", "likelihood", "prediction", "structure"):
        assert abs(sum(by_group[group]) - 1.0) < 1e-12, group
    assert abs(sum(by_group["scree"]) - 0.5) < 1e-12


def test_decathlon_has_four_answers_and_the_consensus_explains_them(make, events):
    A = events / events.std(axis=0, ddof=1)
    ranks = Consensus(ALL).on(make.handed(events, scale=True)).ranks(make.of_data(A))
    ten = ("broken-stick", "elbow", "gavish-donoho", "bic", "map", "parallel", "mle", "gcv", "kaiser", "aic")
    assert [ranks[name].k for name in ten] == [1, 1, 1, 1, 2, 3, 3, 3, 4, 4]
    assert ranks.consensus == 2
    first, *others = ranks.reasons
    assert first.startswith("2 components: the weighted median of the answers 1, 2, 3, 4; ")
    assert "Best model for its price (weight 1.00): mle 3, aic 4, bic 1." in others
    assert "Set aside: kaiser 4, because 5 components of pure noise would exceed the average." in others
    assert "a near tie: component 2 is within 2 % of the line" in ranks["permutation"].caution
    assert ranks["kaiser"].weight == 0.0
    text = str(ranks)
    assert text.splitlines()[0] == "How many components of PCA: 2"
    assert all(name in text for name in ALL)
    assert "kfold             –         kfold needs rows" in text  # this material has none


def test_rows_of_the_table_read_by_name_and_by_place(make):
    ranks = asked(make.planted(80, 10, 2), make, ("kaiser", "bic"))
    row = ranks.table[0]
    assert (row.criterion, row["criterion"], row[0]) == ("kaiser",) * 3
    assert Row._fields == ("criterion", "k", "why")
    assert [r.criterion for r in ranks.table] == list(ranks) == ["kaiser", "bic"]
    assert "bic" in ranks
    assert len(ranks) == 2
    with pytest.raises(KeyError, match="not among the rules asked: kaiser, bic"):
        ranks["aic"]


def test_without_a_vote_the_answers_themselves_decide(make):
    X = make.planted(80, 10, 2)
    alone = asked(X, make, ("fraction",), Options(fraction=0.5))
    assert alone.consensus == alone["fraction"].k
    assert "none of these rules has a vote" in alone.reasons[0]
    nobody = Consensus(("permutation", "bcv")).ranks(make.of_data(X))
    assert nobody.consensus == 0
    assert nobody.reasons == ["No rule has an answer, so that no number of components is advised."]


def test_more_columns_than_rows_leave_likelihoods_without_a_vote(make):
    ranks = asked(make.planted(30, 60, 2, strength=20.0), make)
    for name in ("mle", "aic", "bic"):
        assert ranks[name].k is None
        assert ranks[name].why == f"{name} needs more rows than columns; there are 30 rows and 60 columns"
    assert ranks.consensus == 2


def test_options_reach_the_rules(make):
    ranks = asked(make.planted(200, 12, 3), make, options=Options(0.5, 1.0, 0.9, 150))
    assert "asked for more than 50.00 %" in ranks["fraction"].why
    assert "noise 1," in ranks["gavish-donoho"].why
    assert "the 90 % quantile" in ranks["parallel"].why
    assert "the 90 % quantile" in ranks["permutation"].why
    assert "looked at 150 of 200 rows" in ranks["permutation"].why


def test_a_rule_of_all_rules_answers_like_one(make):
    X = make.planted(150, 12, 3)
    seen, rule = make.of_data(X), Consensus(ALL).on(make.handed(X))
    assert rule.name == "consensus"
    assert rule.decide(seen) == 3
    assert rule.why(seen) == rule.ranks(seen).reasons[0]
    curve = rule.curve(seen)
    assert curve.value[0] == 1.0
    assert np.all(np.diff(curve.value) <= 0)
    assert curve.value[3] > 0.5
    assert rule.decide(make.part(seen, 5)) is None


# ---------------------------------------------------------------------------------------- what data say


def test_uneven_noise_is_told_from_white(make):
    rng = np.random.default_rng(0)
    for n, d in ((300, 20), (100, 60), (80, 200)):
        white = rng.standard_normal((n, d))
        assert unevenness(make.of_data(white), 0) == 0.0
        t = np.exp(rng.uniform(np.log(0.2), np.log(5.0), d))
        cv = t.std() / t.mean()
        assert abs(unevenness(make.of_data(white * np.sqrt(t)), 0) / cv - 1) < 0.25
    assert unevenness(make.of_data(rng.standard_normal((50, 3))), 2) == 0.0  # nothing to tell it from
    exact = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 9))
    assert unevenness(make.of_data(exact), 2) == 0.0


def test_doubts_name_what_fails(make):
    X = make.planted(400, 60, 3, noise="uneven", strength=30.0)
    ranks = asked(X, make)
    for name in ("mle", "aic", "bic", "gavish-donoho", "gcv"):
        assert "the noise is not white, its variances differ by" in ranks[name].caution
        assert ranks[name].weight == 0.0
    assert 0 < ranks["bcv"].weight < 1
    assert ranks.consensus == 3


def test_single_doubts(make):
    seen = make.of_values([90.0, 5.0, 3.0, 2.0], n=20)
    facts = facts_of(seen, 2).after(seen, 1)
    assert facts.ratio == 18.0
    assert abs(facts.signal - 0.9) < 1e-12
    words = {name: " ".join(text for text, _ in doubts(name, 1, facts)) for name in ALL}
    assert (
        "component 1 holds 90 % of the variance, which raises the line and hides weak components" in words["parallel"]
    )
    assert "component 1 is 18.0 times the next" in words["elbow"]
    assert "2 components of pure noise would exceed the average" in words["kaiser"]
    assert "4 eigenvalues are few" in words["dpa"]
    assert words["fraction"] == ""
    few = facts_of(make.of_values(np.ones(10), n=15), 0)
    assert "1.4 rows a column are few" in doubts("bic", 1, few)[0][0]
    assert doubts("mle", 9, few)[0] == ("no flat end of the spectrum was found", 0.0)
    kernel = facts_of(seen, 0, linear=False, kernel=True)
    assert doubts("gavish-donoho", 1, kernel)[0][1] == 0.0
    assert doubts("kaiser", 1, kernel)[0][1] == 0.0


def test_near_ties():
    k = np.arange(1, 4)
    above = Curve(k, np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.299, 0.1]), "")
    assert near_tie("parallel", 1, above) == "a near tie: component 2 is within 2 % of the line"
    assert near_tie("parallel", 3, above) == ""
    errors = Curve(np.arange(3), np.array([1.0, 0.500, 0.503]), None, "")
    assert near_tie("bcv", 1, errors) == "a near tie: 2 would do nearly as well"
    assert near_tie("map", 1, Curve(np.arange(3), np.array([1.0, 0.5, 0.6]), None, "")) == ""
    evidence = Curve(k, np.array([-900.2, -899.9, -950.0]), None, "")
    assert near_tie("mle", 2, evidence) == "a near tie: 1 would do nearly as well"


# ------------------------------------------------------------------------------------ how often it is right


@pytest.mark.parametrize(
    ("n", "d", "noise"), [(200, 20, "white"), (150, 40, "uneven"), (50, 100, "white"), (50, 100, "uneven")]
)
def test_clear_components_are_counted_right_nine_times_in_ten(n, d, noise, make):
    right = 0
    for q in range(2, 9):
        for seed in (q, 100 + q):
            X = make.planted(n, d, q, strength=20.0, noise=noise, seed=seed)
            rules = [rule.on(make.handed(X)) if hasattr(rule, "on") else rule for rule in Consensus(QUICK).rules]
            right += judged(rules, make.of_data(X), make.handed(X)).consensus == q
    assert right >= 13  # of 14


QUICK = tuple(name for name in ALL if name != "kfold")
