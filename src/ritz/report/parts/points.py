"""The map of the correspondence family: columns, and the rows of a small table, with masses, cos² and contributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.warn import unsaid
from ritz.insight.rows.ellipse import point_covariances
from ritz.report.context import Context
from ritz.report.findings import same_rows
from ritz.report.html import KEPT, Html, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.parts.biplot import ARROWS
from ritz.report.words import numbers_of

__all__ = ["PART", "named_rows"]

#: Points of one side at most, and lines of a table.
MOST, LINES = 300, 120
#: Level of the χ² test.
LEVEL = 0.05
#: What the rings of a table of counts are.
ELLIPSES = (
    "The ellipse of confidence of a point holds 95\u00a0% of the places where it would lie had its counts been drawn "
    "again with the same total. The ellipse of concentration is that of the whole cloud, 2.45 standard deviations "
    "along each axis."
)


def _applies(about: Context) -> bool:
    return about.correspondence and about.k > 0 and _points(about) > 0


def _points(about: Context) -> int:
    """How many points there are to place: numbers alone are arrows, and the circle has them."""
    numbers = about.known.number_columns() if about.known.encoder() is not None else 0
    return len(about.columns) - numbers + (0 if about.further is None else len(about.further.levels))


def _build(about: Context) -> Content:
    a = min(about.k, 10)
    own = _columns(about, a)
    sides = [own] if own[0]["names"] else []
    if named_rows(about):
        sides.insert(0, _rows(about, a))
    further = _further(about, a)
    spread = _spreads(about, a)
    for side, _ in sides:
        side["spread"] = spread.get(side["what"])
    drawn = {
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
        "sides": [side for side, _ in sides] + further,
        "numbers": _numbers(about, a),
        "inertia": few(about.model.eigenvalues_[:a]) if spread else None,
    }
    plane = min(2, a)
    numbers = "" if drawn["numbers"] is None else "; numbers are arrows, as long as their correlations"
    lead = tag("p", "Points near each other have similar profiles; the size of a point is its mass, and faint points "
               "are badly shown in this plane (cos²). Distances between a row and a column are not distances."
               if about.known.about.takes == "counts" else
               f"Categories that the same rows share lie near each other{numbers}. "
               "The size of a point is its mass, and faint points are badly shown in this plane (cos²).")  # fmt: skip
    tables = [_table(about, side, rows, plane) for side, rows in sides]
    if about.known.about.takes == "counts":
        lead = join(lead, _independence(about), tag("p", ELLIPSES) if spread else None)
    label = "Map of rows and columns on two axes that can be chosen" if len(sides) > 1 else "Map of the categories"
    return Content(join(lead, figure("points", label, tall="tall"), tables), drawn)


def named_rows(about: Context) -> bool:
    """Whether rows are points to be named: those of a contingency table in memory."""
    fitted = about.known
    counts = fitted.about.takes == "counts" and about.model.n_samples_ <= MOST
    return counts and fitted.row_coordinates() is not None


def _independence(about: Context) -> Html | None:
    """The χ² test of independence of rows and columns, of whole counts."""
    statistic, dof, p = float(about.model.chi2_), int(about.model.dof_), float(about.model.p_value_)
    if dof < 1 or not np.isfinite(statistic):
        return None
    found = "depend on each other more than chance would make them" if p < LEVEL else "may be independent"
    size = "below 1e−300" if p < 1e-300 else number(p, 2)
    figures = f"χ² = {number(statistic, 4)} with {dof:,} degrees of freedom, p = {size}"
    return tag("p", f"χ² test of independence: {figures}: rows and columns {found}. The entries are "
               "taken for counts of independent things.")  # fmt: skip


@unsaid()
def _spreads(about: Context, a: int) -> dict[str, list[list[Any]]]:
    """Covariances of the points of a table of counts, of each side ``[i][j]`` with axes j ≤ i; of other tables none."""
    if not named_rows(about) or a < 2 or about.n != about.model.n_samples_ or not same_rows(about):
        return {}
    if len(about.columns) > MOST or not _whole(about):
        return {}
    found = {}
    for what, of in (("rows", "row-points"), (about.pieces, "column-points")):
        _, _, C, _ = point_covariances(about.model, about.table, of, list(range(a)))
        found[what] = [[few(C[:, i, j]) for j in range(i + 1)] for i in range(a)]
    return found


def _whole(about: Context) -> bool:
    """Whether entries are counts: whole numbers."""
    coded = about.known.encoded(about.table)
    profiles = coded.rows if isinstance(coded.rows, np.ndarray) else coded.rows.toarray()
    counts = profiles * np.asarray(coded.weights, np.float64)[:, None]
    return bool(np.all(np.abs(counts - np.round(counts)) <= 1e-6 * np.maximum(counts, 1.0)))


def _numbers(about: Context, a: int) -> dict[str, Any] | None:
    """Numbers of FAMD and MFA as arrows, and numbers that took no part."""
    p = about.known.number_columns() if about.known.encoder() is not None else 0
    R = numbers_of(about.model.column_coordinates_)[:p, :a]
    names, further = [clip(name, KEPT) for name in about.columns[:p]], [False] * p
    if about.further is not None and len(about.further.numbers):
        names, further = names + about.further.numbers, further + [True] * len(about.further.numbers)
        R = np.concatenate([R, about.further.correlations[:, :a]])
    if not names:
        return None
    return {"names": names, "further": further, "xy": [few(column) for column in R.T], "most": ARROWS}


def _further(about: Context, a: int) -> list[dict[str, Any]]:
    """Categories, columns and rows that took no part."""
    sides = []
    if about.further is not None and len(about.further.levels):
        word = "categories" if about.known.encoder() is not None else about.pieces
        sides.append(_beside(f"{word} that took no part", about.further.levels, about.further.places[:, :a],
                             about.further.cos2))  # fmt: skip
    if about.further_rows is not None and named_rows(about):
        held = about.further_rows
        sides.append(_beside("rows that took no part", held.names, held.places[:, :a], held.cos2))
    return sides


def _beside(what: str, names: list[str], xy: Any, cos2: Any) -> dict[str, Any]:
    none = np.zeros_like(xy)
    seen = none + 1 if cos2 is None else np.asarray(cos2)[:, : xy.shape[1]]
    return {**_side(what, names, xy, np.nan_to_num(seen), none, np.zeros(len(names))), "further": True}


def _columns(about: Context, a: int) -> tuple[dict[str, Any], Any]:
    model, p = about.model, about.known.number_columns() if about.known.encoder() is not None else 0
    G, cos2 = numbers_of(model.column_coordinates_)[:, :a], numbers_of(model.column_cos2_)[:, :a]
    share = numbers_of(model.column_contributions_)[:, :a]
    mass = np.asarray(model.column_masses_, np.float64).reshape(-1)
    levels = np.arange(p, len(G))  # numbers are arrows
    order = np.sort(levels[np.argsort(-share[p:, : min(2, a)].sum(axis=1), kind="stable")[:MOST]])
    names = [clip(about.columns[j], KEPT) for j in order]
    word = about.pieces if not p else "categories"
    return _side(word, names, G[order], cos2[order], share[order], mass[order]), (G[order], cos2[order], share[order])


def _rows(about: Context, a: int) -> tuple[dict[str, Any], Any]:
    model = about.model
    F, cos2 = numbers_of(model.row_coordinates_)[:, :a], numbers_of(model.row_cos2_)[:, :a]
    share, mass = numbers_of(model.row_contributions_)[:, :a], np.asarray(model.row_masses_, np.float64).reshape(-1)
    labels = about.known.row_names() or [f"row {i + 1}" for i in range(len(F))]
    return _side("rows", [clip(name, KEPT) for name in labels], F, cos2, share, mass), (F, cos2, share)


def _side(what: str, names: list[str], xy: Any, cos2: Any, share: Any, mass: Any) -> dict[str, Any]:
    def each(values: Any) -> list[Any]:
        return [few(column) for column in values.T]

    return {"what": what, "names": names, "xy": each(xy), "cos2": each(cos2), "shares": each(share), "mass": few(mass)}


def _table(about: Context, side: dict[str, Any], points: Any, plane: int) -> Html:
    F, cos2, share = points
    head = ["point", "mass"]
    for i in range(plane):
        head += [about.axes[i], "contribution", "cos²"]
    rows = []
    for j in range(min(len(F), LINES)):
        figures = [
            text for i in range(plane) for text in (number(F[j, i]), percent(share[j, i]), number(cos2[j, i], 2))
        ]
        rows.append((bdi(side["names"][j], 40), percent(side["mass"][j]), *figures))
    what = side["what"]
    return details(
        f"{what.capitalize()} as a table", table(head, rows, f"Coordinates, contributions and cos² of the {what}")
    )


PART = Part("points", "The map", _applies, _build)
