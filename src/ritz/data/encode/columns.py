"""Columns of a table in memory by name, each as codes or as numbers: pandas, polars, Arrow, NumPy, lists of rows.

    opened(X)       columns in memory; a Table that stays outside, or a collection of an engine, as that opens it

    kind(name)      ``category`` (texts, truth values, declared categories), ``integer``, ``number``, or ``other``
    coded(name)     its codes and levels              numbers(name)     float64, missing as NaN

A column is looked at when it is first asked for, and its codes are kept: learning and encoding read them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, NonFiniteError
from ritz._core.memory import LITTLE, limit
from ritz._core.threads import lane_count, run_lanes
from ritz.data.encode.codes import Coded, arrow_kind, code_arrow, code_objects, code_pandas, text_of
from ritz.data.encode.openings import Choice, Opened
from ritz.data.encode.vocabulary import Census
from ritz.data.engines import engine_of, registered
from ritz.data.engines.refused import uneven
from ritz.data.formats.pack import numbers as arrow_numbers
from ritz.data.passes.integers import EXACT, warn_lost
from ritz.data.tables.frames import is_frame, is_pandas
from ritz.data.tables.table import Table
from ritz.data.words import describe, shorten

__all__ = ["MemoryColumns", "memory_columns", "of_table", "opened"]

ARROW_ROWS = 1 << 18
#: Rows that are looked at in one go where the memory limit does not hold the codes of all.
PART_ROWS = 1 << 15
#: Share of the memory limit that codes and encoded rows may take, and the bytes of one code and of one entry while they
#: are made: place, column, value, mask, and what is kept of them. 235 MB were seen for 7.2 million entries.
HELD_SHARE, CODE_BYTES, ENTRY_BYTES = 0.5, 16, 40
#: Cells up to which columns are coded one after the other: beginning a lane takes as long as coding some thousands.
FEW_CELLS = 1 << 14


class MemoryColumns(Opened):
    """Columns in memory.

    Parameters
    ----------
    names
        Of the columns, in order.
    columns
        Arrow chunked arrays, pandas series, or NumPy arrays (n,), one a name.
    rows
        Their length.
    named
        Whether the names came with the table; if not, columns are known by their place.
    empty
        Whether empty texts count as missing, as in tables from files.
    """

    def __init__(
        self, names: Sequence[str], columns: Sequence[Any], rows: int, *, named: bool = True, empty: bool = False
    ) -> None:
        self.names, self.rows, self.named, self.empty = list(names), int(rows), named, empty
        self._held = dict(zip(self.names, columns, strict=True))
        self._coded: dict[str, Coded] = {}
        self._kinds: dict[str, str] = {}
        self.memory: Any = None  # memory limit
        _distinct(self.names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows

    def part(self, start: int, stop: int) -> MemoryColumns:
        """Some rows of the columns, which are what they are in the whole; nothing is copied."""
        chunks = [
            values.iloc[start:stop] if hasattr(values, "iloc")
            else values[start:stop] if isinstance(values, np.ndarray)
            else values.slice(start, stop - start)
            for values in self._held.values()
        ]  # fmt: skip
        some = MemoryColumns(self.names, chunks, stop - start, named=self.named, empty=self.empty)
        some._kinds = self._kinds
        return some

    def kind(self, name: str) -> str:
        """What a column holds: ``category``, ``integer``, ``number`` or ``other``."""
        if name not in self._kinds:
            self._kinds[name] = self._judged(name)
        return self._kinds[name]

    def _judged(self, name: str) -> str:
        values = self._held[name]
        dtype = getattr(values, "dtype", None)
        if isinstance(dtype, np.dtype):
            if dtype.kind in "biufUM":
                return {"b": "category", "i": "integer", "u": "integer", "f": "number", "U": "category"}.get(
                    dtype.kind, "other"
                )
            return self._judged_objects(name)
        if dtype is None:  # Arrow
            judged = arrow_kind(values.type)
            return "category" if judged == "nothing" else judged
        import pandas as pd

        if isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(dtype):
            return "category"
        if pd.api.types.is_integer_dtype(dtype):
            return "integer"
        if pd.api.types.is_numeric_dtype(dtype):
            return "number"
        return "category" if pd.api.types.is_string_dtype(dtype) else "other"

    def _judged_objects(self, name: str) -> str:
        """The kind of a column of Python objects, whose values must tell; categories are coded at once."""
        import pyarrow as pa

        try:
            kind = arrow_kind(pa.array(self._held[name], from_pandas=True).type)
        except (pa.ArrowException, TypeError, ValueError, AttributeError):
            kind = "category"
        return "category" if kind == "nothing" else kind

    def coded(self, name: str) -> Coded:
        """A column as codes."""
        coded = self._coded.get(name)
        if coded is None:
            coded = self._code(self._held[name])
            if coded.kind == "number" and not {"inf", "-inf"}.isdisjoint(coded.levels):
                raise NonFiniteError(
                    f"expected categories in column {name!r}", received="infinity", hint="use None for a missing value"
                )
            if coded.twofold is not None:
                raise InputError(
                    f"expected values of one type in column {name!r}",
                    received=f"the text {coded.twofold!r} and another value that is written the same way",
                    hint=f"cast the column: X[{name!r}].astype(str) counts them as one level",
                )
            coded = self._coded.setdefault(name, coded)
        return coded

    def _code(self, values: Any) -> Coded:
        if isinstance(values, np.ndarray):
            return code_objects(values, empty=self.empty)
        if hasattr(values, "iloc"):
            return code_pandas(values, empty=self.empty)
        return code_arrow(values, empty=self.empty)

    def look(self, names: Sequence[str]) -> None:
        """Code some columns side by side."""
        wanted = [name for name in names if name not in self._coded]
        if self.rows * len(wanted) <= FEW_CELLS:
            for name in wanted:
                self.coded(name)
            return
        lanes = min(lane_count(), len(wanted))
        run_lanes(lambda some: [self.coded(name) for name in some], [wanted[i::lanes] for i in range(lanes)])

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers (n,) as float64, missing as NaN; integers that lose digits are warned about."""
        made = self._numbers(name)
        if self.kind(name) == "integer" and len(made) and float(np.fmax.reduce(np.abs(made))) >= EXACT:
            warn_lost(f"column {name!r}")
        return made

    def _numbers(self, name: str) -> NDArray[np.float64]:
        values = self._held[name]
        if isinstance(values, np.ndarray):
            return _float(values, name)
        if hasattr(values, "iloc"):
            return _float(values.to_numpy(dtype=object) if values.dtype == object else _plain(values), name)
        parts = [arrow_numbers(chunk, name) for chunk in values.chunks]
        return np.concatenate([np.zeros(0), *parts]).astype(np.float64, copy=False)

    # a table that is looked at and encoded

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice."""
        census, n = Census(choice), self.rows
        weights = None if weights is None else np.asarray(weights, np.float64)
        if _holds(self.memory, n * len(choice.names) * CODE_BYTES):
            census.update(self, weights)
            return census
        for start in range(0, n, PART_ROWS):
            stop = min(n, start + PART_ROWS)
            census.update(self.part(start, stop), None if weights is None else weights[start:stop])
        return census

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """CSR (n, d), or an array where all are numbers; row blocks where the memory limit does not hold these."""
        encoder = self.fitting(encoder)
        if not _holds(memory, self.rows * (encoder.p + encoder.vocabulary.J) * ENTRY_BYTES):
            from ritz.data.encode.stream import HeldRows
            from ritz.data.engines.stream.blocks import StreamBlocks

            return StreamBlocks(HeldRows(self, encoder, unseen, absent), budget=limit(memory))
        rows = encoder.encode(self, unseen, 0, absent)
        return rows.toarray() if encoder.vocabulary.J == 0 else rows

    def held(self, rows: Any) -> float:
        """Bytes of the codes and of the encoded rows, and of the table where it came from a file."""
        loaded = 0.0 if self.table is None else float(self.table.loaded)
        size = getattr(rows, "nbytes", 0) if isinstance(rows, np.ndarray) else 12 * getattr(rows, "nnz", 0)
        return loaded + size + float(sum(coded.codes.nbytes for coded in self._coded.values()))


def _plain(series: Any) -> Any:
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def _float(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    try:
        if values.dtype != object:
            return values.astype(np.float64, copy=False)
        return np.asarray([np.nan if text_of(value) is None else float(value) for value in values.tolist()], np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"expected numbers in column {name!r}, as in the fit",
            received=str(error),
            hint="give the columns of the fit, of the same types",
        ) from error


def opened(X: Any, memory: Any = None) -> Opened:
    """A table that can be looked at and encoded; what is opened already is given back."""
    if isinstance(X, Opened):
        return X
    if is_pandas(X) and not registered:  # which no engine of Ritz but memory takes
        return memory_columns(X, memory=memory)
    table: Opened = engine_of(X).opened(X, memory)
    return table


def of_table(table: Table, memory: Any) -> Opened:
    """A Table in memory where the limit holds it, else one that is read in pieces, here or by a cluster."""
    from ritz.data.encode.stream import StreamedTable

    streamed = StreamedTable(table)
    if streamed.cluster is None:
        table.settle(HELD_SHARE * limit(memory))
    if table.lazy or streamed.cluster is not None:
        return streamed
    import pyarrow as pa

    columns = memory_columns(pa.concat_tables(table.batches(None, ARROW_ROWS)), empty=True, memory=memory)
    columns.table = table
    return columns


def memory_columns(X: Any, *, empty: bool = False, memory: Any = None) -> MemoryColumns:
    """The columns of a frame, an Arrow table or record batch, an array or a list of rows."""
    columns = _of_pandas(X, empty) if is_pandas(X) else _of_other(X, empty)
    columns.memory = memory
    return columns


def _of_pandas(X: Any, empty: bool) -> MemoryColumns:
    names = [str(name) for name in X.columns]
    return MemoryColumns(names, [X.iloc[:, j] for j in range(len(names))], len(X), empty=empty)


def _of_other(X: Any, empty: bool) -> MemoryColumns:
    import pyarrow as pa

    if isinstance(X, (pa.Table, pa.RecordBatch)):
        table = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X
        return MemoryColumns(table.column_names, table.columns, table.num_rows, empty=empty)
    return _of_frame(X, empty) if is_frame(X) else _of_array(X)


def _of_frame(X: Any, empty: bool) -> MemoryColumns:
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(X):
        return _of_pandas(X, empty)
    import pyarrow as pa

    frame = nw.from_native(X, eager_only=True)
    table = frame.to_arrow()
    columns = []
    for name, values in zip(frame.columns, table.columns, strict=True):
        if isinstance(frame.schema[name], nw.Enum):  # declared categories, whose order Arrow does not mark as one
            kind = pa.dictionary(pa.int32(), values.type.value_type, ordered=True)
            values = pa.chunked_array([_ordered(chunk, kind) for chunk in values.chunks], kind)
        columns.append(values)
    return MemoryColumns(frame.columns, columns, frame.shape[0], empty=empty)


def _ordered(chunk: Any, kind: Any) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(chunk.indices.cast(kind.index_type), chunk.dictionary, ordered=True)


def _of_array(X: Any) -> MemoryColumns:
    if hasattr(X, "tocsr"):
        raise InputError(
            "expected a table of categories or numbers, one column a variable",
            received=describe(X),
            hint="an indicator or count matrix goes to ritz.CA as it is",
        )
    rows = np.asarray(X) if isinstance(X, np.ndarray) else _of_lists(X)
    if rows.ndim != 2 or rows.dtype.kind not in "biufUO":
        raise InputError(
            "Expected 2D array of categories or numbers, one row an observation",
            received=describe(X),
            hint="give a frame, a Table, or an array of shape (n_rows, n_columns); Reshape your data",
        )
    names = [f"x{j}" for j in range(rows.shape[1])]
    return MemoryColumns(names, [rows[:, j] for j in range(rows.shape[1])], rows.shape[0], named=False)


def _of_lists(X: Any) -> NDArray[Any]:
    """Lists of rows as an array: of objects where texts and numbers stand side by side, as they are otherwise."""
    try:
        rows = np.asarray(X)
        return np.asarray(X, dtype=object) if rows.dtype.kind == "U" else rows
    except (TypeError, ValueError) as error:
        raise InputError("expected rows of one length", received=uneven(X), hint="pad or cut the rows first") from error


def _distinct(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = sorted({repr(name) for name in names if names.count(name) > 1})
        raise InputError(
            "expected columns of different names",
            received=f"more than one {shorten(twice)}",
            hint="rename them, or let ritz.read(X) number them ('a', 'a_2')",
        )


def _holds(memory: Any, size: float) -> bool:
    """Whether codes or encoded rows of so many bytes fit the share of the limit that is theirs."""
    return (memory is None and size <= LITTLE) or size <= HELD_SHARE * limit(memory)
