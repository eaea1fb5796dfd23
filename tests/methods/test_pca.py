"""What the names of a fitted PCA mean: divisors, order, signs, shares, coordinates, and back again."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.datasets import load_iris

import ritz
from ritz import PCA
from ritz.testing import largest_sine

SOLVERS = ("auto", "svd", "moments", "krylov", "lanczos", "chebyshev", "power")


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 6)) * [6, 5, 4, 3, 2, 1] @ np.linalg.qr(rng.normal(size=(6, 6)))[0] + 10


def eigen(C):
    values, vectors = np.linalg.eigh(C)
    return values[::-1], vectors[:, ::-1]


# ------------------------------------------------------------------------------------- what is fitted


@pytest.mark.parametrize("solver", SOLVERS)
def test_variances_are_those_of_the_covariance_with_n_minus_1(X, solver):
    values, vectors = eigen(np.cov(X.T))
    model = PCA(3, solver=solver, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.explained_variance_, values[:3], rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, values[:3] / values.sum(), rtol=1e-9)
    np.testing.assert_allclose(model.singular_values_, np.sqrt(values[:3] * 59), rtol=1e-9)
    np.testing.assert_allclose(model.noise_variance_, values[3:].mean(), rtol=1e-9)
    np.testing.assert_allclose(model.total_variance_, np.trace(np.cov(X.T)), rtol=1e-12)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12)
    assert largest_sine(vectors[:, :3], model.components_.T) < 1e-8
    assert (model.n_components_, model.n_samples_, model.n_features_in_) == (3, 60, 6)
    assert model.scale_ is None
    assert model.n_components == 3


def test_every_attribute_means_what_it_means_in_scikit_learn(X):
    ours, theirs = PCA(4).fit(X), sklearn.decomposition.PCA(4, svd_solver="full").fit(X)
    for name in (
        "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "noise_variance_",
        "n_components_", "n_samples_", "n_features_in_",
    ):  # fmt: skip
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, err_msg=name)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-10)


def test_scale_divides_by_the_standard_deviation_with_n_minus_1(X):
    X = X * [1, 10, 1e-3, 1e4, 1, 7]
    model = PCA(scale=True).fit(X)
    values, _ = eigen(np.corrcoef(X.T))
    np.testing.assert_allclose(model.scale_, X.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, values, rtol=1e-10)
    np.testing.assert_allclose(model.total_variance_, 6, rtol=1e-12)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(model.transform(X), Z @ model.components_.T, atol=1e-10)


def test_without_centring_the_second_moment_is_decomposed(X):
    model = PCA(3, center=False).fit(X)
    values, vectors = eigen(X.T @ X / 59)
    np.testing.assert_allclose(model.explained_variance_, values[:3], rtol=1e-10)
    assert largest_sine(vectors[:, :3], model.components_.T) < 1e-8
    assert model.mean_ is None
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T, atol=1e-9)


def test_scaling_without_centring_still_divides_by_the_standard_deviation(X):
    model = PCA(center=False, scale=True).fit(X)
    np.testing.assert_allclose(model.scale_, X.std(axis=0, ddof=1), rtol=1e-12)
    Z = X / model.scale_
    np.testing.assert_allclose(model.explained_variance_, eigen(Z.T @ Z / 59)[0], rtol=1e-10)


def test_a_constant_column_keeps_scale_1_and_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0], "flat": [5.0, 5.0, 5.0], "b": [2.0, 0.0, 1.0]})
    with pytest.warns(ritz.ConstantColumnWarning, match="constant column flat: .* kept with scale 1"):
        model = PCA(scale=True).fit(frame)
    assert model.scale_[1] == 1
    np.testing.assert_allclose(model.total_variance_, 2, rtol=1e-12)
    with pytest.warns(ritz.ConstantColumnWarning, match="constant columns 0, 2"):
        PCA(scale=True).fit(np.array([[1, 2, 3], [1, 4, 3], [1, 5, 3.0]]))


def test_components_decrease_are_orthonormal_and_have_one_sign_rule(X):
    model = PCA().fit(X)
    assert np.all(np.diff(model.explained_variance_) <= 0)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(6), atol=1e-13)
    size = np.abs(model.components_)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=1, keepdims=True), axis=1)
    assert np.all(model.components_[np.arange(6), first] > 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_signs_are_equal_for_every_solver(X, solver):
    reference = PCA(4, solver="svd").fit(X)
    model = PCA(4, solver=solver, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.components_, reference.components_, atol=1e-8)


# ------------------------------------------------------------------------------------ how many are kept


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (None, 4), (2, 2), (np.int64(2), 2), (0, 0), (0.9, 1), (0.95, 2), (0.99, 3), (0.999, 4),
        (np.float32(0.95), 2),
    ],
)  # fmt: skip
def test_number_of_components(asked, kept):
    model = PCA(asked).fit(load_iris().data)  # shares 0.925, 0.053, 0.017, 0.005
    assert model.n_components_ == kept
    assert model.components_.shape == (kept, 4)
    assert model.explained_variance_.shape == model.singular_values_.shape == (kept,)
    assert model.transform(load_iris().data).shape == (150, kept)


@pytest.mark.parametrize("rule", ["mle", "aic", "bic", "kaiser", "broken-stick", "gavish-donoho", "elbow"])
def test_rules_keep_a_number_that_does_not_depend_on_the_route(X, rule):
    model = PCA(rule).fit(X)
    assert model.n_components_ in range(7)
    assert PCA(rule, solver="svd").fit(X).n_components_ == model.n_components_
    assert PCA(rule).partial_fit(X[:20]).partial_fit(X[20:]).n_components_ == model.n_components_
    whole = PCA().fit(X)
    k = model.n_components_
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_[:k], rtol=1e-12)


@pytest.mark.parametrize("rule", [0.8, "aic", "bic", "kaiser", "broken-stick"])
@pytest.mark.parametrize("solver", ["krylov", "lanczos", "chebyshev", "power"])
def test_rules_on_leading_eigenvalues_work_with_every_solver(rule, solver):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 40)) * np.geomspace(20, 1, 40)
    assert PCA(rule, solver=solver).fit(X).n_components_ == PCA(rule, solver="svd").fit(X).n_components_


def test_no_components_leave_the_mean_and_the_total(X):
    model = PCA(0).fit(X)
    assert model.components_.shape == (0, 6)
    np.testing.assert_allclose(model.noise_variance_, np.trace(np.cov(X.T)) / 6, rtol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), np.tile(X.mean(axis=0), (60, 1)))


# ------------------------------------------------------------------------------- coordinates and back


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_all_components_lead_back_to_the_rows(X, center, scale, whiten):
    model = PCA(center=center, scale=scale, whiten=whiten).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-10)


def test_some_components_lead_to_the_nearest_rows(X):
    model = PCA(3).fit(X)
    V = model.components_.T
    mean = X.mean(axis=0)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), (X - mean) @ V @ V.T + mean, rtol=1e-10)


def test_fit_transform_is_fit_then_transform(X):
    np.testing.assert_array_equal(PCA(2).fit_transform(X), PCA(2).fit(X).transform(X))


def test_coordinates_are_centred_and_uncorrelated(X):
    T = PCA().fit_transform(X)
    np.testing.assert_allclose(T.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.cov(T.T), np.diag(PCA().fit(X).explained_variance_), atol=1e-11)


def test_whitened_coordinates_have_the_identity_as_covariance(X):
    T = PCA(whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.cov(T.T), np.eye(6), atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(6, 20), (50, 8)])
def test_whitening_does_not_blow_up_the_noise_of_a_null_space(solver, shape):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) + 5
    T = PCA(whiten=True, solver=solver).fit_transform(X)
    assert np.abs(T).max() < 50
    np.testing.assert_allclose(np.var(T[:, :3], axis=0, ddof=1), 1, rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_variances_are_never_negative(solver):
    rng = np.random.default_rng(3)
    model = PCA(solver=solver).fit(rng.normal(size=(50, 3)) @ rng.normal(size=(3, 8)))
    assert np.all(model.explained_variance_ >= 0)
    assert np.all(model.explained_variance_ratio_ >= 0)
    assert model.noise_variance_ == 0


def test_a_single_row_has_no_variance_but_can_be_decomposed_about_zero():
    with pytest.raises(ritz.InputError, match=r"n_samples=1\nhint: .*center=False"):
        PCA().fit([[3.0, 4.0]])
    model = PCA(center=False).fit([[3.0, 4.0]])
    np.testing.assert_allclose(model.components_, [[0.6, 0.8]])
    np.testing.assert_allclose(model.singular_values_, [5.0])
    np.testing.assert_allclose(model.explained_variance_, [25.0])


def test_fewer_rows_than_columns_keep_as_many_as_scikit_learn_does():
    X = np.random.default_rng(4).normal(size=(5, 12))
    ours, theirs = PCA().fit(X), sklearn.decomposition.PCA().fit(X)
    assert ours.components_.shape == theirs.components_.shape == (5, 12)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, atol=1e-14)
    np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(5), atol=1e-13)


def test_fit_changes_neither_parameters_nor_input(X):
    before, copy = PCA(3, whiten=True).get_params(), X.copy()
    X.flags.writeable = False
    model = PCA(3, whiten=True).fit(X)
    assert model.get_params() == before
    np.testing.assert_array_equal(X, copy)


def test_fitting_again_forgets_the_first_fit(X):
    model = PCA(2).fit(X[:, :4])
    again = model.set_params(n_components=3).fit(X)
    fresh = PCA(3).fit(X)
    np.testing.assert_array_equal(again.components_, fresh.components_)
    assert again.n_features_in_ == 6
    assert again.n_samples_ == 60


# ----------------------------------------------------------------------------- certificate and plan


def test_the_certificate_speaks_of_the_same_numbers(X):
    model = PCA(3).fit(X)
    certificate = model.certificate_
    np.testing.assert_allclose(certificate.values, model.explained_variance_ * 59, rtol=1e-13)
    assert np.all(certificate.lower <= certificate.values)
    assert np.all(certificate.values <= certificate.upper)
    assert np.all(certificate.labelled)
    np.testing.assert_allclose(certificate.total / 59, model.total_variance_, rtol=1e-13)
    assert certificate.verify(X).ok
    assert "eigenvalue" in str(certificate)


def test_the_plan_of_a_fit_is_the_plan_foretold(X):
    for estimator in (PCA(2), PCA(0.9), PCA("bic"), PCA(2, solver="lanczos"), ritz.SVD(2)):
        foretold = ritz.plan(X, estimator)
        assert not hasattr(estimator, "components_")
        taken = estimator.fit(X).plan_
        assert (foretold.solver, foretold.reasons) == (taken.solver, taken.reasons)
        assert taken.actual_passes >= 1
        assert "because" in str(taken)


def test_one_seed_gives_one_answer_and_seeds_do_not_matter_beyond_tol(X):
    a, b = (PCA(2, solver="krylov", random_state=0).fit(X) for _ in range(2))
    np.testing.assert_array_equal(a.components_, b.components_)
    for state in (1, None, np.random.default_rng(5), np.random.RandomState(6)):
        c = PCA(2, solver="krylov", random_state=state, tol=1e-12).fit(X)
        np.testing.assert_allclose(c.components_, a.components_, atol=1e-6)
