"""``ritz transform MODEL TABLE`` and ``ritz merge MODEL …``: models that were saved, put to use."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ritz._core.errors import FileError, MergeError, NonFiniteError
from ritz.cli.console import plain, repeat, say, spoken, stopping
from ritz.cli.options import DECIMAL, DELIMITER, ENCODING, HEADER, IDS, NA, THOUSANDS, table_options

__all__ = ["merge", "transform"]

MODEL_NAME = "model.ritz"

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
    ids: Annotated[list[str] | None, IDS] = None,
    na: Annotated[list[str] | None, NA] = None,
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
            from ritz.data.words import counted
            from ritz.persist.model import load

            fitted = load(model_file(model))
            progress = False if quiet or plain() else None
            fitted.set_params(memory=memory, progress=progress)
            options = table_options(
                header=header,
                delimiter=delimiter,
                decimal=decimal,
                thousands=thousands,
                encoding=encoding,
                ids=ids,
                na=na,
            )
            rows = read(table, memory=memory, progress=progress, **options)
            for note in () if quiet else rows.notes:
                say("read", spoken(note), "bold cyan")
            written = _scores(fitted, rows, output)
        finally:
            repeat(caught)
        facts = {"model": str(model), "table": str(table), "rows": len(rows), "scores": str(written)}
        facts["notes"] = [spoken(note) for note in rows.notes]
        facts["components"] = len(fitted.components_)
        told = f"{counted(len(rows), 'row')}, {counted(len(fitted.components_), 'component')}: {written}"
        _tell(facts, told, as_json, quiet)


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
        from ritz.data.words import counted
        from ritz.persist.model import load, save
        from ritz.persist.model import merge as together

        _keep_foreign(output, force)
        parts = [load(model_file(model)) for model in models]
        _require_alike(models, parts)
        whole = together(*parts)
        save(whole, output)
        facts = {"models": [str(model) for model in models], "rows": whole.n_samples_, "model": str(output)}
        told = f"{counted(len(models), 'model')}, {counted(whole.n_samples_, 'row')}: {output}"
        _tell(facts, told, as_json, quiet)


def model_file(path: Path) -> Path:
    """The path, unless it is a folder: a result folder has its model inside."""
    if not path.is_dir():
        return path
    inside = [path / MODEL_NAME] if (path / MODEL_NAME).exists() else sorted(path.glob("*.ritz"))
    hint = f"did you mean {inside[0]}?" if inside else f"ritz fit writes {MODEL_NAME} into its result folder"
    raise FileError(f"expected a model file at {path}", received="a folder", hint=hint)


def _require_alike(models: list[Path], parts: list[Any]) -> None:
    """Say which of the files differ, and in what, before anything is added up."""
    compare = getattr(parts[0], "_same_parameters", None)
    for path, part in zip(models[1:], parts[1:], strict=True):
        try:
            if compare is not None:
                compare(part)
        except MergeError as error:
            names = f"{models[0]} and {path}"
            expected = error.expected.replace("both models", names, 1)
            raise MergeError(expected, received=error.received, hint=error.hint) from error


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
