"""The choice beside every solver: what counts as the same route."""

from __future__ import annotations

import pytest

from bench import planner
from bench.planner import Table

CHOSEN = {"solver": "lanczos", "route": "lanczos on the columns", "left": False, "converged": True, "proved": True}


@pytest.mark.parametrize(("proved", "seconds"), [(True, 0.01), (False, 0.03)])
def test_the_choice_has_not_the_time_of_a_solver_that_proved_less(monkeypatch, proved, seconds):
    def timed(_X, _k, solver, _best):
        own = {"seconds": 0.03} if solver == "auto" else {"seconds": 0.01, "proved": proved}
        return CHOSEN | {"sigma": [1.0]} | own

    monkeypatch.setattr(planner, "_timed", timed)
    monkeypatch.setattr(planner, "measure_peers", lambda table, X, ours: {})
    found = planner.measure(Table(60, 40, 3, "flat"))
    assert found["times"]["auto"]["seconds"] == seconds
    assert found["ratio"] == 1.0
