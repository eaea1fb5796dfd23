"""Text that a person reads as numbers: ``1,234.5``, ``1.234,5``, ``1 234``, ``5%``, ``$3``, ``(2.50)``, ``3 kg``.

    reading = (decimal mark, thousands separator, affix)        value = the digits, once separator and affix are off

A column has a reading only if every value in it fits: forms are tried in a fixed order, and the first that fits
all is taken. Separators stand between groups of three digits, commas also as in India (12,34,567); whether 1.601 has
three decimals is decided in ``grouping.py``. ``5%`` is 5, in per cent. An affix (a sign or code of money, a per cent
sign, a unit) must be the same in all values, because 5 $ and 5 € are not the same number. A minus may stand behind the
number. Whole numbers that begin with a zero, or have 20 digits and more, are codes and stay text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

__all__ = [
    "CODE", "LOOSE", "OTHER", "SPOKEN", "Reading", "affix_of", "clean", "common_affix", "count_loose", "decimal_mark",
    "forms", "is_loose", "is_money", "shaped",
]  # fmt: skip

MONEY = (
    r"(?:(?:US|CA|C|AU|A|NZ|HK|S|R|MX)?\$|[€£¥₹₽₩₺₪฿₫₴₦₱]|USD|EUR|GBP|CHF|Fr\.|JPY|CNY|RMB|INR|Rs\.?|CAD|AUD|NZD|"
    r"SEK|NOK|DKK|kr\.?|PLN|zł|CZK|Kč|HUF|Ft|RUB|TRY|BRL|MXN|ZAR|KRW|SGD|HKD)"
)
#: units that may follow a number at once; any other word must be set apart by a space
UNITS = (
    r"(?:%|‰|°[CF]?|[kcmµμn]?m[²³23]?|[kmµμ]?g|[tlL]|[mcd][lL]|[hk]?Pa|bar|[mµμn]?s|min|hrs?|[kMG]?Hz|[km]?[VAW]|"
    r"[kMG]Wh?|[kMGT]i?B|ha|km/h|mph|m/s|lbs?|oz|ft|in|mi|dB|ppm|ppb|kcal|kJ|mol|[mµμ]M|mmHg)"
)
SPACES = " \u00a0\u202f\u2009"  # plain, no-break, narrow no-break and thin space
APOSTROPHES = "'’"
DIGITS = rf"(?:\d{{1,3}}(?:[,.{SPACES}{APOSTROPHES}]\d{{3}})+|\d{{1,2}}(?:,\d{{2}})+,\d{{3}}|\d+)"
NUMBER = rf"(?:{DIGITS}(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
LOOSE_TEXT = rf"\(?[+\-−]?(?:{MONEY}\s?)?[+\-−]?{NUMBER}\s?(?:%|{MONEY})?\)?"
WORD = r"[^\s\d.,'%()+\-−][^\s\d.,()]{0,11}"
UNIT_TEXT = rf"[+\-−]?{NUMBER}(?:\s?{UNITS}|\s{WORD})"
#: anything that looks like one number, and the same with a unit
WITH_UNIT_TEXT = rf"{LOOSE_TEXT}\s?[\-−]?|{UNIT_TEXT}"
WITH_UNIT = re.compile(rf"[+\-−]?{NUMBER}\s?({UNITS})|[+\-−]?{NUMBER}\s({WORD})")
#: anything that looks like one number
LOOSE = re.compile(LOOSE_TEXT)
#: the most usual of them, told in a fifth of the time
SHORT = 32  # characters up to which the answer is remembered: a sample is asked about several times
USUAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
#: whole numbers that are names of things
CODE = r"^[+-]?(?:0\d+|\d{20,})$"
AFFIX = re.compile(rf"%|{MONEY}")
SEPARATORS = {"": "", ",": ",", ".": r"\.", " ": f"[{SPACES}]", "'": f"[{APOSTROPHES}]"}
OTHER = {",": ".", ".": ","}
EITHER = re.compile(r"\D*[1-9]\d{0,2}[.,]\d{3}\D*")  # 1,234: thousands or decimals
POINTED = re.compile(r"-?\d+\.(?:\d{1,2}|\d{4,})")  # 0.25: one number, whose point is no separator of thousands
SPOKEN = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True)
class Reading:
    """How the values of one column are written."""

    decimal: str = "."
    thousands: str = ""
    affix: str = ""

    @property
    def pattern(self) -> str:
        """Regular expression that a whole value fits, spaces around it taken off."""
        point = re.escape(self.decimal)
        separator = SEPARATORS.get(self.thousands, re.escape(self.thousands))
        if separator:
            lakhs = rf"|[1-9]\d?(?:{separator}\d{{2}})+{separator}\d{{3}}" if separator == "," else ""
            integer = rf"(?:[1-9]\d{{0,2}}(?:{separator}\d{{3}})+{lakhs}|0|[1-9]\d*)"
            number = rf"(?:{integer}(?:{point}\d*)?|{point}\d+)"
        else:
            number = rf"(?:\d+{point}\d*|{point}\d+|0|[1-9]\d*)"
        number += r"(?:[eE][+-]?\d+)?"
        return shaped(number, self.affix)

    def numbers(self, values: Any) -> Any:
        """Turn cleaned texts that fit the pattern into float64."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = values if not self.affix else pc.replace_substring(values, self.affix, "")
        text = pc.replace_substring_regex(text, r"^\((.*)\)$", r"-\1")
        text = pc.replace_substring(text, "−", "-")
        text = pc.replace_substring_regex(text, r"^(.*\d[.,]?)\s*-\s*$", r"-\1")
        text = pc.replace_substring_regex(text, rf"[^0-9eE\-{re.escape(self.decimal)}]", "")
        if self.decimal != ".":
            text = pc.replace_substring(text, self.decimal, ".")
        return text.cast(pa.float64())

    def fitting(self, values: Any) -> Any:
        """Cleaned texts with those missing that do not fit the pattern."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pc.if_else(pc.match_substring_regex(values, self.pattern), values, pa.scalar(None, values.type))

    def words(self, usual: str) -> list[str]:
        """Say what was done, one phrase each; ``usual`` is the decimal mark of the file."""
        out = []
        if self.thousands:
            mark = SPOKEN.get(self.thousands, repr(self.thousands))
            out.append(f"{mark} between thousands taken out")
        if self.decimal != usual:
            out.append(f"the decimal mark is a {'comma' if self.decimal == ',' else 'point'}")
        if self.affix == "%":
            out.append("per cent signs taken off, so that 5% is 5")
        elif self.affix:
            out.append(f"{self.affix} taken off")
        return out


def shaped(number: str, affix: str) -> str:
    """Regular expression for a whole value: a number with its sign, its affix, or in parentheses."""
    if not affix:
        return rf"^(?:[+\-−]?{number}|\({number}\)|{number}\s?[\-−])$"
    sign = re.escape(affix)
    affixed = rf"(?:{sign}\s?[+\-−]?{number}|{number}\s?{sign}|{sign}\s?{number}[\-−]|{number}[\-−]\s?{sign})"
    return rf"^(?:[+\-−]?{affixed}|\({affixed}\))$"


def forms(decimal: str, thousands: str | None, fixed: bool, affix: str) -> list[Reading]:
    """Readings to try in turn; ``thousands`` is the user's word, ``fixed`` that the decimal mark is."""
    other = OTHER[decimal]
    if thousands is not None:
        return [Reading(decimal, "", affix), Reading(decimal, thousands, affix)]
    out = [Reading(decimal, mark, affix) for mark in ("", other, " ", "'")]
    if not fixed:
        out += [Reading(other, mark, affix) for mark in ("", decimal, " ", "'")]
    return out


