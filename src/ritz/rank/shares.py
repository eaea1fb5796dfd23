"""What every rule reads from a spectrum: shares of the total, and what is left after k.

    xᵢ = λᵢ / Σλ            R_k = Σ_{i>k} xᵢ = 1 − Σ_{i≤k} xᵢ

Rules work on shares, never on eigenvalues, so no rule depends on the unit of the data and nothing overflows.
``R_k`` is summed from the tail when all eigenvalues are there. From a part of them it is the exact total less
those seen, which rounding blurs by about ``seen.zero_level``; rules that decide on a part allow for that.
Shapes: ``m`` eigenvalues seen give shares (m,) and rests (m + 1,), from k = 0 to k = m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ritz._core.tabular import Tabular

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Criterion", "Curve", "Floats", "divisor", "plural", "rests", "shares", "undecided"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve(Tabular):
    """The statistic of a rule as a function of the number of components.

    Attributes
    ----------
    k : ndarray of int
        Numbers of components.
    value : ndarray
        The statistic at each ``k``.
    threshold : ndarray or None
        What the statistic is compared with, where the rule has such a line.
    label : str
        What ``value`` is, for an axis.
    """

    k: NDArray[np.int64]
    value: Floats
    threshold: Floats | None
    label: str

    def _table(self) -> dict[str, Any]:
        line = [None] * len(self.k) if self.threshold is None else self.threshold
        return {"k": self.k, "value": self.value, "threshold": line}


class Criterion(Protocol):
    """A rule that a solver can ask (``Rule``) and that can show and explain its answer."""

    name: str
    needs_all: bool

    def decide(self, seen: Seen) -> int | None:
        """Return the number of components, or None while the values seen leave it open."""

    def curve(self, seen: Seen) -> Curve:
        """Return the statistic for every k that the values seen allow."""

    def why(self, seen: Seen) -> str:
        """Say in one sentence, with numbers, why the answer is what it is."""


def shares(seen: Seen) -> Floats:
    """Return the eigenvalues seen as shares of the total; rounding below zero is cut off."""
    values = np.asarray(seen.values, dtype=np.float64)
    if seen.total <= 0.0:
        return np.zeros_like(values)
    return np.maximum(values / seen.total, 0.0)


def rests(seen: Seen, x: Floats | None = None) -> Floats:
    """Return ``R_0 … R_m``, the share of the total that is left after the first k eigenvalues; ``x`` their shares."""
    x = shares(seen) if x is None else x
    if seen.complete or seen.total <= 0.0:
        left = np.zeros(len(x) + 1)
        x[::-1].cumsum(out=left[-2::-1])
        return left
    # The running sum is taken in the longest float, so that its own rounding stays far below the zero level.
    left = 1.0 - np.append(0.0, np.cumsum(x.astype(np.longdouble)))
    left = np.maximum(left.astype(np.float64), 0.0)
    # The values decrease, so what is left after k is at most (r − k)·x_{k+1}: total and values agree.
    left[:-1] = np.minimum(left[:-1], (seen.r - np.arange(len(x))) * x)
    return left


def divisor(seen: Seen) -> float:
    """Return what turns an eigenvalue of AᵀA into a variance: n − 1 for centred data, n otherwise."""
    return seen.n - 1.0 if seen.centered else float(seen.n)


def plural(k: int) -> str:
    """Return '1 component', '3 components'."""
    return f"{k} component" if k == 1 else f"{k} components"


def undecided(name: str, seen: Seen) -> str:
    """Say that the values seen do not decide."""
    return f"{name} is not decided by the {len(seen.values)} largest of {seen.r} eigenvalues"
