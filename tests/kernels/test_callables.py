"""Python functions and matrices as kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from ritz import kernels
from ritz._core.errors import InputError, ParameterError
from ritz.operators.kernel import KernelMatrix
from ritz.testing.kernels import check_kernel

WORDS = ["ritz", "spritz", "blitz", "rita", "a", "", "zita", "pritz"]


def letters(x: str, y: str) -> int:
    return len(set(x) & set(y))


def test_any_function_of_any_objects():
    check_kernel(kernels.Callable(letters, definite=True), WORDS, formula=letters, written=False)
    pairs = kernels.Callable(lambda x, y: len(set(pairwise(x)) & set(pairwise(y))))
    assert pairs(WORDS)[0].tolist() == [3, 3, 2, 2, 0, 0, 1, 3]


def test_vectors_and_batches():
    X = np.random.default_rng(0).standard_normal((20, 3))
    check_kernel(kernels.Callable(lambda x, y: np.exp(-abs(x - y).sum()), definite=True), X, written=False)
    batched = kernels.Callable(lambda A, B: np.asarray(A) @ np.asarray(B).T, batched=True, definite=True)
    check_kernel(batched, X, written=False)
    assert batched(X) == pytest.approx(X @ X.T)


def test_each_pair_is_asked_once():
    asked = []

    def count(x, y):
        asked.append(frozenset((x, y)))
        return float(min(x, y))

    kernel = kernels.Callable(count)
    A = kernel.prepare(list(range(520)))  # two panels of tiles
    K = KernelMatrix(kernel, A, cache_bytes=1e9)
    V = np.eye(520)[:, :3]
    expected = np.minimum.outer(np.arange(520.0), np.arange(520.0))
    assert K.matmat(V) == pytest.approx(expected @ V)
    once = 520 * 521 // 2
    assert len(set(asked)) == once
    assert len(asked) == once + 520  # and the diagonal, for the trace
    K.matmat(V)
    assert len(asked) == once + 520


def test_functions_that_give_something_else():
    with pytest.raises(InputError, match="one number"):
        kernels.Callable(lambda x, y: [1, 2])(WORDS)
    with pytest.raises(InputError, match="one number a pair"):
        kernels.Callable(lambda x, y: np.ones(3), batched=True)(WORDS)
    with pytest.raises(ParameterError, match="function"):
        kernels.Callable("rbf")
    with pytest.raises(ParameterError, match="written to a file"):
        kernels.Callable(letters).to_dict()


@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda K: K.tolist()], ids=["dense", "csr", "list"])
def test_a_matrix_as_a_kernel(form):
    X = np.random.default_rng(0).standard_normal((25, 3))
    K = kernels.RBF(0.3)(X)
    kernel = kernels.Precomputed()
    A = kernel.prepare(form(K))
    assert kernel.matrix(A, A) == pytest.approx(K)
    assert kernel.diag(A) == pytest.approx(np.ones(25))
    new = kernels.RBF(0.3)(X[:4] + 0.1, X)
    B = kernel.prepare(form(new), like=A)
    assert kernel.matrix(B, A) == pytest.approx(new)
    assert kernel.matrix(A, B) == pytest.approx(new.T)
    few = A.take([3, 9, 1])
    assert kernel.matrix(few, few) == pytest.approx(K[np.ix_([3, 9, 1], [3, 9, 1])])
    assert kernel.matrix(B, few) == pytest.approx(new[:, [3, 9, 1]])
    assert kernel.matrix(A.at(np.float32), A.at(np.float32)) == pytest.approx(K, abs=1e-7)
    if form is np.asarray:
        check_kernel(kernel, K)


def test_matrices_that_are_no_kernels():
    kernel, K = kernels.Precomputed(), np.eye(4)
    with pytest.raises(InputError, match="square"):
        kernel.prepare(np.ones((3, 4)))
    with pytest.raises(InputError, match="symmetric"):
        kernel.prepare(np.triu(np.ones((4, 4))))
    A = kernel.prepare(K)
    with pytest.raises(InputError, match="4 training rows"):
        kernel.prepare(np.ones((2, 3)), like=A)
    B = kernel.prepare(np.ones((2, 4)), like=A)
    with pytest.raises(InputError, match="new rows"):
        kernel.matrix(B, kernel.prepare(np.ones((1, 4)), like=A))
    with pytest.raises(InputError, match="new rows"):
        kernel.diag(B)
