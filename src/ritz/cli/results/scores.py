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

__all__ = ["Coordinates", "axis_heads", "coordinates", "coordinates_of_texts", "predictions"]


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
    """Coordinates of ``rows`` of ``table``; those that were ``fitted`` are numbered from 1."""
    heads, labels = axis_heads(model), identifiers_of(table, numbered=fitted)
    capabilities = fitted_of(model)
    space = capabilities.space
    if space == "feature":
        return _whole(heads, _kernel(model, rows, fitted), labels)
    if space == "embedding":
        return _whole(heads, capabilities.scores(rows), labels)
    if space == "table":
        coded = capabilities.encoded(rows, fitted=fitted)
        labels = _counted(model, coded, labels, fitted)
        if not are_blocks(coded.rows):
            return _whole(heads, capabilities.place(coded), labels)
        rows = coded.rows
    elif isinstance(rows, Table):
        rows = validate_rows(model, rows, reset=False)
    dtype = np.dtype(np.float64) if space == "table" else model.components_.dtype
    n = int(rows.shape[0])
    return Coordinates(heads, dtype, n, lambda write: capabilities.write_scores(rows, labels, write))


def predictions(model: Any, rows: Any, table: Table) -> Coordinates:
    """Predictions of the second table for rows of the first."""
    from ritz._core.errors import ParameterError

    if not hasattr(model, "predict"):
        raise ParameterError(
            "--predict is for models of two tables: pls, pcr and cca", received=f"a model of {model.about.short}",
            hint="leave it out: transform writes the scores",
        )  # fmt: skip
    Y = np.asarray(model.predict(rows))
    heads = [str(name) for name in model.target_names_]
    return _whole(heads, Y.reshape(len(Y), -1), identifiers_of(table, numbered=False))


def coordinates_of_texts(model: Any, texts: Any) -> Coordinates:
    """Coordinates of documents, which are not numbered."""
    return _whole(axis_heads(model), np.asarray(model.transform(texts.documents)), texts.labels(numbered=False))


def _whole(heads: list[str], Z: np.ndarray, labels: Labels) -> Coordinates:
    return Coordinates(heads, Z.dtype, len(Z), lambda write: write(Z, labels.take(len(Z))))


def _kernel(model: Any, rows: Any, fitted: bool) -> np.ndarray:
    vectors = fitted_of(model).eigenvectors
    if fitted and vectors is not None:
        return np.asarray(vectors * np.sqrt(np.abs(model.eigenvalues_)))
    return np.asarray(model.transform(rows))


def _counted(model: Any, coded: Any, labels: Labels, numbered: bool) -> Labels:
    """The categories that a crosstabulation found are the rows of its map."""
    import pyarrow as pa

    if fitted_of(model).counts is None or coded.labels is None:
        return labels
    name = model.rows or "category"
    return Labels(iter([pa.table({name: [str(label) for label in coded.labels]})]), numbered)
