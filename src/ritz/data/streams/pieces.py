"""Rows of one block as a factor of a scatter matrix: Z with ZᵀZ = Σw(x − m)(x − m)ᵀ/unit², m the mean of the block.

dense    z = √w(x − s − m)/unit, taken off in two steps: neither a large mean nor one that drifts costs digits
sparse   Z = √w X − √w mᵀ, the mean taken off the products: ZZᵀ, ZQᵀ, ZᵀW stay products with stored entries
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.integers import has_long, subtract
from ritz.data.passes.sparse.sums import sums
from ritz.data.passes.unit import LEAST_EXTENT, out_of_range, power_of_two
from ritz.data.passes.weights import sum_of_weights
from ritz.data.streams.means import Means

__all__ = ["SAFE_EXTENT", "DensePiece", "Piece", "SparsePiece", "common_unit", "piece_of"]

Floats = NDArray[np.float64]

#: Entries of a sparse block that is filled in where means must come off the entries themselves; squares of means, in
#: squares about them, above which that is so; and times that one row weighs as much as another.
FILLED, TAKEN, UNEVEN = 1 << 26, 2.0, 2.0**10

#: Binary exponents of the largest number, either way, up to which fourth powers of sums of them stay in range.
SAFE_EXTENT = 150.0


@dataclass(frozen=True)
class DensePiece:
    """Rows as they are.

    ``taken``: Σ of squares of the numbers that are rounded beyond those of Z, a mean taken off products.
    """

    rows: Floats
    taken: float = 0.0

    def __len__(self) -> int:
        return len(self.rows)

    def gram(self) -> Floats:
        """``Z Zᵀ``."""
        return np.asarray(self.rows @ self.rows.T)

    def along(self, Q: Floats) -> Floats:
        """``Z Qᵀ``."""
        return np.asarray(self.rows @ Q.T)

    def adjoint(self, W: Floats) -> Floats:
        """``Zᵀ W``."""
        return np.asarray(self.rows.T @ W)


@dataclass(frozen=True)
class SparsePiece:
    """``X − v mᵀ`` with X sparse and weighted, v (b,) the roots of the weights, m (d,) the mean."""

    rows: Any  # CSR
    roots: Floats
    mean: Floats
    taken: float = 0.0

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def gram(self) -> Floats:
        """``Z Zᵀ``."""
        K = np.asarray((self.rows @ self.rows.T).toarray())
        across = np.outer(self.rows @ self.mean, self.roots)
        return K - across - across.T + float(self.mean @ self.mean) * np.outer(self.roots, self.roots)

    def along(self, Q: Floats) -> Floats:
        """``Z Qᵀ``."""
        return np.asarray(self.rows @ Q.T) - np.outer(self.roots, Q @ self.mean)

    def adjoint(self, W: Floats) -> Floats:
        """``Zᵀ W``."""
        return np.asarray(self.rows.T @ W) - np.outer(self.mean, self.roots @ W)


#: A factor Z (b×d) of a part of the scatter.
Piece = DensePiece | SparsePiece


def piece_of(X: Any, weights: Floats | None) -> tuple[Piece, Means, Floats, float]:
    """Z of some rows, what is known of their mean, Σ of squares of its columns (d,), and the unit of both."""
    n, d = X.shape
    total, low = (float(n), 0.0) if weights is None else sum_of_weights(weights)
    if n == 0 or total == 0:
        return DensePiece(np.zeros((0, d))), Means(0, 0.0, np.zeros(d), np.zeros(d)), np.zeros(d), 1.0
    make = _dense if isinstance(X, np.ndarray) else _sparse
    return make(X, weights, total, low)


def _dense(X: Any, weights: Floats | None, total: float, low: float) -> tuple[Piece, Means, Floats, float]:
    w = None if weights is None else weights / total
    with np.errstate(over="ignore", invalid="ignore"):
        halves = X * 0.5 if X.dtype.kind == "f" else X.astype(np.float64) * 0.5  # a sum of large numbers stays finite
        middle = np.asarray(halves.mean(axis=0, dtype=np.float64) if w is None else w @ halves, np.float64) * 2
    least, most = X.min(axis=0), X.max(axis=0)  # within the rows: no rounding makes a constant column vary
    shift = np.minimum(np.maximum(middle, least), most).astype(np.float64)
    z = np.empty(X.shape)
    if has_long(X):
        shift = np.rint(shift)
        subtract(X, shift, z)
    else:
        np.subtract(X, shift, out=z, dtype=np.float64)
    unit = _unit_of(float(np.max(np.abs(z), initial=0.0)), weights)
    if unit != 1:
        z /= unit
    offset = np.zeros(X.shape[1])
    for _ in range(2):  # what rounding leaves of the mean the first time
        mean = z.mean(axis=0) if w is None else w @ z
        z -= mean
        offset = offset + mean
    if weights is not None:
        z *= np.sqrt(weights)[:, None]
    means = Means(len(z), total, shift, offset * unit, low)
    return DensePiece(z), means, np.einsum("ij,ij->j", z, z), unit


def _sparse(X: Any, weights: Floats | None, total: float, low: float) -> tuple[Piece, Means, Floats, float]:
    x = X.tocsr().astype(np.float64)
    unit = _unit_of(float(np.max(np.abs(x.data), initial=0.0)), weights)
    if unit != 1:
        x.data = x.data / unit
    n, d = x.shape
    w = np.ones(n) if weights is None else weights
    mean, squares = sums(x, w / total)  # pairwise: equal numbers that are added one by one drift
    about = squares * total
    roots = np.sqrt(w)
    x.data = x.data * np.repeat(roots, np.diff(x.indptr))
    taken = total * np.square(mean)
    if x.shape[0] * d <= FILLED and _outweighed(about, taken, w):
        return _dense(X.toarray(), weights, total, low)
    piece = SparsePiece(x, roots, mean, float(np.sum(taken)))
    return piece, Means(n, total, np.zeros(d), mean * unit, low), np.maximum(about - taken, 0.0), unit


def _outweighed(about: Floats, taken: Floats, w: Floats) -> bool:
    """Whether squares of means are so much of the squares about zero that their difference would lose digits."""
    if float(np.max(w)) > UNEVEN * float(np.min(w)):
        return True
    return not float(np.sum(taken)) <= TAKEN * float(np.sum(about) - np.sum(taken))


def _unit_of(largest: float, weights: Floats | None) -> float:
    """A power of two where squares of squares would leave the range; 1 otherwise."""
    if largest == 0:
        return 1.0
    extent = np.log2(largest)
    if weights is not None:
        extent += 0.5 * np.log2(float(np.max(weights, initial=1.0)) if weights.size else 1.0)
    if extent < LEAST_EXTENT:
        raise out_of_range(largest)
    return 1.0 if abs(extent) <= SAFE_EXTENT else power_of_two(float(extent))


def common_unit(parts: list[tuple[float, Floats]], between: Floats) -> tuple[float, list[float]]:
    """The unit of parts that are joined, and what numbers in the squares of their own units are multiplied by.

    ``parts``: units and squares; one that holds nothing has no say. ``between``: √w times the distance of the means.
    """
    held = [bool(np.any(squares)) for _, squares in parts]
    units = [unit for (unit, _), some in zip(parts, held, strict=True) if some]
    apart = float(np.max(np.abs(between), initial=0.0))
    if apart > 0:
        units.append(1.0 if abs(np.log2(apart)) <= SAFE_EXTENT else power_of_two(float(np.log2(apart))))
    common = max(units, default=1.0)
    return common, [(unit / common) ** 2 if some else 0.0 for (unit, _), some in zip(parts, held, strict=True)]
