"""Smallest eigenvalues of graphs and alignments against the truth: cases, and the claims that are checked.

    M = BᵀB, B stored in float64:  truth of B in ball arithmetic (`ritz.testing.truth`), the m smallest left out

Weights are powers of four, whose roots float64 holds exactly, up to 4^±13 ≈ 1e±8: the incidence matrix of a graph is
then known to the last digit, and so is its spectrum. Alignments have weights whose rows sum to one but for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz.operators import Aligned, Laplacian
from ritz.operators.base import Operator
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.smallest_plan import choose_smallest, known_null_vectors
from ritz.spectral.solve import solve
from ritz.spectral.verify.smallest import verify_smallest
from ritz.testing.angles import largest_sine
from ritz.testing.certify.checks import BITS, Finding, Subject, misses, verified
from ritz.testing.certify.hard import pick
from ritz.testing.truth import Truth, flint_module, precision, true_spectrum

__all__ = ["SmallestCase", "examine_smallest", "smallest_cases"]

SOLVERS = ("svd", "inverse", "lanczos")
KINDS = ("path", "cycle", "grid", "star", "complete", "random", "tree", "copies", "lle", "power", "flat", "bridged")
#: Eigenvalues of the truth that lie within this share of the largest of each other have no vectors of their own.
NEAR = 1e-25


@dataclass(frozen=True)
class SmallestCase:
    """A graph, or an alignment, and how many of its smallest eigenvalues are wanted."""

    kind: str
    n: int
    seed: int
    spread: int = 0  # weights are powers of four up to this exponent, both ways
    parts: int = 1  # copies that nothing joins
    told: bool = True  # whether null vectors are known
    k: int = 3
    tol: float = 1e-6
    dtype: str = "float64"

    def __str__(self) -> str:
        null = "" if self.told else " null vectors not told"
        return f"smallest {self.kind} {self.n}×{self.parts} weights 4^±{self.spread}{null} k={self.k} seed={self.seed}"

    @property
    def d(self) -> int:
        """Columns."""
        return self.n * self.parts

    @property
    def routes(self) -> tuple[str, ...]:
        """The solvers."""
        return tuple(f"smallest:{name}" for name in SOLVERS)

    def data(self) -> Any:
        """B, CSR."""
        B = self.operator().assembled()
        return sp.csr_array((0, self.d)) if B is None else B.root

    def operator(self) -> Operator:
        """The operator, made anew."""
        rng = np.random.default_rng(self.seed)
        if self.kind in ("lle", "power", "flat"):
            made = [_ALIGNED[self.kind](rng, self.n) for _ in range(self.parts)]
            ones = np.kron(np.eye(self.parts), np.ones((self.n, 1)))
            return Aligned(sp.block_diag(made, format="csr"), null=ones if self.told and self.kind != "flat" else None)
        W = sp.block_diag([self._weights(rng) for _ in range(self.parts)], format="csr")
        return Laplacian(W)

    def _weights(self, rng: np.random.Generator) -> Any:
        i, j = _EDGES[self.kind](rng, self.n)
        w = 4.0 ** rng.integers(-self.spread, self.spread + 1, len(i))
        W = sp.coo_array((w, (i, j)), shape=(self.n, self.n)).tocsr()
        return W.maximum(W.T)

    def _null(self, M: Operator) -> Any:
        return np.zeros((self.d, 0)) if not self.told else M.null()

    def truth(self) -> Truth:
        """Eigenvalues of BᵀB but those of null vectors, increasing."""
        B, M = self.data(), self.operator()
        whole, m = true_spectrum(B.toarray()), known_null_vectors(M, self._null(M))
        zero = self.d - len(whole.eigenvalues)
        balls = [*[flint_module().arb(0)] * zero, *whole.eigenvalues[::-1]][m:]
        vectors = None if whole.vectors is None or zero else whole.vectors[:, ::-1][:, m:]
        return Truth(tuple(balls), whole.total, vectors)

    def fit(self, route: str, X: Any) -> Any:
        """The solution, under the names of a model."""
        M = self.operator()
        null, k = self._null(M), min(self.k, self.d - known_null_vectors(M, self._null(M)))
        plan = choose_smallest(M, k, 0, solver=route.removeprefix("smallest:"))
        asked = SpectralProblem(M, k, kind="eigh", which="smallest", null=null, tol=self.tol, seed=self.seed)
        found = solve(asked, plan)
        return SimpleNamespace(
            certificate_=found.certificate, vectors=found.vectors,
            verify=lambda: verify_smallest(found.certificate, self.operator(), null),
        )  # fmt: skip


def smallest_cases(seed: int) -> Iterator[SmallestCase]:
    """Cases without end, every kind in turn."""
    rng, number = np.random.default_rng([seed, 5]), 0
    while True:
        kind = KINDS[number % len(KINDS)]
        options: dict[str, Any] = {"spread": int(pick(rng, [0, 0, 1, 4, 13])), "parts": int(pick(rng, [1, 1, 1, 2, 3]))}
        options |= {"told": bool(rng.random() < 0.8), "k": int(pick(rng, [1, 2, 3, 5, 12]))}
        n = int(pick(rng, [4, 9, 16, 25]))
        yield SmallestCase(kind, n, seed * 100_003 + number, **options)
        number += 1


def examine_smallest(subject: Subject) -> list[Finding]:
    """All findings about one answer."""
    checks = (_order, _floor, _angles, _residuals, _verify)
    return [*misses(subject), *(finding for check in checks for finding in check(subject))]


def _order(subject: Subject) -> Iterator[Finding]:
    c = subject.certificate
    if np.any(np.diff(c.values) < 0) or np.any((c.lower > c.values) | (c.values > c.upper)):
        yield Finding("order", -1, f"values {c.values}, intervals {c.lower} to {c.upper}")


def _floor(subject: Subject) -> Iterator[Finding]:
    """No eigenvalue beyond the k returned ones lies below the floor."""
    c, balls, k = subject.certificate, subject.truth.eigenvalues, len(subject.certificate.values)
    with precision(BITS):
        if k < len(balls) and (np.isposinf(c.ceiling) or (np.isfinite(c.ceiling) and balls[k] < float(c.ceiling))):
            yield Finding("floor", k, f"λ={float(balls[k].mid())!r} was not returned and lies below {c.ceiling!r}")


def _angles(subject: Subject) -> Iterator[Finding]:
    c, truth, V = subject.certificate, subject.truth, np.asarray(subject.model.vectors, np.longdouble)
    if truth.vectors is None or np.isnan(truth.vectors).any():
        return
    values = truth.values
    for first, last, bound in [*((i, i, float(sine)) for i, sine in enumerate(c.angles)), *c.clusters]:
        if not bound < 1:
            continue
        near = NEAR * float(values[-1])
        space = (values >= values[first] - near) & (values <= values[last] + near)
        sine = largest_sine(truth.vectors[:, space], V[:, first : last + 1])
        if sine > bound + 1e-14:
            yield Finding("angle", first, f"components {first}-{last}: sine {sine:.3g} above the bound {bound:.3g}")


def _residuals(subject: Subject) -> Iterator[Finding]:
    c, B = subject.certificate, subject.X.toarray().astype(np.longdouble)
    V = np.asarray(subject.model.vectors, np.longdouble)
    R = B.T @ (B @ V) - V * np.asarray(c.values, np.longdouble)
    true = np.sqrt(np.sum(R * R, axis=0)).astype(float)
    for i in np.flatnonzero(true > np.asarray(c.residuals) * (1 + 1e-9) + float(c.rounding)):
        words = f"true residual {true[i]:.3g} above the reported {c.residuals[i]:.3g} + {c.rounding:.3g}"
        yield Finding("residual", int(i), words)


def _verify(subject: Subject) -> Iterator[Finding]:
    yield from verified(subject.model.verify)


def _grid(_: Any, n: int) -> tuple[Any, Any]:
    side = int(np.sqrt(n))
    at = np.arange(side * side).reshape(side, side)
    return np.append(at[:, :-1], at[:-1]), np.append(at[:, 1:], at[1:])


def _bridged(_: Any, n: int) -> tuple[Any, Any]:
    """Two complete graphs and one edge."""
    h = n // 2
    i, j = np.triu_indices(h, 1)
    k, m = np.triu_indices(n - h, 1)
    return np.concatenate([i, k + h, [0]]), np.concatenate([j, m + h, [h]])


def _scattered(rng: Any, n: int) -> tuple[Any, Any]:
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 3.0 / n
    return np.append(i[kept], np.arange(n - 1)), np.append(j[kept], np.arange(1, n))


_EDGES: dict[str, Any] = {
    "path": lambda _, n: (np.arange(n - 1), np.arange(1, n)),
    "cycle": lambda _, n: (np.arange(n), (np.arange(n) + 1) % n),
    "grid": _grid,
    "star": lambda _, n: (np.zeros(n - 1, int), np.arange(1, n)),
    "complete": lambda _, n: np.triu_indices(n, 1),
    "random": _scattered,
    "tree": lambda rng, n: ((rng.random(n - 1) * np.arange(1, n)).astype(int), np.arange(1, n)),
    "copies": lambda _, n: (2 * np.arange(n // 2), 2 * np.arange(n // 2) + 1),  # pairs: an eigenvalue n/2 times
    "bridged": _bridged,
}


def _lle(rng: Any, n: int) -> Any:
    """I − W, the weights of every point on a curve by its three neighbours."""
    t = np.sort(rng.random(n)) * 3
    X = np.column_stack([t, np.sin(t), 1e-3 * rng.standard_normal(n)])
    near = np.argsort(np.square(X[:, None] - X).sum(axis=2), axis=1)[:, 1 : min(4, n)]
    Z = X[near] - X[:, None]
    G = Z @ Z.transpose(0, 2, 1)
    G += 1e-3 * np.trace(G, axis1=1, axis2=2)[:, None, None] * np.eye(near.shape[1])
    w = np.linalg.solve(G, np.ones((*near.shape, 1)))[:, :, 0]
    W = np.zeros((n, n))
    np.put_along_axis(W, near, w / w.sum(axis=1)[:, None], axis=1)
    return sp.csr_array(np.eye(n) - W)


def _power(rng: Any, n: int) -> Any:
    """A power of the Laplacian of a path: whole numbers, eigenvalues down to 1e-15 of the largest."""
    i = np.arange(n - 1)
    D = sp.csr_array((np.tile([1.0, -1.0], n - 1), (np.repeat(i, 2), np.column_stack([i, i + 1]).ravel())), (n - 1, n))
    L = (D.T @ D).tocsr()
    return L if rng.random() < 0.5 else (D @ L).tocsr()


def _flat(rng: Any, n: int) -> Any:
    """Fewer rows than columns: many null vectors that nobody told of."""
    return sp.random_array((max(1, n // 3), n), density=0.4, rng=rng, format="csr")


_ALIGNED: dict[str, Any] = {"lle": _lle, "power": _power, "flat": _flat}
