"""Where the data is not finite: a count, the columns and the first positions.

    bad = {(i, j) : X_ij is NaN or ±∞},   0 ≤ i < n,  0 ≤ j < d

Solvers notice a non-finite sum in their first pass and only then come here for the words, so a clean fit
pays nothing. The data is looked at in blocks of about a million entries along its contiguous side; the extra
memory is a few such blocks. A block whose sum is finite holds only finite numbers, which settles it at the
speed of memory; the other way round a sum may overflow, so only the element-wise test decides.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ritz._core.errors import NonFiniteError
from ritz.data.words import shorten

__all__ = ["require_finite"]

BLOCK_ENTRIES = 1 << 20
FIRST_POSITIONS = 3
FILL = "let PCA fill the gaps: missing='regularized', or impute first"


def require_finite(X: Any, names: Sequence[Any] | None = None, row_name: Callable[[int], str] | None = None) -> None:
    """Raise when ``X`` holds NaN or infinity, and say where.

    Parameters
    ----------
    X : ndarray (n, d), scipy sparse (n, d) or row blocks
        Integers and booleans are finite by nature and cost nothing.
    names : sequence of d names, optional
        Column names for the message; positions are used without them.
    row_name : callable, optional
        Names a row for the message, e.g. by its line in a file; "row 3" without it.

    Raises
    ------
    NonFiniteError
        With the count, the columns and the first positions; rows and unnamed columns count from 0.
    """
    if X.dtype.kind not in "fc":
        return
    nonfinite = _Found(np.zeros(X.shape[1], dtype=np.int64))
    if hasattr(X, "map_reduce"):
        nonfinite = X.map_reduce(lambda: _Found(np.zeros(X.shape[1], dtype=np.int64)), _look)
    else:
        nonfinite.look(X)
    if nonfinite.nan or nonfinite.infinite:
        raise _error(nonfinite, X.dtype, names, row_name or _row, sparse=_is_sparse(X))


@dataclass
class _Found:
    """What is not finite so far; ``first`` holds (row, column) in reading order."""

    per_column: np.ndarray  # (d,)
    nan: int = 0
    infinite: int = 0
    first: list[tuple[int, int]] = field(default_factory=list)

    def look(self, X: Any, start: int = 0) -> None:
        """Look through rows, the first of which is row ``start``."""
        for rows, columns, values in _dense(X) if isinstance(X, np.ndarray) else _sparse(X):
            self.add(rows + start, columns, values)

    def merge(self, other: _Found) -> None:
        """Add what was found in later rows."""
        self.per_column += other.per_column
        self.nan, self.infinite = self.nan + other.nan, self.infinite + other.infinite
        self.first = sorted([*self.first, *other.first])[:FIRST_POSITIONS]

    def state(self) -> dict[str, Any]:
        """As plain values."""
        return {"per_column": self.per_column, "nan": self.nan, "infinite": self.infinite, "first": self.first}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what ``state`` gave."""
        self.per_column, self.nan, self.infinite = state["per_column"], state["nan"], state["infinite"]
        self.first = [(int(i), int(j)) for i, j in state["first"]]

    def add(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Count the non-finite values of one block, given with the row and the column of each."""
        nan = int(np.count_nonzero(np.isnan(values)))
        self.nan += nan
        self.infinite += values.size - nan
        self.per_column += np.bincount(columns, minlength=self.per_column.size)
        order = np.lexsort((columns, rows))[:FIRST_POSITIONS]
        here = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
        self.first = sorted([*self.first, *here])[:FIRST_POSITIONS]


def _look(nonfinite: _Found, block: Any) -> None:
    nonfinite.look(block.values, block.start)


def _surely_finite(values: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()))


def _dense(X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    n, d = X.shape
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    tall = min(n, BLOCK_ENTRIES) if by_columns else max(1, BLOCK_ENTRIES // max(d, 1))
    wide = max(1, BLOCK_ENTRIES // max(n, 1)) if by_columns else min(d, BLOCK_ENTRIES)
    for i, j in itertools.product(range(0, n, max(tall, 1)), range(0, d, max(wide, 1))):
        block = X[i : i + tall, j : j + wide]
        if not _surely_finite(block):
            rows, columns = np.nonzero(~np.isfinite(block))
            yield rows + i, columns + j, block[rows, columns]


def _sparse(X: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    csr = X if X.format == "csr" else X.tocsr()
    for start in range(0, csr.data.size, BLOCK_ENTRIES):
        values = csr.data[start : start + BLOCK_ENTRIES]
        if not _surely_finite(values):
            at = np.flatnonzero(~np.isfinite(values))
            rows = np.searchsorted(csr.indptr, at + start, side="right") - 1
            yield rows, csr.indices[at + start], values[at]


def _is_sparse(X: Any) -> bool:
    """Whether zeros are not stored; row blocks of well-filled rows count as sparse by what they were made of."""
    if hasattr(X, "map_reduce"):
        return bool(X.sparse) or not isinstance(getattr(X, "X", np.empty(0)), np.ndarray)
    return not isinstance(X, np.ndarray)


def _row(i: int) -> str:
    return f"row {i}"


def _times(count: int) -> str:
    return f"{count} time{'s' if count != 1 else ''}"


def _error(
    nonfinite: _Found, dtype: np.dtype[Any], names: Sequence[Any] | None, row_name: Callable[[int], str], sparse: bool
) -> NonFiniteError:
    def name(j: int) -> str:
        return f"column {j}" if names is None else f"column {names[j]!r}"

    # The two phrases are scikit-learn's, so code and tests that look for them keep working.
    infinity = f"infinity or a value too large for {np.dtype(dtype)!r}"
    if nonfinite.nan and nonfinite.infinite:
        phrase = f"NaN ({_times(nonfinite.nan)}) and contains {infinity} ({_times(nonfinite.infinite)})"
    else:
        phrase = "NaN" if nonfinite.nan else infinity
    columns = np.flatnonzero(nonfinite.per_column)
    worst = columns[np.argsort(-nonfinite.per_column[columns], kind="stable")]
    listed = shorten([f"{name(int(j))} ({nonfinite.per_column[j]:,})" for j in worst])
    places = ", ".join(f"{row_name(i)} {name(j)}" for i, j in nonfinite.first)
    count = f"{nonfinite.nan + nonfinite.infinite:,} such value{'s' if nonfinite.nan + nonfinite.infinite > 1 else ''}"
    impute = "put numbers there: gaps of sparse tables cannot be filled" if sparse else FILL
    advice = impute if nonfinite.nan else "look for overflow or a division by 0"
    counted = "; rows count from 0" if re.search(r"\brow \d", places) else ""
    return NonFiniteError(
        f"Input X contains {phrase}, where only finite numbers can be used",
        received=f"{count} in {columns.size} of {nonfinite.per_column.size} columns: {listed}; first at {places}",
        hint=f"drop those rows or columns, or {advice}{counted}",
    )
