"""All rows within a distance: everything that a screen lets through, looked at exactly.

    {j : key_ij ≤ reach_i(r_i)}  ⊇  {j : d(i, j) ≤ r_i}

Where the screen lets through much more than what is near, the next screen, whose keys are closer, takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.search.screen import Screen

__all__ = ["COLS", "ROWS", "Collected", "collect"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Rows and columns of a tile: large enough for BLAS, small enough to stay in the cache with its mask.
ROWS, COLS = 512, 4096
#: A screen that lets through this many times what is near is changed for its wide one.
LOOSE = 16
#: Pairs of a block of rows that are kept before the nearest of each row are picked.
TRIM = 1 << 20


@dataclass(frozen=True)
class Collected:
    """Lists of the rows that were asked for, in their order, and how many pairs were looked at."""

    lists: Lists
    looked: int


def collect(
    screen: Screen, rows: Places, radii: Floats, own: bool, most: int | None = None, room: float = np.inf
) -> Collected:
    """Rows within ``radii`` of some rows.

    Parameters
    ----------
    rows : positions among the m rows of the screen
    radii : a distance for each of them
    own : whether rows and columns are the same, so that row i is no neighbour of itself
    most : of each row only so many are wanted, ties broken by row number
    room : bytes that the lists may take
    """
    steps = [slice(a, min(a + ROWS, len(rows))) for a in range(0, len(rows), ROWS)]
    lanes = min(lane_count() if screen.parallel else 1, max(len(steps), 1))
    parts: list[tuple[Lists, int]] = [(_EMPTY, 0)] * len(steps)
    taken = [0.0] * lanes

    def work(lane: int) -> None:
        using = screen
        for place in range(lane, len(steps), lanes):
            at = steps[place]
            lists, looked = _block(using, rows[at], radii[at], own, most)
            parts[place] = lists, looked
            taken[lane] += 16.0 * len(lists.indices)
            if sum(taken) > room:
                raise MemoryLimitError(
                    "lists of neighbours within the memory limit",
                    received=f"{sum(taken) / 1e6:,.0f} MB after {at.stop:,} of {len(rows):,} rows",
                    hint="a smaller radius, or k nearest rows instead; ties='row' keeps k of many equally near",
                )
            if using.wide is not None and looked > LOOSE * (len(lists.indices) + len(lists)):
                using = using.wide

    run_lanes(work, list(range(lanes)))
    return Collected(_joined([part for part, _ in parts]), sum(looked for _, looked in parts))


def _block(screen: Screen, rows: Places, radii: Floats, own: bool, most: int | None) -> tuple[Lists, int]:
    reach = screen.reach(rows, radii)
    if screen.itemsize == 4:
        reach = np.nextafter(reach.astype(np.float32), np.float32(np.inf))
    found: list[tuple[Places, Places, Floats]] = []
    held = looked = 0
    for start in range(0, screen.n, COLS):
        go_on()
        cols = slice(start, min(start + COLS, screen.n))
        keys = screen.tile(rows, cols)
        i, j = np.divmod(np.flatnonzero(keys <= reach[:, None]), cols.stop - cols.start)
        values, j = keys[i, j], j + start
        if own:
            other = rows[i] != j
            i, j, values = i[other], j[other], values[other]
        looked += len(i)
        distances = screen.exact(rows[i], j, values)
        near = distances <= radii[i]
        found.append((i[near], j[near], distances[near]))
        held += int(near.sum())
        if most is not None and held > TRIM:
            found = [_picked(found, len(rows), most)]
            held = len(found[0][0])
    i, j, distances = _together(found)
    return of_pairs(i, j, distances, len(rows), most), looked


def _together(found: list[tuple[Places, Places, Floats]]) -> tuple[Places, Places, Floats]:
    if not found:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
    i, j, distances = (np.concatenate([part[column] for part in found]) for column in range(3))
    return i, j, distances


def _picked(found: list[tuple[Places, Places, Floats]], m: int, most: int) -> tuple[Places, Places, Floats]:
    i, j, distances = _together(found)
    lists = of_pairs(i, j, distances, m, most)
    return lists.rows, lists.indices, lists.distances


def _joined(parts: list[Lists]) -> Lists:
    counts = np.concatenate([part.counts for part in parts]) if parts else np.zeros(0, np.intp)
    indices = np.concatenate([part.indices for part in parts]) if parts else np.zeros(0, np.intp)
    distances = np.concatenate([part.distances for part in parts]) if parts else np.zeros(0)
    return Lists(np.concatenate([[0], np.cumsum(counts)]).astype(np.intp), indices, distances)


_EMPTY = Lists(np.zeros(1, np.intp), np.zeros(0, np.intp), np.zeros(0))
