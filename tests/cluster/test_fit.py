"""Fits on a real cluster beside the singular values of the same rows in NumPy."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pytest

import ritz
from ritz._core.errors import InputError
from ritz.data.engines.dask.blocks import DaskBlocks
from ritz.data.engines.dask.rows import columns_of, is_dask, lazy_map
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.observed import observe
from ritz.data.passes.statistics import Statistics
from ritz.operators.affine import Affine

cloudpickle = pytest.importorskip("cloudpickle", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
sparse = pytest.importorskip("scipy.sparse")
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import the tests

N, D, K = 6_000, 12, 4


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.standard_normal((N, D)) @ np.diag(2.0 ** -np.arange(D)) @ _rotation(rng) + 300.0


def _rotation(rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((D, D)))[0]


def _truth(X: Any, w: Any = None, *, center: bool = True, scale: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Variances and axes by NumPy's SVD of the rows repeated as often as their weights say."""
    X = np.asarray(X, np.float64)
    X = X if w is None else np.repeat(X, w, axis=0)
    Z = X - X.mean(axis=0) if center else X
    Z = Z / Z.std(axis=0, ddof=1) if scale else Z
    _, s, Vt = np.linalg.svd(Z, full_matrices=False)
    return s**2 / (X.shape[0] - 1), Vt


def _check(model: Any, truth: tuple[np.ndarray, np.ndarray], tol: float = 1e-10, angle: float = 1e-8) -> None:
    variances, axes = truth
    k = len(model.explained_variance_)
    assert np.max(np.abs(model.explained_variance_ - variances[:k])) <= tol * variances[0]
    cosines = np.abs(np.sum(np.asarray(model.components_, np.float64) * axes[:k], axis=1))
    assert np.all(cosines >= 1 - angle)


LAYOUTS = {
    "even": (500, D),
    "uneven rows": ((1, 1999, 3, 997, 3000), D),
    "columns": (800, 5),
    "one column a chunk": (3000, 1),
    "one chunk": (N, D),
    "empty chunks": ((0, 2500, 0, 3500, 0), D),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_chunk_layout_gives_the_local_answer(client: Any, rows: np.ndarray, layout: str) -> None:
    X = da.from_array(rows, chunks=LAYOUTS[layout])
    _check(ritz.PCA(K).fit(DaskBlocks(X, client)), _truth(rows))


@pytest.mark.parametrize("options", [{"scale": True}, {"center": False}, {"solver": "krylov", "tol": 1e-9}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_scaled_and_centred(client: Any, rows: np.ndarray, options: dict[str, Any], weighted: bool) -> None:
    X = da.from_array(rows, chunks=(700, 5))
    w = np.random.default_rng(1).integers(0, 4, N) if weighted else None  # zeros are absent rows
    model = ritz.PCA(K, **options).fit(DaskBlocks(X, client), sample_weight=w)
    exact = {name: options[name] for name in ("scale", "center") if name in options}
    _check(model, _truth(rows, w, **exact), 1e-10)


def test_weights_may_be_a_dask_array_and_absent_rows_hold_anything(client: Any, rows: np.ndarray) -> None:
    w = np.ones(N, int)
    w[[5, 4000]] = 0
    damaged = rows.copy()
    damaged[[5, 4000]] = np.nan
    X = da.from_array(damaged, chunks=(700, 5))
    model = ritz.PCA(K).fit(DaskBlocks(X, client), sample_weight=da.from_array(w, chunks=900))
    _check(model, _truth(rows[w > 0]))


def test_unknown_lengths_are_counted_first(client: Any, rows: np.ndarray) -> None:
    X = da.from_array(rows, chunks=(700, 5))
    some = X[X[:, 0] > 300]
    assert np.isnan(some.shape[0])
    blocks = DaskBlocks(some, client)
    chosen = rows[rows[:, 0] > 300]
    assert blocks.shape == chosen.shape
    assert np.isnan(some.shape[0])  # the user's array is left as it was
    _check(ritz.PCA(K).fit(blocks), _truth(chosen))


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "coo_array"])
@pytest.mark.parametrize("options", [{}, {"solver": "krylov", "tol": 1e-9}], ids=str)
def test_sparse_chunks(client: Any, kind: str, options: dict[str, Any]) -> None:
    X = sparse.random_array((4000, 40), density=0.05, rng=np.random.default_rng(3), format="csr").toarray()
    X[:, :5] *= [9, 8, 7, 6, 5]
    make = getattr(sparse, kind)
    chunks = da.from_array(X, chunks=(600, 40)).map_blocks(make, meta=sparse.csr_array((0, 0)))
    blocks = DaskBlocks(chunks, client)
    assert blocks.sparse
    assert blocks.stored == np.count_nonzero(X)
    _check(ritz.PCA(K, **options).fit(blocks), _truth(X))


def test_full_sparse_chunks_are_multiplied_as_dense_ones(client: Any, rows: np.ndarray) -> None:
    chunks = da.from_array(rows, chunks=(600, D)).map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))
    blocks = DaskBlocks(chunks, client)
    assert not blocks.sparse
    _check(ritz.PCA(K).fit(blocks), _truth(rows))


