"""Every operator acts as the matrix it stands for, in every dtype, order and precision."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator, svds

from ritz._core.errors import InputError, MemoryLimitError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.statistics import Statistics
from ritz.operators import (
    Centered,
    Dense,
    FromLinearOperator,
    Gram,
    Identity,
    MinusOuter,
    MomentGram,
    Operator,
    Scaled,
    Sparse,
    Weighted,
    as_operator,
)
from ritz.operators.affine import Affine
from ritz.operators.interop import to_linear_operator
from ritz.operators.tiles import tiled_gram
from ritz.testing.operators import check_operator

RNG = np.random.default_rng(7)
FORMS = {
    "float64": RNG.standard_normal((300, 6)),
    "float32": (RNG.standard_normal((300, 6)) + 50).astype("f4"),
    "float16": RNG.standard_normal((300, 6)).astype("f2"),
    "integers": RNG.integers(-50, 50, (300, 6)),
    "unsigned": RNG.integers(0, 255, (300, 6)).astype("u1"),
    "bool": RNG.random((300, 6)) < 0.4,
    "fortran": np.asfortranarray(RNG.standard_normal((300, 6))),
    "strided": RNG.standard_normal((600, 12))[::2, ::2],
    "reversed": RNG.standard_normal((300, 6))[::-1],
    "wide": RNG.standard_normal((5, 400)),
    "several blocks": RNG.standard_normal((9000, 4)) + 1e6,
    "csr": sp.random(300, 6, 0.3, format="csr", random_state=1),
    "csr float32": sp.random(300, 6, 0.3, format="csr", random_state=1).astype("f4"),
    "csr array": sp.csr_array(sp.random(4000, 7, 0.3, random_state=1)),
}


def dense_of(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_operator_of_pca_acts_as_its_matrix(form, weighted):
    X = FORMS[form]
    n, d = X.shape
    w = RNG.integers(0, 4, n).astype(float) if weighted else None
    stats = Statistics(MemoryBlocks(X), w)
    leaf = (Sparse if sp.issparse(X) else Dense)(X, stats)
    scale = np.linspace(0.5, 3, d)
    A: Operator = Scaled(Centered(leaf, stats), scale)
    D = dense_of(X)
    # a mean of doubles in extended precision: the reference must not be the coarser side
    mean = np.average(D.astype(np.longdouble), axis=0, weights=w)
    Z = ((D.astype(np.longdouble) - mean) / scale).astype(np.float64)
    if weighted:
        A, Z = Weighted(A, w), Z * np.sqrt(w)[:, None]
    check_operator(A, Z)
    assert A.frobenius2() == pytest.approx(np.sum(Z**2), rel=1e-12)


@pytest.mark.parametrize("form", ["float64", "float32", "csr", "wide"])
def test_float32_products_are_close(form):
    X = FORMS[form]
    stats = Statistics(MemoryBlocks(X))
    A = Centered((Sparse if sp.issparse(X) else Dense)(X, stats), stats)
    Z = dense_of(X) - dense_of(X).mean(0)
    V = RNG.standard_normal((X.shape[1], 3))
    narrow = A.at(np.float32).normal(V)
    assert A.at(np.float32).matmat(V).dtype == np.float32
    assert np.max(np.abs(narrow - Z.T @ (Z @ V))) > 1e-12 * np.linalg.norm(Z, 2) ** 2  # it really ran in float32
    np.testing.assert_allclose(narrow, Z.T @ (Z @ V), atol=3e-6 * np.linalg.norm(Z, 2) ** 2 * np.linalg.norm(V))


def test_combinations_act_as_their_matrices():
    X, Y = RNG.standard_normal((40, 5)), RNG.standard_normal((40, 5))
    r, c = RNG.standard_normal(40), RNG.standard_normal(5)
    check_operator(Dense(X) + Dense(Y), X + Y)
    check_operator(Dense(X) - Dense(Y), X - Y)
    check_operator(Dense(X) @ Dense(Y).T, X @ Y.T)
    check_operator(MinusOuter(Dense(X), r, c), X - np.outer(r, c))
    check_operator(Gram(Dense(X)), X.T @ X)
    check_operator(Identity(5), np.eye(5))
    check_operator(Centered(MinusOuter(Dense(X), r, c), X.mean(0)), X - np.outer(r, c) - X.mean(0))
    check_operator(Scaled(Dense(X) + Dense(Y), np.arange(1.0, 6)), (X + Y) / np.arange(1.0, 6))
    check_operator(Weighted(Dense(X) + Dense(Y), np.arange(40.0)), (X + Y) * np.sqrt(np.arange(40.0))[:, None])
    check_operator(Dense(X).T.T, X)


def test_a_moment_state_is_an_operator():
    X = RNG.standard_normal((200, 5)) + 3
    state = Statistics(MemoryBlocks(X)).moments
    Z = X - X.mean(0)
    check_operator(MomentGram(state), Z.T @ Z)
    check_operator(MomentGram(state, center=False), X.T @ X)
    s = np.arange(1.0, 6)
    check_operator(MomentGram(state, scale=s), (Z / s).T @ (Z / s))


def test_interop_both_ways():
    X = RNG.standard_normal((50, 8))
    A = Centered(Dense(X), X.mean(0))
    Z = X - X.mean(0)
    sigma = np.sort(svds(to_linear_operator(A), k=3, random_state=0)[1])[::-1]
    np.testing.assert_allclose(sigma, np.linalg.svd(Z, compute_uv=False)[:3], rtol=1e-10)
    check_operator(as_operator(aslinearoperator(X)), X)
    assert isinstance(as_operator(aslinearoperator(X)), FromLinearOperator)
    check_operator(as_operator(sp.csc_matrix(X)), X)
    assert as_operator(A) is A
    with pytest.raises(InputError, match=r"2-D array.*received list"):
        as_operator([1, 2])


def test_operators_print_as_algebra():
    X = np.ones((4, 2))
    assert repr(Weighted(Scaled(Centered(Dense(X), 0), 1), np.ones(4))).startswith("D_w^½ (X − 1μᵀ) D_σ⁻¹  (4×2")
    assert MinusOuter(Dense(X), np.ones(4), np.ones(2)).symbol() == "(X − r cᵀ)"
    assert Gram(Dense(X)).symbol() == "XᵀX"
    assert (Dense(X) - Dense(X)).symbol() == "(X − X)"


def test_calls_and_passes_are_counted():
    X = RNG.standard_normal((30, 4))
    A = Dense(X)
    A.matmat(np.ones((4, 2)))
    A.rmatmat(np.ones((30, 3)))
    A.normal(np.ones((4, 5)))
    assert (A.calls.matmat, A.calls.rmatmat, A.calls.normal, A.calls.columns) == (1, 1, 1, 10)
    assert A.passes() == 3
    assert Gram(A).passes() == 3


def test_the_mean_is_learned_on_the_way():
    """The first product of a Krylov iteration doubles as the pass that finds the means."""
    X = RNG.standard_normal((5000, 6)) + 1e5
    stats = Statistics(MemoryBlocks(X))
    A = Centered(Dense(X, stats), stats)
    Z = X - X.mean(0)
    V = RNG.standard_normal((6, 3))
    np.testing.assert_allclose(A.normal(V), Z.T @ (Z @ V), rtol=1e-9)
    assert A.passes() == 1
    np.testing.assert_allclose(A.mean, X.mean(0), rtol=1e-14)
    assert A.passes() == 1


def test_wrong_shapes_and_too_large_copies_are_refused():
    A = Dense(np.ones((4, 2)))
    with pytest.raises(InputError, match=r"matmat of X \(4×2\) takes a block of 2 rows; received shape \(3, 1\)"):
        A.matmat(np.ones((3, 1)))
    with pytest.raises(MemoryLimitError, match="must fit into 10 bytes"):
        A.to_dense(budget=10)
    with pytest.raises(InputError, match="one shape"):
        A + Dense(np.ones((3, 2)))
    with pytest.raises(InputError, match="matching inner sizes"):
        A @ A
    with pytest.raises(InputError, match="must have the shape"):
        MinusOuter(A, np.ones(3), np.ones(2))


def test_tiles_equal_the_whole_product():
    X = RNG.standard_normal((500, 2300)) + 5
    w = RNG.random(500)
    frame = Affine(MemoryBlocks(X), shift=X.mean(0), row_scale=np.sqrt(w), col_scale=np.linspace(1, 2, 2300))
    Z = (X - X.mean(0)) * np.sqrt(w)[:, None] * np.linspace(1, 2, 2300)
    np.testing.assert_allclose(tiled_gram(frame), Z.T @ Z, atol=1e-9)
    turned = Affine(MemoryBlocks(np.ascontiguousarray(X.T)), offset=X.mean(0), col_scale=np.sqrt(w))
    np.testing.assert_allclose(
        tiled_gram(turned),
        ((X - X.mean(0)) * np.sqrt(w)[:, None]) @ ((X - X.mean(0)) * np.sqrt(w)[:, None]).T,
        atol=1e-8,
    )
