"""Kernel PCA: a score for GridSearchCV, rows in batches, gaps, and the pre-image that is best on the bench."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

import ritz


@pytest.fixture
def ring(seed) -> np.ndarray:
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 90)
    return np.c_[np.cos(angle), np.sin(angle), 0.2 * np.cos(2 * angle)] + 0.05 * rng.standard_normal((90, 3))


def test_grid_search_chooses_a_kernel(ring, seed):
    angle = np.random.default_rng(seed).uniform(0, 1.6 * np.pi, 120)
    arc = np.c_[np.cos(angle), np.sin(angle)]
    search = GridSearchCV(ritz.KernelPCA(1, kernel="rbf"), {"gamma": [0.5, 5.0, 500.0]}, cv=3, error_score="raise")
    assert search.fit(arc).best_params_ == {"gamma": 0.5}
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores.max() <= 1
    mixed = GridSearchCV(ritz.KernelPCA(2), {"kernel": ["linear", "rbf", "poly"]}, cv=3, error_score="raise").fit(ring)
    assert mixed.best_score_ > 0.5


def test_the_score_of_a_linear_kernel_is_the_share_that_pca_gives_back(ring):
    train, new = ring[:60], ring[60:]
    pca = ritz.PCA(2).fit(train)
    rest = np.sum((new - pca.inverse_transform(pca.transform(new))) ** 2)
    truth = 1 - rest / np.sum((new - train.mean(axis=0)) ** 2)
    assert ritz.KernelPCA(2).fit(train).score(new) == pytest.approx(truth)
    words = ["anna", "hannah", "joanna", "peter", "petra", "pete", "marianne", "anne"]
    model = ritz.KernelPCA(3, kernel=ritz.kernels.Spectrum(2)).fit(words)
    assert model.score(words) == pytest.approx(model.explained_variance_ratio_.sum())
    K = ring @ ring.T
    assert 0 < ritz.KernelPCA(2, kernel="precomputed").fit(K).score(K) < 1


@pytest.mark.parametrize("form", ["dense", "sparse", "float32", "median", "strings"])
def test_rows_in_batches_are_one_fit(ring, form):
    rows = {"sparse": sp.csr_array(np.maximum(ring, 0)), "float32": ring.astype(np.float32),
            "strings": ["ab", "abc", "bca", "cab", "bb", "abab", "cc", "ca", "acb"] * 3}.get(form, ring)  # fmt: skip
    options = {"kernel": "rbf", "gamma": "median" if form == "median" else 0.7}
    if form == "strings":
        options = {"kernel": ritz.kernels.Spectrum(2)}
    n = len(rows) if form == "strings" else rows.shape[0]
    parts = ritz.KernelPCA(3, **options)
    for start in range(0, n, n // 3):
        parts.partial_fit(rows[start : start + n // 3])
    whole = ritz.KernelPCA(3, **options).fit(rows)
    assert parts.n_samples_ == n
    assert np.allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-12 if form != "float32" else 1e-6)
    assert np.allclose(parts.transform(rows), whole.transform(rows), atol=1e-6)
    assert parts.verify(rows)


def test_batches_that_cannot_be_added(ring):
    frame = pd.DataFrame(ring, columns=list("abc"))
    named = ritz.KernelPCA(2, kernel="rbf").partial_fit(frame[:40]).partial_fit(frame[40:])
    assert list(named.feature_names_in_) == list("abc")
    with pytest.raises(ritz.ParameterError, match="landmarks"):
        ritz.KernelPCA(2, kernel="rbf", solver="nystrom", landmarks=10).fit(ring).partial_fit(ring)
    with pytest.raises(ritz.ParameterError, match="precomputed"):
        ritz.KernelPCA(2, kernel="precomputed").fit(ring @ ring.T).partial_fit(ring @ ring.T)
    with pytest.raises(ValueError, match="features"):
        ritz.KernelPCA(2, kernel="rbf").fit(ring).partial_fit(ring[:, :2])


@pytest.fixture
def gapped(seed) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((80, 6))
    X = rows.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    return rows, X


@pytest.mark.parametrize("way", ["mean", "em", "regularized"])
def test_gaps_are_filled_by_a_pca_of_the_rows(gapped, way, tmp_path):
    X = gapped[1]
    model = ritz.KernelPCA(2, kernel="rbf", gamma=0.05, missing=way).fit(X)
    filled = ritz.PCA("gcv", missing=way).fit(X).impute(X)
    truth = ritz.KernelPCA(2, kernel="rbf", gamma=0.05).fit(filled)
    assert np.allclose(model.eigenvalues_, truth.eigenvalues_)
    assert np.allclose(model.transform(X), truth.transform(filled))
    assert np.allclose(model.novelty(X), truth.novelty(filled))
    assert model.verify(X)
    ritz.save(model, tmp_path / "k.ritz")
    assert np.allclose(ritz.load(tmp_path / "k.ritz").transform(X), model.transform(X))
    parts = ritz.KernelPCA(2, kernel="rbf", gamma=0.05, missing=way).partial_fit(X[:50]).partial_fit(X[50:])
    assert np.allclose(parts.eigenvalues_, model.eigenvalues_)


def test_filling_by_components_is_nearer_to_the_complete_rows(gapped):
    rows, X = gapped
    complete = ritz.KernelPCA(2, kernel="rbf", gamma=0.05).fit(rows)
    far = {}
    for way in ("mean", "regularized"):
        model = ritz.KernelPCA(2, kernel="rbf", gamma=0.05, missing=way).fit(X)
        far[way] = np.abs(model.eigenvalues_ - complete.eigenvalues_).sum()
    assert far["regularized"] < far["mean"]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = ritz.KernelPCA(2, kernel="rbf", gamma=0.05, missing="regularized").fit(frame)
    assert list(named.feature_names_in_) == list("abcdef")
    assert np.isfinite(named.transform(frame)).all()
    with pytest.raises(ritz.NonFiniteError):
        ritz.KernelPCA(2, kernel="rbf").fit(X)
    with pytest.raises(ritz.NonFiniteError):
        ritz.KernelPCA(2, kernel="rbf", missing="mean").fit(rows).transform(X)
    with pytest.raises(ritz.ParameterError, match="missing must be one of"):
        ritz.KernelPCA(2, missing="drop").fit(rows)


def test_the_default_preimage_takes_most_noise_off(ring, seed):
    clean = ring / np.linalg.norm(ring[:, :2], axis=1, keepdims=True)
    noisy = clean + 0.2 * np.random.default_rng(seed).standard_normal(clean.shape)
    model = ritz.KernelPCA(5, kernel="rbf", gamma=0.5).fit(clean)
    T = model.transform(noisy)
    ways = ("ridge", "fixed-point", "mds")
    error = {way: np.sum((model.preimages(T, way).rows - clean) ** 2) for way in ways}
    assert model.preimages(T).method == "fixed-point"
    assert np.array_equal(model.preimages(T).rows, model.preimages(T, "fixed-point").rows)
    assert error["fixed-point"] <= 1.05 * min(error.values())
    assert ritz.KernelPCA(5, kernel="rbf", gamma=0.5, alpha=0.1).fit(clean).preimages(T).method == "ridge"
    assert ritz.KernelPCA(5, kernel="poly").fit(clean).preimages(T).method == "ridge"
    assert ritz.KernelPCA(2).fit(clean).preimages(T[:, :2]).method == "linear"
