"""Anderson mixing of the points of a fixed-point iteration θ → g(θ), θ = (μ, s, W), W = V D^½ up to rotation.

    r_j = g(θ_j) − θ_j,      min ‖Σ αⱼ r_j‖ with Σ αⱼ = 1,      θ = Σ αⱼ g(θ_j)                  [Walker & Ni 2011]

Only W Wᵀ matters, so every image is first turned onto the point it came from (Procrustes). Plain passes leave fixed
points that are saddles (columns that are filled by their means can be one); a mixture, being a Newton step on the span
of the last points, would run back into them. So passes are mixed only while plain ones contract: the residual falls and
no eigenvalue of the estimated Jacobian J = ΔG ΔΘ⁺ reaches 1. A mixture whose residual does not fall is thrown away with
the memory, and plain passes go on from the best image, more of them after a failure.

    distance of an image from the fixed point ≈ L·ρ/(1 − ρ)·‖r‖,       ρ = max |eig J|,      L = max(1, (Δλ/λ₁)/‖Δθ‖)

L: eigenvalues may move by more than θ does, where rows with few entries are filled by large values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.project.incomplete import LEAST_RIDGE, Filler

__all__ = ["Mixing", "Step"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Points that are mixed, passes that come first, and the most plain passes between mixtures that keep failing.
DEPTH, PLAIN, MOST_PLAIN = 8, 3, 4
#: Directions of the residuals shorter than this share of the longest are rounding.
CUT = 1e-10
#: Directions of the steps (of unit length) shorter than this share of the longest say nothing about J.
SPAN = 0.05
#: ρ is believed between these: a lucky pass does not prove contraction, and 1 − ρ cannot be known to more digits.
LEAST_RATE, MOST_RATE = 0.5, 0.999
#: The largest L that is believed, and the passes whose ρ and L count.
MOST_LEVER, RECENT = 1e4, 3


@dataclass(frozen=True)
class Step:
    """What a pass has shown, and where the next one starts."""

    point: Filler
    size: float  # ‖g(θ) − θ‖ (RMS, in units of θ)
    distance: float  # of the image from the fixed point, estimated
    better: bool  # the image is to be preferred to those before it


class Mixing:
    """Remembers the last points and images.

    Parameters
    ----------
    on
        False: plain steps only.
    scaled
        Whether the units s are part of θ.
    unit
        Units of the first point (d,), in which means are compared.
    """

    def __init__(self, on: bool, scaled: bool, unit: Vector) -> None:
        self.on, self.scaled, self.unit = on, scaled, unit
        self.points: list[Vector] = []
        self.images: list[Vector] = []
        self.steps = 0
        self.best: tuple[float, Filler, Matrix] | None = None  # residual, image and its W of the last accepted point
        self.W: Matrix | None = None  # of the current point, as mixed
        self.mixed = False  # whether the current point is a mixture
        self.wait, self.since = 2, 0  # passes to remember before the next mixture, and those that are
        self.last: tuple[Vector, Vector] | None = None  # point and eigenvalues of the last pass
        self.rates: list[float] = []
        self.levers: list[float] = []

    def next(self, point: Filler, image: Filler, values: Vector) -> Step:
        """The next point; ``values`` are the eigenvalues (k,) of the rows that ``point`` filled."""
        self.steps += 1
        if point.k != image.k or image.k == 0:  # the first step finds the axes
            self.W = _weighted(image)
            return Step(image, np.inf, np.inf, True)
        W = _weighted(point) if self.W is None else self.W
        turned = _turn(_weighted(image), W)
        here, there = self._pack(point, W), self._pack(image, turned)
        size = float(np.linalg.norm(there - here))
        self._lever(here, values)
        if self.mixed and self.best is not None and size >= self.best[0]:
            _, back, self.W = self.best
            self._forget()
            self.wait = min(2 * self.wait, MOST_PLAIN)
            return Step(back, size, np.inf, False)
        if self.mixed:
            self.wait = max(self.wait - 1, 2)
        before = np.inf if self.best is None else self.best[0]
        if not self.mixed and np.isfinite(before):
            self._rate(size / before if before > 0 else 0.0)
        if size >= before:  # a plain pass that moves away: what is remembered is about a point that is being left
            self._forget()
        self.best = (size, image, turned)
        self.points.append(here)
        self.images.append(there)
        del self.points[:-DEPTH], self.images[:-DEPTH]
        self.since += 1
        mixed = self._mix() if self.on and self.steps > PLAIN and self.since >= self.wait else None
        self.mixed = mixed is not None
        far = size if mixed is None else max(size, float(np.linalg.norm(mixed - there)))
        new, self.W = (image, turned) if mixed is None else self._unpack(mixed, image)
        return Step(new, size, self._distance(far, size), True)

    def _distance(self, far: float, size: float) -> float:
        if size == 0.0:
            return 0.0
        if not self.rates:
            return np.inf
        rate = min(max(LEAST_RATE, *self.rates), MOST_RATE)
        return max(far, rate / (1 - rate) * size) * max(1.0, *self.levers)

    def _rate(self, rate: float) -> None:
        self.rates = [*self.rates, rate][-RECENT:]

    def _lever(self, here: Vector, values: Vector) -> None:
        """L from the last two passes."""
        if self.last is not None and len(self.last[1]) == len(values):
            moved = float(np.linalg.norm(here - self.last[0]))
            if moved > 0 and values[0] > 0:
                lever = float(np.max(np.abs(values - self.last[1]))) / float(values[0]) / moved
                self.levers = [*self.levers, min(lever, MOST_LEVER)][-RECENT:]
        self.last = (here, values)

    def _forget(self) -> None:
        self.points, self.images, self.best, self.mixed = [], [], None, False
        self.since = 0

    def _mix(self) -> Vector | None:
        """The mixture; None where plain passes would leave what it goes to."""
        points, images = np.array(self.points), np.array(self.images)
        rate, stable = _jacobian((points[-1] - points[:-1]).T, (images[-1] - images[:-1]).T)
        self._rate(rate)
        if not stable:
            return None
        R = images - points
        gamma = np.linalg.lstsq((R[-1] - R[:-1]).T, R[-1], rcond=CUT)[0]
        return np.asarray(images[-1] - gamma @ (images[-1] - images[:-1]))

    def _pack(self, point: Filler, W: NDArray[np.float64]) -> Vector:
        """θ as one vector: every column's mean and unit, and every axis, count alike."""
        d, k = W.shape
        parts = [point.offset / self.unit / np.sqrt(d), W.ravel() / np.sqrt(k)]
        if self.scaled:
            parts.append(np.log(point.scale / self.unit) / np.sqrt(d))
        return np.concatenate(parts)

    def _unpack(self, theta: Vector, like: Filler) -> tuple[Filler, NDArray[np.float64]]:
        d, k = like.vectors.shape
        W = theta[d : d + d * k].reshape(d, k) * np.sqrt(k)
        U, s, Rt = np.linalg.svd(W, full_matrices=False)
        shrink = np.clip(np.square(s), 0.0, 1 - LEAST_RIDGE)
        scale = self.unit * np.exp(theta[d + d * k :] * np.sqrt(d)) if self.scaled else like.scale
        point = replace(like, offset=theta[:d] * self.unit * np.sqrt(d), scale=scale, vectors=U, shrink=shrink)
        return point, (U * np.sqrt(shrink)) @ Rt


def _jacobian(steps: Matrix, changes: Matrix) -> tuple[float, bool]:
    """Largest |eigenvalue| of J on the span of the steps (N, m), given J·steps; whether all have real part below 1."""
    length = np.linalg.norm(steps, axis=0)
    kept = length > 0
    if not kept.any():
        return 0.0, True
    U, s, Vt = np.linalg.svd(steps[:, kept] / length[kept], full_matrices=False)
    m = int(np.sum(s > SPAN * s[0]))
    J = U[:, :m].T @ (changes[:, kept] / length[kept]) @ (Vt[:m].T / s[:m])
    eigenvalues = np.linalg.eigvals(J)
    return float(np.max(np.abs(eigenvalues))), bool(np.all(eigenvalues.real < 1))


def _weighted(point: Filler) -> NDArray[np.float64]:
    return point.vectors * np.sqrt(point.shrink)


def _turn(W: NDArray[np.float64], onto: NDArray[np.float64]) -> NDArray[np.float64]:
    """W R with the rotation R that brings it nearest to ``onto``."""
    U, _, Vt = np.linalg.svd(W.T @ onto)
    return W @ (U @ Vt)
