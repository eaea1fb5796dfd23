"""What a reader may colour rows by: kinds with a name each, or amounts.

kinds      words, booleans, up to 8 whole numbers    {"name", "kinds": [names], "codes", "other"}
           in their order where they have one; of many kinds the ten largest, and one for all others
amounts    other numbers                             {"name", "values"}                     NaN: no value
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.tables.frames import is_missing
from ritz.data.tables.levels import in_order, ordered_levels
from ritz.report.html import KEPT, clip
from ritz.report.pack import codes, shade

__all__ = ["Colour", "colour_of", "column_of", "offered"]

#: Whole numbers with at most this many values are kinds, not amounts, as in ``ritz.plot``.
FEW = 8
#: Kinds beyond this many share one name: nobody can tell so many colours apart.
MOST_KINDS = 10
#: Kinds of a column that is offered without being asked for, at most.
OFFERED = 60


@dataclass(frozen=True)
class Colour:
    """A column to colour by: ``code`` and ``kinds``, or ``amount``."""

    name: str
    kinds: list[str]
    code: NDArray[np.intp]  # (m,) −1: no value
    amount: NDArray[np.float64] | None = None  # (m,) NaN: no value
    other: int | None = None  # which of the kinds holds all that are too small to be named

    def data(self) -> dict[str, Any]:
        """For the page."""
        named = {"name": clip(self.name, KEPT)}
        if self.amount is not None:
            return {**named, "values": shade(self.amount)}
        return {**named, "kinds": [clip(kind, KEPT) for kind in self.kinds], "codes": codes(self.code),
                "other": self.other}  # fmt: skip

    def between(self, scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """η² of every axis, (a,): the share of its variance that lies between the kinds."""
        if self.amount is not None or not 2 <= len(self.kinds) <= FEW:
            return None
        there = self.code >= 0
        F, code = scores[there], self.code[there]
        size = np.bincount(code, minlength=len(self.kinds)).astype(np.float64)
        if len(F) < 3 or (size < 2).any():
            return None
        F = F - F.mean(axis=0)
        sums = np.stack([np.bincount(code, weights=column, minlength=len(size)) for column in F.T], axis=1)
        total = np.square(F).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((np.square(sums) / size[:, None]).sum(axis=0) / total)


def colour_of(name: str, values: Any, *, asked: bool = False) -> Colour | None:
    """A column to colour by; None for one that says nothing: constant, or of too many kinds (unless asked for)."""
    array = np.asarray(values) if not isinstance(values, list) else column_of(values)
    if array.dtype.kind in "fiu":
        amount = array.astype(np.float64)
        levels = np.unique(amount[np.isfinite(amount)])
        integral = array.dtype.kind != "f" or bool((levels == np.round(levels)).all())
        if len(levels) < 2 and not asked:
            return None
        if integral and len(levels) <= FEW:
            code = np.where(np.isfinite(amount), np.searchsorted(levels, amount), -1)
            return Colour(name, [f"{value:g}" for value in levels.tolist()], code)
        return Colour(name, [], np.zeros(len(amount), np.intp), amount)
    words = [None if is_missing(value) or value != value else str(value) for value in array.tolist()]
    seen = in_order({word for word in words if word is not None}, ordered_levels(values))
    if (len(seen) < 2 or len(seen) > min(OFFERED, max(MOST_KINDS, len(words) // 4))) and not asked:
        return None
    place = {word: i for i, word in enumerate(seen)}
    code = np.array([-1 if word is None else place[word] for word in words], np.intp)
    if len(seen) <= MOST_KINDS:
        return Colour(name, seen, code)
    size = np.bincount(code[code >= 0], minlength=len(seen))
    kept = np.sort(np.argsort(-size, kind="stable")[:MOST_KINDS])
    fresh = np.full(len(seen) + 1, MOST_KINDS)
    fresh[kept], fresh[-1] = np.arange(MOST_KINDS), -1
    names = [*(seen[i] for i in kept), f"{len(seen) - MOST_KINDS} other" + ("s" if len(seen) > MOST_KINDS + 1 else "")]
    return Colour(name, names, fresh[code], other=MOST_KINDS)


def offered(columns: Iterable[tuple[str, Any]], most: int, place: Callable[[str], tuple[bool, bool]]) -> list[Colour]:
    """The first of some columns that a reader may colour by; those that took no part tell most, and come first."""
    kept: list[tuple[tuple[bool, bool], Colour]] = []
    for name, values in columns:  # one after the other: all together may be many times what is kept
        if len(kept) < most or place(name) < kept[-1][0]:
            one = colour_of(name, values)
            kept += [] if one is None else [(place(name), one)]
            kept = sorted(kept, key=lambda pair: pair[0])[:most]
    return [one for _, one in kept]


def column_of(values: list[Any]) -> NDArray[Any]:
    """A list as numbers where it holds nothing else, missing marks aside."""
    given = [value for value in values if not is_missing(value)]
    if given and all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in given):
        if len(given) == len(values) and all(isinstance(value, (int, np.integer)) for value in given):
            return (
                np.asarray(values, np.int64) if all(abs(int(v)) < 2**62 for v in given) else np.asarray(values, float)
            )
        return np.asarray([np.nan if is_missing(value) else float(value) for value in values])
    array = np.empty(len(values), object)
    array[:] = values
    return array
