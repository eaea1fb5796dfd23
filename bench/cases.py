"""The cases: shape, number of components, dtype and kind of data.

signal    2k components of variance e·(1 + 100/j) over unit noise, whose upper edge is e = (1 + √(d/n))²;
          column means of size 5
slow      σᵢ = i^-½ exactly, random orthonormal vectors: the slow decay on which iterations struggle
topics    word counts of documents that mix three of 100 topics over a Zipf vocabulary (sparse)
noise     Gaussian noise alone: no gap anywhere, the worst case of every iteration (``--hard``)
uniform   stored entries at random places, uniform values (sparse, ``--hard``)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["Case", "cases", "from_dict"]


@dataclass(frozen=True)
class Case:
    """One comparison."""

    kind: str
    n: int
    d: int
    k: int
    dtype: str
    density: float | None = None
    hard: bool = False

    @property
    def name(self) -> str:
        """Unique and short: ``signal-20000x5000-f32``."""
        return f"{self.kind}-{self.n}x{self.d}-{'f32' if self.dtype == 'float32' else 'f64'}"

    @property
    def sparse(self) -> bool:
        """Whether the data are a CSR matrix."""
        return self.density is not None

    def small(self) -> Case:
        """The same case at a size that takes a moment, for ``--quick``."""
        if self.n >= 100 * self.d:  # keep very tall tables tall
            return replace(self, n=self.n // 50, d=self.d // 10, k=min(self.k, 5))
        shrink = max(1.0, (self.n * self.d / 4e5) ** 0.5)
        n, d = max(60, int(self.n / shrink)), max(40, int(self.d / shrink))
        return replace(self, n=n, d=d, k=min(self.k, 8))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def from_dict(fields: dict[str, Any]) -> Case:
    """The case that ``to_dict`` described."""
    return Case(**fields)


DENSE = [
    (1_000_000, 100, 10),
    (200_000, 784, 50),
    (20_000, 5_000, 50),
    (5_000, 5_000, 50),
    (2_000, 50_000, 50),
]
FLOATS = ("float32", "float64")


def cases(*, hard: bool = False) -> list[Case]:
    """All cases; with ``hard`` also those without a gap."""
    found = [Case("signal", n, d, k, dtype) for n, d, k in DENSE for dtype in FLOATS]
    found.append(Case("signal", 1_000_000, 768, 256, "float32"))
    found.append(Case("topics", 200_000, 5_000, 50, "float64", density=0.01))
    found += [Case("slow", 10_000, 4_000, 50, dtype) for dtype in FLOATS]
    if hard:
        found += [Case("noise", n, d, k, dtype, hard=True) for n, d, k in DENSE[2:] for dtype in FLOATS]
        found.append(Case("uniform", 200_000, 5_000, 50, "float64", density=0.01, hard=True))
    return found
