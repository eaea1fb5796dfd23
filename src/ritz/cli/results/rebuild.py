"""Rows from coordinates, as a table with the names that the fit knew."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz.cli.results.scores import axis_heads
from ritz.data.tables.table import Table
from ritz.data.words import shorten
from ritz.methods.fitted import fitted_of

__all__ = ["coordinates_in", "rebuilt"]


def coordinates_in(table: Table, model: Any) -> np.ndarray:
    """The columns PC1, PC2, … of a table, or all its numbers where it has no names for them."""
    heads = axis_heads(model)
    if all(head in table.names for head in heads):
        return np.asarray(table.select(heads), np.float64)
    numbers = [one.name for one in table.columns if one.kind in ("numeric", "constant") and one.name != "row"]
    if len(numbers) == len(heads) and not any(head in table.names for head in heads):
        return np.asarray(table.select(numbers), np.float64)
    absent = [head for head in heads if head not in table.names]
    raise InputError(
        f"expected the columns {shorten(heads)} in {table.source}",
        received=f"a table without {shorten(absent)}",
        hint="give the scores that ritz fit or ritz transform wrote for this model",
    )


def rebuilt(model: Any, Z: np.ndarray, table: Table, shares: bool) -> Any:
    """Rows as an Arrow table; identifiers of the scores go along."""
    import pyarrow as pa

    fitted = fitted_of(model)
    if shares and fitted.formula != "encoded":
        raise ParameterError(
            "--shares is for models with categories: mca, famd and mfa", received=type(model).__name__,
            hint="leave out --shares",
        )  # fmt: skip
    named = [name for name, kind in table.kinds.items() if kind == "identifier" and name != "row"]
    first: dict[str, Any] = {name: table.labels(name) for name in named}
    if shares:
        values, names = np.asarray(model.probabilities(Z)), _levels(model)
    elif fitted.about.takes == "categories":
        values, names = np.asarray(model.categories(Z), object), _columns(model, None)
    elif fitted.about.takes == "objects" and model.kernel_.takes == "strings":
        nearest = model.neighbours(Z, 1)
        words = [str(model.X_fit_[i]) for i in nearest.index[:, 0]]
        return pa.table(first | {"nearest": words, "distance": nearest.distance[:, 0]})
    else:
        values = np.asarray(model.inverse_transform(Z))
        values = values.reshape(len(values), -1)  # slices of a tensor as rows, a column for every cell
        names = _columns(model, values.shape[1])
    return pa.table(first | {name: _column(values[:, j]) for j, name in enumerate(names) if name not in first})


def _column(values: np.ndarray) -> Any:
    """Numbers as numbers, all else as texts."""
    if values.dtype != object:
        return np.ascontiguousarray(values)
    entries = values.tolist()
    if all(isinstance(value, (int, float)) for value in entries):
        return np.asarray(entries, np.float64)
    return [None if value is None else str(value) for value in entries]


def _columns(model: Any, d: int | None) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(d or 0)] if names is None else [str(name) for name in names]


def _levels(model: Any) -> list[str]:
    labels = [str(name) for name in fitted_of(model).column_labels() or ()]
    return labels[fitted_of(model).number_columns() :]
