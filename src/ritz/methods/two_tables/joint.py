"""Two tables of the same rows as one small factor, from which every two-table problem follows.

    Z = D_w^½ [(X − 1μᵀ)D_σ⁻¹   (Y − 1νᵀ)D_τ⁻¹] = Q R      (n × (d + q)),   R (m × (d + q)),  m ≤ n,  QᵀQ = I

    X̃ᵀX̃ = RₓᵀRₓ,   X̃ᵀỸ = RₓᵀRᵧ,   ỸᵀỸ = RᵧᵀRᵧ         whatever is asked of X̃ and Ỹ is asked of Rₓ and Rᵧ

R comes from a tree of Householder QR, block by block of rows, so no covariance is formed and no digit squared away;
means are taken off before, in two parts, so that they cost none. Where rows are few, R is Z itself. Methods of
covariances (PLS, PCR) take the Cholesky factor of ZᵀZ where rows are many and columns are far from dependent: pivots
within LEVEL of each other leave u/LEVEL of σ₁, and anything else goes by QR.                             [BG73, GV13]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.factors import triangle
from ritz._core.lazy import cached_property
from ritz._core.memory import LITTLE
from ritz.data.passes.blocks import are_blocks, blocks_of
from ritz.data.passes.integers import has_long, subtract
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.validate import room_for
from ritz.methods.scaling import divisor_of, spread_of
from ritz.operators.base import Operator

__all__ = ["Cross", "Joint", "Side", "joint_of"]

Floats = NDArray[np.float64]

#: Rows of a tree of QR that are put together at once, at least, and in multiples of the columns.
LEAST, TIMES = 2048, 6
#: Roundings of a product of two factors, in units of u‖A‖‖B‖: the tree of QR and the product together.
FORMED = 40.0
U = 2.0**-53
#: Rows, in multiples of the columns, above which products are tried; rows of one product; how far pivots may differ.
TALL, PIECE, LEVEL = 4, 4096, 1e-2
#: Columns from which, and entries of both tables and rows up to which, a few products with the rows are a factor.
WIDE, PLAIN, LONG = 128, 8_000_000, 50_000


@dataclass(frozen=True)
class Side:
    """The frame of one table: z = (x − μ)/σ."""

    mean: Floats
    low: Floats | None  # what rounding took from the mean
    scale: Floats | None
    spread: Floats  # standard deviations, in the frame

    def framed(self, rows: Any) -> Floats:
        """Rows in the frame, dense."""
        dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        if has_long(dense):  # float64 would lose what such integers differ by
            Z: Floats = np.empty(dense.shape)
            subtract(dense, self.mean, Z)
        else:
            Z = np.subtract(dense, self.mean, dtype=np.float64)
        if self.low is not None:
            Z -= self.low
        if self.scale is not None:
            Z /= self.scale
        return Z


@dataclass(frozen=True)
class Joint:
    """Factor of both tables, with their frames."""

    X: Floats  # (m, d) Rₓ
    Y: Floats  # (m, q) Rᵧ
    x: Side
    y: Side
    column: ColumnStatistics  # of the first table
    rows: int
    weight: float
    weight_low: float
    divisor: float  # Σw − 1
    passes: int
    error: float = FORMED  # of singular values of either factor, in units of u times its size

    @cached_property
    def cross(self) -> Floats:
        """X̃ᵀỸ, (d, q)."""
        return np.asarray(self.X.T @ self.Y)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """‖X̃‖² and ‖Ỹ‖²."""
        return float(np.vdot(self.X, self.X)), float(np.vdot(self.Y, self.Y))

    @property
    def d(self) -> int:
        """Columns of the first table."""
        return int(self.X.shape[1])

    @property
    def q(self) -> int:
        """Columns of the second table."""
        return int(self.Y.shape[1])


def joint_of(
    model: Any, rows: Any, Y: Floats, weights: Floats | None, *, scale: bool, few: int | None = None
) -> Joint:  # fmt: skip
    """The factor of two tables; ``model`` is asked for its names and its memory limit.

    ``few``: so many components are all that is asked, each by two products with X; the rows themselves may do.
    """
    n, d, q = int(rows.shape[0]), int(rows.shape[1]), Y.shape[1]
    _require_room(model, min(n, 2 * (d + q)), d + q)
    first = Statistics(blocks_of(rows), weights, np.float64, getattr(model, "feature_names_in_", None))
    second = Statistics(blocks_of(Y), weights, np.float64, getattr(model, "target_names_", None))
    x, y = _side(first.column, model, scale), _side(second.column, _Second(model), scale)
    R = None
    plain = few is not None and WIDE < d + q > 2 * (q + 2 * few) and n * (d + q) <= PLAIN and n <= LONG
    if (n <= 2 * (d + q) or plain) and not are_blocks(rows):
        both = x.framed(rows), y.framed(Y)
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            both = both[0] * root, both[1] * root
        return _joint(both, x, y, first, FORMED)
    if not model._by_angles and n > TALL * (d + q):
        R = _by_products(_parts(rows, Y, weights, x, y), d + q)
    error = FORMED if R is None else FORMED / LEVEL
    R = _factor(_parts(rows, Y, weights, x, y), d + q) if R is None else R
    return _joint((R[:, :d], R[:, d:]), x, y, first, error)


def _joint(both: tuple[Floats, Floats], x: Side, y: Side, first: Statistics, error: float) -> Joint:
    X, Y = (np.ascontiguousarray(one) for one in both)
    return Joint(
        X, Y, x, y, first.column, first.rows, first.weight, first.weight_low, divisor_of(first.column),
        first.passes + 1, error,
    )  # fmt: skip


class _Second:
    """The second table as messages about constant columns name it."""

    def __init__(self, model: Any) -> None:
        self.feature_names_in_ = getattr(model, "target_names_", None)


def _side(column: ColumnStatistics, named: Any, scale: bool) -> Side:
    mean, low = column.parts()
    if scale:
        spread = spread_of(column, named)
        varies = np.sqrt(column.squares / divisor_of(column)) * column.unit / spread
        return Side(mean, low, spread, np.asarray(varies))
    return Side(mean, low, None, np.sqrt(column.squares / divisor_of(column)) * column.unit)


def _parts(rows: Any, Y: Floats, weights: Floats | None, x: Side, y: Side) -> Iterator[Floats]:
    """Weighted rows of both tables in their frames, some at a time."""
    for block in blocks_of(rows).each():
        Z = np.hstack([x.framed(block.values), y.framed(Y[block.rows])])
        if weights is not None:
            Z *= np.sqrt(weights[block.rows])[:, None]
        yield Z


def _factor(parts: Iterator[Floats], width: int) -> Floats:
    """R of all parts one below the other; their rows themselves where these are few."""
    held: list[Floats] = []
    count, full = 0, max(LEAST, TIMES * width)
    for part in parts:
        for start in range(0, len(part), full):
            held.append(part[start : start + full])
            count += len(held[-1])
            if count >= full:
                held = [triangle(np.vstack(held))]
                count = len(held[0])
    Z = held[0] if len(held) == 1 else np.vstack(held)
    return np.asarray(triangle(Z) if len(Z) > 2 * width else Z, np.float64)


def _by_products(parts: Iterator[Floats], width: int) -> Floats | None:
    """The Cholesky factor of ZᵀZ; None where columns are too near to dependent."""
    G = np.zeros((width, width))
    for part in parts:
        for start in range(0, len(part), PIECE):
            piece = part[start : start + PIECE]
            G += piece.T @ piece
    try:
        R = np.asarray(scipy.linalg.cholesky(G, check_finite=False))
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(R)
    return R if float(np.min(pivots)) > LEVEL * float(np.max(pivots)) else None


def _require_room(model: Any, m: int, width: int) -> None:
    size = 4 * 8.0 * m * width
    if model.memory is None and size <= LITTLE:
        return
    if size > (room := room_for(model)):
        raise MemoryLimitError(
            f"{type(model).__name__} holds a factor of both tables, about {size / 1e9:.3g} GB for {width:,} columns",
            received=f"a limit of {room / 1e9:.3g} GB", hint="choose fewer columns first",
        )  # fmt: skip


class Cross(Operator):
    """A small matrix that was formed from factors, with what forming it may have cost.

    Parameters
    ----------
    A : (p, d)
    error : bound on ‖computed − exact‖₂
    symbol : the matrix as algebra
    """

    def __init__(self, A: Floats, error: float, symbol: str) -> None:
        super().__init__(A.shape, np.float64)
        self.A, self._error, self._symbol = np.ascontiguousarray(A, np.float64), float(error), symbol

    def _matmat(self, V: Any) -> Any:
        return self.A @ V

    def _rmatmat(self, U: Any) -> Any:
        return self.A.T @ U

    def to_dense(self, budget: int = 1 << 30) -> Any:
        return self.A

    def frobenius2(self) -> float:
        return float(np.sum(np.square(self.A)))

    def perturbation(self) -> float:
        return self._error

    def symbol(self) -> str:
        return self._symbol
