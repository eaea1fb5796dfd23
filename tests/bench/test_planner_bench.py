"""The choice beside every solver: what counts as the same route."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from bench import planner, planner_peers
from bench.planner import Table
from bench.planner_tables import SPECTRA, drawn, tables

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
    peer = peer and {"equal": peer["accurate"]} | peer
    found = {"times": {"auto": CHOSEN | {"seconds": ours, "left": True}}, "peers": {"arpack": peer}, "ratio": 1.0}
    return found if limit is None else found | {"limit": limit}


def test_a_table_on_which_all_peers_were_cut_off_counts_as_their_limit():
    assert planner.ahead(measured({"seconds": 4.0, "accurate": True}, 10.0)) == (4.0, True)
    assert planner.ahead(measured({"seconds": 4.0, "accurate": False}, 10.0)) == (10.0, False)
    assert planner.ahead(measured(None)) == (3.0, False)  # kept before limits were


def test_a_peer_with_fewer_digits_than_ritz_counts_for_the_tolerance_alone():
    found = measured({"seconds": 4.0, "accurate": True, "equal": False}, 10.0)
    assert planner.ahead(found, "accurate") == (4.0, True)
    assert planner.ahead(found, "equal") == (10.0, False)
    told = planner.summary([(Table(60, 40, 3, "slow"), found)])
    assert "that reaches the tolerance takes 4.00 times" in told
    assert "of as many digits as Ritz takes 10.00 times" in told


@pytest.mark.parametrize(("ours", "error", "accurate", "equal"), [
    (0.0, 1e-14, True, True), (0.0, 1e-9, True, False), (1e-9, 1.5e-9, True, True), (1e-9, 1e-8, True, False),
    (1e-5, 1e-5, False, False),
])  # fmt: skip
def test_digits_of_peers_are_compared_with_those_of_ritz(monkeypatch, ours, error, accurate, equal):
    table = Table(60, 40, 3, "slow")
    X = planner.make(table)
    _, s, V = np.linalg.svd(X, full_matrices=False)

    def peer(X):  # λ off by this share of the first
        return SimpleNamespace(singular_values_=s[:3] * (1 + error / 2), components_=V[:3])

    monkeypatch.setattr(planner_peers, "peers_of", lambda table: {"peer": (peer, False)})
    answer = s[:3] * (1 + ours / 2), V[:3]
    found = planner_peers.measure_peers(table, X, {"seconds": 1.0, "answer": answer})["peer"]
    assert (found["accurate"], found["equal"]) == (accurate, equal)


@pytest.mark.parametrize(("error", "asked"), [(1e-14, False), (1e-9, True)])
def test_arpack_is_asked_for_all_digits_where_it_has_fewer_than_ritz(monkeypatch, error, asked):
    table = Table(60, 40, 3, "slow")
    X = planner.make(table)
    _, s, V = np.linalg.svd(X, full_matrices=False)
    loose = SimpleNamespace(singular_values_=s[:3] * (1 + error / 2), components_=V[:3])
    tight = SimpleNamespace(singular_values_=s[:3], components_=V[:3])
    peers = {"arpack": (lambda X: loose, False), planner_peers.TIGHT: (lambda X: tight, False)}
    monkeypatch.setattr(planner_peers, "peers_of", lambda table: peers)
    found = planner_peers.measure_peers(table, X, {"seconds": 1.0, "answer": (s[:3], V[:3])})
    assert found["arpack"]["equal"] is not asked
    assert (planner_peers.TIGHT in found) is asked
    assert planner_peers.fastest(found, "equal") == (planner_peers.TIGHT if asked else "arpack")


def test_peers_that_were_cut_off_are_measured_further(monkeypatch):
    table = Table(300, 40, 3, "slow")
    found = planner.measure_further(table, measured(None, ours=1e-9))
    assert found["limit"] == pytest.approx(1e-8)
    assert found["times"]["auto"]["off"] < 1e-12  # the error of Ritz's own answer
    again = measured({"seconds": 4.0, "accurate": True})
    assert planner.measure_further(table, again) is again
    peer = {"seconds": 5.0, "accurate": True, "equal": True}
    monkeypatch.setattr(planner, "measure_peers", lambda table, X, ours: {"arpack": peer})
    found = planner.measure_further(table, measured(None, limit=3.0))
    assert planner.ahead(found)[0] == pytest.approx(5.0 / found["times"]["auto"]["seconds"])


@pytest.mark.parametrize("same", [0.0, 1.0])  # whether the route of the choice is measured under its name as well
def test_what_is_kept_can_be_written(monkeypatch, same):
    monkeypatch.setattr(planner, "SAME", same)
    found = json.loads(json.dumps(planner.measure(Table(80, 20, 3, "fast"))))
    assert found["times"]["auto"]["off"] < 1e-12
    assert planner.ahead(found)[0] > 0


@pytest.mark.parametrize("listed", [tables, drawn])
def test_lists_have_200_tables_of_every_kind(listed):
    found = listed()
    assert len(found) == len({table.name for table in found}) == 200
    assert {table.spectrum for table in found} == set(SPECTRA)
    assert {table.dtype for table in found} == {"float32", "float64"}
    assert all(1 <= table.k <= min(table.n, table.d) for table in found)
    assert min(sum(table.density is None for table in found), sum(table.density is not None for table in found)) > 60
    assert listed(1) != found == listed()