def test_float32_stays_float32(client: Any, rows: np.ndarray) -> None:
    narrow = rows.astype(np.float32)
    model = ritz.PCA(K).fit(DaskBlocks(da.from_array(narrow, chunks=(700, 5)), client))
    assert model.components_.dtype == np.float32
    _check(model, _truth(narrow), 1e-6, 1e-6)


def test_large_means_cost_nothing(client: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((4000, 5)) * [5, 4, 3, 2, 1] + 1e8
    model = ritz.PCA().fit(DaskBlocks(da.from_array(X, chunks=(300, 5)), client))
    _check(model, _truth(X))


def test_counts_of_missing_values(client: Any, rows: np.ndarray) -> None:
    holes = rows.copy()
    holes[np.random.default_rng(8).random(rows.shape) < 0.05] = np.nan
    found = observe(DaskBlocks(da.from_array(holes, chunks=(700, 5)), client))
    assert np.array_equal(found.counts, np.count_nonzero(~np.isnan(holes), axis=0))
    np.testing.assert_allclose(found.shift + found.offset, np.nanmean(holes, axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.variance(), np.nanvar(holes, axis=0, ddof=1), rtol=1e-11)


@pytest.mark.parametrize("known", [True, False], ids=["cluster", "local scheduler"])
def test_frames(client: Any, rows: np.ndarray, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    import pandas as pd

    names = [f"x{j}" for j in range(D)]
    frame = pd.DataFrame(rows, columns=names)
    frame["x3"] = (frame["x3"] * 8).astype("int32")
    with dask.config.set({} if known else {"scheduler": "threads"}):
        blocks = DaskBlocks(dd.from_pandas(frame, npartitions=7))
        model = ritz.PCA(K).fit(blocks)
    assert blocks.names == names
    assert list(model.feature_names_in_) == names
    _check(model, _truth(frame.to_numpy(np.float64)))


def test_a_column_without_numbers_is_named(client: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame({"height": [1.0, 2.0, 3.0], "city": ["Bonn", "Ulm", "Jena"]})
    with pytest.raises(InputError, match="'city'"):
        DaskBlocks(dd.from_pandas(frame, npartitions=2), client)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: da.ones(10, chunks=5), "rows and columns"),
        (lambda: da.ones((10, 2), chunks=5, dtype=complex), "real numbers"),
        (lambda: np.ones((10, 2)), "a Dask array or a Dask frame"),
    ],
)
def test_what_is_no_table_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        DaskBlocks(make())


# the same bits, whatever the cluster


def _slow_start(chunk: np.ndarray, block_info: Any = None) -> np.ndarray:
    time.sleep(0.005 * (12 - block_info[0]["chunk-location"][0]))  # the last rows are ready first
    return chunk


def test_the_same_partitions_give_the_same_bits_on_any_cluster(client: Any, rows: np.ndarray) -> None:
    import dask
    from distributed import Client, LocalCluster

    X = da.from_array(rows, chunks=(500, 5))
    options: dict[str, Any] = {"solver": "krylov", "tol": 1e-9}
    w = np.random.default_rng(1).integers(0, 4, N)
    models = [
        ritz.PCA(K, **options).fit(DaskBlocks(X, client), sample_weight=w),
        ritz.PCA(K, **options).fit(
            DaskBlocks(X.map_blocks(_slow_start, dtype=X.dtype), client, persist=False), sample_weight=w
        ),
    ]
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as other,
        Client(other, set_as_default=False) as elsewhere,
    ):
        models.append(ritz.PCA(K, **options).fit(DaskBlocks(X, elsewhere), sample_weight=w))
    with dask.config.set(scheduler="threads"):
        models.append(ritz.PCA(K, **options).fit(DaskBlocks(X), sample_weight=w))
    for model in models[1:]:
        assert np.array_equal(model.components_, models[0].components_)
        assert np.array_equal(model.explained_variance_, models[0].explained_variance_)


def test_the_moment_state_has_the_same_bits_and_merges_with_a_local_one(client: Any, rows: np.ndarray) -> None:
    X = da.from_array(rows, chunks=(90, 5))  # 67 partitions: three levels of merging
    first, second = (Statistics(DaskBlocks(X, client)).moments for _ in range(2))
    assert np.array_equal(first.scatter, second.scatter)
    assert np.array_equal(first.offset, second.offset)
    whole = ritz.PCA(K).fit(rows[:2500]).merge(ritz.PCA(K).fit(DaskBlocks(X[2500:], client)))
    _check(whole, _truth(rows))


