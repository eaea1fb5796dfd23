"""Columns are standardised when their spreads differ more than tenfold, and the sentence says why."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.cli.fitting import scaling
from ritz.cli.fitting.scaling import decide_scaling, spreads


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize(("shift", "unit"), [(0, 1), (1e8, 1), (-3e4, 1e-3), (0, 1e200), (0, 1e-200)])
def test_spreads_are_standard_deviations(monkeypatch, block, shift, unit):
    monkeypatch.setattr(scaling, "BLOCK_ENTRIES", block)
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(40, 3)) * [1, 2, 5] + shift) * unit
    X = np.round(X / unit * 2**20) / 2**20 * unit if unit == 1 else X
    truth = np.std((X / unit - shift).astype(np.longdouble), axis=0, ddof=1)
    np.testing.assert_allclose(spreads(X) / unit, truth.astype(float), rtol=1e-7 if shift else 1e-13)


def test_spreads_of_integers_float16_and_constants():
    X = np.array([[0, 5], [100, 5], [200, 5]], dtype=np.uint8)
    np.testing.assert_allclose(spreads(X), [100, 0])
    assert spreads(np.array([[6e4], [-6e4]], dtype=np.float16))[0] == pytest.approx(1.2e5 / np.sqrt(2), rel=1e-3)
    np.testing.assert_array_equal(spreads(np.ones((1, 2))), [0, 0])


def columns(*sizes):
    base = np.array([-1.0, 0.0, 1.0])
    return np.stack([base * s for s in sizes], axis=1)


@pytest.mark.parametrize(("ratio", "expected"), [(9.99, False), (10.0, False), (10.01, True), (1e6, True)])
def test_tenfold_is_the_border(ratio, expected):
    decision = decide_scaling(spreads(columns(1.0, ratio)), ["a", "b"], None)
    assert decision.scale is expected
    assert not decision.asked


def test_the_sentence_names_the_columns_and_the_way_out():
    decision = decide_scaling(spreads(columns(2.0, 1.0, 300.0)), ["a", "b", "c"], None)
    assert decision.why == (
        "standardised: the standard deviations of the columns differ 300-fold (from b 1 to c 300), more than tenfold; "
        "--no-scale keeps the units"
    )
    decision = decide_scaling(spreads(columns(2.0, 1.0)), ["a", "b"], None)
    assert decision.why == (
        "not standardised: the standard deviations of the columns differ 2.0-fold (from b 1 to a 2), "
        "not more than tenfold; --scale standardises"
    )


@pytest.mark.parametrize("wanted", [True, False])
def test_the_user_decides(wanted):
    for X in (columns(1.0, 1e5), columns(1.0, 1.0)):
        decision = decide_scaling(spreads(X), ["a", "b"], wanted)
        assert decision.scale is wanted
        assert "as asked" in decision.why


def test_constant_columns_do_not_count():
    X = np.column_stack([columns(1.0, 3.0), np.full(3, 7.0)])
    assert not decide_scaling(spreads(X), ["a", "b", "c"], None).scale
    assert not decide_scaling(spreads(columns(5.0)), ["a"], None).scale


def test_columns_that_do_not_vary_are_not_counted_as_one():
    assert decide_scaling(spreads(np.ones((1, 2))), ["a", "b"], None).why == "not standardised: no column varies"
    one = decide_scaling(spreads(columns(1.0, 0.0)), ["a", "b"], None)
    assert one.why == "not standardised: there is only one column that varies"


def test_equal_spreads_do_not_differ():
    same = decide_scaling(spreads(columns(2.0, 2.0)), ["a", "b"], None)
    assert same.why == "not standardised: the columns have the same standard deviation, 2; --scale standardises"
    asked = decide_scaling(spreads(columns(2.0, 2.0)), ["a", "b"], True)
    assert asked.why == "standardised: as asked; the columns have the same standard deviation, 2"
