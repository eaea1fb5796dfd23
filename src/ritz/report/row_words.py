"""Sentences about rows: outliers, groups of rows, rows drawn again; each with the condition under which it is said.

    outliers    a false discovery rate that was controlled, and a gap to the other rows; rows beyond a limit only where
                chance puts fewer there; values that stand apart from all others of their column (``values.py``)
    groups      max_axis η² > that of 95 % of permutations of the labels (F test, level 5 % / axes, where rows are many)
    stability   components that are more than chance, and that a bootstrap of the rows finds again

On rows of noise none of them claims anything more often than its level says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.report.findings import ALPHA, FDR, NOTHING
from ritz.report.html import Html, bdi, join, number, percent, tag
from ritz.report.values import row_at, value_clause

if TYPE_CHECKING:
    from ritz.report.colours import Colour
    from ritz.report.context import Context

__all__ = [
    "beyond_words", "draw_words", "found_words", "groups_tested", "groups_words", "limits_words", "outlier_clause",
    "span_words",
]  # fmt: skip

#: Level of the test whether groups differ; permutations of their labels, and rows up to which labels are permuted.
LEVEL, PERMUTATIONS, PERMUTED = 0.05, 999, 2_000
#: Chance of as many rows beyond the limits as there are, below which they are told of.
MANY = 1e-3
RATE = f"a false discovery rate of {100 * FDR:.0f}\u00a0%"


# outliers


def outlier_clause(about: Context) -> Html | None:
    """``2 of 178 rows are outliers at a false discovery rate of 5 %, row 122 most of all``."""
    odd = about.odd
    found = None if odd is None else odd.outliers
    by_values = value_clause(about, set() if found is None else set(found.rows[:1].tolist()))
    if odd is None:
        return by_values
    if found is None:
        words = beyond_words(about)
        return by_values or (join(words) if words else None)
    count = len(found.rows)
    if not count:
        none = f"no row {'stands apart from the others as' if odd.beside else 'is'} an outlier at {RATE}"
        return by_values or join(none)
    are = "is an outlier" if count == 1 else "are outliers"
    name = bdi(row_at(about, int(found.rows[0])), 40)
    most = join(": ", name) if count == 1 else join(", ", name, " most of all")
    clause = join(tag("b", f"{count:,} of {len(odd.inside):,} rows {are}"), f" at {RATE}", most)
    return clause if by_values is None else join(clause, "; ", by_values)


def _by_chance(about: Context) -> tuple[int, float, bool]:
    """Rows beyond a limit, how many chance puts there, and whether they are clearly more."""
    odd = about.odd
    if odd is None or not odd.limited:
        return 0, 0.0, False
    n, count = len(odd.inside), int(np.count_nonzero(odd.beyond))
    limits = sum(0 < bound < np.inf for bound in (odd.bounds.t2, odd.bounds.spe))
    rate = 1 - (1 - ALPHA) ** limits
    from scipy.special import bdtrc

    return count, n * rate, count > n * rate and float(bdtrc(count - 1, n, rate)) < MANY


def beyond_words(about: Context) -> str:
    """How many rows lie beyond a limit, where that is clearly more than chance."""
    count, expected, many = _by_chance(about)
    n = 0 if about.odd is None else len(about.odd.inside)
    if not many:
        return ""
    return (
        f"{count:,} of {n:,} rows lie beyond a {100 * (1 - ALPHA):g}\u00a0% limit, where chance puts about "
        f"{number(max(1, round(expected)))}"
    )


def limits_words(about: Context) -> str:
    """Rows beyond the limits beside what chance puts there, and by what rows are judged."""
    odd = about.odd
    if odd is None:
        return ""
    n = len(odd.inside)
    first = ""
    if odd.components != about.k:
        what = f"component, {about.axes[0]}" if odd.components == 1 else about.components(odd.components)
        first = f" The model keeps everything, so rows are judged by its first {what}."
    sample = "" if odd.all_rows else f" Only the {n:,} rows that are shown were judged."
    if not odd.limited:
        return f"There are too few rows for limits of Hotelling's T² and of the distance off the plane.{first}{sample}"
    count, expected, many = _by_chance(about)
    lie = f"{'row' if n == 1 else 'rows'} {'lies' if count == 1 else 'lie'}"
    beside = f"chance alone puts about {number(expected, 2)} there"
    than = f"more than {beside.replace('puts', 'would put')}" if many else f"no more than chance: {beside}"
    if not many and count > expected:
        than = f"{beside}, so that they are no sign of anything"
    return f"{count:,} of {n:,} {lie} beyond a limit; {than}.{first}{sample}"


def found_words(about: Context) -> str:
    """The outliers that were found, and how."""
    found = about.odd.outliers if about.odd is not None else None
    if found is None:
        return "Which of them are outliers was not tested." if about.odd is not None and about.odd.limited else (
            "No row is called an outlier.")  # fmt: skip
    count = len(found.rows)
    none = (
        "No row stands apart from the others as an outlier"
        if about.odd and about.odd.beside
        else "No row is an outlier"
    )
    which = none if not count else "1 row is an outlier" if count == 1 else f"{count:,} rows are outliers"
    return f"{which} at {RATE} ({found.notes[0]}).{_beside(about)}"


def _beside(about: Context) -> str:
    """Rows that are rare by the model's distribution but follow on the others."""
    many = 0 if about.odd is None else about.odd.beside
    if not many:
        return ""
    lie, them = ("row lies", "it") if many == 1 else ("rows lie", "them")
    more = "more " if about.odd is not None and about.odd.outliers is not None and len(about.odd.outliers.rows) else ""
    return (
        f" {many:,} {more}{lie} farther out than the model's distribution would have it, but no gap sets {them} apart: "
        f"a longer tail of all rows explains {them} as well."
    )


