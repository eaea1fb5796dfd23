"""Results with the names of their rows, in the data-frame library of the input.

(m, k) array + m labels + k names  →  pandas (labels as index), polars or Arrow (labels as first column), or the array
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz.data.engines import engine_of
from ritz.data.tables.frames import is_frame, is_pandas, narwhal
from ritz.data.tables.table import Table

__all__ = ["labelled", "library_of", "row_labels"]


def library_of(X: Any) -> str | None:
    """``pandas``, ``polars`` or ``pyarrow`` for a frame, ``pandas`` for a Table if it is installed; None otherwise."""
    if isinstance(X, Table):
        from importlib.util import find_spec

        return "pandas" if find_spec("pandas") else "pyarrow"
    if is_pandas(X):
        return "pandas"
    if not is_frame(X):
        return None
    kind = narwhal(X).implementation
    return "pandas" if kind.is_pandas() else "polars" if kind.is_polars() else "pyarrow"


def row_labels(X: Any) -> list[Any] | None:
    """Names of the rows: a pandas index, those of an AnnData, identifiers of a Table in memory; None without any."""
    return engine_of(X).labels(X)


def labelled(
    values: Any, labels: Sequence[Any] | None, names: Sequence[str] | None, library: str | None, corner: str
) -> Any:
    """``values`` (m, k), or (m,) without ``names``, as ``library`` holds them; ``corner`` heads a column of labels."""
    if library is None:
        return values
    row_names = range(len(values)) if labels is None else labels
    if library == "pandas":
        import pandas as pd

        index = pd.RangeIndex(len(values)) if labels is None else pd.Index(list(labels))
        return pd.Series(values, index) if names is None else pd.DataFrame(values, index, list(names))
    columns = {corner: list(row_names)} | (
        {"value": np.asarray(values)} if names is None else {name: values[:, i] for i, name in enumerate(names)}
    )
    if library == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    import pyarrow as pa

    return pa.table({name: pa.array(column) for name, column in columns.items()})
