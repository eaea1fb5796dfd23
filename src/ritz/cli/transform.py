"""``ritz transform MODEL TABLE`` and ``ritz merge MODEL …``: models that were saved, put to use."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ritz._core.errors import FileError, NonFiniteError
from ritz.cli.console import plain, repeat, say, spoken, stopping

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
DELIMITER = typer.Option(metavar="MARK", show_default="found out", help="What separates fields of a text file.")
DECIMAL = typer.Option(metavar="MARK", show_default="found out", help="Decimal mark of a text file: . or ,")
THOUSANDS = typer.Option(metavar="MARK", show_default="found out", help="What groups digits in a text file.")
ENCODING = typer.Option(metavar="NAME", show_default="found out", help="Encoding of a text file, such as latin-1.")
FORCE = typer.Option("--force", help="Overwrite a file that is no model.")
JSON = typer.Option("--json", help="Print what was done as JSON to stdout.")
QUIET = typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
DEBUG = typer.Option("--debug", help="Show the traceback of an error.")


def transform(
    model: Annotated[Path, MODEL],
    table: Annotated[Path, TABLE],
    output: Annotated[Path, OUTPUT],
    memory: Annotated[str | None, MEMORY] = None,
    header: Annotated[bool | None, HEADER] = None,
    delimiter: Annotated[str | None, DELIMITER] = None,
    decimal: Annotated[str | None, DECIMAL] = None,
    thousands: Annotated[str | None, THOUSANDS] = None,
    encoding: Annotated[str | None, ENCODING] = None,
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
            text: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal}
            text |= {"thousands": thousands, "encoding": encoding}
            rows = read(table, header=header, memory=memory, **text)
            for note in () if quiet else rows.notes:
                say("read", spoken(note), "bold cyan")
            written = _scores(fitted, rows, output)
        finally:
            repeat(caught)
        facts = {"model": str(model), "table": str(table), "rows": len(rows), "scores": str(written)}
        facts["notes"] = [spoken(note) for note in rows.notes]
        facts["components"] = len(fitted.components_)
        _tell(facts, f"{facts['rows']:,} rows, {facts['components']} components: {written}", as_json, quiet)


def _scores(fitted: Any, rows: Any, output: Path) -> Path:
    try:
        return Path(fitted.transform_to(rows, output))
    except NonFiniteError as error:
        hint = "fit the model with --missing regularized, or drop those rows"
        raise NonFiniteError(error.expected, received=error.received, hint=hint) from error


def merge(
    models: Annotated[list[Path], MODELS],
    output: Annotated[Path, MERGED],
    force: Annotated[bool, FORCE] = False,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Make one exact model of models that were fitted on parts of the data."""
    with stopping(debug):
        from ritz.persist.model import merge as together
        from ritz.persist.model import save

        _keep_foreign(output, force)
        whole = together(*models)
        save(whole, output)
        facts = {"models": [str(model) for model in models], "rows": whole.n_samples_, "model": str(output)}
        _tell(facts, f"{len(models)} models, {whole.n_samples_:,} rows: {output}", as_json, quiet)


def _keep_foreign(output: Path, force: bool) -> None:
    """A model may take the place of a model, not of anything else."""
    if force or not output.is_file():
        return
    with output.open("rb") as file:
        if not file.read(5).startswith(b"\x93RITZ"):
            raise FileError(
                f"expected {output} to be absent or a Ritz file",
                received="a file of another kind",
                hint="choose another name with -o, or overwrite it with --force",
            )


def _tell(facts: dict[str, object], words: str, as_json: bool, quiet: bool) -> None:
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    elif not quiet:
        say("done", words, "bold green")
