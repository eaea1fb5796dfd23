"""The path of an elastic net, followed to a number of entries.                                             [EHJT04]

    b(α) = argmin ½bᵀMb − bᵀr + α‖b‖₁,   M = C + ρI:     on the entries S with signs s   b_S(α) = M_SS⁻¹(r_S − αs)

b is linear in α until an entry of b reaches zero, or the gradient r − Mb of another one reaches ±α. ``along`` starts at
α = max|r| and takes one such event after the other; ``again`` asks whether known places and signs are on the path,
which are inequalities in α, two for every column, and finds the end of their piece at once. What comes out is checked
against the conditions of an optimum; None means that they were missed, by rounding or because M is singular.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.methods.sparse_pca.covariance import Covariance

__all__ = ["again", "along"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Share of the largest entry of r by which the conditions of an optimum may be missed.
MISSED = 1e-9
#: Slopes nearer to that of α than this never meet it.
PARALLEL = 1e-12


def along(C: Covariance, right: Floats, ridge: float, count: int) -> Floats | None:
    """The last corner of the path before one with more than ``count`` entries, (d,); its end if there is none."""
    size = float(np.max(np.abs(right), initial=0.0))
    b = np.zeros(len(right))
    if size == 0:
        return b
    first = np.array([int(np.argmax(np.abs(right)))], np.intp)
    return _followed(C, right, ridge, count, b, first, np.sign(right[first]), size)


def _followed(
    C: Covariance, right: Floats, ridge: float, count: int, b: Floats, where: Indices, sign: Floats, height: float
) -> Floats | None:
    """The path from the corner at which the entries ``where`` have just become free to move."""
    size, gone = float(np.max(np.abs(right))), -1
    left = right - C.on(where, b[where]) - ridge * b
    corner, reached = b.copy(), height
    for _ in range(8 * len(right)):
        try:
            slope = np.asarray(np.linalg.solve(C.block(where) + ridge * np.eye(len(where)), sign), np.float64)
        except np.linalg.LinAlgError:
            return None
        fall = slope @ C.rows(where)
        fall[where] += ridge * slope
        step, entry, enters = _next(left, fall, height, where, b[where], slope, gone)
        if len(where) > count and (enters or entry < 0):  # nothing leaves before the next corner
            return corner if _optimal(C, right, ridge, corner, reached, size) else None
        b[where] += step * slope
        left, height, gone = left - step * fall, height - step, -1
        if entry < 0:
            return b if _optimal(C, right, ridge, b, height, size) else None
        if enters:
            corner, reached = b.copy(), height
            where, sign = np.append(where, entry), np.append(sign, np.sign(left[entry]))
        else:
            gone = int(where[entry])
            b[gone] = 0.0
            where, sign = np.delete(where, entry), np.delete(sign, entry)
            corner, reached = b.copy(), height
    return None


def _next(
    left: Floats, fall: Floats, height: float, where: Indices, values: Floats, slope: Floats, gone: int
) -> tuple[float, int, bool]:
    """How far α falls until something happens, to which entry, and whether it enters; −1: the path ends at α = 0."""
    step, entry, enters = height, -1, False
    for side in (1.0, -1.0):  # a gradient meets α, or −α
        rate = 1.0 - side * fall
        room = np.where(rate > PARALLEL, np.maximum(height - side * left, 0.0), np.inf)
        room /= np.where(rate > PARALLEL, rate, 1.0)
        room[where] = np.inf
        if gone >= 0:  # it has just left, so that its gradient is ±α and on its way in
            room[gone] = np.inf
        j = int(np.argmin(room))
        if room[j] < step:
            step, entry, enters = float(room[j]), j, True
    shrinks = values * slope < 0
    room = np.where(shrinks, -values / np.where(shrinks, slope, 1.0), np.inf)
    j = int(np.argmin(room))
    return (float(room[j]), j, False) if room[j] < step else (step, entry, enters)


def again(C: Covariance, right: Floats, ridge: float, last: Floats) -> Floats | None:
    """The same corner, if the places and signs of ``last`` are still on the path, and an entry joins where they end."""
    where = np.flatnonzero(last)
    sign, size = np.sign(last[where]), float(np.max(np.abs(right), initial=0.0))
    try:
        both = np.linalg.solve(C.block(where) + ridge * np.eye(len(where)), np.column_stack([right[where], sign]))
    except np.linalg.LinAlgError:
        return None
    at, slope = both.T  # b = at − α·slope
    rows = C.rows(where)
    left, rise = right - at @ rows, slope @ rows  # the gradient is left + α·rise; where b has entries it is ±α
    left[where] = rise[where] = 0.0
    # each is  bound ≤ α·rate: what is out stays below α, what is in stays in with its sign
    joins = _span(np.concatenate([left, -left]), np.concatenate([1 - rise, 1 + rise]))
    stays = _span(-sign * at, -sign * slope)
    low = joins[0]
    if stays[0] > low or low > min(joins[1], stays[1], size):
        return None  # an entry leaves before one joins, or there is no such piece
    b = np.zeros(len(right))
    b[where] = at - low * slope
    if low == 0.0:
        return b if _optimal(C, right, ridge, b, 0.0, size) else None
    new = int(np.argmax(np.abs(left + low * rise)))
    places, signs = np.append(where, new), np.append(sign, np.sign(left[new] + low * rise[new]))
    return _followed(C, right, ridge, len(where), b, places, signs, low)


def _span(bound: Floats, rate: Floats) -> tuple[float, float]:
    """All α ≥ 0 with bound ≤ α·rate, from where to where; none where the second is smaller."""
    steep = np.abs(rate) > PARALLEL
    if bool(np.any(bound[~steep] > 0)):
        return 0.0, -1.0
    meets, up = bound[steep] / rate[steep], rate[steep] > 0
    return float(np.max(meets[up], initial=0.0)), float(np.min(meets[~up], initial=np.inf))


def _optimal(C: Covariance, right: Floats, ridge: float, b: Floats, height: float, size: float) -> bool:
    """Whether the gradient is α·sign(b) where b has an entry, and at most α elsewhere."""
    where = np.flatnonzero(b)
    left = right - C.on(where, b[where]) - ridge * b
    slack = MISSED * size
    held = np.abs(left[where] - height * np.sign(b[where])) <= slack
    return bool(np.all(held)) and bool(np.all(np.abs(left) <= height + slack))
