"""One real cluster on loopback for all tests of this folder: a scheduler and three worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.held import Held

pytest.importorskip("distributed", reason="dask[distributed] is not installed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Dask's own threads and sockets end as they like: only warnings about numbers and data count here."""
    for item in items:
        if "cluster" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning"))


@contextmanager
def running() -> Iterator[Any]:
    """A scheduler in this process with three workers of one thread in processes of their own."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2, "distributed.comm.timeouts.connect": "20s"}),
        LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, memory_limit="800MB", dashboard_address=":0",
            host="127.0.0.1",
        ) as made,
    ):  # fmt: skip
        yield made


CLUSTER = Held(running)


@pytest.fixture
def cluster() -> Any:
    """Return the cluster that all tests of this folder share."""
    return CLUSTER.get()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the cluster with the last test of this folder."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        CLUSTER.close()


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """Return a client of the cluster that is the default client during the test."""
    from distributed import Client

    with Client(cluster) as connected:
        connected.wait_for_workers(3, timeout=60)
        yield connected


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables, too, are to have many partitions."""
    monkeypatch.setattr("ritz.data.engines.dask.rows.LEAST_BYTES", 0)
