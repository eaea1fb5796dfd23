"""Rounding of long sums: tables whose spectrum is a closed form, and where all roundings go the same way.

Truth is exact rational arithmetic on the stored numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.compensated import add_into, chain, settle, two_product, two_sum
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.gram import DensePass
from ritz.data.passes.moments import Moments
from ritz.data.passes.sparse import sums as sparse_sums
from ritz.data.passes.statistics import Statistics

CONSTANTS = [0.7, 0.1, 0.3, 1 / 3]


def holds(certificate, truth, width=1e-13):
    """Every labelled interval contains its eigenvalue, and is no wider than ``width``·λ₁."""
    for i, (low, high, true) in enumerate(zip(certificate.lower, certificate.upper, truth, strict=False)):
        if certificate.labelled[i]:
            assert Fraction(float(low)) <= true <= Fraction(float(high)), (i, float(true), low, high)
            assert high - low <= width * float(truth[0])


# many merges


@pytest.mark.parametrize("value", CONSTANTS)
def test_many_alike_batches(value):
    model, batch = ritz.PCA(2), np.array([[value, value], [-value, -value]])
    for _ in range(1000):
        model.partial_fit(batch)
    holds(model.certificate_, [Fraction(value) ** 2 * 4 * 1000, Fraction(0)], 5e-14)


@pytest.mark.filterwarnings("ignore:what the components leave:ritz._core.errors.AccuracyWarning")
@pytest.mark.parametrize("value", CONSTANTS)
def test_many_single_rows_and_weights(value):
    model = ritz.PCA(1)
    for i in range(600):
        model.partial_fit([[value * (-1) ** i, 0.0]], sample_weight=[0.1])
    w, x = Fraction(0.1), Fraction(value)
    holds(model.certificate_, [600 * w * x * x], 5e-14)
    assert abs(Fraction(model._record.state.weight) - 600 * w) <= Fraction(2) ** -53 * 600 * w


def test_many_merges_in_a_chain_and_in_a_tree():
    value, parts = 0.7, []
    for i in range(512):
        part = ritz.PCA(2).partial_fit(np.array([[value, 0.0], [-value, 0.0], [0.0, value / 4 * (i % 3)]]))
        parts.append(part)
    x = Fraction(value)
    y = [Fraction(value / 4 * (i % 3)) for i in range(512)]
    n, total = 3 * 512, sum(y)
    truth = [1024 * x * x, sum(v * v for v in y) - total * total / n]
    chained = parts[0].merge(*parts[1:])
    while len(parts) > 1:
        parts = [a.merge(b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    for model in (chained, parts[0]):
        holds(model.certificate_, truth, 1e-13)


def test_a_state_without_what_rounding_took_still_merges():
    state = Statistics(MemoryBlocks(np.random.default_rng(0).standard_normal((50, 3)) + 5)).moments
    merged = state.merge(state)
    header, arrays = merged.arrays()
    assert {"scatter_low", "offset_low"} <= set(arrays)
    old = Moments.from_arrays(
        {name: header[name] for name in ("rows", "weight", "unit", "noise", "roundoff")},
        {name: arrays[name] for name in ("shift", "offset", "scatter")},
    )
    again = old.merge(Moments.from_arrays(header, arrays))
    np.testing.assert_allclose(again.scatter, 4 * state.scatter, rtol=1e-15, atol=1e-15)


def test_error_free_transformations():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(200) * 2.0 ** rng.integers(-40, 40, 200), rng.standard_normal(200)
    for (high, low), exact in (
        (two_sum(a, b), [Fraction(x) + Fraction(y) for x, y in zip(a, b, strict=True)]),
        (two_product(a, b), [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]),
    ):
        assert [Fraction(x) + Fraction(y) for x, y in zip(high, low, strict=True)] == exact
    high, low = chain([a, b, -a])
    assert np.all(np.abs(high + low - b) <= 2.0**-52 * np.abs(b))
    total, rest = np.zeros((3, 3)), np.zeros((3, 3))
    for _ in range(3000):
        add_into(total, rest, np.full((3, 3), 0.1))
    assert Fraction(float(total[0, 0])) + Fraction(float(rest[0, 0])) == 3000 * Fraction(0.1)
    rest += 7.3
    before = Fraction(float(total[1, 1])) + Fraction(float(rest[1, 1]))
    settle(total, rest)
    assert Fraction(float(total[1, 1])) + Fraction(float(rest[1, 1])) == before
    assert abs(rest[1, 1]) <= 2.0**-52 * total[1, 1]


# sparse tables with repeated values


def column_of(value, n, d=20, dtype=np.float64):
    """One column of n equal entries, two shorter ones orthogonal to it; and the eigenvalues of XᵀX."""
    rows = np.arange(n)
    sign = np.where(rows % 2, 1, -1)
    data = np.concatenate([np.full(n, value), sign[:5000] * value, sign[5000:6000] * value]).astype(dtype)
    at = np.repeat([0, 1, 2], [n, 5000, 1000])
    X = sp.csr_matrix((data, (np.concatenate([rows, rows[:5000], rows[5000:6000]]), at)), shape=(n, d))
    square = Fraction(float(dtype(value))) ** 2
    return X, [square * n, square * 5000, square * 1000]


@pytest.mark.parametrize("value", CONSTANTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_entries_of_a_sparse_column(value, dtype):
    X, truth = column_of(value, 70001, dtype=dtype)
    for solver in ("moments", "krylov", "lanczos", "chebyshev"):
        c = ritz.SVD(2, solver=solver).fit(X).certificate_
        holds(c, truth, 1e-12)
        assert abs(Fraction(c.total) - sum(truth)) <= Fraction(1, 10**15) * sum(truth)
    assert c.verify(X)


@pytest.mark.parametrize("solver", ["moments", "krylov", "lanczos"])
def test_equal_entries_of_a_sparse_row(solver):
    X, truth = column_of(0.1, 70001)
    holds(ritz.SVD(2, solver=solver).fit(X.T.tocsr()).certificate_, truth, 1e-12)


def test_sparse_centring_and_weights():
    n, value, weight = 40000, 0.7, 0.3
    X = sp.csr_matrix((np.full(n // 8, value), (np.arange(0, n, 8), np.zeros(n // 8, int))), shape=(n, 6))
    x, w, m = Fraction(value), Fraction(weight), n // 8
    plain = m * x * x - (m * x) ** 2 / n
    for solver in ("moments", "krylov"):
        holds(ritz.PCA(1, solver=solver).fit(X).certificate_, [plain], 1e-12)
        weighted = ritz.PCA(1, solver=solver).fit(X, sample_weight=np.full(n, weight))
        holds(weighted.certificate_, [w * plain], 1e-12)


@pytest.mark.parametrize("solver", ["lanczos", "power", "krylov", "chebyshev"])
@pytest.mark.parametrize("value", [0.7, 1 / 3])
def test_equal_numbers_that_stand_together(value, solver):
    """Pieces of the same number of rows do not cut the entries of sorted rows: one of them holds all 1,276."""
    n, m, x = 65_536, 1276, Fraction(value)
    X = sp.csr_matrix((np.full(m, value), np.zeros(m, int), np.minimum(np.arange(n + 1), m)), shape=(n, 2))
    model = ritz.PCA(1, solver=solver, tol=1e-3).fit(X)
    holds(model.certificate_, [m * x * x - (m * x) ** 2 / n], 1e-12)


def test_sparse_sums_agree_with_dense_ones():
    X = sp.random(3000, 30, 0.15, format="csr", random_state=0)
    X = sp.vstack([X, sp.csr_matrix(np.outer(np.ones(900), np.eye(30)[0]))]).tocsr()
    D, B = X.toarray(), np.random.default_rng(0).standard_normal((3900, 3))
    m, q = sparse_sums.sums(X, np.arange(3900.0))
    np.testing.assert_allclose(m, np.arange(3900.0) @ D, rtol=1e-12)
    np.testing.assert_allclose(q, np.arange(3900.0) @ (D * D), rtol=1e-12)
    np.testing.assert_allclose(sparse_sums.adjoint(X, B, sparse_sums.cuts_of(X)), D.T @ B, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sparse_sums.times(X.T.tocsr(), B), D.T @ B, rtol=1e-11, atol=1e-11)
    empty = sp.csr_matrix((5, 4))
    assert not sparse_sums.sums(empty)[0].any()


# blocks unlike the first ones


def signs(n, d, where):
    """A table of ±1 with rows of zeros; and its Gram matrix, exactly."""
    S = np.where(np.random.default_rng(n + d).random((n, d)) < 0.5, -1.0, 1.0)
    if where == "start":  # of both lanes
        S[: n // 8], S[n // 2 : n // 2 + n // 8] = 0, 0
    elif where == "late":
        S[: n - n // 20] = 0
    elif where == "middle":
        S[n // 3 : 2 * n // 3] = 0
    return S, S.T @ S


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("where", ["start", "middle", "late", "nowhere"])
@pytest.mark.parametrize("value", [0.1, 0.7])
def test_rounding_is_measured_where_the_mass_is(dtype, where, value):
    S, G = signs(120_000, 24, where)
    X = S.astype(dtype) * dtype(value)
    state = Statistics(MemoryBlocks(X), None, dtype)
    _, found, told = state._products(False)
    noise = told()
    shift = state.shift
    if not shift.any():  # about zero the exact Gram matrix is value²·G; about a shift it is a sum of integers as well
        exact = G.astype(np.longdouble) * np.longdouble(dtype(value)) ** 2
    else:
        z = [(dtype(s * value) - shift.astype(dtype)).astype(np.longdouble) for s in (-1, 0, 1)]
        masks = [(s == S).astype(np.float64) for s in (-1, 0, 1)]
        exact = sum(np.outer(z[i], z[j]) * (masks[i].T @ masks[j]) for i in range(3) for j in range(3))
    error = np.linalg.norm((found - exact).astype(np.float64), 2)
    assert error <= noise + 4 * 2.0**-53 * np.linalg.norm(found, 2)
    # where few blocks have any mass, so much that the pass is made again in short pieces
    assert where == "late" or noise <= 800 * np.finfo(dtype).eps * np.linalg.norm(found, 2)
    c = ritz.SVD(2, solver="moments").fit(X).certificate_
    true = np.linalg.eigvalsh(G)[::-1][:2] * float(dtype(value)) ** 2
    slack = 1e-15 * true[0]
    assert np.all((c.lower <= true + slack) & (true <= c.upper + slack))


def test_many_blocks_cost_no_more_than_one():
    """The sum over blocks: 2,000 equal ones drifted by hundreds of round-offs."""
    sums = DensePass(np.zeros(2), 1.0, None, np.dtype(np.float64), True, rows=2000 * 64)
    rows = np.full((64, 2), 0.7)
    for i in range(2000):
        sums.feed(Block(rows, 64 * i))
    exact = Fraction(0.7) ** 2 * 64 * 2000
    assert abs(Fraction(float(sums.finish()[0, 1])) - exact) <= 20 * Fraction(2) ** -53 * exact


@pytest.mark.parametrize("solver", ["krylov", "lanczos", "chebyshev"])
def test_equal_rows_by_products(solver):
    n, value = 100_000, 0.3
    X = np.full((n, 3), value) * [1, 2, 4]
    truth = [21 * Fraction(value) ** 2 * n]
    holds(ritz.SVD(1, solver=solver).fit(X).certificate_, truth, 1e-12)
    weighted = ritz.PCA(1, solver=solver, center=False).fit(X, sample_weight=np.full(n, 0.5))
    holds(weighted.certificate_, [truth[0] / 2], 1e-12)
