"""Products of long sparse rows in short sums, and turned vectors of wide tables, against exact sums and spectra."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes.sparse import sums as sparse_sums


def rows_of(lengths: list[int], d: int, rng: np.random.Generator) -> sp.csr_array:
    """CSR rows with so many entries each, most of them equal."""
    columns = [np.sort(rng.choice(d, m, replace=False)) for m in lengths]
    data = np.where(rng.random(sum(lengths)) < 0.9, 0.7, 0.3)
    return sp.csr_array((data, np.concatenate(columns), np.cumsum([0, *lengths])), shape=(len(lengths), d))


@pytest.mark.parametrize("lengths", [[3000, 0, 5, 192, 193, 20, 7, 0, 2500], [400, 900, 3000, 5], [3, 4, 0]])
@pytest.mark.parametrize("columns", [3, 64])
def test_products_of_long_rows_are_exact_sums(lengths: list[int], columns: int) -> None:
    rng = np.random.default_rng(1)
    x = rows_of(lengths, 4000, rng)
    W = np.ones((4000, columns)) * rng.choice([0.1, 0.5], columns)
    found = sparse_sums.times(x, W)
    for i in range(len(lengths)):
        data = x.data[x.indptr[i] : x.indptr[i + 1]]
        for j in range(0, columns, 7):
            true = math.fsum(float(value) * W[0, j] for value in data)
            assert abs(found[i, j] - true) <= 24 * 2.0**-53 * max(abs(true), 1e-300)


def test_rows_of_a_slice_are_its_own() -> None:
    x = rows_of([300, 4, 500, 6, 1], 4000, np.random.default_rng(2))
    some = sparse_sums._with_indptr(x, x.indptr[1:])  # the first row left out, the entries shared
    W = np.random.default_rng(3).standard_normal((4000, 5))
    np.testing.assert_allclose(sparse_sums.times(some, W), (x @ W)[1:], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("solver", ["lanczos", "krylov"])
def test_turned_vectors_of_a_wide_table_are_orthonormal(solver: str) -> None:
    # σᵢ uᵢvᵢᵀ with v of disjoint supports, rows turned in pairs
    rng, n, each, k = np.random.default_rng(0), 120, 500, 16
    sigma = np.sort(rng.uniform(1, 10, n))[::-1]
    sigma[:20] = np.linspace(40, 20, 20)
    V = sp.csr_array((np.full(n * each, each**-0.5), np.arange(n * each), np.arange(n + 1) * each))
    H = sp.csr_array(np.kron(np.eye(n // 2), [[0.6, 0.8], [-0.8, 0.6]]))
    A = sp.csr_array((H * sigma) @ V)
    model = ritz.SVD(k, solver=solver, tol=1e-8).fit(A)
    C = model.components_
    np.testing.assert_allclose(model.singular_values_, sigma[:k], rtol=1e-12)
    assert np.abs(C @ C.T - np.eye(k)).max() < 1e-13
    assert model.verify(A)


def test_turned_vectors_of_a_steep_spectrum_are_orthonormal() -> None:
    """σ₁/σ_k = 400: from squares of the basis that they come from |VᵀV − I| would be u·(σ₁/σ_k)² ≈ 4e-12."""
    n, each, k = 120, 500, 16
    sigma = np.append(np.geomspace(2e3, 1, 20), np.full(n - 20, 0.02))
    V = sp.csr_array((np.full(n * each, each**-0.5), np.arange(n * each), np.arange(n + 1) * each))
    H = sp.csr_array(np.kron(np.eye(n // 2), [[0.6, 0.8], [-0.8, 0.6]]))
    C = ritz.SVD(k, solver="lanczos", tol=1e-8).fit(sp.csr_array((H * sigma) @ V)).components_
    assert np.abs(C @ C.T - np.eye(k)).max() < 1e-13


def test_sums_of_columns_in_bands_are_exact_sums(seed) -> None:
    """Well-filled and sparse rows, with and without weights; one column whose entries stand together."""
    rng = np.random.default_rng(seed)
    for n, d, density in ((700, 9, 0.6), (3_000, 40, 0.05), (130, 500, 0.02)):
        X = sp.random_array((n, d), density=density, format="csr", rng=rng)
        X.data[:] = 0.7
        X = sp.csr_array(sp.hstack([X, sp.csr_array(np.where(np.arange(n) < n // 2, 0.7, 0.0)[:, None])]))
        weights = rng.random(n)
        for w in (None, weights):
            plain, square = sparse_sums.sums(X, w)
            for j in range(d + 1):
                column = [Fraction(float(v)) for v in X[:, [j]].toarray()[:, 0]]
                scale = [Fraction(1)] * n if w is None else [Fraction(float(v)) for v in w]
                first = float(sum(a * b for a, b in zip(scale, column, strict=True)))
                second = float(sum(a * b * b for a, b in zip(scale, column, strict=True)))
                assert abs(plain[j] - first) <= 16 * 2.0**-53 * abs(first)
                assert abs(square[j] - second) <= 18 * 2.0**-53 * abs(second)


def test_well_filled_columns_are_multiplied_in_bands(seed) -> None:
    X = sp.random_array((3_000, 6), density=0.5, format="csr", rng=np.random.default_rng(seed))
    X.data[:] = 0.7
    cuts = sparse_sums.cuts_of(X)
    assert isinstance(cuts, sparse_sums.Bands)
    B = np.full((3_000, 2), 0.3)
    exact = np.array([float(int(count) * Fraction(0.7) * Fraction(0.3)) for count in np.diff(X.tocsc().indptr)])
    assert np.max(np.abs(sparse_sums.adjoint(X, B, cuts) / exact[:, None] - 1)) <= 40 * 2.0**-53


@pytest.mark.parametrize("sorted_rows", [False, True])
def test_columns_with_entries_all_over_are_multiplied_in_high_bands(seed, sorted_rows) -> None:
    """Bands of more rows than a chain is long, where no column has many entries in one; low ones elsewhere."""
    n, d = 30_000, 4
    X = sp.random_array((n, d), density=0.02, format="csr", rng=np.random.default_rng(seed))
    X.data[:] = 0.7
    if sorted_rows:  # all entries of the first column stand together
        first = sp.csr_array(((np.arange(n) < n // 20) * 0.7)[:, None])
        X = sp.csr_array(sp.hstack([first, X]))
    cuts = sparse_sums.cuts_of(X)
    assert isinstance(cuts, sparse_sums.Bands)
    assert bool(np.max(np.diff(cuts.edges)) <= sparse_sums.LONG) is sorted_rows
    B = np.full((n, 2), 0.3)
    exact = np.array([float(int(count) * Fraction(0.7) * Fraction(0.3)) for count in np.diff(X.tocsc().indptr)])
    assert np.max(np.abs(sparse_sums.adjoint(X, B, cuts) / exact[:, None] - 1)) <= 40 * 2.0**-53


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_places_of_few_entries_are_those_of_their_columns(dtype, seed):
    """They are kept with the cuts, and serve the entries in another precision too."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((2_000, 900), density=0.001, format="lil", rng=rng)
    X[:, 7] = rng.standard_normal((2_000, 1))
    X[::3, 20] = rng.standard_normal((667, 1))
    X = sp.csr_array(X)
    cuts = sparse_sums.cuts_of(X)
    assert isinstance(cuts, sparse_sums.Cuts)
    assert cuts.places is not None
    B = rng.standard_normal((2_000, 3)).astype(dtype)
    near = 1e-13 if dtype is np.float64 else 1e-4
    found = sparse_sums.adjoint(X.astype(dtype), B, cuts)
    np.testing.assert_allclose(found, X.toarray().T @ B, rtol=near, atol=near)
