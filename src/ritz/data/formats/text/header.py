"""Which line of a text file names the columns, and what stands before it.

Lines before the header are those that begin with ``#``, those cut into another number of fields, and titles: one
field filled, the others empty; and lines without a number in columns that hold numbers further down, the last of which
names the columns. Where the line below the names holds units, it is left out. A first line that holds numbers is data,
unless it counts the columns (0 … d−1, 1 … d) or gives years and the lines below do not. A header one field short names
all columns but the first (R's ``write.table``), or leaves the empty fields behind a delimiter at the end of each line
without a name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ritz.data.formats.text.numbers import UNITS, affix_of, count_loose, is_loose
from ritz.data.words import cut

__all__ = ["beginning", "fit_names", "is_header", "unique_names", "units_below"]

WHOLE = re.compile(r"\d{1,9}")
FIRST_YEAR, LAST_YEAR = 1900, 2100
#: Lines without numbers that may stand above those with numbers, and the share of numbers that makes a column of them.
MOST_TITLES, MOSTLY = 12, 0.8
UNIT = re.compile(rf"[(\[]?\s*(?:{UNITS}|[%€$£#]|[A-Za-zµμ°²³%/·^\d.*-]{{1,8}}|[-–—])\s*[)\]]?")
BRACKETED = re.compile(r"[(\[].*[)\]]|[-–—]?")


def beginning(
    records: list[tuple[int, list[str]]], width: int, look: bool = True
) -> tuple[int, list[str], tuple[str, ...]]:
    """Position of the first record of the table, its fields, and a note on the records before it.

    ``look`` says whether the names may stand below other lines of as many fields.
    """
    start, hashed = 0, False
    while start < len(records) - 1:
        fields = records[start][1]
        below = next((later for _, later in records[start + 1 :] if any(later)), [])
        if fields[0].lstrip().startswith("#"):
            # The names themselves stand behind the mark where numbers follow at once.
            hashed = len(fields) == width > 1 and any(map(_is_number, below)) and not below[0].startswith("#")
            if hashed:
                break
        elif any(fields) and not _is_title(fields, below, width):
            break
        start += 1
    if look and not hashed:
        start = _last_names(records, start, width)
    names = [field.strip() for field in records[start][1]]
    if hashed:
        names[0] = names[0].lstrip("# ")
    if start == 0:
        return start, names, ()
    first = cut(" ".join(field for field in records[0][1] if field).strip())
    lines = "line" if start == 1 else "lines"
    return start, names, (f"{start} {lines} before the header left out, beginning with {first!r}",)


def _last_names(records: list[tuple[int, list[str]]], start: int, width: int) -> int:
    """The last of some lines without numbers that has a name for every column; ``start`` where there is one such."""
    above = _without_numbers(records, start, width)
    for at in range(above, start, -1):
        names = [field.strip() for field in records[at][1]]
        named = len(names) == width and all(names) and len(set(names)) == width and not any(map(_is_number, names))
        if named and not units_below(records, at - 1, width):
            return at
    return start


def _without_numbers(records: list[tuple[int, list[str]]], start: int, width: int) -> int:
    """The last line from ``start`` on that has words where the columns below hold numbers."""
    if start + 1 >= len(records) or sum(_is_word(field) for field in records[start + 1][1]) < 2:
        return start  # the next line ends the search, whatever the columns hold
    body = [fields for _, fields in records[start + 1 :] if len(fields) == width]
    low = body[min(MOST_TITLES, len(body) // 2) :]
    numeric = []
    for j in range(width):
        filled = [fields[j] for fields in low if fields[j].strip()]
        if filled and count_loose(filled) >= MOSTLY * len(filled):
            numeric.append(j)
    at = start
    while len(numeric) > 1 and at + 1 < min(len(records), start + MOST_TITLES):
        fields = records[at + 1][1]
        cells = [fields[j].strip() for j in numeric] if len(fields) == width else []
        words = [cell for cell in cells if cell and not _is_number(cell)]
        if len(words) < 2 or 2 * len(words) <= sum(map(bool, cells)):
            break
        at += 1
    while at > start and any(map(_is_number, (field.strip() for field in records[at][1]))):
        at -= 1
    return at


def units_below(records: list[tuple[int, list[str]]], start: int, width: int) -> bool:
    """Whether the line below the names holds units: cm, [kg], (%)."""
    if _without_numbers(records, start, width) <= start:
        return False
    cells = [field.strip() for field in records[start + 1][1]]
    filled = [cell for cell in cells if cell]
    known = [cell for cell in filled if re.fullmatch(UNITS, cell.strip("()[] ")) or BRACKETED.fullmatch(cell)]
    return all(map(UNIT.fullmatch, filled)) and 2 * len(known) >= len(filled)


def _is_number(field: str) -> bool:
    return is_loose(field.strip())


def _is_word(field: str) -> bool:
    text = field.strip()
    return text != "" and not is_loose(text)


def _is_title(fields: list[str], below: list[str], width: int) -> bool:
    filled = [field for field in fields if field.strip()]
    if len(fields) == width:
        lonely = width > 2 and len(filled) == 1 and bool(fields[0].strip()) and not _is_number(fields[0])
        return lonely and sum(bool(field.strip()) for field in below) > 1
    if len(fields) == width - 1 and len(filled) > 1:  # a header that is one short, unless a full one follows
        return len(below) == width > 2 and not any(map(_is_number, below))
    return len(fields) < width


def fit_names(names: list[str], body: list[list[str]], width: int) -> tuple[list[str], bool, tuple[str, ...]]:
    """Bring the names to the width of the rows: R's row names, or delimiters at the ends of the lines."""
    empty_end = all(not fields[-1].strip() for fields in body if len(fields) == width)
    if width > 1 and empty_end and len(names) in (width - 1, width) and not "".join(names[width - 1 :]):
        padded = [*names[: width - 1], ""]
        rows = "line" if len(names) < width else "line, the header too,"
        return padded, True, (f"every {rows} ends in a delimiter with nothing behind it; no column is made of it",)
    if len(names) == width - 1 and len(body) > 1:
        note = "the header is one field short, so it names all columns but the first, which holds the names of the rows"
        return ["", *names], False, (note,)
    return names, False, ()


