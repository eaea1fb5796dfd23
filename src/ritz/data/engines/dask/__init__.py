"""Rows on a Dask cluster: one pure task for each partition, merged in a fixed tree.

    Dask array, Dask frame   →   row blocks of its partitions          dask://host:port   →   workers that read files

The library of the same name is imported by its absolute name and inside functions only; who has not loaded it has no
collection of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ritz.data.engines import Asked, Cluster, Columns, Engine
from ritz.data.engines.dask.rows import columns_of, is_dask, lazy_map

__all__ = ["ENGINE", "DaskCluster"]


class Dask(Engine):
    """Dask arrays and frames."""

    name = library = "dask"
    lazy = True
    schemes = ("dask",)

    def takes(self, X: Any) -> bool:
        """Dask arrays and frames."""
        return is_dask(X)

    def adopt(self, X: Any, asked: Asked) -> Any:
        """Row blocks of the partitions."""
        from ritz.data.engines.dask.blocks import DaskBlocks

        return DaskBlocks(X)

    def columns(self, X: Any) -> Columns:
        """Shape, dtype and names as the collection announces them."""
        return columns_of(X)

    def map_rows(self, X: Any, function: Callable[[Any], Any], width: int, dtype: Any, names: Any = None) -> Any:
        """A Dask array (n, width)."""
        return lazy_map(X, function, width, dtype, names)

    def opened(self, X: Any, memory: Any = None) -> Any:
        """Columns that the workers look at and encode."""
        from ritz.data.engines.dask.encode import DaskTable

        return DaskTable(X)

    def connect(self, address: str) -> Cluster:
        """The cluster whose scheduler is at ``dask://host:port``."""
        from ritz.data.engines.dask.cluster import connect

        return DaskCluster(connect(address))


class DaskCluster(Cluster):
    """The workers that a client knows."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def rows(self, source: Any, columns: Any = None) -> Any:
        """Row blocks of files that the workers read in every pass."""
        from ritz.data.engines.dask.blocks import DaskBlocks

        return DaskBlocks.from_source(source, self.client, columns)

    def census(self, source: Any, choice: Any, weights: Any = None) -> Any:
        """What the workers find in the columns of a choice."""
        from ritz.data.engines.dask.encode import look_by_workers

        return look_by_workers(source, choice, weights, self.client)

    def close(self) -> None:
        """Close the client."""
        self.client.close()


ENGINE = Dask()
