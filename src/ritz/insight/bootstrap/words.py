"""What a bootstrap says, as a small table: a line for every component, or group of components, that is known."""

from __future__ import annotations

from operator import itemgetter

from ritz.insight.bootstrap.groups import Group
from ritz.insight.bootstrap.intervals import Intervals

__all__ = ["group_notes", "shown"]


def shown(
    head: str, groups: tuple[Group, ...], eigenvalues: Intervals, shares: Intervals, notes: tuple[str, ...]
) -> str:
    """The table."""
    level = eigenvalues.level
    rows = [["", "eigenvalue", "", "share", "", "angle", f"{100 * level:.0f} %"]]
    for group in groups:
        several, i = len(group.components) > 1, group.components[0]
        values = group.eigenvalue if several else eigenvalues.map(itemgetter(i))
        cells = [group.name, f"{values.estimate:.4g}", f"[{values.low:.4g}, {values.high:.4g}]"]
        if several:
            cells += ["each", ""]
        else:
            share = shares.map(itemgetter(i))
            cells += [f"{100 * share.estimate:.1f} %", f"[{100 * share.low:.1f} %, {100 * share.high:.1f} %]"]
        rows.append([*cells, f"{group.angle:.1f}°", f"{group.angle_high:.1f}°"])
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    left = (0, 2, 4)
    lines = [
        "  ".join(
            f"{cell:<{w}}" if j in left else f"{cell:>{w}}" for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([head, *(line.rstrip() for line in lines), *notes])


def group_notes(groups: tuple[Group, ...]) -> list[str]:
    """What there is to say about components that are not separated."""
    lines = []
    for group in groups:
        if len(group.components) > 1:
            inside = ", ".join(f"{p:.2g}" for p in group.p_values[: len(group.components) - 1])
            lines.append(
                f"{group.name}: the eigenvalues may well be equal (p {inside}); read these components as one subspace"
            )
        if group.open:
            lines.append(
                f"{group.name}: not separated from the next component, which is left out (p {group.p_values[-1]:.2g})"
            )
    return lines
