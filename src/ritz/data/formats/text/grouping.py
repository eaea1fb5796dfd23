"""Digits in groups of three: thousands, or three decimals?

    532, 1.601, 12.480       every value with a point has three digits behind it, and those without are below 1000:
                             thousands where a group ends in 0, which numbers without fixed decimals would not show, or
                             where whole numbers are far larger than the others would be as decimals
    2.821, 3, 2.929          none of both: decimals, as programs write them that leave out zeros
    1.601 €, 2.010 €         money has two decimals or none: thousands
    1.601, 2.010             both are possible: decimals, unless the file says otherwise, and a warning
    0.601, 1.6, 12.4805      decimals

Where other values of the file show that the point is its decimal mark, thousands are warned of and decimals are not.
What the fit of a model found is taken over without a doubt (``like``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.data.formats.pack import numbers
from ritz.data.formats.text.numbers import OTHER, SPOKEN, Reading, is_money, shaped

__all__ = ["Groups"]

HEAD = 100  # numbers that are tried before all are
CLOSE = 1e-6  # 1000 v of a number of three decimals, read as float64, from a whole number
THOUSAND = 1000
FAR = 10  # times that whole numbers exceed the others, read as decimals, where these are thousands


@dataclass
class Groups:
    """What is known of the marks in one column; ``mark`` is the decimal mark of the file."""

    mark: str
    sure: bool  # other values of the file show that it is
    delimiter: str
    like: Reading | None = None  # how the column was written in another file
    open: bool = True  # every value so far could be whole
    grouped: int = 0
    small: int = 0
    large: int = 0
    zeros: int = 0  # groups that end in 0
    top_whole: int = 0  # the largest whole number, and what the largest other one is below as a decimal
    top_decimal: int = 0
    affix: str = ""
    example: str = ""

    def wants_text(self, values: Any) -> bool:
        """Take in numbers that pyarrow has read; True where their text must be looked at."""
        import pyarrow.types as pt

        if not self.open or pt.is_null(values.type):
            return False
        if pt.is_integer(values.type):
            for some in (values.slice(0, HEAD), values):
                if not self.large:  # one whole number of four digits and more decides
                    self._whole(some)
            return False
        if not pt.is_floating(values.type):
            self.open = False
            return False
        self.open = _may_group(values.slice(0, HEAD)) and _may_group(values)
        return self.open

    def _whole(self, values: Any) -> None:
        for chunk in values.chunks:
            run = numbers(chunk.drop_null() if chunk.null_count else chunk)
            if len(run):
                top = max(int(run.max()), -int(run.min()))
                far = top >= THOUSAND
                self.large, self.small = self.large + far, self.small + (not far)
                self.top_whole = max(self.top_whole, top)

    def text(self, values: Any, affix: str = "") -> None:
        """Take in texts without missing ones."""
        import pyarrow.compute as pc

        if not self.open or len(values) == 0:
            return
        self.affix = affix
        separator = re.escape(self.mark)
        grouped = pc.match_substring_regex(values, shaped(rf"[1-9]\d{{0,2}}(?:{separator}\d{{3}})+", affix))
        small = pc.match_substring_regex(values, shaped(r"(?:0|[1-9]\d{0,2})", affix))
        large = pc.match_substring_regex(values, shaped(r"[1-9]\d{3,}", affix))
        counts = [int(pc.sum(found).as_py() or 0) for found in (grouped, small, large)]
        self.open = sum(counts) == len(values)
        if counts[0] and not self.example:
            self.example = str(values[pc.index(grouped, True).as_py()].as_py())
        if self.open:
            self._sizes(values.filter(grouped), values.filter(small))
        self.grouped, self.small, self.large = (
            a + b for a, b in zip((self.grouped, self.small, self.large), counts, strict=True)
        )

    def _sizes(self, grouped: Any, small: Any) -> None:
        """Take in how large numbers are, and whether groups end in 0."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if len(small):
            whole = pc.cast(pc.replace_substring_regex(small, r"\D", ""), pa.int64())
            self.top_whole = max(self.top_whole, int(pc.max(whole).as_py()))
        if len(grouped):
            self.zeros += int(pc.sum(pc.match_substring_regex(grouped, r"0\D*$")).as_py() or 0)
            first = pc.replace_substring_regex(grouped, rf"^\D*(\d+){re.escape(self.mark)}.*$", r"\1")
            self.top_decimal = max(self.top_decimal, 1 + int(pc.max(pc.cast(first, pa.int64())).as_py()))

    @property
    def _told_apart(self) -> bool:
        """Whether whole numbers below 1000 stand beside groups that no program would write as decimals."""
        return bool(self.small) and (self.zeros > 0 or self.top_whole > FAR * self.top_decimal)

    @property
    def reading(self) -> Reading | None:
        """How the column is read where its marks separate thousands; None where they do not, or there are none."""
        if not self.open or not self.grouped:
            return None
        if self.like is not None:
            separates = self.like.thousands == self.mark
        else:
            separates = not self.large and (self._told_apart or is_money(self.affix))
        return Reading(OTHER[self.mark], self.mark, self.affix) if separates else None

    @property
    def doubt(self) -> str:
        """What may be wrong about the marks, and how to say so; nothing where the case is clear."""
        if not self.open or not self.grouped or self.like is not None or is_money(self.affix):
            return ""
        marks = SPOKEN[self.mark]
        if self.reading is None:
            if self.sure:
                return ""
            said = f"thousands={self.mark!r}" if self.mark == "." else "thousands=','"
            return f"{marks} are taken for decimal marks, as in {self.example!r}; {said} takes them for thousands"
        if self.delimiter != "," and not self.sure:
            return ""
        return (
            f"{marks} are taken for separators of thousands, as in {self.example!r} beside whole numbers below 1000; "
            f"decimal={self.mark!r} takes them for decimal marks"
        )


def _may_group(values: Any) -> bool:
    """Whether all numbers are whole, or have three decimals and one to three digits before them."""
    for chunk in values.chunks:
        v = np.abs(numbers(chunk.drop_null() if chunk.null_count else chunk))
        part = v != np.floor(v)
        if part.any():
            rest = v[part]
            thousandths = rest * THOUSAND
            if rest.min() < 1 or rest.max() >= THOUSAND or np.abs(thousandths - np.rint(thousandths)).max() > CLOSE:
                return False
    return True