# groups


def groups_words(about: Context) -> Html | None:
    """How well groups of the first column that took no part are told apart, and whether that is more than chance."""
    columns = set() if about.rows is None else {name for name, _ in about.rows.columns(about.part)}
    for one in about.colours:
        if about.uses(one.name) and about.color is None:
            continue
        used = one.name in columns and about.uses(one.name)
        parts = one.between(about.scores)
        if parts is None or not np.isfinite(parts).any():
            continue
        best = int(np.nanargmax(parts))
        share = f"{percent(parts[best])} of its variance lies between them."
        groups = join(f"The {len(one.kinds)} groups of ", bdi(one.name, 40))
        if used:  # the axes are made of it, so that no test tells what is more than chance
            if not about.beyond_chance(best):
                return None
            return join(groups, f", a column that the axes are made of, differ most along {about.axes[best]}: ", share)
        if groups_tested(one, about.scores):
            return join(groups, f" differ most along {about.axes[best]}: ", share)
        return join(groups, " differ no more on these axes than groups drawn at random would.")
    return None


def groups_tested(colour: Colour, scores: NDArray[np.float64]) -> bool:
    """Whether groups differ on some axis, at a level of 5 % for all axes together."""
    there = colour.code >= 0
    F, code = np.asarray(scores[there], np.float64), colour.code[there]
    parts = colour.between(scores)
    if parts is None:
        return False
    sound = np.isfinite(parts)
    F = F[:, sound] - F[:, sound].mean(axis=0)
    n, g = len(F), len(colour.kinds)
    if n > PERMUTED:
        from scipy.special import fdtrc

        best = float(np.max(parts[sound]))
        if best >= 1:
            return True
        return float(fdtrc(g - 1, n - g, best / (1 - best) * (n - g) / (g - 1))) * F.shape[1] < LEVEL
    F = F / np.linalg.norm(F, axis=0)
    size = np.bincount(code, minlength=g).astype(np.float64)
    at_least, best = 0, float(np.max(parts[sound]))
    rng, hot = np.random.default_rng(0), np.eye(g) / np.sqrt(size)
    for _ in range(PERMUTATIONS):
        sums = hot[rng.permutation(code)].T @ F
        at_least += float(np.max(np.square(sums).sum(axis=0))) >= best * (1 - 1e-9)
    return (1 + at_least) / (1 + PERMUTATIONS) <= LEVEL


