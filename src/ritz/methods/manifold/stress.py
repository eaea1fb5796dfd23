"""Stress of a map and its gradient.

    f(Y) = min over d̂ ∈ C of Σᵢ<ⱼ (dᵢⱼ − d̂ᵢⱼ)² / Σ d²ᵢⱼ ,   d = distances in the map Y (n×k),  stress-1 = √f  [Kru64]

    metric     C = {b·δ}                    interval   C = {a + b·δ, b ≥ 0}             ordinal   C = {monotone in δ}

C is a cone and d̂ the projection of d on it, so that Σd̂d = Σd̂², 1 − f = Σd̂²/Σd², and (d̂ does not count in the gradient)

    ∇f = 2(1 − f)/Σd² · (V Y − B Y),   V = nI − 11ᵀ,   b_ij = −d̂_ij/((1 − f) d_ij),      Y − Σd²/(2n(1 − f)) ∇f = V⁺BY

the last being the step of SMACOF, which never raises f [Lee77]. Sammon: Σ(δ − d)²/δ / Σδ [Sam69].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.threads import go_on, lane_count, run_lanes

__all__ = ["Evaluated", "Metric", "Sammon", "Shaped"]

Floats = NDArray[np.float64]

#: Entries of a tile: what is made of it should stay in the cache of a core.
TILE = 1 << 17


@dataclass(frozen=True)
class Evaluated:
    """A loss at a map: its value, its gradient, and the step of majorisation (None where there is none)."""

    value: float
    gradient: Floats
    step: Floats | None


def _blocks(n: int, lanes: int) -> list[list[slice]]:
    """Rows of tiles right of the diagonal, shared out so that lanes have as many entries."""
    made, start = [], 0
    while start < n:
        stop = min(n, start + max(8, TILE // (n - start)))
        made.append(slice(start, stop))
        start = stop
    return [made[lane::lanes] for lane in range(min(lanes, len(made)))]


def map_tile(Y: Floats, rows: slice) -> Floats:
    """Distances in the map of some rows to those from them on, (m, n − start); 0 left of the diagonal."""
    from scipy.spatial.distance import cdist

    tile = np.asarray(cdist(Y[rows], Y[rows.start :]))
    m = len(tile)
    tile[:, :m][np.tril_indices(m)] = 0.0
    return tile


def _ratio(upper: Floats, lower: Floats) -> Floats:
    """``upper / lower``, 0 where rows coincide; written into ``lower``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(upper, lower, out=lower)
    lower[~np.isfinite(lower)] = 0.0
    return lower


class _Sums:
    """``Σ_j r_ij (y_i − y_j)`` from tiles of r right of the diagonal."""

    def __init__(self, Y: Floats) -> None:
        self.Y, self.rows, self.moved = Y, np.zeros(len(Y)), np.zeros_like(Y)

    def add(self, R: Floats, rows: slice) -> None:
        start, stop = rows.start, rows.stop
        self.rows[start:stop] += R.sum(axis=1)
        self.rows[start:] += R.sum(axis=0)
        self.moved[start:stop] += R @ self.Y[start:]
        self.moved[start:] += R.T @ self.Y[start:stop]

    def laplacian(self) -> Floats:
        return self.rows[:, None] * self.Y - self.moved


class Metric:
    """Ratio scaling: d̂ = b·δ, in one pass over tiles.

    Parameters
    ----------
    D : (n, n) distances δ
    """

    def __init__(self, D: Floats) -> None:
        self.D, self.n = D, len(D)
        self.squares = 0.5 * float(np.vdot(D, D))

    def at(self, Y: Floats) -> Evaluated:
        """Stress-1², gradient and SMACOF's step."""
        shares = _blocks(self.n, lane_count())

        def work(share: list[slice]) -> tuple[_Sums, float, float]:
            sums, cross, square = _Sums(Y), 0.0, 0.0
            for rows in share:
                go_on()
                d = map_tile(Y, rows)
                delta = self.D[rows, rows.start :]
                cross += float(np.vdot(d, delta))
                square += float(np.vdot(d, d))
                sums.add(_ratio(delta, d), rows)
            return sums, cross, square

        parts = run_lanes(work, shares)
        cross, square = sum(part[1] for part in parts), sum(part[2] for part in parts)
        b = cross / self.squares
        LY = b * np.sum([part[0].laplacian() for part in parts], axis=0)
        return _of_cone(Y, LY, b * b * self.squares, square)

    def scaled(self, Y: Floats) -> Floats:
        """The map in the unit of the distances: Σ(δ − s·d)² is least at s = 1."""
        cross = square = 0.0
        for share in _blocks(self.n, 1):
            for rows in share:
                d = map_tile(Y, rows)
                cross += float(np.vdot(d, self.D[rows, rows.start :]))
                square += float(np.vdot(d, d))
        return Y * (cross / square) if square > 0 else Y


