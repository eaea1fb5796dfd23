"""What goes with each axis: correlations, η², and v-tests of categories, with p-values (FactoMineR's dimdesc)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.insight.axes.describe import Description, describe
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, join, number, table, tag
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Axes that are described, lines of each kind, and entries of the table up to which it is done.
AXES, LINES, ENTRIES = 3, 20, 4e6
ALPHA = 0.05


def _applies(about: Context) -> bool:
    if about.rows is None or about.k == 0 or about.texts or about.known.about.takes == "counts":
        return False
    entries = float(len(about.index)) * max(1, len(about.columns))
    return about.known.has_columns() and entries <= ENTRIES and about.image_shape is None


def _build(about: Context) -> Content:
    beside = None
    if about.supplementary is not None and not isinstance(about.supplementary, (list, tuple)) and not about.sampled:
        beside = about.supplementary
    found = describe(about.model, about.part, beside, components=about.axes[:AXES], alpha=1.0)
    records = {axis: _axis(found, axis) for axis in about.axes[: min(AXES, about.k)]}
    some = f" Only the {len(about.index):,} rows that are shown were looked at." if about.sampled else ""
    tried = max((len(numbers) + len(variables) for numbers, variables, _ in records.values()), default=0)
    about_many = "one in twenty" if tried * ALPHA < 1 else f"about {tried * ALPHA:.0f} of {tried:,}"
    chance = f"{about_many} that had nothing to do with an axis would be listed by chance"
    lead = tag("p", "Variables and categories that go with an axis: correlation r, correlation ratio η², and the test "
               f"value v of a category: beyond ±2 it is more than chance. Listed are p ≤ {ALPHA:g}, one "
               f"variable at a time: {chance}. Columns that the axes are made of go with them by construction.",
               some)  # fmt: skip
    blocks = [
        details(f"What goes with {axis}", *_tables(about, axis, held), open_=i == 0)
        for i, (axis, held) in enumerate(records.items())
    ]
    return Content(join(lead, blocks))


def _axis(found: Description, axis: str) -> tuple[list[Any], list[Any], list[Any]]:
    numbers, variables, levels = found.records[axis]
    return numbers, variables, levels


def _tables(about: Context, axis: str, held: tuple[list[Any], list[Any], list[Any]]) -> list[Html]:
    numbers, variables, levels = ([one for one in part if one.p_value <= ALPHA] for part in held)
    made: list[Html] = []
    rows: list[tuple[Any, ...]]
    if numbers:
        rows = [(_part(about, one.variable), number(one.correlation, 3), _p(one.p_value))
                for one in _largest(numbers, lambda one: one.correlation)]  # fmt: skip
        made.append(table(("numbers", "r", "p"), rows, _caption("Correlations", axis, len(numbers))))
    if variables:
        rows = [(_part(about, one.variable), number(one.eta2, 3), _p(one.p_value))
                for one in variables[:LINES]]  # fmt: skip
        made.append(table(("variable", "η²", "p"), rows, _caption("Correlation ratios", axis, len(variables))))
    if levels:
        rows = [
            (_part(about, one.category), number(one.estimate, 3),
             number(one.v_test, 3), _p(one.p_value))
            for one in _largest(levels, lambda one: one.v_test)
        ]  # fmt: skip
        head = ("category", "estimate", "v-test", "p")
        made.append(table(head, rows, _caption("Categories", axis, len(levels))))
    return made or [tag("p", f"Nothing goes with {axis} at p ≤ {ALPHA:g}.")]


def _caption(what: str, axis: str, count: int) -> str:
    return f"{what} with {axis}" + (f", the {LINES} farthest from zero of {count:,}" if count > LINES else "")


def _largest(records: list[Any], size: Any) -> list[Any]:
    kept = sorted(records, key=lambda one: -abs(size(one)))[:LINES]
    return sorted(kept, key=lambda one: -size(one))


def _part(about: Context, name: str) -> Html:
    """A variable or a category of one, and whether it took part; columns without names are called as elsewhere."""
    if name[:1] == "x" and name[1:].isdecimal() and name not in about.columns and int(name[1:]) < len(about.columns):
        name = about.columns[int(name[1:])]
    if name in getattr(about.model, "target_names_", ()):
        return join(bdi(name, 40), tag("small", " second table"))
    took = about.uses(name) or about.uses(name.partition("=")[0])
    return join(bdi(name, 40), "" if took else tag("small", " took no part"))


def _p(value: float) -> str:
    return "< 1e−300" if value < 1e-300 else number(value, 2) if np.isfinite(value) else "–"


PART = Part("described", "What goes with the axes", _applies, _build)
