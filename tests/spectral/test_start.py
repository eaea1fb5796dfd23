"""The random start depends on the data: a table whose first axis a known start misses is solved like any other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.keys import key_of_numbers, keyed
from ritz._core.random import gaussian_rows
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.keys import rows_key
from ritz.operators import Centered, Dense, MomentGram, Scaled, Symmetric, Weighted
from ritz.spectral.problem import SpectralProblem

N, D, K = 400, 260, 4
SOLVERS = ["krylov", "chebyshev", "sketch", "lanczos", "power", "svd", "moments"]


#: Stream and width of blocks that a seed alone would draw for K components: krylov, chebyshev, sketch, power, lanczos.
BLOCKS = [(1, 16), (1, 28), (1, 18), (11, 4), (101, 8)]


def hidden(seed, n=N, d=D):
    """A table whose first right singular vector is orthogonal to all these blocks; the others converge at once."""
    known = np.hstack([gaussian_rows(seed, stream, 0, d, width) for stream, width in BLOCKS])
    Q = np.linalg.qr(np.hstack([known, np.random.default_rng(5).standard_normal((d, d - known.shape[1]))]))[0]
    x, rest = Q[:, -1], Q[:, :-1]
    values = np.concatenate([[1.2, 1.0, 0.9, 0.8, 0.7], 0.2 * 0.95 ** np.arange(d - 5)])
    U = np.linalg.qr(np.random.default_rng(6).standard_normal((n, d)))[0]
    V = np.column_stack([x, rest @ np.linalg.qr(np.random.default_rng(7).standard_normal((d - 1, d - 1)))[0]])
    return (U * np.sqrt(values)) @ V.T, values, x


@pytest.mark.parametrize("draw", [0, 7])
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_axis_that_a_known_start_misses_is_found(solver, draw):
    X, true, x = hidden(draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ritz.SVD(K, solver=solver, random_state=draw).fit(X)
    c = model.certificate_
    slack = 1e-9 * true[0]
    for i in range(K):
        held = true[i : i + 1] if c.labelled[i] else true
        assert np.any((c.lower[i] - slack <= held) & (held <= c.upper[i] + slack)), (i, c)
    assert true[K] <= c.ceiling + slack
    if solver != "sketch":
        assert abs(model.components_[0] @ x) == pytest.approx(1, abs=1e-6)
        np.testing.assert_allclose(c.values, true[:K], rtol=1e-5)
    assert model.verify(X), model.verify(X)


@pytest.mark.parametrize("draw", [0, 7])
@pytest.mark.parametrize("solver", ["krylov", "lanczos"])
def test_of_a_kernel_matrix_as_well(solver, draw):
    X, _, _ = hidden(draw, n=D, d=D)
    K_ = X @ X.T
    J = np.eye(D) - 1 / D
    true = np.linalg.eigvalsh(J @ K_ @ J)[::-1]
    model = ritz.KernelPCA(K, kernel="precomputed", solver=solver, random_state=draw).fit(K_)
    np.testing.assert_allclose(model.eigenvalues_, true[:K], rtol=1e-5)


# the key


RNG = np.random.default_rng(0)
X = RNG.standard_normal((700, 13))


@pytest.mark.parametrize("rows", [1, 64, 129, 700])
def test_the_key_is_that_of_the_rows_however_they_are_cut_and_stored(rows):
    whole = rows_key(MemoryBlocks(X))
    assert rows_key(MemoryBlocks(X, rows=rows)) == whole
    assert rows_key(MemoryBlocks(np.asfortranarray(X), rows=rows)) == whole
    assert rows_key(MemoryBlocks(X[::-1][::-1], rows=rows)) == whole
    S = sp.random(700, 90, density=0.05, format="csr", random_state=0)
    assert rows_key(MemoryBlocks(S, rows=rows)) == rows_key(MemoryBlocks(S))


def test_every_entry_and_its_place_count():
    whole = rows_key(MemoryBlocks(X))
    for i, j in [(0, 0), (350, 7), (699, 12)]:
        Y = X.copy()
        Y[i, j] = np.nextafter(Y[i, j], 9)
        assert rows_key(MemoryBlocks(Y)) != whole
    for Y in (X[::-1], X[:, ::-1], X[:-1], np.vstack([X, X[:1] * 0])):
        assert rows_key(MemoryBlocks(np.ascontiguousarray(Y))) != whole
    Y = X.copy()
    Y[[3, 4]], Y[3, 2] = Y[[4, 3]], Y[3, 2]
    assert rows_key(MemoryBlocks(Y)) != whole
    S = sp.random(50, 40, density=0.1, format="csr", random_state=0)
    assert rows_key(MemoryBlocks(S)) != rows_key(MemoryBlocks(sp.csr_matrix(S.toarray()[:, ::-1])))
    assert rows_key(MemoryBlocks(X.astype(np.float32))) == rows_key(MemoryBlocks(X.astype(np.float32).astype(float)))


def test_the_key_of_an_operator_is_that_of_its_rows_and_weights():
    A = Dense(X)
    assert Centered(A, X.mean(axis=0)).key() == A.key() == A.T.key() == A.at(np.float32).key() == Scaled(A, 2.0).key()
    w = np.ones(700)
    assert Weighted(A, w).key() != A.key()
    assert Weighted(A, w).key() != Weighted(A, 2 * w).key()
    assert A.passes() == 1  # one pass, remembered


def test_numbers_that_differ_by_rounding_have_one_key():
    x = RNG.standard_normal(500)
    assert key_of_numbers(x) == key_of_numbers(x * (1 + 1e-14))
    assert key_of_numbers(x) != key_of_numbers(x * (1 + np.eye(1, 500)[0] * 0.01))
    assert key_of_numbers(x) != key_of_numbers(2 * x)
    S = X.T @ X
    assert Symmetric(S).key() == Symmetric(S * (1 + 1e-15)).key()
    assert Symmetric(S).key() != Symmetric(np.roll(np.roll(S, 1, 0), 1, 1)).key()
    merged = ritz.PCA().partial_fit(X[:300]).merge(ritz.PCA().partial_fit(X[300:]))
    whole = ritz.PCA().partial_fit(X)
    assert MomentGram(merged._need_state()).key() == MomentGram(whole._need_state()).key()


def test_seed_and_data_both_move_the_start():
    A, B = Dense(X), Dense(X * 1.5)
    assert len({SpectralProblem(op, 2, seed=seed).start for op in (A, B) for seed in (0, 1)}) == 4
    assert SpectralProblem(A, 2).start == keyed(0, Dense(X.copy()).key())


@pytest.mark.parametrize("solver", ["krylov", "chebyshev", "lanczos", "power", "sketch"])
def test_the_same_call_gives_the_same_bits(solver):
    models = [ritz.SVD(3, solver=solver, tol=1e-3).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
