"""One table in many forms: dtypes, layouts, frames of three libraries, sparse rows never made dense."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ritz import PCA, SVD

NAMES = ["height", "weight", "age", "income"]
ITERATIVE = ("krylov", "lanczos", "chebyshev", "power")


@pytest.fixture
def whole():
    """Small whole numbers, which every dtype holds exactly."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 9, (50, 4)) * np.array([1, 2, 4, 8])


def same(model, reference, *, tolerance=1e-10):
    np.testing.assert_allclose(model.explained_variance_, reference.explained_variance_, rtol=tolerance)
    np.testing.assert_allclose(model.components_, reference.components_, atol=100 * tolerance)


# ---------------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("estimator", [PCA(3), SVD(3)])
@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">f8", ">i4"]
)
def test_dtypes_in_and_out(whole, estimator, dtype):
    reference = estimator.fit(whole.astype(float))
    variances, components = reference.explained_variance_, reference.components_
    X = whole.astype(dtype)
    model = estimator.fit(X)
    single = np.dtype(dtype).kind == "f" and np.dtype(dtype).itemsize <= 4
    expected, tolerance = (np.float32, 2e-6) if single else (np.float64, 1e-12)
    T = model.transform(X)
    for array in (model.components_, model.explained_variance_, model.singular_values_, T):
        assert array.dtype == expected
    assert model.inverse_transform(T).dtype == expected
    np.testing.assert_allclose(model.explained_variance_, variances, rtol=tolerance)
    np.testing.assert_allclose(model.components_, components, atol=10 * tolerance)
    np.testing.assert_allclose(T, estimator.transform(whole.astype(float)), atol=1e-4 if single else 1e-10)


def test_bool_rows(whole):
    X = whole > 8
    same(PCA(3).fit(X), PCA(3).fit(X.astype(float)))
    same(SVD(3).fit(sp.csr_array(X)), SVD(3).fit(X.astype(float)))
    assert PCA(3).fit(X).transform(X).dtype == np.float64


def test_dtype_of_a_fit_and_of_new_rows_may_differ(whole):
    single = PCA(2).fit(whole.astype(np.float32))
    assert single.transform(whole.astype(np.float64)).dtype == np.float64
    assert PCA(2).fit(whole).transform(whole.astype(np.float32)).dtype == np.float32
    assert PCA(2).partial_fit(whole.astype(np.float32)).partial_fit(whole).components_.dtype == np.float64
    assert PCA(2).partial_fit(whole.astype(np.float32)).components_.dtype == np.float32


def test_large_integers_are_not_squared_as_integers():
    X = np.random.default_rng(1).integers(-(2**31), 2**31 - 1, (40, 3), dtype=np.int32)
    same(PCA().fit(X), PCA().fit(X.astype(float)))
    unsigned = np.random.default_rng(1).integers(0, 255, (40, 3), dtype=np.uint8)
    np.testing.assert_allclose(PCA().fit(unsigned).mean_, unsigned.mean(axis=0, dtype=float), rtol=1e-12)
    same(SVD().fit(unsigned), SVD().fit(unsigned.astype(float)))


# --------------------------------------------------------------------------------- memory layouts


def layouts(X, folder):
    np.save(folder / "x.npy", X)
    frozen = X.copy()
    frozen.flags.writeable = False
    return {
        "list": X.tolist(),
        "Fortran": np.asfortranarray(X),
        "read-only": frozen,
        "memory-mapped": np.load(folder / "x.npy", mmap_mode="r"),
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "reversed": X[::-1, ::-1][::-1, ::-1],
        "transposed": np.ascontiguousarray(X.T).T,
        "array interface": np.ma.array(X),
    }


