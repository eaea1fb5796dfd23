"""The Gaussian model of a PCA: covariance, precision, likelihoods; reconstruction error by k."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
import sklearn.decomposition

from ritz import PCA

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power")


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(70, 5)) @ rng.normal(size=(5, 5)) + [1, 2, 3, 4, 5]


def theirs(k, X, **options):
    return sklearn.decomposition.PCA(k, svd_solver="full", **options).fit(X)


@pytest.mark.parametrize("k", [0, 1, 3, 5, None])
def test_the_model_is_that_of_scikit_learn(X, k):
    ours, other, new = PCA(k).fit(X), theirs(k, X), X[:7] + 0.3
    np.testing.assert_allclose(ours.get_covariance(), other.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(ours.get_precision(), other.get_precision(), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(new), other.score_samples(new), rtol=1e-9)
    assert ours.score(new) == pytest.approx(other.score(new), rel=1e-9)
    assert isinstance(ours.score(new), float)


def test_fewer_rows_than_columns():
    wide = np.random.default_rng(1).normal(size=(8, 30))
    new = np.random.default_rng(2).normal(size=(5, 30))
    ours, other = PCA(3).fit(wide), theirs(3, wide)
    np.testing.assert_allclose(ours.get_covariance(), other.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(new), other.score_samples(new), rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_likelihoods_do_not_depend_on_the_solver(X, solver):
    model = PCA(2, solver=solver, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.score_samples(X), PCA(2).fit(X).score_samples(X), rtol=1e-8)


@pytest.mark.parametrize("options", [{"scale": True}, {"center": False}, {"scale": True, "center": False}])
@pytest.mark.parametrize("k", [2, 5])
def test_the_model_is_a_gaussian_in_the_units_of_the_data(X, options, k):
    X = X * [1, 20, 0.1, 3, 1]
    model = PCA(k, **options).fit(X)
    mean = np.zeros(5) if model.mean_ is None else model.mean_
    gauss = scipy.stats.multivariate_normal(mean, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), gauss.logpdf(X), rtol=1e-8)
    np.testing.assert_allclose(model.get_covariance() @ model.get_precision(), np.eye(5), atol=1e-8)


def test_all_components_give_back_the_covariance(X):
    for options in ({}, {"whiten": True}, {"scale": True}, {"scale": True, "whiten": True}):
        np.testing.assert_allclose(PCA(**options).fit(X).get_covariance(), np.cov(X.T), atol=1e-10)


def test_whitening_is_no_part_of_the_model(X):
    plain, white = PCA(3).fit(X), PCA(3, whiten=True).fit(X)
    np.testing.assert_array_equal(plain.score_samples(X), white.score_samples(X))
    np.testing.assert_array_equal(plain.get_covariance(), white.get_covariance())
    np.testing.assert_array_equal(plain.get_precision(), white.get_precision())
    # scikit-learn's does: its components are multiplied by the standard deviations twice
    assert np.abs(theirs(5, X, whiten=True).get_covariance() - np.cov(X.T)).max() > 1


def test_sparse_rows_have_the_likelihood_of_dense_ones(X):
    S = np.where(X > 3, X, 0.0)
    for options in ({}, {"scale": True}, {"center": False}):
        model = PCA(2, **options).fit(S)
        np.testing.assert_allclose(model.score_samples(sp.csr_array(S)), model.score_samples(S), rtol=1e-9)
        np.testing.assert_allclose(
            model.reconstruction_error(sp.coo_array(S)), model.reconstruction_error(S), rtol=1e-9
        )


def test_float32_rows_far_along_an_axis_keep_the_little_that_is_left():
    rng = np.random.default_rng(5)
    X = (rng.normal(size=(200, 4)) * [1e3, 1, 1, 1]).astype(np.float32)
    model = PCA(1).fit(X)
    wide = PCA(1).fit(X.astype(float))
    np.testing.assert_allclose(model.score_samples(X), wide.score_samples(X.astype(float)), rtol=1e-3)
    assert model.score_samples(X).dtype == np.float64


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_model_without_width_is_never_nan(solver):
    rng = np.random.default_rng(3)
    flat = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 4))
    for rows in (flat, rng.normal(size=(3, 8)), np.ones((5, 3))):
        model = PCA(solver=solver).fit(rows)
        inside, outside = (
            model.score_samples(rows),
            model.score_samples(rows + 10 * rng.normal(size=rows.shape)),
        )
        assert not np.isnan(inside).any()
        assert not np.isnan(outside).any()
        assert outside.max() < inside.min()
        assert np.isfinite(model.get_precision()).all()


# --------------------------------------------------------------------------- reconstruction error


def brute(rows, k, train, **options):
    """Mean squared error of rows rebuilt by separate models of 0, 1, …, k components."""
    errors = []
    for j in range(k + 1):
        model = PCA(j, **options).fit(train)
        scale = 1 if model.scale_ is None else model.scale_
        rest = (rows - model.inverse_transform(model.transform(rows))) / scale
        errors.append(np.mean(np.sum(rest**2, axis=1)))
    return errors


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}, {"whiten": True}])
def test_reconstruction_error_as_a_function_of_k(X, options):
    model = PCA(4, **options).fit(X)
    np.testing.assert_allclose(model.reconstruction_error(), brute(X, 4, X, **options), rtol=1e-9)
    np.testing.assert_allclose(model.reconstruction_error(X), model.reconstruction_error(), rtol=1e-9)
    new = X[:9] + 0.5
    np.testing.assert_allclose(model.reconstruction_error(new), brute(new, 4, X, **options), rtol=1e-9)


def test_reconstruction_error_falls_from_the_total_to_nothing(X):
    error = PCA().fit(X).reconstruction_error()
    assert error.shape == (6,)
    assert np.all(np.diff(error) <= 0)
    assert error[0] == pytest.approx(np.trace(np.cov(X.T)) * 69 / 70)
    assert error[-1] == pytest.approx(0, abs=1e-12 * error[0])


def test_reconstruction_error_of_weighted_rows(X):
    w = np.random.default_rng(4).integers(1, 4, 70)
    weighted, copies = PCA(3).fit(X, sample_weight=w), PCA(3).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.reconstruction_error(), copies.reconstruction_error(), rtol=1e-10)
