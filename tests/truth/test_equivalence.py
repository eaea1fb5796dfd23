"""One answer, however the rows arrive: dense, sparse, in chunks, as merged shards, on one thread or two.

Eigenvalues agree to 1e-10·λ₁, angles to 1e-10·λ₁/gap, signs exactly; iterative solvers run at ``tol=1e-12``.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

import ritz
from ritz.testing import KINDS, compare, matrix, sparse_matrix
from ritz.testing.certify.cases import SOLVERS

TOLERANCE = 1e-10
EXACT = tuple(solver for solver in SOLVERS if solver != "sketch")  # a sketch is an estimate
CONDITION = 30.0


def fit(X, k, *, method="PCA", weights=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(ritz, method)(k, tol=1e-12, **options)
        return model.fit(X) if weights is None else model.fit(X, sample_weight=weights)


def assert_same(a, b):
    """Two models are one answer: values, spans of clusters, signs of what stands alone."""
    x, y = a.certificate_.values, b.certificate_.values
    assert x.shape == y.shape
    top = x[0]
    np.testing.assert_allclose(x, y, rtol=0, atol=TOLERANCE * top)
    U, V = a.components_.T, b.components_.T
    for cluster in compare(x, U, V, width=1e-5):
        assert cluster.sine <= TOLERANCE / cluster.gap, cluster
        alone = cluster.components.stop - cluster.components.start == 1
        if alone and cluster.gap > 1e-3:
            i = cluster.components.start
            assert U[:, i] @ V[:, i] > 0, f"component {i} changed its sign"


def chunks(X, rng, pieces):
    """Rows in consecutive pieces of random sizes."""
    cuts = np.sort(rng.choice(np.arange(1, X.shape[0]), size=pieces - 1, replace=False))
    edges = [0, *cuts.tolist(), X.shape[0]]
    return [X[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("method", ["PCA", "SVD"])
@pytest.mark.parametrize("shape", [(120, 14), (14, 120), (30, 30)])
def test_dense_is_sparse(shape, method, solver):
    X = sparse_matrix("geometric", *shape, cond=CONDITION, seed=4)
    k = 5
    assert_same(fit(X.toarray(), k, method=method, solver=solver), fit(X, k, method=method, solver=solver))


@pytest.mark.parametrize("layout", ["csc", "coo", "fortran", "strided", "readonly", "int"])
def test_layout_changes_nothing(layout):
    X = np.random.default_rng(0).integers(-3, 4, (90, 8)).astype(float)
    forms = {
        "csc": lambda: sparse.csc_matrix(X),
        "coo": lambda: sparse.coo_matrix(X),
        "fortran": lambda: np.asfortranarray(X),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
        "readonly": lambda: np.frombuffer(X.tobytes()).reshape(X.shape),
        "int": lambda: X.astype(np.int16),
    }
    assert_same(fit(X, 5), fit(forms[layout](), 5))


@pytest.mark.parametrize("solver", EXACT)
def test_every_solver_gives_the_answer_of_the_dense_decomposition(solver):
    X = matrix("geometric", 150, 16, cond=CONDITION, seed=5, offset=2.0)
    assert_same(fit(X, 6, solver="svd"), fit(X, 6, solver=solver))


@given(st.integers(0, 10_000), st.sampled_from(sorted(KINDS)), st.integers(2, 9), st.booleans())
def test_chunks_and_shards_are_the_whole(seed, kind, pieces, scale):
    rng = np.random.default_rng(seed)
    X = matrix(kind, int(rng.integers(30, 200)), int(rng.integers(2, 12)), cond=CONDITION, seed=seed, offset=5.0)
    k = min(X.shape)
    whole = fit(X, k, scale=scale)
    streamed = ritz.PCA(k, scale=scale, tol=1e-12)
    for chunk in chunks(X, rng, pieces):
        streamed.partial_fit(chunk)
    assert_same(whole, streamed)
    first, *others = (
        ritz.PCA(k, scale=scale, tol=1e-12).partial_fit(shard)
        for shard in chunks(X[rng.permutation(len(X))], rng, pieces)
    )
    assert_same(whole, first.merge(*others))


@pytest.mark.parametrize("draw", range(6))
def test_merging_random_shards_of_sparse_and_weighted_rows(draw):
    rng = np.random.default_rng(draw)
    X = sparse_matrix("slow", 160, 7, cond=CONDITION, seed=draw)
    w = rng.integers(0, 4, 160) + (np.arange(160) % 40 == 0)
    whole = fit(X, 4, weights=w)
    order = rng.permutation(160)
    parts = np.array_split(order, 4)
    first, *others = (fit(X[p], 4, weights=w[p]) for p in parts)
    merged = first.merge(*others)
    assert_same(whole, merged)
    assert_same(whole, fit(np.repeat(X.toarray(), w, axis=0), 4))
    rest = merged.subtract(others[-1])
    kept = np.concatenate(parts[:-1])
    assert_same(fit(X[kept], 4, weights=w[kept]), rest)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(5000, 20), (40, 900)])
def test_one_thread_is_two_threads(solver, shape, monkeypatch):
    X = matrix("geometric", *shape, cond=CONDITION, seed=7, offset=1.0)
    models = []
    for threads in (1, 2):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        with threadpool_limits(threads):
            models.append(fit(X, 4, solver=solver))
    assert_same(*models)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("correlation", [0.6, -0.6])
@pytest.mark.parametrize("draw", range(4))
def test_two_standardised_columns_keep_their_signs(solver, correlation, draw):
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(2, 75))
    X = np.column_stack([a * 3 + 1, (correlation * a + 0.8 * b) * 50 - 7])
    order = np.random.default_rng(draw).permutation(75)
    model = fit(X[order], 2, scale=True, solver=solver)
    h = np.sqrt(0.5)
    first = [h, h] if correlation > 0 else [h, -h]
    np.testing.assert_allclose(model.components_, [first, [h, -first[1]]], atol=1e-8)


@pytest.mark.parametrize("solver", EXACT)
def test_signs_do_not_depend_on_row_order_or_solver(solver):
    X = matrix("geometric", 90, 10, cond=CONDITION, seed=11)
    reference = fit(X, 5, solver="svd")
    for seed in range(3):
        assert_same(reference, fit(X[np.random.default_rng(seed).permutation(90)], 5, solver=solver))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_call_gives_the_same_numbers(solver):
    X = matrix("spikes", 200, 25, seed=12)
    a, b = fit(X, 4, solver=solver), fit(X.copy(), 4, solver=solver)
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.certificate_.values, b.certificate_.values)
