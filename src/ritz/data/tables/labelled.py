"""Results with the names of their rows, in the data-frame library of the input.

(m, k) array + m labels + k names  →  pandas (labels as index), polars or Arrow (labels as first column), or the array
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["labelled"]


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
