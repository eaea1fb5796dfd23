"""Checks of certificates whose squares leave the range of float64, and of matrices that were rounded."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz._core.frozen import changed

X = np.random.default_rng(0).standard_normal((30, 4))


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_residuals_whose_squares_leave_the_range_are_compared(size):
    model = ritz.Isomap(2).fit(X * size)
    assert model.verify(X * size)
    other = np.linalg.qr(np.random.default_rng(1).standard_normal((30, 2)))[0]
    c = model.certificate_
    model.certificate_ = changed(c, frame={**c.frame, "vectors": other})
    assert not model.verify(X * size)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_a_plane_whose_residuals_squared_leave_the_range_is_verified(size):
    t = np.arange(20) * np.pi / 10  # a circle: two equal values
    gaps = np.abs(np.subtract.outer(np.exp(1j * t), np.exp(1j * t))) * size
    model = ritz.MDS(2, metric="precomputed").fit(gaps)
    assert [cluster[:2] for cluster in model.certificate_.clusters] == [(0, 1)]
    assert model.verify(gaps), model.verify(gaps).words


@pytest.mark.parametrize("skewed", [False, True])
def test_a_singular_matrix_that_was_rounded_is_verified(skewed):
    rng = np.random.default_rng(3)
    for _ in range(10):
        S = np.cov(X[:, [0, 1, 2, 0, 1]].T)
        E = 1e-12 * rng.standard_normal(S.shape) * np.abs(S)
        S = S + (E if skewed else E + E.T)
        model = ritz.PCA.from_covariance(S, n=30)
        assert model.verify(S), model.verify(S).words
