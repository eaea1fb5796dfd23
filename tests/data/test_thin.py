"""Products with few columns, cut for the kernels of small matrices: the same numbers, rounded no worse."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.passes import thin as module
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.thin import Single, Thin, thin
from ritz.operators import Centered, Dense
from ritz.operators.affine import Affine
from ritz.project.linear import LinearMap

SHAPES = [(64, 2), (200, 5), (784, 16), (1000, 40), (5000, 24), (9001, 3)]


def extended(X, W):
    return np.asarray(X, np.longdouble) @ np.asarray(W, np.longdouble)


@pytest.fixture
def kernels(monkeypatch):
    """As on a processor with kernels for small matrices."""
    monkeypatch.setattr(module, "has_small_kernels", lambda: True)


@pytest.mark.parametrize(("d", "columns"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 300])
def test_products_are_those_of_whole_matrices(kernels, seed, d, columns, dtype, rows):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((rows, d)).astype(dtype), rng.standard_normal((d, columns)).astype(dtype)
    cut = Thin(d, columns, np.dtype(dtype))
    B = cut.times(X, W, np.empty((rows, columns), dtype))
    u = np.finfo(dtype).eps
    bound = 4 * u * np.sqrt(d) * np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(W, axis=0)
    assert np.all(np.abs(B - extended(X, W)) <= bound)
    adjoint = cut.adjoint(X, B, np.full((columns, d), np.nan, dtype))
    bound = 8 * u * np.sqrt(rows) * np.linalg.norm(B, axis=0)[:, None] * np.linalg.norm(X, axis=0)
    assert np.all(np.abs(adjoint - extended(B.T, X)) <= bound)


@pytest.mark.parametrize(("d", "columns"), SHAPES)
@pytest.mark.parametrize("rows", [1, 65, 300])
def test_products_of_rows_stored_by_columns_are_the_same(kernels, seed, d, columns, rows):
    rng = np.random.default_rng(seed)
    X, W = np.asfortranarray(rng.standard_normal((rows, d))), rng.standard_normal((d, columns))
    cut, u = Thin(d, columns, X.dtype, turned=True), np.finfo(np.float64).eps
    B = cut.times(X, W, np.empty((rows, columns)))
    bound = 4 * u * np.sqrt(d) * np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(W, axis=0)
    assert np.all(np.abs(B - extended(X, W)) <= bound)
    adjoint = cut.adjoint(X, B, np.full((d, columns), np.nan))
    bound = 8 * u * np.sqrt(rows) * np.linalg.norm(X, axis=0)[:, None] * np.linalg.norm(B, axis=0)
    assert np.all(np.abs(adjoint - extended(X.T, B)) <= bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("center", [True, False])
def test_columns_of_a_wide_table_are_multiplied_as_rows_by_the_same_cuts(kernels, monkeypatch, seed, dtype, center):
    used = []
    monkeypatch.setattr(Thin, "adjoint", lambda self, *given, _own=Thin.adjoint: used.append(1) or _own(self, *given))
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((150, 2_000)) + (30 if center else 0)).astype(dtype)
    U = np.linalg.qr(rng.standard_normal((150, 6)))[0]
    Z = X.astype(np.longdouble)
    mean = Z.mean(axis=0).astype(np.float64)
    A = Centered(Dense(X), mean) if center else Dense(X)
    Z = Z - mean if center else Z
    made = A.T.normal(U)
    assert used
    assert float(np.max(np.abs(made - Z @ (Z.T @ U)))) <= 1e-12 * float(np.sum(Z * Z))


def test_every_product_is_small_enough_for_the_kernels(kernels):
    for d, columns in SHAPES:
        cut = Thin(d, columns, np.dtype(np.float64))
        widest = max(part.stop - part.start for part in cut.parts)
        assert sorted(j for part in cut.parts for j in range(part.start, part.stop)) == list(range(d))
        assert max(cut.tall, cut.rows) * widest * columns <= module.MOST
        assert cut.rows <= module.LONG_PIECE  # sums no longer than those whose rounding is not measured


def test_other_processors_and_many_columns_take_whole_products(monkeypatch):
    few = np.zeros((784, 8))
    monkeypatch.setattr(module, "has_small_kernels", lambda: False)
    assert thin(few) is None
    assert isinstance(thin(np.zeros((784, 5))), Single)
    assert thin(np.zeros((784, 5)), turned=True) is None
    assert thin(np.zeros((784, 5), np.float32)) is None
    monkeypatch.setattr(module, "has_small_kernels", lambda: True)
    assert thin(few) is not None
    assert thin(np.zeros((784, 1))) is None
    assert isinstance(thin(np.zeros((784, 2))), Thin)
    assert thin(np.zeros((784, 41))) is None
    assert thin(np.zeros((784, 25), np.float32)) is None
    assert thin(np.zeros((63, 8))) is None
    assert thin(np.zeros((784, 8), np.float16)) is None


@pytest.mark.parametrize("columns", [2, 5])
@pytest.mark.parametrize("d", [64, 500, 1500])
@pytest.mark.parametrize("rows", [1, 127, 128, 129, 300])
def test_products_column_by_column_are_those_of_whole_matrices(seed, columns, d, rows):
    rng = np.random.default_rng(seed)
    X, W, u = rng.standard_normal((rows, d)), rng.standard_normal((d, columns)), np.finfo(np.float64).eps
    cut = Single(d, columns)
    B = cut.times(X, W, np.empty((rows, columns)))
    bound = 4 * u * np.sqrt(d) * np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(W, axis=0)
    assert np.all(np.abs(B - extended(X, W)) <= bound)
    for block in (B, np.ascontiguousarray(B), 2.0 * B):
        adjoint = cut.adjoint(X, block, np.full((columns, d), np.nan))
        bound = 8 * u * np.sqrt(rows) * np.linalg.norm(block, axis=0)[:, None] * np.linalg.norm(X, axis=0)
        assert np.all(np.abs(adjoint - extended(block.T, X)) <= bound)


@pytest.mark.parametrize("columns", [1, 3, 6])
@pytest.mark.parametrize("kind", ["gauss", "equal rows", "two values", "far means"])
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rounding_of_passes_is_what_they_say(monkeypatch, seed, kind, small, order, columns):
    """ZᵀZV is as near to the truth as the operator claims, whichever kernels multiply and however rows are stored."""
    monkeypatch.setattr(module, "has_small_kernels", lambda: small)
    rng = np.random.default_rng(seed)
    n, d = 3000, 150
    X = {
        "gauss": lambda: rng.standard_normal((n, d)),
        "equal rows": lambda: np.tile(rng.standard_normal((1, d)), (n, 1)),
        "two values": lambda: rng.choice([1 / 6 + 1e-4, -1 / 6 + 1e-4], (n, d)),
        "far means": lambda: rng.standard_normal((n, d)) + 1e6,
    }[kind]()
    X = np.array(X, order=order)
    mean = X.mean(axis=0)
    V = np.linalg.qr(rng.standard_normal((d, columns)))[0]
    for A, Z in ((Dense(X), X), (Centered(Dense(X), mean), np.asarray(X, np.longdouble) - mean)):
        found = A.normal(V)
        exact = extended(np.asarray(Z, np.longdouble).T, extended(Z, V))
        top = float(np.linalg.norm(np.asarray(Z, np.float64), 2)) ** 2
        stated = A.measured() + 200 * 2.0**-53 * top
        assert np.max(np.linalg.norm(np.asarray(found - exact, np.float64), axis=0)) <= stated


def test_coordinates_are_the_same_with_and_without_small_kernels(monkeypatch, seed):
    X = np.random.default_rng(seed).standard_normal((4000, 300)) + 5
    found = []
    for small in (True, False):
        monkeypatch.setattr(module, "has_small_kernels", lambda small=small: small)
        found += [model.fit(X[:500]).transform(X) for model in (ritz.PCA(7), ritz.SVD(7))]
    for one, other in ((found[0], found[2]), (found[1], found[3])):
        assert np.max(np.abs(one - other)) <= 1e-12 * np.max(np.abs(other))


@pytest.mark.parametrize("small", [True, False])
def test_what_rounding_took_from_a_shift_is_taken_off_as_well(monkeypatch, seed, small):
    monkeypatch.setattr(module, "has_small_kernels", lambda: small)
    rng = np.random.default_rng(seed)
    X, V = rng.standard_normal((3000, 150)) + 1e3, rng.standard_normal((150, 6))
    shift, low, scale = X.mean(axis=0), rng.standard_normal(150), rng.uniform(0.5, 2, 150)
    frame = Affine(blocks_of(X), shift=shift, shift_low=low, col_scale=scale)
    Z = (np.asarray(X, np.longdouble) - shift - low) * scale
    assert np.max(np.abs(frame.matmat(V) - extended(Z, V))) <= 1e-11
    assert np.max(np.abs(frame.normal(V) - extended(Z.T, extended(Z, V)))) <= 1e-11 * float(np.sum(Z * Z))


@pytest.mark.parametrize("small", [True, False], ids=["small kernels", "none"])
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 6, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_coordinates_are_written_whatever_the_products_are_cut_for(monkeypatch, seed, small, columns, dtype, far):
    monkeypatch.setattr(module, "has_small_kernels", lambda: small)
    rng = np.random.default_rng(seed)
    X = (far + rng.standard_normal((6_000, 130))).astype(dtype)
    V = np.linalg.qr(rng.standard_normal((130, columns)))[0]
    mean = X.mean(axis=0, dtype=np.float64)
    exact = extended(X.astype(np.longdouble) - mean, V)
    for made in (Centered(Dense(X), mean) @ V, LinearMap(V.T, mean, None, None).forward(X)):
        assert np.max(np.abs(made - exact)) <= 100 * np.finfo(dtype).eps * (1 + far)
