"""Dates as people write them: 31/12/2021, 12/31/21, 31.12.2021, 2021/12/31, 31 Dec 2021, December 31, 2021.

A column has a form only if every value in it is a date in that form. Where both 3/4/2021 and 4/3/2021 would do, day
first is taken, and a note says so. ISO dates (2021-12-31, with a time or without) are read by pyarrow itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["FORMATS", "DateForm"]


@dataclass(frozen=True)
class DateForm:
    """One way to write a date, with or without a time of day."""

    format: str
    pattern: str
    words: str

    def dates(self, values: Any) -> Any:
        """Turn cleaned texts into timestamps; what is no date becomes missing."""
        import pyarrow.compute as pc

        return pc.strptime(values, format=self.format, unit="s", error_is_null=True)

    def fits(self, values: Any) -> bool:
        """Whether every text is a date in this form."""
        import pyarrow.compute as pc

        shaped = pc.all(pc.match_substring_regex(values, self.pattern)).as_py()
        return bool(shaped) and self.dates(values).null_count == 0


_TIMES = (("", ""), (" %H:%M", r" \d{1,2}:\d{2}"), (" %H:%M:%S", r" \d{1,2}:\d{2}:\d{2}"))
_DAYS = [
    (f"%{a}{mark}%{b}{mark}%{year}", rf"\d{{1,2}}{escaped}\d{{1,2}}{escaped}{digits}", words)
    for mark, escaped in (("/", "/"), (".", r"\."), ("-", "-"))
    for year, digits in (("Y", r"\d{4}"), ("y", r"\d{2}"))
    for a, b, words in (("d", "m", "day, month, year"), ("m", "d", "month, day, year"))
]
_DAYS += [
    ("%Y/%m/%d", r"\d{4}/\d{1,2}/\d{1,2}", "year, month, day"),
    ("%d %b %Y", r"\d{1,2} [A-Za-z]+ \d{4}", "day, month, year"),
    ("%d-%b-%Y", r"\d{1,2}-[A-Za-z]+-\d{4}", "day, month, year"),
    ("%d-%b-%y", r"\d{1,2}-[A-Za-z]+-\d{2}", "day, month, year"),
    ("%b %d, %Y", r"[A-Za-z]+ \d{1,2}, \d{4}", "month, day, year"),
]
FORMATS = [DateForm(day + time, f"^{shape}{hours}$", words) for time, hours in _TIMES for day, shape, words in _DAYS]
