"""``PCA(missing=…)`` as a user meets it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from ritz import PCA
from ritz._core.errors import InputError, MergeError, NonFiniteError, ParameterError

METHODS = ("mean", "em", "regularized")


def table(n: int = 120, d: int = 10, share: float = 0.2, noise: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    T = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + noise * rng.standard_normal((n, d)) + 5.0
    gone = rng.random((n, d)) < share
    gone[:, 0] = False
    return T, np.where(gone, np.nan, T)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_the_pca_of_the_completed_rows_and_is_certified(method: str, scale: bool) -> None:
    _, X = table()
    model = PCA(3, missing=method, scale=scale).fit(X)
    whole = model.impute(X)
    plain = PCA(3, scale=scale).fit(whole)
    top = plain.explained_variance_[0]
    assert np.allclose(model.explained_variance_, plain.explained_variance_, rtol=0, atol=1e-10 * top)
    assert np.allclose(model.components_, plain.components_, atol=1e-8)
    assert np.allclose(model.transform(X), plain.transform(whole), atol=1e-8)
    assert model.certificate_.verify(whole)
    assert "the certificate is about the completed rows" in str(model.certificate_)
    assert np.array_equal(model.fit_transform(X), model.transform(X))
    assert model.n_missing_ == int(np.isnan(X).sum())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, None, 0.8, "kaiser"])
def test_complete_rows_give_the_ordinary_answer(method: str, k: Any) -> None:
    T, X = table()
    model, plain = PCA(k, missing=method).fit(T), PCA(k).fit(T)
    top = plain.explained_variance_[0]
    assert model.n_components_ == plain.n_components_
    assert np.allclose(model.explained_variance_, plain.explained_variance_, rtol=0, atol=1e-10 * top)
    assert np.allclose(model.transform(T), plain.transform(T), atol=1e-10)
    assert np.all(np.isfinite(model.transform(X)))  # and it can place rows with gaps
    assert model.merge(PCA(k, missing=method).fit(T)).n_samples_ == 2 * len(T)


def test_a_complete_fit_with_all_components_fills_by_regression() -> None:
    """With every component the conditional expectation is the linear regression on the observed columns."""
    T, _ = table(400)
    row = T[:1].copy()
    row[0, 4] = np.nan
    rest = np.delete(np.arange(10), 4)
    C, mean = np.cov(T.T), T.mean(axis=0)
    truth = mean[4] + C[4, rest] @ np.linalg.solve(C[np.ix_(rest, rest)], (T[0] - mean)[rest])
    # nine of ten axes carry all but the least variance, which is noise to the filler
    assert PCA(missing="regularized").fit(T).impute(row)[0, 4] == pytest.approx(truth, abs=0.15)


@pytest.mark.parametrize("method", ["em", "regularized"])
def test_errors_of_new_rows_are_about_right(method: str) -> None:
    T, X = table(600)
    model = PCA(3, missing=method).fit(X[:300])
    scores, told = model.transform(X[300:]), model.uncertainty(X[300:])
    gaps = told.observed < 10
    away = (scores - model.transform(T[300:]))[gaps] / told.errors[gaps]
    assert 0.9 < np.std(away) < 1.15
    assert np.all(told.errors[~gaps] == 0)
    filled, errors = model.impute(X[300:]), model.impute_errors(X[300:])
    gone = np.isnan(X[300:])
    assert 0.9 < np.std((filled - T[300:])[gone] / errors[gone]) < 1.15


def test_whitened_scores_and_their_errors_share_a_unit() -> None:
    _, X = table()
    plain, white = (PCA(3, missing="regularized", whiten=on).fit(X) for on in (False, True))
    spread = np.sqrt(plain.explained_variance_)
    assert np.allclose(white.transform(X) * spread, plain.transform(X), atol=1e-8)
    assert np.allclose(white.uncertainty(X).errors * spread, plain.uncertainty(X).errors, atol=1e-8)


def test_cross_validated_numbers_of_components() -> None:
    _, X = table(noise=0.3)
    for rule in ("gcv", "kfold"):
        model = PCA(rule, missing="regularized").fit(X)
        assert model.n_components_ == 3
        assert f"{rule} chose 3 components" in str(model.certificate_)
    whole = PCA(missing="regularized").fit(X)
    assert whole.n_components_ == 10
    assert "gcv chose 3 components" in str(whole.certificate_)


@pytest.mark.parametrize("method", METHODS)
def test_refusals(method: str) -> None:
    _, X = table()
    model = PCA(3, missing=method).fit(X)
    empty = X.copy()
    empty[11] = np.nan
    for call in (PCA(3, missing=method).fit, model.transform, model.impute, model.uncertainty):
        with pytest.raises(InputError, match="nothing observed in row 11"):
            call(empty)
    bare = X.copy()
    bare[:, 2] = np.nan
    with pytest.raises(InputError, match="nothing observed in column 2"):
        PCA(3, missing=method).fit(bare)
    assert np.all(np.isfinite(model.transform(bare)))  # new rows are placed by what they have
    infinite = X.copy()
    infinite[7] = 1.0  # a complete row
    infinite[7, 0] = np.inf
    for call in (PCA(3, missing=method).fit, model.transform, model.impute):
        with pytest.raises(NonFiniteError, match="infinity"):
            call(infinite)
    with pytest.raises(MergeError, match="complete rows"):
        model.merge(model)
    with pytest.raises(ParameterError, match="partial_fit adds complete rows"):
        PCA(3, missing=method).partial_fit(X)


def test_only_known_ways_are_taken() -> None:
    with pytest.raises(ParameterError, match="missing must be one of 'error', 'mean', 'em', 'regularized'"):
        PCA(missing="median").fit(np.eye(4))
    with pytest.raises(ParameterError, match="fitted with missing="):
        PCA().fit(np.eye(4)).impute(np.eye(4))
    with pytest.raises(NonFiniteError):
        PCA().fit(table()[1])


def test_a_model_keeps_no_rows() -> None:
    small, large = (len(pickle.dumps(PCA(3, missing="regularized").fit(table(n)[1]))) for n in (100, 2000))
    assert large < small + 200


@pytest.mark.parametrize("method", METHODS)
def test_float32_rows_and_weights(method: str) -> None:
    _, X = table()
    w = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = PCA(2, missing=method).fit(X, sample_weight=w)
    copies = PCA(2, missing=method).fit(np.repeat(X, w, axis=0))
    assert np.allclose(weighted.explained_variance_, copies.explained_variance_, rtol=1e-5)
    narrow = PCA(2, missing=method).fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == narrow.impute(X.astype(np.float32)).dtype == np.float32
    assert np.allclose(narrow.explained_variance_, PCA(2, missing=method).fit(X).explained_variance_, rtol=1e-5)
