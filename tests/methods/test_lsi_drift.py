"""Drift by its formulas, written out again: what is expected, how sure a difference is, how weights have changed."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import ritz
from ritz.methods.lsi.drift import QUANTILES, Energies, drift_of
from ritz.methods.lsi.updating import cut_off
from ritz.text.sums import Sums

PLAIN = ritz.text.Words()


def texts(n=40, seed=0, words=60):
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{j:02d}" for j in rng.zipf(1.3, 15) % words) for _ in range(n)]


def told(n, m, *, above, outside, expected, squares=None):
    """Drift of made-up sums, without a change of weights."""
    quantiles = np.full(len(QUANTILES), expected)
    squares = m * outside**2 if squares is None else squares
    energies = Energies(n, expected, quantiles, m, m * outside, squares, m * above)
    return drift_of(SimpleNamespace(_record=SimpleNamespace(energies=energies, word_sums_now=None)))


@pytest.mark.parametrize(
    ("n", "m", "above", "due"),
    [
        (20, 20, 0.75, False),  # 0.25 < 3·√(41/4800) = 0.277
        (30, 30, 0.75, True),  # 0.25 > 3·√(61/10800) = 0.226
        (300, 300, 0.69, False),  # below the least difference that counts
        (300, 300, 0.71, True),
        (9, 300, 1.0, False),  # too few
        (300, 9, 1.0, False),
    ],
)
def test_a_difference_counts_where_chance_does_not_explain_it(n, m, above, due):
    assert told(n, m, above=above, outside=0.5, expected=0.5).due is due


@pytest.mark.parametrize(
    ("outside", "spread", "due"),
    [
        (0.78, 0.0, False),  # 0.22 of 0.4 is explained: more than half of what is expected
        (0.82, 0.0, True),
        (0.82, 0.6, False),  # 0.22 < 3·0.6/√50
    ],
)
def test_topics_that_explain_less_than_half_of_what_is_expected_are_old(outside, spread, due):
    squares = 50 * (outside**2 + spread**2)
    assert told(100, 50, above=0.6, outside=outside, expected=0.6, squares=squares).due is due


@pytest.mark.parametrize("k", [3, 12, 40])
def test_what_is_expected_is_the_mean_of_its_formula(k):
    corpus = texts()
    lsi = ritz.LSI(k, words=PLAIN).fit(corpus)
    W = lsi._weighed(lsi.fitted(lsi).tabled(corpus)).toarray()
    _, s, Vt = np.linalg.svd(W, full_matrices=False)
    E = W @ Vt[:k].T
    shares = []
    for x, e in zip(W, E, strict=True):
        rest = max(0.0, 1 - e @ e / (x @ x))
        h = min(1.0, float(np.sum((e / s[:k]) ** 2)))
        if h > 1 - 1e-6:
            shares.append(1 / (np.sum((e / s[:k] ** 2) ** 2) * (x @ x)))
            continue
        q = rest / (1 - h) ** 2
        shares.append((1 - h**1.5) * min(q, 1.0) + h**1.5 * q / (q + 1 - rest))
    assert lsi.drift_.expected == pytest.approx(np.mean(np.clip(shares, 0, 1)), rel=1e-6)


def test_weights_that_have_changed_by_half_ask_for_a_refit():
    lsi = ritz.LSI(3, words=PLAIN, weighting="tf-idf").fit(texts(20)).update(texts(1, seed=5))
    record, dues = lsi._record, []
    for n, df in ((21, 1.0), (400, 1.0), (400, 300.0)):
        d = len(record.word_sums.df)
        now = Sums(n, record.word_sums.length, np.full(d, df), record.word_sums.gf + 1, record.word_sums.tf_log_tf)
        lsi._record = replace(record, word_sums_now=now)
        known = record.word_sums.df > 0
        old = (np.log((1 + record.word_sums.n) / (1 + record.word_sums.df)) + 1)[known]
        new = np.log((1 + n) / (1 + df)) + 1
        often = now.gf[known]
        changed = np.sum(often * np.abs(new - old)) / np.sum(often * old)
        drift = lsi.drift_
        assert drift.reweighted == pytest.approx(changed, rel=1e-12)
        assert drift.due == (changed > 0.5)
        assert ("weights of words have changed" in drift.why) == (changed > 0.5)
        dues.append(drift.due)
    assert set(dues) == {True, False}


def test_what_is_cut_off_adds_up_over_updates():
    """With a loose tolerance residuals are no rounding: they count in what is lost, and alone in what is mixed."""
    corpus = texts(60, words=90)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lsi = ritz.LSI(5, words=PLAIN, weighting="count", solver="power", tol=1e-2).fit(corpus[:30])
        first = cut_off(lsi.certificate_, min(30, lsi.n_features_in_))
        assert first[1] > 1e-6
        lsi.update(corpus[30:45])
        second = lsi._record.cut
        assert lsi._record.lost == pytest.approx(sum(first), rel=1e-12)
        assert lsi._record.mixed == pytest.approx(first[1], rel=1e-12)
        lsi.update(corpus[45:])
    assert lsi._record.lost == pytest.approx(sum(first) + sum(second), rel=1e-12)
    assert lsi._record.mixed == pytest.approx(first[1] + second[1], rel=1e-12)
    assert lsi.verify(corpus)


def test_what_is_cut_off_is_the_norm_of_what_is_left():
    """τ of a direct fit is λ_{k+1} up to rounding, and nothing where all components were kept."""
    C = np.random.default_rng(3).poisson(0.6, (30, 20)).astype(float)
    values = np.linalg.svd(C, compute_uv=False) ** 2
    for k in (1, 6, 19):
        tau, residual = cut_off(ritz.LSI(k, weighting="count").fit(C).certificate_, 20)
        assert values[k] * (1 - 1e-9) <= tau <= values[k] * (1 + 1e-9) + residual + 1e-9
        assert residual < 1e-8
    assert cut_off(ritz.LSI(20, weighting="count").fit(C).certificate_, 20)[0] == 0


def test_what_updates_leave_out_of_an_enclosure_is_needed():
    """Documents that turn what was cut off into the strongest topic: bounds must reach that far, and do."""
    C = np.zeros((8, 4))
    C[:4, 0], C[4:6, 1], C[6:7, 2], C[7, 3] = 3, 3, 3, 1
    C[0, 1] = 1
    lsi = ritz.LSI(1, weighting="count").fit(C[:7])
    more = np.array([[0, 4.0, 0, 0], [0, 5.0, 0, 0]])
    lsi.update(more)
    true = np.linalg.svd(np.vstack([C[:7], more]), compute_uv=False)[0] ** 2
    c = lsi.certificate_
    assert c.values[0] < true * (1 - 1e-3)  # the update itself cannot know
    assert c.lower[0] <= true <= c.upper[0]
    assert lsi.verify(np.vstack([C[:7], more]))


@pytest.mark.parametrize("name", ["upper", "total", "residuals", "ceiling"])
def test_a_certificate_of_an_update_that_says_too_much_is_not_verified(name):
    corpus = texts(40)
    lsi = ritz.LSI(3, words=PLAIN).fit(corpus[:30]).update(corpus[30:])
    assert lsi.verify(corpus)
    c = lsi.certificate_
    told = {"upper": c.values * (1 + 1e-9), "total": 0.9 * c.total, "residuals": 1e-3 * c.residuals, "ceiling": 1e-3}
    lsi.certificate_ = replace(c, **{name: told[name]})
    assert not lsi.verify(corpus)
