"""What a fit was, for people and for programs.

    describe(...)  →  dict for ``--json`` and the manifest
    show(...)      →  a table of components and a few lines, on stderr

The certificate speaks of eigenvalues of AᵀA; variances and their enclosures are those divided by n − 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz import __version__
from ritz.cli.console import put, spoken
from ritz.cli.scaling import Scaling
from ritz.data.table import Table
from ritz.data.words import counted, grouped

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["describe", "show"]

SHOWN_COMPONENTS = 20
SHOWN_COLUMNS = 8


def describe(table: Table, names: list[str], model: Any, scaling: Scaling, choice: dict[str, Any]) -> dict[str, Any]:
    """Give everything that the summary says as plain values, without times, so that equal runs are equal."""
    certificate = model.certificate_
    share = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
    rows = len(table)
    divisor = max(rows - 1, 1)
    values = certificate.values / divisor  # in float64, so that the enclosure speaks of the number shown
    half = np.maximum(certificate.upper - certificate.values, certificate.values - certificate.lower) / divisor
    components = [
        {
            "name": f"PC{i + 1}",
            "variance": _number(values[i]),
            "share": _number(share[i]),
            "cumulated": _number(share[: i + 1].sum()),
            "variance_error": _number(half[i]),
            "angle_error": _number(certificate.angles[i]),
            "certified": bool(certificate.labelled[i]),
        }
        for i in range(len(values))
    ]
    return {
        "ritz": __version__,
        "source": table.source,
        "rows": rows,
        "columns": names,
        "set_aside": [{"column": name, "reason": reason} for name, reason in table.set_aside],
        "notes": [spoken(note) for note in table.notes],
        "scaled": scaling.scale,
        "scaling": scaling.why,
        "choice": choice,
        "components": components,
        "possible_components": min(rows - 1, len(names)),
        "certificate": _sentences(certificate),
        "plan": _plan(model.plan_),
    }


def show(facts: dict[str, Any], console: Console, written: str) -> None:
    """Print the summary; ``facts`` may also hold the ``seconds`` that the fit took."""
    from rich.table import Table as Grid
    from rich.text import Text

    head = Text(f"{facts['source']}: {_data(facts)}", style="bold")
    table = _components(facts) if facts["components"] else "\nNo component is kept, so there are no scores.\n"
    lines = Grid.grid(padding=(0, 2))
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    for item in facts["notes"]:
        lines.add_row("read", Text(item))
    if facts["set_aside"]:
        lines.add_row("set aside", Text("\n".join(_aside(facts["set_aside"]))))
    lines.add_row("scaling", Text(facts["scaling"]))
    if facts["choice"]["why"]:
        lines.add_row("components", Text(_choice(facts["choice"])))
    lines.add_row("certificate", Text("\n".join(facts["certificate"])))
    lines.add_row("plan", Text(_route(facts)))
    lines.add_row("files", Text(written))
    put(console, head, table, lines)


def _components(facts: dict[str, Any]) -> Any:
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("component", "variance", "share", "cumulated", "± variance", "angle ≤"):
        grid.add_column(title, justify="left" if title == "component" else "right", no_wrap=True)
    for item in facts["components"][:SHOWN_COMPONENTS]:
        grid.add_row(
            item["name"],
            _figure(item["variance"], "{:.5g}"),
            _percent(item["share"]),
            _percent(item["cumulated"]),
            _figure(item["variance_error"], "{:.1e}") + ("" if item["certified"] else "?"),
            _figure(item["angle_error"], "{:.1e}", "gap"),
        )
    hidden = len(facts["components"]) - SHOWN_COMPONENTS
    if hidden > 0:
        grid.add_row(f"… {hidden} more", *[""] * 5)
    return grid


def _data(facts: dict[str, Any]) -> str:
    used, total = len(facts["columns"]), len(facts["columns"]) + len(facts["set_aside"])
    columns = counted(total, "column") if used == total else f"{used:,} of {counted(total, 'column')}"
    k, possible = len(facts["components"]), facts["possible_components"]
    components = counted(possible, "component")
    every = f"all {components}" if possible != 1 else components
    return f"{counted(facts['rows'], 'row')}, {columns}, {every if k >= possible else f'{k} of {components}'}"


def _choice(choice: dict[str, Any]) -> str:
    if choice["rule"] is None:
        return str(choice["why"])
    return f"by {'the share of the variance' if choice['rule'] == 'fraction' else choice['rule']}: {choice['why']}"


def _aside(items: list[dict[str, str]]) -> list[str]:
    """One line for each reason, with the columns that share it."""
    return grouped([(item["column"], item["reason"]) for item in items], SHOWN_COLUMNS)


def _sentences(certificate: Any) -> list[str]:
    """Keep what is proved; cost and repeated figures are left to the plan and the table."""
    return [line for line in certificate.sentences() if "over the data" not in line]


def _plan(plan: Any) -> dict[str, Any]:
    """Keep the route and its reasons; predicted and real seconds would differ from run to run."""
    return {
        "solver": plan.solver,
        "side": plan.side,
        "precision": plan.precision,
        "passes": plan.actual_passes,
        "reasons": list(plan.reasons),
    }


def _route(facts: dict[str, Any]) -> str:
    plan = facts["plan"]
    passes = f"{plan['passes']} pass{'es' if plan['passes'] != 1 else ''} over the data"
    seconds = f" in {facts['seconds']:.2g} s" if facts.get("seconds") is not None else ""
    head = f"{plan['solver']} on the {plan['side']}, {plan['precision']}, {passes}{seconds}"
    return "\n".join([head, *(f"because {reason}" for reason in plan["reasons"])])


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _figure(value: float | None, form: str, missing: str = "?") -> str:
    return missing if value is None else form.format(value)


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{100 * value:.1f} %"
