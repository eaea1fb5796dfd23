"""Identifiers of rows that go along with their scores, taken in pieces of any size.

batches of the table: r₁, r₂, … rows   →   take(s₁), take(s₂), …      Σr = Σs = n
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ritz.data.table import Table

__all__ = ["Labels", "identifiers_of"]

BATCH_ROWS = 1 << 16


class Labels:
    """Record batches of identifiers, cut anew as they are taken."""

    def __init__(self, batches: Iterator[Any] | None) -> None:
        self._batches = batches
        self._held: list[Any] = []

    def take(self, rows: int) -> Any:
        """The next ``rows`` rows; None where there are no identifiers."""
        if self._batches is None:
            return None
        import pyarrow as pa

        have = sum(len(part) for part in self._held)
        while have < rows:
            part = pa.Table.from_batches([next(self._batches)])
            self._held.append(part)
            have += len(part)
        whole = pa.concat_tables(self._held)
        self._held = [whole.slice(rows)]
        return whole.slice(0, rows)


def identifiers_of(X: Any) -> Labels:
    """Identifiers of a Table; none for everything else."""
    names = [name for name, kind in X.kinds.items() if kind == "identifier"] if isinstance(X, Table) else []
    return Labels(iter(X.batches(names, BATCH_ROWS)) if names else None)
