"""``ritz export MODEL``: a model for programs that do not know Ritz."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ritz.cli.options import FORCE, MODEL
from ritz.cli.terminal.command import Answer, command
from ritz.cli.terminal.console import say

__all__ = ["export"]

FORMATS = ("onnx", "sql", "csv", "parquet")


def _formats(begun: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(begun)]


TO = typer.Option(
    "--to",
    metavar="FORMAT",
    show_default="by the ending of FILE",
    help="onnx (a graph), sql (a SELECT for DuckDB and PostgreSQL), csv or parquet (the components).",
    autocompletion=_formats,
)
OUTPUT = typer.Option("-o", "--output", metavar="FILE", show_default="beside the model", help="Where it goes.")
DTYPE = typer.Option("--dtype", metavar="TYPE", show_default="float32", help="onnx: float32 or float64.")
NAME = typer.Option("--table", metavar="NAME", show_default="rows", help="sql: the table that is read.")
KEEP = typer.Option("--keep", metavar="COLS", show_default="all", help="sql: columns that go along with the scores.")


@command()
def export(
    model: Annotated[Path, MODEL],
    to: Annotated[str | None, TO] = None,
    output: Annotated[Path | None, OUTPUT] = None,
    dtype: Annotated[str | None, DTYPE] = None,
    table: Annotated[str | None, NAME] = None,
    keep: Annotated[str | None, KEEP] = None,
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Write MODEL as an ONNX graph, an SQL query, or a table of its components."""
    from ritz._core.errors import ParameterError
    from ritz.cli.fitting.components import parse_choice
    from ritz.cli.results.manifest import list_file, refuse_existing
    from ritz.cli.results.saved import open_model
    from ritz.data.tables.apart import require_apart
    from ritz.persist.export.front import export as exported

    if to is None and output is None:
        raise ParameterError("expected a format", received="neither --to nor -o", hint="--to onnx")
    kind = None if to is None else parse_choice("--to", to, FORMATS)
    saved = open_model(model)
    name = "components" if kind in ("csv", "parquet") else saved.path.stem
    target = saved.path.with_name(f"{name}.{kind}") if output is None else output
    require_apart(target, saved.files, model=True)
    refuse_existing(target, force, own=True)
    kept = None if keep is None else [column.strip() for column in keep.split(",")]
    written = exported(saved.model, target, kind, dtype=dtype, table=table, keep=kept)
    list_file(written)
    facts = {"model": str(saved.path), "to": kind or target.suffix.lstrip("."), "file": str(written)}
    told = f"{type(saved.model).__name__} as {facts['to']}: {written}"
    return Answer({**facts, "bytes": written.stat().st_size}, lambda: say("done", told, "bold green"), wrote=written)