# rows drawn again


def draw_words(about: Context, draws: Any, angles: Any, count: int) -> str:
    """Which components a bootstrap tells apart, among those that are more than chance."""
    many = len(angles)
    if not about.beyond_chance(0):
        return f"No {about.component} is more than chance: other rows need not give the same ones."
    alone = [
        about.axes[i] for group in draws.groups if group.separated for i in group.components
        if i < about.k and about.shares[i] > NOTHING and about.beyond_chance(i)
    ]  # fmt: skip
    first = next(group for group in draws.groups if 0 in group.components)
    last = min(max(first.components), about.k - 1)
    who = about.axes[0] if last == 0 else f"The space of {about.axes[0]} to {about.axes[last]}"
    turn = f"{who} turns by {number(angles[0, 0], 2)}° or less in half of {count} draws of the rows (bootstrap). "
    if last > 0 and float(np.sum(about.shares[: last + 1])) > 1 - NOTHING:
        turn = ""  # the whole space cannot turn
    if len(alone) == many:
        return f"{turn}Every {about.component} shown keeps its direction."
    if not alone and len(draws.groups) == 1:
        return f"{turn}{_together(about, first.open)}"
    if not alone:
        return f"{turn}No {about.component} keeps its direction by itself: only groups of them are found again."
    keep = "keeps its direction" if len(alone) == 1 else "keep their directions"
    return f"{turn}{_list(alone)} {keep}; the others turn into each other, or are not told from chance."


def _together(about: Context, is_open: bool) -> str:
    """Of components that are one group: nothing tells one of them from another, and maybe not from the next either."""
    if about.k == 1:
        return f"{about.axes[0]} cannot be told from the next {about.component}, which was left out."
    beyond = ", nor from those that were left out" if is_open else ""
    return (
        f"No {about.component} keeps its direction by itself: the {about.components(about.k)} cannot be told from each "
        f"other{beyond}."
    )


def span_words(about: Context, k: Any, value: Any, line: float | None) -> Html:
    """How many components span the same space when rows are drawn again, among those that are more than chance."""
    kept = about.ranks["stability"].k
    # of factors the rule draws the principal components of the columns
    one = "principal component" if about.component == "factor" else about.component
    if not about.beyond_chance(0):
        return join(draw_words(about, None, (), 50))
    if kept == 0:
        first = f" (mean cos² {number(value[0], 2)})" if len(value) and k[0] == 1 else ""
        return join(f"Drawn again 50 times (bootstrap), the rows do not give the same first {one}{first}.")
    many = about.components(kept) if one == about.component else f"{kept} {one}s"
    first = f"{one} gives" if kept == 1 else f"{many} span"
    same = "nearly the same direction" if kept == 1 else "nearly the same space"
    words = f"Drawn again 50 times (bootstrap), the first {first} {same} every time."
    if not about.beyond_chance(kept - 1) and about.evidence is not None:
        few = about.components(about.evidence.count) if one == about.component else f"{about.evidence.count}"
        words += f" Only the first {few} of them {_is(about)} more than chance."
    weak = k[(value < line) & (k < kept)] if line is not None else k[:0]
    if len(weak):
        turning = f"those of nearly equal {about.whole} turn into each other"
        words += f" The first {_list([str(int(one)) for one in weak], 'or')} alone do not: {turning}."
    return join(words)


def _is(about: Context) -> str:
    return "is" if about.evidence is not None and about.evidence.count == 1 else "are"


def _list(words: list[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" {last} " + words[-1]
