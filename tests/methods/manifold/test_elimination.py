"""Shortest paths by elimination: exact on whole numbers, within the stated rounding on others, whatever the graph."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

import ritz
from ritz.methods.manifold.elimination import eliminated
from ritz.methods.manifold.geodesic import Geodesics, Reached

RNG = np.random.default_rng(11)


def symmetric(n: int, i: object, j: object, lengths: object) -> sp.csr_array:
    i, j, lengths = np.asarray(i), np.asarray(j), np.asarray(lengths, float)
    return sp.csr_array((np.tile(lengths, 2), (np.append(i, j), np.append(j, i))), shape=(n, n))


def path(n):
    return symmetric(n, np.arange(n - 1), np.arange(1, n), RNG.integers(1, 9, n - 1))


def cycle(n):
    return symmetric(n, np.arange(n), (np.arange(n) + 1) % n, RNG.integers(1, 9, n))


def star(n):
    return symmetric(n, np.zeros(n - 1, int), np.arange(1, n), RNG.integers(1, 9, n - 1))


def complete(n):
    i, j = np.triu_indices(n, 1)
    return symmetric(n, i, j, RNG.integers(1, 100, len(i)))


def grid(n):
    side = int(np.sqrt(n))
    at = np.arange(side * side).reshape(side, side)
    i, j = np.append(at[:-1], at[:, :-1]), np.append(at[1:], at[:, 1:])
    return symmetric(side * side, i, j, RNG.integers(1, 9, len(i)))


def scattered(n):
    """Several components, some nodes alone."""
    i, j = RNG.integers(0, n, n), RNG.integers(0, n, n)
    keep = np.unique(np.sort(np.c_[i, j][i != j], axis=1), axis=0)
    return symmetric(n, keep[:, 0], keep[:, 1], RNG.integers(1, 9, len(keep)))


def far_and_near(n):
    """Lengths from 2⁻²⁶ to 2²⁶: sums of a few are still whole numbers of the least."""
    made = grid(n)
    upper = sp.triu(made).tocoo()
    return symmetric(made.shape[0], upper.row, upper.col, 2.0 ** RNG.choice([-12, 0, 12], upper.nnz))


@pytest.mark.parametrize("kind", [path, cycle, star, complete, grid, scattered, far_and_near])
@pytest.mark.parametrize("n", [2, 9, 100, 400])
def test_whole_numbers_are_exact(kind, n):
    graph = kind(n)
    made = eliminated(graph, np.inf)
    found = made.lengths(made.place).T[:, made.place]
    np.testing.assert_array_equal(found, shortest_path(graph, directed=False))


def test_rounding_stays_below_what_is_said(roll):
    graph = ritz.Neighbours(k=8).fit(roll).graph_
    made = eliminated(graph, np.inf)
    whole = sp.csr_array((np.round(graph.data * 2**30), graph.indices, graph.indptr), shape=graph.shape)
    exact = shortest_path(whole, directed=False)  # whole numbers below 2⁵³
    rough = eliminated(sp.csr_array((whole.data / 3.0, whole.indices, whole.indptr), shape=graph.shape), np.inf)
    found = rough.lengths(rough.place).T[:, rough.place]
    off = np.abs(found * 3.0 - exact) / np.where(exact > 0, exact, 1.0)
    assert off.max() <= rough.relative + 4 * 2.0**-53
    assert made.relative < 1e-12


def test_edges_of_length_zero_are_edges():
    graph = symmetric(4, [0, 1, 2], [1, 2, 3], [0.0, 2.0, 0.0])
    made = eliminated(graph, np.inf)
    np.testing.assert_array_equal(made.lengths(made.place).T[0, made.place], [0, 0, 2, 2])


def test_both_roads_lead_to_the_same_distances(roll):
    graph = ritz.Neighbours(k=8).fit(roll).graph_
    one, two = Geodesics(graph, road="elimination"), Geodesics(graph, road="searches")
    np.testing.assert_allclose(one.between(np.arange(600)), two.between(np.arange(600)), rtol=1e-13)
    for road in (one, two):
        whole, order = np.zeros((600, 600)), road.order
        for start, tile in road.tiles():
            whole[start : start + len(tile), start:] = tile
        whole = np.triu(whole) + np.triu(whole, 1).T
        np.testing.assert_allclose(whole, np.square(one.between(order)[:, order]), rtol=1e-12)
    assert one.relative < two.relative


def test_graphs_that_fill_are_searched():
    """Points in many dimensions have no cut: their elimination would take longer than searches."""
    flat, round_ = RNG.random((3000, 2)), RNG.standard_normal((3000, 12))
    assert type(Geodesics(ritz.Neighbours(k=10).fit(flat).graph_).road).__name__ == "Elimination"
    assert type(Geodesics(ritz.Neighbours(k=10, disconnected="join").fit(round_).graph_).road).__name__ == "Searches"


def test_new_rows_reach_all_nodes_by_both_roads(roll):
    near = ritz.Neighbours(k=8).fit(roll[:500])
    lists = near._space.nearest(roll[500:], 8).lists
    many = Reached(near.graph_, lists)
    assert many.road is None  # few new rows: searches
    searched = many(slice(10, 60))
    many.road = eliminated(near.graph_, np.inf)
    np.testing.assert_allclose(many(slice(10, 60)), searched, rtol=1e-13)


def test_no_room_for_a_tile_is_refused(roll):
    graph = ritz.Neighbours(k=8).fit(roll).graph_
    with pytest.raises(ritz.RitzError, match="geodesics of 600 rows"):
        next(iter(Geodesics(graph, road="elimination", room=1e4).tiles()))


def test_tiles_take_the_room_that_they_say():
    """A tile a lane, and none of those before: rows to the left of it are not made, and nobody holds the last."""
    graph = ritz.Neighbours(k=8).fit(RNG.random((1500, 2))).graph_
    road = Geodesics(graph, workers=2, road="elimination", room=6e6)
    allowed = 2 * road.road.bytes_of(road._sources())
    assert 1e6 < allowed <= 0.4 * 6e6
    tracemalloc.start()
    try:
        road.squares(0.0).times(np.ones((1500, 1)))
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < 1.4 * allowed


def test_paths_between_nodes_taken_out_late_need_no_others():
    graph = grid(400)
    made = eliminated(graph, np.inf)
    whole = made.lengths(np.arange(400))
    np.testing.assert_array_equal(made.lengths(np.arange(130, 170), 130), whole[130:, 130:170])
