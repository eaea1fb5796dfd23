"""``ritz merge MODEL …``: one exact model of models that were fitted on parts of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import FORCE, model_file
from ritz.cli.terminal.command import Answer, command
from ritz.cli.terminal.console import say

__all__ = ["merge"]

MODELS = typer.Argument(metavar="MODEL...", help="Models of parts of the data.", show_default=False)
OUTPUT = typer.Option("-o", "--output", metavar="FILE", show_default=False, help="Where the merged model goes.")


@command()
def merge(
    models: Annotated[list[Path], MODELS],
    output: Annotated[Path, OUTPUT],
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Make one exact model of models that were fitted on parts of the data."""
    from ritz.cli.results.sink import require_free
    from ritz.data.words import counted
    from ritz.persist.model import load, save
    from ritz.persist.model import merge as together

    files = [model_file(model) for model in models]
    require_free(output, force, files, [])
    parts = [load(file) for file in files]
    _require_alike(files, parts)
    _warn_of_twins(files, parts)
    merged = together(*parts)
    require_free(output, force, files, [])
    save(merged, output)
    facts = {"models": [str(model) for model in models], "rows": merged.n_samples_, "model": str(output)}
    told = f"{counted(len(models), 'model')}, {counted(merged.n_samples_, 'row')}: {output}"
    return Answer(facts, lambda: say("done", told, "bold green"), wrote=output)


def _warn_of_twins(models: list[Path], parts: list[Any]) -> None:
    """Say which models hold the same sums: their rows would count twice."""
    from ritz._core.errors import AccuracyWarning
    from ritz._core.warn import warn

    first: dict[bytes, Path] = {}
    for path, model in zip(models, parts, strict=True):
        mark = _mark(model)
        if mark in first:
            warn(
                f"{first[mark]} and {path} hold the same sums, so they are probably of the same rows, which count "
                "twice in the merged model; name every part once",
                AccuracyWarning,
            )
        first.setdefault(mark, path)


def _mark(model: Any) -> bytes:
    """The sums of a model in one number; of models without any, the model itself."""
    import hashlib
    from dataclasses import fields

    import numpy as np

    from ritz.methods.fitted import fitted_of

    state = fitted_of(model).state
    if state is None:
        return str(id(model)).encode()
    sums = (getattr(state, field.name) for field in fields(state))
    numbers = [value for value in sums if isinstance(value, (np.ndarray, float, int))]
    return hashlib.sha256(b"".join(np.asarray(value).tobytes() for value in numbers)).digest()


def _require_alike(models: list[Path], parts: list[Any]) -> None:
    """Say which of the files differ, and in what, before anything is added up."""
    from ritz._core.errors import MergeError
    from ritz.methods.fitted import fitted_of

    first = fitted_of(parts[0])
    for path, model in zip(models[1:], parts[1:], strict=True):
        try:
            first.require_alike(model)
        except MergeError as error:
            names = f"{models[0]} and {path}"
            expected = error.expected.replace("both models", names, 1)
            raise MergeError(expected, received=error.received, hint=_remedy(error, path)) from error


def _remedy(error: Any, path: Path) -> str | None:
    """What to do where one part was standardised and the other was not: say it for all parts."""
    if error.received != "scale=True and scale=False" and error.received != "scale=False and scale=True":
        return str(error.hint) if error.hint else None
    import shlex

    from ritz.cli.results.manifest import held_manifest

    source = held_manifest(path.parent).get("source")
    wanted = "--scale" if error.received.startswith("scale=True") else "--no-scale"
    table = shlex.quote(source) if isinstance(source, str) else "TABLE"
    again = f"ritz fit {table} {wanted} -o {shlex.quote(str(path.parent))}"
    return f"each fit decided for itself; say --scale, or --no-scale, for every part, as in: {again}"
