"""Pre-images for the RBF kernel by fixed-point iteration.                                                [Mika99]

    P = Σⱼ γ̃ⱼ φ(xⱼ),   γ̃ = γ + (1 − Σγ)/n                the mean's share of the expansion belongs to it
    ρ(z) = ⟨φ(z), P⟩ = Σⱼ γ̃ⱼ k(z, xⱼ)                    ‖φ(z) − P‖² = 1 − 2ρ(z) + ‖P‖²
    μ(z) = Σⱼ γ̃ⱼ k(z, xⱼ) xⱼ / ρ(z)                      ∇ρ = 2γ ρ(z) (μ(z) − z)
    z ← z + θ (μ(z) − z)                                 θ = 1 is Mika's step

Where ρ > 0 the step points uphill, so θ is halved until ρ does not fall, and doubled again up to 1 afterwards: ρ never
decreases. Where ρ has collapsed, a row starts again from the next of the nearest known rows. Rows iterate in blocks, on
lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.threads import lane_count, run_lanes
from ritz.kernels.base import chunks, take_rows
from ritz.kernels.distances import RBF
from ritz.kernels.rows import is_sparse, squares
from ritz.project.kernel import KernelMap
from ritz.project.preimage.known import Known, Preimages, as_scores, neighbours

__all__ = ["fixed_point_rows"]

Floats = NDArray[np.float64]

#: ρ below this has collapsed.
COLLAPSED = 1e-6
#: Rows at a time, and entries of their matrix of kernel values.
ROWS, ENTRIES = 128, 1 << 22
#: Known rows that a row may start from.
STARTS = 10
#: Steps shorter than this, in units of min(γ^-½, spread of the rows), have arrived.
ARRIVED = 1e-8
#: A step that is still too long after this many halvings has arrived as well: ρ is flat to rounding.
SHORTEST = 2.0**-20
#: ρ may fall by this much: rounding.
LEVEL = 1e-14


def fixed_point_rows(known: Known, T: Any, *, start: Any = None, iterations: int = 500) -> Preimages:
    """Pre-images (m, d) of the points with scores T under a model of the RBF kernel.

    ``start`` (m, d): where to begin, the noisy rows themselves when denoising; the nearest known row otherwise.
    ``error`` is the distance between rows that corresponds to ‖φ(x̂) − P‖, √(−log(1 − ‖φ(x̂) − P‖²/2)/γ).
    """
    step = known.map
    if not (isinstance(step, KernelMap) and isinstance(step.kernel, RBF)):
        raise ParameterError("method='fixed-point' is for models of the RBF kernel", received=repr(step.kernel),
                             hint="method='ridge' works for every kernel of vectors")  # fmt: skip
    T = as_scores(T, known)
    X = known.rows if step.rows.source is None else step.rows.source
    field = _Field.over(X, rbf_gamma(step.kernel, X.shape[1]))
    first = neighbours(known, T, STARTS).index
    if start is not None and np.shape(start) != (len(T), X.shape[1]):
        raise InputError(f"starts are rows, here of shape {(len(T), X.shape[1])}", received=f"shape {np.shape(start)}")
    rows, rho = np.empty((len(T), X.shape[1])), np.empty(len(T))
    arrived, used = np.empty(len(T), bool), np.zeros(len(T), int)

    def work(share: list[slice]) -> None:
        for block in share:
            ascent = _Ascent(field, step.coefficients(T[block]), known.rows, first[block])
            ascent.begin(None if start is None else _dense(take_rows(start, block)) - field.shift)
            used[block] = ascent.run(iterations)
            rows[block], rho[block], arrived[block] = ascent.best + field.shift, ascent.best_rho, ascent.arrived

    steps = list(chunks(len(T), max(1, min(ROWS, ENTRIES // max(X.shape[0], 1)))))
    lanes = min(lane_count(), max(len(steps), 1))
    run_lanes(work, [steps[lane::lanes] for lane in range(lanes)])
    square = np.maximum(1 - 2 * rho + step.norms(T), 0.0)
    error = np.sqrt(rbf_distance(square, field.gamma))
    return Preimages(rows, error, "fixed-point", np.sqrt(square), arrived, int(used.max(initial=0)))


def rbf_gamma(kernel: RBF, d: int) -> float:
    """γ as a number."""
    return 1.0 / max(d, 1) if kernel.gamma is None else float(kernel.gamma)


def rbf_distance(square: Floats, gamma: float, least: float = 1e-6) -> Floats:
    """‖x − y‖² from ‖φ(x) − φ(y)‖² = 2 − 2k(x, y); k counts as at least ``least``."""
    return -np.log(np.clip(1 - square / 2, least, 1.0)) / gamma


@dataclass(frozen=True)
class _Field:
    """ρ and μ as functions of z; dense rows are shifted to mean 0."""

    X: Any  # (n, d)
    half: Floats  # (n,) ‖x‖²
    shift: Floats  # (d,)
    gamma: float
    spread: float
    turned: Floats | None = None  # (d, n) Xᵀ of dense rows

    @classmethod
    def over(cls, X: Any, gamma: float) -> _Field:
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(-1)
        if is_sparse(X):
            wide = X.tocsr().astype(np.float64)
            square = squares(wide)
            spread = float(np.sqrt(max(square.mean() - mean @ mean, 0.0)))
            return cls(wide, square, np.zeros(X.shape[1]), gamma, spread)
        wide = np.asarray(X, np.float64) - mean
        square = squares(wide)
        return cls(wide, square, mean, gamma, float(np.sqrt(square.mean())), wide.T)

    def at(self, z: Floats, G: Floats) -> tuple[Floats, Floats]:
        """ρ (r,) and μ (r, d); μ = z where ρ has collapsed."""
        half = -2 * self.gamma
        D = (half * z) @ self.turned if self.turned is not None else half * np.asarray(self.X @ z.T).T
        D += self.gamma * np.einsum("ij,ij->i", z, z)[:, None]
        D += self.gamma * self.half
        W = np.exp(np.negative(np.maximum(D, 0.0, out=D), out=D), out=D)
        W *= G
        rho = W.sum(axis=1)
        there = rho > COLLAPSED
        mu = np.asarray(W @ self.X) / np.where(there, rho, 1.0)[:, None]
        return rho, np.where(there[:, None], mu, z)


class _Ascent:
    """Rows on their way uphill."""

    def __init__(self, field: _Field, G: Floats, rows: Any, first: NDArray[np.intp]) -> None:
        self.field, self.G, self.known, self.first = field, G, rows, first
        m, d = len(G), field.X.shape[1]
        self.z, self.mu, self.best = (np.zeros((m, d)) for _ in range(3))
        self.rho, self.best_rho = np.full(m, -np.inf), np.full(m, -np.inf)
        self.theta, self.tries = np.ones(m), np.zeros(m, int)
        self.arrived, self.active = np.zeros(m, bool), np.ones(m, bool)

    def begin(self, z: Floats | None) -> None:
        """Start all rows, from z or from their nearest known rows; start again those where ρ is nothing."""
        everyone = np.arange(len(self.G))
        if z is None:
            self._restart(everyone)
        else:
            self._put(everyone, z)
        self._revive()

    def run(self, iterations: int) -> int:
        """Iterate until all have arrived; the number of steps taken."""
        near = ARRIVED * min(self.field.gamma**-0.5, self.field.spread or 1.0)
        for step in range(iterations):
            i = np.flatnonzero(self.active)
            if not len(i):
                return step
            z = self.z[i] + self.theta[i, None] * (self.mu[i] - self.z[i])
            rho, mu = self.field.at(z, self.G[i])
            up = rho >= self.rho[i] - LEVEL
            self._take(i[up], z[up], rho[up], mu[up])
            self.theta[i] = np.where(up, np.minimum(2 * self.theta[i], 1.0), self.theta[i] / 2)
            length = np.linalg.norm(self.mu[i] - self.z[i], axis=1)
            done = i[(length <= near) | (self.theta[i] < SHORTEST)]
            self.arrived[done], self.active[done] = True, False
        return iterations

    def _take(self, i: NDArray[np.intp], z: Floats, rho: Floats, mu: Floats) -> None:
        self.z[i], self.rho[i], self.mu[i] = z, rho, mu
        better = rho > self.best_rho[i]
        self.best[i[better]], self.best_rho[i[better]] = z[better], rho[better]

    def _put(self, i: NDArray[np.intp], z: Floats) -> None:
        rho, mu = self.field.at(z, self.G[i])
        self._take(i, z, rho, mu)

    def _restart(self, i: NDArray[np.intp]) -> None:
        which = self.first[i, np.minimum(self.tries[i], self.first.shape[1] - 1)]
        self.tries[i] += 1
        self._put(i, _dense(take_rows(self.known, which)) - self.field.shift)

    def _revive(self) -> None:
        """Next starts for rows whose ρ has collapsed; those without one are given up where they are."""
        while len(lost := np.flatnonzero((self.rho <= COLLAPSED) & self.active)):
            self.active[lost[self.tries[lost] >= self.first.shape[1]]] = False
            self._restart(lost[self.active[lost]])


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
