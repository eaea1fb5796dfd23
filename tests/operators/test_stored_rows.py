"""Products of wide sparse tables by the rows that are stored: nobody puts the columns in order for them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes.blocks import MemoryBlocks, TurnedBlocks
from ritz.data.passes.keys import rows_key
from ritz.data.passes.statistics import Statistics
from ritz.operators import short
from ritz.operators.framed import Sparse
from ritz.operators.short import STORED_TIMES


def wide(seed: int, n: int = 300, d: int = 2_000, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.02, format="csr", rng=rng)
    X.data = np.round(8 * rng.standard_normal(X.nnz)).astype(dtype) if dtype is np.int32 else X.data.astype(dtype)
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_halves_of_turned_rows_are_those_of_the_dense_table(seed: int, dtype: Any) -> None:
    X = wide(seed, dtype=dtype)
    A = Sparse(X).T
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((X.shape[0], 5)))[0]
    half, image = A.halves(V)
    D = X.toarray().astype(np.float64)
    assert not A.affine.blocks.made
    np.testing.assert_allclose(half, D.T @ V, atol=1e-13 * np.linalg.norm(D))
    np.testing.assert_allclose(image, D @ (D.T @ V), atol=1e-13 * np.linalg.norm(D) ** 2)


def test_rows_with_room_behind_them_are_multiplied_as_far_as_they_go(seed: int) -> None:
    X = wide(seed)
    D = X.toarray()
    X.data, X.indices = np.append(X.data, np.full(7, np.nan)), np.append(X.indices, np.full(7, 1)).astype(np.int32)
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((X.shape[0], 2)))[0]
    half, image = Sparse(X).T.halves(V)
    np.testing.assert_allclose(half, D.T @ V, atol=1e-13 * np.linalg.norm(D))
    np.testing.assert_allclose(image, D @ (D.T @ V), atol=1e-13 * np.linalg.norm(D) ** 2)


def test_products_without_halves_are_those_of_the_dense_table_and_many_have_the_rows_turned(seed: int) -> None:
    X = wide(seed, dtype=np.float32)
    across, D = Sparse(X), X.toarray().astype(np.float64)
    A = across.T
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((X.shape[0], 5)))[0]
    for turn in range(STORED_TIMES + 2):
        assert A.affine.blocks.made == (turn > STORED_TIMES)
        np.testing.assert_allclose(A.normal(V), D @ (D.T @ V), atol=1e-13 * np.linalg.norm(D) ** 2)
        np.testing.assert_allclose(across.across(V), D.T @ V, atol=1e-13 * np.linalg.norm(D))


def test_more_entries_are_multiplied_as_stored_by_few_columns_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short, "STORED_ENTRIES", 100)
    X = wide(seed)
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((X.shape[0], short.STORED_FEW + 1)))[0]
    few, many = Sparse(X).T, Sparse(X).T
    few.halves(V[:, 1:])
    many.halves(V)
    assert not few.affine.blocks.made
    assert many.affine.blocks.made


def test_equal_entries_are_summed_in_short_chains() -> None:
    X = sp.csr_array(np.where(np.arange(3_000) % 2, 0.7, 0.0)[:, None] * np.ones((1, 4_000)) * (np.arange(4_000) < 40))
    X.eliminate_zeros()
    V = np.full((3_000, 1), 3_000**-0.5)
    half, image = Sparse(X).T.halves(V)
    exact = 1_500 * 0.7 * 3_000**-0.5
    assert np.max(np.abs(half[:40] / exact - 1)) < 4e-15
    assert np.max(np.abs(image[1::2] / (40 * 0.7 * exact) - 1)) < 8e-15


def test_a_wide_fit_never_turns_its_rows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X = wide(seed, 400, 5_000)
    monkeypatch.setattr(TurnedBlocks, "X", property(lambda _: pytest.fail("rows were turned"), TurnedBlocks.X.fset))
    svd = ritz.SVD(3, solver="lanczos").fit(X)
    np.testing.assert_allclose(svd.singular_values_, np.linalg.svd(X.toarray(), compute_uv=False)[:3], rtol=1e-9)


def test_brief_passes_begin_no_threads(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X = sp.random_array((4_000, 3_000), density=0.02, format="csr", rng=np.random.default_rng(seed))
    whole, cut = MemoryBlocks(X, 2_000), MemoryBlocks(X, 500)
    monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was begun"))
    assert rows_key(whole) == rows_key(cut)
    np.testing.assert_allclose(Statistics(whole).column.mean, X.toarray().mean(axis=0), rtol=1e-13)
