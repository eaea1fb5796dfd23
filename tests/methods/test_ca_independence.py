"""Rows and columns that are nearly independent: enclosures, angles, totals and verify against exact integers."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.errors import InputError, NoAssociation
from ritz.testing import largest_sine, true_inertia

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")


def near(size, n=12, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.outer(rng.integers(1, 50, n), rng.integers(1, 50, d)) * size + rng.integers(0, 3, (n, d))


def holds(model, truth):
    """The enclosures, the total and the angles hold; verify needs the table and is asked for apart."""
    c = model.certificate_
    for i, (low, high) in enumerate(zip(c.lower, c.upper, strict=True)):
        value, radius = truth.values[i], truth.radii[i]
        assert low - radius <= value <= high + radius, (i, low, value, high)
    np.testing.assert_allclose(model.total_inertia_, float(truth.total), rtol=1e-12)
    for i, sine in enumerate(c.angles):
        if sine < 1 and truth.vectors is not None:
            found = np.asarray(model.components_[[i]].T, np.longdouble)
            assert largest_sine(truth.vectors[:, [i]], found) <= sine + 4e-16, i


def narrow(model, share):
    c = model.certificate_
    assert np.all(c.upper - c.lower <= share * c.values[0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1, 10**4, 10**9, 10**13])
def test_integer_counts(solver, size):
    N = near(size).astype(np.float64)  # counts beyond 2^53 are rounded before, with a warning
    truth = true_inertia(N, vectors=True)
    model = ritz.CA(2, solver=solver, tol=1e-9).fit(N)
    holds(model, truth)
    narrow(model, 1e-8 if solver == "power" else 1e-10)
    assert model.verify(N)


TABLES = {
    "floats": np.outer(np.arange(1, 10) / 7, np.arange(1, 7) / 3) * (1 + 1e-9 * np.cos(np.arange(54).reshape(9, 6))),
    "rounded products": np.outer(np.arange(1, 10) / 7, np.arange(1, 7) / 3),
    "float32": near(10**4).astype(np.float32),
    "beyond 2^53": near(1).astype(float) * 2.0**60 + 2.0**20,
    "one huge cell": np.ones((8, 5)) + np.eye(8, 5) + 1e15 * (np.arange(40).reshape(8, 5) == 7),
    "1e-300": near(1) * 1e-300,
    "subnormal": near(1) * 1e-319,
    "1e300": near(1) * 1e300,
    "many sizes": 10.0 ** np.random.default_rng(3).uniform(-12, 12, (9, 6)),
    "empty row and column": np.pad(near(10**6), ((0, 1), (0, 1))),
    "wide": near(10**7, n=5, d=14),
}


@pytest.mark.filterwarnings("ignore::ritz._core.errors.EmptyProfiles")
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_every_size(name):
    N = TABLES[name]
    truth = true_inertia(N)
    model = ritz.CA(2).fit(N)
    holds(model, truth)
    narrow(model, 1e-11)
    assert model.verify(N)


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov"])
def test_weights_of_every_size(solver):
    N = near(10**6)
    w = 10.0 ** np.random.default_rng(5).uniform(-3, 3, len(N))
    truth = true_inertia(N, weights=w, vectors=True)
    for unit in (1.0, 1e200, 1e-200):
        model = ritz.CA(2, solver=solver).fit(N, sample_weight=w * unit)
        holds(model, truth)
        assert model.verify(N, sample_weight=w * unit)
    assert not model.verify(N)


def test_weights_that_leave_the_range_are_refused_by_row():
    with pytest.raises(InputError, match="row 1"):
        ritz.CA(1).fit([[1e300, 2e300], [3e300, 1e300], [1.0, 2.0]], sample_weight=[1.0, 1e300, 1.0])
    with pytest.raises(InputError, match="range of float64"):
        ritz.CA(1).fit([[1.7e308, 1e308], [1e308, 1.7e308]])
    with pytest.raises(InputError, match="row 2"):
        ritz.CA(1).fit([[1e300, 2e300], [3e300, 1e300], [1e-100, 2e-100]])


def test_sparse_tables_say_how_little_they_can_tell():
    rng = np.random.default_rng(0)
    S = np.zeros((900, 700))  # a corner that is nearly independent, and single counts around it
    S[:4, :4] = 1e12 * np.outer([1, 2, 3, 4], [1, 2, 1, 3]) + rng.integers(0, 3, (4, 4))
    S[np.arange(4, 900), rng.integers(0, 4, 896)] = 1
    S[0, np.arange(4, 700)] = 1
    A = S * S.sum() - np.outer(S.sum(axis=1), S.sum(axis=0))  # 1e25: no digits are lost that matter here
    values = np.linalg.svd(A / np.sqrt(np.outer(S.sum(axis=1), S.sum(axis=0))) / S.sum(), compute_uv=False) ** 2
    for solver in ("svd", "moments", "krylov", "lanczos"):
        model = ritz.CA(2, solver=solver).fit(sp.csr_array(S))
        c = model.certificate_
        assert np.all((c.lower <= values[:2] * (1 + 1e-3)) & (values[:2] * (1 - 1e-3) <= c.upper)), solver
        assert model.verify(sp.csr_array(S)), solver
        assert abs(model.total_inertia_ - values.sum()) < 1000 * 2.0**-53, solver
        assert "the total is known to" in c.notes[-1], solver
    assert ritz.CA(2).fit(sp.csr_array(near(10**9))).certificate_.lower[0] > 0  # a dense table, stored sparse


def test_streams_states_and_files_keep_the_digits(tmp_path):
    N = near(10**7, n=40)
    truth = true_inertia(N)
    whole = ritz.CA(3).fit(N)
    parts = ritz.CA(3)
    for first in range(0, 40, 9):
        parts.partial_fit(N[first : first + 9])
    pd.DataFrame(N, columns=list("abcdef")).to_parquet(tmp_path / "n.parquet")
    table = ritz.read(tmp_path / "n.parquet", memory="1kB")
    stream = ritz.CA(3).fit(table)
    more = np.vstack([N, 2 * N[:5]])
    less = ritz.CA(3).fit(more).subtract(ritz.CA(3).fit(2 * N[:5]))
    merged = ritz.CA(3).fit(N[:15]).merge(ritz.CA(3).fit(N[15:]))
    frame = pd.DataFrame(N, columns=list("abcdef"))
    for model in (whole, parts, stream, less, merged):
        holds(model, truth)
        narrow(model, 1e-11)
        assert model.verify(frame if model is stream else N)
    assert stream.verify(table)
    F = whole.row_coordinates_
    ritz.save(whole, tmp_path / "m.ritz")
    for found in (stream.transform(frame), parts.transform(N), ritz.load(tmp_path / "m.ritz").transform(N)):
        np.testing.assert_allclose(found, F, atol=1e-12 * np.abs(F).max())
    stream.transform_to(table, tmp_path / "f.npy")
    np.testing.assert_allclose(np.load(tmp_path / "f.npy"), F, atol=1e-12 * np.abs(F).max())
    np.testing.assert_allclose((whole.row_masses_[:, None] * F**2).sum(axis=0), whole.eigenvalues_, rtol=1e-13)
    np.testing.assert_allclose(whole.row_inertias_.sum(), whole.total_inertia_, rtol=1e-13)


def test_dask_tables_keep_the_digits():
    da = pytest.importorskip("dask.array")
    N, w = near(10**7, n=40), np.random.default_rng(1).random(40)
    for weights in (None, w):
        model = ritz.CA(2).fit(da.from_array(N, chunks=(9, 6)), sample_weight=weights)
        holds(model, true_inertia(N, weights=weights))
        assert model.verify(da.from_array(N, chunks=(13, 6)), sample_weight=weights)


@pytest.mark.parametrize("size", [1, 10**5, 10**9])
def test_verify_finds_out_wrong_values_and_other_tables(size):
    N = near(size)
    model = ritz.CA(2).fit(N)
    assert model.verify(N)
    other = N.copy()
    other[3, 3] += 1
    assert not model.verify(other)
    c = model.certificate_
    for share in (1e-6, 1e-10):
        lie = replace(c, values=c.values * (1 + share), lower=c.lower * (1 + share), upper=c.upper * (1 + share))
        model.certificate_, model.eigenvalues_ = lie, lie.values
        assert not model.verify(N)


def test_verify_finds_out_a_wrong_metric():
    N = near(1)
    model = ritz.CA(2).fit(N)
    scale = model._record.scale.copy()
    scale[2] *= 1 + 1e-9
    model._record.scale = model.certificate_.frame["scale"] = scale
    assert "the mass of column 2" in str(model.verify(N))


def test_no_association_is_said_where_nothing_can_be_told():
    with pytest.warns(NoAssociation, match="no eigenvalue exceeds"):
        exact = ritz.CA(2).fit(np.outer([3, 7, 11], [2, 9, 4]))
    assert np.all(exact.certificate_.lower == 0)
    assert np.all(exact.eigenvalues_ <= exact.certificate_.upper)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoAssociation)
        assert ritz.CA(2).fit(near(10**13).astype(float)).eigenvalues_[0] > 0  # 1e-31, and told from zero


def test_counts_that_float64_cannot_hold_are_warned_about():
    with pytest.warns(ritz.DigitsLost, match="the table of counts holds integers beyond 2\\^53"):
        ritz.CA(2).fit(near(10**13) * 9)
