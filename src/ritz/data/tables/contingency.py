"""Contingency tables: as they are, from two categorical columns, or from a long list with counts.

    raw    (a, b)        one row an observation        →  N[a, b] = how often
    long   (a, b, n)     one row a combination         →  N[a, b] = Σ n
    wide   one row a category of the first variable    →  N itself, labels in a column or the index

Raw and long lists are added up batch by batch, so they may be larger than memory; N is kept sparse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from ritz._core.errors import ColumnsSetAside, InputError, MergeError, ParameterError
from ritz._core.warn import warn
from ritz.data.tables.frames import holds_numbers, is_frame, narwhal
from ritz.data.tables.table import Table
from ritz.data.words import ALIKE, shorten

__all__ = ["Counts", "crosstab", "form_of", "split_labels", "without_names"]


@dataclass(frozen=True)
class Counts:
    """A contingency table with the names of both sides."""

    values: Any  # CSR or ndarray (n, d)
    rows: list[str]
    columns: list[str]

    def spread(self, rows: list[str], columns: list[str]) -> Counts:
        """The same counts in a table with these rows and columns, which must contain the own ones."""
        from scipy.sparse import coo_array

        triplets = coo_array(self.values)
        row = np.asarray([rows.index(name) for name in self.rows] if self.rows != rows else range(len(rows)), np.intp)
        place = {name: j for j, name in enumerate(columns)}
        column = np.asarray([place[name] for name in self.columns], np.intp)
        i, j = triplets.coords
        wide = coo_array((triplets.data, (row[i], column[j])), shape=(len(rows), len(columns))).tocsr()
        return Counts(_settled(wide), rows, columns)

    def plus(self, other: Counts) -> Counts:
        """Both tables added up, category by category."""
        rows, columns = _union(self.rows, other.rows), _union(self.columns, other.columns)
        return Counts(_settled(self.spread(rows, columns).values + other.spread(rows, columns).values), rows, columns)

    def minus(self, other: Counts) -> Counts:
        """This table without the counts of ``other``, which must be part of it; what is left empty is left out."""
        rows, columns = _union(self.rows, other.rows), _union(self.columns, other.columns)
        mine, theirs = self.spread(rows, columns).values, other.spread(rows, columns).values
        rest = _dense(mine) - _dense(theirs)
        rest[np.abs(rest) <= 64 * 2.0**-53 * _dense(mine)] = 0.0  # rounding of weighted counts
        if float(np.min(rest)) < 0:
            raise MergeError(
                "subtract needs a model whose observations are part of this one",
                received="more observations of some combination than this model has",
                hint="subtract only what was merged or fitted before",
            )
        i, j = np.flatnonzero(rest.any(axis=1)), np.flatnonzero(rest.any(axis=0))
        return Counts(rest[np.ix_(i, j)], [rows[a] for a in i], [columns[b] for b in j])


def form_of(X: Any, rows: str | None, columns: str | None, counts: str | None) -> str:
    """``raw`` (count pairs), ``labels`` (a wide table whose column ``rows`` names them) or ``wide``."""
    if (columns is None and counts is not None) or (rows is None and columns is not None):
        raise ParameterError(
            "counts needs rows and columns, and columns needs rows",
            received=f"rows={rows!r}, columns={columns!r}, counts={counts!r}",
            hint="CA(rows='hair', columns='eye', counts='n')",
        )
    names = _names(X)
    if rows is None:
        texts = [] if names is None else _texts(X)
        if names is not None and len(texts) == len(names) == 2:
            return "raw"
        if texts and not isinstance(X, Table):
            raise _no_numbers(texts, [name for name in names or [] if name not in set(texts)])
        return "wide"
    if names is None:
        raise ParameterError(
            "rows names a column, so X must be a frame or a Table", received=type(X).__name__, hint="CA().fit(counts)"
        )
    lost = [name for name in (rows, columns, counts) if name is not None and name not in names]
    if lost:
        close = get_close_matches(lost[0], names, n=1, cutoff=ALIKE)
        raise InputError(
            f"expected the columns {', '.join(map(repr, lost))}",
            received=f"columns {shorten(names)}",
            hint=f"did you mean {close[0]!r}?" if close else "check the name",
        )
    return "labels" if columns is None else "raw"


def _no_numbers(texts: list[str], numbers: list[str]) -> InputError:
    """The refusal of a frame that is no table of counts, with the call that would count it."""
    call = f"CA(rows={texts[0]!r}) takes it as names of the rows"
    if len(texts) > 1:
        pair = f"CA(rows={texts[0]!r}, columns={texts[1]!r}"
        call = f"{pair}) counts two of them against each other"
        if numbers:
            call = f"{pair}, counts={numbers[0]!r}) adds up counts of two of them; without counts=, rows are counted"
    received = "categories or texts in " + shorten([repr(name) for name in texts])
    return InputError("every column of a table of counts must hold numbers", received=received, hint=call)


def without_names(table: Table) -> Table:
    """The table without the identifier that names its rows: it is used and not set aside."""
    names = [name for name, kind in table.kinds.items() if kind == "identifier"]
    if table.lazy or len(names) != 1:
        return table
    same = copy(table)
    same.columns = tuple(column for column in table.columns if column.name != names[0])
    same._position = {column.name: j for j, column in enumerate(same.columns)}
    return same


def _names(X: Any) -> list[str] | None:
    if isinstance(X, Table):
        return list(X.names)
    if not is_frame(X):
        return None
    return [str(name) for name in _frame(X).columns]


def _texts(X: Any) -> list[str]:
    """Columns that hold categories rather than amounts."""
    if isinstance(X, Table):
        return [name for name, kind in X.kinds.items() if kind in ("categorical", "text")]
    frame = _frame(X)
    each = zip(frame.columns, frame.iter_columns(), strict=True)
    return [name for name, column in each if not (column.dtype.is_numeric() or holds_numbers(column))]


def _frame(X: Any) -> Any:
    return narwhal(X)


def split_labels(X: Any, rows: str) -> tuple[list[str], Any]:
    """The column of labels, and the table without it."""
    if isinstance(X, Table):
        names = [name for name in X.names if name != rows and X.kinds[name] == "numeric"]
        return [str(label) for label in X.labels(rows)], _without(X, names)
    frame = _frame(X)
    return [str(label) for label in frame[rows].to_list()], frame.drop(rows).to_native()


def _without(table: Table, names: list[str]) -> Any:
    kept = [column for column in table.columns if column.name in names]
    return Table(kept, table.select(names), source=table.source)


def crosstab(X: Any, rows: str | None, columns: str | None, counts: str | None, weights: Any = None) -> Counts:
    """Count the pairs of two columns, or add up their counts; observations may be weighted."""
    if rows is None or columns is None:
        rows, columns = _texts(X)
    total, start = None, 0
    orders: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for batch in _batches(X, [name for name in (rows, columns, counts) if name is not None]):
        amount = _amounts(batch, counts, weights, start)
        pairs = _paired(batch, (rows, columns), amount, orders)
        total = pairs if total is None else _summed([total, pairs])
        start += len(batch)
    if weights is not None and len(weights) != start:
        raise InputError(f"sample_weight needs one entry for each of the {start} rows", received=f"{len(weights)}")
    if total is None or len(total) == 0:
        raise InputError("expected observations to count", received="none")
    if counts is None and (len(total) == start or _combinations(X)):
        _warn_unused(X, (rows, columns))
    return _table(total, orders)


def _combinations(X: Any) -> bool:
    """Whether every combination of a frame's categories stands there once, as in a list that was counted before."""
    return not isinstance(X, Table) and bool(_frame(X).select(*_texts(X)).is_unique().all())