@pytest.mark.parametrize("solver", ["auto", "svd", *ITERATIVE])
@pytest.mark.parametrize("estimator", [PCA, SVD])
def test_layouts(whole, estimator, solver, tmp_path):
    X = whole.astype(float)
    reference = estimator(2, solver=solver, tol=1e-12).fit(X)
    for name, form in layouts(X, tmp_path).items():
        model = estimator(2, solver=solver, tol=1e-12).fit(form)
        same(model, reference)
        np.testing.assert_allclose(model.transform(form), reference.transform(X), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_fit_adds_little_memory_and_never_copies(order, tmp_path):
    X = np.asarray(np.random.default_rng(2).normal(size=(100_000, 20)), order=order)
    PCA(2).fit(X[:100])  # what is imported on first use does not count
    tracemalloc.start()
    PCA(2).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * X.nbytes


# ----------------------------------------------------------------------------------------- frames


def frames(X):
    columns = {name: X[:, j] for j, name in enumerate(NAMES)}
    return {
        "pandas": pd.DataFrame(X, columns=NAMES),
        "pandas nullable": pd.DataFrame(columns).astype("Int64"),
        "pandas mixed": pd.DataFrame(columns).astype({"height": "float32", "age": "int16"}),
        "pandas arrow": pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
        "pandas sparse": pd.DataFrame(columns).astype(pd.SparseDtype(float, 0.0)),
        "polars": pl.DataFrame(columns),
        "arrow": pa.table(columns),
    }


@pytest.mark.parametrize("estimator", [PCA, SVD])
@pytest.mark.parametrize("kind", frames(np.ones((2, 4), int)))
def test_frames_keep_their_names(whole, estimator, kind):
    frame = frames(whole)[kind]
    model = estimator(2).fit(frame)
    assert list(model.feature_names_in_) == NAMES
    same(model, estimator(2).fit(whole))
    np.testing.assert_allclose(
        model.transform(frame),
        estimator(2).fit(whole).transform(whole),
        rtol=1e-5 if "mixed" in kind else 1e-10,
    )


def test_frames_of_one_library_fit_and_of_another_transform(whole):
    made = frames(whole)
    model = PCA(2).fit(made["polars"])
    for frame in made.values():
        np.testing.assert_allclose(model.transform(frame), model.transform(made["polars"]), rtol=1e-5)


def test_bool_columns_of_frames(whole):
    frame = pd.DataFrame({"a": whole[:, 0], "b": whole[:, 1] > 6})
    same(PCA().fit(frame), PCA().fit(frame.astype(float)))


# ----------------------------------------------------------------------------------------- sparse

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


def scattered(n, d, density):
    """Numbers at random places of a sparse table."""
    rng = np.random.default_rng(3)
    stored = int(density * n * d)
    places = rng.integers(n, size=stored), rng.integers(d, size=stored)
    return sp.coo_array((rng.uniform(size=stored), places), shape=(n, d)).tocsr()


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("estimator", [PCA, SVD])
def test_sparse_formats(whole, estimator, name, kind):
    X = np.where(whole > 10, whole, 0).astype(float)
    S = getattr(sp, f"csr_{kind}")(X).asformat(name)
    model = estimator(2).fit(S)
    same(model, estimator(2).fit(X))
    T = model.transform(S)
    assert isinstance(T, np.ndarray)
    np.testing.assert_allclose(T, model.transform(X), rtol=1e-10)


@pytest.fixture
def never_dense(monkeypatch):
    """Make every way from sparse to dense an error."""

    def refuse(self, *args, **options):
        raise AssertionError(f"{type(self).__name__} of shape {self.shape} was made dense")

    for name in FORMATS:
        for kind in ("array", "matrix"):
            for method in ("toarray", "todense"):
                monkeypatch.setattr(getattr(sp, f"{name}_{kind}"), method, refuse)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("solver", ["auto", "moments", "sketch", *ITERATIVE])
def test_sparse_rows_are_never_made_dense(solver, shape, never_dense):
    X = scattered(*shape, 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sketch, or a few power iterations, may say that they miss tol
        for estimator in (
            PCA(3, solver=solver, mergeable=True),
            PCA(3, scale=True, whiten=True, solver=solver, mergeable=True),
            PCA(3, center=False, solver=solver, mergeable=True),
            SVD(3, solver=solver),
        ):
            model = estimator.fit(X, sample_weight=np.arange(shape[0]) % 3 + 1).fit(X)
            assert model.transform(X).shape == (shape[0], 3)
            estimator.fit_transform(X.tocsc())
            if isinstance(estimator, PCA):
                model.score(X)
                model.reconstruction_error(X)
                model.partial_fit(X)
                assert model.n_samples_ == 2 * shape[0]


def test_a_sparse_table_that_could_not_be_dense(never_dense):
    n, d = 1_000, 200_000  # 1.6 GB if dense
    X = scattered(n, d, 1e-4)
    tracemalloc.start()
    model = PCA(3).fit(X)
    model.transform(X)
    model.score_samples(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * n * d


def test_stored_zeros_duplicates_and_order_change_nothing():
    rows, columns = np.array([0, 0, 0, 1, 2, 2, 3]), np.array([1, 1, 0, 2, 0, 2, 1])
    X = sp.coo_array((np.array([1.0, 2, 3, 4, 0, 6, 7]), (rows, columns)), shape=(4, 3))
    same(PCA().fit(X), PCA().fit(X.toarray()))
    backwards = sp.csr_array(
        (np.array([3.0, 3, 4, 6, 7]), np.array([1, 0, 2, 2, 1]), np.array([0, 2, 3, 4, 5])), (4, 3)
    )
    before = backwards.indices.copy()
    same(PCA().fit(backwards), PCA().fit(X.toarray()))
    np.testing.assert_array_equal(backwards.indices, before)
