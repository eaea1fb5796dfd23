"""Three lists of choices, not every triple of them: every pair of values, of any two of the lists, occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["pairwise"]


def pairwise(first: Sequence[Any], second: Sequence[Any], third: Sequence[Any]) -> list[tuple[Any, Any, Any]]:
    """Every pair of the first two lists, with values of the third in turn; the third is the shortest.

    The third at (i, j) is i + j modulo its length, so that both i and j meet all of its values.
    """
    assert len(third) <= min(len(first), len(second))
    return [(a, b, third[(i + j) % len(third)]) for i, a in enumerate(first) for j, b in enumerate(second)]
