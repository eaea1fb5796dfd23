"""Columns rebuilt from coordinates.

R̂ = F Vᵀ D_s + m: numbers, and for every variable the level of the largest p̂
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.encode import Encoder
from ritz.data.encode.vocabulary import MISSING
from ritz.data.tables.labelled import labelled

if TYPE_CHECKING:
    from ritz.methods.correspondence.encoded.encoded import EncodedColumns

__all__ = ["decoded", "frame_of", "is_complete", "probabilities", "value_of"]

Floats = NDArray[np.float64]

#: Shares of a variable's levels that sum to 1 up to this leave nobody out.
COMPLETE = 1e-9


def is_complete(encoder: Encoder) -> NDArray[np.bool_]:
    """(J,) variables of which every row has one of the levels in use, so that one column says nothing new."""
    sums = np.bincount(encoder.active.owners, encoder.active.counts, minlength=encoder.vocabulary.J)
    return np.abs(sums - encoder.weight) <= COMPLETE * encoder.weight


def probabilities(model: EncodedColumns, R: Floats) -> Any:
    """Shares of the levels, none below zero and none summing to more than 1 in a variable."""
    encoder, p = model._encoder, model._encoder.p
    shares = np.maximum(R[:, p:], 0.0)
    sums = np.zeros((len(R), encoder.vocabulary.J))
    np.add.at(sums.T, encoder.active.owners, shares.T)
    full = is_complete(encoder)
    divisor = np.where(full, np.where(sums > 0, sums, 1.0), np.maximum(sums, 1.0))
    values = shares / divisor[:, encoder.active.owners]
    library = model._record.library
    if library is None:
        return values
    return labelled(values, None, encoder.active.labels, library, "row")


def decoded(model: EncodedColumns, R: Floats) -> Any:
    """Columns of the table from encoded rows, in the order of the fit."""
    encoder, p = model._encoder, model._encoder.p
    columns: dict[str, Any] = {name: R[:, j] + encoder.shift[j] for j, name in enumerate(encoder.numeric)}
    for j, variable in enumerate(encoder.vocabulary.variables):
        at = np.flatnonzero(encoder.active.owners == j)
        levels = [encoder.active.labels[i][len(variable.name) + 1 :] for i in at]
        missing = MISSING if encoder.missing == "category" else None
        columns[variable.name] = _chosen(R[:, p + at], levels, variable.kind, missing)
    ordered = {name: columns[name] for name in encoder.columns if name in columns}
    library = model._record.library
    if library is None and not encoder.vocabulary.J:
        return R + encoder.shift
    return frame_of(ordered, library)


def _chosen(shares: Floats, levels: list[str], kind: str, missing: str | None) -> Any:
    """The level of the largest share, as what it stands for; None for missing answers and where no level is in use."""
    if not levels:
        return np.full(len(shares), None, dtype=object)
    values = [None if level == missing else value_of(level, kind) for level in levels]
    return np.asarray([*values, None], dtype=object)[np.argmax(shares, axis=1)]


def value_of(level: str, kind: str) -> Any:
    """What the text of a level stands for: a truth value, a number, the text itself."""
    if kind == "truth" and level in ("True", "False"):
        return level == "True"
    if kind == "number":
        try:
            number = float(level)
        except ValueError:
            return level
        return int(number) if number.is_integer() and "." not in level else number
    return level


def frame_of(columns: dict[str, Any], library: str | None) -> Any:
    """Columns by name as a frame of ``library``; without one, an array of objects."""
    if library is None:
        return np.stack([np.asarray(values, dtype=object) for values in columns.values()], axis=1)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame({name: _inferred(values) for name, values in columns.items()})
    lists = {name: values.tolist() for name, values in columns.items()}
    if library == "polars":
        import polars as pl

        return pl.DataFrame(lists, strict=False)
    import pyarrow as pa

    return pa.table(lists)


def _inferred(values: Any) -> Any:
    import pandas as pd

    return values if values.dtype != object else pd.Series(values, dtype=object).infer_objects()
