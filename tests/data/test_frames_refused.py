"""What is no number is refused by name, repeated names are named, and an AnnData is its matrix."""

from __future__ import annotations

import datetime as dt
import decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import ritz
from ritz._core.errors import ColumnsSetAside, InputError

N = 20
RNG = np.random.default_rng(0)
NUMBERS = {"a": RNG.random(N), "b": RNG.random(N)}
DAYS = np.datetime64("2020-01-01", "ns") + np.arange(N).astype("timedelta64[D]")
STAMPS = [dt.datetime(2020, 1, 1 + i) for i in range(N)]


def frames():
    spans = DAYS - DAYS[0]
    yield "ns", pd.DataFrame({**NUMBERS, "t": pd.Series(DAYS).astype("datetime64[ns]")})
    yield "spans of ns", pd.DataFrame({**NUMBERS, "t": pd.Series(spans).astype("timedelta64[ns]")})
    yield "zone", pd.DataFrame({**NUMBERS, "t": pd.Series(DAYS).dt.tz_localize("UTC")})
    yield "period", pd.DataFrame({**NUMBERS, "t": pd.period_range("2020", periods=N, freq="D")})
    yield "objects", pd.DataFrame({**NUMBERS, "t": pd.Series(list(DAYS), dtype=object)})
    yield "objects of spans", pd.DataFrame({**NUMBERS, "t": pd.Series(list(spans), dtype=object)})
    yield "polars", pl.DataFrame({**NUMBERS, "t": STAMPS})
    yield "polars dates", pl.DataFrame({**NUMBERS, "t": [s.date() for s in STAMPS]})
    yield "polars spans", pl.DataFrame({**NUMBERS, "t": [s - STAMPS[0] for s in STAMPS]})
    yield "polars times", pl.DataFrame({**NUMBERS, "t": [dt.time(i) for i in range(N)]})
    yield "arrow", pa.table({**NUMBERS, "t": pa.array(DAYS)})
    yield "arrow spans", pa.table({**NUMBERS, "t": pa.array(spans)})


@pytest.mark.parametrize("frame", [pytest.param(frame, id=name) for name, frame in frames()])
def test_dates_in_frames_raise_by_name_and_are_set_aside_in_tables(frame):
    for method in (ritz.PCA(1), ritz.SVD(1), ritz.KernelPCA(1)):
        with pytest.raises(InputError, match=r"(?s)must hold numbers.*'t'.*hint"):
            method.fit(frame)
    with pytest.raises(InputError, match=r"(?s)'t'.*hint"):
        ritz.FAMD(1).fit(frame)
    table = ritz.read(frame)
    assert table.kinds["t"] == "date"
    with pytest.warns(ColumnsSetAside, match=r"'t' \(dates or times\)"):
        assert list(ritz.PCA(1).fit(table).feature_names_in_) == ["a", "b"]


@pytest.mark.parametrize(
    "array",
    [
        np.stack([DAYS, DAYS], axis=1),
        np.stack([DAYS, DAYS], axis=1) - DAYS[0],
        np.array([[day, 1.0] for day in DAYS], dtype=object),
        np.array([[day - DAYS[0], 1.0] for day in DAYS], dtype=object),
        np.array([[stamp, 1.0] for stamp in STAMPS], dtype=object),
        RNG.random((N, 2)) * 1j,
    ],
)
def test_dates_and_complex_numbers_in_arrays_raise(array):
    for method in (ritz.PCA(1), ritz.KernelPCA(1)):
        with pytest.raises(InputError, match=r"(?s)numbers in X|Complex.*hint"):
            method.fit(array)


def test_decimals_are_numbers():
    exact = np.arange(2.0 * N).reshape(N, 2) ** 2 / 8
    objects = np.array([[decimal.Decimal(v) for v in row] for row in exact], dtype=object)
    truth = ritz.PCA(1).fit(exact).explained_variance_
    for held in (objects, pd.DataFrame(objects, columns=["a", "b"])):
        np.testing.assert_array_equal(ritz.PCA(1).fit(held).explained_variance_, truth)


