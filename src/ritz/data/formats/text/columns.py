"""What the columns of a text file hold, found piece by piece and the same for any cut into pieces.

    type(column) = ⋁ over pieces of what pyarrow finds      nothing < integer < float < text, date < time < text, …

A column is whatever holds for all its values: 3.5 far down makes an integer column float, one word makes it text. Text
is looked at again as a person would (``numbers.py``, ``grouping.py``, ``dates.py``): a reading is kept only while every
value fits it. A column that is text although nearly all of it reads as numbers is looked at once more (``strays.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ritz.data.formats.text.dates import FORMATS, DateForm
from ritz.data.formats.text.dialect import Dialect, TextOptions
from ritz.data.formats.text.grouping import Groups
from ritz.data.formats.text.numbers import CODE, SPOKEN, WITH_UNIT_TEXT, Reading, affix_of, clean, forms
from ritz.data.words import cut

__all__ = ["ColumnForm", "ColumnScan", "Strays", "is_text", "widened"]

MOSTLY_NUMBERS = 0.8  # share from which words in a column are strays among numbers
HEAD = 100  # values that are tried before all are


@dataclass(frozen=True)
class Strays:
    """Values that are no numbers in a column of numbers: how many, and the first, each with its row."""

    count: int
    first: tuple[tuple[str, int], ...]
    reading: Reading  # of all others


@dataclass(frozen=True)
class ColumnForm:
    """How one column is parsed, and what becomes of its text."""

    name: str
    type: Any  # what pyarrow parses it to
    form: Reading | DateForm | None = None
    code: str = ""  # a whole number that is kept as text
    strays: Strays | None = None  # words among numbers
    mixed: tuple[str, str] | None = None  # two numbers that are written in different ways

    def finish(self, values: Any, marks: tuple[str, ...]) -> Any:
        """Turn what was parsed into what the column holds."""
        if not is_text(self.type):
            return values
        text = clean(values, marks)
        if isinstance(self.form, Reading):
            return self.form.numbers(text if self.strays is None else self.form.fitting(text))
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
    others: int = 0
    strays: Strays | None = None
    mixed: tuple[str, str] | None = None
    code: str = ""
    begun: bool = False
    spaced: bool = False
    bracketed: bool = False
    trailing: bool = False
    affix: str = ""
    marks: set[str] = field(default_factory=set)  # missing marks met between spaces
    readings: list[Reading] = field(default_factory=list)
    dates: list[DateForm] = field(default_factory=list)

    def __post_init__(self) -> None:
        said = self.options.decimal is not None or self.options.thousands is not None
        like = self.options.readings.get(self.name)
        self.groups = Groups(self.dialect.decimal, self.dialect.sure, self.dialect.delimiter, like, open=not said)

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
            self.affix = affix_of(present[0].as_py())
            self.readings = self.candidates(self.affix)
            self.dates = list(FORMATS)
        self._codes(present)
        if not counted:
            self._count(text, len(present))
            self.groups.text(present, self.affix)
        self.readings = [r for r in self.readings if _fits(r, present)]
        if self.readings:
            self.trailing = self.trailing or bool(pc.any(pc.match_substring_regex(present, r"\d[^\d]*[\-−]")).as_py())
        self.dates = [d for d in self.dates if d.fits(present.slice(0, HEAD)) and d.fits(present)]

    def _codes(self, present: Any) -> None:
        if not self.code:
            self.code = first_code(present)
        if self.code:
            self.readings = []

    def candidates(self, affix: str) -> list[Reading]:
        """Readings to try in turn; that of another file, which is to be followed, comes first."""
        said = self.options.decimal is not None or self.options.thousands is not None
        like = None if said else self.options.readings.get(self.name)
        first = [] if like is None else [like, replace(like, affix=affix)]
        fixed = self.options.decimal is not None
        return list(dict.fromkeys([*first, *forms(self.dialect.decimal, self.options.thousands, fixed, affix)]))

    def _count(self, text: Any, present: int) -> None:
        import pyarrow.compute as pc

        numbers = pc.sum(pc.match_substring_regex(text, f"^(?:{WITH_UNIT_TEXT})$")).as_py() or 0
        self.numbers += numbers
        self.others += present - numbers

    @property
    def doubtful(self) -> bool:
        """Whether the column is text although nearly all of it reads as numbers."""
        if not is_text(self.type) or self.code or self.readings or self.dates:
            return False
        return self.numbers >= max(2, MOSTLY_NUMBERS * (self.numbers + self.others))

    def form(self) -> ColumnForm:
        """Decide what the column is."""
        import pyarrow as pa

        kind = self.type
        grouped = self.groups.reading
        if grouped is not None and (not is_text(kind) or (self.readings and not self.readings[0].thousands)):
            return ColumnForm(self.name, pa.string(), grouped)
        if not is_text(kind):
            return ColumnForm(self.name, kind)
        if self.code:
            return ColumnForm(self.name, kind, code=self.code)
        if self.readings:
            return ColumnForm(self.name, kind, self.readings[0])
        if self.dates:
            return ColumnForm(self.name, kind, self.dates[0])
        if self.strays is not None and self.options.coerce:
            return ColumnForm(self.name, kind, self.strays.reading, strays=self.strays)
        return ColumnForm(self.name, kind, strays=self.strays, mixed=self.mixed)

    def phrases(self, form: ColumnForm) -> list[str]:
        """Say what was decided about the text of this column, one phrase each."""
        out = []
        if isinstance(form.form, Reading):
            if form.form == self.groups.reading:
                mark = self.dialect.decimal
                out = [f"{SPOKEN[mark]} between thousands taken out (decimal={mark!r} takes them for decimal marks)"]
                out += replace(form.form, thousands="", decimal=mark).words(mark)
            else:
                out = form.form.words(self.dialect.decimal)
            out += ["numbers in parentheses are negative"] * self.bracketed
            out += ["a minus behind a number is its sign"] * self.trailing
            out += [f"values that are no numbers made missing, as asked ({form.strays.count})"] if form.strays else []
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
    return kind.id in _ids()[0]


def is_number(kind: Any) -> bool:
    """Whether a type is that of integers or floats."""
    return kind.id in _ids()[1]


@lru_cache(1)
def _ids() -> tuple[frozenset[int], frozenset[int]]:
    """Numbers of the Arrow types of texts, and of integers and floats: it is asked for every column of every piece."""
    import pyarrow as pa

    whole = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    real = (pa.float16(), pa.float32(), pa.float64())
    texts = (pa.string(), pa.large_string())
    return frozenset(kind.id for kind in texts), frozenset(kind.id for kind in (*whole, *real))


def _is_null(kind: Any) -> bool:
    import pyarrow.types as pt

    return bool(pt.is_null(kind))
