"""What goes wrong on clusters: workers die, schedulers are not there, data are damaged."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ritz
from ritz._core.errors import Cancelled, InputError, NonFiniteError, ParameterError
from ritz.data.engines.dask.blocks import DaskBlocks
from ritz.data.engines.dask.cluster import ClusterError, connect, require_dask

cloudpickle = pytest.importorskip("cloudpickle", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import the tests

N, D = 3_000, 8


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(11)
    return rng.standard_normal((N, D)) * 2.0 ** -np.arange(D)


def _trap(chunk: np.ndarray, folder: str, place: int, time_of_death: int, block_info: Any = None) -> np.ndarray:
    """Wait to be killed in one chunk, when it is computed for the n-th time, once."""
    if block_info and block_info[0]["chunk-location"][0] == place:
        times = 1
        while True:
            try:
                os.close(os.open(f"{folder}/{times}", os.O_CREAT | os.O_EXCL))
                break
            except FileExistsError:
                times += 1
        if times == time_of_death:
            Path(folder, "pid.part").write_text(str(os.getpid()))
            Path(folder, "pid.part").rename(Path(folder, "pid"))
            time.sleep(120)
    return chunk


@pytest.mark.parametrize(("solver", "time_of_death"), [("moments", 1), ("krylov", 2)])
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(
    client: Any, rows: np.ndarray, tmp_path: Path, solver: str, time_of_death: int
) -> None:
    X = da.from_array(rows, chunks=(250, D))  # chunk 5 is none of those that rows are sampled from
    undisturbed = ritz.PCA(3, solver=solver).fit(DaskBlocks(X, client, persist=False))
    trap = X.map_blocks(_trap, folder=str(tmp_path), place=5, time_of_death=time_of_death, dtype=X.dtype)
    killed = []

    def kill() -> None:
        while not (tmp_path / "pid").exists():
            time.sleep(0.02)
        killed.append(int((tmp_path / "pid").read_text()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    model = ritz.PCA(3, solver=solver).fit(DaskBlocks(trap, client, persist=False))
    killer.join(10)
    assert killed
    assert killed[0] != os.getpid()
    assert (tmp_path / str(time_of_death + 1)).exists()  # the chunk was computed again
    assert np.array_equal(model.components_, undisturbed.components_)
    assert np.array_equal(model.explained_variance_, undisturbed.explained_variance_)


def _deadly(chunk: np.ndarray, block_info: Any = None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


def test_a_partition_that_kills_every_worker_is_an_error(cluster: Any, client: Any, rows: np.ndarray) -> None:
    deadly = da.from_array(rows, chunks=(250, D)).map_blocks(_deadly, dtype=rows.dtype)
    allowed = cluster.scheduler.allowed_failures
    cluster.scheduler.allowed_failures = 0
    try:
        with pytest.raises(ClusterError, match=r"died over the same task.*\nhint: .*smaller partitions"):
            ritz.PCA(3).fit(DaskBlocks(deadly, client, persist=False))
    finally:
        cluster.scheduler.allowed_failures = allowed


def test_a_scheduler_that_is_not_there_is_an_error_within_seconds() -> None:
    with pytest.raises(ClusterError, match=r"dask://127\.0\.0\.1:9.* within 0\.3 s.*\nhint: .*dask scheduler"):
        connect("dask://127.0.0.1:9", timeout=0.3)
    assert inspect.signature(connect).parameters["timeout"].default < 5  # which the program waits for
    assert issubclass(ClusterError, ConnectionError)


def test_a_scheduler_without_workers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr("ritz.data.engines.dask.cluster.WORKER_SECONDS", 0.3)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0", protocol="tcp") as empty:
        address = empty.scheduler_address.replace("tcp://", "dask://")
        with pytest.raises(ClusterError, match=r"must have workers.*\nhint: .*dask worker"):
            connect(address)


def test_a_cluster_whose_workers_are_all_gone_is_an_error(monkeypatch: pytest.MonkeyPatch, rows: np.ndarray) -> None:
    from distributed import Client, LocalCluster

    monkeypatch.setattr("ritz.data.engines.dask.cluster.ABSENT_SECONDS", 0.6)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty, set_as_default=False) as nobody,
        pytest.raises(ClusterError, match=r"no worker for 0\.6 s"),
    ):
        ritz.PCA(3).fit(DaskBlocks(da.from_array(rows, chunks=(500, D)), nobody))


def test_a_scheduler_that_goes_away_is_an_error(rows: np.ndarray) -> None:
    from distributed import Client, LocalCluster

    def slow(chunk: np.ndarray) -> np.ndarray:
        time.sleep(0.2)
        return chunk

    X = da.from_array(rows, chunks=(50, D)).map_blocks(slow, dtype=rows.dtype)  # twelve seconds
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as short,
        Client(short, set_as_default=False) as found,
    ):
        threading.Timer(1.5, lambda: short.close(timeout=5)).start()
        start = time.monotonic()
        with pytest.raises(ClusterError, match="must stay until the fit is done"):
            ritz.PCA(3).fit(DaskBlocks(X, found, persist=False))
        assert time.monotonic() - start < 10


def test_an_address_reaches_the_cluster(cluster: Any, rows: np.ndarray) -> None:
    with connect(cluster.scheduler_address.replace("tcp://", "dask://")) as found:
        model = ritz.PCA(3).fit(DaskBlocks(da.from_array(rows, chunks=(500, 3)), found))
    np.testing.assert_allclose(model.explained_variance_, ritz.PCA(3).fit(rows).explained_variance_, rtol=1e-12)


@pytest.mark.parametrize("address", ["localhost:8786", "dask://", "dask", "spark://host:7077"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ParameterError, match="dask://host:port"):
        connect(address)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ParameterError, match=r"ritz\[dask\]"):
        require_dask()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("solver", ["moments", "krylov"])
def test_what_is_not_finite_is_named_by_row_and_column(
    client: Any, rows: np.ndarray, value: float, solver: str
) -> None:
    damaged = rows.copy()
    damaged[2345, 6] = value
    with pytest.raises(NonFiniteError, match="row 2345 column 6") as caught:
        ritz.PCA(3, solver=solver).fit(DaskBlocks(da.from_array(damaged, chunks=(250, 3)), client))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def _refuse(chunk: np.ndarray, block_info: Any = None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 7:
        raise InputError("seven must not be asked for", received="7", hint="ask for eight")
    return chunk


def test_an_error_inside_of_a_task_comes_out_as_itself(client: Any, rows: np.ndarray) -> None:
    refusing = da.from_array(rows, chunks=(250, D)).map_blocks(_refuse, dtype=rows.dtype)
    with pytest.raises(InputError, match="seven must not") as caught:
        ritz.PCA(3).fit(DaskBlocks(refusing, client))
    assert caught.value.hint == "ask for eight"
    assert caught.value.__cause__ is None
    assert "_refuse" not in {entry.name for entry in caught.traceback}


def test_chunks_that_are_not_what_was_announced_are_an_error(client: Any, rows: np.ndarray) -> None:
    X = da.from_array(rows, chunks=(250, D))
    shorter = X.map_blocks(lambda chunk: chunk[1:], dtype=X.dtype, meta=np.empty((0, D)))
    with pytest.raises(InputError, match=r"must have the 250 rows"):
        ritz.PCA(3).fit(DaskBlocks(shorter, client))
    wider = X.map_blocks(lambda chunk: np.hstack([chunk, chunk]), dtype=X.dtype, meta=np.empty((0, D)))
    with pytest.raises(InputError, match=r"must have 8 columns"):
        ritz.PCA(3).fit(DaskBlocks(wider, client))


def test_a_fit_can_be_stopped(client: Any, rows: np.ndarray, tmp_path: Path) -> None:
    def slow(chunk: np.ndarray) -> np.ndarray:
        Path(tmp_path, uuid.uuid4().hex).touch()
        time.sleep(0.4)
        return chunk

    X = da.from_array(rows, chunks=(100, D)).map_blocks(slow, dtype=rows.dtype, meta=rows[:0])
    with pytest.raises(Cancelled):
        ritz.PCA(3, progress=lambda event: event.done < 0.05).fit(DaskBlocks(X, client, persist=False))
    assert 0 < len(list(tmp_path.iterdir())) < 30  # chunks computed, for a sample as well; a pass computes 30