def is_header(records: list[list[str]]) -> bool:
    """Whether the first record names the columns: it holds no numbers, or numbers that count or give years."""
    first = [field.strip() for field in records[0]]
    numbers = [j for j, field in enumerate(first) if _is_number(field) and _goes_on(field, j, records[1:])]
    if not numbers:
        return True
    if len(numbers) == len(first):
        return _counts(records)
    cells = [[fields[j] for j in numbers if j < len(fields)] for fields in records]
    integers = _whole(cells[0])
    if integers is None or cells[0] in cells[1:]:
        return False
    return _counts(cells) or (len(integers) == 1 and FIRST_YEAR <= integers[0] <= LAST_YEAR)


def _goes_on(field: str, j: int, body: list[list[str]]) -> bool:
    """Whether the column below a number holds numbers of its kind; 5% above 0.25 is a name."""
    below = next((fields[j].strip() for fields in body if j < len(fields) and fields[j].strip()), field)
    return _is_number(below) and affix_of(below) == affix_of(field)


def _counts(records: list[list[str]]) -> bool:
    """Whether the first line numbers the columns, or gives them years, and the lines below do not go on so."""
    first, *body = (_whole(fields) for fields in records)
    if first is None or len(first) < 2 or not body or first in body:  # names do not come again below
        return False
    if first in (list(range(len(first))), list(range(1, len(first) + 1))):
        return not all(row is not None and _steps(row) == {1} for row in body)
    return _years(first) and not all(row is not None and _years(row) for row in body)


def _whole(fields: list[str]) -> list[int] | None:
    cells = [field.strip() for field in fields]
    return [int(cell) for cell in cells] if all(WHOLE.fullmatch(cell) for cell in cells) else None


def _steps(row: list[int]) -> set[int]:
    return {b - a for a, b in itertools.pairwise(row)}


def _years(row: list[int]) -> bool:
    return len(row) > 1 and row[0] >= FIRST_YEAR and row[-1] <= LAST_YEAR and min(_steps(row)) > 0


def unique_names(names: Sequence[str]) -> list[str]:
    """Give nameless columns a position and repeated names a number."""
    taken: set[str] = set()
    out = []
    for j, name in enumerate(names):
        base = name or ("row" if j == 0 else f"x{j}")
        unique, k = base, 2
        while unique in taken:
            unique, k = f"{base}_{k}", k + 1
        taken.add(unique)
        out.append(unique)
    return out
