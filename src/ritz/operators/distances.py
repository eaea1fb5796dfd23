"""Gower's matrix of distances, known by its products: what classical scaling and Isomap decompose.

    G = −½ S (I − 1pᵀ) D² (I − p1ᵀ) S      (n×n)      D² = [d²ᵢⱼ],  p = w/Σw,  S = diag(√w);  −½ J D² J without weights

Squared distances come in tiles of rows, of which only the part right of the diagonal is made:

    for rows I:   T = D²[I, i₀:]         Y_I += T V_J,   Y_J += Tᵀ V_I  (J beyond I)

and are kept where they fit, 4n² bytes instead of 8n², or made anew for each product. G has negative eigenvalues where
no rows in a Euclidean space have these distances. tr G = ½ Σw·pᵀD²p is exact. [Gow66, Tor52]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.keys import key_of_numbers
from ritz._core.linalg import Array
from ritz._core.threads import go_on, lane_count, run_lanes
from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import DENSE_BUDGET, Operator

__all__ = ["Gower", "Squares", "kept_bytes"]

Floats = NDArray[np.float64]

#: Rows of a tile: products with some columns run at the speed of BLAS, and little lies left of the diagonal.
ROWS = 256
#: Rows of a tile whose squares are summed at a time.
STRIP = 32
#: Multiplications up to which BLAS packs nothing, which products with a few columns would mostly consist of, and rows
#: of a tile that this must leave: 5,000 rows times 4 columns take 12 ms instead of 34.
SMALL, FEWEST = 1_000_000, 8
#: Sums of fourth powers below which some may have vanished.
LEAST = 1e-250


def kept_bytes(n: int) -> float:
    """Bytes of the tiles of n rows."""
    return 8.0 * sum((min(i + ROWS, n) - i) * (n - i) for i in range(0, n, ROWS))


class Squares:
    """Squared distances of n rows, tile by tile.

    Parameters
    ----------
    n
        Rows.
    tiles
        Makes ``(start, D²[start:stop, start:])`` for all rows in turn, in float64; called for every pass.
    keep
        Whether the tiles of the first pass are kept.
    relative
        How far a squared distance may be from the one that is meant, relative to itself.
    """

    def __init__(
        self, n: int, tiles: Callable[[], Iterator[tuple[int, Floats]]], *, keep: bool, relative: float = 0.0
    ) -> None:  # fmt: skip
        self.n, self.relative, self.keep = n, relative, keep
        self._make, self.passes = tiles, 0
        self._kept: list[tuple[int, Floats]] | None = None
        self._complete = False
        self.weights: Floats = np.ones(n)  # of rows, with which fourth powers are summed
        self.fourth = 0.0  # Σ wᵢwⱼ d⁴ᵢⱼ, once all tiles were made

    def tiles(self) -> Iterator[tuple[int, Floats]]:
        """All tiles, made or kept."""
        if self._complete and self._kept is not None:
            yield from self._kept
            return
        self.passes += 1
        kept: list[tuple[int, Floats]] = []
        fourth, w = 0.0, self.weights
        for start, tile in self._make():
            go_on()
            m = len(tile)
            for first in range(0, m, STRIP):  # squares of a whole tile would take as much room again
                own = slice(start + first, start + min(first + STRIP, m))
                fourth += 2.0 * _summed(w[own], tile[first : first + STRIP], w[start:])
            fourth -= _summed(w[start : start + m], tile[:, :m], w[start : start + m])
            if self.keep:
                kept.append((start, tile))
            yield start, tile
            del tile  # gone before the next is made, where nobody keeps it
        self.fourth = fourth
        if self.keep:
            self._kept, self._complete = kept, True

    def held(self) -> list[tuple[int, Floats]] | None:
        """The tiles, where all of them were kept."""
        return self._kept if self._complete else None

    def times(self, V: Floats) -> Floats:
        """``D² V``; tiles that are kept are shared out among lanes."""
        if self._complete and self._kept is not None and len(self._kept) > 1:
            lanes = min(lane_count(), len(self._kept))
            shares = [self._kept[lane::lanes] for lane in range(lanes)]
            return np.asarray(np.sum(run_lanes(lambda share: _times(iter(share), V), shares), axis=0))
        return _times(self.tiles(), V)


def _summed(left: Floats, tile: Floats, right: Floats) -> float:
    """Σ wᵢwⱼ d⁴ᵢⱼ; infinite, or nan, where that leaves the range."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(left @ (np.square(tile) @ right))


