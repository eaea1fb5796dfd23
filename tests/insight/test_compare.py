"""Comparison of models: closed forms, invariances, what chance alone gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes

import ritz
from ritz import insight
from ritz.insight.compare.compare import matching, rv


def rows(rng, n=80, d=7):
    return rng.standard_normal((n, d)) @ np.diag(np.geomspace(5, 0.5, d)) + 3.0


def test_a_model_is_the_same_as_itself(seed):
    X = rows(np.random.default_rng(seed))
    model = ritz.PCA(3).fit(X)
    for found in (insight.compare(model, model), insight.compare(model, model, X)):
        assert np.allclose(found.angles, 0, atol=1e-5)
        assert [(m.a, m.b, m.sign) for m in found.matched] == [(0, 0, 1), (1, 1, 1), (2, 2, 1)]
        assert found.rv == pytest.approx(1)
        assert found.procrustes.distance == pytest.approx(0, abs=1e-12)
        assert "are the same" in repr(found)


def test_known_angles_between_planes():
    turn = np.radians(25.0)
    X = np.random.default_rng(0).standard_normal((300, 4))
    a, b = ritz.PCA(2).fit(X), ritz.PCA(2).fit(X)
    a.components_ = np.eye(4)[:2]
    b.components_ = np.array([[1.0, 0, 0, 0], [0, np.cos(turn), np.sin(turn), 0]])
    assert np.allclose(insight.compare(a, b).angles, [0, 25], atol=1e-6)


def test_swapped_and_flipped_components_are_matched():
    C = np.array([[0.1, -0.99, 0.0], [0.95, 0.1, 0.1], [0.0, 0.1, 0.97]])
    assert [(m.a, m.b, m.sign) for m in matching(C)] == [(0, 1, -1), (1, 0, 1), (2, 2, 1)]
    X = rows(np.random.default_rng(1))
    model = ritz.PCA(2).fit(X)
    other = ritz.PCA(2).fit(X)
    other.components_ = -model.components_[::-1]
    found = insight.compare(model, other)
    assert [(m.a, m.b, m.sign) for m in found.matched] == [(0, 1, -1), (1, 0, -1)]
    assert "PC1 is PC2, the other way round" in repr(found)


def test_procrustes_and_rv_by_the_book(seed):
    rng = np.random.default_rng(seed)
    F, G = rng.standard_normal((30, 3)), rng.standard_normal((30, 3))
    found = insight.compare(F, G)
    assert found.procrustes.distance == pytest.approx(scipy_procrustes(F, G)[2])
    F, G = F - F.mean(axis=0), G - G.mean(axis=0)
    S, T = F @ F.T, G @ G.T
    assert found.rv == pytest.approx(np.sum(S * T) / np.sqrt(np.sum(S * S) * np.sum(T * T)))
    R = found.procrustes.rotation
    assert np.allclose(R @ R.T, np.eye(3))
    worse = np.linalg.norm(F - 1.1 * found.procrustes.scale * G @ R)
    assert np.linalg.norm(F - found.procrustes.scale * G @ R) < worse


def test_rv_beyond_chance_is_zero_on_average_over_orders_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    F, G = (rng.standard_normal((12, 3)) for _ in range(2))
    F, G = F - F.mean(axis=0), G - G.mean(axis=0)
    drawn = np.array([rv(F, G[rng.permutation(12)]) for _ in range(4000)])
    assert abs(drawn[:, 1].mean()) < 4 * drawn[:, 1].std() / np.sqrt(4000)
    assert drawn[:, 0].mean() > 0.1  # RV itself is not


def test_models_without_common_columns_are_compared_by_rows(seed):
    X = rows(np.random.default_rng(seed))
    linear, kernel = ritz.PCA(3).fit(X), ritz.KernelPCA(3, kernel="linear").fit(X)
    found = insight.compare(linear, kernel, X)
    assert found.of == "scores"
    assert np.allclose(found.angles, 0, atol=1e-4)
    assert all(m.cosine == pytest.approx(1) for m in found.matched)
    left, right = ritz.PCA(2).fit(X[:, :4]), ritz.PCA(2).fit(X[:, 3:])
    pair = insight.compare(left, right, (X[:, :4], X[:, 3:]))
    assert 0 < pair.rv < 1
    assert pair.n == 80
    with pytest.raises(ValueError, match="scores of the same rows"):
        insight.compare(left, kernel)
    with pytest.raises(ValueError, match="scores of the same rows"):
        insight.compare(X[:5, :2], X[:6, :2])


def test_different_numbers_of_components_and_units_are_said(seed):
    X = rows(np.random.default_rng(seed))
    found = insight.compare(ritz.PCA(4).fit(X), ritz.PCA(2, scale=True).fit(X), X)
    assert len(found.angles) == len(found.matched) == 2
    assert found.procrustes.rotation.shape == (2, 4)
    assert "different units" in repr(found)


def test_weights_are_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = rows(rng, 30), rng.integers(1, 4, 30)
    a, b = ritz.PCA(2).fit(X[:15]), ritz.PCA(2).fit(X[15:])
    weighted, copied = insight.compare(a, b, X, sample_weight=w), insight.compare(a, b, np.repeat(X, w, axis=0))
    assert weighted.rv == pytest.approx(copied.rv)
    assert weighted.procrustes.distance == pytest.approx(copied.procrustes.distance)


def test_correspondence_models_and_names_that_differ(seed):
    import pandas as pd

    N = np.random.default_rng(seed).integers(5, 60, (8, 5))
    found = insight.compare(ritz.CA(2).fit(N), ritz.CA(3).fit(N))
    assert np.allclose(found.angles, 0, atol=1e-5)
    X = rows(np.random.default_rng(seed), 40, 3)
    a = ritz.PCA(2).fit(pd.DataFrame(X, columns=list("abc")))
    b = ritz.PCA(2).fit(pd.DataFrame(X, columns=list("abd")))
    with pytest.raises(ValueError, match="of different columns"):
        insight.compare(a, b)


@pytest.mark.parametrize(
    ("degrees", "said"), [(10, "PC1 is PC1"), (45, "PC1 is nearest to PC1"), (75, "has no counterpart")]
)
def test_components_are_called_the_same_only_where_they_are(degrees, said):
    """Tucker's congruence: from 0.85 on two factors are alike."""
    t = np.deg2rad(degrees)
    X = np.random.default_rng(0).standard_normal((400, 3)) * [5.0, 1.0, 0.2]
    turn = np.array([[np.cos(t), np.sin(t), 0], [-np.sin(t), np.cos(t), 0], [0, 0, 1.0]])
    models = [ritz.PCA(1).fit(rows) for rows in (X, X @ turn)]
    assert said in str(insight.compare(*models))
