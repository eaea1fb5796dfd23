"""Correspondence analysis against the truth: tables of counts near and far from independence.

    counts = outer(a, b)·size + small whole numbers;  truth: `ritz.testing.truth_ca`, exact in integers

Near independence nearly everything of P cancels in P − rcᵀ, so what is left must not be what rounding made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.testing.certify.checks import Finding, Subject, ceiling, eigenvalues, misses, verified
from ritz.testing.certify.device import on_device
from ritz.testing.certify.hard import pick
from ritz.testing.truth import Truth
from ritz.testing.truth_ca import true_inertia

__all__ = ["CountCase", "count_cases", "examine_counts"]

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")


@dataclass(frozen=True)
class CountCase:
    """A table of counts."""

    kind: str  # independent (up to small counts), random, blocks, heavy (one huge cell)
    n: int
    d: int
    seed: int
    size: float = 1e9
    dtype: str = "float64"
    k: int = 2
    sparse: bool = False
    weighted: bool = False

    def __str__(self) -> str:
        extra = " CSR" * self.sparse + " weighted" * self.weighted
        return f"CA {self.kind} {self.n}x{self.d} size={self.size:g} {self.dtype}{extra} k={self.k} seed={self.seed}"

    @property
    def routes(self) -> tuple[str, ...]:
        """The solvers."""
        return tuple(f"counts:{name}" for name in SOLVERS)

    def data(self) -> Any:
        """Counts, dense or CSR."""
        rng = np.random.default_rng(self.seed)
        small = rng.integers(0, 3, (self.n, self.d)).astype(np.float64)
        base = np.outer(rng.integers(1, 9, self.n), rng.integers(1, 9, self.d)) * self.size
        counts = {
            "independent": lambda: base + small,
            "random": lambda: small * self.size + (np.arange(self.n)[:, None] % self.d == np.arange(self.d)),
            "blocks": lambda: base * (1 + (np.arange(self.n)[:, None] % 2 == np.arange(self.d) % 2)) + small,
            "heavy": lambda: small + 1 + _one(self.n, self.d) * self.size,
        }[self.kind]()
        counts = np.rint(counts).astype(self.dtype)
        if not self.sparse:
            return counts
        from scipy import sparse

        return sparse.csr_matrix(counts)

    def weights(self) -> Any:
        """Weights of rows, or None."""
        if not self.weighted:
            return None
        return np.random.default_rng(self.seed + 1).choice([0.5, 1.0, 2.0, 0.1], self.n)

    def truth(self) -> Truth:
        """Principal inertias in balls."""
        return true_inertia(self.data(), weights=self.weights())

    def fit(self, route: str, X: Any) -> Any:
        """The fitted estimator."""
        from ritz.methods.correspondence.ca.ca import CA

        solver = route.removeprefix("counts:")
        model = CA(self.k, solver=solver, random_state=self.seed)
        return on_device(model).fit(X, sample_weight=self.weights())


def _one(n: int, d: int) -> Any:
    cell = np.zeros((n, d))
    cell[n // 2, d // 2] = 1.0
    return cell


def count_cases(seed: int) -> Iterator[CountCase]:
    """Cases without end."""
    rng, number = np.random.default_rng([seed, 5]), 0
    kinds = ("independent", "random", "independent", "blocks", "heavy")
    while True:
        n, d = pick(rng, [(6, 5), (20, 8), (8, 20), (60, 12), (4, 3), (200, 6)])
        dtype = pick(rng, ["float64", "float64", "int64", "float32"])
        size = float(pick(rng, [1, 1e3, 1e6, 1e9, 1e12, 1e15] if dtype != "float32" else [1, 1e3, 1e5]))
        size = min(size, 1e12) if dtype == "int64" else size  # beyond 2^53 counts are rounded, with a warning
        options: dict[str, Any] = {"k": int(rng.integers(1, min(n, d))), "sparse": bool(rng.random() < 0.3)}
        options["weighted"] = bool(rng.random() < 0.2)
        yield CountCase(kinds[number % 5], n, d, seed * 100_003 + number, size, dtype, **options)
        number += 1


def examine_counts(subject: Subject) -> list[Finding]:
    """All findings about one table."""
    checks = (eigenvalues, ceiling, _total, _verify)
    return [*misses(subject), *(finding for check in checks for finding in check(subject))]


def _total(subject: Subject) -> Iterator[Finding]:
    total, true = float(subject.model.total_inertia_), float(subject.truth.total)
    if abs(total - true) > 1e-9 * true + 1e-13 * min(subject.X.shape) ** 0.5:
        yield Finding("total", -1, f"total_inertia_ {total!r}, true {true!r}")


def _verify(subject: Subject) -> Iterator[Finding]:
    case: Any = subject.case
    yield from verified(lambda: subject.model.verify(subject.X, sample_weight=case.weights()))
