"""Identifiers of rows that go along with their scores, taken in pieces of any size.

batches of the table: r₁, r₂, … rows   →   take(s₁), take(s₂), …      Σr = Σs = n
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ritz.data.tables.table import Table

__all__ = ["Labels", "identifiers_of", "labels_of"]

BATCH_ROWS = 1 << 16


class Labels:
    """Record batches of identifiers, cut anew as they are taken."""

    def __init__(self, batches: Iterator[Any] | None, numbered: bool = False, places: Any = None) -> None:
        self._batches, self._numbered, self._places = batches, numbered, places
        self._held: list[Any] = []
        self._row = 0

    def take(self, rows: int) -> Any:
        """The next ``rows`` rows; None where there are no identifiers."""
        import pyarrow as pa

        labels = None if self._batches is None else self._next(self._batches, rows)
        if not self._numbered:
            return labels
        some = slice(self._row, self._row + rows)
        numbers = np.arange(some.start + 1, some.stop + 1) if self._places is None else self._places[some] + 1
        self._row += rows
        return pa.table({"row": numbers}) if labels is None else labels.add_column(0, "row", pa.array(numbers))

    def _next(self, batches: Iterator[Any], rows: int) -> Any:
        import pyarrow as pa

        have = sum(len(table) for table in self._held)
        while have < rows:
            table = next(batches)
            table = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
            self._held.append(table)
            have += len(table)
        joined = pa.concat_tables(self._held)
        self._held = [joined.slice(rows)]
        return joined.slice(0, rows)


def labels_of(labels: Sequence[Any], name: Any = None) -> Labels:
    """Names of rows in memory as a column of that name; those of several types, or tuples, as texts."""
    import pyarrow as pa

    try:
        column = pa.array(list(labels))
    except (pa.ArrowException, TypeError):
        column = pa.array([str(label) for label in labels])
    return Labels(iter([pa.table({"row" if name is None else str(name): column})]))


def identifiers_of(X: Any, *, numbered: bool = False) -> Labels:
    """Identifiers of a Table, none for everything else; ``numbered`` adds a column ``row`` that counts from 1."""
    names = [name for name, kind in X.kinds.items() if kind == "identifier"] if isinstance(X, Table) else []
    names = [name for name in names if not (numbered and name == "row")]
    places = X.places if isinstance(X, Table) else None
    return Labels(iter(X.batches(names, BATCH_ROWS)) if names else None, numbered, places)
