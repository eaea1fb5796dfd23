"""The moment state: merge, subtract, large means, weights, extreme units, measured rounding."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from ritz._core.container import read_container, write_container
from ritz._core.errors import MergeError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import Statistics

RNG = np.random.default_rng(0)


def state(X, w=None, precision=np.float64):
    return Statistics(MemoryBlocks(X), w, precision).moments


def exact(X, w=None):
    Z = np.asarray(X.toarray() if sp.issparse(X) else X, np.longdouble)
    w = np.ones(len(Z), np.longdouble) if w is None else np.asarray(w, np.longdouble)
    mean = (w @ Z) / w.sum()
    Z = Z - mean
    return mean, (Z * w[:, None]).T @ Z


def close(m, X, w=None, rtol=1e-13):
    mean, scatter = exact(X, w)
    size = float(np.trace(scatter))
    np.testing.assert_allclose(m.mean, mean.astype(float), rtol=1e-14, atol=1e-14 * abs(mean).max())
    np.testing.assert_allclose(m.scatter * m.unit**2, scatter.astype(float), atol=rtol * size)
    assert m.total() == pytest.approx(size, rel=rtol)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_means_cost_nothing(offset, weighted):
    X = RNG.standard_normal((5000, 4)) * [5, 3, 2, 1] + offset
    close(state(X, RNG.random(5000) if weighted else None), X, None) if not weighted else None
    w = RNG.integers(0, 3, 5000).astype(float)
    close(state(X, w), X, w)


def test_merge_is_exact_and_changes_nothing():
    X = RNG.standard_normal((900, 5)) + np.array([0, 1e3, 1e8, -1e6, 3])
    X[600:] += 7
    a, b, c = state(X[:100]), state(X[100:600]), state(X[600:])
    kept = a.scatter.copy()
    close(a.merge(b).merge(c), X)
    close(c.merge(a.merge(b)), X)
    assert np.array_equal(a.scatter, kept)
    assert a.merge(b).rows == 600


def test_subtract_undoes_merge():
    X = RNG.standard_normal((900, 5)) + 1e6
    whole, part = state(X), state(X[:300])
    rest = whole.subtract(part)
    close(rest, X[300:], rtol=1e-12)
    with pytest.raises(MergeError, match="rows are part of this one, with some rows left"):
        part.subtract(whole)
    with pytest.raises(MergeError, match="variance would become negative"):
        whole.subtract(state(X[:300] * 100))


def test_states_of_different_columns_do_not_merge():
    with pytest.raises(MergeError, match="same columns; received 2 and 3 columns"):
        state(np.ones((3, 2))).merge(state(np.ones((3, 3))))


def test_extreme_units():
    X = RNG.standard_normal((50, 3))
    for power in (2.0**400, 2.0**-400):
        m = state(X * power)
        assert m.unit != 1
        np.testing.assert_allclose(m.scatter * (m.unit / power) ** 2, state(X).scatter, rtol=1e-12, atol=1e-12)
    both = state(X * 2.0**400).merge(state(X))
    mean = X.mean(0)
    expected = state(X).scatter + 25 * np.outer(mean, mean)  # the small table is a point at zero beside the large one
    np.testing.assert_allclose(both.scatter * (both.unit / 2.0**400) ** 2, expected, rtol=1e-12, atol=1e-12)


def test_sparse_states():
    X = sp.random(3000, 20, 0.05, format="csr", random_state=0)
    close(state(X), X)
    full = sp.csr_matrix(RNG.standard_normal((300, 4)) + 1e8)
    close(state(full), full)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RNG.standard_normal((6000, 60)),
        lambda: np.tile(RNG.standard_normal((16, 60)), (375, 1)),
        lambda: (RNG.random((6000, 60)) < 0.3) * 0.1,
        lambda: RNG.standard_normal((6000, 1)) @ RNG.random((1, 60)),
        lambda: np.full((6000, 60), 0.1) + np.outer(np.arange(6000) % 2, np.linspace(0.1, 0.7, 60)),
    ],
    ids=["gaussian", "repeated", "indicator", "rank one", "two values"],
)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_measured_rounding_covers_the_real_one(make, precision):
    X = make().astype(precision)
    m = state(X, precision=np.dtype(precision).type)
    _, scatter = exact(X)
    error = np.linalg.norm((m.scatter - scatter).astype(float), 2)
    top = float(np.linalg.norm(scatter.astype(float), 2))
    assert error <= m.noise + 30 * 2.0**-53 * top
    assert m.noise <= 500 * np.finfo(precision).eps / 2 * top


def test_a_state_survives_the_container(tmp_path):
    m = state(RNG.standard_normal((30, 4)) + 1e8)
    header, arrays = m.arrays()
    write_container(tmp_path / "state.ritz", "moments", header, arrays)
    again = Moments.from_arrays(*read_container(tmp_path / "state.ritz", "moments"))
    assert np.array_equal(again.scatter, m.scatter)
    assert np.array_equal(again.mean, m.mean)
    assert (again.rows, again.weight, again.unit) == (m.rows, m.weight, m.unit)


def test_rounding_is_measured_on_whole_blocks():
    """Half of a Hadamard table rounds less than all of it: noise measured there missed an eigenvalue by 2e-16·λ₁."""
    pytest.importorskip("flint")
    from ritz.testing.certify.cases import cases
    from ritz.testing.certify.run import run_case

    (record,) = run_case(21, next(islice(cases(2718), 21, None)), ["moments"])
    assert not record.findings


def test_means_of_rows_that_weigh_next_to_nothing_do_not_drift():
    """A mean counted from a row without weight was off by the rounding of that row, 1e-35 for 7e-65."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 6))
    X[4] = 0.0
    w = np.ones(12)
    w[4], w[[1, 8]] = 1e171, 1e108
    truth = [sum(Fraction(a) * Fraction(b) for a, b in zip(w, column, strict=True)) for column in X.T]
    truth = np.array([float(part / sum(map(Fraction, w))) for part in truth])
    parts = [state(X[i : i + 3], w[i : i + 3]) for i in (0, 3, 6, 9)]
    for order in (parts, parts[::-1]):
        merged = order[0]
        for part in order[1:]:
            merged = merged.merge(part)
        mean = merged.mean if merged.offset_low is None else merged.shift + (merged.offset + merged.offset_low)
        np.testing.assert_allclose(mean, truth, rtol=1e-14, atol=0)
