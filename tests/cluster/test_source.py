"""Files that the workers read themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ritz
from ritz._core.errors import FileError
from ritz.data.engines import engaged, engaged_cluster
from ritz.data.engines.dask.blocks import DaskBlocks
from ritz.data.formats.source import Span

cloudpickle = pytest.importorskip("cloudpickle", reason="dask is not installed")
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import the tests

N, D = 5_000, 6


class NpyRows:
    """Rows of a .npy file, read by whoever asks; it notes which process did."""

    sparse = False

    def __init__(self, path: Path) -> None:
        self.files = [path]
        values = np.load(path, mmap_mode="r")
        self.names = [f"c{j}" for j in range(values.shape[1])]
        self.dtype, self.nbytes = values.dtype, values.nbytes
        edges = [0, 700, 1400, 1450, 4000, N]
        self.spans = [Span(a, b, i) for i, (a, b) in enumerate(pairwise(edges))]

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        import os

        with open(self.files[0].with_suffix(".readers"), "a") as log:
            log.write(f"{os.getpid()}\n")
        values = np.load(self.files[0], mmap_mode="r")
        for start in range(span.start, span.stop, rows):
            part = values[start : min(start + rows, span.stop)]
            yield np.array(part if columns is None else part[:, columns])

    def fingerprint(self) -> str:
        return str(self.files[0].stat().st_mtime_ns)


@pytest.fixture
def source(tmp_path: Path) -> NpyRows:
    rng = np.random.default_rng(4)
    np.save(tmp_path / "rows.npy", rng.standard_normal((N, D)) * np.arange(1, D + 1) + 50)
    return NpyRows(tmp_path / "rows.npy")


@pytest.mark.parametrize("columns", [None, [4, 0, 2]])
def test_workers_read_the_file(client: Any, source: NpyRows, columns: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr("ritz.data.engines.dask.rows.SOURCE_BYTES", 1500 * D * 8)
    rows = np.load(source.files[0])
    rows = rows if columns is None else rows[:, columns]
    blocks = DaskBlocks.from_source(source, client, columns)
    assert blocks.partitions == [1450, 2550, 1000]
    assert blocks.names == [source.names[j] for j in columns or range(D)]
    model = ritz.PCA().fit(blocks)
    truth = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2 / (N - 1)
    assert np.max(np.abs(model.explained_variance_ - truth)) <= 1e-12 * truth[0]
    readers = source.files[0].with_suffix(".readers").read_text().split()
    assert str(os.getpid()) not in readers


def test_a_file_that_workers_do_not_see_is_an_error(client: Any, source: NpyRows) -> None:
    blocks = DaskBlocks.from_source(source, client)
    source.files[0].unlink()
    with pytest.raises(FileError, match=r"every worker must see.*rows\.npy"):
        ritz.PCA().fit(blocks)


def test_an_engine_is_engaged_inside_of_its_block_only(cluster: Any) -> None:
    with engaged(None) as nobody:
        assert nobody is None
        assert engaged_cluster() is None
    with engaged(cluster.scheduler_address.replace("tcp://", "dask://")) as there:
        assert engaged_cluster() is there
    assert engaged_cluster() is None
    assert there.client.status == "closed"


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_tables_read_from_files(client: Any, tmp_path: Path, ending: str) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rows = np.random.default_rng(6).standard_normal((3_000, 5)) * [5, 4, 3, 2, 1]
    path = tmp_path / f"table.{ending}"
    table = pa.table({f"x{j}": rows[:, j] for j in range(5)})
    if ending == "npy":
        np.save(path, rows)
    elif ending == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path, row_group_size=500)
    source, columns = ritz.read(path, memory="100kB").source_for()
    model = ritz.PCA().fit(DaskBlocks.from_source(source, client, columns))
    truth = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2 / (len(rows) - 1)
    assert np.max(np.abs(model.explained_variance_ - truth)) <= 1e-12 * truth[0]
