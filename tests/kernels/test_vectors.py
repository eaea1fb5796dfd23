"""Kernels of vectors against naive loops, scikit-learn and mpmath."""

from __future__ import annotations

from itertools import product
from math import factorial, prod

import mpmath
import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.metrics.pairwise import pairwise_kernels

from ritz import kernels
from ritz._core.errors import InputError, ParameterError
from ritz.kernels import laplacian, vectors
from ritz.testing.kernels import check_kernel


def rows(n: int = 40, d: int = 5, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[3 % n] = X[n // 2]  # a duplicate
    X[5 % n] = 0.0
    return X


def distance(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True))))


def bessel(nu: float, r: float) -> float:
    """The Matérn formula in 40 digits."""
    if r == 0:
        return 1.0
    with mpmath.workdps(40):
        r, nu = mpmath.mpf(r) * mpmath.sqrt(2 * mpmath.mpf(nu)), mpmath.mpf(nu)
        return float(2 ** (1 - nu) / mpmath.gamma(nu) * r**nu * mpmath.besselk(nu, r))


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    size = np.sqrt((x @ x) * (y @ y))
    return x @ y / size if size > 0 else 0.0


CASES = [
    (kernels.Linear(), lambda x, y: sum(a * b for a, b in zip(x, y, strict=True))),
    (kernels.Polynomial(), lambda x, y: (x @ y / 5 + 1) ** 3),
    (kernels.Polynomial(2, 0.3, 0.0), lambda x, y: (0.3 * (x @ y)) ** 2),
    (kernels.Polynomial(1, 0.3, -1.0), lambda x, y: 0.3 * (x @ y) - 1),
    (kernels.Polynomial(7, 0.1, 0.5), lambda x, y: (0.1 * (x @ y) + 0.5) ** 7),
    (kernels.RBF(), lambda x, y: np.exp(-(distance(x, y) ** 2) / 5)),
    (kernels.RBF(30.0), lambda x, y: np.exp(-30 * distance(x, y) ** 2)),
    (kernels.Sigmoid(0.2, -0.5), lambda x, y: np.tanh(0.2 * (x @ y) - 0.5)),
    (kernels.Laplacian(), lambda x, y: np.exp(-np.sum(np.abs(x - y)) / 5)),
    (kernels.Laplacian(2.0), lambda x, y: np.exp(-2 * np.sum(np.abs(x - y)))),
    (kernels.Cosine(), cosine),
    (kernels.Matern(0.5, 2.0), lambda x, y: bessel(0.5, distance(x, y) / 2)),
    (kernels.Matern(1.5, 0.7), lambda x, y: bessel(1.5, distance(x, y) / 0.7)),
    (kernels.Matern(2.5), lambda x, y: bessel(2.5, distance(x, y))),
    (kernels.Matern(0.3), lambda x, y: bessel(0.3, distance(x, y))),
    (kernels.Matern(4.2, 3.0), lambda x, y: bessel(4.2, distance(x, y) / 3)),
    (kernels.Matern(np.inf, 1.3), lambda x, y: np.exp(-(distance(x, y) ** 2) / (2 * 1.3**2))),
]


@pytest.mark.parametrize(("kernel", "formula"), CASES, ids=lambda value: repr(value) if hasattr(value, "tile") else "")
def test_every_kernel_keeps_the_contract_and_equals_its_formula(kernel, formula):
    check_kernel(kernel, rows(), formula=formula)


@pytest.mark.parametrize("kernel", [case[0] for case in CASES], ids=repr)
@pytest.mark.parametrize("shape", [(1, 4), (2, 1), (9, 1), (3, 50)])
def test_small_and_narrow_tables(kernel, shape):
    check_kernel(kernel, np.random.default_rng(1).standard_normal(shape))


@pytest.mark.parametrize(
    ("name", "kernel", "params"),
    [
        ("linear", kernels.Linear(), {}),
        ("poly", kernels.Polynomial(4, 0.1, 2.0), {"degree": 4, "gamma": 0.1, "coef0": 2.0}),
        ("poly", kernels.Polynomial(), {}),
        ("rbf", kernels.RBF(), {}),
        ("sigmoid", kernels.Sigmoid(), {}),
        ("laplacian", kernels.Laplacian(0.4), {"gamma": 0.4}),
        ("laplacian", kernels.Laplacian(), {}),
        ("cosine", kernels.Cosine(), {}),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "csr"])
