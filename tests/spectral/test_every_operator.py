"""Every solver on every operator: no claim of a certificate is stronger than the truth.

Tables are whole numbers X = H diag(s) Qᵀ with exactly known singular values, their columns sum to zero, and everything
that an operator takes off, divides by or adds again is a whole number or a power of two: the spectrum that an operator
stands for is known without rounding, whatever digits its products lose. Each kind comes once mild and once with means,
parts or shifts so large that products lose digits, which the certificate must then say.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ritz import kernels
from ritz._core.errors import InputError, ParameterError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.statistics import Statistics
from ritz.operators import (
    Aligned,
    Centered,
    Dense,
    Diffusion,
    FromLinearOperator,
    Gram,
    Identity,
    Laplacian,
    MinusOuter,
    MomentGram,
    Operator,
    Product,
    Scaled,
    Shifted,
    Sparse,
    Sum,
    Symmetric,
    Weighted,
)
from ritz.operators.deflated import Reversed
from ritz.operators.kernel import KernelMatrix
from ritz.operators.once import Once
from ritz.spectral.plan import SOLVERS, Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.testing import known_integers, known_sparse, largest_sine, symmetric_known

K = 4
TABLE = known_integers("geometric", 64, 20, cond=300.0, seed=5, dtype=np.int64)
ORDER = np.argsort([-v.rational for v in TABLE.eigenvalues])
X = TABLE.X.astype(np.float64)
VALUES = np.array([float(TABLE.eigenvalues[i].rational) for i in ORDER])
VECTORS = TABLE.vectors[:, ORDER]
RNG = np.random.default_rng(0)
MEAN = RNG.integers(-1000, 1000, 20).astype(float)
FAR = RNG.integers(2**31, 2**32, 20).astype(float)
SCALE = 2.0 ** RNG.integers(-3, 4, 20)
ROOTS = 2.0 ** RNG.integers(0, 4, 64)
WHOLE = tuple(int(v) for v in (90000, 40000, 39999, 12000, *range(900, 0, -29)))
SIGNED = tuple(sorted((50000, 20000, 7000, 1500, 800, -3, -90, -31000, -65000, *range(700, 0, -29)), reverse=True))
FEW = known_sparse("geometric", 120, 100, cond=50.0, seed=3, rounds=1)


@dataclass(frozen=True)
class Case:
    """An operator, the exact eigenvalues of AᵀA or, if it is symmetric, of A, and right vectors where known."""

    make: Any
    values: Any
    vectors: Any = None
    symmetric: bool = False
    once: bool = False


class Narrow(Operator):
    """A table of somebody else, multiplied in float32."""

    def __init__(self, X):
        super().__init__(X.shape, np.float32)
        self.X = X.astype(np.float32)

    def _matmat(self, V):
        return self.X @ V.astype(np.float32)

    def _rmatmat(self, U):
        return self.X.T @ U.astype(np.float32)

    def symbol(self):
        return "N"


class NarrowSquare(Narrow):
    """A symmetric matrix of somebody else, multiplied in float32."""

    symmetric = True
    positive = True


def foreign(A):
    return FromLinearOperator(aslinearoperator(A))


@cache
def exact_square():
    return symmetric_known(WHOLE, seed=2)[0]


@cache
def exact_signed():
    return symmetric_known(SIGNED, seed=3)[0]


def cube(m, gamma):
    """Rows at the corners of a cube; the RBF kernel is a tensor power of [[1, q], [q, 1]], q = exp(−γ)."""
    rows = ((np.arange(2**m)[:, None] >> np.arange(m)) & 1).astype(float)
    q = math.exp(-gamma)
    values = np.concatenate([np.full(math.comb(m, j), (1 + q) ** (m - j) * (1 - q) ** j) for j in range(m + 1)])
    return rows, np.sort(values)[::-1]


def kernel_of(kernel, rows, **options):
    return KernelMatrix(kernel, kernel.prepare(rows), **options)


def learned(Y, weights=None):
    return Statistics(MemoryBlocks(Y), weights)


def tables():
    """Tables: eigenvalues of AᵀA, all of them those of X unless said otherwise."""
    far, mild = X + FAR, X + MEAN
    r = RNG.integers(1, 2**20, 64).astype(float)
    big = RNG.integers(-(2**45), 2**45, X.shape).astype(float)
    T = np.eye(20) + np.triu(np.full((20, 20), 2.0**12), 19)
    inverse = 2 * np.eye(20) - T
    few = FEW.X.toarray()
    few_values = np.sort([float(v.rational) for v in FEW.eigenvalues])[::-1]
    heavy = sp.hstack([sp.csr_matrix((120, 3)), FEW.X]).tocsr()
    full = np.array([2.0**27 + 12345, 2.0**28 - 777, 2.0**27 - 99999])
    heavy_far = sp.hstack([sp.csr_matrix(np.tile(full, (120, 1))), FEW.X]).tocsr()
    shift = np.concatenate([full, np.zeros(100)])
    padded = np.concatenate([few_values, np.zeros(3)])
    return {
        "dense": Case(lambda: Dense(X), VALUES, VECTORS),
        "dense, float32 rows": Case(lambda: Dense(X.astype(np.float32)), VALUES, VECTORS),
        "csr": Case(lambda: Sparse(sp.csr_matrix(X)), VALUES, VECTORS),
        "sparse": Case(lambda: Sparse(FEW.X), few_values),
        "sparse, columns of zeros": Case(lambda: Sparse(heavy), padded),
        "sparse, centred, full columns far from zero": Case(lambda: Centered(Sparse(heavy_far), shift), padded),
        "wide, sparse, centred, full columns far from zero": Case(wide_far, 64 * np.repeat(*WIDE_VALUES)),
        "centred": Case(lambda: Centered(Dense(mild), MEAN), VALUES, VECTORS),
        "centred, far": Case(lambda: Centered(Dense(far), FAR), VALUES, VECTORS),
        "centred, learned": Case(lambda: _learned(mild), VALUES, VECTORS),
        "centred, learned, far": Case(lambda: _learned(far), VALUES, VECTORS),
        "scaled": Case(lambda: Scaled(Dense(X * SCALE), SCALE), VALUES, VECTORS),
        "weighted": Case(lambda: Weighted(Dense(X / ROOTS[:, None]), ROOTS**2), VALUES, VECTORS),
        "all three": Case(
            lambda: Weighted(Scaled(Centered(Dense((X * SCALE) / ROOTS[:, None] + MEAN), MEAN), SCALE), ROOTS**2),
            VALUES,
            VECTORS,
        ),
        "foreign": Case(lambda: foreign(X), VALUES, VECTORS),
        "foreign, centred, far": Case(lambda: Centered(foreign(far), FAR), VALUES, VECTORS),
        "foreign, scaled, centred, far": Case(
            lambda: Scaled(Centered(foreign(X * SCALE + FAR), FAR), SCALE), VALUES, VECTORS
        ),
        "foreign, weighted, centred, far": Case(
            lambda: Weighted(Centered(foreign(X / ROOTS[:, None] + FAR), FAR), ROOTS**2), VALUES, VECTORS
        ),
        "centred of scaled, far": Case(lambda: Centered(Scaled(Dense((X + FAR) * SCALE), SCALE), FAR), VALUES, VECTORS),
        "transposed": Case(lambda: Dense(X.T.copy()).T, VALUES, VECTORS),
        "transposed, wide": Case(lambda: Dense(X).T, np.concatenate([VALUES, np.zeros(44)])),
        "transposed, foreign, far": Case(lambda: Centered(foreign(far), FAR).T, np.concatenate([VALUES, np.zeros(44)])),
        "transposed, sparse, far": Case(
            lambda: Centered(Sparse(heavy_far), shift).T, np.concatenate([padded, np.zeros(17)])
        ),
        "sum": Case(lambda: Dense(X - big) + Dense(big), VALUES, VECTORS),
        "difference": Case(lambda: Dense(X + big) - Dense(big), VALUES, VECTORS),
        "product": Case(lambda: Dense(X) @ Identity(20), VALUES, VECTORS),
        "product that cancels": Case(lambda: Product(Dense(X @ T), Dense(inverse)), VALUES, VECTORS),
        "minus outer": Case(lambda: MinusOuter(Dense(X + np.outer(r, MEAN)), r, MEAN), VALUES, VECTORS),
        "minus outer, far": Case(
            lambda: MinusOuter(Dense(X + np.outer(r, FAR // 2**8)), r, FAR // 2**8), VALUES, VECTORS
        ),
        "float32 products": Case(lambda: Narrow(few), few_values),
        "float32 products, centred": Case(lambda: Centered(Narrow(few), np.zeros(100)), few_values),
    }


#: F has three orthogonal columns of whole numbers, 64·s² each; beside 8·I, AAᵀ = FFᵀ + 64·I.
WIDE_VALUES = np.array([2501.0, 901.0, 101.0, 1.0, 0.0]), [1, 1, 1, 61, 3]


def wide_far():
    signs = 1.0 - 2 * (np.bitwise_count(np.arange(64)[:, None] & np.array([1, 2, 4])) & 1)
    full = np.array([2.0**36 + 12345, 2.0**35 - 777, 2.0**36 - 99999])
    A = sp.hstack([sp.csr_matrix(signs * [50, 30, 10] + full), 8 * sp.identity(64)]).tocsr()
    return Centered(Sparse(A), np.concatenate([full, np.zeros(64)]))


def _learned(Y):
    stats = learned(Y)
    return Centered(Dense(Y, stats), stats)


def squares():
    """Symmetric operators: eigenvalues of A itself."""
    S, signed = exact_square(), exact_signed()
    values, both = np.array(WHOLE, float), np.array(SIGNED, float)
    wide = S.shape[0]
    mu = RNG.integers(2**31, 2**32, wide).astype(float)
    rows, cubed = cube(6, 0.7)
    linear = np.concatenate([VALUES, np.zeros(44)])
    kernel = kernels.RBF(0.7)
    ring = sp.csr_array(np.roll(np.eye(24), 1, axis=0) + np.roll(np.eye(24), -1, axis=0))
    around = np.sort(2 * np.cos(2 * np.pi * np.arange(24) / 24))  # of the weights; increasing, so those of L decrease
    return {
        "symmetric": Case(lambda: Symmetric(S), values, symmetric=True),
        "symmetric, positive": Case(lambda: Symmetric(S, positive=True), values, symmetric=True),
        "symmetric, sparse": Case(lambda: Symmetric(sp.csr_matrix(S), positive=True), values, symmetric=True),
        "symmetric, of a table": Case(lambda: Symmetric(Dense(S), positive=True), values, symmetric=True),
        "symmetric, of a centred table, far": Case(
            lambda: Symmetric(Centered(Dense(S + mu), mu)), values, symmetric=True
        ),
        "symmetric, of a foreign centred table, far": Case(
            lambda: Symmetric(Centered(foreign(S + mu), mu)), values, symmetric=True
        ),
        "signed": Case(lambda: Symmetric(signed), both, symmetric=True),
        "signed, sparse": Case(lambda: Symmetric(sp.csr_matrix(signed)), both, symmetric=True),
        "negated": Case(lambda: Shifted(Symmetric(signed), factor=-1.0), -both[::-1], symmetric=True),
        "shifted": Case(lambda: Shifted(Symmetric(S, positive=True), 7.0), values + 7, symmetric=True),
        "shifted down": Case(lambda: Shifted(Symmetric(S), -50000.0), values - 50000, symmetric=True),
        "shifted there and back": Case(
            lambda: Shifted(Shifted(Symmetric(S), 2.0**62), -(2.0**62)), values, symmetric=True
        ),
        "identity": Case(lambda: Identity(30), np.ones(30), symmetric=True),
        "aligned": Case(lambda: Aligned(X), VALUES, VECTORS, symmetric=True),
        "Laplacian of a cycle": Case(lambda: Laplacian(ring), 2 - around, symmetric=True),
        "Laplacian of a cycle, normalized": Case(lambda: Laplacian(3 * ring, True), 1 - around / 2, symmetric=True),
        "diffusion on a cycle": Case(lambda: Diffusion(ring, trivial=True), around[::-1] / 2, symmetric=True),
        "diffusion on a cycle, off the constant": Case(
            lambda: Diffusion(ring), np.sort(np.append(around[:-1] / 2, 0.0))[::-1], symmetric=True
        ),
        "Laplacian of a cycle, from its other end": Case(
            lambda: Reversed(Laplacian(ring), 4.0, Laplacian(ring).null()),
            np.sort(np.append(2 + around[:-1], 0.0))[::-1],
            symmetric=True,
        ),
        "gram": Case(lambda: Gram(Dense(X)), VALUES, VECTORS, symmetric=True),
        "gram, centred, far": Case(lambda: Gram(_learned(X + FAR)), VALUES, VECTORS, symmetric=True),
        "gram of a foreign table, far": Case(lambda: Gram(Centered(foreign(X + FAR), FAR)), VALUES, symmetric=True),
        "state": Case(lambda: MomentGram(learned(X + MEAN).moments), VALUES, VECTORS, symmetric=True),
        "state, far": Case(lambda: MomentGram(learned(X + FAR).moments), VALUES, VECTORS, symmetric=True),
        "sum": Case(lambda: Symmetric(S) + Identity(wide), values + 1, symmetric=True),
        "sum that cancels": Case(
            lambda: Sum(Symmetric(S + 2.0**40 * np.eye(wide)), Identity(wide), -(2.0**40)), values, symmetric=True
        ),
        "linear kernel": Case(lambda: kernel_of(kernels.Linear(), X), linear, symmetric=True),
        "linear kernel, centred": Case(lambda: kernel_of(kernels.Linear(), X).centered(), linear, symmetric=True),
        "linear kernel, centred, far": Case(
            lambda: kernel_of(kernels.Linear(), X + MEAN * 64).centered(), linear, symmetric=True
        ),
        "linear kernel, float32": Case(
            lambda: kernel_of(kernels.Linear(), X, precision=np.float32, finest=np.float32), linear, symmetric=True
        ),
        "RBF kernel": Case(lambda: kernel_of(kernel, rows), cubed, symmetric=True),
        "RBF kernel, centred": Case(
            lambda: kernel_of(kernel, rows).centered(), np.append(cubed[1:], 0.0), symmetric=True
        ),
        "RBF kernel, float32": Case(
            lambda: kernel_of(kernel, rows, precision=np.float32, finest=np.float32), cubed, symmetric=True
        ),
        "precomputed": Case(lambda: kernel_of(kernels.Precomputed(), S), values, symmetric=True),
        "precomputed, signed": Case(lambda: kernel_of(kernels.Precomputed(), signed), both, symmetric=True),
        "float32 products": Case(lambda: NarrowSquare(S), values, symmetric=True),
        "batches read once": Case(
            lambda: Once([(X[:30] + MEAN, None), (X[30:] + MEAN, None)], 20, center=True),
            VALUES,
            symmetric=True,
            once=True,
        ),
    }


TABLES, SQUARES = tables(), squares()


def solved(A, k, solver, kind, tol=1e-8):
    plan = choose(Shape(*A.shape, symmetric=kind == "eigh"), k, solver=solver, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solve(SpectralProblem(A, k, kind=kind, tol=tol), plan)


def refuted(c, values, k):
    """Claims that the true eigenvalues refute; ``values`` decreasing, to one rounding of the largest."""
    slack = 4 * 2.0**-53 * np.max(np.abs(values))
    for i in range(k):
        held = values[i : i + 1] if c.labelled[i] else values
        if not np.any((c.lower[i] - slack <= held) & (held <= c.upper[i] + slack)):
            yield f"[{c.lower[i]!r}, {c.upper[i]!r}] of {i} does not hold {values[i]!r}"
    if k < len(values) and values[k] > c.ceiling + slack:
        yield f"{values[k]!r} was not returned and exceeds the ceiling {c.ceiling!r}"


def check(A, case, solver, kind):
    values = np.sort(np.square(case.values))[::-1] if kind == "svd" and case.symmetric else np.asarray(case.values)
    spectrum = solved(A, K, solver, kind)
    c = spectrum.certificate
    assert not list(refuted(c, values, K))
    told = A.frobenius2() if kind == "svd" else A.trace()
    whole = np.abs(values).sum()
    if told is None and any("does not tell" in note for note in c.notes):
        assert c.total <= values[values > 0].sum() + c.rounding * len(values)
    else:
        true = values.sum() if told is not None else values[values > 0].sum()  # what a direct solver adds up
        assert abs(c.total - true) <= 1e-12 * whole + len(values) * c.rounding
    if solver != "sketch" and c.converged:
        off = np.abs(c.values - values[:K])
        assert np.all(off <= 1e-6 * np.max(np.abs(values)) + c.rounding)
    assert np.all(np.isfinite(c.lower))
    assert np.all(c.lower <= c.upper)
    if case.vectors is not None:
        for i in np.flatnonzero(c.angles < 1):
            assert largest_sine(case.vectors[:, i : i + 1], spectrum.vectors[:, i : i + 1]) <= c.angles[i] + 1e-13


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", TABLES)
def test_tables(name, solver):
    check(TABLES[name].make(), TABLES[name], solver, "svd")


@pytest.mark.parametrize("kind", ["svd", "eigh"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", SQUARES)
def test_symmetric_operators(name, solver, kind):
    case = SQUARES[name]
    A = case.make()
    if case.once and (solver != "sketch" or kind == "svd"):
        with pytest.raises(InputError, match="read again"):
            A.matmat(A.matmat(np.ones((20, 1))))
        return
    if solver == "sketch" and kind == "eigh" and not A.positive:
        with pytest.raises(ParameterError, match="without negative eigenvalues"):
            solved(A, K, solver, kind)
        return
    check(A, case, solver, kind)


def test_float32_products_that_cannot_be_repaired():
    """All directions would have to be read again, by no wider operator: the bounds of the Gram matrix stand."""
    A = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 8)))[0] * np.logspace(0, -6, 8)
    c = solved(Narrow(A), 8, "moments", "svd").certificate
    true = np.linalg.svd(A.astype(np.float32).astype(float), compute_uv=False) ** 2
    assert np.all((c.lower <= true) & (true <= c.upper))
