"""Names beside points, where there is room.

Every name may stand at one of some places around its point: DIRECTIONS on RINGS of growing distance. A place costs

    names it covers or touches  +  points it hides  +  lines across names  +  what sticks out of the Axes  +  distance

in units of the area of the name. The names move in turn, each to its cheapest place given the others, until none
wants to move or SWEEPS are over. Deterministic: the same points and names give the same picture. O(m²) a sweep
for m names, O(ma) once for a further points that they keep off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.plot.style import FAINT, INK

__all__ = ["write_names"]

Floats = NDArray[np.float64]

#: Directions from a point, in degrees: names read best to the right of their point, then left, above, below.
DIRECTIONS = (0, 180, 90, 270, 45, 315, 135, 225, 20, 340, 160, 200, 65, 115, 245, 295)
#: Distances from the point, in points (1/72 inch).
RINGS = (5.5, 11.0, 18.0, 28.0, 40.0, 54.0, 70.0)
#: A name farther away than this is tied to its point by a line.
TIED = 9.0
SWEEPS = 30
#: Costs of hiding a point, of touching another name at all, of sticking out, and of the distance, against 1 for being
#: covered altogether by another name.
HIDING, TOUCHING, OUTSIDE, AWAY = 0.6, 0.4, 4.0, 0.02
#: Cost of standing nearer to another point, without a line.
MISTAKEN = 0.5
#: Cost of a line that runs through a name, all of it; lines are looked at in TIES places.
CROSSING, TIES = 2.0, 8
#: Names keep this distance from each other and from points.
CLEAR = 1.0


def write_names(
    ax: Any, xy: Any, names: Sequence[str], *, colors: Any = None, size: float = 8.0, avoid: Any = None
) -> list[Any]:
    """Write a name beside each point of ``xy`` (m, 2), once the limits of the Axes are final; the annotations.

    Names also keep off the points ``avoid`` (a, 2), which have no names.
    """
    points = np.asarray(xy, np.float64)
    if not len(points):
        return []
    figure = ax.figure.figure  # the whole one, where Axes stand in a part of it
    figure.draw_without_rendering()  # a layout moves Axes when it is drawn: only then are distances known
    scale = figure.dpi / 72
    half = _sizes(ax, names, size) / (2 * scale)
    box = np.array([ax.bbox.min, ax.bbox.max]) / scale
    every = points if avoid is None else np.concatenate([points, np.asarray(avoid, np.float64)])
    offsets, far = _places(ax.transData.transform(every) / scale, half, box)
    tints = [INK] * len(points) if colors is None else list(colors)
    notes = []
    for i, name in enumerate(names):
        line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 1} if far[i] else None
        notes.append(
            ax.annotate(name, points[i], xytext=offsets[i], textcoords="offset points", fontsize=size, color=tints[i],
                        ha="center", va="center", arrowprops=line, annotation_clip=False, zorder=4)
        )  # fmt: skip
    return notes


def _sizes(ax: Any, names: Sequence[str], size: float) -> Floats:
    """Widths and heights of names in pixels, (m, 2)."""
    sizes = np.empty((len(names), 2))
    for i, name in enumerate(names):
        text = ax.text(0, 0, name, fontsize=size)
        sizes[i] = text.get_window_extent().size
        text.remove()
    return sizes


def _places(crowd: Floats, half: Floats, box: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Offsets of the middles of names from their points, (m, 2), and which are far; all lengths in points.

    The first m points of ``crowd`` have the names, the others are only kept free.
    """
    at = crowd[: len(half)]
    angle = np.radians(DIRECTIONS)
    u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ring = np.repeat(RINGS, len(u))
    toward = np.tile(u, (len(RINGS), 1))
    # The edge of the name, not its middle, keeps the distance: beside the point it stands clear, above it is centred.
    offsets = ring[:, None] * toward + np.clip(1.4 * toward, -1, 1) * half[:, None, :]  # (m, c, 2)
    middle = at[:, None, :] + offsets
    ties = _ties(at, middle, half, ring > TIED)  # (m, c, t, 2)
    order = np.tile(np.arange(len(u)), len(RINGS))
    fixed = AWAY * (ring / RINGS[0] - 1) + 0.2 * AWAY * order / len(u)
    fixed = fixed + _alone(middle, half, crowd, box) + _struck(ties, crowd)
    fixed += MISTAKEN * (_closer(middle, half, crowd) & (ring <= TIED))
    now, every = np.argmin(fixed, axis=1), np.arange(len(at))
    still = 0  # names asked in a row that stayed where they were
    for i in np.tile(every, SWEEPS):
        # Only names that could meet this one, and lines that are drawn, are looked at.
        rest = (np.abs(at - at[i]) < 2 * (RINGS[-1] + half + half[i])).all(axis=1) & (every != i)
        names, lines = middle[every, now][rest], ties[every, now][rest & (ring[now] > TIED)]
        cost = fixed[i] + _overlap(middle[i], half[i], names, half[rest])
        cost += CROSSING * _inside(ties[i], names, half[rest]).sum(axis=1) / TIES
        cost += CROSSING * _inside(lines, middle[i], half[i]).sum(axis=0) / TIES
        best = int(np.argmin(cost))
        moves = cost[best] < cost[now[i]] - 1e-9
        now[i], still = (best, 1) if moves else (now[i], still + 1)
        if still == len(every):
            break
    return offsets[every, now], ring[now] > TIED


