"""What the names of a fitted SVD mean: TruncatedSVD's, with fractions of ‖X‖²_F."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition

from ritz import SVD
from ritz.testing import largest_sine

SOLVERS = ("auto", "svd", "moments", "krylov", "lanczos", "chebyshev", "power")


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.where(rng.uniform(size=(80, 30)) < 0.3, rng.uniform(size=(80, 30)), 0) * np.geomspace(9, 1, 30)


@pytest.mark.parametrize("solver", SOLVERS)
def test_singular_triples(X, solver):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    model = SVD(4, solver=solver, tol=1e-7).fit(X)
    np.testing.assert_allclose(model.singular_values_, s[:4], rtol=1e-9)
    assert largest_sine(Vt[:4].T, model.components_.T) < 1e-5
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(U[:, :4] * s[:4]), atol=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_every_attribute_means_what_it_means_in_truncated_svd(X, form):
    ours = SVD(5).fit(form(X))
    theirs = sklearn.decomposition.TruncatedSVD(5, algorithm="arpack", tol=1e-12).fit(form(X))
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "n_features_in_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, err_msg=name)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-7)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-6)
    T = ours.transform(X)
    np.testing.assert_allclose(ours.explained_variance_, T.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, T.var(axis=0) / X.var(axis=0).sum(), rtol=1e-9)


def test_nothing_is_centred(X):
    model = SVD(2).fit(X + 100)
    assert abs(model.components_[0] @ np.ones(30)) / np.sqrt(30) > 0.99
    np.testing.assert_array_equal(model.transform(np.zeros((1, 30))), 0)
    assert not hasattr(model, "mean_")


def test_a_fraction_is_one_of_the_squared_frobenius_norm(X):
    s = np.linalg.svd(X, compute_uv=False)
    shares = np.cumsum(s**2) / np.sum(s**2)
    for fraction in (0.3, 0.7, 0.95):
        model = SVD(fraction).fit(X)
        assert model.n_components_ == np.argmax(shares > fraction) + 1
        assert SVD(fraction, solver="lanczos").fit(X).n_components_ == model.n_components_
    assert model.total_ == pytest.approx(np.sum(X**2), rel=1e-12)


def test_all_components_lead_back_to_the_rows(X):
    model = SVD().fit(X)
    assert model.n_components_ == 30
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    wide = SVD().fit(X.T)
    assert wide.components_.shape == (30, 80)
    np.testing.assert_allclose(wide.inverse_transform(wide.transform(X.T)), X.T, atol=1e-10)


def test_the_best_approximation_of_rank_k(X):
    model = SVD(6).fit(X)
    s = np.linalg.svd(X, compute_uv=False)
    rest = X - model.inverse_transform(model.fit_transform(X))
    assert np.linalg.norm(rest) == pytest.approx(np.sqrt(np.sum(s[6:] ** 2)), rel=1e-9)
    assert np.linalg.norm(rest, 2) == pytest.approx(s[6], rel=1e-7)


def test_signs_and_order(X):
    V = SVD().fit(X).components_
    first = np.argmax(np.abs(V) >= (1 - 1e-6) * np.abs(V).max(axis=1, keepdims=True), axis=1)
    assert np.all(V[np.arange(30), first] > 0)
    np.testing.assert_allclose(SVD(5, solver="krylov", tol=1e-12).fit(X).components_, V[:5], atol=1e-6)
    assert np.all(np.diff(SVD().fit(X).singular_values_) <= 0)


@pytest.mark.parametrize("X", [np.zeros((4, 3)), np.ones((1, 3)), np.ones((5, 1)), np.eye(3)])
def test_small_and_plain_tables(X):
    model = SVD().fit(X)
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(X, compute_uv=False), atol=1e-12)
    assert np.isfinite(model.explained_variance_ratio_).all()
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(min(X.shape)), atol=1e-12)


def test_the_certificate_speaks_of_squared_singular_values(X):
    model = SVD(3).fit(sp.csr_array(X))
    np.testing.assert_allclose(model.certificate_.values, model.singular_values_**2, rtol=1e-12)
    assert model.certificate_.verify(X).ok
    assert model.certificate_.verify(sp.csr_array(X)).ok


@pytest.mark.parametrize("solver", ["lanczos", "chebyshev"])
@pytest.mark.parametrize("tol", [0.1, 1e-2])
def test_variances_of_a_loose_fit_of_few_rows_are_those_of_the_coordinates(solver, tol):
    """Vectors that are turned from the side of the rows lie nearer to the answer than their Ritz values say."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 300)) * (rng.random((100, 300)) < 0.1)
    model = SVD(2, solver=solver, tol=tol).fit(X)
    assert model.plan_.side == "rows"
    np.testing.assert_allclose(model.explained_variance_, (X @ model.components_.T).var(axis=0), rtol=1e-12)
    assert model.verify(X).ok


@pytest.mark.parametrize("mean", [10.0, 3e4, 1e7])
def test_shares_of_sparse_rows_far_from_zero_have_their_digits(mean):
    """Σx² less the square of the mean would leave eight digits of mean 10⁴, and two of 10⁷."""
    rng = np.random.default_rng(2)
    X = np.where(rng.random((400, 30)) < 0.1, rng.standard_normal((400, 30)), 0)
    X[:, 7] = mean + rng.standard_normal(400)
    model = SVD(3, solver="svd").fit(sp.csr_array(X))
    whole = float((X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)).var(axis=0).sum())
    np.testing.assert_allclose(model.explained_variance_ratio_, model.explained_variance_ / whole, rtol=3e-8)
    dense = SVD(3, solver="svd").fit(X)
    np.testing.assert_allclose(model.explained_variance_ratio_[1:], dense.explained_variance_ratio_[1:], rtol=1e-6)


@pytest.mark.parametrize("row", [(0.7, 0.3), (0.7, 0.1, 0.123), (1e8 / 3, 0.1), (0.1,) * 9])
@pytest.mark.parametrize(("n", "d"), [(40_000, 48), (65_537, 17), (131_072, 30), (300, 5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_that_are_all_alike_do_not_vary(row, n, d, weighted):
    """The mean is rounded, and squares about it are what that leaves: 84 % of a total variance of 1e-31 told nothing,
    and was another number when it was verified."""
    X = np.zeros((n, d))
    X[:, : len(row)] = row[:d]
    options = {"sample_weight": np.full(n, 0.3)} if weighted else {}
    model = SVD(2).fit(sp.csr_array(X), **options)
    assert not np.any(model.explained_variance_)
    assert not np.any(model.explained_variance_ratio_)
    assert model.verify(sp.csr_array(X), **options)
    model.explained_variance_ratio_ = model.explained_variance_ratio_ + 0.5
    assert not model.verify(sp.csr_array(X), **options)


@pytest.mark.parametrize("spread", [1e-10, 1e-6])
def test_sparse_rows_that_are_nearly_alike_vary(spread):
    rng = np.random.default_rng(3)
    X = np.zeros((3_000, 12))
    X[:, :2] = (0.7, 0.3) + spread * rng.standard_normal((3_000, 2))
    model = SVD(2).fit(sp.csr_array(X))
    true = ((X - X.mean(axis=0)) @ model.certificate_.frame["vectors"]).var(axis=0)
    np.testing.assert_allclose(model.explained_variance_, true, rtol=1e-4)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-4)
    assert model.verify(sp.csr_array(X))
    model.explained_variance_ = model.explained_variance_ * 1.01
    assert not model.verify(sp.csr_array(X))
