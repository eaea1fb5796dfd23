"""Sparse rows that lanes share for products with one vector: the same numbers, whatever is taken off and scaled."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.operators import shared_rows as shared
from ritz.operators.shared_rows import SharedRows


def table(seed, n, d, density=0.1):
    X = sp.random_array((n, d), density=density, format="csr", rng=np.random.default_rng(seed))
    X.data /= np.sqrt(1.0 + X.indices)
    return X


@pytest.mark.parametrize("lanes", [2, 3, 7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(90, 40), (40, 90), (7, 5)])
def test_products_are_those_of_the_whole(seed, lanes, dtype, shape):
    X = table(seed, *shape)
    X.data[:] = np.random.default_rng(seed).integers(-9, 9, X.nnz)  # sums are exact
    X = X.astype(dtype)
    rng, D = np.random.default_rng(seed + 1), X.toarray()
    v, b = (rng.integers(-9, 9, length).astype(dtype) for length in reversed(shape))
    rows = SharedRows(X, X.data, lanes)
    across, along = np.empty(shape[0], dtype), np.empty(shape[1], dtype)
    for first in (0, 4):
        rows.gather(v, across, dtype(first))
        np.testing.assert_array_equal(across, D @ v + first)
        rows.scatter(b, along, dtype(first))
        np.testing.assert_array_equal(along, D.T @ b + first)
    for c in (0, 3):
        assert rows.both(v, dtype(c), across, along)
        np.testing.assert_array_equal(across, D @ v - c)
        np.testing.assert_array_equal(along, D.T @ (D @ v - c))


@pytest.mark.parametrize("shape", [(900, 300), (300, 900)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: ritz.SVD(3, solver="lanczos"),
        lambda: ritz.PCA(3, solver="lanczos"),
        lambda: ritz.PCA(3, solver="lanczos", scale=True),
    ],
    ids=["about zero", "about the mean", "scaled"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_agree_with_those_of_one_lane(seed, monkeypatch, shape, make, weighted):
    X = table(seed, *shape)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, shape[0]) if weighted else None
    monkeypatch.setattr(shared, "lane_count", lambda: 2)
    begun = []
    monkeypatch.setattr(shared, "run_lanes", lambda work, spans: (begun.append(len(spans)), [work(s) for s in spans]))
    models = []
    for least in (1 << 60, 0):
        monkeypatch.setattr(shared, "SHARED", least)
        monkeypatch.setattr(shared, "COLUMN", 0)
        models.append(make().fit(X, sample_weight=weights))
        assert bool(begun) == (least == 0)
    one, two = models
    np.testing.assert_allclose(two.singular_values_, one.singular_values_, rtol=1e-9)
    overlap = np.linalg.svd(one.components_ @ two.components_.T, compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, rtol=1e-9)
    assert two.certificate_.converged
    assert two.certificate_.verify(X, sample_weight=weights) if weighted else two.certificate_.verify(X)


def test_few_entries_are_multiplied_by_one_lane():
    X = table(0, 50, 40)
    assert shared.shared_rows(X, X.data) is None
