"""Rows at the spatial median have no direction, however the table is stored: dense, sparse, or in a file."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import ritz
from ritz.data.passes.blocks import blocks_of
from ritz.methods.robust_pca.spatial_median import STILL, spatial_median
from ritz.methods.robust_pca.spherical import SAMPLE
from tests.pairs import pairwise

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are equal:ritz.AccuracyWarning")

METHODS = ("spherical", "robpca", "pcp")
#: A row that no column's rounding leaves exact.
POINT = np.array([1.1, -0.3, 2.3, 0.7, 0.0, 1 / 3])


def scattered(density, d=8):
    """A sparse table with many rows of zeros, dense; no column is constant."""
    X = sparse.random(200, d, density, random_state=0, format="csr").toarray()
    X[np.arange(d), np.arange(d)] += 1
    return X


def heap(share, far=0.0, n=300):
    """Normal rows, a share of which is one point."""
    X = np.random.default_rng(3).standard_normal((n, 6)) + far
    X[np.arange(n) % 10 < 10 * share] = POINT + far
    return X


TABLES = {
    "half zeros": scattered(0.1),
    "most zeros": scattered(0.05),
    "no row twice": scattered(0.5),
    "a heap": heap(0.6),
    "a small heap": heap(0.3),
    "a heap far from zero": heap(0.6, far=1e6),
    "counts": np.random.default_rng(4).poisson(0.3, (400, 12)).astype(float),
}


def weights_of(kind, n):
    rng = np.random.default_rng(5)
    return {"plain": None, "copies": rng.integers(0, 4, n).astype(float), "shares": rng.random(n)}[kind]


def close(a, b, tolerance=1e-10):
    for name in ("explained_variance_", "total_variance_", "noise_variance_", "mean_", "components_", "scale_"):
        one, other = getattr(a, name), getattr(b, name)
        if one is not None:
            size = float(np.max(np.abs(one)))
            np.testing.assert_allclose(other, one, rtol=0, atol=tolerance * size, err_msg=name)
    np.testing.assert_allclose(b.certificate_.values, a.certificate_.values, rtol=tolerance)
    assert b.certificate_.total == pytest.approx(a.certificate_.total, rel=tolerance)


@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")
@pytest.mark.parametrize(
    ("table", "weights", "dtype"), pairwise([*TABLES], ["plain", "copies", "shares"], [np.float64, np.float32])
)
def test_dense_sparse_and_files_give_one_answer(table, weights, dtype, tmp_path):
    X = TABLES[table].astype(dtype)
    w = weights_of(weights, len(X))
    np.save(tmp_path / "t.npy", X)
    for scale in (False, True):
        dense = ritz.RobustPCA(3, method="spherical", scale=scale).fit(X, sample_weight=w)
        close(dense, ritz.RobustPCA(3, method="spherical", scale=scale).fit(sparse.csr_matrix(X), sample_weight=w))
        rows = ritz.read(tmp_path / "t.npy", memory=X.nbytes // 4)
        assert rows.lazy
        streamed = ritz.RobustPCA(3, method="spherical", scale=scale).fit(rows, sample_weight=w)
        close(dense, streamed)
        assert dense.verify(X, w)
        assert streamed.verify(rows, w)


@pytest.mark.parametrize("method", ["robpca", "pcp"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("table", ["no row twice", "half zeros"])
def test_the_methods_in_memory_do_so_too(table, dtype, method):
    X = TABLES[table].astype(dtype)
    for w in (None, weights_of("copies", len(X))):
        dense, csr = (ritz.RobustPCA(3, method=method).fit(rows, sample_weight=w) for rows in (X, sparse.csr_matrix(X)))
        close(dense, csr)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_rows_that_are_the_center_are_no_directions(far):
    X = heap(0.6, far)
    here = (POINT + far == X).all(axis=1)
    for rows in (X, sparse.csr_matrix(X)):
        model = ritz.RobustPCA(3, method="spherical").fit(rows)
        assert np.array_equal(model.mean_, POINT + far)
        assert model.certificate_.total == pytest.approx(np.count_nonzero(~here), rel=1e-12)
        assert not model.explained_variance_.any()  # more than half of the scores are the same
        U = X[~here] - (POINT + far)
        U /= np.linalg.norm(U, axis=1, keepdims=True)
        true = np.linalg.svd(U, compute_uv=False)[:3] ** 2
        np.testing.assert_allclose(model.certificate_.values, true, rtol=1e-9 if far else 1e-12)


def test_rows_that_differ_from_it_by_rounding_are_none_either():
    """A fifth of the rows are 0.1 + 0.2 or 0.3, or nothing beside what the others are."""
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((300, 4))
    rounded = rows - np.median(rows, axis=0) + 0.3
    rounded[:60] = np.where(rng.random((60, 4)) < 0.5, 0.1 + 0.2, 0.3)
    tiny = rows - np.median(rows, axis=0)
    tiny[:60] *= 1e-16
    for X in (rounded, tiny):
        for form in (X, sparse.csr_matrix(X)):
            model = ritz.RobustPCA(2, method="spherical").fit(form)
            assert model.certificate_.total == pytest.approx(240, rel=1e-12)
            assert model.verify(form)


@pytest.mark.parametrize("start", ["mean", "median", "a row", "far"])
def test_the_median_that_is_a_row_is_found_from_anywhere(start):
    X = heap(0.5)
    pulls = X[(X != POINT).any(axis=1)] - POINT
    pulls /= np.linalg.norm(pulls, axis=1, keepdims=True)
    assert np.linalg.norm(pulls.sum(axis=0)) < 150  # the rows of the heap hold it
    begin = {"mean": X.mean(axis=0), "median": np.median(X, axis=0), "a row": X[5], "far": np.full(6, 50.0)}[start]
    found = spatial_median(blocks_of(X), begin, None, None)
    assert np.array_equal(found.high, POINT)
    assert not found.low.any()
    assert found.pull <= STILL


def test_a_row_far_away_does_not_end_the_search_for_the_median(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3)) + rng.exponential(2, (200, 3))
    X[0] = [1e14, 0, 0]
    found = spatial_median(blocks_of(X), np.median(X, axis=0), None, None)
    gap = X - found.high - found.low
    assert np.linalg.norm((gap / np.linalg.norm(gap, axis=1, keepdims=True)).sum(axis=0)) < 1e-9
    X[0, 0] = 1e3
    nearer = spatial_median(blocks_of(X), np.median(X, axis=0), None, None)
    np.testing.assert_allclose(found.high, nearer.high, atol=0.01)


def test_a_sample_of_a_file_has_its_weights_and_is_spread_evenly(tmp_path):
    """Rows of weight zero are absent, and the last rows of a file count as its first ones do."""
    rng = np.random.default_rng(7)
    n = 2 * SAMPLE + 1000
    X = rng.standard_normal((n, 2)) * [2, 1]
    X[n // 3 :] += 100  # most rows are there
    w = np.where(np.arange(n) < n // 3, 5.0, 0.0)
    np.save(tmp_path / "t.npy", X)
    rows = ritz.read(tmp_path / "t.npy", memory=X.nbytes // 8)
    assert rows.lazy
    assert np.allclose(ritz.RobustPCA(1, method="spherical").fit(rows).mean_, 100, atol=3)
    weighted = ritz.RobustPCA(1, method="spherical", scale=True).fit(rows, sample_weight=w)
    assert np.allclose(weighted.mean_, 0, atol=0.1)
    assert np.allclose(weighted.scale_, [2, 1], rtol=0.05)


def test_a_median_that_was_not_reached_is_told():
    X = scattered(0.5)
    with pytest.warns(ritz.AccuracyWarning, match="max_iter=4"):
        model = ritz.RobustPCA(2, method="spherical", max_iter=2).fit(X)
    assert model.n_iter_ == 2
    assert 2 < ritz.RobustPCA(2, method="spherical").fit(X).n_iter_ < 1000


def test_good_rows_that_are_one_point_have_no_variance_at_all():
    """Of copies of a row nothing is left but rounding, which is no variance, and no certificate speaks of it."""
    for far in (0.0, 1e6):
        X = heap(0.6, far)
        for form in (X, sparse.csr_matrix(X)):
            model = ritz.RobustPCA(3, method="robpca").fit(form)
            assert not model.explained_variance_.any()
            assert np.array_equal(model.support_, (POINT + far == X).all(axis=1))
            np.testing.assert_allclose(model.mean_, POINT + far, rtol=1e-14, atol=1e-14)
            assert model.verify(form)


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_a_heap_of_fewer_than_half_of_the_rows_is_not_all_that_is_good(share):
    X = np.random.default_rng(0).standard_normal((300, 6)) * [5, 4, 3, 2, 1, 1]
    X[: int(300 * share)] = 0.1
    model = ritz.RobustPCA(3, method="robpca").fit(X)
    assert 2 * model.support_.sum() > 300
    assert model.explained_variance_[0] > 5
    assert abs(model.components_[0, 0]) > 0.9
    assert model.verify(X)


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_more_equal_rows_than_outliers_are_told_of(share):
    X = heap(share)
    with pytest.warns(
        ritz.AccuracyWarning, match=rf"{round(300 * share)} of 300 rows are equal, more than the 75 that"
    ):
        model = ritz.RobustPCA(2, method="robpca").fit(X)
    assert any("rows are equal" in note for note in model.certificate_.notes)
    assert model.support_[(X == POINT).all(axis=1)].all()  # they are no outliers
    assert np.all(model.explained_variance_ > 0)


def test_few_equal_rows_are_not_worth_a_word():
    model = ritz.RobustPCA(2, method="robpca").fit(heap(0.2))
    assert not any("rows are equal" in note for note in model.certificate_.notes)