# products and rows


def test_products_equal_those_in_memory(client: Any, rows: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    V, U = rng.standard_normal((D, 3)), rng.standard_normal((N, 3))
    root, mean = np.sqrt(rng.uniform(0.5, 2, N)), rows.mean(axis=0)
    blocks = DaskBlocks(da.from_array(rows, chunks=(700, 5)), client)
    Z = root[:, None] * (rows - mean)
    for frame in (Affine(blocks, shift=mean, row_scale=root), Affine(MemoryBlocks(rows), shift=mean, row_scale=root)):
        np.testing.assert_allclose(frame.matmat(V), Z @ V, atol=1e-10)
        np.testing.assert_allclose(frame.rmatmat(U), Z.T @ U, atol=1e-9)
        np.testing.assert_allclose(frame.normal(V), Z.T @ (Z @ V), atol=1e-6)
        np.testing.assert_allclose(frame.gram(V), (Z @ V).T @ (Z @ V), atol=1e-6)


def test_rows_come_in_order_for_files(client: Any, rows: np.ndarray) -> None:
    blocks = DaskBlocks(da.from_array(rows, chunks=(700, 5)), client)
    found = list(blocks.mapped(lambda scratch, block: block.values[:, :2] * 2))
    assert [start for start, _ in found] == list(range(0, N, 700))
    assert np.array_equal(np.concatenate([part for _, part in found]), rows[:, :2] * 2)
    whole = list(blocks.each())
    assert [block.start for block in whole] == list(range(0, N, 700))
    assert np.array_equal(np.concatenate([block.values for block in whole]), rows)


def test_coordinates_are_lazy(client: Any, rows: np.ndarray) -> None:
    import pandas as pd

    model = ritz.PCA(K).fit(rows)
    X = da.from_array(rows, chunks=(700, 5))
    scores = lazy_map(X, model._map().forward, K, np.float64)
    assert isinstance(scores, da.Array)
    assert scores.chunks == (X.chunks[0], (K,))
    np.testing.assert_allclose(scores.compute(), model.transform(rows), atol=1e-10)
    frame = dd.from_pandas(pd.DataFrame(rows), npartitions=5)
    np.testing.assert_allclose(
        lazy_map(frame, model._map().forward, K, np.float64).compute(), model.transform(rows), atol=1e-10
    )


def test_columns_are_known_without_computing(rows: np.ndarray) -> None:
    import pandas as pd

    X = da.from_array(rows.astype(np.float32), chunks=(700, 5))
    known = columns_of(X)
    assert (known.shape, known.dtype, known.names) == ((N, D), np.float32, None)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]})
    found = columns_of(dd.from_pandas(frame, npartitions=1))
    assert (found.shape[1], found.dtype, found.names) == (2, np.float64, ["a", "b"])
    assert is_dask(X)
    assert not is_dask(rows)


def test_lazy_coordinates_name_the_row_in_the_whole_table(client: Any, rows: np.ndarray) -> None:
    model = ritz.PCA(K).fit(rows)
    damaged = rows.copy()
    damaged[4321, 7] = np.nan
    scores = lazy_map(da.from_array(damaged, chunks=(700, 5)), model._map().forward, K, np.float64)
    with pytest.raises(InputError, match="row 4321 column 7"):
        scores.compute()


# where partitions are


def test_what_is_held_is_said(client: Any, rows: np.ndarray) -> None:
    X = da.from_array(rows, chunks=(700, 5))
    for persist, words in [("auto", "hold all 9 partitions"), (False, "computed again in every pass")]:
        blocks = DaskBlocks(X, client, persist=persist)
        ritz.PCA(K).fit(blocks)
        assert words in blocks.notes[0]
    with pytest.raises(ValueError, match="persist"):
        DaskBlocks(X, client, persist="always")


@pytest.mark.parametrize("persist", [True, False])
def test_neighbouring_small_chunks_are_taken_together(
    client: Any, monkeypatch: pytest.MonkeyPatch, rows: np.ndarray, persist: bool
) -> None:
    monkeypatch.setattr("ritz.data.engines.dask.rows.LEAST_BYTES", 700 * 8 * D)
    blocks = DaskBlocks(da.from_array(rows, chunks=(200, D)), client, persist=persist)
    assert blocks.partitions == [600] * 10
    _check(ritz.PCA(K).fit(blocks), _truth(rows))


def test_progress_counts_whole_passes(client: Any, rows: np.ndarray) -> None:
    events = []
    X = da.from_array(rows, chunks=(700, 5))
    ritz.PCA(K, progress=events.append).fit(DaskBlocks(X, client))
    reading = [event for event in events if event.stage == "reading" and event.total == 1.0]
    assert max(event.done for event in reading) == pytest.approx(1.0)
    assert events[-1].bytes >= rows.nbytes * 0.99
