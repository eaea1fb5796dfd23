"""Summaries of columns that can be merged: what tells a column's kind, found batch by batch in bounded memory.

    summary(rows 0 … a) ⊕ summary(rows a … n) = summary(rows 0 … n)

    numbers   count, missing, least, greatest; for integers whether they rise, and by one
    text      count, missing, longest, the first different values
    both      different values up to ``DISTINCT``, and whether one came twice among them

Rows beyond the first ``DISTINCT`` different values are no longer compared, so the memory of a scan does not grow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.formats.pack import numbers, numpy_dtype, plain_dtype, unwrapped

__all__ = ["DISTINCT", "Distinct", "MatrixSummary", "Summary", "is_plain", "update_together"]

DISTINCT = 100_000  # different values remembered
KEPT = 200  # characters of a text that are compared


class Distinct:
    """Different values in the order of their coming, up to ``DISTINCT``."""

    def __init__(self) -> None:
        self.values: Any = None  # Arrow array
        self.more = False  # there are more than were remembered
        self.repeat: int | None = None  # how many different values had come when one came again

    @property
    def twice(self) -> bool:
        """Whether a value came again while they were counted."""
        return self.repeat is not None

    def __len__(self) -> int:
        return 0 if self.values is None else len(self.values)

    def update(self, values: Any) -> None:
        """Take in an Arrow array without missing values."""
        import pyarrow.compute as pc

        if self.more or len(values) == 0:
            return
        before = len(self)
        union = pc.unique(values if self.values is None else _joined(self.values, values))
        counted = len(values)
        if len(union) > DISTINCT:
            # Count up to the value that is one too many, wherever a batch ends.
            counted = pc.index(values, union[DISTINCT]).as_py() + 1
            self.more = True
            union = union[: DISTINCT + 1]
        if self.repeat is None and len(union) != before + counted:
            self.repeat = self._first_repeat(values[:counted], before)
        self.values = union[:DISTINCT]

    def _first_repeat(self, values: Any, before: int) -> int:
        """How many different values had come before the first that came again, by halving."""
        import pyarrow.compute as pc

        low, high = 0, len(values)  # no repeat among the first ``low``, one among the first ``high``
        while high - low > 1:
            middle = (low + high) // 2
            first = values[:middle]
            union = pc.unique(first if self.values is None else _joined(self.values, first))
            low, high = (middle, high) if len(union) == before + middle else (low, middle)
        return before + low

    def merge(self, later: Distinct) -> None:
        """Take in the values of later rows."""
        if self.more:
            return
        if later.values is None:
            return
        import pyarrow.compute as pc

        again = None
        if self.repeat is None and later.repeat is not None:
            # A repeat counts only where one scan from the front would still have been counting.
            first = later.values[: later.repeat]
            union = pc.unique(first if self.values is None else _joined(self.values, first))
            again = len(union) if len(union) <= DISTINCT else None
        self.update(later.values)
        self.more = self.more or later.more
        self.repeat = again if self.repeat is None else self.repeat


class Summary:
    """What is known of one column; ``compared`` says whether its numbers are compared with each other."""

    def __init__(self, kind: Any, *, compared: bool = False) -> None:
        self.type = unwrapped(kind)
        self.numeric = numpy_dtype(self.type) is not None
        self.compared = compared
        self.rows = 0
        self.missing = 0
        self.low: Any = None
        self.high: Any = None
        self.first: Any = None
        self.last: Any = None
        self.rises = True  # each number is greater than the one before
        self.counts = True  # by one
        self.longest = 0
        self.distinct = Distinct()
        self.lengths: list[tuple[int, int]] = []  # of lists: the first row's, and the first other, with their rows
        self.exact = True  # every row was looked at: NaN are counted, numbers compared

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing

    @property
    def uneven(self) -> str:
        """Two rows whose lists differ in length, in words; nothing where none do."""
        if len(self.lengths) < 2:
            return ""
        (i, first), (j, other) = self.lengths
        return f": {first} in row {i + 1:,} but {other} in row {j + 1:,}, counted from 1"

    def update(self, values: Any) -> None:
        """Take in an Arrow array of the next rows."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.types as pt

        if len(self.lengths) < 2 and (pt.is_list(values.type) or pt.is_large_list(values.type)):
            self._lists(values)
        self.rows += len(values)
        if pt.is_dictionary(values.type):
            values = values.dictionary_decode()
        elif pt.is_run_end_encoded(values.type):
            values = pc.run_end_decode(values)
        self.missing += values.null_count
        if values.null_count:
            values = values.drop_null()
        if pt.is_float16(values.type):
            values = values.cast(pa.float32())  # Arrow compares nothing in half precision
        if len(values) == 0:
            return
        if self.numeric:
            self._numbers(values)
        elif pt.is_string(self.type) or pt.is_large_string(self.type) or pt.is_string_view(self.type):
            self._text(values.cast(pa.large_string()))

    def _numbers(self, values: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.types as pt

        run = numbers(values)
        if pt.is_decimal(values.type):  # two that float64 cannot tell apart are two
            ends = pc.min_max(values).as_py()
            self._ends(ends["min"], ends["max"])
        else:  # NumPy finds both ends of some thousand numbers in a fifth of Arrow's time
            low, high = run.min(), run.max()
            if low != low:  # NaN
                run = run[~np.isnan(run)]
                self.missing += len(values) - len(run)
                if len(run) == 0:
                    return
                low, high, values = run.min(), run.max(), pa.array(run)
            self._ends(low.item(), high.item())
        if self.compared:
            rises, counts = bool((run[1:] > run[:-1]).all()), bool((run[1:] == run[:-1] + 1).all())
            self._order(run[0].item(), run[-1].item(), rises, counts)
            if not self.distinct.twice:
                self.distinct.update(values)

    def known(self, rows: int, low: Any, high: Any) -> None:
        """Take in the next rows by their ends alone: numbers, none of them missing, that are not compared."""
        self.rows += rows
        self._ends(low, high)

    def _ends(self, low: Any, high: Any) -> None:
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def _order(self, first: Any, last: Any, rises: bool, counts: bool) -> None:
        if self.last is not None:
            rises, counts = rises and first > self.last, counts and first == self.last + 1
        self.rises, self.counts = self.rises and rises, self.counts and counts
        self.first = first if self.first is None else self.first
        self.last = last

    def _lists(self, values: Any) -> None:
        import pyarrow.compute as pc

        lengths = pc.list_value_length(values)
        if not self.lengths and len(there := lengths.drop_null()):
            self.lengths = [(self.rows + pc.index(pc.is_valid(lengths), True).as_py(), there[0].as_py())]
        if self.lengths and (at := pc.index(pc.not_equal(lengths, self.lengths[0][1]), True).as_py()) >= 0:
            self.lengths.append((self.rows + at, lengths[at].as_py()))

    def _text(self, values: Any) -> None:
        import pyarrow.compute as pc

        self.longest = max(self.longest, pc.max(pc.utf8_length(values)).as_py())
        if not self.distinct.more:
            self.distinct.update(pc.utf8_slice_codeunits(values, 0, KEPT) if self.longest > KEPT else values)

    def merge(self, later: Summary) -> None:
        """Take in the summary of later rows."""
        for row, length in later.lengths:
            if not self.lengths or (len(self.lengths) < 2 and length != self.lengths[0][1]):
                self.lengths.append((self.rows + row, length))
        self.rows += later.rows
        self.missing += later.missing
        self.longest = max(self.longest, later.longest)
        self.exact = self.exact and later.exact
        if later.low is not None:
            self._ends(later.low, later.high)
        if later.last is not None:
            self._order(later.first, later.last, later.rises, later.counts)
        self.distinct.merge(later.distinct)


def is_plain(summary: Any, values: Any) -> bool:
    """Whether nothing but the ends of float64 numbers, none of them missing, is asked for."""
    if not isinstance(summary, Summary) or summary.compared or not summary.numeric or values.null_count:
        return False
    return len(values) > 0 and numpy_dtype(values.type) == np.float64 == plain_dtype(values.type)


def update_together(summaries: list[Summary], runs: list[NDArray[np.float64]]) -> None:
    """``update`` of many columns with equally many float64 numbers each."""
    block = np.concatenate(runs).reshape(len(runs), -1)
    gone = np.isnan(block).sum(axis=1).tolist()
    low, high = np.fmin.reduce(block, axis=1).tolist(), np.fmax.reduce(block, axis=1).tolist()
    rows = block.shape[1]
    for summary, missing, least, most in zip(summaries, gone, low, high, strict=True):
        summary.rows += rows
        summary.missing += missing
        if missing < rows:
            summary._ends(least, most)


class MatrixSummary:
    """Least, greatest and missing numbers of the columns of a plain array."""

    def __init__(self, d: int) -> None:
        self.rows = 0
        self.low, self.high = np.full(d, np.inf), np.full(d, -np.inf)
        self.missing = np.zeros(d, dtype=np.int64)

    def update(self, block: NDArray[Any]) -> None:
        """Take in the next rows."""
        if len(block) == 0:
            return
        self.rows += len(block)
        if block.dtype.kind == "f":
            self.missing += np.isnan(block).sum(axis=0)
        self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
        self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))

    def merge(self, later: MatrixSummary) -> None:
        """Take in the summary of later rows."""
        self.rows += later.rows
        self.missing += later.missing
        self.low, self.high = np.fmin(self.low, later.low), np.fmax(self.high, later.high)


def _joined(a: Any, b: Any) -> Any:
    import pyarrow as pa

    return pa.chunked_array([a, b.cast(a.type)])
