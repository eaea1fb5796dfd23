"""The contract of engines: one that nobody in Ritz has heard of is registered by one call and serves every method."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.encode.columns import memory_columns
from ritz.data.engines import (
    Cluster,
    Columns,
    Engine,
    adopt,
    engaged,
    engaged_cluster,
    engine_at,
    engine_of,
    engines,
    register,
    unregister,
)  # fmt: skip
from ritz.data.passes.blocks import DENSE_DENSITY, Block, MemoryBlocks, are_blocks, merged
from ritz.testing import check_engine, largest_sine

# ------------------------------------------------------------------------------------------- a toy engine


class Chunks:
    """Rows as a list of arrays; neither an array nor an iterable."""

    def __init__(self, parts):
        self.parts = parts


class LazyChunks:
    """A function of every chunk, computed when somebody asks for the numbers."""

    def __init__(self, parts, function):
        self.parts, self.function = parts, function

    def __array__(self, dtype=None, copy=None):
        return np.concatenate([np.asarray(self.function(part), dtype) for part in self.parts if part.shape[0]])


class ChunkBlocks:
    """Row blocks of chunks."""

    def __init__(self, parts, names=None):
        kept = [part for part in parts if part.shape[0]]
        csr = sp.issparse(kept[0])
        d = kept[0].shape[1]
        n = sum(part.shape[0] for part in kept)
        self.shape, self.dtype, self.names, self.absent = (n, d), kept[0].dtype, names, None
        self.stored = sum(part.nnz for part in kept) if csr else n * d
        self.sparse = csr and self.stored <= DENSE_DENSITY * n * d
        self.nbytes = self.stored * self.dtype.itemsize
        self.parts = [part.toarray() if csr and not self.sparse else part for part in kept]
        self.starts = [0, *accumulate(part.shape[0] for part in kept)][:-1]
        self.passes = 0

    def _block(self, i):
        values, start = self.parts[i], self.starts[i]
        if self.absent is not None:
            there = ~self.absent[start : start + values.shape[0]]
            if self.sparse:
                values = values.copy()
                values.data[~np.repeat(there, np.diff(values.indptr))] = 0
            else:
                values = np.where(there[:, None], values, values.dtype.type(0))
        return Block(values, start)

    def each(self):
        self.passes += 1
        return (self._block(i) for i in range(len(self.parts)))

    def map_reduce(self, create, step):
        sums = []
        for block in self.each():
            sums.append(create())
            step(sums[-1], block)
        return merged(sums)

    def map_rows(self, step, out):
        for block in self.each():
            out[block.rows] = step({}, block)
        return out

    def sample(self, rows):
        some = [block.values[:: max(1, self.shape[0] // rows)] for block in self.each()]
        return sp.vstack(some, format="csr") if self.sparse else np.concatenate(some)


class ChunkEngine(Engine):
    """Lists of arrays."""

    name, lazy, schemes = "chunks", True, ("chunks",)
    blocks = ChunkBlocks

    def takes(self, X):
        return isinstance(X, Chunks)

    def adopt(self, X, asked):
        return self.blocks(X.parts)

    def columns(self, X):
        rows = sum(part.shape[0] for part in X.parts)
        return Columns((rows, X.parts[0].shape[1]), X.parts[0].dtype)

    def map_rows(self, X, function, width, dtype, names=None):
        return LazyChunks(X.parts, function)

    def connect(self, address):
        return ChunkCluster(address)


class ChunkCluster(Cluster):
    def __init__(self, address):
        self.address, self.closed = address, False

    def rows(self, source, columns=None):
        names = source.names if columns is None else [source.names[j] for j in columns]
        parts = [np.concatenate(list(source.batches(span, columns, 100))) for span in source.spans]
        return ChunkBlocks(parts, names)

    def close(self):
        self.closed = True


def chunks(rows, lengths):
    edges = [0, *accumulate(lengths)]
    return Chunks([rows[a:b] for a, b in pairwise(edges)])


@pytest.fixture
def registered():
    engine = ChunkEngine()
    register(engine)
    yield engine
    unregister("chunks")


def measured(n=600, d=7):
    """Rows about a mean, whose scatter has the eigenvalues 49, 36, …"""
    rng = np.random.default_rng(3)
    U = np.linalg.qr(rng.standard_normal((n, d)) - 0)[0]
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return U @ np.diag(np.arange(d, 0, -1.0)) @ V.T + 20, V


def test_a_registered_engine_serves_pca(registered):
    rows, V = measured()
    X = chunks(rows, [100, 0, 350, 150])
    model = ritz.PCA(3).fit(X)
    np.testing.assert_allclose(model.explained_variance_, np.array([49, 36, 25]) / 599, rtol=1e-12)
    assert largest_sine(model.components_.T, V[:, :3]) < 1e-7
    Z = model.transform(X)
    assert isinstance(Z, LazyChunks)
    np.testing.assert_allclose(np.asarray(Z), model.transform(rows), atol=1e-10)
    assert model.verify(X)
    assert not model.verify(chunks(rows * np.linspace(1, 2, 7), [300, 300]))
    assert ritz.plan(X, ritz.PCA(3)).solver == "moments"
    with pytest.raises(ritz.InputError, match="X has 4 features, but PCA is expecting 7"):
        model.transform(chunks(rows[:, :4], [300, 300]))
    rows[123, 2] = np.nan
    with pytest.raises(ritz.NonFiniteError, match=r"row 123 column 2"):
        ritz.PCA(3).fit(chunks(rows, [100, 500]))


def test_rows_of_weight_zero_may_hold_anything_there_too(registered):
    rows, _ = measured()
    w = np.random.default_rng(0).integers(0, 3, len(rows))
    want = ritz.PCA(2).fit(np.repeat(rows, w, axis=0))
    model = ritz.PCA(2).fit(chunks(np.where(w[:, None] == 0, np.nan, rows), [250, 350]), sample_weight=w)
    np.testing.assert_allclose(model.explained_variance_, want.explained_variance_, rtol=1e-12)


def test_sparse_chunks_whose_weights_lie_far_apart(registered):
    rng = np.random.default_rng(5)
    rows = np.where(rng.random((400, 30)) < 0.05, rng.standard_normal((400, 30)) + 3, 0)
    rows[:2] = rng.standard_normal((2, 30)) + 5
    w = rng.uniform(1e-3, 1, 400)
    w[:2] = 1e12, 1e4
    X = chunks(sp.csr_array(rows), [150, 250])
    want = ritz.PCA(2).fit(rows, sample_weight=w)
    for solver in ("moments", "krylov"):
        found = ritz.PCA(2, solver=solver).fit(X, sample_weight=w)
        np.testing.assert_allclose(found.certificate_.total, want.certificate_.total, rtol=1e-13)
        np.testing.assert_allclose(found.singular_values_[0], want.singular_values_[0], rtol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_registered_engine_serves_svd(registered, sparse):
    rng = np.random.default_rng(1)
    rows = np.where(rng.random((400, 30)) < (0.05 if sparse else 1), rng.standard_normal((400, 30)), 0)
    X = chunks(sp.csr_array(rows) if sparse else rows, [150, 250])
    model = ritz.SVD(4, tol=1e-10).fit(X)
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(rows, compute_uv=False)[:4], rtol=1e-9)
    assert isinstance(model.transform(X), LazyChunks)
    np.testing.assert_allclose(np.asarray(model.transform(X)), rows @ model.components_.T, atol=1e-10)
    assert model.verify(X)
    assert ritz.plan(X, ritz.SVD(4)).solver


@pytest.mark.parametrize("sparse", [False, True])
def test_a_registered_engine_serves_ca(registered, sparse):
    counts = np.random.default_rng(2).poisson(2, (300, 8)).astype(float)
    X = chunks(sp.csr_array(counts) if sparse else counts, [120, 180])
    model = ritz.CA(3).fit(X)
    P = counts / counts.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    inertias = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), compute_uv=False) ** 2
    np.testing.assert_allclose(model.eigenvalues_, inertias[:3], rtol=1e-9)
    F = model.transform(X)
    assert isinstance(F, LazyChunks)
    np.testing.assert_allclose(np.asarray(F), ritz.CA(3).fit(counts).row_coordinates_, atol=1e-7)
    assert model.verify(X)
    assert ritz.plan(X, ritz.CA(3)).solver
    counts[200, 1] = -1
    with pytest.raises(ritz.InputError, match="-1 in row 80 of a partition"):
        np.asarray(model.transform(chunks(counts, [120, 180])))


def test_a_registered_engine_serves_insight_and_reports(registered, tmp_path):
    rows, _ = measured()
    X = chunks(rows, [100, 350, 150])
    model = ritz.PCA(2).fit(X)
    np.testing.assert_allclose(ritz.insight.t2(model, X), ritz.insight.t2(model, rows), rtol=1e-9)
    assert ritz.insight.outliers(model, X).mask.shape == (600,)
    assert ritz.report(model, X, tmp_path / "report.html").stat().st_size > 10_000
    model.transform_to(X, tmp_path / "z.npy")
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), model.transform(rows), atol=1e-10)


def test_what_an_engine_cannot_do_is_said_by_its_name(registered):
    X = chunks(measured()[0], [600])
    with pytest.raises(ritz.InputError, match=r"(?s)the engine chunks has rows of numbers only.*hint"):
        ritz.MCA(2).fit(X)
    with pytest.raises(ritz.InputError, match=r"a table; received .*Chunks"):
        ritz.read(X)


def test_unregistered_it_is_unknown():
    X = chunks(measured()[0], [600])
    assert engine_of(X).name == "memory"
    with pytest.raises(ritz.InputError):
        ritz.PCA(2).fit(X)


def test_files_are_read_by_an_engine_that_is_called_by_its_address(registered, tmp_path):
    rows, _ = measured()
    np.save(tmp_path / "rows.npy", rows)
    with engaged("chunks://here") as cluster:
        assert engaged_cluster() is cluster
        assert isinstance(cluster, ChunkCluster)
        model = ritz.PCA(3).fit(ritz.read(tmp_path / "rows.npy"))
    assert cluster.closed
    assert engaged_cluster() is None
    np.testing.assert_allclose(model.explained_variance_, np.array([49, 36, 25]) / 599, rtol=1e-12)


def test_addresses_that_no_engine_claims_go_to_the_engine_of_ritz_that_has_some(registered):
    assert engine_at("chunks://x").name == "chunks"
    assert engine_at("dask://x").name == engine_at("tcp://x").name == engine_at("nonsense").name == "dask"


# --------------------------------------------------------------------------------------------- the list


def test_the_list_begins_with_what_was_registered_and_ends_with_memory(registered):
    assert [engine.name for engine in engines()] == ["chunks", "device", "dask", "spark", "stream", "memory"]


@pytest.mark.parametrize(
    ("engine", "complaint"),
    [
        (ChunkEngine, r"a class, ChunkEngine"),
        (object(), "one without name"),
        (type("Second", (ChunkEngine,), {"name": "memory"})(), r"a name of its own; received 'memory'"),
    ],
)
def test_what_is_no_engine_is_not_registered(engine, complaint):
    with pytest.raises(ritz.ParameterError, match=complaint):
        register(engine)
    assert len(engines()) == 5


def test_adopt_takes_everything(tmp_path):
    import polars as pl
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    rows, _ = measured()
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(7)])
    table = pa.table({name: frame[name].to_numpy() for name in frame})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    np.save(tmp_path / "t.npy", rows)
    held = {
        "array": (rows, "memory"),
        "list": (rows.tolist(), "memory"),
        "frame": (frame, "memory"),
        "polars": (pl.from_pandas(frame), "memory"),
        "arrow": (table, "memory"),
        "csr": (sp.csr_array(rows), "memory"),
        "map": (np.load(tmp_path / "t.npy", mmap_mode="r"), "memory"),
        "table": (ritz.read(tmp_path / "t.parquet"), "stream"),
        "outside": (ritz.read(tmp_path / "t.parquet", memory="20kB"), "stream"),
        "lazy frame": (pl.from_pandas(frame).lazy(), "stream"),
        "dataset": (ds.dataset(tmp_path / "t.parquet"), "stream"),
        "iterator": (iter(np.array_split(rows, 4)), "stream"),
        "blocks": (MemoryBlocks(rows), "stream"),
    }
    for what, (X, engine) in held.items():
        assert engine_of(X).name == engine, what
        if what == "iterator":
            with pytest.raises(ritz.InputError, match="rows that can be read again"):
                adopt(X)
            continue
        got = adopt(X, memory="20kB" if what == "outside" else None)
        assert are_blocks(got) == (what in ("outside", "blocks")), what
        values = np.concatenate([block.values for block in got.each()]) if are_blocks(got) else got
        np.testing.assert_array_equal(values.toarray() if what == "csr" else values, rows, err_msg=what)


def test_a_map_or_a_frame_that_the_limit_does_not_hold_is_read_as_it_lies(tmp_path):
    rows, _ = measured()
    np.save(tmp_path / "t.npy", rows)
    import pyarrow as pa

    for X in (np.load(tmp_path / "t.npy", mmap_mode="r"), pa.table({f"x{j}": rows[:, j] for j in range(7)})):
        got = adopt(X, memory="20kB")
        assert are_blocks(got)
        np.testing.assert_array_equal(np.concatenate([block.values for block in got.each()]), rows)


# ------------------------------------------------------------------------------------------ check_engine


def test_check_engine_is_silent_about_a_right_one():
    check_engine(ChunkEngine(), chunks)
    assert len(engines()) == 5


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("least", [0, 2 << 20], ids=["many partitions", "taken together"])
def test_check_engine_on_dask(monkeypatch, least):
    dask = pytest.importorskip("dask")
    import dask.array as da

    monkeypatch.setattr("ritz.data.engines.dask.rows.LEAST_BYTES", least)

    def make(rows, lengths):
        if isinstance(rows, np.ndarray):
            return da.from_array(rows, chunks=(tuple(lengths), 2))
        parts = [dask.delayed(part) for part in chunks(rows, lengths).parts]
        pairs = zip(parts, lengths, strict=True)
        return da.concatenate([da.from_delayed(p, (n, 5), rows.dtype, meta=rows[:0]) for p, n in pairs])

    with dask.config.set(scheduler="synchronous"):
        check_engine(next(engine for engine in engines() if engine.name == "dask"), make)


def broken(**changes):
    """An engine whose row blocks have other methods."""
    return type("Broken", (ChunkEngine,), {"blocks": type("Blocks", (ChunkBlocks,), changes)})()


def disordered(self, create, step):
    parts = []
    for block in self.each():
        parts.append(create())
        step(parts[-1], block)
    return merged(parts[::-1])


def from_zero(self, i):
    return Block(ChunkBlocks._block(self, i).values, 0)


def shorter(self, i):
    block = ChunkBlocks._block(self, i)
    return Block(block.values[:-1], block.start) if i == 2 else block


def once(self):
    self.passes += 1
    return (self._block(i) for i in range(len(self.parts) if self.passes == 1 else 0))


def once_only(self, create, step):
    parts = [create()]
    for block in self.each():
        step(parts[-1], block)
    return parts[0]


def kept_until_the_end(self, step, out):
    scratch = {}
    parts = [(block.rows, step(scratch, block)) for block in self.each()]
    for rows, values in parts:
        out[rows] = values
    return out


def whatever_they_hold(self, i):
    return Block(self.parts[i], self.starts[i])


def first_ones(self, rows):
    return self._block(0).values[:rows]


def silent(self, step, out):
    try:
        return ChunkBlocks.map_rows(self, step, out)
    except ritz.InputError:
        return out


def disguised(self, create, step):
    try:
        return ChunkBlocks.map_reduce(self, create, step)
    except ritz.InputError as error:
        raise RuntimeError("a task failed") from error


def always_double(self, parts):
    ChunkBlocks.__init__(self, [part.astype(np.float64) for part in parts])


def never_sparse(self, parts):
    ChunkBlocks.__init__(self, parts)
    self.sparse = False


def misnamed(self, parts):
    ChunkBlocks.__init__(self, parts, ["a", "b"])


class Everything(ChunkEngine):
    def takes(self, X):
        return True


class Eager(ChunkEngine):
    def map_rows(self, X, function, width, dtype, names=None):
        return np.asarray(LazyChunks(X.parts, function))


class Hasty(ChunkEngine):
    def map_rows(self, X, function, width, dtype, names=None):
        values = np.asarray(LazyChunks(X.parts, function))
        return LazyChunks([values], lambda rows: rows)


class Miscounting(ChunkEngine):
    def columns(self, X):
        return Columns((len(X.parts), X.parts[0].shape[1]), X.parts[0].dtype)


@pytest.mark.parametrize(
    ("engine", "complaint"),
    [
        (broken(map_reduce=disordered), r"map_reduce: a block begins at row 180, expected 0"),
        (broken(_block=from_zero), r"map_reduce: a block begins at row 0, expected 40"),
        (broken(_block=shorter), r"map_reduce: a block begins at row 100, expected 99"),
        (broken(each=once, map_reduce=once_only), r"map_reduce, a second time: 0 rows, expected 240"),
        (broken(map_rows=kept_until_the_end), r"map_rows: row \d+ and \d+ others differ"),
        (broken(_block=whatever_they_hold), r"absent: map_reduce: row 0 and 4 others differ"),
        (broken(sample=first_ones), r"sample: not spread over the table"),
        (broken(map_rows=silent), r"map_rows: an error of the step is lost"),
        (broken(map_reduce=disguised), r"map_reduce: an InputError of the step comes out as RuntimeError"),
        (broken(__init__=always_double), r"dtype: float32 rows are announced as float64"),
        (broken(__init__=never_sparse), r"sparse: a matrix of which a tenth is stored is announced as dense"),
        (broken(__init__=misnamed), r"names: \['a', 'b'\] for 5 columns"),
        (Everything(), r"takes: ndarray, which is not its own"),
        (Eager(), r"an array, although it says that it is lazy"),
        (Hasty(), r"it computes before anybody asks"),
        (Miscounting(), r"columns: 6 rows, expected 240"),
    ],
)  # fmt: skip
def test_check_engine_finds_broken_ones(engine, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_engine(engine, chunks)
    assert len(engines()) == 5


# ------------------------------------------------------------------------- a frame that an engine asks for itself


class Loud(Engine):
    """Frames of pandas whose levels are read in capitals, and whose rows have names."""

    name = "loud"

    def takes(self, X):
        return isinstance(X, pd.DataFrame)

    def adopt(self, X, asked):
        return X.to_numpy()

    def opened(self, X, memory=None):
        return memory_columns(X.map(str.upper), memory=memory)

    def labels(self, X):
        return [f"number {i}" for i in range(len(X))]


def test_a_registered_engine_is_asked_for_a_pandas_frame_of_categories_too():
    rows = [
        "home bag yes",
        "home bag no",
        "shop leaf no",
        "shop leaf no",
        "home bag yes",
        "work bag yes",
        "work bag no",
    ]
    tea = pd.DataFrame([row.split() for row in rows], columns=["where", "kind", "sugar"])
    register(Loud())
    try:
        loud = ritz.MCA(2).fit(tea)
    finally:
        unregister("loud")
    quiet = ritz.MCA(2).fit(tea)
    assert list(loud.column_names_) == [
        f"{name}={level.upper()}" for name, level in (label.split("=") for label in quiet.column_names_)
    ]
    assert list(loud.row_coordinates_.index) == [f"number {i}" for i in range(7)]
    assert list(quiet.row_coordinates_.index) == list(range(7))
    assert np.array_equal(loud.row_coordinates_.to_numpy(), quiet.row_coordinates_.to_numpy())
