"""Every source hands out the numbers of the table, whatever the cuts, and from several threads at once."""

from __future__ import annotations

import decimal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from ritz._core.errors import FileError, InputError
from ritz.data.formats.matrix import MemoryMatrix
from ritz.data.formats.memory import ArrowTable
from ritz.data.tables.read import read

TINY = 1000  # a memory limit under which everything stays where it is


def rows(source, columns=None, step=7):
    """All rows, span by span."""
    blocks = [block for span in source.spans for block in source.batches(span, columns, step)]
    assert all(0 < block.shape[0] <= step for block in blocks)
    if source.sparse:
        return scipy.sparse.vstack(blocks, format="csr")
    assert all(block.flags.c_contiguous and block.dtype == source.dtype for block in blocks)
    return np.concatenate(blocks)


def check(source, X):
    """The numbers are X by any cut, in row order, and the same when spans are read at the same time."""
    d = X.shape[1]
    assert source.spans[0].start == 0
    assert source.spans[-1].stop == len(X)
    assert all(a.stop == b.start for a, b in zip(source.spans[:-1], source.spans[1:], strict=True))
    for step in (1, 7, 10_000):
        np.testing.assert_array_equal(rows(source, None, step), X)
    some = [d - 1, 0] if d > 1 else [0]
    np.testing.assert_array_equal(rows(source, some), X[:, some])
    if hasattr(source, "column_batches"):
        for columns in (None, some):
            blocks = [block for span in source.spans for block in source.column_batches(span, columns, 7)]
            assert all(0 < len(block) <= 7 and block.dtype == source.dtype for block in blocks)
            np.testing.assert_array_equal(np.concatenate(blocks), X if columns is None else X[:, columns])
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda span: np.concatenate(list(source.batches(span, None, 5))), source.spans * 3))
    np.testing.assert_array_equal(np.concatenate(parts), np.concatenate([X] * 3))
    assert source.fingerprint() == source.fingerprint()
    assert len(source.names) == d


def normal(n, d, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


# --- .npy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "<f2", "<i2", ">u4", "?", "<i8"])
def test_npy(tmp_path, order, dtype):
    X = np.asarray(normal(53, 5) * 10).astype(dtype)
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    table = read(tmp_path / "x.npy", memory=TINY)
    assert table.lazy
    source, columns = table.source_for(table.names)
    assert columns is None
    assert source.dtype.isnative
    assert source.dtype == X.dtype.newbyteorder("=")
    check(source, X)


def test_npy_in_many_spans(tmp_path, monkeypatch):
    monkeypatch.setattr("ritz.data.formats.npy.SPAN_BYTES", 1)
    X = normal(2500, 3, np.float32)
    np.save(tmp_path / "x.npy", X)
    source, _ = read(tmp_path / "x.npy", memory=TINY).source_for()
    assert len(source.spans) == 3
    check(source, X)


def test_extended_precision_is_handed_out_as_float64(tmp_path):
    X = normal(5, 2).astype(np.longdouble)
    np.save(tmp_path / "x.npy", X)
    source, _ = read(tmp_path / "x.npy", memory=10).source_for()
    check(source, X.astype(np.float64))


@pytest.mark.parametrize("lost", [1, 17, 400])
def test_truncated_npy(tmp_path, lost):
    np.save(tmp_path / "x.npy", normal(20, 3))
    data = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(data[:-lost])
    with pytest.raises(FileError, match=r"(?s)an undamaged array file at .*x.npy; received \d+ bytes of \d+.*hint"):
        read(tmp_path / "x.npy")


def test_npy_that_shrinks_while_it_is_read(tmp_path):
    np.save(tmp_path / "x.npy", normal(200, 3))
    source, _ = read(tmp_path / "x.npy", memory=TINY).source_for()
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-100])
    with pytest.raises(FileError, match="became shorter"):
        rows(source)


def test_a_fingerprint_changes_with_the_file(tmp_path):
    np.save(tmp_path / "x.npy", normal(200, 3))
    before = read(tmp_path / "x.npy", memory=TINY).source_for()[0].fingerprint()
    np.save(tmp_path / "x.npy", normal(201, 3))
    assert read(tmp_path / "x.npy", memory=TINY).source_for()[0].fingerprint() != before


