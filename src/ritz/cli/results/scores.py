"""Coordinates of rows, some at a time, with their labels: of the rows of a fit, and of new ones.

coordinates(model, rows, table)  →  heads (k), dtype, number of rows, into(write)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.data.passes.blocks import are_blocks
from ritz.data.tables.identifiers import Labels, identifiers_of
from ritz.data.tables.table import Table
from ritz.data.tables.write import RowWriter
from ritz.data.validate import validate_rows
from ritz.methods.fitted import fitted_of
from ritz.methods.record import value_of

__all__ = ["Coordinates", "axis_heads", "coordinates"]


@dataclass(frozen=True)
class Coordinates:
    """Coordinates to be written; ``into`` hands them to a writer with their labels."""

    heads: list[str]
    dtype: Any
    rows: int | None
    into: Callable[[RowWriter], None]


def axis_heads(model: Any) -> list[str]:
    """PC1, PC2, … as files call the axes of a model."""
    return fitted_of(model).axis_names()


def coordinates(model: Any, rows: Any, table: Table, *, fitted: bool) -> Coordinates:
    """Coordinates of ``rows`` of ``table``; those that were ``fitted`` are numbered from 0."""
    heads, labels = axis_heads(model), identifiers_of(table, numbered=fitted)
    space = fitted_of(model).space
    if space == "feature":
        return _whole(heads, _kernel(model, rows, fitted), labels)
    if space == "table":
        coded = model._as_fitted(rows, None) if fitted else model._new(rows)
        labels = _counted(model, coded, labels, fitted)
        if not are_blocks(coded.rows):
            return _whole(heads, model._forward(coded), labels)
        rows = coded.rows
    elif isinstance(rows, Table):
        rows = validate_rows(model, rows, reset=False)
    dtype = np.dtype(np.float64) if space == "table" else model.components_.dtype
    n = int(rows.shape[0])
    return Coordinates(heads, dtype, n, lambda write: model._scores_into(rows, labels, write))


def _whole(heads: list[str], Z: np.ndarray, labels: Labels) -> Coordinates:
    return Coordinates(heads, Z.dtype, len(Z), lambda write: write(Z, labels.take(len(Z))))


def _kernel(model: Any, rows: Any, fitted: bool) -> np.ndarray:
    if fitted and "eigenvectors_" in vars(model):
        return np.asarray(model.eigenvectors_ * np.sqrt(np.abs(model.eigenvalues_)))
    return np.asarray(model.transform(rows))


def _counted(model: Any, coded: Any, labels: Labels, numbered: bool) -> Labels:
    """The categories that a crosstabulation found are the rows of its map."""
    import pyarrow as pa

    if value_of(model, "_raw") is None or coded.labels is None:
        return labels
    name = model.rows or "category"
    return Labels(iter([pa.table({name: [str(label) for label in coded.labels]})]), numbered)
