"""Rows against a plane: whitened coordinates, what is left of the row, and both distances.

    z = (x − μ) D_σ⁻¹,   y = B z,   T² = ‖y W‖²,   Q = ‖z − Bᵀy‖²          B (k×d) orthonormal rows, W (k×k)

The difference z − Bᵀy is formed itself: ‖z‖² − ‖y‖² would cancel for rows near the plane. Sparse rows stay sparse,
‖z‖² = ‖c‖² + Σ x̃(x̃ − 2c) over stored entries, x̃ = x/σ, c = μ/σ, as long as the difference of squares keeps its digits;
a row for which it does not is made dense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Block, blocks_of
from ritz.data.passes.center import full_columns, taken_off

__all__ = ["Frame", "Parts"]

Floats = NDArray[np.float64]

#: Round-offs of the terms of a difference of squares that its result may be wrong by, and the share of it allowed.
TERMS, KEPT_DIGITS = 16.0, 1e-9
#: Numbers of sparse rows that are made dense at once.
DENSE_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Parts:
    """Some rows in the frame of a plane."""

    whitened: Floats  # (b, k) y W
    left: Floats | None  # (b, d) z − Bᵀy; None where rows stay sparse and only its square is known
    squares: Floats  # (b,) Q

    @property
    def distances(self) -> Floats:
        """(b, 2) T² and Q."""
        return np.column_stack([np.einsum("ij,ij->i", self.whitened, self.whitened), self.squares])


@dataclass(frozen=True)
class Frame:
    """A plane, its whitening, and the frame in which rows are compared with it."""

    basis: Floats  # (k, d) B
    white: Floats  # (k, k) W
    mean: Floats | None = None  # (d,) μ
    scale: Floats | None = None  # (d,) σ
    low: Floats | None = None  # (d,) what rounding took from the mean

    def map(self, rows: Any, width: int, step: Callable[[Parts], Floats], *, whole: bool = False) -> Floats:
        """``step`` of the parts of every row, (n, width), in one pass; ``whole``: sparse rows as dense blocks."""
        blocks = blocks_of(rows)

        def each(_scratch: dict[str, Any], block: Block) -> Any:
            values = block.values
            if isinstance(values, np.ndarray):
                return step(self.dense(values))
            return step(self.dense(values.toarray()) if whole else self.sparse(values))

        with np.errstate(over="ignore", invalid="ignore"):  # the caller names what is not finite
            return blocks.map_rows(each, np.empty((blocks.shape[0], width)))

    def distances(self, rows: Any) -> Floats:
        """(n, 2) T² and Q of every row."""
        return self.map(rows, 2, lambda row_parts: row_parts.distances)

    def dense(self, x: NDArray[Any]) -> Parts:
        """Parts of a dense block."""
        z = taken_off(x, self.mean, self.low)
        z = z if self.scale is None else z / self.scale
        y = z @ self.basis.T
        left = z - y @ self.basis
        return Parts(y @ self.white, left, np.einsum("ij,ij->i", left, left))

    def sparse(self, x: Any) -> Parts:
        """Parts of a CSR block."""
        wide, centre = self._shifted(x)
        y = np.asarray(wide @ self.basis.T)
        squares, terms = wide.copy(), wide.copy()
        off = 0.0 if centre is None else 2 * centre[wide.indices]
        squares.data *= wide.data - off
        terms.data = np.abs(wide.data) * (np.abs(wide.data) + np.abs(off))
        length, size = (np.asarray(terms_of.sum(axis=1)).ravel() for terms_of in (squares, terms))
        if centre is not None:
            y, about = y - self.basis @ centre, float(centre @ centre)
            length, size = length + about, size + about
        left = length - np.einsum("ij,ij->i", y, y)
        lost = np.flatnonzero(~(TERMS * 2.0**-53 * size <= KEPT_DIGITS * left))  # NaN is lost too
        rows = max(1, DENSE_AT_ONCE // max(x.shape[1], 1))
        for start in range(0, len(lost), rows):
            some = lost[start : start + rows]
            left[some] = self.dense(x[some].toarray()).squares
        return Parts(y @ self.white, None, np.maximum(left, 0.0))

    def along(self, x: Any) -> Floats:
        """(b, k) y W of a block, of which nothing else is asked."""
        if isinstance(x, np.ndarray):
            z = taken_off(x, self.mean, self.low)
            return np.asarray((z if self.scale is None else z / self.scale) @ self.basis.T @ self.white)
        wide, centre = self._shifted(x)
        y = np.asarray(wide @ self.basis.T)
        return np.asarray((y if centre is None else y - self.basis @ centre) @ self.white)

    def _shifted(self, x: Any) -> tuple[Any, Floats | None]:
        """A CSR block in units of the scale, full columns about their means, and the centre of the other columns."""
        wide = x.astype(np.float64)  # a copy, also where nothing is converted
        centre, low = self.mean, self.low
        full = None if centre is None else full_columns(wide, centre)
        if centre is not None and full is not None:
            wide.data -= np.where(full, centre, 0.0)[wide.indices]
            if low is not None:
                wide.data -= np.where(full, low, 0.0)[wide.indices]
            centre = np.where(full, 0.0, centre)
        if self.scale is not None:
            wide.data /= self.scale[wide.indices]
            centre = None if centre is None else centre / self.scale
        return wide, centre
