"""The truth itself: closed forms, two independent high-precision methods, exact invariances."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from ritz.testing import (
    HOSTILE,
    KINDS,
    hostile,
    incidence,
    known_hadamard,
    known_sparse,
    known_truth,
    known_wide,
    largest_sine,
    matrix,
    sparse_matrix,
    true_eigenvalues,
    true_rows,
    true_spectrum,
)
from ritz.testing.truth import integers, precision

flint = pytest.importorskip("flint")
SHAPES = [(30, 8), (8, 30), (10, 10)]


def exact_roots(X):
    """Independent: roots of the characteristic polynomial of the integer Gram matrix, with multiplicity."""
    M, e = integers(X)
    n, d = M.nrows(), M.ncols()
    G = M.transpose() * M if n >= d else M * M.transpose()
    with precision(500):
        roots = [r.real for r, multiplicity in G.charpoly().complex_roots() for _ in range(multiplicity)]
        return sorted((r * flint.arb(2) ** (2 * e) for r in roots), key=lambda r: -r.mid())


def overlap(a, b):
    """The same numbers, each known to 50 digits of the largest."""
    top = max(abs(float(v)) for v in (*a, *b))
    sharp = all(float(v.rad()) <= 1e-50 * top for v in (*a, *b))
    return sharp and len(a) == len(b) and all(x.overlaps(y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_roots_of_the_characteristic_polynomial(kind, shape):
    X = matrix(kind, *shape, cond=1e10, seed=3)
    assert overlap(true_spectrum(X).eigenvalues, exact_roots(X))


@pytest.mark.parametrize("name", HOSTILE)
def test_agrees_on_hostile_matrices(name):
    X = hostile(name, 12, 7, seed=1)
    assert overlap(true_spectrum(X).eigenvalues, exact_roots(X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shape", [(20, 5), (5, 9)])
def test_agrees_with_mpmath_after_centring_scaling_weighting(shape, scale, weighted):
    X = matrix("geometric", *shape, cond=1e6, seed=2, offset=1e5)
    n, d = shape
    w = np.arange(1, n + 1) / 4 if weighted else np.ones(n)
    with mpmath.workdps(60):
        A = mpmath.matrix(n, d)
        total = mpmath.fsum(w)
        for j in range(d):
            column = [mpmath.mpf(float(v)) for v in X[:, j]]
            mean = mpmath.fdot(zip(w, column, strict=True)) / total
            square = mpmath.fsum(a * (v - mean) ** 2 for a, v in zip(w, column, strict=True))
            divisor = mpmath.sqrt(square / (total - 1)) if scale else 1
            for i in range(n):
                A[i, j] = mpmath.sqrt(w[i]) * (column[i] - mean) / divisor
        expected = sorted(mpmath.eigsy((A.T * A) if n >= d else (A * A.T), eigvals_only=True), reverse=True)
        truth = true_spectrum(X, center=True, scale=scale, weights=w if weighted else None)
        for ball, value in zip(truth.eigenvalues, expected, strict=True):
            assert abs(mpmath.mpf(ball.mid().str(60, radius=False)) - value) <= 1e-50 * expected[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reflected_matrices_have_the_spectrum_they_claim(kind, dtype):
    known = known_sparse(kind, 17, 13, cond=1e5, seed=4, dtype=dtype)
    assert known.X.dtype == dtype
    assert overlap(true_spectrum(known.X).eigenvalues, known_truth(known).eigenvalues)


@pytest.mark.parametrize("offset", [0, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_hadamard_matrices_have_the_spectrum_they_claim(kind, offset):
    known = known_hadamard(kind, 32, 9, cond=1e6, seed=5, offset=offset)
    truth = known_truth(known)
    assert overlap(true_spectrum(known.X, center=True).eigenvalues, truth.eigenvalues)
    assert overlap(true_spectrum(known.X).eigenvalues, truth.eigenvalues) == known.raw
    A = true_rows(known.X, center=True)
    residual = A.T @ (A @ truth.vectors) - truth.vectors * truth.values
    assert np.abs(residual).max() <= 1e-15 * truth.values[0]


@pytest.mark.parametrize("offset", [0, 30])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_wide_matrices_have_the_spectrum_they_claim(dtype, kind, offset):
    known = known_wide(kind, 8, 64, cond=1e3, seed=5, offset=offset, dtype=dtype)
    assert known.X.dtype == dtype
    truth = known_truth(known)
    assert overlap(true_spectrum(known.X, center=True).eigenvalues, truth.eigenvalues)
    assert overlap(true_spectrum(known.X).eigenvalues, truth.eigenvalues) == known.raw
    A, alive = true_rows(known.X, center=True), ~np.isnan(truth.vectors[0])
    assert np.sum(alive) == 7
    residual = A.T @ (A @ truth.vectors[:, alive]) - truth.vectors[:, alive] * truth.values[alive]
    assert np.abs(residual).max() <= 1e-15 * truth.values[0]


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize(
    ("graph", "size"), [("path", 9), ("cycle", 8), ("complete", 6), ("star", 7), ("grid", 3), ("cube", 3)]
)
def test_incidence_matrices_have_the_spectrum_they_claim(graph, size, transpose):
    known = incidence(graph, size, transpose=transpose)
    assert len(known.eigenvalues) == min(known.X.shape)
    assert overlap(true_spectrum(known.X).eigenvalues, known_truth(known).eigenvalues)
    if known.centered:
        assert overlap(true_spectrum(known.X, center=True).eigenvalues, known_truth(known).eigenvalues)


@pytest.mark.parametrize("exponent", [-400, 0, 400])
def test_a_power_of_two_moves_the_spectrum_exactly(exponent):
    X = matrix("clustered", 12, 6, cond=1e14, seed=1)
    plain, moved = true_spectrum(X), true_spectrum(np.ldexp(X, exponent))
    with precision(400):
        scaled = [v * flint.arb(2) ** (2 * exponent) for v in plain.eigenvalues]
    assert overlap(scaled, moved.eigenvalues)


def test_integer_weights_are_copies_and_zero_weights_absence():
    X = matrix("geometric", 15, 4, seed=1, offset=3.0)
    w = np.array([0, 1, 2] * 5)
    copies = true_spectrum(np.repeat(X, w, axis=0), center=True, scale=True)
    assert overlap(true_spectrum(X, center=True, scale=True, weights=w).eigenvalues, copies.eigenvalues)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_vectors_solve_the_eigenproblem(kind, shape):
    X = matrix(kind, *shape, cond=1e3, seed=6)
    truth = true_spectrum(X, center=True, scale=True, vectors=True)
    A = true_rows(X, center=True, scale=True)
    alive = ~np.isnan(truth.vectors[0])
    V = truth.vectors[:, alive]
    residual = A.T @ (A @ V) - V * truth.values[alive]
    assert np.abs(residual).max() <= 1e-15 * truth.values[0]
    assert np.abs(V.T @ V - np.eye(V.shape[1])).max() <= 1e-17


def test_values_and_radii_bracket_closed_forms():
    values, radii = true_eigenvalues(np.array([[3.0, 0.0], [4.0, 5.0]]))
    assert np.all(np.abs(values - [45, 5]) <= radii)
    assert np.all(radii <= 1e-14)
    lauchli = hostile("lauchli", 5, 4)
    values, _ = true_eigenvalues(lauchli)
    np.testing.assert_allclose(values, [4 + 2.0**-52] + [2.0**-52] * 3, rtol=1e-15)


@pytest.mark.parametrize("shape", [(33, 32), (32, 32), (60, 20), (20, 60)])
def test_high_multiplicity_far_below_the_largest(shape):
    n, d = shape
    values, radii = true_eigenvalues(hostile("lauchli", n, d))
    full = min(n - 1, d)
    assert np.all(radii <= 1e-15 * values + 1e-60)
    assert np.sum(np.abs(values * 2.0**52 - 1) < 1e-12) == full - 1


def test_zero_and_constant_data():
    assert np.all(true_eigenvalues(np.zeros((4, 3)))[0] == 0)
    values, radii = true_eigenvalues(np.full((5, 3), 0.1), center=True, scale=True)
    assert np.all(values == 0)
    assert np.all(radii < 1e-300)


def test_rank_is_seen_far_below_the_square_root_of_roundoff():
    X = np.ldexp(np.arange(1.0, 31.0).reshape(10, 3), -3)  # integers: exactly of rank 2
    values, _ = true_eigenvalues(X)
    assert values[1] > 1e-3
    assert values[2] < 1e-50


def test_float32_is_read_as_it_is_stored():
    X = matrix("slow", 20, 5, seed=1, dtype=np.float32)
    assert overlap(true_spectrum(X).eigenvalues, true_spectrum(X.astype(np.float64)).eigenvalues)


def test_sparse_is_dense():
    X = sparse_matrix("geometric", 25, 12, cond=1e8, seed=1)
    assert 0 < X.nnz < 0.6 * 25 * 12
    options = {"center": True, "vectors": True}
    sparse, dense = true_spectrum(X, **options), true_spectrum(X.toarray(), **options)
    assert overlap(sparse.eigenvalues, dense.eigenvalues)
    assert largest_sine(sparse.vectors[:, :3], dense.vectors[:, :3]) < 1e-17


def test_total_is_the_sum():
    truth = true_spectrum(matrix("spikes", 30, 9, seed=1, offset=50.0), center=True)
    with precision(300):
        assert truth.total.overlaps(sum(truth.eigenvalues))


def test_forty_columns_of_a_hard_spectrum():
    X = matrix("clustered", 200, 40, cond=1e14, seed=1)
    truth = true_spectrum(X, center=True)
    assert max(float(v.rad()) for v in truth.eigenvalues) < 1e-55
