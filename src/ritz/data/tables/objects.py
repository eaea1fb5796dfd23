"""Objects with rows and columns to sources: frames, arrays, sparse matrices, queries, batches.

pandas, polars, pyarrow, DuckDB and AnnData are known by the module of the object, so none of them is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.words import counted, describe, shorten

__all__ = ["is_anndata", "source_of"]


def is_anndata(X: Any) -> bool:
    """Whether ``X`` is an AnnData, or looks like one: a matrix with names of rows and columns."""
    kind = type(X)
    named = kind.__name__ == "AnnData" or kind.__module__.split(".")[0] == "anndata"
    parts = ("X", "obs", "var", "obs_names", "var_names")
    return named and all(hasattr(kind, name) or hasattr(X, name) for name in parts)


def source_of(source: Any, allowed: float, layer: str | None = None) -> Any:
    """A source for a frame, an array, a query or batches; ``allowed`` are the bytes that it may take in memory."""
    import narwhals as nw

    from ritz.data.engines import engine_of
    from ritz.data.tables.frames import is_frame

    module = type(source).__module__.split(".")[0]
    if hasattr(source, "spans") and hasattr(source, "batches"):
        return source
    if isinstance(source, np.ndarray) or (module == "scipy" and hasattr(source, "tocsr")):
        return _matrix(source)
    if nw.dependencies.is_polars_lazyframe(source):
        from ritz.data.formats.query import from_polars

        return from_polars(source)
    if nw.dependencies.is_duckdb_relation(source):
        from ritz.data.formats.query import from_duckdb

        return from_duckdb(source, allowed)
    if engine_of(source).foreign:
        raise InputError("a table", received=describe(source), hint="give it to fit as it is: PCA().fit(X)")
    if is_anndata(source):
        return _anndata(source, layer)
    if module == "pyarrow":
        return _pyarrow(source)
    if is_frame(source):
        from ritz.data.formats.memory import ArrowTable, arrow_table

        return _with_rows(ArrowTable(arrow_table(source)), source)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)):
        from ritz.data.formats.iterable import from_iterable

        return _with_rows(from_iterable(source), source)
    raise InputError(
        "expected a path, a frame, an array, a query or batches of rows",
        received=describe(source),
        hint="ritz.read('table.csv'), or a frame: pyarrow.table({'x': [1, 2]})",
    )


def _pyarrow(source: Any) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from ritz.data.formats.iterable import from_iterable
    from ritz.data.formats.memory import ArrowTable
    from ritz.data.formats.query import from_dataset, from_scanner

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _with_rows(ArrowTable(source), source)
    if isinstance(source, ds.Dataset):
        return from_dataset(source)
    if isinstance(source, ds.Scanner):
        return from_scanner(source)
    if isinstance(source, pa.RecordBatchReader):
        return from_iterable(iter(source))
    raise InputError(
        "an Arrow table, Dataset or Scanner", received=describe(source), hint="pyarrow.table({name: column})"
    )


def _matrix(values: Any) -> Any:
    from ritz.data.formats.matrix import MemoryMatrix

    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InputError(
            "expected rows and columns of real numbers",
            received=describe(values),
            hint="give an array of shape (n_rows, n_columns), e.g. X.reshape(len(X), -1)",
        )
    return _with_rows(MemoryMatrix(values if isinstance(values, np.ndarray) else values.tocsr()), values)


def _anndata(data: Any, layer: str | None) -> Any:
    """An AnnData: its matrix in memory, or the file behind it."""
    import pyarrow as pa

    from ritz.data.formats.matrix import MemoryMatrix
    from ritz.data.formats.text.header import unique_names

    if getattr(data, "isbacked", False) and not getattr(data, "is_view", False) and data.filename is not None:
        from ritz.data.formats.anndata import open_h5ad

        return open_h5ad(Path(data.filename), layer)
    layers = getattr(data, "layers", None) or {}
    if layer is not None and layer not in layers:
        raise InputError(
            f"expected a layer {layer!r} in the AnnData",
            received=f"layers {shorten([repr(name) for name in layers])}" if len(layers) else "no layers",
            hint="leave out layer= to use X",
        )
    matrix = data.X if layer is None else layers[layer]
    values = matrix.tocsr() if hasattr(matrix, "tocsr") else None if matrix is None else np.asarray(matrix)
    if values is None or values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InputError(
            "expected rows and columns of real numbers in X of the AnnData",
            received="no X" if values is None else describe(values),
            hint="another matrix of it: ritz.read(adata, layer='counts')",
        )
    names = unique_names(tuple(str(name) for name in data.var_names))
    labels = {"obs_names": pa.array([str(name) for name in data.obs_names], pa.string())}
    return _with_rows(MemoryMatrix(values, names, labels), values)


def _with_rows(table: Any, source: Any) -> Any:
    if table.n_rows == 0 or not (table.names or table.label_names):
        raise InputError(
            "expected rows and columns",
            received=f"{describe(source)}: {counted(table.n_rows or 0, 'row')} and "
            f"{counted(len(table.names) + len(table.label_names), 'column')}",
            hint="look at the filter that made it",
        )
    return table
