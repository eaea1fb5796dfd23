"""Distances in the space of a kernel, of vectors, strings or anything else.

    d(x, y) = ‖φ(x) − φ(y)‖ = √(k(x, x) + k(y, y) − 2k(x, y))

The difference cancels where rows are close: a distance is known to about √(8u·k(x, x)), and what is nearer than that is
0 or noise. An RBF kernel has no such floor, for its distance is an increasing function of the Euclidean one:

    d = √(−2·expm1(−γ‖x − y‖²))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.graphs.search.screen import Direct, Screen
from ritz.graphs.spaces.base import Mapped, Space
from ritz.graphs.spaces.vectors import EuclideanRows
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.distances import RBF
from ritz.kernels.rows import is_sparse

__all__ = ["KernelRows", "kernel_space"]

Floats = NDArray[np.float64]

#: Negative squared distances, in units of k(x, x), up to which they are rounding.
INDEFINITE = 1e-10


def kernel_space(kernel: Kernel, X: Any, room: float) -> Space:
    """The space of a kernel on rows."""
    kernel = kernel.fix(X)
    if isinstance(kernel, RBF) and not is_sparse(X):
        curve = _Curve(float(kernel.scale_for(X.shape[1])) ** 2 / 2)
        words = f"distance in the space of {kernel}, an increasing function of the Euclidean one"
        return Mapped(EuclideanRows(X, room), curve.forward, curve.back, words)
    return KernelRows(kernel, X)


@dataclass(frozen=True)
class _Curve:
    """Distances in the space of an RBF kernel as a function of Euclidean ones, and back."""

    gamma: float

    def forward(self, r: Floats) -> Floats:
        return np.sqrt(-2 * np.expm1(-self.gamma * r * r))

    def back(self, r: float) -> float:
        return float(np.sqrt(-np.log1p(-0.5 * r * r) / self.gamma)) if r * r < 2 else np.inf


class KernelRows(Space):
    """Rows in the space of a kernel; every pair is computed."""

    route = "blocks"

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.prepared = kernel.prepare(X, dtype=np.float64)
        self.n = self.prepared.n
        self.diag = np.asarray(kernel.diag(self.prepared), np.float64)
        self.distance = f"distance in the space of {kernel}"
        self.reason = "a kernel is computed for every pair"
        largest = float(np.max(self.diag, initial=0.0))
        self.floor = float(np.sqrt(8 * 2.0**-53 * largest))
        self.proof = f"every distance was computed; below {self.floor:.1e} the kernel's rounding hides it"

    def new(self, X: Any) -> Prepared:
        """Rows prepared like those of the fit."""
        return self.kernel.prepare(X, dtype=np.float64, like=self.prepared)

    def screen(self, Q: Any = None) -> Screen:
        """Distances by tiles of the kernel."""
        if Q is None:
            return _KernelScreen(self.kernel, self.prepared, self.prepared, self.diag, self.diag)
        return _KernelScreen(self.kernel, Q, self.prepared, np.asarray(self.kernel.diag(Q), np.float64), self.diag)


class _KernelScreen(Direct):
    def __init__(self, kernel: Kernel, A: Prepared, B: Prepared, left: Floats, right: Floats) -> None:
        self.kernel, self.A, self.B, self.left, self.right = kernel, A, B, left, right
        self.m, self.n = A.n, B.n
        self.parallel = kernel.takes != "any"  # a function of the user's may not be made for threads

    def tile(self, rows: Any, cols: slice) -> Floats:
        if isinstance(rows, slice):
            K = self.kernel.tile(self.A, self.B, rows, cols)
        else:
            some = self.A.take(rows)
            K = self.kernel.tile(some, self.B, slice(0, some.n), cols)
        scale = self.left[rows, None] + self.right[cols]
        far = scale - 2 * np.asarray(K, np.float64)
        if np.any(far < -INDEFINITE * np.abs(scale) - 1e-300):
            raise InputError(
                "distances of a kernel need k(x, x) + k(y, y) ≥ 2k(x, y)",
                received=f"{self.kernel}, which is not positive on these rows",
                hint="choose a positive kernel, or pass distances: metric='precomputed'",
            )
        far[far < 4 * 2.0**-53 * np.abs(scale)] = 0.0  # a copy: no more than the last bit of k(x, x)
        return np.sqrt(far)

    def inside(self, rows: Any, distances: Floats) -> Floats:
        scale = np.abs(self.left[rows]) + float(np.max(np.abs(self.right), initial=0.0))
        return np.sqrt(np.maximum(np.square(distances) * (1 - 2.0**-40) - 64 * 2.0**-53 * scale, 0.0))

    def reach(self, rows: Any, distances: Floats) -> Floats:
        # Tiles of other shapes are rounded another way.
        scale = np.abs(self.left[rows]) + float(np.max(np.abs(self.right), initial=0.0))
        return np.sqrt(np.square(distances) * (1 + 2.0**-40) + 64 * 2.0**-53 * scale)
