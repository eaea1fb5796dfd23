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
from ritz.data.dask_blocks import DaskBlocks
from ritz.data.source import Span

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

    monkeypatch.setattr("ritz.data.dask_rows.SOURCE_BYTES", 1500 * D * 8)
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
