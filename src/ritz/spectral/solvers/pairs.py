"""What a solver hands back: pairs of the symmetric operator M and what is known about their errors.

The certificate (``certificate/certificate.py``) is made from this alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.arrays import Array, Floats

__all__ = ["Completeness", "Pairs"]


@dataclass(frozen=True)
class Completeness:
    """Why no eigenvalue above ``ceiling`` can be missing from the answer.

    ``ceiling`` bounds every eigenvalue that is not among those returned: infinity means that nothing is known, minus
    infinity that none is left.
    """

    kind: Literal["count", "trace", "probability", "none"]
    ceiling: float
    failure: float = 0.0  # probability that the statement is wrong
    words: str = ""


@dataclass(frozen=True)
class Pairs:
    """Leading pairs of M with their residuals.

    ``values`` may hold more entries than ``vectors`` has columns (a direct solver knows the whole spectrum).
    ``error`` bounds |λ̂ᵢ − λᵢ| for every i through Weyl's theorem when the solver has a global backward error;
    ``sigma_error`` does the same for singular values.
    """

    values: Floats  # (m,) decreasing, m ≥ k
    vectors: Array  # (p, k)
    residual_block: Array  # (p, k)
    rounding: float  # bound on what rounding adds to a residual
    completeness: Completeness
    converged: bool
    roundoff: float
    precision: str
    iterations: int = 0
    error: float | None = None
    sigma_error: float | None = None
    estimate: float | None = None  # leave-one-out estimate of ‖M − M̂‖_F where a solver only estimates
    upper: Floats | None = None  # upper bounds that a solver proves by itself
    lower: Floats | None = None  # and lower ones
    notes: tuple[str, ...] = field(default_factory=tuple)
    value_block: Array | None = None  # residuals that enclose eigenvalues, where they differ from those of the vectors
    drawn: tuple[int, int] | None = None  # key and width of the block that a sketch was made with
    positive: bool = False  # whether M has no negative eigenvalue
    null: float = -np.inf  # eigenvalue of the space that the solver never saw (0 for AᵀA found through AAᵀ)

    @property
    def k(self) -> int:
        """Number of vectors."""
        return int(self.vectors.shape[1])

    def leading(self) -> NDArray[np.float64]:
        """The k values that have vectors."""
        return np.asarray(self.values[: self.k], np.float64)
