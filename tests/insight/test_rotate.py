"""Rotations against R (psych, GPArotation, stats) on Harman's 24 tests, and against their own conditions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import ritz
from ritz.insight import loadings, rotate

METHODS = ["varimax", "quartimax", "promax", "oblimin"]


def golden(shared, name, part="loadings"):
    return np.array(json.loads((shared / "harman74" / f"{name}.json").read_text())[part]["values"])


def matched(found, known):
    """Order and signs that bring the columns of one matrix to those of another."""
    C = (found / np.linalg.norm(found, axis=0)).T @ (known / np.linalg.norm(known, axis=0))
    rows, columns = linear_sum_assignment(-np.abs(C))
    order = rows[np.argsort(columns)]
    return order, np.sign(C[order, np.arange(len(order))])


def rows_of(correlations, n, seed=0):
    """Rows with exactly these correlations."""
    Z = np.random.default_rng(seed).normal(size=(n, len(correlations)))
    Z = np.linalg.qr(Z - Z.mean(axis=0))[0]
    return Z @ np.linalg.cholesky(correlations).T * np.sqrt(n - 1)


@pytest.fixture(scope="module")
def tests(shared):
    R = np.genfromtxt(shared / "harman74" / "data.csv", delimiter=",", skip_header=1)[:, 1:]
    return rows_of(R, 145)


# R stops its varimax when the criterion changes by less than 1e-5 of itself, 4e-5 away from the maximum: see below.
@pytest.mark.shared
@pytest.mark.parametrize(
    ("method", "close"), [("varimax", 5e-5), ("quartimax", 1e-5), ("promax", 1e-5), ("oblimin", 1e-5)]
)
def test_harman_is_rotated_as_by_psych(shared, tests, method, close):
    model = ritz.PCA(4, scale=True).fit(tests)
    np.testing.assert_allclose(np.abs(loadings(model)), np.abs(golden(shared, "psych_principal_none")), atol=1e-9)
    found, known = rotate(model, method), golden(shared, f"psych_principal_{method}")
    order, flip = matched(found.loadings, known)
    np.testing.assert_allclose(found.loadings[:, order] * flip, known, atol=close)
    if method in ("promax", "oblimin"):
        phi = golden(shared, f"psych_principal_{method}", "Phi")
        np.testing.assert_allclose(
            found.factor_correlations[np.ix_(order, order)] * np.outer(flip, flip), phi, atol=2e-5
        )
        structure = golden(shared, f"psych_principal_{method}", "Structure")
        np.testing.assert_allclose(found.structure[:, order] * flip, structure, atol=2e-5)
    known = json.loads((shared / "harman74" / f"psych_principal_{method}.json").read_text())["communality"]["values"]
    np.testing.assert_allclose(found.communalities, known, atol=1e-9)


@pytest.mark.shared
def test_promax_is_that_of_stats(shared):
    A = golden(shared, "psych_principal_none")
    found, known = rotate(A, "promax"), golden(shared, "stats_varimax_promax", "promax_loadings")
    order, flip = matched(found.loadings, known)
    np.testing.assert_allclose(found.loadings[:, order] * flip, known, atol=1e-5)


@pytest.mark.shared
def test_varimax_of_r_stops_before_the_maximum(shared):
    """R's iteration, stopped as R stops it, gives R's numbers; ours have a larger criterion."""
    A = golden(shared, "psych_principal_none")
    known = golden(shared, "stats_varimax_promax", "varimax_loadings")
    h = np.linalg.norm(A, axis=1, keepdims=True)
    x, T, size = A / h, np.eye(4), 0.0
    while True:
        z = x @ T
        U, s, Vt = np.linalg.svd(x.T @ (z**3 - z * np.mean(z**2, axis=0)))
        T, past, size = U @ Vt, size, s.sum()
        if size < past * (1 + 1e-5):
            break
    np.testing.assert_allclose(A @ T, known, atol=1e-12)

    def criterion(L):
        return float(np.sum(np.var((L / h) ** 2, axis=0)))

    found = rotate(A, "varimax").loadings
    assert criterion(known) < criterion(found) < criterion(known) * (1 + 1e-6)


@pytest.fixture(scope="module")
def simple():
    """Loadings of simple structure, turned away from it."""
    rng = np.random.default_rng(1)
    L = np.kron(np.eye(3), np.ones((5, 1))) * rng.uniform(0.5, 0.9, size=(15, 1)) + 0.05 * rng.normal(size=(15, 3))
    return L, L @ np.linalg.qr(rng.normal(size=(3, 3)))[0]


@pytest.mark.parametrize("method", METHODS)
def test_what_every_rotation_keeps(simple, method):
    _, A = simple
    found = rotate(A, method)
    T, L, phi = found.matrix, found.loadings, found.factor_correlations
    np.testing.assert_allclose(L @ T.T, A, atol=1e-12)
    np.testing.assert_allclose(T.T @ T, phi, atol=1e-12)
    np.testing.assert_allclose(np.diag(phi), 1)
    np.testing.assert_allclose(L @ phi @ L.T, A @ A.T, atol=1e-12)
    assert found.variances.sum() == pytest.approx(np.sum(A**2))
    assert np.all(np.diff(found.variances) <= 0)
    assert np.all(L[np.abs(L).argmax(axis=0), range(3)] > 0)
    if method in ("varimax", "quartimax"):
        np.testing.assert_allclose(phi, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_simple_structure_is_found_again(simple, method):
    L, A = simple
    found = rotate(A, method).loadings
    order, flip = matched(found, L)
    np.testing.assert_allclose(found[:, order] * flip, L, atol=0.12)
    if method in ("varimax", "quartimax"):
        start = rotate(L, method).loadings  # the answer does not depend on where the search begins
        np.testing.assert_allclose(start, found, atol=1e-8)


@pytest.mark.parametrize(("method", "gamma"), [("varimax", 1.0), ("quartimax", 0.0)])
def test_orthogonal_rotations_are_stationary(simple, method, gamma):
    """LᵀG is symmetric at a maximum, G the slope of the criterion."""
    L = rotate(simple[1], method, normalize=False).loadings
    M = L.T @ (L**3 - gamma * L * np.mean(L**2, axis=0))
    np.testing.assert_allclose(M, M.T, atol=1e-9)


def test_oblimin_is_stationary_for_every_gamma(simple):
    for gamma in (0.0, -1.0, 0.3):
        found = rotate(simple[1], "oblimin", gamma=gamma)
        L, k = found.loadings, 3
        X = L**2 @ (np.ones((k, k)) - np.eye(k))
        slope = (L.T @ (L * (X - gamma * X.mean(axis=0)))) @ np.linalg.inv(found.factor_correlations)
        np.testing.assert_allclose(slope - np.diag(np.diag(slope)), 0, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_scores_of_rotated_components(method):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 7)) + 0.5 * rng.normal(size=(90, 7))
    for scale in (True, False):
        model = ritz.PCA(5, scale=scale).fit(X)
        found = rotate(model, method, n_components=3)
        F = found.scores(X)
        np.testing.assert_allclose(np.cov(F.T), found.factor_correlations, atol=1e-10)
        Z = (X - X.mean(axis=0)) / (X.std(axis=0, ddof=1) if scale else 1)
        np.testing.assert_allclose(Z.T @ F / 89, found.structure, atol=1e-10)
        np.testing.assert_allclose(found.variance_ratio.sum(), model.explained_variance_ratio_[:3].sum())


def test_frames_and_words():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(30, 4)), index=[f"r{i}" for i in range(30)], columns=list("abcd"))
    found = rotate(ritz.PCA(2).fit(X), "varimax")
    assert list(found.loadings.columns) == ["RC1", "RC2"]
    assert list(found.loadings.index) == list("abcd")
    assert list(found.scores(X).index) == list(X.index)
    assert repr(found).startswith("Rotation('varimax', 2 factors with ")


def test_one_component_is_its_own_rotation(simple):
    A = simple[1][:, :1]
    for method in METHODS:
        np.testing.assert_allclose(np.abs(rotate(A, method).loadings), np.abs(A))


def test_refusals(simple):
    with pytest.raises(ritz.ParameterError, match="'varimax', 'quartimax', 'promax', 'oblimin'"):
        rotate(simple[1], "equamax")
    with pytest.raises(ritz.InputError, match="the model that was rotated"):
        rotate(simple[1]).scores(np.zeros((2, 15)))
    with pytest.raises(ritz.ParameterError, match="from 1 to 3"):
        rotate(simple[1], n_components=4)
    with pytest.warns(ritz.AccuracyWarning, match="after 1 iterations"):
        rotate(simple[1], "varimax", max_iter=1)