def affix_of(text: str) -> str:
    """The sign of money, the per cent sign or the unit in a value, or nothing."""
    if LOOSE.fullmatch(text):
        affix = AFFIX.search(text)
        return affix[0] if affix else ""
    unit = WITH_UNIT.fullmatch(text)
    return "" if unit is None else unit[1] or unit[2]


def common_affix(texts: Iterable[str]) -> str:
    """The affix that most of the values have."""
    counts = Counter(affix_of(text) for text in texts if LOOSE.fullmatch(text) or WITH_UNIT.fullmatch(text))
    return max(counts, key=lambda affix: counts[affix]) if counts else ""


def is_loose(text: str) -> bool:
    """Whether a text looks like one number."""
    return _is_loose(text) if len(text) <= SHORT else LOOSE.fullmatch(text) is not None


@lru_cache(1 << 13)
def _is_loose(text: str) -> bool:
    return USUAL.fullmatch(text) is not None or LOOSE.fullmatch(text) is not None


def count_loose(cells: Sequence[str]) -> int:
    """How many texts look like one number, spaces around them taken off; the usual ones are told by one look."""
    rest = [cell for cell in cells if USUAL.fullmatch(cell) is None]
    return len(cells) - len(rest) + sum(is_loose(cell.strip()) for cell in rest)


def is_money(affix: str) -> bool:
    """Whether an affix is a sign or a code of money."""
    return re.fullmatch(MONEY, affix) is not None


def clean(values: Any, marks: Iterable[str]) -> Any:
    """Take spaces off the ends of texts, and make missing marks missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(values)
    gone = pc.is_in(text, value_set=pa.array(list(marks), text.type))
    return pc.if_else(gone, pa.scalar(None, text.type), text)


def decimal_mark(cells: Iterable[str], delimiter: str) -> tuple[str, bool]:
    """Point or comma, by the values that can be read in one way only, and whether there were any.

    Where all commas could separate thousands (``1,234``), the comma is the decimal mark unless it cuts the fields.
    """
    every = list(cells)
    rest = [cell for cell in every if POINTED.fullmatch(cell) is None]
    sure: Counter[str] = Counter({".": len(every) - len(rest)})
    unsure: Counter[str] = Counter()
    for cell in rest:
        text = cell.strip()
        comma, point = text.rfind(","), text.rfind(".")
        mark = "," if comma >= point else "."
        if comma == point or not is_loose(text):  # neither is there
            continue
        if text.count(mark) > 1:  # a mark that comes twice separates thousands
            sure[OTHER[mark]] += 1
        elif OTHER[mark] in text or not EITHER.fullmatch(text):
            sure[mark] += 1
        else:
            unsure[mark] += 1
    if sure[","] != sure["."]:
        return "," if sure[","] > sure["."] else ".", True
    return "," if delimiter != "," and unsure[","] > unsure["."] else ".", False
