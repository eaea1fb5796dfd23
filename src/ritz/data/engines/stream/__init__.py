"""Tables, queries and iterators: rows that a source reads; and row blocks that are there already.

    Table in memory   →   an array           Table outside, query, dataset   →   row blocks within the memory limit

Where a cluster was engaged, its machines read the files of a Table instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.engines import Asked, Cluster, Columns, Engine, engaged_cluster
from ritz.data.passes.blocks import are_blocks

if TYPE_CHECKING:
    from ritz.data.tables.table import Table

__all__ = ["ENGINE", "is_query", "on_cluster", "require_repeatable"]


class Stream(Engine):
    """Rows that a source reads."""

    name = "stream"
    foreign = False

    def takes(self, X: Any) -> bool:
        """Tables, queries, datasets, AnnData, iterators of batches, row blocks."""
        if isinstance(X, np.ndarray):
            return False
        return _is_table(X) or are_blocks(X) or isinstance(X, Iterator) or is_query(X)

    def adopt(self, X: Any, asked: Asked) -> Any:
        """Row blocks; an array for a table in memory."""
        if are_blocks(X):
            return asked.recorded(X)
        from ritz.data.engines.memory.arrays import native, untouched
        from ritz.data.tables.read import read

        rows = _from_table(X if _is_table(X) else read(X, memory=asked.memory), asked)
        if are_blocks(rows) or untouched(rows):
            return rows
        from sklearn.utils.validation import check_array

        return native(check_array(rows, estimator=asked.estimator, **asked.options))

    def columns(self, X: Any) -> Columns:
        """Shape, dtype and names of the columns that are used."""
        asked = Asked()
        rows = self.adopt(X, asked)
        names = getattr(asked.estimator, "feature_names_in_", getattr(rows, "names", None))
        return Columns(rows.shape, np.dtype(rows.dtype), None if names is None else list(names))

    def opened(self, X: Any, memory: Any = None) -> Any:
        """A table in memory, or one that is read in pieces."""
        from ritz.data.encode.columns import memory_columns, of_table
        from ritz.data.tables.read import read

        X = read(X, memory=memory) if is_query(X) else X
        return of_table(X, memory) if _is_table(X) else memory_columns(X, memory=memory)

    def labels(self, X: Any) -> list[Any] | None:
        """Names of an AnnData, identifiers of a Table in memory."""
        from ritz.data.tables.objects import is_anndata

        if is_anndata(X):
            return [str(name) for name in X.obs_names]
        if not _is_table(X):
            return None
        names = [name for name, kind in X.kinds.items() if kind == "identifier"]
        return None if X.lazy or len(names) != 1 else [str(label) for label in X.labels(names[0])]

    def outside(self, X: Any) -> bool:
        """Whether the rows are read in every pass."""
        return are_blocks(X) or (_is_table(X) and X.lazy) or is_query(X)


def _is_table(X: Any) -> bool:
    from ritz.data.tables.table import Table

    return isinstance(X, Table)


def is_query(X: Any) -> bool:
    """Whether ``X`` is a query, a dataset or an AnnData that ``read`` turns into a table."""
    if isinstance(X, np.ndarray):
        return False
    import narwhals as nw

    from ritz.data.tables.objects import is_anndata

    if nw.dependencies.is_polars_lazyframe(X) or nw.dependencies.is_duckdb_relation(X) or is_anndata(X):
        return True
    return type(X).__module__.startswith("pyarrow") and type(X).__name__.endswith(("Dataset", "Scanner"))


def _from_table(table: Table, asked: Asked) -> Any:
    """Choose the numeric columns in ``fit``, and the same columns by name afterwards; rows, or row blocks."""
    from ritz.data.engines.memory import COPY_SHARE
    from ritz.data.engines.stream.blocks import StreamBlocks

    estimator, wanted = asked.estimator, asked.names
    names = table.numeric_names() if wanted is None else wanted
    if asked.reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.asarray(names, dtype=object)
    elif len(names) != estimator.n_features_in_:
        raise InputError(
            f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input",
            received=repr(table),
            hint="fit on a table or a frame, so that columns can be found by name",
        )
    cluster, room = engaged_cluster(), asked.room
    if cluster is None:
        table.settle(room)
    source, columns = table.source_for(names)
    if not table.lazy and cluster is None:
        copied = 0 if hasattr(source, "values") and columns is None else source.decoded if source.sparse else (
            len(table) * len(names) * source.dtype.itemsize
        )  # fmt: skip
        if copied <= COPY_SHARE * (room - table.loaded):
            asked.charge(table.loaded + copied)
            return table.select(names)
        room = max(0.0, room - table.loaded)
        return StreamBlocks(source, columns, budget=room)
    require_repeatable(table)
    if cluster is not None:
        return on_cluster(source, columns, cluster, table)
    return StreamBlocks(source, columns, budget=room)


def on_cluster(source: Any, columns: Any, cluster: Cluster, table: Table) -> Any:
    """Rows that the workers of a cluster read themselves: they need files."""
    if not source.files:
        raise InputError(
            "expected a table in files, which the workers of a cluster can read",
            received=repr(table),
            hint="write it to Parquet on a file system that the workers share",
        )
    return cluster.rows(source, columns)


def require_repeatable(table: Table) -> None:
    """Refuse rows that can be read only once."""
    if not table.repeatable:
        raise InputError(
            "expected rows that can be read again",
            received=repr(table),
            hint="PCA.fit takes an iterator once; for all else give a list, a file, or an object that starts anew",
        )


ENGINE = Stream()