def _times(tiles: Iterator[tuple[int, Floats]], V: Floats) -> Floats:
    out = np.zeros((V.shape[0], V.shape[1]))
    for start, tile in tiles:
        m = len(tile)
        many = int(SMALL // max(tile.shape[1] * V.shape[1], 1))
        many = m if many < FEWEST else min(many, m)
        for first in range(0, m, many):
            strip = tile[first : first + many]
            own = slice(start + first, start + first + len(strip))
            out[own] += strip @ V[start:]
            out[start + m :] += strip[:, m:].T @ V[own]
        del strip, tile  # gone before the next is made, where nobody keeps it
    return out


class Gower(Operator):
    """``−½ J D² J`` (n×n), with weights ``−½ S J D² Jᵀ S``.

    Parameters
    ----------
    squares
        Squared distances.
    weights : (n,) positive, or None

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators.distances import Gower, Squares
    >>> x = np.array([0.0, 3.0, 4.0])
    >>> D2 = np.square(x[:, None] - x)
    >>> G = Gower(Squares(3, lambda: iter([(0, D2)]), keep=True))
    >>> bool(np.allclose(G.to_dense(), np.outer(x - x.mean(), x - x.mean())))
    True
    >>> round(G.trace(), 12)
    8.666666666667
    """

    symmetric = True

    def __init__(self, squares: Squares, weights: Floats | None = None) -> None:
        super().__init__((squares.n, squares.n), np.float64)
        self.squares = squares
        self.mass = float(squares.n) if weights is None else float(np.sum(weights))
        self.p = np.full(squares.n, 1.0 / squares.n) if weights is None else weights / self.mass
        self.root = np.ones(squares.n) if weights is None else np.sqrt(weights)
        if weights is not None:
            squares.weights = np.asarray(weights, np.float64)
        self._sums: Floats | None = None  # (n, 2): D²p, D²√w

    def _matmat(self, V: Array) -> Array:
        V = self.root[:, None] * np.asarray(V, np.float64)
        V = V - self.p[:, None] * V.sum(axis=0)
        if self._sums is None:
            whole = self.squares.times(np.column_stack([V, self.p, self.root]))
            Y, self._sums = whole[:, :-2], whole[:, -2:]
        else:
            Y = self.squares.times(V)
        Y = Y - self.p @ Y
        Y *= -0.5 * self.root[:, None]
        return Y

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def means(self) -> Floats:
        """``D²p`` (n,): mean squared distance of each row."""
        if self._sums is None:
            self._matmat(np.zeros((self.shape[0], 0)))
        assert self._sums is not None  # noqa: S101  (for the type checker)
        return self._sums[:, 0]

    def trace(self) -> float:
        return 0.5 * self.mass * float(self.p @ self.means())

    def square_sum(self) -> float | None:
        """¼(Σwᵢwⱼd⁴ᵢⱼ − 2(Σw)²·Σp(D²p)² + (Σw)²·(pᵀD²p)²), and what the sums may have rounded, at most."""
        r, whole = self.means(), self.squares.fourth
        if not LEAST < whole < np.inf:  # fourth powers that left the range of float64 bound nothing
            return None
        centred = whole - self.mass**2 * (2.0 * float(self.p @ np.square(r)) - float(self.p @ r) ** 2)
        slack = 4.0 * unit_roundoff(np.float64) * (ROWS + 8) * self.shape[0] * whole
        return 0.25 * (max(centred, 0.0) + slack)

    def inflation(self) -> float:
        """``½‖S D² S‖_∞``, which bounds what is rounded before the means are taken off."""
        self.means()
        assert self._sums is not None  # noqa: S101
        return 0.5 * float(np.max(self.root * self._sums[:, 1], initial=0.0))

    def measured(self) -> float | None:
        """What distances that are rounded themselves do to a product with a unit vector, at most."""
        return 4.0 * self.squares.relative * self.inflation() if self.squares.relative else None

    def to_dense(self, budget: int = DENSE_BUDGET) -> Array:
        n = self.shape[0]
        if 8 * n * n > budget:
            raise MemoryLimitError(
                f"a dense copy of this operator must fit into {budget:,} bytes", received=f"{n:,} × {n:,}",
                hint="use matmat, or raise the budget: to_dense(budget=…)",
            )  # fmt: skip
        G = np.empty((n, n))
        for start, tile in self.squares.tiles():
            stop = start + len(tile)
            G[start:stop, start:] = tile
            G[start:, start:stop] = tile.T
        if self._sums is None:
            self._sums = G @ np.column_stack([self.p, self.root])
        r = self._sums[:, 0]
        G -= r
        G -= (r - self.p @ r)[:, None]
        G *= -0.5 * self.root
        G *= self.root[:, None]
        return G

    def key(self) -> int:
        return key_of_numbers(self.means(), self.p)

    def passes(self) -> int:
        return self.squares.passes

    def symbol(self) -> str:
        return "−½ J D² J"
