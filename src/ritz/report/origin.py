"""Where the rows of a report came from, as Python that reads them again.

table = ritz.read('wine.csv', decimal=',', kinds={'id': 'identifier'})        what the program read, as it read it
weights = table.select(['w'])[:, 0]        rows = table.labels('sequence')        where they apply
X = numpy.load('tensor.npy')               texts = ritz.text.documents(table, text='words')
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Loaded", "Named", "NamedArray", "OfTexts", "Origin"]


@dataclass(frozen=True)
class Origin:
    """How a table was read, and what its columns were for."""

    path: str
    options: dict[str, Any] = field(default_factory=dict)  # of ritz.read, as far as they were said
    kinds: dict[str, str] = field(default_factory=dict)
    weights: str | None = None
    strings: str | None = None  # the column that was compared as strings
    complete: tuple[str, ...] = ()  # columns of numbers whose gaps cost a row
    files: tuple[str, ...] = ()  # several that were read as one table, by ``options``
    piped: bool = False  # whether the table came through standard input
    left: tuple[int, ...] = ()  # rows that took no part, from 0

    def lines(self, left: dict[str, str]) -> tuple[list[str], str, str]:
        """Lines that make the rows, the name of these, and the argument for weights; ``left``: columns left out."""
        kinds = {**self.kinds, **left, **({self.weights: "drop"} if self.weights else {})}
        lines = [f"table = {self._call(kinds)}"]
        if self.files:
            given = "".join(f", {name}={value!r}" for name, value in self.options.items())
            lines[:0] = [
                "import pyarrow\n", f"parts = [ritz.read(path{given}).to_arrow() for path in {list(self.files)!r}]",
                "parts = [part.select(parts[0].column_names) for part in parts]",
                "together = pyarrow.concat_tables(parts, promote_options='permissive')",
            ]  # fmt: skip
        elif self.piped:
            lines[:0] = [
                "import shutil", "import sys\n",
                "# the table that came by standard input: python, the name of this file, < table",
                f"with open({self.path!r}, 'wb') as file:", "    shutil.copyfileobj(sys.stdin.buffer, file)",
            ]  # fmt: skip
        rows, weight = "table", ""
        if self.left or self.complete:
            lines.insert(0, "import numpy\n")
        if self.left:
            lines.append(f"rest = numpy.setdiff1d(numpy.arange(len(table)), {list(self.left)!r})")
            lines.append("table = table.kept(rest, 'rows that take part')")
        if self.complete:
            names = list(self.complete)
            lines.append(f"whole = numpy.isfinite(table.select({names!r})).all(axis=1)")
            lines.append("table = table.kept(numpy.flatnonzero(whole), 'rows without gaps')")
        if self.strings is not None:
            lines.append(f"rows = [text or '' for text in table.labels({self.strings!r})]")
            rows = "rows"
        if self.weights is not None:
            some = "[rest]" if self.left else ""
            lines.append(f"weights = {self._call(self.kinds)}.select([{self.weights!r}])[:, 0]{some}")
            weight = ", sample_weight=weights"
        return lines, rows, weight

    def _call(self, kinds: dict[str, str]) -> str:
        options = {**({} if self.files else self.options), **({"kinds": kinds} if kinds else {})}
        what = "together" if self.files else repr(self.path)
        return f"ritz.read({', '.join([what, *(f'{name}={value!r}' for name, value in options.items())])})"


@dataclass(frozen=True)
class Loaded:
    """An array of a .npy file."""

    path: str

    def lines(self, left: dict[str, str]) -> tuple[list[str], str, str]:
        """Lines that load it, its name, and no weights."""
        return ["import numpy\n", f"X = numpy.load({self.path!r})"], "X", ""


@dataclass(frozen=True)
class OfTexts:
    """Documents of a folder or file, or of a column of a table."""

    path: str
    column: str | None = None
    encoding: str | None = None
    table: Origin | None = None

    def lines(self, left: dict[str, str]) -> tuple[list[str], str, str]:
        """Lines that open them, their name, and no weights."""
        said = {"text": self.column, "encoding": self.encoding if self.table is None else None}
        given = "".join(f", {name}={value!r}" for name, value in said.items() if value is not None)
        first = [] if self.table is None else self.table.lines({})[0]
        return [*first, f"texts = ritz.text.documents({'table' if first else repr(self.path)}{given})"], "texts", ""


class NamedArray(np.ndarray):
    """An array that knows where it came from."""

    origin: Loaded | None = None


class Named(list[Any]):
    """Strings that know where they came from."""

    origin: Origin | None = None
