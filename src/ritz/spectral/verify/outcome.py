"""The outcome of ``verify``: whether everything was found right, and in words what was looked at and what was not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Verification"]


@dataclass(frozen=True)
class Verification:
    """Outcome of ``certificate_.verify(X)``."""

    ok: bool
    residuals: NDArray[np.float64]
    count: int | None
    expected: int
    missed_bound: float | None
    words: tuple[str, ...]
    anew: Any = field(default=None, repr=False, compare=False)  # the table read again, for what a model holds

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join([f"verification: {'passed' if self.ok else 'FAILED'}", *self.words])
