"""A table read from a file: named columns, what each one is, and the numbers among them.

    Table  →  numeric()  →  (ndarray (n, d), names)     columns of kind "numeric"
           →  select(names)  →  ndarray (n, len(names))  the same columns again, in the order of the fit

Kinds: ``numeric``, ``categorical``, ``text``, ``identifier``, ``date``, ``constant``. Only numeric columns
can be used as numbers; the others are set aside with a ``ColumnsSetAside`` warning that gives the reasons.
Missing values become NaN, and are counted here so that a refusal can name the columns.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import ColumnsSetAside, InputError
from ritz.data.frames import frame_to_rows
from ritz.data.words import ALIKE, shorten

__all__ = ["KINDS", "Column", "Table"]

KINDS = ("numeric", "categorical", "text", "identifier", "date", "constant")


@dataclass(frozen=True)
class Column:
    """What is known of one column; ``reason`` says why it cannot be used as numbers, if so."""

    name: str
    kind: str
    missing: int = 0
    reason: str = ""


class Table:
    """Named columns of a file.

    Parameters
    ----------
    columns : sequence of Column
        One for each column, in file order.
    values : pyarrow.Table or ndarray (n, d)
        The entries; an array where the file itself is one, so that it can stay memory-mapped.
    source : str
        Where it came from, for messages.
    notes : sequence of str
        What the reader had to decide, in words, e.g. that there was no header line.
    line : callable, optional
        Gives the line of the file that holds a row, or None where that cannot be said; asked for messages only.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        values: Any,
        *,
        source: str = "",
        notes: Sequence[str] = (),
        line: Callable[[int], int | None] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.source = source
        self.notes = tuple(notes)
        self._values = values
        self._line = line
        self._position = {column.name: j for j, column in enumerate(self.columns)}

    @property
    def names(self) -> list[str]:
        """Names of all columns, in file order."""
        return [column.name for column in self.columns]

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column by name."""
        return {column.name: column.kind for column in self.columns}

    @property
    def missing(self) -> dict[str, int]:
        """How many values each column lacks; columns that lack none are left out."""
        return {column.name: column.missing for column in self.columns if column.missing}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._values.shape[0])

    @property
    def set_aside(self) -> list[tuple[str, str]]:
        """Columns that cannot be used as numbers, each with its reason."""
        return [(column.name, column.reason) for column in self.columns if column.kind != "numeric"]

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        counts = [f"{sum(c.kind == kind for c in self.columns)} {kind}" for kind in KINDS]
        kinds = ", ".join(text for text in counts if not text.startswith("0 "))
        return f"Table({self.source or 'in memory'}: {self.n_rows} rows × {len(self.columns)} columns: {kinds})"

    def numeric(self) -> tuple[np.ndarray, list[str]]:
        """Give the numeric columns as an array (n, d) with their names, and warn of those set aside."""
        names = [column.name for column in self.columns if column.kind == "numeric"]
        aside = [f"{name!r} ({reason})" for name, reason in self.set_aside]
        if not names:
            if all(column.kind == "constant" for column in self.columns):
                raise InputError(
                    f"expected a column that varies in {self.source or 'the table'}",
                    received=f"only constant columns: {shorten(aside)}",
                    hint="components are directions of variance, and there is none",
                )
            raise InputError(
                f"expected a numeric column in {self.source or 'the table'}",
                received=f"{len(self.columns)} columns, none of them numeric: {shorten(aside)}",
                hint="check the delimiter and the decimal mark, or turn text into numbers first",
            )
        if aside:
            plural = "column" if len(aside) == 1 else "columns"
            warnings.warn(f"{len(aside)} {plural} set aside: {shorten(aside, 20)}", ColumnsSetAside, stacklevel=2)
        return self.select(names), names

    def row_name(self, row: int) -> str:
        """Name a row for a message: its line in the file where there are lines, or its number from 0."""
        line = self._line(row) if self._line is not None else None
        return f"row {row}" if line is None else f"line {line}"

    def labels(self, name: str) -> list[Any]:
        """Give one column, of any kind, as a list; missing values are None."""
        j = self._position[name]
        if isinstance(self._values, np.ndarray):
            return self._values[:, j].tolist()
        return list(self._values.column(j).to_pylist())

    def select(self, names: Sequence[str]) -> np.ndarray:
        """Give the named columns as an array (n, len(names)), in that order."""
        absent = [name for name in names if name not in self._position]
        if absent:
            close = difflib.get_close_matches(absent[0], self.names, n=1, cutoff=ALIKE)
            raise InputError(
                f"expected columns {shorten([repr(n) for n in names])} in {self.source or 'the table'}",
                received=f"a table without {shorten([repr(n) for n in absent])}",
                hint=f"did you mean {close[0]!r}?" if close else f"it has {shorten([repr(n) for n in self.names])}",
            )
        if isinstance(self._values, np.ndarray):
            at = [self._position[name] for name in names]
            # The whole file in its own order needs no copy, so a mapped file stays on disk.
            return self._values if at == list(range(len(self.columns))) else self._values[:, at]
        return np.asarray(frame_to_rows(self._values.select([self._position[name] for name in names])))
