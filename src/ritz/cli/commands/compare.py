"""``ritz compare MODEL MODEL``: how alike two models are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import MEMORY, MODEL, READING
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import say, tell_notes

__all__ = ["compare"]

OTHER = typer.Argument(metavar="OTHER", help="The model to compare with.", show_default=False)
ROWS = typer.Argument(metavar="[TABLE]", help="Rows whose scores are compared as well.", show_default=False)


@command(READING)
def compare(
    model: Annotated[Path, MODEL],
    other: Annotated[Path, OTHER],
    how: dict[str, Any],
    talk: Talk,
    table: Annotated[Path | None, ROWS] = None,
    memory: Annotated[str | None, MEMORY] = None,
) -> Answer:
    """Say how alike MODEL and OTHER are: angles, matching components, RV and Procrustes.

    Models of the same columns need no TABLE; others are compared by the scores of its rows.
    """
    from ritz._core.errors import InputError
    from ritz._core.visible import visible
    from ritz.cli.results.alike import far_from_fit
    from ritz.cli.results.saved import open_model
    from ritz.insight.compare.compare import compare as compared

    a, b = (open_model(path, memory=memory, progress=talk.progress) for path in (model, other))
    rows: Any = None
    if table is not None:
        read = a.new_table(table, how, memory=memory, progress=talk.progress)
        tell_notes(read, talk)
        for sentence in far_from_fit(a.manifest, read):
            say("warning", sentence, "bold yellow")
        rows = (a.rows(read), b.rows(read))
    try:
        comparison = compared(a.model, b.model, rows)
    except InputError as error:
        if table is not None:
            raise
        hint = f"name a table: ritz compare {model} {other} TABLE"
        raise InputError(error.expected, received=error.received, hint=hint) from error
    facts = {
        "model": str(a.path),
        "other": str(b.path),
        "of": comparison.of,
        "rows": comparison.n,
        "angles": [float(angle) for angle in comparison.angles],
        "matched": [
            {
                "component": comparison.names[0][match.a],
                "other": comparison.names[1][match.b],
                "sign": match.sign,
                "cosine": match.cosine,
            }
            for match in comparison.matched
        ],
        "rv": _number(comparison.rv),
        "rv_beyond_chance": _number(comparison.rv_adjusted),
        "procrustes": _number(comparison.procrustes.distance),
        "notes": list(comparison.notes),
        "whole_space": bool(comparison.nested),
        "nested_angles": [float(angle) for angle in comparison.nested],
    }
    return Answer(facts, lambda: print(visible(str(comparison))))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
