"""Rows of different lengths are told as such, wherever they come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ritz

UNEVEN = [[1, 2], [3, 4], [5]]


def objects(rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


@pytest.mark.parametrize("make", [list, tuple, pd.Series, objects], ids=["list", "tuple", "series", "array"])
@pytest.mark.parametrize("model", [ritz.PCA(1), ritz.SVD(1), ritz.CA(1), ritz.KernelPCA(1), ritz.NMF(1), ritz.MDS(1)])
def test_rows_of_different_lengths(make, model):
    with pytest.raises(
        ritz.InputError,
        match=r"^expected rows of one length; received 2 entries in row 0 but 1 in row 2\nhint: pad",
    ) as told:
        model.fit(make(UNEVEN))
    assert "inhomogeneous" not in str(told.value)
    with pytest.raises(ritz.InputError, match="received no list in row 0 but 2 entries in row 1"):
        model.fit(make([1, [2, 3]]))


@pytest.mark.parametrize("make", [pd.Series, objects], ids=["series", "array"])
def test_lists_of_one_length_that_are_no_rows_yet(make):
    with pytest.raises(
        ritz.InputError, match=r"whose entries are lists\nhint: make rows of them: numpy\.array\(list\(X\)\)"
    ):
        ritz.PCA(1).fit(make([[1, 2], [3, 4], [5, 7]]))
    ritz.PCA(1).fit(np.array(list(make([[1, 2], [3, 4], [5, 7]]))))


def test_lists_inside_rows():
    with pytest.raises(ritz.InputError, match="lists of different lengths inside its rows"):
        ritz.PCA(1).fit([[[1, 2], [3]], [[1], [2]]])


def test_batches_in_a_list_are_named_as_such():
    X = np.arange(30.0).reshape(10, 3) ** 2
    frames = [pd.DataFrame(X[:6]), pd.DataFrame(X[6:])]
    arrow = pa.table({"emb": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)}).to_batches(4)
    for batches in ([X[:6], X[6:]], [X[:5], X[5:]], frames, arrow):
        with pytest.raises(
            ritz.InputError, match=r"whose entries are tables\nhint: if they are batches of rows, ritz\.r"
        ):
            ritz.PCA(1).fit(batches)
        assert ritz.PCA(1).fit(ritz.read(batches)).n_samples_ == 10


def test_lists_in_a_frame_are_columns_to_read():
    X = np.random.default_rng(0).standard_normal((10, 3))
    for frame in (pd.DataFrame({"emb": list(X)}), pl.DataFrame({"emb": X}), pa.table({"emb": X.tolist()})):
        with pytest.raises(ritz.InputError, match=r"non-numeric column 'emb'.*\n.*makes columns of lists of numbers"):
            ritz.PCA(1).fit(frame)
        assert ritz.PCA(1).fit(ritz.read(frame)).n_features_in_ == 3
