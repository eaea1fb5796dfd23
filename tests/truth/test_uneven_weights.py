"""Sparse rows of which a few weigh far more than the rest: the mean is theirs, and squares about it nearly cancel.

Truth is exact rational arithmetic, or balls, on the stored numbers.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes import filled, statistics
from ritz.data.passes.blocks import Block, MemoryBlocks
from ritz.data.passes.statistics import Statistics
from ritz.data.passes.unit import UnitChange
from ritz.testing.certify.cases import ADVERSE_FROM, adverse_cases
from ritz.testing.certify.checks import Subject
from ritz.testing.certify.run import run_case

SOLVERS = ["svd", "moments", "krylov", "lanczos", "chebyshev"]


def table(n=300, d=12, seed=0):
    """Rows with a twentieth of their entries, the two heaviest full; weights whose mean is the heaviest row's."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((n, d)) < 0.05, rng.standard_normal((n, d)) + 3, 0)
    rows[:2] = rng.standard_normal((2, d)) + 5
    w = 10.0 ** rng.uniform(-3, 2, n)
    w[:2] = 1e10, 1e4
    order = rng.permutation(n)
    return sp.csr_array(rows[order]), w[order]


def exact_total(X, w):
    """Σw(x − μ)², the columns together."""
    weights, total = [Fraction(float(v)) for v in w], Fraction(0)
    for column in X.toarray().T:
        x = [Fraction(float(v)) for v in column]
        mean = sum(a * b for a, b in zip(weights, x, strict=True)) / sum(weights)
        total += sum(a * (b - mean) ** 2 for a, b in zip(weights, x, strict=True))
    return total


def close(certificate, true, promise=1e-13):
    return abs(Fraction(float(certificate.total)) - true) <= Fraction(promise) * true


@pytest.fixture(params=[1 << 23, 0], ids=["copied", "block by block"])
def limit(request, monkeypatch):
    """Cells of a table that is copied as a whole."""
    for module in (filled, statistics):
        monkeypatch.setattr(module, "FILLED", request.param)
    return request.param


@pytest.mark.parametrize("solver", SOLVERS)
def test_totals_keep_their_digits(limit, solver):
    X, w = table()
    assert MemoryBlocks(X).sparse
    model = ritz.PCA(3, solver=solver).fit(X, sample_weight=w)
    assert close(model.certificate_, exact_total(X, w))
    assert np.all(model.certificate_.width <= 1e-12 * model.certificate_.values[0] + 4 * model.certificate_.residuals)
    assert model.certificate_.verify(X, w)


def test_states_and_their_mergers_keep_their_digits(limit):
    X, w = table()
    halves = [slice(0, 150), slice(150, 300)]
    parts = [ritz.PCA(3).partial_fit(X[some], sample_weight=w[some]) for some in halves]
    stream = ritz.PCA(3)
    for some in halves:
        stream.partial_fit(X[some], sample_weight=w[some])
    true = exact_total(X, w)
    for model in (parts[0].merge(parts[1]), stream):
        assert close(model.certificate_, true)
        assert model.certificate_.verify(X, w)


def test_scaled_columns_keep_their_digits(limit):
    X, w = table()
    model = ritz.PCA(3, scale=True).fit(X, sample_weight=w)
    dense = ritz.PCA(3, scale=True).fit(X.toarray(), sample_weight=w)
    np.testing.assert_allclose(model.scale_, dense.scale_, rtol=1e-14)
    assert model.certificate_.verify(X, w)


@pytest.mark.filterwarnings("ignore:Heywood case:ritz._core.errors.AccuracyWarning")
@pytest.mark.parametrize("method", [ritz.FactorAnalysis, ritz.SparsePCA])
def test_other_methods_keep_their_digits(limit, method):
    X, w = table()
    found, dense = (method(2).fit(rows, sample_weight=w).certificate_ for rows in (X, X.toarray()))
    np.testing.assert_allclose(found.total, dense.total, rtol=1e-13)
    np.testing.assert_allclose(found.values[0], dense.values[0], rtol=1e-13)
    assert np.all(found.width <= 1e-12 * found.values[0])


