"""The choice beside every solver: what counts as the same route."""

from __future__ import annotations

import json

import pytest

from bench import planner
from bench.planner import Table

CHOSEN = {"solver": "lanczos", "route": "lanczos on the columns", "left": False, "converged": True, "proved": True}


@pytest.mark.parametrize(("proved", "seconds"), [(True, 0.01), (False, 0.03)])
def test_the_choice_has_not_the_time_of_a_solver_that_proved_less(monkeypatch, proved, seconds):
    def timed(_X, _k, solver, _best):
        own = {"seconds": 0.03} if solver == "auto" else {"seconds": 0.01, "proved": proved}
        return CHOSEN | {"answer": ([1.0], [[1.0]])} | own

    monkeypatch.setattr(planner, "_timed", timed)
    monkeypatch.setattr(planner, "measure_peers", lambda table, X, ours: {})
    found = planner.measure(Table(60, 40, 3, "flat"))
    assert found["times"]["auto"]["seconds"] == seconds
    assert found["ratio"] == 1.0


def measured(peer, limit=None, ours=1.0):
    """What is kept of a table."""
    found = {"times": {"auto": CHOSEN | {"seconds": ours, "left": True}}, "peers": {"arpack": peer}, "ratio": 1.0}
    return found if limit is None else found | {"limit": limit}


def test_a_table_on_which_all_peers_were_cut_off_counts_as_their_limit():
    assert planner.ahead(measured({"seconds": 4.0, "accurate": True}, 10.0)) == (4.0, True)
    assert planner.ahead(measured({"seconds": 4.0, "accurate": False}, 10.0)) == (10.0, False)
    assert planner.ahead(measured(None)) == (3.0, False)  # kept before limits were


def test_peers_that_were_cut_off_are_measured_further(monkeypatch):
    table = Table(300, 40, 3, "slow")
    found = planner.measure_further(table, measured(None, ours=1e-9))
    assert found["limit"] == pytest.approx(1e-8)
    assert found["times"]["auto"]["off"] < 1e-12  # the error of Ritz's own answer
    again = measured({"seconds": 4.0, "accurate": True})
    assert planner.measure_further(table, again) is again
    monkeypatch.setattr(planner, "measure_peers", lambda table, X, ours: {"arpack": {"seconds": 5.0, "accurate": True}})
    found = planner.measure_further(table, measured(None, limit=3.0))
    assert planner.ahead(found)[0] == pytest.approx(5.0 / found["times"]["auto"]["seconds"])


@pytest.mark.parametrize("same", [0.0, 1.0])  # whether the route of the choice is measured under its name as well
def test_what_is_kept_can_be_written(monkeypatch, same):
    monkeypatch.setattr(planner, "SAME", same)
    found = json.loads(json.dumps(planner.measure(Table(80, 20, 3, "fast"))))
    assert found["times"]["auto"]["off"] < 1e-12
    assert planner.ahead(found)[0] > 0