def _of_cone(Y: Floats, LY: Floats, projected: float, square: float) -> Evaluated:
    """From ``LY = [Σ_j d̂/d (y_i − y_j)]``, Σd̂² and Σd²."""
    n = len(Y)
    if not square > 0 or not projected > 0:
        raise InputError(
            "stress needs rows that are apart in the map", received="all rows in one place",
            hint="distances that are all 0 have no map",
        )  # fmt: skip
    kept = projected / square  # 1 − f
    gap = kept * (n * Y - Y.sum(axis=0)) - LY
    value = max(1.0 - kept, 0.0)
    return Evaluated(value, 2.0 / square * gap, Y - gap / (n * kept))


class Shaped:
    """Interval and ordinal scaling: d̂ is a function of δ that is fitted to d.

    Parameters
    ----------
    D : (n, n) distances δ
    shape
        Takes δ (m,) once, and then d (m,) ↦ d̂ (m,), the projection on a cone.
    """

    def __init__(self, D: Floats, shape: Any) -> None:
        self.n = len(D)
        self.upper = np.triu_indices(self.n, 1)
        self.delta = D[self.upper]
        self.shape = shape(self.delta)

    def at(self, Y: Floats) -> Evaluated:
        """Stress-1², gradient and SMACOF's step."""
        from scipy.spatial.distance import pdist

        d = np.asarray(pdist(Y))
        fitted = self.shape(d)
        projected, square = float(fitted @ fitted), float(d @ d)
        return _of_cone(Y, _laplacian(_ratio(fitted, d), Y), projected, square)

    def scaled(self, Y: Floats) -> Floats:
        """The map with Σd² = Σδ²."""
        from scipy.spatial.distance import pdist

        return Y * (float(np.linalg.norm(self.delta)) / max(float(np.linalg.norm(pdist(Y))), 1e-300))


def _laplacian(pairs: Floats, Y: Floats) -> Floats:
    """``Σ_j r_ij (y_i − y_j)`` of numbers of pairs i < j, row by row of the upper triangle in tiles."""
    n, sums, at = len(Y), _Sums(Y), 0
    for share in _blocks(n, 1):
        for rows in share:
            R = np.zeros((rows.stop - rows.start, n - rows.start))
            for i in range(rows.stop - rows.start):
                count = n - rows.start - i - 1
                R[i, i + 1 :] = pairs[at : at + count]
                at += count
            sums.add(R, rows)
    return sums.laplacian()


class Sammon:
    """``Σ(δ − d)²/δ / Σδ``; distances of 0 are refused, for they would weigh infinitely.

    Parameters
    ----------
    D : (n, n) distances δ
    """

    def __init__(self, D: Floats) -> None:
        self.D, self.n = D, len(D)
        zero = np.argwhere(np.triu(D == 0, 1))
        if len(zero):
            i, j = zero[0]
            raise InputError(
                "Sammon's mapping divides by every distance: rows must differ",
                received=f"rows {i} and {j} at distance 0"
                + (f", and {len(zero) - 1} more pairs" if len(zero) > 1 else ""),
                hint="leave out copies of rows, or method='metric'",
            )  # fmt: skip
        self.total = 0.5 * float(D.sum())

    def at(self, Y: Floats) -> Evaluated:
        """Sammon's stress and its gradient."""
        shares = _blocks(self.n, lane_count())

        def work(share: list[slice]) -> tuple[_Sums, float]:
            sums, value = _Sums(Y), 0.0
            for rows in share:
                go_on()
                d, delta = map_tile(Y, rows), self.D[rows, rows.start :]
                with np.errstate(divide="ignore", invalid="ignore"):
                    weight = np.where(d > 0, 1.0 / np.where(delta > 0, delta, 1.0), 0.0)
                    gap = np.where(delta > 0, (delta - d) ** 2 / delta, 0.0)
                    R = np.where(d > 0, 1.0 / d, 0.0) - weight  # (δ − d)/(δ d)
                m = len(d)
                gap[:, :m][np.tril_indices(m)] = 0.0
                R[:, :m][np.tril_indices(m)] = 0.0
                value += float(gap.sum())
                sums.add(R, rows)
            return sums, value

        parts = run_lanes(work, shares)
        LY = np.sum([part[0].laplacian() for part in parts], axis=0)
        return Evaluated(sum(part[1] for part in parts) / self.total, -2.0 / self.total * LY, None)

    def scaled(self, Y: Floats) -> Floats:
        """As it is: the scale counts."""
        return Y
