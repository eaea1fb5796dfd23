"""``ritz demo``: the main job on a table that comes along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ritz.cli.commands.fit import answer
from ritz.cli.options import FORCE
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import Program, say

__all__ = ["demo"]

OUTPUT = typer.Option("-o", "--output", metavar="DIR", show_default="wine_ritz", help="Result folder.")


@command()
def demo(talk: Talk, output: Annotated[Path | None, OUTPUT] = None, force: Annotated[bool, FORCE] = False) -> Answer:
    """Fit 178 Italian wines, a table that comes with Ritz, and say where the report lies."""
    import shlex

    import ritz.data
    from ritz.cli.defaults import METHOD_DEFAULTS, READING_DEFAULTS
    from ritz.cli.fitting.job import Job, run

    table = Path(str(ritz.data.__file__)).parent / "samples" / "wine.csv"
    if not talk.silent:
        say("demo", f"ritz fit {table.name} on the table of 178 wines that comes with Ritz", "bold cyan")
    job = Job(
        path=table,
        k=0,
        method=METHOD_DEFAULTS,
        how=READING_DEFAULTS,
        parts={},
        options={"solver": "auto", "tol": 1e-6, "random_state": 0, "progress": talk.progress},
        output=output,
        force=force,
        quiet=talk.silent,
        command=shlex.join(["ritz", *Program.typed]),
    )
    facts, folder = run(job)
    told = answer(facts, folder)
    where = folder / "report.html"
    notes = [*told.notes, f"open {where} in a browser"] if "report.html" in facts["written"] else told.notes
    return Answer(told.facts, told.show, notes=notes, wrote=folder)
