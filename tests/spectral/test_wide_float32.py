"""Gram matrices in float32 of more than 2,048 columns, or rows: bounds that hold, and no repair where none is due.

Truth is the Gram matrix of the same float32 numbers, formed in float64.
"""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.passes import statistics, wide
from ritz.data.passes.gram import TILE_ABOVE
from ritz.operators import affine, framed

#: The sides of a table that is wide where ``narrowed``; fewer columns are formed in float64.
LONG, WIDE = 8_000, 600


@pytest.fixture
def narrowed(monkeypatch):
    """Ways of wide tables for tables that take a quarter of a second: three panels, a corner of 100 columns."""
    for module in (statistics, affine, framed):
        monkeypatch.setattr(module, "TILE_ABOVE", 512)
    monkeypatch.setattr(wide, "PANEL", 256)
    monkeypatch.setattr(wide, "CORNER", 100)
    taken = []
    take = wide.WidePass.take
    monkeypatch.setattr(wide.WidePass, "take", lambda self, z: taken.append(len(z)) or take(self, z))
    return taken


def decaying(n, d, seed):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) * np.arange(1, d + 1) ** -0.5).astype(np.float32)


def equal_rows(n, d, seed):
    """Two rows that return: products round one way in every block."""
    two = np.random.default_rng(seed).standard_normal((2, d)).astype(np.float32) + 0.3
    return np.ascontiguousarray(np.tile(two, (n // 2, 1)))


def far_row(n, d, seed):
    X = decaying(n, d, seed)
    X[n // 3] *= 1e4
    return X


def late_columns(n, d, seed):
    """Rounding is formed anew in leading columns, which hold nothing here."""
    X = decaying(n, d, seed)[:, ::-1].copy()
    X[:, :150] = 0.0
    return X


def far_mean(n, d, seed):
    """Numbers near 1,000, whose mean float32 does not hold."""
    return decaying(n, d, seed) + np.float32(1_000.3)


def late_weight(n, d, seed):
    """Leading columns hold a thousandth of what the last ones do."""
    return np.ascontiguousarray(decaying(n, d, seed)[:, ::-1]) * np.where(np.arange(d) < 150, 1e-2, 1.0).astype(
        np.float32
    )


def indicators(n, d, seed):
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d), np.float32)
    X[np.arange(n), rng.integers(0, 40, n)] = 0.7
    X[:, 40:] = rng.random((n, 1), np.float32) < 0.1
    return X


def true_values(X, k, centred=True):
    Z = X.astype(np.float64)
    Z -= Z.mean(axis=0) if centred else 0.0
    return np.linalg.eigvalsh(Z.T @ Z if len(Z) > Z.shape[1] else Z @ Z.T)[::-1][:k]


@pytest.mark.parametrize("side", ["columns", "rows"])
@pytest.mark.parametrize(
    "table",
    [decaying, equal_rows, far_row, far_mean, late_columns, late_weight, indicators],
    ids=lambda made: made.__name__,
)
@pytest.mark.parametrize("method", [ritz.PCA, ritz.SVD], ids=lambda method: method.__name__)
def test_enclosures_hold_the_true_values(method, table, side, narrowed, seed):
    X = table(LONG, WIDE, seed)
    X = X if side == "columns" else np.ascontiguousarray(X.T)
    told = method(4, solver="moments", tol=1e-3).fit(X).certificate_
    assert sum(narrowed) >= LONG  # all rows were taken so
    true = true_values(X, 4, method is ritz.PCA)
    slack = 1e-13 * true[0]  # of the truth itself
    assert np.all(told.lower - slack <= true)
    assert np.all(true <= told.upper + slack)
    assert np.all(told.width <= 1e-4 * true[0])


@pytest.mark.parametrize("side", ["columns", "rows"])
def test_decaying_rows_need_no_repair(side, seed):
    """As they are, of more than 2,048 columns."""
    X = decaying(2_600, TILE_ABOVE + 2, seed)
    X = X if side == "columns" else np.ascontiguousarray(X.T)
    model = ritz.PCA(20, solver="moments").fit(X)
    true = true_values(X, 20)
    assert model.plan_.precision == "float32"
    assert model.certificate_.passes == (1 if side == "columns" else 3)
    assert np.all(model.certificate_.width <= 5e-6 * true[0])
    assert np.all(np.abs(model.certificate_.values - true) <= 3e-7 * true[0])


def test_weights_and_scales_of_wide_float32_rows(narrowed, seed):
    X = decaying(LONG, WIDE, seed)
    w = np.random.default_rng(seed).integers(0, 3, len(X)).astype(float)
    told = ritz.PCA(3, scale=True, solver="moments").fit(X, sample_weight=w).certificate_
    assert sum(narrowed) >= np.count_nonzero(w)  # rows without weight are left out
    Z = np.repeat(X.astype(np.float64), w.astype(int), axis=0)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1)
    true = np.linalg.eigvalsh(Z.T @ Z)[::-1][:3]
    assert np.all(told.lower * (1 - 1e-12) <= true)
    assert np.all(true <= told.upper * (1 + 1e-12))
    assert np.all(told.width <= 1e-4 * true[0])


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("block", [1, 3, 5, 6])
def test_a_run_of_equal_rows_in_a_late_block_is_seen(block, share, narrowed, seed):
    """Entries of one magnitude: products of a block are rounded one way, and no other block tells so."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((16_000, WIDE), np.float32)
    ritz.SVD(1, solver="moments", tol=1e-3).fit(X)
    rows = narrowed[0]
    X[block * rows : block * rows + int(share * rows)] = 1.0242832899 * rng.choice([-1, 1], WIDE)
    told = ritz.SVD(1, solver="moments", tol=1e-3).fit(X).certificate_
    true = true_values(X, 1, centred=False)[0]
    assert told.lower[0] <= true <= told.upper[0]


@pytest.mark.parametrize("order", ["first", "last", "apart"])
@pytest.mark.parametrize("block", [3, 4, 7, 11])
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_equal_rows_in_one_block_of_many_are_seen(share, block, order, seed):
    """Sixteen blocks of 4,096 rows, of which a few are looked at whole, and one in four for numbers that return."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((65_536, WIDE), np.float32)
    many = int(share * 4_096)
    places = {"first": np.arange(many), "last": np.arange(4_096 - many, 4_096)}
    some = places[order] if order in places else rng.choice(4_096, many, replace=False)
    X[block * 4_096 + some] = 1.0242832899 * rng.choice([-1, 1], WIDE)
    told = ritz.SVD(1, solver="moments").fit(X).certificate_
    true = true_values(X, 1, centred=False)[0]
    assert told.lower[0] <= true <= told.upper[0]
    assert told.width[0] <= 1e-4 * true


def test_two_kinds_of_returning_numbers_are_both_counted(seed):
    """Errors of indicators and of equal rows do not correlate: what each is off by counts."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((65_536, 300), np.float32)
    X[8_192:16_384] = (rng.random((8_192, 300)) < 0.4) * np.float32(0.7)
    X[40_960:45_056] = 1.0242832899 * rng.choice([-1, 1], 300)
    told = ritz.SVD(1, solver="moments").fit(X).certificate_
    true = true_values(X, 1, centred=False)[0]
    assert told.lower[0] <= true <= told.upper[0]
