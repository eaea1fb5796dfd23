"""A table: named columns, what each one is, and the numbers among them, in memory or left where they lie.

    Table  →  numeric()         →  (ndarray (n, d) or CSR, names)    columns of kind "numeric", in memory
           →  select(names)     →  ndarray (n, len(names))           the same columns again, in the order of the fit
           →  source_for(names) →  (Source, positions)               the same, read in pieces
           →  batches(names)    →  Arrow tables, batch by batch      columns of any kind, in row order

Kinds: ``numeric``, ``categorical``, ``text``, ``identifier``, ``date``, ``constant``. Only numeric columns
can be used as numbers; the others are set aside with a ``ColumnsSetAside`` warning that gives the reasons.
Missing values become NaN, and are counted here so that a refusal can name the columns.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ritz._core.errors import ColumnsSetAside, InputError, MemoryLimitError
from ritz._core.imports import module_of
from ritz._core.memory import limit, within
from ritz._core.progress import using
from ritz._core.warn import warn
from ritz.data.formats.stamp import unchanged
from ritz.data.words import ALIKE, counted, grouped, shorten

__all__ = ["EAGER_SHARE", "KINDS", "Column", "Table"]

KINDS = ("numeric", "categorical", "text", "identifier", "date", "constant")
BATCH_ROWS = 1 << 14
EAGER_SHARE = 0.25  # of the memory limit, up to which a table is loaded
#: Columns from which, and rows up to which, the last selection is kept: a column of a table takes 13 kB whatever it
#: holds and 50 µs to gather, and whoever looks at a model asks for the same columns a dozen times.
WIDE, FEW_ROWS = 500, 100
RAGGED = "lists of numbers of different lengths"
LISTED = "text that holds lists of numbers"


@dataclass(frozen=True)
class Column:
    """What is known of one column; ``reason`` says why it cannot be used as numbers, if so.

    ``missing`` is None where nothing was counted: the fit will see. ``low`` and ``high`` are the least and the greatest
    number where they are known. ``strays`` are values that are no numbers in a column that is nearly all numbers, the
    first of ``stray_count``, each with its row from 0 or None where the row is not known.
    """

    name: str
    kind: str
    missing: int | None = 0
    reason: str = ""
    low: float | None = field(default=None, repr=False, compare=False)
    high: float | None = field(default=None, repr=False, compare=False)
    strays: tuple[tuple[str, int | None], ...] = field(default=(), repr=False, compare=False)
    stray_count: int = field(default=0, repr=False, compare=False)


class Table:
    """Named columns.

    Parameters
    ----------
    columns : sequence of Column
        One for each column, in file order.
    values : Source, pyarrow.Table, ndarray or CSR (n, d)
        The entries, or where to read them.
    source : str
        Where it came from, for messages.
    notes : sequence of str
        What the reader had to decide, in words, e.g. that there was no header line.
    line : callable, optional
        Gives the line of the file that holds a row, or None where that cannot be said; asked for messages only.
    memory : float, optional
        Bytes that loading columns may take, as stated when it was read. Without it, ``settle`` may load the table.
    forced : mapping, optional
        Kinds that the user gave.
    marks : sequence of str
        Texts of a text file that were taken for missing.
    written : mapping, optional
        How a text file is written, by column, so that another one can be read alike.

    Examples
    --------
    >>> import pyarrow, ritz
    >>> frame = pyarrow.table({"city": ["Bonn", "Köln", "Trier"], "rain": [8.1, 8.4, 7.2], "sun": [15, 15.2, 16]})
    >>> table = ritz.read(frame)
    >>> table.kinds
    {'city': 'identifier', 'rain': 'numeric', 'sun': 'numeric'}
    >>> table.select(["sun", "rain"])[0]
    array([15. ,  8.1])
    >>> table.labels("city")
    ['Bonn', 'Köln', 'Trier']
    """

    def __init__(
        self,
        columns: Sequence[Column],
        values: Any,
        *,
        source: str = "",
        notes: Sequence[str] = (),
        line: Callable[[int], int | None] | None = None,
        memory: float | None = None,
        forced: Mapping[str, str] | None = None,
        marks: Sequence[str] = (),
        written: Mapping[str, Any] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.source = source
        self.notes = tuple(notes)
        self._data = _as_source(values, [column.name for column in self.columns])
        self._line = line
        self._memory = memory
        self._forced = dict(forced or {})
        self.marks = tuple(marks)
        self.written = dict(written or {})
        self.origin: Any = None  # how to read it again, where a program that read it says so
        self.image_shape: tuple[int, ...] | None = None  # of the picture that every row is
        self.places: Any = None  # (n,) numbers from 0 of the rows in the file, where some were left out
        self._typed: tuple[Any, dict[str, Any]] | None = None
        self._meant: tuple[Any, list[str], Any] | None = None  # the last columns asked for, of a wide table
        self._wide: tuple[Any, list[str], Any] | None = None  # the last selection from a wide, short table
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
        """How many values each column lacks; columns that lack none, or were not counted, are left out."""
        return {column.name: column.missing for column in self.columns if column.missing}

    @property
    def said(self) -> dict[str, str]:
        """Kinds that the user gave, by name; columns that were dropped among them."""
        return dict(self._forced)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where only reading would tell."""
        rows: int | None = self._data.n_rows
        return rows

    @property
    def lazy(self) -> bool:
        """Whether the rows stay where they are and are read in pieces."""
        from ritz.data.formats.matrix import MemoryMatrix
        from ritz.data.formats.memory import ArrowTable

        return not isinstance(self._data, (ArrowTable, MemoryMatrix))

    def settle(self, allowed: float) -> None:
        """Load the rows where nobody stated a limit when they were read, and a quarter of ``allowed`` holds them."""
        from ritz.data.formats.load import load

        if self._memory is None and self.lazy and self.repeatable and self._data.decoded <= EAGER_SHARE * allowed:
            with within(allowed):
                self._data = load(self._data)

    @property
    def loaded(self) -> int:
        """Bytes of the rows in memory that came from files."""
        return 0 if self.lazy or not self._data.files else int(self._data.decoded)

    @property
    def allowed(self) -> float | None:
        """Bytes that loading may take, as stated when the table was read; None where nothing was."""
        return self._memory

    @property
    def _limit(self) -> float:
        return limit(None) if self._memory is None else self._memory

    @property
    def files(self) -> list[Any]:
        """The files that the rows come from; none where they came from memory."""
        return list(self._data.files)

    @property
    def decoded(self) -> int | None:
        """Bytes of the rows once they are loaded; None where only reading would tell."""
        size: int | None = getattr(self._data, "decoded", None)
        return size

    @property
    def readable_as_numbers(self) -> set[str]:
        """Names of the columns whose values are stored as numbers, whatever their kind."""
        return set(self._data.names)

    @property
    def types(self) -> dict[str, Any]:
        """Arrow types of the columns as the file has them, by name; empty for a matrix."""
        return dict(self._types())

    def type_of(self, name: str) -> Any:
        """The Arrow type of one column, None for that of a matrix; where there are very many, not all are listed."""
        return self._types().get(name)

    def _types(self) -> dict[str, Any]:
        if self._typed is None or self._typed[0] is not self._data:  # loading may change them
            self._typed = (self._data, {column.name: column.type for column in getattr(self._data, "fields", [])})
        return self._typed[1]

    @property
    def matrix(self) -> Any:
        """The array or CSR matrix in memory that the table was made of; None of other tables."""
        return getattr(self._data, "values", None)

    @property
    def repeatable(self) -> bool:
        """Whether the rows can be read more than once."""
        return bool(self._data.repeatable)

    @property
    def scanned(self) -> bool:
        """Whether every column was looked at; if not, constant columns and missing values are found in the fit."""
        return all(column.missing is not None for column in self.columns)

    @property
    def set_aside(self) -> list[tuple[str, str]]:
        """Columns that cannot be used as numbers, each with its reason."""
        return [(column.name, column.reason) for column in self.columns if column.kind != "numeric"]

    def __len__(self) -> int:
        if self.n_rows is None:
            raise InputError(
                "expected a table whose number of rows is known",
                received=repr(self),
                hint="an iterator of batches is counted by reading it; fit reads it once",
            )
        return self.n_rows

    def __repr__(self) -> str:
        counts = [f"{sum(c.kind == kind for c in self.columns)} {kind}" for kind in KINDS]
        kinds = ", ".join(text for text in counts if not text.startswith("0 "))
        rows = "an unknown number of" if self.n_rows is None else self.n_rows
        where = ", read in pieces" if self.lazy else ""
        name = self.source or ("batches" if self.lazy else "in memory")
        width = counted(len(self.columns), "column")
        return f"Table({name}: {rows} row{'s' if rows != 1 else ''} × {width}: {kinds}{where})"

    def counting(self) -> Table:
        """The same table for an analysis of counts, in which a column of one number all over counts as well."""
        numbers = [name for name, reason in self.set_aside if self.kinds[name] == "constant" and _always(reason)]
        if not numbers:
            return self
        columns = [replace(one, kind="numeric", reason="") if one.name in numbers else one for one in self.columns]
        same = copy(self)
        same.columns = tuple(columns)
        return same

    def narrowed(self, names: Sequence[str]) -> Table:
        """The same table with these columns only, in their order in the file."""
        kept, same = set(names), copy(self)
        same.columns = tuple(column for column in self.columns if column.name in kept)
        same._position = {column.name: j for j, column in enumerate(same.columns)}
        return same

    def some_rows(self, rows: Any) -> Any:
        """Rows of a matrix in memory, with the names of rows that it has."""
        import pyarrow as pa

        from ritz.data.formats.matrix import MemoryMatrix

        labels = {name: column.take(pa.array(rows)) for name, column in self._data.labels.items()}
        return MemoryMatrix(self._data.values[rows], self._data.names, labels, self._data.files)

    def kept(self, rows: Any, note: str) -> Table:
        """The same table in memory with these rows only, which keep their numbers and lines."""
        import pyarrow as pa

        places = np.asarray(rows) if self.places is None else self.places[rows]
        values: Any
        if self.matrix is not None:
            values = self.some_rows(rows)
        else:
            values = pa.concat_tables(list(self.batches())).take(pa.array(rows))
        line = self._line
        same = Table(
            self.columns, values, source=self.source, notes=(*self.notes, note), memory=self._memory,
            line=None if line is None else lambda row: line(int(places[row])), forced=self._forced, marks=self.marks,
            written=self.written,
        )  # fmt: skip
        same.places, same.image_shape = places, self.image_shape
        return same

    def numeric_names(self) -> list[str]:
        """Names of the numeric columns, with a warning of those set aside; an error if there are none."""
        names = [column.name for column in self.columns if column.kind == "numeric"]
        aside = grouped([(repr(name), reason) for name, reason in self.set_aside])
        if not names:
            if all(column.kind == "constant" for column in self.columns):
                raise InputError(
                    f"expected a column that varies in {self.source or 'the table'}",
                    received=f"only constant columns: {'; '.join(aside)}",
                    hint="components are directions of variance, and there is none",
                )
            ragged = any(column.reason.startswith(RAGGED) for column in self.columns)
            nested = any(column.reason.startswith(("values of type", LISTED)) for column in self.columns)
            raise InputError(
                f"expected a numeric column in {self.source or 'the table'}",
                received=f"{counted(len(self.columns), 'column')}, none of them numeric: {'; '.join(aside)}",
                hint="make the lists equally long: an embedding has as many numbers in every row"
                if ragged
                else "give every number a column of its own, or one list of numbers to every row"
                if nested
                else "check the delimiter and the decimal mark, or turn text into numbers first",
            )
        lost = module_of("ritz.data.tables.lists").lost_lists(self) if aside else None
        if lost is not None:
            raise lost
        if aside:
            text = f"{counted(len(self.set_aside), 'column')} set aside: {'; '.join(aside)}"
            warn(text, ColumnsSetAside)
        return names

    def numeric(self) -> tuple[Any, list[str]]:
        """Give the numeric columns as an array (n, d), or CSR, with their names, and warn of those set aside."""
        names = self.numeric_names()
        return self.select(names), names

    def row_name(self, row: int) -> str:
        """Name a row for a message: its line in the file where there are lines, or its number from 0."""
        line = self._line(row) if self._line is not None else None
        return f"row {row if self.places is None else int(self.places[row])}" if line is None else f"line {line}"

    def labels(self, name: str) -> list[Any]:
        """Give one column, of any kind, as a list; missing values are None (NaN in arrays)."""
        return [value for batch in self.batches([name]) for value in batch.column(0).to_pylist()]

    def batches(self, names: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Columns of any kind as Arrow tables of at most ``rows`` rows, in row order."""
        import pyarrow as pa

        names = self.names if names is None else list(names)
        self._require(names)
        with unchanged(self._data):
            for span in self._data.spans:
                for batch in self._data.arrow_batches(span, names, rows):
                    yield pa.Table.from_batches([batch])

    def picked(self, rows: Any, names: Sequence[str] | None = None) -> Any:
        """Rows with these increasing numbers as one Arrow table; of others that are read on the way nothing is kept."""
        names = self.names if names is None else list(names)
        self._require(names)
        with unchanged(self._data):
            data = self._data
            data = data.within(EAGER_SHARE * self._limit) if hasattr(data, "within") else data
            return data.picked(names, np.asarray(rows, np.intp))

    def to_arrow(self) -> Any:
        """All columns as an Arrow table in memory."""
        return module_of("ritz.data.tables.whole").whole(self)

    def to_pandas(self) -> Any:
        """All columns as a frame of pandas.

        Examples
        --------
        >>> import pyarrow, ritz
        >>> table = ritz.read(pyarrow.table({"city": ["Bonn", "Köln"], "rain": [8.1, 8.4]}))
        >>> table.to_pandas().rain.max()
        8.4
        """
        return module_of("ritz.data.tables.whole").framed(self.to_arrow(), "pandas")

    def to_polars(self) -> Any:
        """All columns as a frame of polars."""
        return module_of("ritz.data.tables.whole").framed(self.to_arrow(), "polars")

    def check_unchanged(self) -> None:
        """Raise DataChanged where the files of a table that is read in pieces are not what they were."""
        with unchanged(self._data):
            pass

    def source_for(self, names: Sequence[str] | None = None) -> tuple[Any, list[int] | None]:
        """A ``Source`` of the named columns (all numeric ones without names), and their positions in its names.

        Its dtype is that of these columns alone. Positions are None where all its columns are meant, in their order.
        """
        names = [c.name for c in self.columns if c.kind == "numeric"] if names is None else list(names)
        if self._meant is not None and self._meant[0] is self._data and self._meant[1] == names:
            return self._meant[2]
        self._require(names)
        self._require_numbers(names)
        source, at = self._data.restrict(names)
        if len(names) >= WIDE and not self.lazy:
            self._meant = self._data, names, (source, at)
        return source, at

    def select(self, names: Sequence[str]) -> Any:
        """Give the named columns as an array (n, len(names)), or CSR, in that order; of a lazy table, load them."""
        from ritz.data.formats.load import rows_of

        if self._wide is not None and self._wide[0] is self._data and self._wide[1] == list(names):
            return self._wide[2].copy()
        source, at = self.source_for(names)
        if not self.lazy and hasattr(source, "values"):
            return source.values if at is None else source.values[:, at]
        if self.lazy:
            self._require_room(source, len(names))
        rows = rows_of(source, at)
        if len(names) >= WIDE and isinstance(rows, np.ndarray) and rows.shape[0] <= FEW_ROWS and not self.lazy:
            self._wide = self._data, list(names), rows.copy()
        return rows

    def scan(self) -> Table:
        """The same table with every column looked at in one pass: constants and missing values are known then."""
        from ritz.data.formats.columns import judge

        with using(None, "scan"):
            columns = judge(self._data, self._forced, full=True)
        return Table(
            columns, self._data, source=self.source, notes=self.notes, line=self._line, memory=self._memory,
            forced=self._forced, marks=self.marks, written=self.written,
        )  # fmt: skip

    def _require(self, names: Sequence[str]) -> None:
        absent = [name for name in names if name not in self._position]
        if absent:
            close = difflib.get_close_matches(absent[0], self.names, n=1, cutoff=ALIKE)
            raise InputError(
                f"expected columns {shorten([repr(n) for n in names])} in {self.source or 'the table'}",
                received=f"a table without {shorten([repr(n) for n in absent])}",
                hint=f"did you mean {close[0]!r}?" if close else f"it has {shorten([repr(n) for n in self.names])}",
            )

    def _require_numbers(self, names: Sequence[str]) -> None:
        numeric = set(self._data.names)
        other = [f"{name!r} ({self.columns[self._position[name]].reason})" for name in names if name not in numeric]
        strays = [self.columns[self._position[name]] for name in names if name not in numeric]
        if other and all(column.strays for column in strays):
            from ritz.data.tables.strays import stray_error

            raise stray_error(strays, self.source, self.row_name)
        if other:
            raise InputError(
                f"expected numbers in the columns used of {self.source or 'the table'}",
                received=f"other values in {shorten(other)}",
                hint="give the columns of the fit; ritz.read(path, kinds={name: 'numeric'}) reads text as numbers",
            )

    def _require_room(self, source: Any, width: int) -> None:
        allowed = self._limit
        share = width / max(1, len(source.names))
        needed = (source.n_rows or 0) * width * source.dtype.itemsize
        needed = int(source.decoded * share) if source.sparse else needed
        if needed > allowed:
            raise MemoryLimitError(
                f"expected a memory limit that holds {counted(width, 'column')} of {self.source or 'the table'}",
                received=f"{allowed / 1e6:,.0f} MB for {needed / 1e6:,.0f} MB",
                hint=f"memory='{-(-needed // 10**6)}MB', fewer columns, or give the table itself to fit, which reads "
                "it in pieces",
            )


def _always(reason: str) -> bool:
    """Whether a constant column holds one number: its reason says ``always 5``."""
    try:
        float(reason.removeprefix("always "))
    except ValueError:
        return False
    return reason.startswith("always ")


def _as_source(values: Any, names: list[str]) -> Any:
    from ritz.data.formats.matrix import MemoryMatrix
    from ritz.data.formats.memory import ArrowTable

    if hasattr(values, "spans"):
        return values
    if isinstance(values, np.ndarray) or hasattr(values, "indptr"):
        return MemoryMatrix(values, names)
    return ArrowTable(values)
