"""``check_operator`` names the fault of an operator that breaks any one promise of the contract."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sp

from ritz import kernels
from ritz.data.passes.rough import Rough
from ritz.operators import Dense, Gram, Operator, Shifted, Symmetric
from ritz.operators.assembled import Assembled
from ritz.operators.enclosed import Enclosed
from ritz.operators.kernel import CenteredKernel, KernelMatrix
from ritz.testing.operators import check_operator

RNG = np.random.default_rng(3)
X = RNG.standard_normal((30, 6))
S = X.T @ X
INDEFINITE = S - 20 * np.eye(6)
SKEW = S + np.triu(np.ones((6, 6)), 1)


class Plain(Operator):
    """A table that claims nothing beside its products."""

    def __init__(self, X, dtype=np.float64):
        super().__init__(X.shape, dtype)
        self.X = X

    def _matmat(self, V):
        return self.X @ V

    def _rmatmat(self, U):
        return self.X.T @ U

    def symbol(self):
        return "P"


class Square(Plain):
    """A symmetric matrix that tells all it can."""

    symmetric = True
    positive = True

    def trace(self):
        return float(np.trace(self.X))

    def frobenius2(self):
        return float(np.sum(self.X**2))

    def power_sums(self):
        return self.trace() * (1 - 1e-14), self.frobenius2() * (1 + 1e-14)


class Rounded(Square):
    """Products that are wrong by ``WRONG``, which ``measured`` tells."""

    WRONG = 1e-6

    def _matmat(self, V):
        return self.X @ V + self.WRONG * V

    def _rmatmat(self, U):
        return self._matmat(U)

    def trace(self):
        return None

    def frobenius2(self):
        return None

    def power_sums(self):
        return None

    def measured(self):
        return self.WRONG


def test_those_that_keep_their_promises_pass():
    check_operator(Plain(X), X, other=Plain(X + 1))
    check_operator(Square(S), S, other=Square(2 * S))
    check_operator(Rounded(S), S)
    check_operator(Symmetric(INDEFINITE), INDEFINITE, other=Symmetric(S))
    check_operator(Shifted(Gram(Dense(X)), -20.0), INDEFINITE)


def broken(base, **parts):
    return type("Broken", (base,), parts)


def roughly(self, *, scaled=False):
    squares = np.square(self.X).sum(axis=0)
    return Rough(self.X.T @ self.X * 1.001, squares, np.zeros_like(squares), 0.0, np.ones_like(squares), len(self.X))


def times(factor, name):
    def method(self, *args, **options):
        return getattr(super(type(self), self), name)(*args, **options) * factor

    return method


COUNTER = itertools.count()
OFF = 1 + 1e-9
#: What is broken: the operator, its matrix, and what the message must begin with.
BROKEN = {
    "assembled": (
        lambda: broken(Square, assembled=lambda s: Assembled(matrix=sp.csc_array(s.X * OFF)))(S),
        S,
        "assembled: differs",
    ),
    "assembled, a root": (
        lambda: broken(Square, assembled=lambda s: Assembled(root=sp.csr_array(X * OFF)))(S),
        S,
        "assembled: differs",
    ),
    "assembled of what may be negative": (
        lambda: broken(
            Square,
            positive=False,
            power_sums=lambda s: None,
            assembled=lambda s: Assembled(matrix=sp.csc_array(s.X)),
        )(S),
        S,
        "assembled: of an operator",
    ),
    "null": (lambda: broken(Square, null=lambda s: np.ones(6))(S), S, "null: differs"),
    "apart": (lambda: broken(Square, apart=None)(S), S, "apart: None"),
    "matmat": (lambda: broken(Plain, _matmat=lambda s, V: s.X @ V * OFF)(X), X, "matmat: differs"),
    "rmatmat": (lambda: broken(Dense, _rmatmat=times(OFF, "_rmatmat"))(X), X, "rmatmat: differs"),
    "across": (lambda: broken(Dense, across=times(OFF, "across"))(X), X, "across: differs"),
    "normal": (lambda: broken(Plain, _normal=lambda s, V: s.X.T @ (s.X @ V) * OFF)(X), X, "normal: differs"),
    "halves": (lambda: broken(Plain, _halves=lambda s, V: (None, s.X.T @ (s.X @ V) * OFF))(X), X, "halves: differs"),
    "halves, the first": (
        lambda: broken(Plain, _halves=lambda s, V: (s.X @ V * OFF, s.X.T @ (s.X @ V)))(X),
        X,
        "halves, A V: differs",
    ),
    "rooted": (lambda: broken(Square, rooted=lambda s, V: (None, s.X @ V * OFF))(S), S, "rooted: differs"),
    "rooted, the root": (
        lambda: broken(Square, rooted=lambda s, V: (X @ V * OFF, s.X @ V))(S),
        S,
        "rooted, the root: differs",
    ),
    "gram": (lambda: broken(Dense, _gram=times(OFF, "_gram"))(X), X, r"gram\(W\): differs"),
    "gram without W": (
        lambda: broken(Plain, _gram=lambda s, W: s.X.T @ s.X * OFF if W is None else W.T @ s.X.T @ s.X @ W)(X),
        X,
        r"gram\(\): differs",
    ),
    "T": (lambda: broken(Plain, T=property(lambda s: Plain(s.X.T * OFF)))(X), X, "matmat of A.T: differs"),
    "to_dense": (lambda: broken(Plain, to_dense=lambda s, budget=9: s.X * OFF)(X), X, "to_dense: differs"),
    "to_dense beyond its budget": (lambda: broken(Plain, to_dense=lambda s, budget=9: s.X)(X), X, "to_dense beyond"),
    "shape": (lambda: Plain(X), X[:, :-1], "P  .* has shape"),
    "advice": (lambda: broken(Plain, advice=3)(X), X, "advice: neither None nor words"),
    "a shape that is not checked": (
        lambda: broken(Plain, _check=lambda s, *a: None, _matmat=lambda s, V: s.X @ V[: s.shape[1]])(X),
        X,
        "matmat of a block of another shape: accepted",
    ),
    "dtype": (lambda: broken(Plain, _matmat=lambda s, V: (s.X @ V).astype(np.float32))(X), X, "matmat: differs"),
    "symmetric": (
        lambda: broken(Plain, symmetric=True, _rmatmat=lambda s, U: s.X.T @ U, T=property(lambda s: Plain(s.X.T)))(
            SKEW
        ),
        SKEW,
        "symmetric",
    ),
    "symmetric of a table": (
        lambda: broken(Plain, symmetric=True, T=property(lambda s: Plain(s.X.T)))(X),
        X,
        "symmetric: said of",
    ),
    "positive": (
        lambda: broken(Square, power_sums=lambda s: None)(INDEFINITE),
        INDEFINITE,
        "positive: said of an operator with",
    ),
    "below": (lambda: broken(Plain, below=1e-9)(S), S, "below: told of an operator that is not positive"),
    "positive, not symmetric": (
        lambda: broken(Plain, positive=True)(S),
        S,
        "positive: said of an operator that is not sym",
    ),
    "trace": (lambda: broken(Square, trace=times(1 + 1e-6, "trace"))(S), S, "trace: differs"),
    "trace of a table": (lambda: broken(Plain, trace=lambda s: 1.0)(X), X, "trace: told of"),
    "frobenius2": (lambda: broken(Dense, frobenius2=times(1 + 1e-6, "frobenius2"))(X), X, "frobenius2: differs"),
    "power_sums, the first": (
        lambda: broken(Square, power_sums=lambda s: (s.trace() * 1.01, s.frobenius2()))(S),
        S,
        "power_sums: Σλ ≥",
    ),
    "power_sums, the second": (
        lambda: broken(Square, power_sums=lambda s: (s.trace(), s.frobenius2() * 0.99))(S),
        S,
        "power_sums: Σλ² ≤",
    ),
    "square_sum": (
        lambda: broken(Square, square_sum=lambda s: s.frobenius2() * 0.99)(S),
        S,
        "square_sum: Σλ² ≤",
    ),
    "power_sums of a table": (lambda: broken(Plain, power_sums=lambda s: (0.0, 1e9))(X), X, "power_sums: told of"),
    "inflation": (lambda: broken(Plain, inflation=lambda s: -1.0)(X), X, "inflation: -1.0"),
    "measured": (lambda: broken(Rounded, measured=lambda s: 1e-9)(S), S, "(matmat|inflation|perturbation)"),
    "measured, of a table": (
        lambda: broken(Plain, measured=lambda s: 1e-9, _normal=lambda s, V: s.X.T @ (s.X @ V) + 1e-6 * V)(X),
        X,
        "normal: differs",
    ),
    "perturbation": (lambda: broken(Rounded, perturbation=lambda s: 1e-9)(S), S, "matmat: differs"),
    "scale_error": (lambda: broken(Plain, scale_error=lambda s: 2.0)(X), X, "scale_error: 2.0"),
    "gram_dtype": (lambda: broken(Plain, gram_dtype=lambda s: np.int64)(X), X, "gram_dtype: int64"),
    "gram_noise": (
        lambda: broken(
            Plain, inflation=lambda s: 1e22, gram_inflation=lambda s: 0.0, gram_noise=lambda s: 0.0, _gram=_gram_off
        )(X),
        X,
        "gram_noise and gram_inflation: products are off",
    ),
    "noise_along": (
        lambda: broken(
            Plain,
            inflation=lambda s: 1e22,
            gram_noise=lambda s: 1.0,
            gram_inflation=lambda s: 0.0,
            noise_along=lambda s, V: 1e-9,
            _gram=_gram_off,
        )(X),
        X,
        "noise_along: products are off",
    ),
    "at": (lambda: broken(Plain, at=lambda s, dtype: Plain(s.X * OFF))(X), X, r"matmat of at\(float32\): differs"),
    "unchecked": (
        lambda: broken(Plain, unchecked=lambda s: Plain(s.X * OFF))(X),
        X,
        r"matmat of unchecked\(\): differs",
    ),
    "loose": (lambda: broken(Plain, loose=lambda s: Plain(s.X * OFF))(X), X, r"matmat of loose\(\): differs"),
    "faint": (lambda: broken(Plain, faint=lambda self, k, *, scaled=False: None)(X), X, "faint: None"),
    "narrowed": (lambda: broken(Plain, narrowed=lambda _: None)(X), X, "narrowed: None"),
    "rough": (lambda: broken(Plain, rough=roughly)(X), X, "rough: products are off by"),
    "at_hand": (lambda: broken(Plain, at_hand=lambda _: "yes")(X), X, "at_hand: is 'yes' of entries"),
    "vector_product": (
        lambda: broken(Plain, vector_product=lambda s: lambda v: OFF * (s.X @ v))(S),
        S,
        "vector_product: differs",
    ),
    "vector_normal": (
        lambda: broken(Plain, vector_normal=lambda s: lambda v: OFF * (s.X.T @ (s.X @ v)))(X),
        X,
        "vector_normal: differs",
    ),
    "wider": (lambda: broken(Plain, wider=lambda s: Plain(s.X * OFF))(X), X, r"matmat of wider\(\): differs"),
    "coarsest": (
        lambda: broken(Plain, coarsest=lambda s: Plain(s.X * 1.5))(X),
        X,
        r"matmat of coarsest\(\): differs",
    ),
    "lean": (lambda: broken(Plain, lean=lambda s: Plain(s.X * 1.5))(X), X, r"matmat of lean\(\): differs"),
    "grain": (lambda: broken(Plain, grain=2.0)(X), X, "grain: of coarsest"),
    "block_width": (lambda: broken(Plain, block_width=lambda s, columns: 4)(X), X, "block_width: 4 for 5 columns"),
    "wider that is not": (
        lambda: broken(Plain, wider=lambda s: broken(Plain, gram_dtype=lambda t: np.float32)(s.X))(X),
        X,
        r"wider\(\): forms its Gram matrix",
    ),
    "check": (lambda: Unseeing(), None, "check: products are off"),
    "key that changes": (lambda: broken(Plain, key=lambda s: next(COUNTER))(X), X, "key: differs when"),
    "key of nothing": (lambda: broken(Plain, key=lambda s: 7)(X), X, "key: is the same for other data"),
    "key of no number": (lambda: broken(Plain, key=lambda s: "x")(X), X, "key: 'x'"),
    "calls": (lambda: broken(Plain, matmat=lambda s, V: s.X @ V)(X), X, "(calls|matmat of a block)"),
    "passes": (lambda: broken(Plain, passes=lambda s: -next(COUNTER))(X), X, "passes: fell"),
    "symbol": (lambda: broken(Plain, symbol=lambda s: "")(X), X, "symbol"),
    "enclosed": (lambda: broken(Plain, enclosed=lambda s: _between(2 * S))(S), S, "enclosed: the lower bound"),
    "enclosed with less than nothing": (
        lambda: broken(Plain, enclosed=lambda s: _between(S, lost=-1.0))(S),
        S,
        "enclosed: told with a negative bound",
    ),
    "place": (lambda: broken(Plain, xp=_strict())(X), X, "matmat: gives a block on"),
}


def _between(high, lost=0.0):
    return Enclosed(np.eye(6), high, 0 * high, lost, 0.0, 0.0, 1)


def _gram_off(self, W):
    return self.X.T @ self.X + 1e-3 * np.eye(6) if W is None else W.T @ self.X.T @ self.X @ W


def _strict():
    import array_api_strict

    return array_api_strict


class Unseeing(KernelMatrix):
    """A kernel matrix whose check looks at nothing."""

    def __init__(self, **_options):
        kernel = kernels.RBF(0.2)
        super().__init__(kernel, kernel.prepare(X), **_options)

    def _same(self, dtype):
        other = Unseeing(precision=dtype)
        other._known, other._noise = self._known, self._noise
        return other

    def check(self, V, MV, *, answer=0, length=None):
        self._noise[self.dtype] = 1e-5


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_named(name):
    make, dense, words = BROKEN[name]
    A = make()
    dense = kernels.RBF(0.2)(X) if dense is None else dense
    with pytest.raises(AssertionError) as error:
        check_operator(A, dense, other=type(A)(dense + 1) if "nothing" in name else None)
    assert re.match(words, str(error.value)), str(error.value)


def test_every_part_of_the_contract_has_a_broken_operator():
    """A method that is added to the contract is added here."""
    public = {name for name in vars(Operator) if not name.startswith("_")} | {"calls", "shape", "dtype"}
    tried = " ".join(BROKEN)
    elsewhere = {
        "checkable": "check",
        "xp": "place",
        "device": "place",
        "gram_inflation": "gram_noise",
        "arithmetic": "gram_dtype",
    }
    missing = [name for name in public if elsewhere.get(name, name) not in tried]
    assert not missing


def test_kernels_pass_with_all_their_forms():
    kernel = kernels.RBF(0.2)
    K = KernelMatrix(kernel, kernel.prepare(X))
    dense = kernel(X)
    J = np.eye(30) - 1 / 30
    check_operator(K, dense)
    check_operator(CenteredKernel(K), J @ dense @ J)
