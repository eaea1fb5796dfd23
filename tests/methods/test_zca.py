"""ZCA whitening: unit covariance, a symmetric map, the nearest of all whitenings, and what rounding leaves unsure."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import ritz


@parametrize_with_checks([ritz.ZCA()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def rows(seed) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4)) + [1, 2, 3, 1e4]


@pytest.mark.parametrize("scale", [False, True])
def test_covariance_is_one_and_the_map_is_the_inverse_root(rows, scale):
    zca = ritz.ZCA(scale=scale).fit(rows)
    Y = zca.transform(rows)
    assert np.abs(np.cov(Y.T) - np.eye(4)).max() < 1e-9
    assert np.allclose(Y.mean(axis=0), 0, atol=1e-9)
    assert np.array_equal(zca.whitening_, zca.whitening_.T) or np.allclose(zca.whitening_, zca.whitening_.T, atol=1e-14)
    S = np.corrcoef(rows.T) if scale else np.cov(rows.T)
    with mpmath.workdps(40):
        values, V = mpmath.eigsy(mpmath.matrix(S.tolist()))
        root = V * mpmath.diag([1 / mpmath.sqrt(v) for v in values]) * V.T
        truth = np.array(root.tolist(), float)
    assert np.allclose(zca.whitening_, truth, rtol=1e-8)
    assert np.allclose(zca.inverse_transform(Y), rows)
    assert zca.verify(rows)


def test_no_other_whitening_is_nearer(rows, seed):
    rng = np.random.default_rng(seed)
    C = rows - rows.mean(axis=0)
    Y = ritz.ZCA().fit_transform(rows)
    for _ in range(50):
        Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
        assert np.linalg.norm(Y @ Q - C) >= np.linalg.norm(Y - C) - 1e-9
    pca = ritz.PCA(whiten=True).fit_transform(rows)
    assert np.linalg.norm(pca - C) > np.linalg.norm(Y - C)


def test_fewer_directions_faint_ones_and_ridges(rows):
    two = ritz.ZCA(2).fit(rows)
    assert two.rank_ == 2
    assert np.linalg.matrix_rank(two.transform(rows)) == 2
    flat = np.c_[rows, rows[:, 0] + rows[:, 1]]
    zca = ritz.ZCA().fit(flat)
    assert zca.rank_ == 4  # the fifth direction is rounding
    values = np.sort(np.linalg.eigvalsh(np.cov(zca.transform(flat).T)))
    assert np.allclose(values, [0, 1, 1, 1, 1], atol=1e-6)
    with pytest.warns(ritz.AccuracyWarning, match="no variance at all"):
        ritz.ZCA(5).fit(flat)
    damped = ritz.ZCA(ridge=0.5).fit(rows)
    assert np.linalg.eigvalsh(np.cov(damped.transform(rows).T)).max() < 1
    assert np.allclose(damped.inverse_transform(damped.transform(rows)), rows)
    with pytest.raises(ritz.ParameterError, match="ridge"):
        ritz.ZCA(ridge=-1).fit(rows)


def test_bounds_of_the_factors_hold(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3)) * [1, 1e-3, 1e-6]
    zca = ritz.ZCA().fit(X)
    with mpmath.workdps(40):
        C = mpmath.matrix((X).tolist())
        mean = [mpmath.fsum(C[:, j]) / 200 for j in range(3)]
        S = mpmath.matrix(3, 3)
        for i in range(3):
            for j in range(3):
                S[i, j] = mpmath.fsum((C[r, i] - mean[i]) * (C[r, j] - mean[j]) for r in range(200)) / 199
        truth = np.sort([float(1 / mpmath.sqrt(v)) for v in mpmath.eigsy(S, eigvals_only=True)])
    found = 1 / np.sqrt(zca.pca_.explained_variance_)
    assert np.all(np.abs(found / truth - 1) <= zca.factor_errors_ + 1e-13)


def test_frames_sparse_rows_streams_and_pipelines(rows):
    frame = pd.DataFrame(rows, columns=list("abcd"))
    zca = ritz.ZCA().fit(frame)
    assert list(zca.get_feature_names_out()) == list("abcd")
    assert list(ritz.ZCA().set_output(transform="pandas").fit_transform(frame).columns) == list("abcd")
    sparse = np.where(np.abs(rows - rows.mean(axis=0)) > 1, rows, 0)
    assert np.allclose(ritz.ZCA().fit_transform(sp.csr_array(sparse)), ritz.ZCA().fit_transform(sparse))
    parts = clone(zca)
    for part in np.array_split(rows, 5):
        parts.partial_fit(part)
    assert np.allclose(parts.transform(rows), zca.transform(frame), atol=1e-8)
    assert make_pipeline(ritz.ZCA(), ritz.PCA(2)).fit(rows)[-1].explained_variance_.max() == pytest.approx(1)


@pytest.mark.parametrize("name", ["whitening_", "coloring_", "mean_", "factor_errors_"])
def test_verify_finds_changed_numbers(rows, name):
    zca = ritz.ZCA().fit(rows)
    assert zca.verify(rows)
    assert not zca.verify(rows * 1.01)
    told = zca.certificate_
    zca.certificate_ = dataclasses.replace(told, upper=told.upper * 1.01)
    assert not zca.verify(rows)
    zca.certificate_ = told
    values = getattr(zca, name).copy()
    values.flat[0] = values.flat[0] * 1.01 + 1e-3
    setattr(zca, name, values)
    assert not zca.verify(rows)