# --- .npz -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_npz(tmp_path, form):
    X = scipy.sparse.random(40, 6, 0.3, format=form, random_state=0)
    scipy.sparse.save_npz(tmp_path / "x.npz", X)
    table = read(tmp_path / "x.npz")
    out, names = table.numeric()
    assert out.format == "csr"
    assert names[:2] == ["x0", "x1"]
    np.testing.assert_array_equal(out.toarray(), X.toarray())
    source, _ = table.source_for()
    np.testing.assert_array_equal(rows(source, [3, 0]).toarray(), X.toarray()[:, [3, 0]])


def test_npz_with_one_matrix(tmp_path):
    X = normal(9, 2)
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(9))
    np.testing.assert_array_equal(read(tmp_path / "x.npz").numeric()[0], X)
    np.savez(tmp_path / "x.npz", X=X, Z=X)
    words = r"(?s)one array with rows and columns.*received X \(9×2, float64\), Z.*hint: sheet='X'"
    with pytest.raises(FileError, match=words):
        read(tmp_path / "x.npz")


def test_damaged_npz(tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.random(400, 60, 0.3, format="csr", random_state=0))
    data = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match=r"(?s)an undamaged .npz archive.*hint"):
        read(tmp_path / "x.npz")
    broken = {"format": b"csr", "shape": (2, 2), "data": [1.0, 2.0], "indices": [0, 9], "indptr": [0, 1, 2]}
    np.savez(tmp_path / "y.npz", **broken)
    with pytest.raises(FileError, match=r"(?s)an undamaged .npz archive"):
        read(tmp_path / "y.npz")


# --- Parquet, Arrow, data sets ----------------------------------------------------------------------------


def mixed(n=50, seed=0):
    """A table of all types of numbers, and the rows it means."""
    rng = np.random.default_rng(seed)
    f, i = rng.normal(size=n), rng.integers(-1000, 1000, n)
    gone = rng.random(n) < 0.2
    cents = [None if g else decimal.Decimal(int(v)) / 100 for v, g in zip(i, gone, strict=True)]
    table = pa.table({
        "f8": pa.array(f, mask=gone),
        "f4": pa.array(f.astype(np.float32)),
        "i4": pa.array(i.astype(np.int32), mask=gone),
        "u1": pa.array((i % 200).astype(np.uint8)),
        "flag": pa.array(i > 0, mask=gone),
        "money": pa.array(cents, pa.decimal128(12, 2)),
        "code": pa.array(i % 7).dictionary_encode(),
        "word": pa.array([f"w{v % 3}" for v in i]),
    })  # fmt: skip
    nan = np.where(gone, np.nan, 0.0)
    money = [np.nan if c is None else float(c) for c in cents]
    X = np.column_stack([f + nan, f.astype(np.float32), i + nan, i % 200, (i > 0) + nan, money, i % 7])
    return table, X


NUMBERS = ["f8", "f4", "i4", "u1", "flag", "money", "code"]


def in_parquet(table, folder):
    pq.write_table(table, folder / "t.parquet", row_group_size=11)
    return folder / "t.parquet"


def in_arrow(table, folder, codec=None):
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=11):
            writer.write_batch(batch)
            writer.write_batch(batch.slice(0, 0))
    return folder / "t.arrow"


def in_feather(table, folder):
    feather.write_feather(table, str(folder / "t.feather"), chunksize=13, compression="zstd")
    return folder / "t.feather"


def in_dataset(table, folder):
    for i in range(0, table.num_rows, 20):
        pq.write_table(table.slice(i, 20), folder / f"p{i:03}.parquet", row_group_size=7)
    return ds.dataset(folder)


def in_scanner(table, folder):
    return in_dataset(table, folder).scanner()


def in_lazy_frame(table, folder):
    pl = pytest.importorskip("polars")
    return pl.scan_parquet(in_parquet(table, folder))


def in_duckdb(table, folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().read_parquet(str(in_parquet(table, folder)))


def in_list(table, folder):
    return table.to_batches(max_chunksize=13)


class Again:
    def __init__(self, table):
        self.table = table

    def __iter__(self):
        return iter(self.table.to_batches(max_chunksize=13))


def in_own_iterable(table, folder):
    return Again(table)


WAYS = [
    in_parquet,
    in_arrow,
    in_feather,
    in_dataset,
    in_scanner,
    in_lazy_frame,
    in_duckdb,
    in_list,
    in_own_iterable,
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 50])
def test_tables_of_all_types(tmp_path, way, n):
    table, X = mixed(n)
    lazy = read(way(table, tmp_path), memory=10)
    assert lazy.lazy
    assert lazy.n_rows == n
    source, columns = lazy.source_for(NUMBERS)
    assert columns is None
    assert source.dtype == np.float64
    check(source, X)
    assert lazy.labels("word") == table["word"].to_pylist()
    eager = read(way(table, tmp_path))
    assert not eager.lazy
    np.testing.assert_array_equal(eager.select(NUMBERS), X)
    assert eager.kinds == lazy.kinds
    assert eager.set_aside == lazy.set_aside
    assert eager.missing == lazy.missing
    assert eager.names == lazy.names


