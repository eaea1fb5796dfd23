"""Summaries of the columns of a text file, made while their types are still being found.

pieces of integers and floats  →  one summary of floats         number and word  →  none: it is read again
"""

from __future__ import annotations

from typing import Any

from ritz.data.formats.text.columns import ColumnForm, is_number, is_text, widened
from ritz.data.formats.text.numbers import clean

__all__ = ["ColumnSum"]


class ColumnSum:
    """The summary of one column, as long as one can be made."""

    def __init__(self, name: str, marks: tuple[str, ...], *, first: bool) -> None:
        import pyarrow as pa

        from ritz.data.tables.summaries import Summary

        self.name, self.marks, self.first = name, marks, first
        self.type = pa.null()
        self.summary: Any = Summary(self.type)

    def update(self, values: Any, ends: tuple[float, float] | None = None) -> None:
        """Take in the next piece as it was parsed; ``ends`` are known of plain numbers."""
        if self.summary is None:
            return
        common = widened(self.type, values.type)
        if common != self.type and not self._widen(common):
            self.summary = None
            return
        text = is_text(values.type)
        if ends is not None and not text and not self.summary.compared:
            self.summary.known(len(values), *ends)
            return
        for chunk in values.chunks:
            self.summary.update(clean(chunk, self.marks) if text else chunk)

    def _widen(self, common: Any) -> bool:
        """Go on with a wider type, where what is known so far holds for it as well."""
        import pyarrow.types as pt

        from ritz.data.tables.kinds import may_identify
        from ritz.data.tables.summaries import Summary

        before = self.summary
        if not (pt.is_null(self.type) or (is_number(self.type) and is_number(common))):
            return False
        self.summary = Summary(common, compared=may_identify(self.name, common, self.first) and pt.is_null(self.type))
        self.summary.rows, self.summary.missing = before.rows, before.missing
        self.summary.low, self.summary.high = before.low, before.high
        self.type = common
        return True

    def holds(self, form: ColumnForm) -> bool:
        """Whether the summary is that of the column as it turned out."""
        return self.summary is not None and form.form is None and self.type == form.type
