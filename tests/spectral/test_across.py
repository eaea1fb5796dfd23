"""Dense decompositions of wide tables give vectors of both sides: those of the columns are not turned from the rows.

Aᵀ = UΣVᵀ, LAPACK's U:      ‖AᵀAu − σ²u‖ measured, UᵀU = I to rounding, σᵢ = 0 beyond the rank of centred rows
"""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.spectral import turn as turning

U = 2.0**-53


def decaying(n, d, seed, floor=1e-9):
    rng = np.random.default_rng(seed)
    left, right = np.linalg.qr(rng.standard_normal((n, n)))[0], np.linalg.qr(rng.standard_normal((d, n)))[0]
    return (left * np.geomspace(1, floor, n)) @ right.T


def plateau(n, d, seed):
    rng = np.random.default_rng(seed)
    return 20 * rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + rng.standard_normal((n, d))


def equal_rows(n, d, seed):
    return np.repeat(np.random.default_rng(seed).standard_normal((n // 5, d)), 5, axis=0)


@pytest.mark.parametrize("made", [decaying, plateau, equal_rows])
@pytest.mark.parametrize(("n", "d"), [(20, 24), (60, 105), (200, 240), (250, 440)])
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_answers_are_right_certified_and_verified(made, n, d, solver, seed):
    X = made(n, d, seed)
    model = ritz.PCA(solver=solver).fit(X)
    Z = X - X.mean(axis=0)
    truth, c, V = np.linalg.svd(Z, compute_uv=False), model.certificate_, model.components_
    assert np.max(np.abs(model.singular_values_ - truth)) <= 100 * U * truth[0]
    np.testing.assert_allclose(V @ V.T, np.eye(n), atol=1e-13)
    residuals = np.linalg.norm((Z.T @ (Z @ V.T)) - V.T * model.singular_values_**2, axis=0)
    near = 50 * U * truth[0] ** 2  # what the truth itself is off
    assert np.all(residuals <= c.residuals + c.rounding + near)
    assert np.all((c.lower - near <= truth**2) & (truth**2 <= c.upper + near))
    assert c.labelled.all()
    assert model.verify(X)


def test_nothing_is_turned_where_both_sides_are_found(monkeypatch, seed):
    monkeypatch.setattr(turning, "_orthonormal", lambda *_: pytest.fail("vectors were turned"))
    for n, d in ((60, 100), (200, 240)):  # at once, and where the Gram matrix has lost too much
        model = ritz.PCA().fit(decaying(n, d, seed))
        assert model.plan_.side == "rows"
    assert "dense decomposition" in model.certificate_.precision


def test_centred_rows_have_no_variance_beyond_their_rank(seed):
    model = ritz.PCA().fit(np.random.default_rng(seed).standard_normal((60, 80)))
    assert model.plan_.solver == "svd"
    assert model.singular_values_[-1] == 0.0 < model.singular_values_[-2]


def test_rows_much_wider_than_high_are_turned_as_before(seed):
    X = decaying(40, 200, seed)
    model = ritz.PCA(solver="svd").fit(X)
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert np.max(np.abs(model.singular_values_ - truth)) <= 100 * U * truth[0]
    assert model.verify(X)
