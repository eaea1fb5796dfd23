"""Log-likelihoods of rows against the Gaussian density written out, with noise, without, and with every component."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import ritz
from ritz._core.errors import NonFiniteError


def rows():
    rng = np.random.default_rng(5)
    return rng.standard_normal((3000, 6)) @ np.diag([5.0, 3.0, 2.0, 1.0, 0.5, 0.1]) + 100.0


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("k", [1, 3, 5, 6])
def test_likelihoods_are_those_of_the_model_covariance(k, scale):
    X = rows()
    model = ritz.PCA(k, scale=scale).fit(X)
    truth = scipy.stats.multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
    np.testing.assert_allclose(model.score_samples(X), truth, rtol=1e-8)


def test_a_model_without_noise_has_no_density_off_its_plane():
    X = rows()
    X[:, 5] = X[:, 0] + X[:, 1]
    model = ritz.PCA(5).fit(X)
    assert model.noise_variance_ < 1e-20
    far = X[:3].copy()
    far[1, 5] += 1.0
    scores = model.score_samples(far)
    assert scores[1] < -1e10
    assert np.isfinite(scores[[0, 2]]).all()


def test_what_is_not_finite_is_named():
    X = rows()
    for k in (3, 6):
        model, bad = ritz.PCA(k).fit(X), X.copy()
        bad[4, 2] = np.nan
        with pytest.raises(NonFiniteError, match="row 4 column 2"):
            model.score_samples(bad)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whitened_coordinates_lead_back(dtype):
    X = rows().astype(dtype)
    model = ritz.PCA(6, whiten=True, scale=True).fit(X)
    T = model.transform(X)
    kept = T.copy()
    back = model.inverse_transform(T)
    assert back.dtype == dtype
    np.testing.assert_allclose(back, X, rtol=1e-12 if dtype == np.float64 else 1e-5)
    np.testing.assert_array_equal(T, kept)
