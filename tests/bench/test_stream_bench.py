"""The bench of files larger than memory runs: tiny files through its own steps, nothing timed that matters."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def variances(X: np.ndarray, k: int) -> np.ndarray:
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    return np.linalg.svd(Z, compute_uv=False)[:k] ** 2 / (len(Z) - 1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_shorter_file_is_the_beginning_of_a_longer_one(tmp_path, dtype):
    from bench.large import make

    for rows in (4099, 9001):
        made = make(str(tmp_path / f"{rows}.npy"), rows, 6, dtype)
        assert made["bytes"] == rows * 6 * np.dtype(dtype).itemsize
    short, long = np.load(tmp_path / "4099.npy"), np.load(tmp_path / "9001.npy")
    assert short.dtype == dtype
    assert np.isfinite(long).all()
    np.testing.assert_array_equal(short, long[:4099])
    assert len(np.unique(long[:, 0])) > 100


@pytest.mark.parametrize("kind", ["columns", "embedding"])
def test_parquet_files_hold_those_rows_and_are_read_and_fitted(tmp_path, kind):
    from bench.large import make_parquet, row_blocks
    from bench.stream import parquet_times

    path = tmp_path / "t.parquet"
    make_parquet(str(path), kind, 3, 5000, 8)
    held = pq.read_table(path)
    assert held.num_rows == 15_000
    block = row_blocks(8, "float32")
    rows = np.concatenate([block(2, 4096), block(3, 904)])  # the second row group
    if kind == "embedding":
        found = np.array(held["emb"].to_pylist(), np.float32)
    else:
        found = np.column_stack([held[f"x{j}"].to_numpy() for j in range(8)])
    np.testing.assert_array_equal(found[5000:10_000], rows)
    times = parquet_times(str(path), kind, 3, "1GB", 1)
    assert all(times[name]["wall"] > 0 for name in ("fit", "plain", "sums"))


def test_merely_reading_gives_row_major_rows(tmp_path):
    from bench.large import make_parquet
    from bench.stream import plain_reading

    for kind in ("columns", "embedding"):
        path = tmp_path / f"{kind}.parquet"
        make_parquet(str(path), kind, 2, 5000, 8)
        seen: dict[int, list[np.ndarray]] = {0: [], 1: []}
        plain_reading(str(path), kind, 8, lambda g, block, seen=seen: seen[g].append(block.copy()))
        table = pq.read_table(path)
        if kind == "embedding":
            truth = np.array(table["emb"].to_pylist(), np.float32)
        else:
            truth = np.column_stack([table[f"x{j}"].to_numpy() for j in range(8)])
        np.testing.assert_array_equal(np.concatenate(seen[0] + seen[1]), truth)


def test_file_and_memory_agree_and_errors_are_measured(tmp_path):
    from bench.large import make
    from bench.stream import incremental_times, npy_times, truth

    path = str(tmp_path / "t.npy")
    make(path, 6000, 30, "float32")
    X = np.load(path)
    run = npy_times(path, 4, "60MB", 1)
    assert run["difference"] < 1e-6
    exact = variances(X, 4)
    assert truth(path, 4, exact.tolist())["error"] < 1e-12
    wrong = exact + np.array([0, 0, 0, 0.25 * exact[0]])
    assert truth(path, 4, wrong.tolist())["error"] == pytest.approx(0.25)
    run = incremental_times(path, 4, "60MB", 1)
    assert run["ritz_error"] < 1e-6 < run["sklearn_error"]


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs /proc to measure resident memory")
def test_the_program_is_measured_from_outside(tmp_path):
    from bench.large import fit, make

    path = tmp_path / "t.npy"
    made = make(str(path), 60_000, 100, "float32")
    run = fit(path, tmp_path / "fit", 5, "60MB")
    assert made["bytes"] <= run["read"] <= 1.5 * made["bytes"]
    # A limit of a quarter of the file is kept, and something was added: the measurement is not blind.
    assert 1e6 < run["added"] <= run["limit"] == 60e6
    np.testing.assert_allclose(run["variances"], variances(np.load(path), 5), rtol=1e-6)
    assert run["passes"] == 1
    assert 0 < run["enclosure"] < 1e-3


def test_ten_million_rows_run_with_a_few(tmp_path, capsys):
    from bench.large import measure

    lines = measure(tmp_path, 5000, 32, 4, "60MB")
    assert "ritz fit" in lines[1]
    assert "ritz transform" in lines[2]
    assert np.load(tmp_path / "scores.npy").shape == (5000, 4)
    assert "5,000×32 float16" in capsys.readouterr().out


def test_a_disk_that_is_too_small_is_a_reason_to_skip(tmp_path, monkeypatch):
    from bench import large, stream

    usage = large.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(large.shutil, "disk_usage", lambda path: usage)
    sizes = stream.Sizes(rows=100, rows64=100, warm=100, groups=1, group=10, slow=100)
    for part in (stream.memory, stream.npy, stream.parquet, stream.incremental):
        lines = part(sizes, tmp_path)
        assert all("skipped: needs" in line.measured and line.reached is None for line in lines)
        assert json.dumps([asdict(line) for line in lines])


def test_the_table_says_what_was_missed():
    from bench.stream import Line, table

    said = table([Line("a", "1", "≥ 2", False), Line("b", "3", "≥ 2", True), Line("c", "4")])
    assert "MISSED" in said
    assert "1 of 2 targets reached" in said
