"""Alignment of a new model to an old one: the subspace stays, the certificate stays true."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import insight


def halves(rng, d=6):
    X = rng.standard_normal((200, d)) @ np.diag(np.geomspace(4, 0.4, d)) + 1.0
    return X[:100], X[100:]


@pytest.mark.parametrize("method", ["signs", "order", "rotation"])
def test_the_subspace_does_not_change(method, seed):
    A, B = halves(np.random.default_rng(seed))
    old, new = ritz.PCA(3).fit(A), ritz.PCA(3).fit(B)
    found = insight.align(new, old, method=method)
    assert np.allclose(found.matrix @ found.matrix.T, np.eye(3))
    P, Q = found.components, new.components_
    assert np.allclose(P.T @ P, Q.T @ Q)
    assert np.allclose(found.variances.sum(), new.explained_variance_.sum())
    F = found.transform(B)
    assert np.allclose(F, new.transform(B) @ found.matrix)
    assert np.allclose(np.cov(F.T), found.covariance)
    assert np.all(found.cosines >= -1e-12) or method == "rotation"


def test_signs_make_a_model_that_verifies(seed):
    A, B = halves(np.random.default_rng(seed))
    old = ritz.PCA(3).fit(A)
    old.components_ = -old.components_  # an old release with other signs
    new = ritz.PCA(3).fit(B)
    found = insight.align(new, old)
    model = found.model
    assert np.all(np.sum(model.components_ * old.components_, axis=1) > 0)
    assert bool(model.verify(B))
    assert np.allclose(model.transform(B), found.transform(B))
    assert np.allclose(model.inverse_transform(model.transform(B)), new.inverse_transform(new.transform(B)))
    assert bool(new.verify(B))  # the model that was given is as it was
    assert np.allclose(new.components_, ritz.PCA(3).fit(B).components_)
    assert "3 of 3 signs changed" in repr(found)


def test_order_follows_the_old_numbers():
    X = np.random.default_rng(0).standard_normal((300, 4)) * [3.0, 2.9, 1.0, 0.5]
    old, new = ritz.PCA(2).fit(X), ritz.PCA(2).fit(X * [1.0, 1.4, 1.0, 1.0])
    found = insight.align(new, old, method="order")
    assert np.argmax(np.abs(new.components_[0])) != np.argmax(np.abs(old.components_[0]))
    assert np.all(found.cosines > 0.95)
    assert np.allclose(found.variances, new.explained_variance_[::-1])
    assert "2 of 2 components in another place" in repr(found)
    with pytest.raises(ValueError, match="only signs can be changed"):
        _ = found.model


def test_rotation_comes_closest(seed):
    A, B = halves(np.random.default_rng(seed))
    old, new = ritz.PCA(3).fit(A), ritz.PCA(3).fit(B)
    best = insight.align(new, old, method="rotation")
    rng = np.random.default_rng(seed)
    gap = np.linalg.norm(best.components - old.components_)
    for _ in range(50):
        T = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert gap <= np.linalg.norm(T.T @ new.components_ - old.components_) + 1e-12


def test_more_or_fewer_components_than_before(seed):
    A, B = halves(np.random.default_rng(seed))
    for k, before in ((4, 2), (2, 4)):
        for method in ("signs", "order", "rotation"):
            found = insight.align(ritz.PCA(k).fit(B), ritz.PCA(before).fit(A), method=method)
            assert found.matrix.shape == (k, k)
            assert np.allclose(found.matrix @ found.matrix.T, np.eye(k))
            assert len(found.cosines) == min(k, before)


def test_kernel_models_are_aligned_by_scores(seed):
    A, _ = halves(np.random.default_rng(seed))
    old, new = ritz.PCA(2).fit(A), ritz.KernelPCA(2, kernel="linear").fit(A)
    found = insight.align(new, old, A)
    assert np.allclose(found.transform(A), old.transform(A), atol=1e-6)
    assert found.components is None
    with pytest.raises(ValueError, match="align"):
        insight.align(new, old)
    with pytest.raises(ValueError, match="method must be one of"):
        insight.align(old, old, method="sign")
