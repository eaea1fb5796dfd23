"""A table as one frame in memory: Arrow first, and pandas or polars from that.

    Table (in memory or read in pieces)  →  pyarrow.Table  →  pandas.DataFrame, polars.DataFrame

A table that the memory limit does not hold is refused before it is read.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ritz._core.errors import MemoryLimitError, MissingDependency
from ritz._core.memory import limit

if TYPE_CHECKING:
    from ritz.data.tables.table import Table

__all__ = ["framed", "whole"]


def whole(table: Table) -> Any:
    """All columns as Arrow holds them."""
    import pyarrow as pa

    size = table.decoded
    if table.lazy and size is not None and size > (allowed := limit(table.allowed)):
        raise MemoryLimitError(
            f"expected a memory limit that holds all of {table.source or 'the table'}",
            received=f"{allowed / 1e6:,.0f} MB for {size / 1e6:,.0f} MB",
            hint="give the table itself to fit, which reads it in pieces; table.batches() gives some rows at a time",
        )
    batches = list(table.batches())
    return pa.concat_tables(batches) if batches else pa.table({name: [] for name in table.names})


def framed(arrow: Any, library: str) -> Any:
    """An Arrow table as a frame of another library."""
    if not find_spec(library):
        raise MissingDependency(f"a frame of {library} needs {library}", hint=f"pip install {library}")
    if library == "pandas":
        return arrow.to_pandas()
    import polars as pl

    return pl.from_arrow(arrow)
