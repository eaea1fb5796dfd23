"""Leading pairs of Gram matrices of 200 to 800 columns, found by Lanczos where eigenvalues decay, against the truth."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.linalg import orth, orth_by_squares, symmetric
from ritz.data.passes import sparse_sums
from ritz.data.passes.blocks import MemoryBlocks
from ritz.operators.affine import Affine
from ritz.spectral.solvers.leading import LEFT_OUT

N, D = 330, 240
PLACES = np.arange(1, D + 1)
SPECTRA = {
    "fast": np.exp(-PLACES / 5.0) + 1e-9,
    "slow": PLACES**-0.5,
    "steps": np.where(PLACES <= 6, 10.0, 1.0),
    "copies": 0.8 ** (PLACES // 3) + 1e-3,
    "flat": np.ones(D),
}


def rows(sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    U = np.linalg.qr(rng.standard_normal((N, D)))[0]
    V = np.linalg.qr(rng.standard_normal((D, D)))[0]
    return (U * sigma) @ V.T, V


@pytest.mark.parametrize("k", [1, 6, 12])
@pytest.mark.parametrize("name", list(SPECTRA))
def test_values_are_enclosed_and_exact(name, k):
    sigma = np.sort(SPECTRA[name])[::-1]
    X, V = rows(sigma)
    model = ritz.SVD(k, solver="moments").fit(X)
    proof, off = model.certificate_, 100 * 2.0**-53 * sigma[0]
    assert np.max(np.abs(model.singular_values_ - sigma[:k])) <= off
    assert np.all(proof.lower <= sigma[:k] ** 2 + 1e-14)
    assert np.all(sigma[:k] ** 2 - 1e-14 <= proof.upper)
    assert (proof.completeness == LEFT_OUT) == (name != "flat")
    if sigma[k - 1] - sigma[k] > 1e-3 * sigma[0]:
        cosines = np.linalg.svd(model.components_ @ V[:, :k], compute_uv=False)
        assert float(cosines.min()) >= 1 - 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_block_is_orthonormal_from_its_squares(dtype):
    rng = np.random.default_rng(0)
    W = (rng.standard_normal((500, 6)) * [1e6, 1.0, 1.0, 1e-3, 1.0, 7.0]).astype(dtype)
    W[:, 2] += 3 * W[:, 1]
    Q = orth_by_squares(W, symmetric((W.T @ W).astype(np.float64)), 0.0)
    assert np.max(np.abs(Q.T @ Q - np.eye(6))) <= (1e-12 if dtype is np.float64 else 1e-5)
    other = orth(W.astype(np.float64))
    assert np.max(np.abs(Q - other @ (other.T @ Q))) <= (1e-9 if dtype is np.float64 else 1e-2)
    assert orth_by_squares(W, symmetric((W.T @ W).astype(np.float64)), 1.0) is None  # one is shorter than that
    parallel = np.column_stack([W[:, 1], W[:, 1] * 2]).astype(dtype)
    assert orth_by_squares(parallel, symmetric((parallel.T @ parallel).astype(np.float64)), 0.0) is None


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_sparse_rows_are_those_of_dense_ones(dtype, columns):
    x = sp.random_array((70, 40), density=0.2, format="csr", rng=np.random.default_rng(1), dtype=np.float64)
    x = x.astype(dtype)
    W, B = (np.random.default_rng(2).standard_normal((m, columns)).astype(dtype) for m in (40, 70))
    near = 1e-13 if dtype is np.float64 else 1e-5
    assert np.max(np.abs(sparse_sums.plain_times(x, W) - x.toarray() @ W)) <= near
    assert np.max(np.abs(sparse_sums.adjoint(x, np.asfortranarray(B), 1) - x.toarray().T @ B)) <= near


def test_one_block_of_sparse_rows_has_the_same_products_with_long_sums():
    x = sp.random_array((90, 30), density=0.1, format="csr", rng=np.random.default_rng(1))
    shift, scale = np.linspace(0, 1, 30), np.linspace(1, 2, 30)
    frame = Affine(MemoryBlocks(x), shift=shift, col_scale=scale, offset=np.linspace(0, 2, 90))
    V = np.random.default_rng(2).standard_normal((30, 4))
    Z = (x.toarray() - shift - np.linspace(0, 2, 90)[:, None]) * scale
    assert frame.loosened().loose
    for one in (frame, frame.loosened()):
        assert np.max(np.abs(one.normal(V) - Z.T @ (Z @ V))) <= 1e-10
