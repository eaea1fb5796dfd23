"""Ranks of some pairs among all: how many rows are nearer to row i than row j is.

    rank(i, j) = 1 + |{l ≠ i, j : (d_il, l) < (d_ij, j)}|          equal distances by row number

Rows of keys are made block by block. Keys below ``inside`` are nearer for sure, keys above ``reach`` are not; the few
between, where rounding or a tie leaves a doubt, are compared by their exact distances. So ranks are exact, and no more
than a block of rows is held at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.graphs.search.screen import Screen
from ritz.graphs.spaces.base import Space

__all__ = ["ranks_of", "row_blocks"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Keys of a block of rows.
BLOCK = 1 << 19
#: Sorting n numbers takes as long as counting those below ``n / PER_COUNT`` bounds.
PER_COUNT = 110


def row_blocks(rows: int, n: int) -> list[slice]:
    """Places of rows in blocks of about ``BLOCK`` keys."""
    step = max(1, min(512, BLOCK // max(n, 1)))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def ranks_of(space: Space, rows: Places, pairs: Places) -> NDArray[np.int64]:
    """Ranks of columns ``pairs`` (m, k) as seen from ``rows`` (m,)."""
    screen = space.screen()
    if screen.wide is not None:
        screen = screen.wide
    steps = row_blocks(len(rows), screen.n)
    lanes = min(lane_count() if screen.parallel else 1, max(1, len(steps)))
    ranks = np.empty(pairs.shape, np.int64)

    def work(lane: int) -> None:
        for at in steps[lane::lanes]:
            go_on()
            ranks[at] = _block(screen, rows[at], pairs[at])

    run_lanes(work, list(range(lanes)))
    return ranks


def _block(screen: Screen, rows: Places, pairs: Places) -> NDArray[np.int64]:
    m, k = pairs.shape
    keys = _keys(screen, rows)
    here = np.arange(m)
    keys[here, rows] = -np.inf  # counted with those that are nearer, and taken off again
    number = np.repeat(rows, k)
    far = screen.exact(number, pairs.reshape(-1), keys[np.repeat(here, k), pairs.reshape(-1)])
    lower = screen.inside(number, far).reshape(m, k)
    upper = screen.reach(number, far).reshape(m, k)
    ranks, doubt = np.empty((m, k), np.int64), np.empty((m, k), bool)
    for i in range(m):
        ranks[i], doubt[i] = _counted(keys[i], lower[i], upper[i])
    for i, t in zip(*np.nonzero(doubt), strict=True):
        some = np.flatnonzero((keys[i] >= lower[i, t]) & (keys[i] <= upper[i, t]))
        some = some[(some != rows[i]) & (some != pairs[i, t])]
        near, own = screen.exact(np.full(len(some), rows[i]), some, keys[i, some]), far[i * k + t]
        ranks[i, t] += np.count_nonzero((near < own) | ((near == own) & (some < pairs[i, t])))
    return ranks


def _keys(screen: Screen, rows: Places) -> NDArray[Any]:
    """Keys of rows with all columns, (m, n)."""
    together = bool(np.all(np.diff(rows) == 1)) and len(rows) > 0
    return screen.tile(slice(int(rows[0]), int(rows[-1]) + 1) if together else rows, slice(0, screen.n))


def _counted(keys: NDArray[Any], lower: Floats, upper: Floats) -> tuple[Any, Any]:
    """Ranks if all keys between the bounds were farther, and whether there are any but the pair itself."""
    near = keys[keys <= upper.max()]
    if len(near) <= 2 * len(lower) * PER_COUNT:
        near.sort()
        below, within = np.searchsorted(near, lower, "left"), np.searchsorted(near, upper, "right")
    else:
        below = np.array([np.count_nonzero(near < bound) for bound in lower])
        within = np.array([np.count_nonzero(near <= bound) for bound in upper])
    return below, within - below > 1