def _ties(at: Floats, middle: Floats, half: Floats, far: NDArray[np.bool_]) -> Floats:
    """Points along the line from each point to each of its places, (m, c, t, 2); NaN where there is none."""
    end = np.clip(at[:, None], middle - half[:, None], middle + half[:, None])
    along = np.linspace(0.1, 1.0, TIES)[:, None]
    line = at[:, None, None] + along * (end - at[:, None])[:, :, None]
    return np.where(far[:, None, None], line, np.nan)


def _struck(ties: Floats, crowd: Floats) -> Floats:
    """What lines cost that run through points of other names, (m, c)."""
    struck = np.zeros(ties.shape[:2])
    for i, point in enumerate(crowd):
        near = (np.abs(ties - point) < 3 * CLEAR).all(axis=3).any(axis=2)
        near[i : i + 1] = False  # its own
        struck += near
    return HIDING * struck


def _closer(middle: Floats, half: Floats, crowd: Floats) -> NDArray[np.bool_]:
    """Which places lie nearer to another point than to their own, so that a reader would take the wrong one, (m, c)."""

    def gap(point: Floats) -> Floats:
        return np.linalg.norm(np.maximum(np.abs(middle - point) - half[:, None], 0), axis=2)

    own, near_other = gap(crowd[: len(half), None]), np.zeros(middle.shape[:2], bool)
    for i, point in enumerate(crowd):
        near = gap(point) < own
        near[i : i + 1] = False
        near_other |= near
    return near_other


def _inside(lines: Floats, middle: Floats, half: Floats) -> NDArray[np.intp]:
    """How many points of each line (l, t, 2) lie within each name (m, 2), (l, m)."""
    reach = np.abs(lines[:, None] - middle[:, None]) < np.broadcast_to(half, middle.shape)[:, None]  # (l, m, t, 2)
    return reach.all(axis=3).sum(axis=2)


def _alone(middle: Floats, half: Floats, crowd: Floats, box: Floats) -> Floats:
    """What a place costs whatever the other names do: points hidden, and area outside, (m, c)."""
    hidden = np.zeros(middle.shape[:2])
    for point in crowd:
        hidden += (np.abs(middle - point) < half[:, None, :] + 2 * CLEAR).all(axis=2)
    inside = np.minimum(middle + half[:, None], box[1]) - np.maximum(middle - half[:, None], box[0])
    share = np.prod(np.maximum(inside, 0) / (2 * half[:, None]), axis=2)
    return HIDING * hidden + OUTSIDE * (1 - share)


def _overlap(middle: Floats, half: Floats, others: Floats, their: Floats) -> Floats:
    """What other names cost one name at each place, (c,): the share of it that they cover, and touching them."""
    reach = half + their + CLEAR - np.abs(middle[:, None, :] - others)  # (c, m, 2)
    cover = np.prod(np.minimum(np.maximum(reach, 0), 2 * np.minimum(half, their)), axis=2)
    return cover.sum(axis=1) / np.prod(2 * half) + TOUCHING * (cover > 0).sum(axis=1)
