"""Estimators and the command line on Dask: collections in, the numbers of memory out."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz.testing import largest_sine
from tests import program


def rows(n=2000, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(5, 0.5, d) + 30


def agree(a, b):
    assert np.max(np.abs(a.explained_variance_ - b.explained_variance_)) <= 1e-10 * a.explained_variance_[0]
    assert largest_sine(a.components_.T, b.components_.T) <= 1e-8
    assert np.all(np.sum(a.components_ * b.components_, axis=1) > 0)


@pytest.mark.parametrize("chunks", [(300, 12), (2000, 5), (701, 7), (1, 12)], ids=str)
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_arrays_of_any_chunks(client, chunks, solver):
    X = rows(40 if chunks[0] == 1 else 2000)
    local = ritz.PCA(3, solver=solver, tol=1e-12).fit(X)
    there = ritz.PCA(3, solver=solver, tol=1e-12).fit(da.from_array(X, chunks=chunks))
    agree(local, there)


def test_weights_scale_and_lazy_transform(client):
    X, w = rows(), np.random.default_rng(1).integers(0, 3, 2000)
    D = da.from_array(X, chunks=(333, 12))
    local, there = ritz.PCA(4, scale=True).fit(X, sample_weight=w), ritz.PCA(4, scale=True).fit(D, sample_weight=w)
    agree(local, there)
    Z = there.transform(D)
    assert isinstance(Z, da.Array)
    assert Z.chunks[0] == D.chunks[0]
    assert np.allclose(Z.compute(), local.transform(X), atol=1e-8)


def test_frames_keep_their_names(client):
    frame = pd.DataFrame(rows(500, 4), columns=list("abcd"))
    there = ritz.PCA(2).fit(dd.from_pandas(frame, npartitions=5))
    agree(ritz.PCA(2).fit(frame), there)
    assert list(there.feature_names_in_) == list("abcd")
    Z = there.transform(dd.from_pandas(frame, npartitions=3))
    assert np.allclose(np.asarray(Z.compute()), there.transform(frame), atol=1e-10)
    with pytest.raises(ritz.InputError, match="word"):
        ritz.PCA(2).fit(dd.from_pandas(frame.assign(word="x"), npartitions=2))


def test_sparse_svd(client):
    X = sp.random_array((900, 40), density=0.05, rng=np.random.default_rng(2), format="csr")
    parts = [da.from_delayed(delayed(X[i : i + 300]), (300, 40), X.dtype, meta=X[:0]) for i in range(0, 900, 300)]
    there = ritz.SVD(3).fit(da.concatenate(parts))
    assert np.allclose(there.singular_values_, ritz.SVD(3).fit(X).singular_values_, rtol=1e-10)


def delayed(value):
    import dask

    return dask.delayed(value)


def test_missing_values(client):
    X = rows(600, 6)
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    local = ritz.PCA(2, missing="regularized").fit(X)
    there = ritz.PCA(2, missing="regularized").fit(da.from_array(X, chunks=(130, 6)))
    agree(local, there)
    with pytest.raises(ritz.NonFiniteError, match="NaN"):
        ritz.PCA(2).fit(da.from_array(X, chunks=(130, 6)))


def test_counts_are_placed_lazily(client):
    N = np.random.default_rng(4).poisson(3, (500, 8))
    D = da.from_array(N, chunks=(130, 5))
    local, there = ritz.CA(3).fit(N), ritz.CA(3).fit(D)
    np.testing.assert_allclose(there.eigenvalues_, local.eigenvalues_, rtol=1e-10)
    F = there.transform(D)
    assert isinstance(F, da.Array)
    assert F.shape == (500, 3)
    np.testing.assert_allclose(F.compute(), local.row_coordinates_, atol=1e-8)
    assert there.verify(D)
    gap = np.where(np.arange(500)[:, None] == 333, np.nan, N.astype(float))
    with pytest.raises(ritz.NonFiniteError, match=r"(?s)first at row 333 column 0.*hint: put 0 for no count"):
        there.transform(da.from_array(gap, chunks=(130, 5))).compute()


def test_transform_to_a_file(client, tmp_path):
    X = rows()
    model = ritz.PCA(3).fit(da.from_array(X, chunks=(450, 12)))
    model.transform_to(da.from_array(X, chunks=(450, 12)), tmp_path / "z.npy")
    assert np.allclose(np.load(tmp_path / "z.npy"), model.transform(X), atol=1e-10)


def test_the_command_line_on_a_cluster(cluster, tmp_path):
    X = rows(5000, 8)
    pd.DataFrame(X, columns=list("abcdefgh")).to_parquet(tmp_path / "t.parquet", row_group_size=700)
    address = cluster.scheduler_address.replace("tcp://", "dask://")
    done = program.ritz("fit", "t.parquet", "--engine", address, "-k", "3", "--no-scale", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    agree(ritz.PCA(3).fit(X), ritz.load(tmp_path / "t_ritz/model.ritz"))
    import pyarrow.parquet as pq

    name = next((tmp_path / "t_ritz").glob("scores.*"))
    assert name.suffix == ".csv" or len(pq.read_table(name)) == 5000


def test_a_scheduler_that_is_not_there(tmp_path):
    np.save(tmp_path / "t.npy", rows(50))
    done = program.ritz("fit", "t.npy", "--engine", "dask://127.0.0.1:9", cwd=tmp_path)
    assert done.returncode == 3
    assert "a Dask scheduler must answer at dask://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "t_ritz").exists()
