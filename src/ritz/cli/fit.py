"""``ritz fit TABLE``: the options, and what is said about the result; the work is in ``job.py``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ritz.cli.console import plain, repeat, say, stderr, stopping
from ritz.cli.options import DECIMAL, DELIMITER, DROP, ENCODING, HEADER, IDS, NA, THOUSANDS, table_options

__all__ = ["FitCommand", "fit"]


SCORE_KINDS = ("csv", "parquet", "npy", "arrow", "none")


class FitCommand(TyperCommand):
    """Understands ``--scale auto|yes|no`` beside the flags ``--scale`` and ``--no-scale``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace the spelled-out values by flags; an option with an optional value would swallow TABLE."""
        meant = {"auto": [], "yes": ["--scale"], "no": ["--no-scale"]}
        out: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--":
                return super().parse_args(ctx, [*out, word, *rest])
            if word == "--scale" and rest and rest[0] in meant:
                out += meant[rest.pop(0)]
            elif word.startswith("--scale=") and word.removeprefix("--scale=") in meant:
                out += meant[word.removeprefix("--scale=")]
            else:
                out.append(word)
        return super().parse_args(ctx, out)


TABLE = typer.Argument(
    metavar="TABLE",
    help="CSV, TSV, Parquet, Arrow, .npy, .npz or .h5ad file, or a folder of Parquet files.",
    show_default=False,
)
COMPONENTS = typer.Option(
    "-k",
    "--components",
    metavar="K",
    show_default="all, at most 20",
    help="A count, a share of the variance (0.9 or 90%), 'all', or a rule: aic, bcv, bic, broken-stick, "
    "dpa, elbow, gavish-donoho, gcv, kaiser, kfold, map, mle, parallel, permutation, stability.",
)
SCALE = typer.Option(
    "--scale/--no-scale",
    show_default="auto",
    help="Standardise the columns, or keep their units; auto standardises when spreads differ more than tenfold.",
)
OUTPUT = typer.Option("-o", "--output", metavar="DIR", show_default="<stem>_ritz", help="Result folder.")
SOLVER = typer.Option(help="auto, svd, moments, krylov, lanczos, chebyshev, power or sketch.")
TOL = typer.Option(help="Residual at which iterative solvers stop, relative to the largest eigenvalue.")
SEED = typer.Option(min=0, help="Seed of random starts.")
MEMORY = typer.Option(
    metavar="SIZE",
    show_default="half of what is available",
    help="Memory that the fit may add, such as 500MB or 2GB; larger tables are read in pieces.",
)
MISSING = typer.Option(help="Missing values: error, mean, em or regularized.")
SCORES = typer.Option(
    metavar="KIND", show_default="csv, parquet for a table read in pieces", help="csv, parquet, npy, arrow or none."
)
ENGINE = typer.Option(metavar="ADDRESS", show_default=False, help="Compute on a Dask cluster: dask://host:port.")
RESUME = typer.Option("--resume", help="Go on with a fit that was broken off.")
FORCE = typer.Option("--force", help="Overwrite files that ritz did not write.")
JSON = typer.Option("--json", help="Print the summary as JSON to stdout.")
QUIET = typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
DEBUG = typer.Option("--debug", help="Show the traceback of an error.")


def fit(
    table: Annotated[Path, TABLE],
    components: Annotated[str | None, COMPONENTS] = None,
    scale: Annotated[bool | None, SCALE] = None,
    output: Annotated[Path | None, OUTPUT] = None,
    solver: Annotated[str, SOLVER] = "auto",
    tol: Annotated[float, TOL] = 1e-6,
    seed: Annotated[int, SEED] = 0,
    header: Annotated[bool | None, HEADER] = None,
    delimiter: Annotated[str | None, DELIMITER] = None,
    decimal: Annotated[str | None, DECIMAL] = None,
    thousands: Annotated[str | None, THOUSANDS] = None,
    encoding: Annotated[str | None, ENCODING] = None,
    drop: Annotated[list[str] | None, DROP] = None,
    ids: Annotated[list[str] | None, IDS] = None,
    na: Annotated[list[str] | None, NA] = None,
    memory: Annotated[str | None, MEMORY] = None,
    missing: Annotated[str, MISSING] = "error",
    scores: Annotated[str | None, SCORES] = None,
    engine: Annotated[str | None, ENGINE] = None,
    resume: Annotated[bool, RESUME] = False,
    force: Annotated[bool, FORCE] = False,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Find the principal components of TABLE.

    Numeric columns are used, others are set aside by name. Scores, components, the model and a manifest go to a
    folder <stem>_ritz in the current folder.
    """
    with stopping(debug), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            from ritz.cli.choice import parse_choice, parse_components
            from ritz.cli.job import Job, run

            k = 0 if components is None else parse_components(components, missing)
            kind = None if scores is None else parse_choice("--scores", scores, SCORE_KINDS)
            options = {
                "solver": solver,
                "tol": tol,
                "random_state": seed,
                "missing": parse_choice("--missing", missing, ("error", "mean", "em", "regularized")),
                "progress": False if quiet or plain() else None,
            }
            how = table_options(
                header=header, delimiter=delimiter, decimal=decimal, thousands=thousands, encoding=encoding,
                drop=drop, ids=ids, na=na,
            )  # fmt: skip
            job = Job(
                table, k, scale, output, force, how, memory, missing, resume, engine, kind, quiet or as_json, options
            )
            facts, written = run(job)
        finally:
            repeat(caught)
        if as_json:
            print(json.dumps({**facts, "folder": str(written)}, indent=2, ensure_ascii=False, allow_nan=False))
        elif not quiet:
            from ritz.cli.summary import show

            show(facts, stderr(), f"{written}/: {', '.join(facts['written'])}")
        if facts["replaced"] is not None and not quiet:
            say("note", f"replaced the results of {facts['replaced']}", "bold cyan")