def _warn_unused(X: Any, used: tuple[str, str]) -> None:
    """Name columns of numbers beside a pair that is counted row by row: they may be the counts."""
    texts = set(_texts(X))
    numbers = [name for name in _names(X) or [] if name not in texts and name not in used]
    if isinstance(X, Table):
        numbers = [name for name in numbers if X.kinds[name] == "numeric"]
    if numbers:
        names = shorten([repr(name) for name in numbers])
        hold, was, they = ("hold", "were", "they") if len(numbers) > 1 else ("holds", "was", "these")
        warn(
            f"{names} {hold} numbers and {was} not used: every row counts once\n"
            f"hint: counts={numbers[0]!r} if {they} are counts",
            ColumnsSetAside,
        )


def _batches(X: Any, names: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa

    if isinstance(X, Table):
        for batch in X.batches(list(names)):
            yield batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        return
    yield _frame(X).select(*names).to_arrow()


def _amounts(batch: Any, counts: str | None, weights: Any, start: int) -> Any:
    amount = np.ones(len(batch)) if counts is None else np.asarray(batch[counts].to_numpy(), np.float64)
    if weights is not None:
        amount = amount * np.asarray(weights, np.float64)[start : start + len(batch)]
    if not bool(np.all(np.isfinite(amount))) or float(np.min(amount, initial=0.0)) < 0:
        raise InputError("expected counts and weights that are finite and not negative", received=f"in {counts!r}")
    return amount


def _paired(batch: Any, names: tuple[str, str], amount: Any, orders: tuple[dict[str, int], dict[str, int]]) -> Any:
    """The sums of a batch by pair of labels; declared categories put their order on record."""
    import pyarrow as pa
    import pyarrow.types as pt

    sides = []
    for name, order in zip(names, orders, strict=True):
        column = batch[name].combine_chunks()
        if column.null_count:
            raise InputError(
                f"expected a category in every row of {name!r}",
                received=f"{column.null_count} missing",
                hint="drop those rows, or fill them with a category of their own",
            )
        if pt.is_dictionary(column.type):
            for level in column.dictionary.to_pylist():
                order.setdefault(str(level), len(order))
            column = column.dictionary_decode() if hasattr(column, "dictionary_decode") else column.cast(pa.string())
        sides.append(column.cast(pa.string()))
    return _summed([pa.table({"a": sides[0], "b": sides[1], "n": amount})])


def _summed(parts: list[Any]) -> Any:
    import pyarrow as pa

    pairs = pa.concat_tables(parts) if len(parts) > 1 else parts[0]
    sums = pairs.group_by(["a", "b"]).aggregate([("n", "sum")])
    return sums.select(["a", "b", "n_sum"]).rename_columns(["a", "b", "n"])


def _table(total: Any, orders: tuple[dict[str, int], dict[str, int]]) -> Counts:
    from scipy.sparse import csr_array

    sides, codes = [], []
    for name, order in zip("ab", orders, strict=True):
        coded = total[name].combine_chunks().dictionary_encode()
        seen = coded.dictionary.to_pylist()
        levels = sorted(seen, key=lambda level: (order.get(level, len(order)), level))
        place = {level: i for i, level in enumerate(levels)}
        codes.append(np.asarray([place[level] for level in seen], np.intp)[coded.indices.to_numpy()])
        sides.append(levels)
    shape = (len(sides[0]), len(sides[1]))
    N = csr_array((total["n"].to_numpy().astype(np.float64), (codes[0], codes[1])), shape=shape)
    return Counts(_settled(N), sides[0], sides[1])


def _settled(N: Any) -> Any:
    """A small table as an array, a large one as CSR."""
    if isinstance(N, np.ndarray):
        return N
    return N.toarray() if N.shape[0] * N.shape[1] <= 4 * max(N.nnz, 1 << 16) else N.tocsr()


def _dense(N: Any) -> Any:
    return np.asarray(N if isinstance(N, np.ndarray) else N.toarray(), np.float64)


def _union(mine: list[str], theirs: list[str]) -> list[str]:
    """All labels: in order where both are sorted, else one's own first."""
    both = mine + [name for name in theirs if name not in set(mine)]
    return sorted(both) if mine == sorted(mine) and theirs == sorted(theirs) else both
