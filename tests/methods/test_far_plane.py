"""What a plane leaves, where it is known to tol only; variances of an SVD far from zero; whole numbers beyond 2^53."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import ritz

ITERATIVE = ("krylov", "lanczos", "chebyshev", "power")


@pytest.mark.parametrize("solver", ITERATIVE)
def test_noise_variance_is_not_told_where_the_plane_is_too_rough(solver):
    """Beside a row 1e9 times as far away it was 20 to 40 % too large, silently."""
    X = np.random.default_rng(0).standard_normal((90, 7))
    X[3] *= 1e9
    with pytest.warns(ritz.AccuracyWarning, match="smaller tol"):
        found = ritz.PCA(4, solver=solver).fit(X)
    assert np.isnan(found.noise_variance_)


@pytest.mark.parametrize("solver", ITERATIVE)
def test_noise_variance_of_usual_rows_is_told_without_a_word(solver):
    X = np.random.default_rng(0).standard_normal((300, 20)) * np.linspace(3, 1, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ritz.PCA(4, solver=solver).fit(X)
    assert found.noise_variance_ == pytest.approx(ritz.PCA(4, solver="svd").fit(X).noise_variance_, rel=1e-6)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("solver", ITERATIVE)
def test_a_table_of_low_rank_leaves_nothing_and_no_doubt(solver, shape):
    """Axes of eigenvalue zero have no gap that would bound what they hide; but no plane leaves less than the best."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (shape[0], 3)) @ rng.integers(-9, 10, (3, shape[1])).astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ritz.AccuracyWarning)
        found = ritz.PCA(5, solver=solver).fit(X)
    assert 0 <= found.noise_variance_ <= 1e-24 * found.explained_variance_[0]


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("mean", [1e3, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("solver", ["auto", "svd", "lanczos", "sketch"])
def test_verify_takes_an_svd_far_from_zero_and_finds_changed_variances(mean, solver):
    X = np.random.default_rng(0).integers(-50, 50, (90, 7)) / 50 + mean
    model = ritz.SVD(2, solver=solver).fit(X)
    assert model.verify(X)
    axes = np.asarray(model.certificate_.frame["vectors"])
    true = np.var((X - X.mean(axis=0)) @ axes, axis=0)
    np.testing.assert_allclose(model.explained_variance_, true, rtol=1e-6)
    model.explained_variance_ = model.explained_variance_ * 1.01
    assert not model.verify(X)


@pytest.mark.parametrize("spread", [100, 1000])
def test_whole_numbers_beyond_two_to_the_53_are_scaled(spread):
    """Columns that varied by 289 were called constant, and left unscaled."""
    rng = np.random.default_rng(4)
    small = rng.integers(0, spread, (300, 4)) * [1, 1, 1, 1000]
    small[:, 2] = 77
    X = small + 2**60
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = ritz.PCA(2, scale=True).fit(X)
    assert [one.category for one in said] == [ritz.DigitsLost, ritz.ConstantColumnWarning]
    assert "constant column 2:" in str(said[1].message)
    true = small.std(axis=0, ddof=1)
    np.testing.assert_allclose(model.scale_, np.where(true > 0, true, 1.0), rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.verify(X)
        halves = ritz.PCA(2, scale=True).partial_fit(X[:100]).partial_fit(X[100:]).scale_
    np.testing.assert_allclose(halves, model.scale_, rtol=1e-12)


@pytest.mark.parametrize("power", [260, -300, 300])
def test_sparse_components_do_not_depend_on_the_unit(power):
    """Products of two variances left the range of float64: 5.5 % wrong, or zero."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((120, 6)) + 3
    usual, far = ritz.SparsePCA(2).fit(X), ritz.SparsePCA(2).fit(np.ldexp(X, power))
    np.testing.assert_allclose(np.ldexp(far.explained_variance_, -2 * power), usual.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(far.explained_variance_ratio_, usual.explained_variance_ratio_, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert far.verify(np.ldexp(X, power))


def test_verify_takes_totals_beyond_the_range():
    X = (np.random.default_rng(3).standard_normal((200, 3)) + 1000) * 1e150
    model = ritz.SVD(1).fit(X)
    assert np.isinf(model.total_)
    assert model.verify(X)


def test_the_defect_of_the_vectors_is_a_bound():
    """Equal entries of a vector are rounded alike: |VᵀV − I| was 2.2e-14 where 1.4e-14 was certified."""
    d = 300
    X = np.zeros((d, d))
    X[0, 1:] = X[1:, 0] = 1.0
    model = ritz.PCA(4, solver="svd").fit(X)
    V = np.asarray(model.certificate_.frame["vectors"]).astype(np.longdouble)
    assert float(np.max(np.abs(V.T @ V - np.eye(4)))) <= model.certificate_.orthogonality <= 1e-13
    assert model.verify(X)


@pytest.mark.parametrize("solver", ["svd", "moments", "lanczos", "chebyshev", "power"])
def test_rounding_that_a_plane_hides_is_no_noise(solver):
    """Four of eight columns are zero: nothing is left, and the density is that of the four others."""
    rng = np.random.default_rng(288)
    X = rng.standard_normal((40, 8)) * np.logspace(0, -2, 8) + rng.standard_normal(8)
    X = np.where(X > 0.5, X, 0)
    assert np.count_nonzero(X.any(axis=0)) == 4
    model = ritz.PCA(0.999999, solver=solver).fit(sp.csr_matrix(X))
    assert model.n_components_ == 4
    assert model.noise_variance_ == 0
    own = X[:, X.any(axis=0)]
    C, away = np.cov(own.T), own - own.mean(axis=0)
    far = np.mean(np.sum(away * np.linalg.solve(C, away.T).T, axis=1))
    assert model.score(X) == pytest.approx(-(8 * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + far) / 2, rel=1e-9)
