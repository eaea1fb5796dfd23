"""``ritz report MODEL TABLE``: the report of a model again, or about other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.command import Answer, Talk, command
from ritz.cli.console import Program, say
from ritz.cli.options import FORCE, MEMORY, MODEL, READING, TABLE, column_option

__all__ = ["report"]

OUTPUT = typer.Option(
    "-o", "--output", metavar="FILE", show_default="report.html beside the model", help="The page that is written."
)
COLOR = column_option("--color", "A column that points are coloured by.", "as in the fit")
TITLE = typer.Option("--title", metavar="TEXT", show_default="the table", help="The heading.")
# What a page says of where it comes from, and the bytes at its beginning within which it does.
MARK, OURS = b'<meta name="generator" content="Ritz ', 8192


@command(READING)
def report(
    model: Annotated[Path, MODEL],
    table: Annotated[Path, TABLE],
    how: dict[str, Any],
    talk: Talk,
    output: Annotated[Path | None, OUTPUT] = None,
    color: Annotated[str | None, COLOR] = None,
    title: Annotated[str | None, TITLE] = None,
    memory: Annotated[str | None, MEMORY] = None,
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Write the report of MODEL about the rows of TABLE: one page that opens offline in any browser."""
    import shlex

    from ritz._core.atomic import replacing
    from ritz.cli.columns import expand
    from ritz.cli.output import list_file
    from ritz.cli.page import render_page
    from ritz.cli.saved import open_model
    from ritz.data.write import disk_errors

    saved = open_model(model, memory=memory, progress=talk.progress)
    target = saved.path.parent / "report.html" if output is None else output
    _keep_foreign(target, force)
    rows = saved.fitted_table(table, how, memory=memory, progress=talk.progress)
    tint = expand("--color", [color], rows)[0] if color else saved.manifest.get("color")
    page = render_page(
        saved.model, saved.rows(rows), rows, color=tint if tint in rows.names else None, title=title or rows.source,
        command=shlex.join(["ritz", *Program.typed]),
    )  # fmt: skip
    with disk_errors(target), replacing(target) as file:
        file.write(page)
    list_file(target)
    facts = {"model": str(saved.path), "table": str(table), "rows": rows.n_rows, "report": str(target)}
    facts["bytes"] = len(page)
    return Answer(facts, lambda: say("done", f"{len(page) / 1e6:.1f} MB: {target}", "bold green"))


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(OURS)


def _keep_foreign(target: Path, force: bool) -> None:
    """A report may take the place of a report, not of anything else."""
    from ritz._core.errors import FileError

    if force or not target.exists():
        return
    if target.is_dir() or MARK not in _head(target):
        raise FileError(
            f"expected {target} to be absent or a report of Ritz",
            received="a folder" if target.is_dir() else "a file of another kind",
            hint="choose another name with -o" + ("" if target.is_dir() else ", or overwrite it with --force"),
        )
