"""What the columns of a text file hold, found piece by piece and the same for any cut into pieces.

    type(column) = ⋁ over pieces of what pyarrow finds      nothing < integer < float < text, date < time < text, …

A column is whatever holds for all its values: 3.5 far down makes an integer column float, one word makes it text. Text
is looked at again as a person would (``numbers.py``, ``dates.py``): a reading is kept only while every value fits
it. A column of text among numbers remembers its first word and the row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ritz.data.formats.text.dates import FORMATS, DateForm
from ritz.data.formats.text.dialect import Dialect, TextOptions
from ritz.data.formats.text.numbers import CODE, LOOSE_TEXT, Reading, affix_of, clean, forms
from ritz.data.words import cut

__all__ = ["ColumnForm", "ColumnScan", "is_text", "widened"]

MOSTLY_NUMBERS = 0.8  # share from which words in a column are strays among numbers
HEAD = 100  # values that are tried before all are


@dataclass(frozen=True)
class ColumnForm:
    """How one column is parsed, and what becomes of its text."""

    name: str
    type: Any  # what pyarrow parses it to
    form: Reading | DateForm | None = None
    code: str = ""  # a whole number that is kept as text
    stray: tuple[str, int] | None = None  # a word among numbers, and its row

    def finish(self, values: Any, marks: tuple[str, ...]) -> Any:
        """Turn what was parsed into what the column holds."""
        if not is_text(self.type):
            return values
        text = clean(values, marks)
        if isinstance(self.form, Reading):
            return self.form.numbers(text)
        return text if self.form is None else self.form.dates(text)

    @property
    def final_type(self) -> Any:
        """The type of what it gives."""
        import pyarrow as pa

        if self.form is None:
            return self.type
        return pa.float64() if isinstance(self.form, Reading) else pa.timestamp("s")


@dataclass
class ColumnScan:
    """One column, piece by piece."""

    name: str
    dialect: Dialect
    options: TextOptions
    types: list[Any] = field(default_factory=list)  # of each piece
    numbers: int = 0
    strays: int = 0
    stray: tuple[str, int] | None = None
    code: str = ""
    begun: bool = False
    spaced: bool = False
    bracketed: bool = False
    marks: set[str] = field(default_factory=set)  # missing marks met between spaces
    readings: list[Reading] = field(default_factory=list)
    dates: list[DateForm] = field(default_factory=list)

    @property
    def type(self) -> Any:
        """The type that all pieces have in common."""
        import pyarrow as pa

        common = pa.null()
        for kind in self.types:
            common = widened(common, kind)
        return common

    def update(self, values: Any, row: int) -> None:
        """Take in the next piece as it was parsed; its first row is ``row``."""
        self.types.append(values.type)
        if is_text(values.type):
            self.look(values, row)
        elif is_number(values.type):
            self.numbers += len(values) - values.null_count

    def again(self) -> list[int]:
        """Pieces that must be read again as text, because a reading of the whole column is still possible."""
        if not is_text(self.type) or (self.begun and not self.readings and not self.dates):
            return []
        return [k for k, kind in enumerate(self.types) if not is_text(kind) and not _is_null(kind)]

    def look(self, values: Any, row: int, counted: bool = False) -> None:
        """Look at values as text: which readings fit them all, and which word is no number."""
        import pyarrow.compute as pc

        text = clean(values, self.options.marks)
        if text.null_count > values.null_count:
            gone = pc.and_(pc.is_null(text), pc.is_valid(values))
            self.marks |= set(pc.unique(pc.utf8_trim_whitespace(values.filter(gone))).to_pylist()) - {""}
        present = text.drop_null()
        if len(present) == 0:
            return
        self.spaced = self.spaced or bool(pc.any(pc.not_equal(text, values)).as_py())
        self.bracketed = self.bracketed or bool(pc.any(pc.starts_with(present, "(")).as_py())
        if not self.begun:
            self.begun = True
            fixed = self.options.decimal is not None
            affix = affix_of(present[0].as_py())
            self.readings = forms(self.dialect.decimal, self.options.thousands, fixed, affix)
            self.dates = list(FORMATS)
        self._codes(present)
        if not counted:
            self._count(text, len(present), row)
        self.readings = [r for r in self.readings if _fits(r, present)]
        self.dates = [d for d in self.dates if d.fits(present.slice(0, HEAD)) and d.fits(present)]

    def _codes(self, present: Any) -> None:
        if not self.code:
            self.code = first_code(present)
        if self.code:
            self.readings = []

    def _count(self, text: Any, present: int, row: int) -> None:
        import pyarrow.compute as pc

        match = pc.match_substring_regex(text, f"^(?:{LOOSE_TEXT})$")
        numbers = pc.sum(match).as_py() or 0
        self.numbers += numbers
        self.strays += present - numbers
        if numbers < present and self.stray is None:
            at = pc.index(match, False).as_py()
            self.stray = text[at].as_py(), row + at

    def form(self) -> ColumnForm:
        """Decide what the column is."""
        kind = self.type
        if not is_text(kind):
            return ColumnForm(self.name, kind)
        if self.code:
            return ColumnForm(self.name, kind, code=self.code)
        if self.readings:
            return ColumnForm(self.name, kind, self.readings[0])
        if self.dates:
            return ColumnForm(self.name, kind, self.dates[0])
        mostly = self.numbers >= max(2, MOSTLY_NUMBERS * (self.numbers + self.strays))
        return ColumnForm(self.name, kind, stray=self.stray if mostly else None)

    def phrases(self, form: ColumnForm) -> list[str]:
        """Say what was decided about the text of this column, one phrase each."""
        out = []
        if isinstance(form.form, Reading):
            out = form.form.words(self.dialect.decimal)
            out += ["numbers in parentheses are negative"] * self.bracketed
        elif isinstance(form.form, DateForm):
            out = [f"read as dates: {form.form.words}"]
            if len({d.words for d in self.dates}) > 1:
                out[0] += " (month, day, year would fit as well)"
        elif form.code:
            out = [f"codes such as {cut(form.code)!r} kept as text"]
        if self.spaced:
            out.append("spaces around values taken off")
        return out


def _fits(reading: Reading, present: Any) -> bool:
    import pyarrow.compute as pc

    pattern = reading.pattern
    parts = (present.slice(0, HEAD), present)
    return all(pc.all(pc.match_substring_regex(piece, pattern)).as_py() for piece in parts)


def first_code(present: Any) -> str:
    """The first whole number that begins with a zero or is too long for a number; nothing if there is none."""
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(present)
    at = pc.index(pc.match_substring_regex(text, CODE), True).as_py()
    return "" if at < 0 else str(text[at].as_py())


def widened(a: Any, b: Any) -> Any:
    """The narrowest type that takes the values of both, as they are written."""
    import pyarrow as pa

    if a == b or _is_null(b):
        return a
    if _is_null(a):
        return b
    if is_number(a) and is_number(b):
        return pa.float64()
    order = [pa.date32(), pa.timestamp("s"), pa.timestamp("ns")]
    if a in order and b in order:
        return order[max(order.index(a), order.index(b))]
    return pa.string()


def is_text(kind: Any) -> bool:
    """Whether a type is that of texts."""
    import pyarrow.types as pt

    return bool(pt.is_string(kind) or pt.is_large_string(kind))


def is_number(kind: Any) -> bool:
    """Whether a type is that of integers or floats."""
    import pyarrow.types as pt

    return bool(pt.is_integer(kind) or pt.is_floating(kind))


def _is_null(kind: Any) -> bool:
    import pyarrow.types as pt

    return bool(pt.is_null(kind))
