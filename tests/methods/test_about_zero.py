"""Rows that are analysed about zero: where they lie near it, nothing is taken off; far from it, digits are kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ritz


@pytest.mark.parametrize("shape", [(50, 4), (500, 40), (2000, 100), (300, 300)])
@pytest.mark.parametrize("mean", [0.0, 0.4, 3.0, 1e5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_variances_near_zero_and_far_from_it(shape, mean, dtype, seed):
    rng = np.random.default_rng(seed)
    X = (mean + rng.standard_normal(shape) / np.sqrt(np.arange(1, shape[1] + 1))).astype(dtype)
    before = X.copy()
    svd = ritz.SVD(3, solver="moments").fit(X)
    np.testing.assert_array_equal(X, before)
    wide = X.astype(np.float64)
    _, sigma, Vt = np.linalg.svd(wide, full_matrices=False)
    np.testing.assert_allclose(svd.singular_values_, sigma[:3], rtol=1e-5 if dtype is np.float32 else 1e-9)
    spread = np.var(wide @ Vt[:3].T, axis=0)
    np.testing.assert_allclose(svd.explained_variance_, spread, rtol=1e-4 if dtype is np.float32 else 1e-6)
    total = np.var(wide, axis=0).sum()
    np.testing.assert_allclose(svd.explained_variance_ratio_, spread / total, rtol=1e-4)
    c = svd.certificate_
    assert np.all(c.lower <= sigma[:3] ** 2)
    assert np.all(sigma[:3] ** 2 <= c.upper)


def test_the_state_of_rows_near_zero_is_merged_and_pickled(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((200, 12)), 0.3 + rng.standard_normal((150, 12))
    a, b = ritz.SVD(3, mergeable=True).fit(X), ritz.SVD(3, mergeable=True).fit(Y)
    assert len(pickle.dumps(a)) < 2 * len(pickle.dumps(ritz.PCA(3).fit(X)))
    both = pickle.loads(pickle.dumps(a)).merge(b)
    sigma = np.linalg.svd(np.vstack([X, Y]), compute_uv=False)
    np.testing.assert_allclose(both.singular_values_, sigma[:3], rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "precision"), [((1000, 200), "float64"), ((5000, 500), "float32"), ((30000, 200), "float32")]
)
def test_the_plan_names_the_precision_that_forms_the_gram_matrix(shape, precision, seed):
    X = np.random.default_rng(seed).standard_normal(shape, np.float32)
    svd = ritz.SVD(3, solver="moments").fit(X)
    assert svd.plan_.precision == precision
    assert (svd.certificate_.unit_roundoff < 1e-10) == (precision == "float64")


@pytest.mark.parametrize("estimator", [ritz.PCA(2, center=False), ritz.PCA(2)], ids=["about zero", "centred"])
def test_weights_are_not_multiplied_into_rows_that_lie_about_zero(estimator, seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((60, 8)), 2, axis=0)
    X[1::2] *= -1.0  # the mean is zero to the last bit
    weights, before = np.repeat(rng.integers(1, 5, 60), 2).astype(float), X.copy()
    found = estimator.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(X, before)
    sigma = np.linalg.svd(before * np.sqrt(weights)[:, None], compute_uv=False)
    np.testing.assert_allclose(found.singular_values_, sigma[:2], rtol=1e-10)
