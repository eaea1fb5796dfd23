"""Procrustes of two tables and of several: SciPy's numbers, closed forms, all angles tried, the bound, words."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.spatial

import ritz
from ritz import insight


def turn(angle, mirrored=False):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]]) * ([1, -1] if mirrored else [1, 1])


def shapes(n=12, p=3, K=4, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((n, p))
    turns = [np.linalg.qr(rng.standard_normal((p, p)))[0] for _ in range(K)]
    return [
        rng.uniform(0.5, 3) * (base + noise * rng.standard_normal((n, p))) @ R + rng.uniform(-5, 5, p) for R in turns
    ]


def test_two_tables_are_those_of_scipy():
    X, Y = shapes(K=2)
    _, _, disparity = scipy.spatial.procrustes(X, Y)
    fit = insight.procrustes(X, Y)
    assert fit.share == pytest.approx(disparity, rel=1e-12)
    np.testing.assert_allclose(fit.transform(Y), fit.fitted, atol=1e-12)
    far = insight.procrustes(X + 1e8, Y - 1e8)
    assert far.share == pytest.approx(disparity, rel=1e-5)


def test_nothing_is_mirrored_where_that_is_not_allowed():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((9, 2))
    Y = X @ turn(0.7, mirrored=True)
    assert insight.procrustes(X, Y).share < 1e-14
    fit = insight.procrustes(X, Y, reflection=False)
    assert np.linalg.det(fit.rotation) == pytest.approx(1)
    angles = np.linspace(0, 2 * np.pi, 20_001)
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    best = max(float(np.sum(A * (B @ turn(a)))) for a in angles)
    assert fit.share == pytest.approx(1 - best**2 / np.sum(A * A) / np.sum(B * B), abs=1e-6)


def test_copies_of_one_shape_have_it_as_consensus():
    tables = shapes(noise=0.0)
    found = insight.gpa(tables)
    assert found.share < 1e-14
    assert found.gap < 1e-12
    base = tables[0] - tables[0].mean(axis=0)
    assert insight.procrustes(base, found.consensus).share < 1e-14
    squares = [np.sum((one - one.mean(axis=0)) ** 2) for one in tables]
    assert np.sum(found.scales**2 * squares) == pytest.approx(np.sum(squares))
    for i, one in enumerate(tables):
        np.testing.assert_allclose(found.transform(one, i), found.fitted[i], atol=1e-12)
        np.testing.assert_allclose(found.fitted[i], found.consensus, atol=1e-10)


@pytest.mark.parametrize("scale", [True, False])
def test_of_two_tables_the_bound_is_the_loss(scale):
    X, Y = shapes(K=2, noise=0.5)
    found = insight.gpa([X, Y], scale=scale)
    assert found.loss == pytest.approx(found.lower_bound, rel=1e-10)
    assert found.gap < 1e-12
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    s = np.linalg.svd(A.T @ B, compute_uv=False).sum()
    whole = np.sum(A * A) + np.sum(B * B)
    truth = (whole - 2 * s) / 2 if not scale else whole * (1 - s / np.sqrt(np.sum(A * A) * np.sum(B * B))) / 2
    assert found.loss == pytest.approx(truth, rel=1e-10)


def test_three_tables_in_a_plane_against_all_angles():
    rng = np.random.default_rng(4)
    tables = [rng.standard_normal((6, 2)) for _ in range(3)]  # nothing in common
    found = insight.gpa(tables, scale=False, reflection=False)
    A = [one - one.mean(axis=0) for one in tables]
    best = np.inf
    for a, b in itertools.product(np.linspace(0, 2 * np.pi, 181), repeat=2):
        moved = np.stack([A[0], A[1] @ turn(a), A[2] @ turn(b)])
        best = min(best, float(np.sum((moved - moved.mean(axis=0)) ** 2)))
    assert found.loss <= best
    assert found.loss == pytest.approx(best, rel=1e-3)
    assert found.lower_bound <= found.loss
    assert 0 < found.gap < 0.2


def test_the_bound_holds_in_generated_cases_and_parts_add_up():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tables = shapes(n=int(rng.integers(4, 15)), p=int(rng.integers(1, 4)), K=int(rng.integers(2, 5)),
                        noise=10 ** rng.uniform(-3, 1), seed=seed)  # fmt: skip
        found = insight.gpa(tables, scale=bool(seed % 2))
        assert found.lower_bound <= found.loss * (1 + 1e-9) + 1e-12
        assert found.converged
        assert found.distances.sum() == pytest.approx(found.loss)
        assert found.rows.sum() == pytest.approx(found.loss)
        for R in found.rotations:
            np.testing.assert_allclose(R.T @ R, np.eye(len(R)), atol=1e-10)


def test_tables_of_fewer_columns_and_frames():
    tables = shapes(K=3)
    frames = [pd.DataFrame(tables[0]), tables[1][:, :2], tables[2]]
    found = insight.gpa(frames)
    assert found.consensus.shape == (12, 3)
    assert found.transform(tables[1][:, :2], 1).shape == (12, 3)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("two tables or more, of the same rows", lambda T: insight.gpa(T[:1])),
        ("leave out rows that one of them lacks", lambda T: insight.gpa([T[0], T[1][:-1]])),
        ("table 1 without missing values", lambda T: insight.gpa([T[0], np.where(T[1] > 3, np.nan, T[1])])),
        ("a row without a place cannot be moved", lambda T: insight.procrustes(T[0], np.where(T[1] > 3, np.nan, T[1]))),
        ("whose rows are all the same", lambda T: insight.gpa([T[0], np.ones_like(T[1])])),
        ("reflection must be True or False", lambda T: insight.gpa(T, reflection="no")),
        ("from 0 to 3", lambda T: insight.gpa(T).transform(T[0], 7)),
    ],
)
def test_what_cannot_be_moved_is_refused_in_words(words, call):
    with pytest.raises((ritz.InputError, ritz.ParameterError)) as refused:
        call(shapes(seed=2))
    assert words in str(refused.value)


def test_the_lower_bound_lies_below_every_loss_also_by_rounding():
    rng = np.random.default_rng(5)
    for draw in range(30):
        n, p = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        shape, noise = rng.standard_normal((n, p)), 0.1 * (draw % 2)
        turns = [np.linalg.qr(rng.standard_normal((p, p)))[0] for _ in range(2)]
        tables = [2.5**i * shape @ turn + noise * rng.standard_normal((n, p)) for i, turn in enumerate(turns)]
        for scale in (True, False):
            found = insight.gpa(tables, scale=scale)
            assert found.lower_bound <= found.loss, (draw, scale)
            assert found.gap <= 1e-12
    with pytest.raises(ritz.InputError, match="within the range of float64"):
        insight.gpa([one * 1e-170 for one in tables])