@pytest.mark.parametrize("way", WAYS)
def test_float32_stays_float32_beside_other_columns(tmp_path, way):
    n = 30
    X = normal(n, 3, np.float32)
    table = pa.table({"key": np.arange(n)[::-1], **{f"x{j}": X[:, j] for j in range(3)}})
    source, columns = read(way(table, tmp_path), memory=10).source_for(["x2", "x0"])
    assert source.dtype == np.float32
    np.testing.assert_array_equal(rows(source, columns), X[:, [2, 0]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "variable"])
def test_embedding_columns(tmp_path, way, dtype, fixed):
    if dtype == np.float16 and (
        way is in_duckdb or (way is in_lazy_frame and not hasattr(pytest.importorskip("polars"), "Float16"))
    ):
        pytest.skip("DuckDB, and polars before it had Float16, refuse half precision")
    E = (normal(40, 6) * 10).astype(dtype)
    flat = pa.array(E.ravel())
    lists = (
        pa.FixedSizeListArray.from_arrays(flat, 6)
        if fixed
        else pa.ListArray.from_arrays(pa.array(np.arange(0, 241, 6), pa.int32()), flat)
    )
    table = pa.table({"id": [f"r{i}" for i in range(40)], "emb": lists, "y": normal(40, 1, np.float16).ravel()})
    if way in (in_duckdb, in_lazy_frame):
        table = table.drop_columns("y")
    lazy = read(way(table, tmp_path), memory=10)
    names = [f"emb[{i}]" for i in range(6)]
    assert lazy.names[:7] == ["id", *names]
    source, columns = lazy.source_for(names)
    assert source.dtype.itemsize <= np.result_type(dtype, np.float16).itemsize or source.dtype == np.float64
    check(source, E.astype(source.dtype))
    some, columns = lazy.source_for(["emb[4]", "emb[1]"])
    np.testing.assert_array_equal(rows(some, columns), E[:, [4, 1]])
    batch = pa.concat_tables(lazy.batches(["emb[3]", "id"], 9))
    assert batch.column_names == ["emb[3]", "id"]
    np.testing.assert_array_equal(batch["emb[3]"].to_numpy(), E[:, 3])
    np.testing.assert_array_equal(read(way(table, tmp_path)).select(names), E)


def test_missing_embeddings_are_nan(tmp_path):
    E = normal(6, 2, np.float32)
    values = [None if i == 2 else list(map(float, row)) for i, row in enumerate(E)]
    values[4] = [None, values[4][1]]
    want = E.copy()
    want[2], want[4, 0] = np.nan, np.nan
    for kind in (pa.list_(pa.float32(), 2), pa.list_(pa.float32()), pa.large_list(pa.float32())):
        table = pa.table({"e": pa.array(values, kind)})
        for part, X in ((table, want), (table.slice(1, 4), want[1:5])):
            np.testing.assert_array_equal(read(part).select(["e[0]", "e[1]"]), X)
            pq.write_table(part, tmp_path / "e.parquet", row_group_size=2)
            check(read(tmp_path / "e.parquet", memory=10).source_for()[0], X)


def test_lists_of_another_length_further_down(tmp_path):
    lists = [[1.0, 2.0]] * 2000 + [[1.0]]
    pq.write_table(pa.table({"e": lists}), tmp_path / "e.parquet")
    with pytest.raises(
        InputError, match=r"(?s)lists of 2 numbers in column 'e'; received 1 number in .*hint: .*'drop'"
    ):
        read(tmp_path / "e.parquet")
    source, _ = read(tmp_path / "e.parquet", memory=10).source_for()
    with pytest.raises(InputError, match="lists of 2 numbers in column 'e'"):
        rows(source)


def test_empty_row_groups_and_repeated_names(tmp_path):
    X = normal(9, 2)
    table = pa.Table.from_arrays([X[:, 0], X[:, 1]], names=["a", "a"])
    with pq.ParquetWriter(tmp_path / "t.parquet", table.schema) as writer:
        for part in (table.slice(0, 0), table.slice(0, 4), table.slice(0, 0), table.slice(4)):
            writer.write_table(part)
    table = read(tmp_path / "t.parquet", memory=10)
    assert table.names == ["a", "a_2"]
    source, _ = table.source_for()
    check(source, X)


