"""Further columns of the same rows, brought into the order of the fit by the names of the rows.

index of the fit  a b c,    index of the columns  c a b   →   rows 1 2 0

A pandas index names rows where its labels are all different; elsewhere (arrays, polars, a plain count 0, 1, …) rows
are known by their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ritz._core.errors import InputError
from ritz.data.tables.frames import row_labels
from ritz.data.words import shorten

__all__ = ["aligned"]


def aligned(X: Any, labels: Sequence[Any] | None, n: int) -> Any:
    """``X`` with its rows in the order of ``labels``, those of the n rows of the fit; None: 0 … n − 1."""
    index: Any = getattr(X, "index", None)
    if not hasattr(X, "iloc") or len(X) != n or not getattr(index, "is_unique", False) or row_labels(X) is None:
        return X
    import pandas as pd

    fitted = pd.RangeIndex(n) if labels is None else pd.Index(list(labels))
    if not fitted.is_unique:
        return X
    order = index.get_indexer(fitted)
    if bool((order >= 0).all()):
        return X.iloc[order]
    if labels is None or isinstance(index, pd.RangeIndex):
        return X
    lost = [repr(label) for label in fitted[order < 0].tolist()]
    strange = [repr(label) for label in index[fitted.get_indexer(index) < 0].tolist()]
    raise InputError(
        f"expected the rows of the fit, among them {shorten(lost)}",
        received=f"an index with {shorten(strange)} instead",
        hint="give the columns the index of the fit; X.reset_index(drop=True), or an array, is taken by position",
    )