def test_scikit_learn_gives_the_same_numbers(name, kernel, params, form):
    X, Y = rows(70, 8), rows(30, 8, seed=1)
    expected = pairwise_kernels(X, Y, metric=name, **params)
    assert kernel(form(X), form(Y)) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert kernel(form(X)) == pytest.approx(pairwise_kernels(X, metric=name, **params), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("offset", [1e4, 1e8, 1e12])
@pytest.mark.parametrize(
    ("kernel", "of"),
    [
        (kernels.RBF(0.3), lambda gap: mpmath.exp(-0.3 * mpmath.fsum(g**2 for g in gap))),
        (kernels.Laplacian(0.3), lambda gap: mpmath.exp(-0.3 * mpmath.fsum(abs(g) for g in gap))),
        (kernels.Matern(0.5), lambda gap: mpmath.exp(-mpmath.sqrt(mpmath.fsum(g**2 for g in gap)))),
    ],
    ids=["RBF", "Laplacian", "Matern"],
)
def test_a_large_offset_costs_no_digits(kernel, of, offset):
    X = np.round(np.random.default_rng(2).standard_normal((12, 4)), 3) + offset
    with mpmath.workdps(40):
        exact = [[mpmath.mpf(float(value)) for value in row] for row in X]
        expected = np.array([[float(of([a - b for a, b in zip(x, y, strict=True)])) for y in exact] for x in exact])
    assert np.max(np.abs(kernel(X) - expected)) < 2e-15
    narrow = kernel.tile(*[kernel.prepare(X, dtype=np.float32)] * 2, slice(0, 12), slice(0, 12))
    assert np.max(np.abs(narrow - expected)) < 1e-6


def test_a_float32_table_far_from_zero_keeps_its_distances():
    X = (np.random.default_rng(3).standard_normal((50, 6)) * 2 + 3000).astype(np.float32)
    exact = np.exp(-0.1 * np.sum((X[:, None].astype(float) - X[None].astype(float)) ** 2, axis=2))
    assert np.max(np.abs(kernels.RBF(0.1)(X) - exact)) < 2e-6
    # the same formula without the shift, as it is often written
    square = np.sum(X * X, axis=1)
    naive = np.exp(-0.1 * (square[:, None] + square[None] - 2 * X @ X.T))
    assert np.max(np.abs(naive - exact)) > 0.05


def test_duplicates_and_the_diagonal_are_exactly_one():
    X = rows(30, 7) * 1e5 + 1e9
    X[11] = X[2]
    for kernel in (kernels.RBF(1e-3), kernels.Matern(0.5), kernels.Matern(1.5), kernels.Laplacian(1.0)):
        K = kernel(X)
        assert np.all(np.diag(K) == 1)
        assert np.all(K <= 1)
        assert K[11, 2] == pytest.approx(1, abs=1e-8)
    assert kernels.Matern(0.5)(X)[11, 2] == 1  # the cusp: rounding of the squared distance would give 1 − 1e-5


def test_cosine_of_zero_rows_and_of_huge_ones():
    X = np.array([[0.0, 0.0], [1e200, 1e200], [1e-200, 0.0], [-3.0, 4.0]])
    expected = np.array(
        [[0, 0, 0, 0], [0, 1, 0.5**0.5, 0.1 / 2**0.5 * 2], [0, 0.5**0.5, 1, -0.6], [0, 0.2 / 2**0.5, -0.6, 1]]
    )
    for form in (np.asarray, csr_array):
        assert kernels.Cosine()(form(X)) == pytest.approx(expected, abs=1e-15)


def test_sparse_rows_stay_sparse_and_other_inputs_are_taken():
    X = random_array((40, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    for kernel in (kernels.Linear(), kernels.RBF(), kernels.Cosine(), kernels.Polynomial(), kernels.Laplacian()):
        A = kernel.prepare(X)
        assert hasattr(A["Z"], "nnz")
        assert A["Z"].nnz == X.nnz
        expected = kernel(X.toarray())
        assert kernel(X) == pytest.approx(expected, rel=1e-12, abs=1e-14)
        mixed = kernel.matrix(kernel.prepare(X.toarray()[:5], like=A), A)
        assert mixed == pytest.approx(expected[:5], rel=1e-12, abs=1e-14)
    whole = np.arange(12).reshape(4, 3)
    for other in (
        whole.astype(np.uint8),
        np.asfortranarray(whole.astype(float)),
        whole.tolist(),
        whole.astype(np.float16),
    ):
        assert kernels.RBF(0.01)(other) == pytest.approx(kernels.RBF(0.01)(whole.astype(float)), rel=1e-6)


def test_entries_of_csr_rows_that_come_in_parts():
    X = csr_array((np.array([1.0, 2.0, 4.0, 1.0]), np.array([2, 2, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))
    for kernel in (kernels.RBF(0.1), kernels.Laplacian(0.1), kernels.Cosine(), kernels.Linear()):
        assert kernel(X) == pytest.approx(kernel(np.array([[4.0, 0.0, 3.0], [0.0, 1.0, 0.0]])))
    assert X.nnz == 4  # the caller's matrix is not touched


def test_the_laplacian_loop_without_numba(monkeypatch):
    monkeypatch.setattr(laplacian, "_compiled", lambda: None)
    X, Y = rows(150, 9), rows(70, 9, seed=4)
    expected = pairwise_kernels(X, Y, metric="laplacian", gamma=0.3)
    for form in (np.asarray, csr_array):
        assert kernels.Laplacian(0.3)(form(X), form(Y)) == pytest.approx(expected, rel=1e-12)


def test_matern_between_its_closed_forms_and_near_zero():
    r = np.concatenate([[0.0], np.logspace(-12, 2, 57)])
    for nu in (0.2, 0.5, 0.75, 1.0, 1.5, 2.2, 2.5, 7.0, 40.0):
        K = np.array([kernels.Matern(nu)(np.array([[0.0], [each]]))[0, 1] for each in r])
        expected = np.array([bessel(nu, float(each)) for each in r])
        assert np.max(np.abs(K - expected)) < 3e-13, nu


def test_features_reproduce_the_kernel():
    X = rows(20, 4)
    for kernel in (kernels.Linear(), kernels.Cosine(), kernels.Polynomial(2), kernels.Polynomial(3, 0.2, 0.0)):
        F = kernel.features(X)
        assert pytest.approx(kernel(X), rel=1e-12, abs=1e-12) == F @ F.T
    assert kernels.Polynomial(2).feature_map(X).size == 15
    assert kernels.RBF().features(X) is None
    assert kernels.Polynomial(3).features(np.zeros((2, 100))) is None


@pytest.mark.parametrize("together", [1, 50, 1 << 18])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.0), (1, 1.0), (2, 0.0), (3, 4.0), (5, 1.0)])
def test_monomials_are_weighted_products_whatever_rows_are_made_together(degree, coef0, dtype, together, monkeypatch):
    monkeypatch.setattr(vectors, "MONOMIALS", together)
    X = np.random.default_rng(1).integers(-3, 4, (11, 3)).astype(dtype)
    F = kernels.Polynomial(degree, 1.0, coef0).features(X)
    Z = np.column_stack([X, np.full(11, np.sqrt(coef0))]) if coef0 else X
    powers = [p for p in product(range(degree + 1), repeat=Z.shape[1]) if sum(p) == degree]
    assert F.shape == (11, len(powers))
    assert F.dtype == dtype
    # one feature for each monomial: the multinomial theorem, in exact numbers
    expected = {p: factorial(degree) / prod(map(factorial, p)) * np.prod(Z ** np.array(p), axis=1) ** 2 for p in powers}
    squares = np.sort(np.square(F, dtype=np.float64), axis=1)
    assert np.allclose(squares, np.sort(np.column_stack(list(expected.values())), axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: kernels.RBF(0),
        lambda: kernels.RBF(-1.0),
        lambda: kernels.RBF(np.nan),
        lambda: kernels.RBF("medium"),
        lambda: kernels.RBF(True),
        lambda: kernels.Polynomial(0),
        lambda: kernels.Polynomial(2.5),
        lambda: kernels.Matern(-1),
        lambda: kernels.Matern(1.5, 0),
        lambda: kernels.RBF("median").prepare(np.eye(3)),
        lambda: kernels.RBF().with_params(degree=2),
    ],
)
def test_parameters_that_cannot_be(bad):
    with pytest.raises(ParameterError):
        bad()


def test_rows_that_cannot_be_compared():
    kernel = kernels.RBF(0.1)
    with pytest.raises(InputError, match="rows and columns"):
        kernel(np.arange(3.0))
    with pytest.raises(InputError, match="same columns"):
        kernel(np.eye(3), np.eye(4))
    with pytest.raises(InputError, match="finite"):
        kernel(np.array([[1.0], [np.nan]]))


def test_a_kernel_is_a_value():
    assert kernels.RBF(0.5) == kernels.RBF(np.float32(0.5))
    assert kernels.RBF(0.5) != kernels.Laplacian(0.5)
    assert repr(kernels.RBF(0.5)) == "RBF(gamma=0.5)"
    assert len({kernels.RBF(0.5), kernels.RBF(0.5), kernels.RBF(0.6)}) == 2
    with pytest.raises(AttributeError):
        kernels.RBF(0.5).gamma = 1.0
