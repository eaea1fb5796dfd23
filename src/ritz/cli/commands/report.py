"""``ritz report MODEL TABLE``: the report of a model again, or about other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import FORCE, MEMORY, MODEL, READING, TABLE, TEXT, UNSEEN, column_option
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import Program, say, tell_notes

__all__ = ["report"]

OUTPUT = typer.Option(
    "-o", "--output", metavar="FILE", show_default="report.html beside the model", help="The page that is written."
)
COLOR = column_option("--color", "A column that points are coloured by.", "as in the fit")
TITLE = typer.Option("--title", metavar="TEXT", show_default="the table", help="The heading.")


@command(READING)
def report(
    model: Annotated[Path, MODEL],
    tables: Annotated[list[Path], TABLE],
    how: dict[str, Any],
    talk: Talk,
    output: Annotated[Path | None, OUTPUT] = None,
    color: Annotated[str | None, COLOR] = None,
    title: Annotated[str | None, TITLE] = None,
    text: Annotated[str | None, TEXT] = None,
    unseen: Annotated[str | None, UNSEEN] = None,
    memory: Annotated[str | None, MEMORY] = None,
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Write the report of MODEL about the rows of TABLE: one page that opens offline in any browser."""
    from ritz._core.atomic import replacing
    from ritz.cli.fitting.inputs import gathered
    from ritz.cli.results.manifest import list_file, refuse_existing
    from ritz.cli.results.saved import open_model, refuse_text, unseen_way
    from ritz.data.tables.apart import require_apart
    from ritz.data.tables.write import disk_errors
    from ritz.report.named import require_page

    if output is not None:
        require_page(output)
    saved = open_model(model, memory=memory, progress=talk.progress, **unseen_way(unseen))
    target = saved.path.parent / "report.html" if output is None else output
    given = gathered(tables, how, memory=memory, progress=talk.progress, like=saved.like)
    table, how = given.path, given.how
    require_apart(target, [*saved.files, *given.named])
    fresh = refuse_existing(target, force, own=True)
    refuse_text(saved, text)
    if saved.takes_texts:
        rows = saved.texts(table, text, how, memory=memory, progress=talk.progress)
    else:
        rows = saved.fitted_table(table, how, memory=memory, progress=talk.progress)
    tell_notes(rows, talk)
    page = _page(saved, rows, color, title)
    require_apart(target, rows.files)
    with disk_errors(target), replacing(target, fresh=fresh) as file:
        file.write(page)
    list_file(target)
    facts = {"model": str(saved.path), "table": str(table), "rows": rows.n_rows, "report": str(target)}
    facts["bytes"] = len(page)
    return Answer(facts, lambda: say("done", f"{len(page) / 1e6:.1f} MB: {target}", "bold green"), wrote=target)


def _page(saved: Any, rows: Any, color: str | None, title: str | None) -> bytes:
    import shlex

    from ritz.cli.fitting.columns import expand
    from ritz.cli.results.page import render_page, render_texts
    from ritz.cli.results.ranked import ranks_from

    command = shlex.join(["ritz", *Program.typed])
    if saved.takes_texts:
        from ritz.cli.fitting.texts import color_of

        tint = color_of(color or saved.manifest.get("color"), rows, asked=color is not None)
        return render_texts(saved.model, rows, color=tint, title=title or rows.source, command=command)
    tint = expand("--color", [color], rows)[0] if color else saved.manifest.get("color")
    return render_page(
        saved.model, saved.rows(rows), rows, color=tint if tint in rows.names else None, title=title or rows.source,
        command=command, supplementary=_beside(saved, rows), ranks=ranks_from(saved.manifest),
    )  # fmt: skip


def _beside(saved: Any, rows: Any) -> list[str]:
    """Columns that took no part in the fit, as far as these rows have them."""
    named = saved.manifest.get("supplementary") or []
    return [name for name in named if name in rows.names] if isinstance(named, list) else []
