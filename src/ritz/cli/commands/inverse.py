"""``ritz inverse MODEL SCORES``: from coordinates back to rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import FORCE, MODEL, OUTPUT_FILE, READING, model_file
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import say, tell_notes

__all__ = ["inverse"]

SCORES = typer.Argument(
    metavar="SCORES", help="Coordinates, such as scores.csv of ritz fit or ritz transform.", show_default=False
)
SHARES = typer.Option("--shares", help="mca, famd, mfa: how probable each category is, instead of the likeliest.")


@command(READING)
def inverse(
    model: Annotated[Path, MODEL],
    scores: Annotated[Path, SCORES],
    how: dict[str, Any],
    talk: Talk,
    output: Annotated[Path | None, OUTPUT_FILE] = None,
    shares: Annotated[bool, SHARES] = False,
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Rebuild rows from their SCORES under MODEL.

    Linear models give rows of the table as far as the components tell; ca gives profiles, categories come back as the
    likeliest ones, kernels as the row that lies nearest (strings: one of the fit).
    """
    from ritz.cli.fitting.columns import open_table
    from ritz.cli.results.rebuild import coordinates_in, rebuilt
    from ritz.cli.results.saved import open_model
    from ritz.cli.results.scores import axis_heads
    from ritz.cli.results.sink import require_free, save_table
    from ritz.data.formats.text.numbers import Reading
    from ritz.data.words import counted

    fresh = require_free(output, force, [model_file(model)], [scores], scores=False)
    saved = open_model(model)
    # What ritz has written has decimal points, however the table of the fit was written.
    like = {"decimal": ".", "columns": dict.fromkeys(axis_heads(saved.model), Reading("."))}
    table = open_table(scores, how, like=like, progress=talk.progress)
    tell_notes(table, talk)
    made = rebuilt(saved.model, coordinates_in(table, saved.model), table, shares)
    save_table(output, made, as_json=talk.json, fresh=fresh)
    facts = {
        "model": str(saved.path),
        "scores": str(scores),
        "rows": made.num_rows,
        "columns": made.schema.names,
        "table": None if output is None else str(output),
    }
    told = f"{counted(made.num_rows, 'row')}, {counted(made.num_columns, 'column')}: {output}"
    return Answer(facts, None if output is None else lambda: say("done", told, "bold green"), wrote=output)
