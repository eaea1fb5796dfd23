"""The tables of ``bench.planner``: shapes, spectra and components.

X = Z diag(σ), Z Gaussian (dense rows turned by three reflections), or Gaussian entries at random places (sparse)

fast       σⱼ = e^(−j/k)               clusters   levels a tenth apart, k/4 columns each
slow       σⱼ = j^(−½)                 step       10 up to the k-th column, then 1
flat       σⱼ = 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz.spectral.plan import Shape

__all__ = ["SPECTRA", "Table", "drawn", "make", "tables"]

SPECTRA = ("fast", "slow", "flat", "clusters", "step")
#: How many tables there are.
ALL = 200

DENSE = [
    (50, 4), (500, 20), (2_000, 100), (300, 300), (100, 3_000), (5_000, 500), (20_000, 200), (1_000, 1_000),
    (3_000, 1_500), (10_000, 2_000), (2_000, 8_000), (4_000, 4_000), (100_000, 100), (20_000, 5_000), (1_500, 30_000),
    (200_000, 784), (1_000_000, 100), (1_000_000, 768),
]  # fmt: skip
SPARSE = [
    (1_000, 300, 0.05), (5_000, 1_000, 0.01), (3_000, 3_000, 0.01), (20_000, 2_000, 0.1), (20_000, 10_000, 0.005),
    (10_000, 1_500, 0.2), (50_000, 5_000, 0.002), (100_000, 5_000, 0.01), (5_000, 40_000, 0.002),
    (100_000, 20_000, 0.0005), (200_000, 50_000, 0.0005), (30_000, 30_000, 0.001), (300_000, 1_000, 0.02),
]  # fmt: skip


@dataclass(frozen=True)
class Table:
    """One table with the number of components asked for."""

    n: int
    d: int
    k: int
    spectrum: str
    density: float | None = None
    dtype: str = "float64"

    @property
    def name(self) -> str:
        """The table in words."""
        stored = "dense" if self.density is None else f"{100 * self.density:g} %"
        return f"{self.n}×{self.d} {stored} {self.spectrum} k={self.k} {self.dtype}"

    @property
    def work(self) -> float:
        """Entries: how large it is."""
        return self.n * self.d * (1.0 if self.density is None else self.density)

    @property
    def shape(self) -> Shape:
        """What the planner sees of it."""
        stored = None if self.density is None else int(self.n * self.d * self.density)
        return Shape(self.n, self.d, 4 if self.dtype == "float32" else 8, stored)


def tables(seed: int = 0, *, quick: bool = False) -> list[Table]:
    """200 tables in a random order, every shape with every spectrum in turn; ``quick``: the small ones of them."""
    rng = np.random.default_rng(seed)
    found: list[Table] = []
    shapes, turn = [*DENSE, *SPARSE], 0
    while len(found) < ALL:
        for n, d, *density in shapes:
            r = min(n, d)
            choices = [1, 3, 10, 30, 50, 100, max(1, r // 10), max(1, r // 3), r]
            likely = [k for k in choices[:6] if k <= r // 4] or [1]
            large = n * d > 2e8
            k = int(rng.choice(likely if large or rng.random() < 0.75 else [k for k in choices if k <= r]))
            dtype = "float32" if n * d >= 5e8 or (not density and rng.random() < 0.25) else "float64"
            spectrum = SPECTRA[(turn + shapes.index((n, d, *density))) % len(SPECTRA)]
            table = Table(n, d, k, spectrum, density[0] if density else None, dtype)
            found += [] if table in found else [table]
        turn += 1
    found = [found[i] for i in rng.permutation(len(found))[:ALL]]
    return [table for table in found if not quick or _small(table)]


def drawn(seed: int = 0, *, quick: bool = False) -> list[Table]:
    """200 tables of any shape in between: sides and shares of entries drawn from a logarithmic scale."""
    rng = np.random.default_rng([seed, 1])
    found: list[Table] = []
    while len(found) < ALL:
        n, d = int(50 * 20_000 ** rng.random()), int(4 * 10_000 ** rng.random())
        density = round(float(0.0005 * 400 ** rng.random()), 5) if rng.random() < 0.5 else None
        work = n * d * (density or 1.0)
        if not 200 <= work <= (2e8 if density is None else 2e7) or (density or 1.0) * max(n, d) < 2:
            continue
        r = min(n, d)
        k = int(rng.integers(1, r + 1)) if rng.random() < 0.25 and r <= 1_000 else int(min(r / 4, 100) ** rng.random())
        dtype = "float32" if rng.random() < 0.3 else "float64"
        found.append(Table(n, d, max(1, k), SPECTRA[len(found) % len(SPECTRA)], density, dtype))
    return [table for table in found if not quick or _small(table)]


def _small(table: Table) -> bool:
    """Whether all solvers together take seconds."""
    r = min(table.n, table.d)
    return table.work <= 3e6 and r <= 3_000 and table.k <= 0.1 * r + 50


def sizes(table: Table) -> np.ndarray:
    """σ, (d,)."""
    j, k = np.arange(1, table.d + 1), table.k
    return {
        "fast": np.exp(-j / max(k, 2)) + 1e-6,
        "slow": j**-0.5,
        "flat": np.ones(table.d),
        "clusters": 0.9 ** (j // max(1, k // 4)) + 1e-3,
        "step": np.where(j <= k, 10.0, 1.0),
    }[table.spectrum]


def make(table: Table, seed: int = 0) -> Any:
    """The table itself."""
    rng = np.random.default_rng([seed, table.n, table.d, table.k])
    sigma = sizes(table).astype(table.dtype)
    if table.density is None:
        X = rng.standard_normal((table.n, table.d), np.dtype(table.dtype))
        X *= sigma
        for _ in range(3):
            v = rng.standard_normal(table.d).astype(table.dtype)
            v /= np.linalg.norm(v)
            for first in range(0, table.n, 65_536):  # a copy of the whole would take as much memory again
                some = X[first : first + 65_536]
                some -= np.multiply.outer(2 * (some @ v), v)
        return X
    X = sp.random_array((table.n, table.d), density=table.density, format="csr", rng=rng, dtype=np.dtype(table.dtype))
    X.data = rng.standard_normal(X.nnz).astype(table.dtype) * sigma[X.indices]
    return X
