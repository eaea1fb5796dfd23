"""Anderson mixing of the points of a fixed-point iteration θ → g(θ), θ = (μ, s, W), W = V D^½ up to rotation.

    r_j = g(θ_j) − θ_j,      min ‖Σ αⱼ r_j‖ with Σ αⱼ = 1,      θ = Σ αⱼ g(θ_j)                  [Walker & Ni 2011]

Only W Wᵀ matters, so every image is first turned onto the point it came from (Procrustes). A point whose residual is
larger than the last one's is not believed: the iteration goes on from the last image, without its memory.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ritz.project.incomplete import LEAST_RIDGE, Filler

__all__ = ["Mixing"]

Vector = NDArray[np.float64]

#: Points that are mixed, plain steps that come first, and the growth of a residual that ends a mixture.
DEPTH, PLAIN, GROWTH = 8, 3, 1.5
#: Directions of the residuals shorter than this share of the longest are rounding.
CUT = 1e-10


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
        self.trusted: tuple[float, Filler] | None = None  # residual and image of the last accepted point
        self.W: NDArray[np.float64] | None = None  # of the current point, as mixed

    def next(self, point: Filler, image: Filler) -> tuple[Filler, float]:
        """The next point, and how far it, or the image, lies from this one (RMS, in units of θ)."""
        self.steps += 1
        if point.k != image.k or image.k == 0:  # the first step finds the axes
            self.W = _weighted(image)
            return image, np.inf
        W = _weighted(point) if self.W is None else self.W
        turned = _turn(_weighted(image), W)
        here, there = self._pack(point, W), self._pack(image, turned)
        size = float(np.linalg.norm(there - here))
        if self.trusted is not None and size > GROWTH * self.trusted[0] and len(self.points) > 1:
            back = self.trusted[1]
            self._forget()
            self.W = _weighted(back)
            return back, size
        self.trusted = (size, image)
        self.points.append(here)
        self.images.append(there)
        del self.points[:-DEPTH], self.images[:-DEPTH]
        if not self.on or self.steps <= PLAIN:
            self.W = turned
            return image, size
        mixed = self._mix()
        step = float(np.linalg.norm(mixed - here))
        new, self.W = self._unpack(mixed, image)
        return new, max(size, step)

    def _forget(self) -> None:
        self.points, self.images, self.trusted, self.steps = [], [], None, PLAIN - 1

    def _mix(self) -> Vector:
        R = np.array([b - a for a, b in zip(self.points, self.images, strict=True)])
        last = R[-1]
        if len(R) == 1:
            return self.images[-1]
        gamma = np.linalg.lstsq((last - R[:-1]).T, last, rcond=CUT)[0]
        images = np.array(self.images)
        return images[-1] - gamma @ (images[-1] - images[:-1])

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


def _weighted(point: Filler) -> NDArray[np.float64]:
    return point.vectors * np.sqrt(point.shrink)


def _turn(W: NDArray[np.float64], onto: NDArray[np.float64]) -> NDArray[np.float64]:
    """W R with the rotation R that brings it nearest to ``onto``."""
    U, _, Vt = np.linalg.svd(W.T @ onto)
    return W @ (U @ Vt)
