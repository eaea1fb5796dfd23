"""Kernel PCA of repeated rows against the truth: cases, and the claims that are checked.

    case = m distinct rows, each many times × kernel × γ × dtype × k;  truth: `ritz.testing.truth_kernel`

Equal rows make equal kernel entries, whose sums round in one direction, and eigenvalues that repeat.
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
from ritz.testing.truth_kernel import true_kernel

__all__ = ["KernelCase", "examine_kernel", "kernel_cases"]

SOLVERS = ("svd", "krylov", "lanczos", "chebyshev", "power")
#: Widths may exceed 4‖r‖ by this many round-offs of the largest sum of a row of K, which centring takes off.
WIDTH = 4000.0


#: Rounding of an exponent −γ‖x − y‖² in units of its parts.
EXPONENT = 16.0


@dataclass(frozen=True)
class KernelCase:
    """Rows that repeat, under a kernel."""

    kernel: str
    gamma: float
    m: int
    copies: int
    d: int
    seed: int
    spacing: float = 1.0  # of distinct rows
    offset: float = 0.0
    dtype: str = "float64"
    k: int = 3
    uneven: bool = False

    def __str__(self) -> str:
        rows = f"{self.m} rows × {'1…' * self.uneven}{self.copies} spacing={self.spacing:g} offset={self.offset:g}"
        return f"KernelPCA {self.kernel} γ={self.gamma:g} {rows} d={self.d} {self.dtype} k={self.k} seed={self.seed}"

    @property
    def n(self) -> int:
        """Rows in all."""
        return int(self._counts().sum())

    @property
    def routes(self) -> tuple[str, ...]:
        """The solvers of kernel matrices."""
        return tuple(f"kernel:{name}" for name in SOLVERS)

    def _rows(self) -> Any:
        rng = np.random.default_rng(self.seed)
        return (self.spacing * rng.standard_normal((self.m, self.d)) + self.offset).astype(self.dtype)

    def _counts(self) -> Any:
        rng = np.random.default_rng(self.seed + 1)
        return rng.integers(1, self.copies + 1, self.m) if self.uneven else np.full(self.m, self.copies)

    def data(self) -> Any:
        """The table, rows in random order."""
        place = np.repeat(np.arange(self.m), self._counts())
        return self._rows()[np.random.default_rng(self.seed + 2).permutation(place)]

    def truth(self) -> Truth:
        """Eigenvalues of the centred kernel matrix."""
        return true_kernel(self._rows(), self._counts(), self.kernel, self.gamma)

    def fit(self, route: str, X: Any) -> Any:
        """The fitted estimator."""
        from ritz.methods.kernel_pca.kernel_pca import KernelPCA

        options: dict[str, Any] = {"fit_inverse_transform": False, "random_state": self.seed}
        solver = route.removeprefix("kernel:")
        model = KernelPCA(self.k, kernel=self.kernel, gamma=self.gamma, solver=solver, **options)
        return on_device(model).fit(X)


def kernel_cases(seed: int) -> Iterator[KernelCase]:
    """Cases without end."""
    rng, number = np.random.default_rng([seed, 3]), 0
    while True:
        kernel = ("rbf", "laplacian", "rbf", "poly", "linear")[number % 5]
        options: dict[str, Any] = {"spacing": float(pick(rng, [1e-4, 0.1, 1, 3, 100]))}
        if kernel in ("poly", "linear"):
            options["spacing"] = float(pick(rng, [0.1, 1, 3]))
        options |= {"offset": float(pick(rng, [0, 0, 10])), "uneven": bool(rng.random() < 0.4)}
        options |= {"dtype": pick(rng, ["float64", "float64", "float32"]), "k": int(rng.integers(1, 7))}
        m, copies = pick(rng, [(40, 30), (12, 100), (8, 160), (25, 8), (3, 400), (60, 2)])
        gamma = float(pick(rng, [0.5, 0.05, 2.0]))
        yield KernelCase(kernel, gamma, m, copies, int(rng.integers(1, 6)), seed * 100_003 + number, **options)
        number += 1


def examine_kernel(subject: Subject) -> list[Finding]:
    """All findings about one kernel model."""
    checks = (eigenvalues, _width, ceiling, _total, _verify)
    return [*misses(subject), *(finding for check in checks for finding in check(subject))]


def _scale(subject: Subject) -> float:
    """λ₁ of the uncentred matrix, from above: what products with K round in units of."""
    X = np.asarray(subject.X, np.float64)
    case: Any = subject.case
    if case.kernel in ("rbf", "laplacian"):
        return float(len(X))
    dots = X @ X.T
    K = dots if case.kernel == "linear" else (case.gamma * dots + 1) ** 3
    return float(np.abs(K).sum(axis=1).max())


def _exponents(subject: Subject) -> float:
    """n·γ·max‖x − x̄‖² of the Gaussian kernel: its exponents come out of products that round by u times their size."""
    case: Any = subject.case
    X = np.asarray(subject.X, np.float64)
    far = float(np.max(np.sum(np.square(X - X.mean(axis=0)), axis=1)))
    return len(X) * case.gamma * far if case.kernel == "rbf" else 0.0


def _width(subject: Subject) -> Iterator[Finding]:
    c = subject.certificate
    allowed = 4 * np.asarray(c.residuals) + WIDTH * subject.roundoff * (subject.top + _scale(subject))
    allowed = allowed + EXPONENT * subject.roundoff * _exponents(subject)
    if str(subject.case.dtype) == "float32":  # K itself may be formed in float32
        allowed = allowed + WIDTH * 2.0**-24 * (subject.top + _scale(subject)) * ("float32" in c.precision)
    for i in np.flatnonzero(c.upper - c.lower > allowed):
        yield Finding("width", int(i), f"width {c.upper[i] - c.lower[i]:.3g} > {allowed[i]:.3g}")


def _total(subject: Subject) -> Iterator[Finding]:
    total, true = float(subject.certificate.total), float(subject.truth.total)
    if abs(total - true) > WIDTH * subject.roundoff * (true + _scale(subject)):
        yield Finding("total", -1, f"total {total!r}, true {true!r}")


def _verify(subject: Subject) -> Iterator[Finding]:
    yield from verified(lambda: subject.model.verify(subject.X))