def test_names_with_dots(tmp_path):
    X = normal(5, 3)
    table = pa.table({"a": X[:, 0], "a.b": X[:, 1], "a.b.c": X[:, 2]})
    pq.write_table(table, tmp_path / "t.parquet")
    source, _ = read(tmp_path / "t.parquet", memory=10).source_for(["a.b"])
    np.testing.assert_array_equal(rows(source), X[:, [1]])
    source, _ = read(tmp_path / "t.parquet", memory=10).source_for()
    check(source, X)


def test_large_row_groups_are_read_through_a_buffer(tmp_path, monkeypatch):
    monkeypatch.setattr("ritz.data.formats.parquet.LARGE_GROUP", 0)
    table, X = mixed(300)
    pq.write_table(table, tmp_path / "t.parquet", data_page_size=64)
    check(read(tmp_path / "t.parquet", memory=10).source_for(NUMBERS)[0], X)


def test_reading_numbers_does_not_load_pandas(tmp_path):
    pq.write_table(pa.table({"x": [1.0, None], "n": [1, None], "e": [[1.0], None]}), tmp_path / "t.parquet")
    code = f"""if True:
        import sys
        from ritz.data.tables.read import read
        table = read({str(tmp_path / "t.parquet")!r}, memory=10)
        source, columns = table.source_for(["x", "n", "e[0]"])
        assert len(next(source.batches(source.spans[0], columns, 10))) == 2
        assert "pandas" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_hive_partitions(tmp_path):
    X = normal(12, 2)
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "year": [2020, 2021, 2022] * 4, "site": list("abab" * 3)})
    pq.write_to_dataset(table, tmp_path / "d", partition_cols=["year", "site"])
    for memory in (500, None):
        got = read(tmp_path / "d", memory=memory)
        assert got.lazy == (memory == 500)
        assert set(got.names) == {"x", "y", "year", "site"}
        assert got.kinds["site"] == "categorical"
        assert got.kinds["year"] == "numeric"
        rows_ = {tuple(row) for row in got.select(["x", "y", "year"]).tolist()}
        assert rows_ == {
            (a, b, float(c)) for a, b, c in zip(*(table[n].to_pylist() for n in ("x", "y", "year")), strict=True)
        }
        assert sorted(got.labels("site")) == sorted(table["site"].to_pylist())


def test_files_of_a_folder_must_agree(tmp_path):
    pq.write_table(pa.table({"x": [1.0], "y": [2.0]}), tmp_path / "a.parquet")
    for other, word in (
        ({"x": [1.0]}, "no column 'y'"),
        ({"x": [1.0], "y": [1.0], "z": [1.0]}, "another column, 'z'"),
        ({"x": [1.0], "y": ["a"]}, "column 'y' of type string instead of double"),
    ):
        pq.write_table(pa.table(other), tmp_path / "b.parquet")
        with pytest.raises(FileError, match=rf"(?s)b.parquet to have the same columns as .*a.parquet; received {word}"):
            read(tmp_path)


def test_damage_far_inside_a_file(tmp_path):
    X = normal(4000, 4)
    table = pa.table({f"x{j}": X[:, j] for j in range(4)})
    pq.write_table(table, tmp_path / "t.parquet", compression="zstd", row_group_size=500)
    feather.write_feather(table, str(tmp_path / "t.arrow"), chunksize=500, compression="zstd")
    for name, what in (("t.parquet", "Parquet"), ("t.arrow", "Arrow")):
        data = bytearray((tmp_path / name).read_bytes())
        middle = len(data) // 2
        data[middle : middle + 3000] = bytes(3000)
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileError, match=rf"(?s)an undamaged {what} file at .*{name}.*hint"):
            read(tmp_path / name).numeric()
        (tmp_path / name).write_bytes(bytes(data[:middle]))
        with pytest.raises(FileError, match=rf"(?s)an undamaged {what} file at .*{name}.*hint"):
            read(tmp_path / name)


# --- batches ----------------------------------------------------------------------------------------------


def test_arrays_and_sparse_matrices_in_batches():
    X = normal(30, 4, np.float32)
    for parts in ([X[:7], X[7:8], X[8:]], (X[:7], X[7:])):
        check(read(parts, memory=10).source_for()[0], X)
        np.testing.assert_array_equal(read(parts).numeric()[0], X)
    S = [scipy.sparse.csr_array(X[:9]), scipy.sparse.csc_matrix(X[9:])]
    source, _ = read(S, memory=10).source_for()
    assert source.sparse
    np.testing.assert_array_equal(rows(source).toarray(), X)


def test_frames_of_any_library_in_batches():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = normal(9, 2)
    parts = [pd.DataFrame(X[:3], columns=["a", "b"]), pl.DataFrame(X[3:5], schema=["a", "b"])]
    parts.append(pa.table({"a": X[5:, 0], "b": X[5:, 1]}))
    check(read(parts, memory=10).source_for()[0], X)


def test_a_generator_can_be_read_once():
    X = normal(20, 3)
    table = read(X[i : i + 6] for i in range(0, 20, 6))
    assert table.n_rows is None
    assert table.lazy
    assert not table.repeatable
    assert "unknown number of rows" in repr(table)
    with pytest.raises(InputError, match="number of rows is known"):
        len(table)
    source, _ = table.source_for()
    np.testing.assert_array_equal(np.concatenate(list(source.batches(source.spans[0], None, 4))), X)
    with pytest.raises(InputError, match=r"(?s)rows that can be read again.*hint"):
        list(source.batches(source.spans[0], None, 4))
    assert read([X[:5], X[5:]]).repeatable


def test_a_generator_of_frames_is_judged_by_its_first_batch():
    table, X = mixed(50)
    lazy = read(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=20)))
    assert not lazy.repeatable
    assert lazy.kinds["word"] == "categorical"
    assert "judged by the first 20 rows" in dict(lazy.set_aside)["word"]
    assert not lazy.scanned
    np.testing.assert_array_equal(lazy.select(NUMBERS), X)


def test_a_batch_that_changes_is_refused():
    X = normal(4, 2, np.float32)
    for second, word in (
        (X[:, :1], "received 1 columns"),
        (X.astype(np.float64), "received numbers of type float64"),
        (scipy.sparse.csr_matrix(X), "received scipy"),
        ("text", "received str"),
    ):
        with pytest.raises(InputError, match=rf"(?s)batch 1 \(from 0\).*{word}.*hint"):
            rows(read(iter([X, second])).source_for()[0])
    first = pa.table({"a": [1, 2], "b": [1.0, 2.0]})
    for second, word in (
        (pa.table({"a": [1], "c": [1.0]}), "a new column 'c'"),
        (pa.table({"a": [1]}), "no column 'b'"),
        (pa.table({"b": [1.0], "a": [1]}), "another order of columns"),
        (pa.table({"a": ["x"], "b": [1.0]}), "column 'a' of type string"),
    ):
        with pytest.raises(InputError, match=rf"(?s)batch 1 \(from 0\).*received {word}.*hint"):
            rows(read(iter([first, second])).source_for()[0])


def test_whole_numbers_that_become_floating_go_on():
    parts = [pa.table({"a": [1, 2]}), pa.table({"a": [1.5, None]}), pa.table({"a": pa.nulls(1)})]
    np.testing.assert_array_equal(read(iter(parts)).numeric()[0].ravel(), [1, 2, 1.5, np.nan, np.nan])


# --- objects in memory ------------------------------------------------------------------------------------


def test_frames_and_arrays_in_memory():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = normal(12, 2)
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"r{i}" for i in range(12)])
    for given in (frame, pl.DataFrame(X, schema=["a", "b"]), pa.table({"a": X[:, 0], "b": X[:, 1]})):
        np.testing.assert_array_equal(read(given).select(["a", "b"]), X)
    assert read(frame).kinds["row"] == "identifier"
    assert read(X).numeric()[0] is X
    assert read(scipy.sparse.csr_array(X)).numeric()[0].format == "csr"
    table = read(X)
    assert read(table) is table
    assert isinstance(table.source_for()[0], MemoryMatrix)
    assert isinstance(read(frame).source_for()[0], ArrowTable)
    with pytest.raises(InputError, match=r"rows and columns of real numbers; received numpy.ndarray of shape \(3,"):
        read(np.ones(3))
    with pytest.raises(InputError, match=r"(?s)a path, a frame.*received int 3.*hint"):
        read(3)
    with pytest.raises(InputError, match=r"(?s)rows and columns.*0 rows.*hint"):
        read(pa.table({"a": pa.array([], pa.float64())}))
