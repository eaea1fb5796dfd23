"""The k nearest rows of each row, all of them, by blocks of keys.

    1  candidates    the k + some rows of least key, K_i the largest of these keys
    2  distances     of candidates, exactly; r_i the k-th of them
    3  proof         K_i > reach_i(r_i): no other row is as near as r_i, so none was lost and none is tied
    4  the rest      rows without that proof collect everything within r_i, by closer keys

Copies of a row are a case of their own: where r_i = 0, the neighbours are copies, found by comparing bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.graphs.lists import Lists
from ritz.graphs.search.collect import COLS, ROWS, collect
from ritz.graphs.search.copies import copies
from ritz.graphs.search.screen import Screen

__all__ = ["Nearest", "merged", "nearest"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Candidates beyond k: 8, or half of k. What is behind them has to be farther by the rounding of the keys.
SPARE, SPARE_SHARE = 8, 2
#: Groups of keys, in units of the candidates, whose least keys bound the keys of candidates.
GROUPS = 4


@dataclass(frozen=True)
class Nearest:
    """Neighbours, how many rows were looked at again, and how many pairs."""

    lists: Lists
    again: int
    looked: int


def nearest(screen: Screen, k: int, own: bool, keep_ties: bool = False, room: float = np.inf) -> Nearest:
    """The k nearest of the n columns to each of the m rows; ``own``: row i is column i, no neighbour of itself."""
    m = screen.m
    steps = [slice(a, min(a + ROWS, m)) for a in range(0, m, ROWS)]
    lanes = min(lane_count() if screen.parallel else 1, max(len(steps), 1))
    indices, distances = np.empty((m, k), np.intp), np.empty((m, k))
    proved, looked = np.zeros(m, bool), [0] * lanes

    def work(lane: int) -> None:
        for at in steps[lane::lanes]:
            go_on()
            keys, cols = _candidates(screen, at, k, own)
            indices[at], distances[at], proved[at], pairs = _ranked(screen, at, keys, cols, k, keep_ties)
            looked[lane] += pairs

    run_lanes(work, list(range(lanes)))
    even = Lists(np.arange(m + 1) * k, indices.reshape(-1), distances.reshape(-1))
    again, lists = np.flatnonzero(~proved), even
    alike = again[distances[again, -1] == 0]
    if len(alike):
        rows, twins = copies(screen, alike, own, k, keep_ties)
        lists, again = merged(lists, rows, twins), np.setdiff1d(again, rows)
    if not len(again):
        return Nearest(lists, 0, sum(looked))
    closer = screen if screen.wide is None else screen.wide
    more = collect(closer, again, distances[again, -1], own, None if keep_ties else k, room)
    return Nearest(merged(lists, again, more.lists), len(again), sum(looked) + more.looked)


def merged(lists: Lists, rows: Places, others: Lists) -> Lists:
    """``lists`` in which some rows have those of ``others``."""
    if others.even and lists.even and len(others) and others.counts[0] == lists.counts[0]:
        k = int(lists.counts[0])
        indices, distances = lists.indices.reshape(-1, k).copy(), lists.distances.reshape(-1, k).copy()
        indices[rows], distances[rows] = others.indices.reshape(-1, k), others.distances.reshape(-1, k)
        return Lists(lists.indptr, indices.reshape(-1), distances.reshape(-1))
    counts = lists.counts.copy()
    counts[rows] = others.counts
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    indices, distances = np.empty(indptr[-1], np.intp), np.empty(indptr[-1])
    old = np.ones(len(lists), bool)
    old[rows] = False
    for part, chosen in ((lists, np.flatnonzero(old)), (others, rows)):
        source = np.arange(len(part)) if part is others else chosen
        goal = _spread(indptr[chosen], part.counts[source])
        origin = _spread(part.indptr[source], part.counts[source])
        indices[goal], distances[goal] = part.indices[origin], part.distances[origin]
    return Lists(indptr, indices, distances)


def _spread(starts: Places, counts: Places) -> Places:
    """``starts[i], starts[i] + 1, …``, ``counts[i]`` of them, one after another."""
    if not len(starts):
        return np.zeros(0, np.intp)
    ends = np.cumsum(counts)
    return np.arange(ends[-1]) + np.repeat(starts - (ends - counts), counts)


def _candidates(screen: Screen, rows: slice, k: int, own: bool) -> tuple[NDArray[Any], Places]:
    """The k + some columns of least key, in order of their keys; (rows, width) each."""
    width = min(k + max(SPARE, k // SPARE_SHARE), screen.n)
    best_keys: NDArray[Any] | None = None
    best_cols = np.zeros((rows.stop - rows.start, width), np.intp)
    mask = np.empty(len(best_cols) * min(COLS, screen.n), bool)  # memory that is used again: fresh pages cost more
    for start in range(0, screen.n, COLS):
        cols = slice(start, min(start + COLS, screen.n))
        keys = screen.tile(rows, cols)
        if own:
            here = np.arange(max(rows.start, start), min(rows.stop, cols.stop))
            keys[here - rows.start, here - start] = np.inf
        if best_keys is None:
            best_keys = np.full(best_cols.shape, np.inf, keys.dtype)
        _improve(best_keys, best_cols, keys, start, mask)
    if best_keys is None:
        raise ValueError("no columns")
    order = np.argsort(best_keys, axis=1, kind="stable")
    return np.take_along_axis(best_keys, order, axis=1), np.take_along_axis(best_cols, order, axis=1)


def _improve(
    best_keys: NDArray[Any], best_cols: Places, keys: NDArray[Any], start: int, mask: NDArray[np.bool_]
) -> None:
    """Put smaller keys of a tile among the best, in place: a mask first, for few are smaller."""
    width, wide = best_keys.shape[1], keys.shape[1]
    bound = best_keys.max(axis=1)
    if not np.isfinite(bound).all():  # the first tile
        bound = np.minimum(bound, _bound(keys, width))
    small = np.less_equal(keys, bound[:, None], out=mask[: keys.size].reshape(keys.shape))
    i, j = np.divmod(np.flatnonzero(small), wide)
    if not len(i):
        return
    counts = np.bincount(i, minlength=len(keys))
    some = np.flatnonzero(counts)
    place = np.arange(len(i)) - np.repeat((np.cumsum(counts) - counts)[some], counts[some])
    row = np.repeat(np.arange(len(some)), counts[some])
    most = int(counts.max())
    new_keys = np.full((len(some), width + most), np.inf, keys.dtype)
    new_cols = np.zeros((len(some), width + most), np.intp)
    new_keys[:, :width], new_cols[:, :width] = best_keys[some], best_cols[some]
    new_keys[row, width + place], new_cols[row, width + place] = keys[i, j], j + start
    order = np.argpartition(new_keys, width - 1, axis=1)[:, :width]
    best_keys[some] = np.take_along_axis(new_keys, order, axis=1)
    best_cols[some] = np.take_along_axis(new_cols, order, axis=1)


def _bound(keys: NDArray[Any], width: int) -> NDArray[Any]:
    """For each row a key that at least ``width`` of its keys do not exceed: the width-th of the least keys of groups.

    Looking for the width-th key itself would take ten times as long as all products.
    """
    groups = GROUPS * width
    share = keys.shape[1] // groups
    if share < 2:
        return np.full(len(keys), np.inf, keys.dtype)
    least = keys[:, : share * groups].reshape(len(keys), share, groups).min(axis=1)
    least.partition(width - 1, axis=1)
    return np.asarray(least[:, width - 1])


def _ranked(
    screen: Screen, rows: slice, keys: NDArray[Any], cols: Places, k: int, keep_ties: bool
) -> tuple[Places, Floats, NDArray[np.bool_], int]:
    """Of candidates the k nearest by their distances, whether these are proved to be all; how many were compared."""
    b, width = keys.shape
    number = np.repeat(np.arange(rows.start, rows.stop), k)
    distances = np.full((b, width), np.inf)
    distances[:, :k] = screen.exact(number, cols[:, :k].reshape(-1), keys[:, :k].reshape(-1)).reshape(b, k)
    upper = distances[:, :k].max(axis=1)
    reach = screen.reach(rows, upper)
    i, j = np.nonzero(keys[:, k:] <= reach[:, None])
    real = np.isfinite(keys[i, j + k])  # the row itself was given an infinite key
    i, j = i[real], j[real] + k
    distances[i, j] = screen.exact(i + rows.start, cols[i, j], keys[i, j])
    order = np.lexsort((cols, distances), axis=1)[:, :k]
    kept = np.take_along_axis(distances, order, axis=1)
    # All columns were candidates, or the least key of the others lies beyond what is near.
    proved = (keys[:, -1] > screen.reach(rows, kept[:, -1])) | (width >= screen.n)
    if keep_ties:
        proved &= np.count_nonzero(distances <= kept[:, -1:], axis=1) == k
    return np.take_along_axis(cols, order, axis=1), kept, proved, b * k + len(i)
