"""Leading pairs of Gram matrices of 200 to 800 columns, found by Lanczos where eigenvalues decay, against the truth."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.linalg import orth, orth_by_squares, symmetric
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.operators import Dense, Sparse, loose
from ritz.operators.affine import Affine
from ritz.operators.framed import Framed
from ritz.spectral.problem import Completeness, Pairs
from ritz.spectral.solvers.leading import LEFT_OUT
from ritz.spectral.turn import turn

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
    if name != "steps" or k <= 6:  # of 234 equal values rounding decides whether a chain finds some
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("held", [0, 1 << 25])
@pytest.mark.parametrize("lanes", [1, 3])
def test_pieces_and_lanes_leave_products_with_long_sums_as_they_are(monkeypatch, dtype, held, lanes):
    monkeypatch.setattr(loose, "PIECE", (1 << 9, 1 << 9))
    monkeypatch.setattr(loose, "HELD_BYTES", held)
    monkeypatch.setattr(loose, "ONE_LANE", 0)
    monkeypatch.setattr(loose, "lane_count", lambda: lanes)
    rng = np.random.default_rng(4)
    x = sp.random_array((190, 40), density=0.1, format="csr", rng=rng)
    shift, offset, scale = np.linspace(0, 1, 40), np.linspace(0, 2, 190), np.linspace(1, 3, 190)
    V = rng.standard_normal((40, 6))
    for options in ({}, {"shift": shift, "offset": offset, "row_scale": scale, "col_scale": 1 + shift}):
        Z = x.toarray() - (shift + offset[:, None] if options else 0)
        Z = Z * scale[:, None] * (1 + shift) if options else Z
        found = Affine(MemoryBlocks(x), precision=dtype, **options).loosened().normal(V)
        size = np.linalg.norm(Z, 2) ** 2 * np.linalg.norm(V, 2)
        assert np.max(np.abs(found - Z.T @ (Z @ V))) <= (1e-13 if dtype is np.float64 else 1e-5) * size


def test_columns_that_are_multiplied_some_at_a_time_give_the_same(monkeypatch):
    """Long rows and long columns among them, and what is kept of the first product."""
    rng = np.random.default_rng(5)
    x = sp.random_array((500, 300), density=0.05, format="lil", rng=rng)
    x[3, :] = rng.standard_normal(300)
    x[:, 7] = rng.standard_normal((500, 1))
    x = sp.csr_array(x)
    V = rng.standard_normal((300, 37))
    whole = Sparse(x).normal(V)
    monkeypatch.setattr(sparse_sums, "CACHED_BYTES", 0)
    A = Sparse(x)
    half, product = A.halves(V)
    Z = x.toarray()
    size = np.linalg.norm(Z, 2) ** 2 * np.linalg.norm(V, 2)
    assert A.passes() == 1
    assert np.max(np.abs(half - Z @ V)) <= 1e-14 * size
    assert np.max(np.abs(product - Z.T @ (Z @ V))) <= 1e-14 * size
    assert np.max(np.abs(product - whole)) <= 1e-15 * size
    assert np.max(np.abs(A.matmat(V) - Z @ V)) <= 1e-14 * size


def test_vectors_of_the_rows_are_turned_by_what_was_kept(monkeypatch):
    rng = np.random.default_rng(6)
    X = sp.random_array((160, 500), density=0.05, format="csr", rng=rng)
    X.data *= (np.arange(1, 501) ** -0.3)[X.indices]
    crossed = []
    across = Framed.across
    monkeypatch.setattr(Framed, "across", lambda self, U: crossed.append(U.shape) or across(self, U))
    for center in (False, True):
        D = X.toarray()
        _, sigma, Vt = np.linalg.svd(D - D.mean(axis=0) if center else D, full_matrices=False)
        model = (ritz.PCA(30, solver="lanczos") if center else ritz.SVD(30, solver="lanczos")).fit(X)
        assert not crossed
        np.testing.assert_allclose(model.singular_values_, sigma[:30], rtol=1e-9)
        assert np.max(np.abs(np.abs(np.sum(model.components_ * Vt[:30], axis=1)) - 1)) <= 1e-6


@pytest.mark.parametrize("scale", [1.0, 2.0**66, 2.0**-66])
def test_residuals_of_turned_vectors_have_the_scale_of_the_rows(scale):
    """One of them is nothing at all, and has no direction; another is as small as numbers get."""
    X = np.array([[3.0, 0.0, 4.0], [4.0, 1.0, -3.0], [1.0, 1.0, 1.0]])
    theta, U = (part[..., ::-1] for part in np.linalg.eigh(X @ X.T))
    U = U + 1e-9 * np.roll(U, 1, axis=1)  # vectors that are not quite orthogonal: residuals are mixed
    block = np.zeros((3, 3))
    block[:, 0], block[0, 2] = 1e-9 * scale**2, 5e-324
    done = Completeness("count", 0.0)
    pairs = Pairs(theta * scale**2, U, block, 0.0, done, True, 2.0**-53, "float64", 1, 0.0)
    with np.errstate(all="raise", under="ignore"):
        turned = turn(Dense(X * scale), pairs).residual_block
    lengths = np.linalg.norm(turned, axis=0) / scale**2
    assert lengths[1] == 0
    assert lengths[0] >= 1e-9
    assert 1e-10 <= lengths[2] <= 1e-6


@pytest.mark.parametrize("draw", [2, 8])
def test_a_copy_of_the_last_value_that_comes_late_is_left_to_lapack(draw):
    """The residual of such a copy was stated as rounding, more than any arithmetic explains."""
    rng = np.random.default_rng(draw)
    U, V = (np.linalg.qr(rng.standard_normal((n, 260)))[0] for n in (330, 260))
    sigma = np.concatenate([[3.0, 2.5], np.full(5, 2.0), np.linspace(1.0, 0.1, 253)])
    X = (U * sigma) @ V.T
    model = ritz.SVD(3, random_state=draw).fit(X)
    assert model.certificate_.rounding < 1e-11
    assert bool(model.verify(X))
