"""Products of one vector with short sparse rows, by their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.operators import vector
from ritz.operators.center import Centered
from ritz.operators.framed import Sparse
from ritz.operators.vector import columns_bytes


def short(seed: int, n: int = 12_000, d: int = 600, dtype: Any = np.float64) -> Any:
    return sp.random_array((n, d), density=4 / d, format="csr", rng=np.random.default_rng(seed), dtype=dtype)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The copies by columns that were asked for."""
    asked: list[Any] = []
    found = vector._columns
    monkeypatch.setattr(vector, "_columns", lambda *given: asked.append(found(*given)) or asked[-1])
    monkeypatch.setattr(vector, "normal", lambda *_: None)  # compiled loops come first where they are there
    return asked


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("centred", [False, True])
def test_products_are_those_of_rows(seed: int, made: list[Any], dtype: Any, centred: bool) -> None:
    X = short(seed, dtype=dtype)
    A = Sparse(X) if not centred else Centered(Sparse(X), X.mean(axis=0))
    v = np.random.default_rng(seed).standard_normal(X.shape[1])
    by_rows = A.vector_normal()(v).copy()
    assert not made
    room = columns_bytes(*X.shape, X.nnz, 8)
    loose = A.loose(room)
    by_columns = loose.vector_normal()(v).copy()
    assert len(made) == 1
    np.testing.assert_allclose(by_columns, by_rows, rtol=1e-11, atol=1e-11 * np.linalg.norm(by_rows))
    loose.vector_normal()
    assert made[0] is made[1]  # a search finds the copy of the chain


def test_only_short_rows_are_copied_and_only_into_room(seed: int, made: list[Any]) -> None:
    X = short(seed)
    assert columns_bytes(*X.shape, X.nnz, 8) == 12.0 * X.nnz + 4.0 * X.shape[1]
    assert columns_bytes(12_000, 600, 12_000 * 11, 8) == columns_bytes(600, 12_000, X.nnz, 8) == 0
    assert columns_bytes(4_000, 600, 4_000 * 4, 8) == 0 < columns_bytes(4_000, 600, 4_000, 8)
    Sparse(X).loose(columns_bytes(*X.shape, X.nnz, 8) - 1).vector_normal()
    assert not made


def test_entries_behind_the_last_row_are_left_where_they_are(seed: int, made: list[Any]) -> None:
    X = short(seed)
    D = X.toarray()
    X.data, X.indices = np.append(X.data, np.nan), np.append(X.indices, 1).astype(X.indices.dtype)
    v = np.ones(X.shape[1])
    product = Sparse(X).loose(2 * columns_bytes(*X.shape, X.nnz, 8)).vector_normal()
    np.testing.assert_allclose(product(v), D.T @ (D @ v), rtol=1e-11)
    assert made


def test_a_fit_makes_the_copy_and_the_answer_is_the_same(seed: int, made: list[Any]) -> None:
    X = short(seed)
    svd = ritz.SVD(3).fit(X)
    assert made
    np.testing.assert_allclose(svd.singular_values_, np.linalg.svd(X.toarray(), compute_uv=False)[:3], rtol=1e-9)
