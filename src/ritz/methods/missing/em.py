"""The iteration behind ``missing="em"`` and ``missing="regularized"``: fill the gaps, fit the completed rows, again.

    fill     ẑ_m = V_m c(z_o)                               project/incomplete.py, every row by itself
    fit      ẐᵀẐ = VΛVᵀ about the new mean, in the new units                       one pass over the rows
    shrink   D = (Λ − ω)/Λ,   ω = n·d·Σ_{s>k}λₛ / (min(d, n−1)(n−1−k)(d−k)), at most λ_{k+1}     [Josse & Husson 2012]

``em`` is least squares on the observed entries, ω → 0 [Kiers 1997; Roweis 1998]: each pass lowers Σ(z − Vc)² over them.
The fixed points are those of missMDA's imputePCA. The state is θ = (μ, s, W = V D^½), whatever n is: nothing but the
rows is kept between passes. Passes are mixed by Anderson's method [Walker & Ni 2011] while plain ones contract. They
end when the estimated distance from the fixed point, of θ and of the eigenvalues, is below ``tol``: mixing.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.linalg import eigh
from ritz._core.progress import track
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import CONSTANT
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, RowBlocks
from ritz.data.passes.observed import Observed
from ritz.methods.missing.mixing import Mixing
from ritz.project.incomplete import LEAST_RIDGE, Filler

__all__ = ["Filled", "Filling", "iterate", "power_of_two", "shrinkage"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Columns up to which the Gram matrix of the completed rows is formed; above, a block of vectors is iterated with it.
GRAM_COLUMNS = 2048
#: Vectors beside the k wanted ones in such a block, and passes over mean-filled rows that it is started with.
EXTRA, FIRST_PASSES = 10, 4
#: The shrinkage of ``em`` differs from none by R = LEAST_RIDGE·λ₁/λ, at most this.
MOST_RIDGE = 1e-7
#: Passes after which an iteration is given up, and the change (in units of θ) that is rounding.
MOST_PASSES, ROUNDING = 500, 1e-11


@dataclass(frozen=True)
class Filling:
    """What is to be filled, and how."""

    blocks: RowBlocks
    weights: Vector | None
    observed: Observed
    k: int
    shrinks: bool  # regularized, or em
    center: bool
    scale: bool
    names: Any = None
    mixed: bool = True
    seed: int = 0

    @cached_property
    def still(self) -> NDArray[np.bool_]:
        """(d,) columns whose observed entries do not vary, up to their own rounding."""
        seen = self.observed
        return np.asarray(np.sqrt(seen.variance()) <= CONSTANT * 2.0**-53 * np.abs(seen.mean))

    @property
    def freedom(self) -> float:
        """Σw, less one for a mean."""
        return self.observed.weight - (1.0 if self.center else 0.0)


@dataclass(frozen=True)
class Filled:
    """The outcome of an iteration."""

    filler: Filler
    values: Vector  # (k,) λ of the completed rows, in the units of the filler
    residues: Vector  # (d,) Σw(x − x̂)² over the observed entries of each column
    passes: int
    change: float  # how far the pass that found the filler moved, in units of θ
    converged: bool
    distance: float = np.inf  # from the fixed point, estimated: of θ in these units, of eigenvalues in units of λ₁


class FilledSums(Sums):
    """Sums over completed rows of one piece: Σwz, Σwzzᵀ (or its product with a block) and squared residuals."""

    SUMS = ("m", "S", "q", "rss")

    def __init__(self, filler: Filler, base: Vector, weights: Vector | None, basis: Matrix | None) -> None:
        d = len(base)
        self.filler, self.base, self.weights, self.basis = filler, base, weights, basis
        self.m, self.q, self.rss = np.zeros(d), np.zeros(d), np.zeros(d)
        self.S = np.zeros((d, d if basis is None else basis.shape[1]))

    def feed(self, block: Block) -> None:
        """Add the rows of a block, filled."""
        z, gone = self.filler.standard(np.asarray(block.values))
        fitted = self.filler.coefficients(z, gone) @ self.filler.vectors.T
        fitted += self.base
        left = np.where(gone, 0.0, z - fitted)
        z[gone] = fitted[gone]
        if self.weights is not None:
            root = np.sqrt(self.weights[block.rows])[:, None]
            self.m += self.weights[block.rows] @ z
            z, left = z * root, left * root
        else:
            self.m += z.sum(axis=0)
        self.rss += np.einsum("ij,ij->j", left, left)
        self.q += np.einsum("ij,ij->j", z, z)
        self.S += z.T @ (z if self.basis is None else z @ self.basis)


def _feed(sums: FilledSums, block: Block) -> None:
    sums.feed(block)


def iterate(filling: Filling, tol: float, most: int = MOST_PASSES) -> Filled:
    """Fill and fit until θ is within ``tol`` of its fixed point, in units of the columns' spread and of unit axes.

    Where passes run out, the point that moved least is the outcome.
    """
    point = _start(filling)
    basis = None
    passes, mixing = 0, Mixing(filling.mixed, filling.scale, point.scale)
    if filling.observed.counts.size > GRAM_COLUMNS:
        basis, passes = _block(filling, point)
    base = np.zeros(len(point.scale)) if filling.center else filling.observed.mean / point.scale
    filled = Filled(point, np.zeros(0), np.zeros(0), 0, np.inf, False)
    with track("missing values") as step:
        while passes < most:
            sums = _pass(filling, point, base, basis)
            base = np.zeros_like(base)
            passes += 1
            step(1)
            image, values, basis = _fit(filling, point, sums, basis)
            rss = sums.rss * np.square(point.scale)
            mixed = mixing.next(point, image, values[: image.k])
            point = _without(filling, mixed.point)
            basis = basis if basis is None else _orthonormal(point.vectors, basis)
            if mixed.better:
                filled = Filled(image, values[: image.k], rss, passes, mixed.size, False, mixed.distance)
            if filling.k == 0 or (mixed.better and (mixed.distance <= tol or mixed.size <= ROUNDING)):
                return replace(filled, converged=True)
    return replace(filled, passes=passes)


def _pass(filling: Filling, point: Filler, base: Vector, basis: Matrix | None) -> FilledSums:
    return filling.blocks.map_reduce(lambda: FilledSums(point, base, filling.weights, basis), _feed)


def _start(filling: Filling) -> Filler:
    """No axes yet: gaps hold the mean of their column."""
    seen = filling.observed
    d, spread = len(seen.offset), np.sqrt(seen.variance())
    shift, offset = (seen.shift, seen.offset) if filling.center else (np.zeros(d), np.zeros(d))
    if filling.scale:
        scale = np.where(filling.still, 1.0, spread)
    else:
        scale = np.full(d, power_of_two(float(np.max(spread if filling.center else np.hypot(spread, seen.mean)))))
    return Filler(shift, offset, scale, np.zeros((d, 0)), np.zeros(0), np.zeros(0), 1.0, filling.names)


def power_of_two(size: float) -> float:
    """A common unit that keeps squares in range."""
    return float(2.0 ** np.round(np.log2(size))) if size > 0 else 1.0


def _fit(
    filling: Filling, point: Filler, sums: FilledSums, basis: Matrix | None
) -> tuple[Filler, Vector, Matrix | None]:
    """PCA of the completed rows: the next mean, units, axes and shrinkage; the k + 1 leading values."""
    w, k = filling.observed.weight, filling.k
    mean = sums.m / w
    squares = np.maximum(sums.q - sums.m * mean, 0.0)
    offset, ratio = point.offset, np.ones(len(mean))
    if filling.center:
        offset = offset + mean * point.scale
    still = filling.still
    if filling.scale:
        spread = np.sqrt(squares / max(w - 1, 1e-300))
        flat = still | (spread * point.scale <= CONSTANT * 2.0**-53 * np.abs(point.shift + offset))
        ratio = np.where(flat, 1.0 / point.scale, spread)
    # a column that does not vary where it is observed has no part in the axes: what fills it may not either
    varying = np.where(still & filling.center, 0.0, 1.0)
    diagonal = (squares if filling.center else sums.q) / ratio**2 * varying
    total = float(np.sum(diagonal))
    if basis is None:
        C = sums.S - np.outer(sums.m, mean) if filling.center else sums.S
        values, V = eigh(C / ratio[:, None] / ratio * varying[:, None] * varying, min(k + 1, len(mean)))
    else:
        product = sums.S - np.outer(sums.m, mean @ basis) if filling.center else sums.S
        values, basis = _ritz(product * varying[:, None], basis, ratio)
        V = basis
    values = np.maximum(values, 0.0)
    shrink = shrinkage(filling, values, total)
    image = replace(point, offset=offset, scale=point.scale * ratio, vectors=np.ascontiguousarray(V[:, :k]),
                    shrink=shrink)  # fmt: skip
    return _without(filling, image), values, basis


def _without(filling: Filling, point: Filler) -> Filler:
    """Axes without the columns that do not vary: their gaps hold exactly what the others do, not its rounding."""
    if not filling.center or not bool(np.any(filling.still)):
        return point
    return replace(point, vectors=np.where(filling.still[:, None], 0.0, point.vectors))


def shrinkage(filling: Filling, values: Vector, total: float) -> Vector:
    """D of the k leading values."""
    k, n, d = filling.k, filling.freedom, len(filling.observed.offset)
    top = float(values[0]) if len(values) else 0.0
    if top <= 0:
        return np.zeros(k)
    lead = np.maximum(values[:k], np.finfo(float).tiny)
    if not filling.shrinks:
        ridge = np.minimum(LEAST_RIDGE * top / lead, MOST_RIDGE)
        return np.where(values[:k] > 2.0**-50 * top, 1 / (1 + ridge), 0.0)
    rest = max(total - float(np.sum(values[:k])), 0.0)
    room = min(d, n) * (n - k) * (d - k)
    level = filling.observed.weight * d * rest / room if room > 0 else np.inf
    level = min(level, float(values[k]) if len(values) > k else level)
    return np.clip((lead - level) / lead, 0.0, 1 - LEAST_RIDGE)


def _block(filling: Filling, point: Filler) -> tuple[Matrix, int]:
    """A block of vectors near the leading ones of the mean-filled rows."""
    d = len(point.scale)
    width = min(d, filling.k + EXTRA)
    basis = np.linalg.qr(gaussian_rows(filling.seed, 0, 0, d, width))[0]
    base = np.zeros(d) if filling.center else filling.observed.mean / point.scale
    for _ in range(FIRST_PASSES):
        sums = _pass(filling, point, base, basis)
        mean = sums.m / filling.observed.weight
        product = sums.S - np.outer(sums.m, mean @ basis) if filling.center else sums.S
        basis = _ritz(product, basis, np.ones(d))[1]
    return basis, FIRST_PASSES


def _ritz(product: Matrix, basis: Matrix, ratio: Vector) -> tuple[Vector, Matrix]:
    """Ritz values on a block Q, given CQ, and the block of the next step; C and Q change units by ``ratio``.

    In the new units the block is D_r Q and its image D_r⁻¹ C Q, so that its Ritz values are those of (QᵀCQ, QᵀD_r²Q).
    """
    image, wide = product / ratio[:, None], basis * ratio[:, None]
    small = basis.T @ product
    values, E = scipy.linalg.eigh((small + small.T) / 2, wide.T @ wide)
    Q, R = np.linalg.qr(image @ E[:, ::-1])
    return values[::-1], Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def _orthonormal(V: Matrix, basis: Matrix) -> Matrix:
    """The block with its leading vectors replaced by V."""
    return np.linalg.qr(np.hstack([V, basis[:, V.shape[1] :]]))[0]