# --- repeated names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [ritz.PCA(1), ritz.SVD(1), ritz.KernelPCA(1), ritz.CA(1), ritz.FAMD(1), ritz.MCA(1)])
def test_repeated_names_are_named(method):
    values = RNG.random((N, 3))
    for frame in (
        pd.DataFrame(values, columns=["a", "b", "a"]),
        pa.table([pa.array(values[:, j]) for j in range(3)], names=["a", "b", "a"]),
    ):
        with pytest.raises(InputError, match=r"(?s)columns of different names.*'a'.*hint: rename.*ritz.read"):
            method.fit(frame)


def test_read_numbers_repeated_names_and_says_so(tmp_path):
    values = RNG.random((N, 3))
    frame = pd.DataFrame(values, columns=["a", "b", "a"])
    table = ritz.read(frame)
    assert table.names == ["a", "b", "a_2"]
    assert any("share a name" in note and "'a_2'" in note for note in table.notes)
    np.testing.assert_array_equal(table.select(["a", "a_2"]), values[:, [0, 2]])
    np.testing.assert_array_equal(
        ritz.PCA(1).fit(table).explained_variance_, ritz.PCA(1).fit(values).explained_variance_
    )
    assert ritz.read(pd.DataFrame(values)).names == ["0", "1", "2"]
    assert not ritz.read(pd.DataFrame(values)).notes


# --- AnnData -----------------------------------------------------------------------------------------------


class AnnData:
    """The shape of anndata's class, in memory or on a file."""

    def __init__(self, X, layers=None, filename=None):
        n, d = next(((v.shape) for v in (X, *(layers or {}).values()) if v is not None), (23, 4))
        self._X, self.layers, self.filename = X, layers or {}, filename
        self.obs_names = pd.Index([f"cell{i}" for i in range(n)])
        self.var_names = pd.Index([f"gene{j}" for j in range(d)])
        self.obs, self.var = pd.DataFrame(index=self.obs_names), pd.DataFrame(index=self.var_names)
        self.isbacked, self.is_view, self.shape = filename is not None, False, (n, d)

    @property
    def X(self):
        if self.filename is not None:
            raise AssertionError("the file is read, not what stands for it")
        return self._X

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        raise AssertionError("nobody walks through it")


COUNTS = np.random.default_rng(1).poisson(2.0, (30, 5)).astype(np.float32)


@pytest.mark.filterwarnings("ignore::ritz.ColumnsSetAside")
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("method", [ritz.PCA(2), ritz.SVD(2), ritz.KernelPCA(2), ritz.CA(2)])
def test_an_anndata_is_its_matrix_with_its_names(form, method):
    data = AnnData(form(COUNTS))
    truth = method.fit_transform(COUNTS)
    np.testing.assert_allclose(method.fit_transform(data), truth, atol=1e-4)
    assert list(method.feature_names_in_) == [f"gene{j}" for j in range(5)]
    np.testing.assert_allclose(method.transform(data), truth, atol=1e-4)


@pytest.mark.filterwarnings("ignore::ritz.ColumnsSetAside")
def test_layers_of_an_anndata():
    data = AnnData(None, {"counts": COUNTS})
    with pytest.raises(InputError, match=r"(?s)no X.*hint: .*layer="):
        ritz.PCA(1).fit(data)
    table = ritz.read(data, layer="counts")
    np.testing.assert_array_equal(table.select([f"gene{j}" for j in range(4)]), COUNTS[:, :4])
    with pytest.raises(InputError, match=r"(?s)a layer 'count'.*'counts'"):
        ritz.read(data, layer="count")
    assert table.labels("obs_names")[:2] == ["cell0", "cell1"]


@pytest.mark.filterwarnings("ignore::ritz.ColumnsSetAside")
def test_an_anndata_on_a_file_is_read_from_it():
    pytest.importorskip("h5py")
    from pathlib import Path

    cells = Path(__file__).parent / "anndata" / "cells.h5ad"
    model = ritz.PCA(1).fit(AnnData(None, filename=str(cells)))
    assert list(model.feature_names_in_) == [f"gene{j}" for j in range(4)]


def test_other_classes_are_no_anndata():
    from ritz.data.tables.objects import is_anndata

    assert not is_anndata(SimpleNamespace(X=1, obs=1, var=1, obs_names=1, var_names=1))