def test_a_wide_table_filled_block_by_block_is_that_of_its_copy(monkeypatch):
    X, _ = table(n=400, d=30)
    X, w = X.T.tocsr(), 10.0 ** np.linspace(-9, 9, 30)
    want = ritz.PCA(2, solver="krylov").fit(X, sample_weight=w)
    for module in (filled, statistics):
        monkeypatch.setattr(module, "FILLED", 0)
    found = ritz.PCA(2, solver="krylov").fit(X, sample_weight=w)
    np.testing.assert_allclose(found.singular_values_, want.singular_values_, rtol=1e-13)
    assert close(found.certificate_, exact_total(X, w))


def begins_again(X, w):
    """Whether a fit of these rows takes the mean off their entries."""
    stats = Statistics(MemoryBlocks(X), w, rescales=True)
    try:
        assert stats.column.rows == X.shape[0]
    except UnitChange as change:
        return change.dense
    return False


def test_rows_stay_sparse_where_the_mean_costs_nothing(limit):
    X, w = table()
    light = X[w < 100]
    assert not begins_again(light, None)
    assert not begins_again(light, np.random.default_rng(1).uniform(0.5, 20, light.shape[0]))
    assert not begins_again(X, np.ones(300))
    assert begins_again(X, w)


def test_a_column_of_ones_does_not_fill_a_large_table(monkeypatch):
    rng = np.random.default_rng(2)
    rows = np.where(rng.random((400, 20)) < 0.05, rng.standard_normal((400, 20)) + 3, 0)
    rows[:, 0] = 1.0
    w = rng.uniform(1, 1e5, 400)
    w[0] = 1.0
    for module in (filled, statistics):
        monkeypatch.setattr(module, "FILLED", 0)
    X = sp.csr_array(rows)
    assert w.max() / w.min() > statistics.UNEVEN
    assert not begins_again(X, w)
    assert close(ritz.PCA(2).fit(X, sample_weight=w).certificate_, exact_total(X, w))


def test_filled_blocks_are_the_rows():
    X, _ = table(n=700, d=9)
    inner = MemoryBlocks(X)
    blocks = filled.filled(inner)
    blocks.height = 64
    assert not blocks.sparse
    assert blocks.stored == 6300
    assert blocks.dtype == X.dtype
    dense, buffer = X.toarray(), np.empty((64, 9))

    def doubled(_scratch, block):
        assert block.values.shape[0] <= 64
        return np.multiply(block.values, 2, out=buffer[: block.values.shape[0]])  # a buffer that is used again

    assert np.array_equal(blocks.map_rows(doubled, np.empty((700, 9))), 2 * dense)
    assert np.array_equal(np.concatenate([block.values for block in blocks.each()]), dense)
    assert [block.start for block in blocks.each()] == list(range(0, 700, 64))
    assert np.array_equal(blocks.sample(70), inner.sample(70).toarray())
    assert filled.filled(dense) is dense

    class Seen:
        def __init__(self):
            self.blocks = []

        def merge(self, other):
            self.blocks += other.blocks

    def step(seen, block):
        seen.blocks.append(Block(block.values.copy(), block.start))

    seen = blocks.map_reduce(Seen, step).blocks
    assert np.array_equal(np.concatenate([block.values for block in seen]), dense)
    assert [block.start for block in seen] == sorted(block.start for block in seen)


@pytest.mark.parametrize("number", range(4))
def test_no_claim_is_refuted(number):
    """Weights from 1e-200 to 1e200."""
    pytest.importorskip("flint")
    far = (case for case in adverse_cases(0) if getattr(case, "weighting", "") == "far" and case.weighted)
    case = next(islice(far, number, None))
    records = run_case(ADVERSE_FROM, case)
    assert [record.solver for record in records] == list(case.routes)
    lines = [f"{r.solver}: {f.check} {f.component}: {f.words}" for r in records for f in r.findings]
    assert not lines, "\n".join([str(case), *lines])


def test_a_certificate_in_another_unit_is_judged_in_that_of_the_data():
    X = np.random.default_rng(0).standard_normal((30, 4))
    plain, small = ritz.PCA(2).fit(X), ritz.PCA(2).fit(X * 2.0**-490)
    assert "shown" in small.certificate_.frame
    found = Subject(None, "auto", small, X, None).certificate
    np.testing.assert_allclose(found.values * 2.0**980, plain.certificate_.values, rtol=1e-13)
    np.testing.assert_allclose(found.total * 2.0**980, plain.certificate_.total, rtol=1e-13)
