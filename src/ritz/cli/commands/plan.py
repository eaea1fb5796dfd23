"""``ritz plan TABLE``: which route a fit would take and what it should cost, without taking it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ritz.cli.commands.fit import COMPONENTS, SOLVER, TOL
from ritz.cli.options import COLUMNS, MEMORY, METHOD, READING, TABLE
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import tell_notes

__all__ = ["plan"]


@command(METHOD, READING, COLUMNS)
def plan(
    table: Annotated[list[Path], TABLE],
    method: dict[str, Any],
    how: dict[str, Any],
    parts: dict[str, Any],
    talk: Talk,
    components: Annotated[str | None, COMPONENTS] = None,
    solver: Annotated[str, SOLVER] = "auto",
    tol: Annotated[float, TOL] = 1e-6,
    memory: Annotated[str | None, MEMORY] = None,
) -> Answer:
    """Say how TABLE would be fitted: the method, the solver, why, and what it should cost."""
    from ritz.cli.fitting.components import parse_components
    from ritz.cli.fitting.inputs import gathered
    from ritz.cli.fitting.probe import probe

    k = 0 if components is None else parse_components(components, method["missing"], method["name"])
    given = gathered(table, how, memory=memory, progress=talk.progress)
    prepared = probe(
        given.path, method, given.how, parts, k=k, memory=memory, progress=talk.progress, solver=solver, tol=tol
    )  # fmt: skip
    tell_notes(prepared.parts.whole, talk)
    route = _route(prepared)
    used = prepared.parts.used
    facts = {
        "source": used.source,
        **prepared.facts(),
        "in_pieces": used.lazy,
        **_gaps(prepared, method),
        "solver": route.solver,
        "side": route.side,
        "precision": route.precision,
        "passes": route.passes,
        "seconds": route.seconds,
        "bytes": route.bytes,
        "reasons": list(route.reasons),
    }
    return Answer(facts, lambda: _show(facts, repr(used)))


def _gaps(prepared: Any, method: dict[str, Any]) -> dict[str, Any]:
    """Values that are missing in columns that take part, and what a fit makes of them; nothing where none are."""
    from ritz.cli.fitting.columns import dropping
    from ritz.cli.fitting.dropped import columns_used
    from ritz.cli.fitting.estimator import missing_ways
    from ritz.data.words import counted, shorten

    if prepared.choice.method == "lsi" or method["missing"] == "drop":
        return {}
    gaps, parts = prepared.parts.used.missing, prepared.parts
    found = {name: gaps[name] for name in columns_used(parts, prepared.choice, method) if name in gaps}
    if not found:
        return {}
    words = f"{counted(sum(found.values()), 'value')} in {shorten([f'{name!r} ({n:,})' for name, n in found.items()])}"
    way = getattr(prepared.estimator, "missing", "error")
    if way == "error":
        ways = [f"--missing {one}" for one in missing_ways(prepared.choice.method)[1:] if one != "drop"]
        drop = dropping(parts.whole, "--missing drop")
        ways = [*ways, drop] if parts.whole.lazy else [drop, *ways]
        words += f": a fit refuses them; allowed by {', '.join(ways)}"
    else:
        words += f": --missing {way}"
        if prepared.choice.method != "pca" and way in ("em", "regularized", "fiml"):
            words += ", by rounds over the table before what is planned here"
    return {"missing": found, "missing_words": words}


def _route(prepared: Any) -> Any:
    from ritz.cli.fitting.fitting import keeps_state
    from ritz.cli.fitting.scaling import IN_THE_FIT
    from ritz.methods.plan import plan as planned

    if prepared.choice.method == "pca":  # as it is fitted
        used, model = prepared.parts.used, prepared.estimator
        undecided = prepared.scaling is IN_THE_FIT and model.missing == "error"
        shape = used.n_rows or 0, len(used.numeric_names())
        model.mergeable = keeps_state(*shape, model.memory, undecided=undecided)
    weights = prepared.parts.weight() if prepared.parts.weights else None
    return planned(prepared.rows, prepared.estimator, sample_weight=weights)


def _show(facts: dict[str, Any], table: str) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.terminal.console import put, stdout
    from ritz.spectral.plan import pass_words, reason_lines, size_words

    lines = Grid.grid(padding=(0, 2))
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    passes = pass_words(facts["passes"], facts["solver"], facts["reasons"], over=" over the data")
    lines.add_row("table", Text(table.removeprefix("Table(").removesuffix(")")))
    lines.add_row("method", Text(f"{facts['method']}: {facts['method_reason']}"))
    if "scaling" in facts:
        lines.add_row("scaling", Text(facts["scaling"]))
    if "missing" in facts:
        lines.add_row("missing", Text(facts["missing_words"]))
    lines.add_row("route", Text(f"{facts['solver']} on the {facts['side']}, {facts['precision']}"))
    lines.add_row("", Text("\n".join(reason_lines(facts["reasons"]))))
    lines.add_row(
        "cost", Text(f"{passes}, about {_time(facts['seconds'])}, {size_words(facts['bytes'])} beyond the data")
    )
    put(stdout(), lines)


def _time(seconds: float) -> str:
    return f"{max(1000 * seconds, 0.1):.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
