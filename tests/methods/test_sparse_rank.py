"""Sparse tables whose rank is below the number of components: nothing is left, and nobody makes rows dense for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.methods import rest
from ritz.project.residual import Frame


def low(seed: int, n: int, d: int, rank: int) -> Any:
    """Each row a multiple of one of ``rank`` sparse rows."""
    rng = np.random.default_rng(seed)
    B = sp.random_array((rank, d), density=40 / d, format="csr", rng=rng)
    B.data = rng.standard_normal(B.nnz)
    pick = sp.csr_array((rng.standard_normal(n), (np.arange(n), rng.integers(0, rank, n))), shape=(n, rank))
    return (pick @ B).tocsr()


@pytest.mark.parametrize(("n", "d", "k"), [(634, 6_284, 8), (634, 6_284, 5), (3_000, 2_000, 12)])
def test_values_beyond_the_rank_are_zero_and_rows_stay_sparse(
    seed: int, n: int, d: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = low(seed, n, d, 5)
    monkeypatch.setattr(Frame, "dense", lambda *_: pytest.fail("rows were made dense"))
    svd = ritz.SVD(k, solver="lanczos").fit(X)
    true = np.linalg.svd(X.toarray(), compute_uv=False)[:k]
    np.testing.assert_allclose(svd.singular_values_, true, atol=1e-6 * true[0])
    assert rest.rest_of(svd) == 0.0
    certificate = svd.certificate_
    assert np.all(certificate.lower <= true**2 + 1e-12 * true[0] ** 2)
    assert np.all((certificate.upper >= true**2 - 1e-12 * true[0] ** 2)[certificate.labelled])
    V = svd.components_
    np.testing.assert_allclose(V @ V.T, np.eye(k), atol=1e-12)
    variances = np.var(X @ V.T, axis=0)
    np.testing.assert_allclose(svd.explained_variance_, variances, rtol=1e-6, atol=1e-20 * true[0] ** 2)


def test_what_is_left_is_summed_where_there_is_something(seed: int) -> None:
    """A thousandth of a billionth of the table is found by the rows themselves."""
    X = low(seed, 700, 3_000, 5)
    noise = sp.random_array(X.shape, density=0.002, format="csr", rng=np.random.default_rng(seed + 1))
    X = (X + 1e-9 * noise).tocsr()
    svd = ritz.SVD(5, tol=1e-12).fit(X)
    true = np.linalg.svd(X.toarray(), compute_uv=False)[5:]
    assert rest.rest_of(svd) == pytest.approx(float(np.sum(true**2)), rel=1e-3)


def test_a_sketch_is_what_a_plane_leaves_in_the_mean(seed: int) -> None:
    X = low(seed, 400, 900, 8)
    V = np.linalg.svd(X.toarray(), full_matrices=False)[2][:5].T
    left = np.linalg.norm(X.toarray() - X.toarray() @ V @ V.T) ** 2
    assert 0.1 * left < rest._sketched_off(X, V) < 4 * left
    frame = {"mean": None, "low": None, "scale": None}
    assert rest.squares_off(X, None, V, frame, nothing=1e-9 * left) == pytest.approx(left)
    assert rest.squares_off(X, None, V, frame) == pytest.approx(left)
    assert rest._sketched_off(X.toarray(), V) is None


def test_what_is_seen_of_a_rest_is_believed_only_far_below_what_counts(seed: int) -> None:
    """A sketch may see a fortieth of what is there, and speaks of rows as they are: no weight, no mean."""
    X = low(seed, 400, 900, 8)
    V = np.linalg.svd(X.toarray(), full_matrices=False)[2][:5].T
    rows, frame = X.toarray(), {"mean": None, "low": None, "scale": None}
    squares = np.sum((rows - rows @ V @ V.T) ** 2, axis=1)
    left, w = float(squares.sum()), np.arange(1.0, 401.0)
    seen = rest._sketched_off(X, V)
    assert rest.squares_off(X, None, V, frame, nothing=10 * seen) == pytest.approx(left, rel=1e-9)
    assert rest.squares_off(X, None, V, frame, nothing=100 * seen) == seen
    assert rest.squares_off(X, w, V, frame, nothing=1e9 * left) == pytest.approx(float(w @ squares), rel=1e-9)
    about = {"mean": np.full(900, 0.5), "low": None, "scale": None}
    off = (rows - 0.5) - (rows - 0.5) @ V @ V.T
    assert rest.squares_off(X, None, V, about, nothing=1e9 * left) == pytest.approx(float(np.sum(off**2)), rel=1e-9)
