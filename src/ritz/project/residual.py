"""Rows against a plane: whitened coordinates, what is left of the row, and both distances.

    z = (x − μ) D_σ⁻¹,   y = B z,   T² = ‖y W‖²,   Q = ‖z − Bᵀy‖²          B (k×d) orthonormal rows, W (k×k)

For dense rows the difference z − Bᵀy is formed itself: ‖z‖² − ‖y‖² would cancel for rows near the plane. Sparse rows
stay sparse, ‖z‖² = ‖c‖² + Σ x̃(x̃ − 2c) over stored entries, x̃ = x/σ, c = μ/σ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.blocks import Block, blocks_of

__all__ = ["Frame", "Parts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """Some rows in the frame of a plane."""

    whitened: Floats  # (b, k) y W
    left: Floats | None  # (b, d) z − Bᵀy; None where rows stay sparse and only its square is known
    squares: Floats  # (b,) Q

    @property
    def distances(self) -> Floats:
        """(b, 2) T² and Q."""
        return np.column_stack([np.square(self.whitened).sum(axis=1), self.squares])


@dataclass(frozen=True)
class Frame:
    """A plane, its whitening, and the frame in which rows are compared with it."""

    basis: Floats  # (k, d) B
    white: Floats  # (k, k) W
    mean: Floats | None = None  # (d,) μ
    scale: Floats | None = None  # (d,) σ

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
        return self.map(rows, 2, lambda part: part.distances)

    def dense(self, x: NDArray[Any]) -> Parts:
        """Parts of a dense block."""
        z = np.asarray(x, np.float64)
        z = z if self.mean is None else z - self.mean
        z = z if self.scale is None else z / self.scale
        y = z @ self.basis.T
        left = z - y @ self.basis
        return Parts(y @ self.white, left, np.einsum("ij,ij->i", left, left))

    def sparse(self, x: Any) -> Parts:
        """Parts of a CSR block."""
        wide = x.astype(np.float64)
        if self.scale is not None:
            wide.data /= self.scale[wide.indices]
        y = np.asarray(wide @ self.basis.T)
        squares, centre = wide.copy(), None
        if self.mean is not None:
            centre = self.mean if self.scale is None else self.mean / self.scale
        squares.data *= wide.data - (0.0 if centre is None else 2 * centre[wide.indices])
        length = np.asarray(squares.sum(axis=1)).ravel()
        if centre is not None:
            y = y - self.basis @ centre
            length = length + float(centre @ centre)
        return Parts(y @ self.white, None, np.maximum(length - np.einsum("ij,ij->i", y, y), 0.0))
