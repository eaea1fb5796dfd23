"""Bi-cross-validation against its definition, block by block, and on what was planted."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.rank.bicross import BiCross, cut_errors, rotated


def by_definition(X, rows, columns, most, *, center):
    errors = np.zeros(most + 1)
    for i in np.unique(rows):
        train, test = X[rows != i], X[rows == i]
        if center:
            mean = train.mean(axis=0)
            train, test = train - mean, test - mean
        for j in np.unique(columns):
            out = columns == j
            U, s, Vt = np.linalg.svd(train[:, ~out], full_matrices=False)
            for k in range(most + 1):
                r = min(k, int(np.sum(s > 1e-6 * s[0])))
                inverse = (Vt[:r].T / s[:r]) @ U[:, :r].T
                errors[k] += np.sum((test[:, out] - test[:, ~out] @ inverse @ train[:, out]) ** 2)
    return errors


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", [(30, 9), (9, 30), (12, 12)])
def test_all_k_at_once_are_the_definition(shape, center, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) + 1.0
    parts = rng.permutation(shape[0]) % 2, rng.permutation(shape[1]) % 3
    found = cut_errors(X, parts, 5, center=center)
    np.testing.assert_allclose(found, by_definition(X, *parts, 5, center=center), rtol=1e-9)


def test_directions_that_are_not_there_predict_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 10))
    parts = np.arange(40) % 2, np.arange(10) % 2
    errors = cut_errors(X, parts, 4, center=True)
    assert errors[2] < 1e-12 * errors[0]
    np.testing.assert_array_equal(errors[2:], errors[2])


def test_a_rotation_keeps_lengths_and_angles():
    X = np.random.default_rng(0).standard_normal((7, 13))
    turned = rotated(X, np.random.default_rng(1))
    np.testing.assert_allclose(turned @ turned.T, X @ X.T, atol=1e-12)
    assert np.max(np.abs(turned - X)) > 0.1


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize(("n", "d"), [(400, 80), (60, 200)])
def test_planted_components_are_found(n, d, rotate, make):
    for q in (2, 5):
        X = make.planted(n, d, q, strength=10.0, seed=q)
        assert BiCross(rotate).on(make.handed(X)).decide(make.of_data(X)) == q


def test_a_component_of_one_column_cannot_be_predicted_unless_it_is_rotated(make):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 60))
    X[:, 0] *= 12.0
    seen, material = make.of_data(X), make.handed(X)
    plain, turned = (BiCross(rotate).on(material).curve(seen).value for rotate in (False, True))
    assert plain.min() > 0.99 * plain[0]  # columns left out know nothing of it
    assert turned[1] < 0.5 * turned[0]
    assert BiCross(rotate=True).on(material).decide(seen) == 1


def test_decathlon_says_how_it_was_cut(events, make, decathlon):
    rule = BiCross().on(make.handed(events, scale=True))
    assert rule.decide(decathlon) == 2
    assert rule.why(decathlon).endswith("20 cuts into 2×4 blocks; all 41 rows")
    curve = rule.curve(decathlon)
    assert curve.k[0] == 0
    assert int(curve.k[np.argmin(curve.value)]) == 2


def test_tiny_tables_have_an_answer(make):
    for shape in ((2, 5), (3, 2), (5, 1), (4, 3)):
        X = np.random.default_rng(0).standard_normal(shape)
        assert BiCross().on(make.handed(X)).decide(make.of_data(X)) >= 0
