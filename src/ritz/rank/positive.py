"""All axes that a table has: as many as its eigenvalues exceed rounding.

k = #{i : λᵢ > zero level of the spectrum}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz.rank.shares import zero_level

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Positive"]


class Positive:
    """Keep every component that is not rounding, and at most ``most``."""

    name = "all"
    needs_all = True

    def __init__(self, most: int) -> None:
        self.most = most

    def decide(self, seen: Seen) -> int | None:
        """The number of values above rounding, at least 1."""
        if not seen.complete:
            return None
        return max(1, min(self.most, int(np.count_nonzero(seen.values > zero_level(seen) * seen.total))))
