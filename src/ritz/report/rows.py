"""Rows of any kind, as a report looks at them: how many, some of them, their names, and their columns.

    take(index)     rows i₁ < i₂ < … as the model takes them: array, CSR, frame, Table, list
    columns(rows)   name → values, of what a reader may colour by
    labels(rows)    names of these rows, or None

A table outside memory is read once, batch by batch, to take some of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.memory import limit
from ritz.data.engines import engine_of
from ritz.data.passes.blocks import are_blocks
from ritz.data.tables.frames import is_frame, row_labels
from ritz.data.tables.levels import Declared, ordered_levels
from ritz.data.tables.table import Table
from ritz.data.validate import validate_rows
from ritz.methods.fitted import fitted_of

__all__ = ["Rows", "naming_column", "rows_of"]

Index = NDArray[np.intp]

#: Columns of a table that are read for a report, at most: those of the model always are; and of sparse rows.
MOST_COLUMNS, SPARSE_COLUMNS = 400, 40
#: Rows of a table read in pieces that are shown at least, and the share of the memory limit that they may take;
#: of a table of very many columns as many as a larger share holds, and some in any case.
FEWEST, SHARE, MOST_SHARE, SOME = 2_000, 0.03, 0.06, 100


@dataclass(frozen=True)
class Rows:
    """Rows that a report is about."""

    X: Any
    n: int
    model: Any

    def most(self, points: int) -> int:
        """How many rows may be shown of ``points`` that are asked for."""
        return points

    def take(self, index: Index) -> Any:
        """These rows alone, in memory."""
        return self.X[index]

    def columns(self, rows: Any) -> Iterator[tuple[str, Any]]:
        """Names and values of the columns of ``rows``, which ``take`` gave."""
        names = getattr(self.model, "feature_names_in_", None)
        names = fitted_of(self.model).entry_labels() if names is None else names
        d, sparse = rows.shape[1], hasattr(rows, "toarray")
        some = rows[:, :SPARSE_COLUMNS].toarray() if sparse else rows
        for j in range(min(d, SPARSE_COLUMNS if sparse else MOST_COLUMNS)):
            values = some[:, j]
            name = f"column {j}" if names is None or len(names) != d else str(names[j])
            yield name, np.asarray(values).reshape(-1)

    def labels(self, rows: Any) -> list[str] | None:
        """Names of ``rows``."""
        return None


class FrameRows(Rows):
    """A data frame of any library."""

    def take(self, index: Index) -> Any:
        if hasattr(self.X, "iloc"):
            return self.X.iloc[index]
        import narwhals as nw

        return nw.from_native(self.X, eager_only=True)[index.tolist()].to_native()

    def columns(self, rows: Any) -> Iterator[tuple[str, Any]]:
        import narwhals as nw

        frame = nw.from_native(rows, eager_only=True)
        for j, name in enumerate(frame.columns[:MOST_COLUMNS]):
            column, levels = frame[:, j], ordered_levels(frame[:, j].to_native())
            plain = column.dtype.is_float() or (column.dtype.is_integer() and not column.null_count())
            values = _plain(column.to_numpy()) if plain else None
            values = column.to_list() if values is None else values
            yield str(name), values if levels is None else Declared(values, levels)

    def labels(self, rows: Any) -> list[str] | None:
        names = row_labels(rows)
        # a part of a numbered frame has an index without a name: its places
        own = getattr(self.X, "index", None)
        return None if names is None or type(own).__name__ == "RangeIndex" else [str(name) for name in names]


class TableRows(Rows):
    """A table of ``ritz.read``."""

    def most(self, points: int) -> int:
        if not self.X.lazy:
            return points
        limits = [self.X.allowed, getattr(self.model, "memory", None)]
        allowed = min((limit(one) for one in limits if one is not None), default=None)
        rows = (limit(None) if allowed is None else allowed) / (8 * max(1, len(self.X.columns)))
        return int(min(points, max(SHARE * rows, min(FEWEST, MOST_SHARE * rows), SOME)))

    def take(self, index: Index) -> Any:
        if self.X.matrix is not None:
            return Table(self.X.columns, self.X.some_rows(index), source=self.X.source)
        wanted = self._wanted()
        columns = [column for column in self.X.columns if column.name in set(wanted)]
        return Table(columns, self.X.picked(index, wanted), source=self.X.source, notes=self.X.notes)

    def _wanted(self) -> list[str]:
        used = {str(name) for name in getattr(self.model, "feature_names_in_", ())}
        return [name for j, name in enumerate(self.X.names) if j < MOST_COLUMNS or name in used]

    def columns(self, rows: Any) -> Iterator[tuple[str, Any]]:
        for column in rows.columns[:MOST_COLUMNS]:
            if column.kind in ("numeric", "categorical"):
                values = _numbers(rows, column.name) if column.kind == "numeric" else None
                yield column.name, rows.labels(column.name) if values is None else values

    def labels(self, rows: Any) -> list[str] | None:
        name = naming_column(rows)
        return None if name is None else [str(label) for label in rows.labels(name)]


def _numbers(table: Table, name: str) -> NDArray[Any] | None:
    """A column of floating numbers, or of whole ones without gaps, as an array: a list takes five times as much."""
    import pyarrow as pa
    import pyarrow.types as pt

    parts = [batch.column(0) for batch in table.batches([name])]
    if not parts or not all(pt.is_floating(part.type) or pt.is_integer(part.type) for part in parts):
        return None
    values = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
    return None if values.null_count and not pt.is_floating(values.type) else _plain(values.to_numpy())


def _plain(values: NDArray[Any]) -> NDArray[Any] | None:
    """float64 or int64; None where neither holds the numbers."""
    if values.dtype.kind not in "fiu":
        return None
    if values.dtype == np.uint64 and values.max(initial=0) >= 2**62:
        return values.astype(np.float64)
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)


def naming_column(table: Table) -> str | None:
    """The column that names the rows: the only one of identifiers."""
    names = [name for name, kind in table.kinds.items() if kind == "identifier"]
    return names[0] if len(names) == 1 else None


class ObjectRows(Rows):
    """A list of strings, or of whatever the kernel takes."""

    def take(self, index: Index) -> Any:
        return [self.X[i] for i in index.tolist()]

    def columns(self, rows: Any) -> Iterator[tuple[str, Any]]:
        yield from ()

    def labels(self, rows: Any) -> list[str] | None:
        return [str(item) for item in rows]


class KernelRows(Rows):
    """Rows of a matrix of kernels, distances or weights: they have no columns to look at."""

    def columns(self, rows: Any) -> Iterator[tuple[str, Any]]:
        yield from ()


class BlockRows(Rows):
    """Rows of a cluster: numbers alone, block by block."""

    def take(self, index: Index) -> Any:
        parts = []
        for block in self.X.each():
            here = index[(index >= block.start) & (index < block.start + block.values.shape[0])] - block.start
            if len(here):
                parts.append(np.asarray(block.values[here].toarray() if self.X.sparse else block.values[here]))
        return np.concatenate(parts)


def rows_of(model: Any, X: Any) -> Rows | None:
    """What a report can see of X; None where there is nothing, or nothing that could be read again."""
    if type(model).about.takes == "texts":
        from ritz.report.text_rows import text_rows

        return text_rows(model, X)
    if X is None:
        return None
    if fitted_of(model).counts is not None:  # rows of the list were counted: those of the model are others
        return None
    X = fitted_of(model).tabled(X)
    if isinstance(X, Table):
        n = X.n_rows if X.n_rows is not None else getattr(model, "n_samples_", None)
        return TableRows(X, int(n), model) if X.repeatable and n else None
    if is_frame(X):
        return FrameRows(X, int(X.shape[0]), model)
    if engine_of(X).foreign:
        X = validate_rows(model, X, reset=False)
        if are_blocks(X):
            return BlockRows(X, int(X.shape[0]), model)
    takes = fitted_of(model).compares
    if takes in ("strings", "any"):
        return ObjectRows(X, len(X), model)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    elif not isinstance(X, np.ndarray):
        X = np.asarray(X)
    kind = KernelRows if takes == "precomputed" else Rows
    return kind(X, int(X.shape[0]), model)
