"""``ritz transform MODEL TABLE`` and ``ritz merge MODEL …``: models that were saved, put to use."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer

from ritz.cli.console import plain, repeat, say, stopping

__all__ = ["merge", "transform"]

MODEL = typer.Argument(metavar="MODEL", help="A model.ritz that ritz fit wrote.", show_default=False)
MODELS = typer.Argument(metavar="MODEL...", help="Models of parts of the data.", show_default=False)
TABLE = typer.Argument(metavar="TABLE", help="Rows with the columns of the fit.", show_default=False)
OUTPUT = typer.Option(
    "-o", "--output", metavar="FILE", show_default=False, help="Ends in .parquet, .csv, .tsv, .arrow or .npy."
)
MERGED = typer.Option("-o", "--output", metavar="FILE", show_default=False, help="Where the merged model goes.")
MEMORY = typer.Option(
    metavar="SIZE", show_default="half of what is available", help="Memory to add at most, such as 500MB."
)
HEADER = typer.Option(
    "--header/--no-header", show_default="found out", help="Whether the first line of a text file names the columns."
)
JSON = typer.Option("--json", help="Print what was done as JSON to stdout.")
QUIET = typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
DEBUG = typer.Option("--debug", help="Show the traceback of an error.")


def transform(
    model: Annotated[Path, MODEL],
    table: Annotated[Path, TABLE],
    output: Annotated[Path, OUTPUT],
    memory: Annotated[str | None, MEMORY] = None,
    header: Annotated[bool | None, HEADER] = None,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Write the scores of TABLE under MODEL to a file.

    Columns are found by name. A table larger than memory is read in pieces; the file appears when it is complete.
    """
    with stopping(debug), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            from ritz.data.read import read
            from ritz.persist.model import load

            fitted = load(model)
            fitted.set_params(memory=memory, progress=False if quiet or plain() else None)
            rows = read(table, header=header, memory=memory)
            written = fitted.transform_to(rows, output)
        finally:
            repeat(caught)
        facts = {"model": str(model), "table": str(table), "rows": len(rows), "scores": str(written)}
        facts["components"] = len(fitted.components_)
        _tell(facts, f"{facts['rows']:,} rows, {facts['components']} components: {written}", as_json, quiet)


def merge(
    models: Annotated[list[Path], MODELS],
    output: Annotated[Path, MERGED],
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Make one exact model of models that were fitted on parts of the data."""
    with stopping(debug):
        from ritz.persist.model import merge as together
        from ritz.persist.model import save

        whole = together(*models)
        save(whole, output)
        facts = {"models": [str(model) for model in models], "rows": whole.n_samples_, "model": str(output)}
        _tell(facts, f"{len(models)} models, {whole.n_samples_:,} rows: {output}", as_json, quiet)


def _tell(facts: dict[str, object], words: str, as_json: bool, quiet: bool) -> None:
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    elif not quiet:
        say("done", words, "bold green")
