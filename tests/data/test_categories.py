"""Vocabularies: order of levels, union, difference, pooling of states."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.errors import InputError, MergeError
from ritz.data.encode.vocabulary import MISSING, OTHER, Variable, Vocabulary, pooled, sorted_levels
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.statistics import Statistics


def variable(name: str, kind: str = "text", order: tuple[str, ...] = (), **counts: float) -> Variable:
    levels = sorted_levels(counts, kind, order)
    return Variable(name, levels, np.asarray([counts[level] for level in levels], float), kind, order)


def test_levels_are_sorted_by_text_by_size_or_as_declared():
    assert sorted_levels(["10", "9", "b"], "text") == ("10", "9", "b")
    assert sorted_levels(["10", "9", "-1.5"], "number") == ("-1.5", "9", "10")
    assert sorted_levels(["low", "high"], "text", ("low", "mid", "high")) == ("low", "high")
    assert sorted_levels(["x", "high", "low"], "text", ("low", "high")) == ("low", "high", "x")
    assert sorted_levels([OTHER, MISSING, "z"], "text") == ("z", MISSING, OTHER)
    assert sorted_levels([MISSING, "2", "10"], "number") == ("2", "10", MISSING)


def test_offsets_labels_and_owners():
    words = Vocabulary((variable("a", x=2.0, y=1.0), variable("b", u=3.0)))
    assert (words.J, words.K) == (2, 3)
    assert words.offsets.tolist() == [0, 2, 3]
    assert words.labels == ["a=x", "a=y", "b=u"]
    assert words.owners.tolist() == [0, 0, 1]
    assert words.counts.tolist() == [2.0, 1.0, 3.0]
    assert words.find(["b=u", "a=x"]).tolist() == [2, 0]
    with pytest.raises(InputError, match=r"did you mean 'a=[xy]'"):
        words.find(["a=z"])


def test_union_adds_counts_and_knows_the_places():
    a = Vocabulary((variable("a", x=2.0, z=1.0), variable("b", u=3.0)))
    b = Vocabulary((variable("a", y=5.0, z=1.0), variable("b", t=1.0, u=5.0)))
    whole, mine, theirs = a.union(b)
    assert whole.labels == ["a=x", "a=y", "a=z", "b=t", "b=u"]
    assert whole.counts.tolist() == [2.0, 5.0, 2.0, 1.0, 8.0]
    assert mine.tolist() == [0, 2, 4]
    assert theirs.tolist() == [1, 2, 3, 4]


def test_union_keeps_declared_orders_and_forgets_a_kind_that_differs():
    low = variable("a", order=("low", "high"), low=1.0)
    high = variable("a", order=("low", "high"), high=1.0)
    assert high.union(low).levels == ("low", "high")
    mixed = variable("a", "number", **{"2": 1.0, "10": 1.0}).union(variable("a", x=1.0))
    assert mixed.kind == "text"
    assert mixed.levels == ("10", "2", "x")


def test_difference_takes_off_counts_and_levels_that_nobody_gives():
    whole = Vocabulary((variable("a", x=2.0, y=5.0), variable("b", u=7.0)))
    part = Vocabulary((variable("a", x=2.0, y=1.0), variable("b", u=3.0)))
    rest, stay, gone = whole.difference(part)
    assert rest.labels == ["a=y", "b=u"]
    assert rest.counts.tolist() == [4.0, 4.0]
    assert stay.tolist() == [1, 2]
    assert gone.tolist() == [0, 1, 2]
    with pytest.raises(MergeError, match="a=x more often"):
        part.difference(Vocabulary((variable("a", x=3.0), variable("b", u=3.0))))
    with pytest.raises(MergeError, match="never saw"):
        part.difference(Vocabulary((variable("a", q=1.0), variable("b", u=1.0))))
    with pytest.raises(MergeError, match="same columns"):
        part.union(Vocabulary((variable("c", x=3.0), variable("b", u=3.0))))


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [0, 0, 1, -1], [2, 1, 1, 1], [4, 0, 2, 1]])
def test_a_pooled_state_is_the_state_of_the_pooled_columns(places, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4)) + 3.0
    at, d = np.asarray(places), 5
    C = np.zeros((4, d))
    for j, place in enumerate(places):
        if place >= 0:
            C[j, place] = 1.0
    w = rng.random(50)
    got = pooled(Statistics(blocks_of(X), w).moments, at, d)
    Y = X @ C
    mean = w @ Y / w.sum()
    np.testing.assert_allclose(got.mean, mean, atol=1e-13)
    np.testing.assert_allclose(got.scatter * got.unit**2, (Y - mean).T @ (w[:, None] * (Y - mean)), atol=1e-11)
    assert got.noise >= Statistics(blocks_of(X), w).moments.noise
