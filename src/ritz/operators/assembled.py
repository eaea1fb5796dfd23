"""A symmetric operator written out as sparse entries: what a factorisation needs beside products.

    M = BᵀB      root B (r×p), CSR:     eigenvalues are squares of singular values, and small ones keep their digits
    M            matrix (p×p), CSC:     where no root is known

What is stored may be rounded: ``noise`` bounds ‖B̃ − B‖₂ of a root, ‖M̃ − M‖₂ of a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Assembled"]


@dataclass(frozen=True)
class Assembled:
    """Entries of a symmetric operator without negative eigenvalues: a root, or the matrix itself."""

    root: Any = None  # CSR (r×p), float64
    matrix: Any = None  # CSC (p×p), float64
    noise: float = 0.0

    @property
    def p(self) -> int:
        """Side of M."""
        return int((self.matrix if self.root is None else self.root).shape[1])
