"""``ritz fit TABLE``: read, decide about scaling, fit a PCA, summarise, write scores and components."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ritz.cli.console import plain, say, stderr, stopping

if TYPE_CHECKING:
    from ritz.data.table import Table

__all__ = ["FitCommand", "fit"]

FILES = ["scores.csv", "components.csv"]


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


TABLE = typer.Argument(metavar="TABLE", help="CSV, TSV, Parquet or .npy file.", show_default=False)
COMPONENTS = typer.Option(
    "-k",
    "--components",
    metavar="K",
    show_default="all, at most 20",
    help="A count, a share of the variance (0.9 or 90%), 'all', or a rule: kaiser, broken-stick, aic, bic, "
    "mle, elbow, gavish-donoho.",
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
HEADER = typer.Option(
    "--header/--no-header",
    show_default="found out",
    help="Whether the first line of a text file names the columns.",
)
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
    force: Annotated[bool, FORCE] = False,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Find the principal components of TABLE.

    Numeric columns are used, others are set aside by name. Scores, components and a manifest go to a folder
    <stem>_ritz in the current folder.
    """
    with stopping(debug), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            from ritz.cli.choice import parse_components

            k = 0 if components is None else parse_components(components)
            options = {
                "solver": solver,
                "tol": tol,
                "random_state": seed,
                "progress": False if quiet or plain() else None,
            }
            facts, written = _run(table, k, scale, output, force, header, options)
        finally:
            _repeat(caught)
        if as_json:
            print(json.dumps({**facts, "folder": str(written)}, indent=2, ensure_ascii=False, allow_nan=False))
        elif not quiet:
            from ritz.cli.output import MANIFEST
            from ritz.cli.summary import show

            show(facts, stderr(), f"{written}/: {', '.join([*FILES, MANIFEST])}")
        if facts["replaced"] is not None and not quiet:
            say("note", f"replaced the results of {facts['replaced']}", "bold cyan")


def _run(
    path: Path,
    k: Any,
    scale: bool | None,
    output: Path | None,
    force: bool,
    header: bool | None,
    options: dict[str, Any],
) -> tuple[dict[str, Any], Path]:
    """Do the work; ``k`` is 0 where the user did not choose."""
    from ritz.cli.choice import count, reason
    from ritz.cli.output import check_folder, result_folder, write_results
    from ritz.cli.scaling import decide_scaling
    from ritz.cli.summary import describe
    from ritz.data.read import read
    from ritz.data.validate import require_finite
    from ritz.methods.pca import PCA

    folder = result_folder(path, output)
    before = check_folder(folder, force)
    table = read(path, header=header)
    X, names = table.numeric()
    require_finite(X, names, table.row_name)
    scaling = decide_scaling(X, names, scale)
    model = PCA(count(k, *X.shape), scale=scaling.scale, **options).fit(X)
    facts = describe(table, names, model, scaling, reason(k, model, X, scaling.scale))
    write_results(folder, dict(zip(FILES, _tables(table, X, names, model), strict=True)), facts)
    replaced = before if before != table.source else None
    return {**facts, "replaced": replaced, "seconds": model.plan_.actual_seconds}, folder


def _tables(table: Table, X: Any, names: list[str], model: Any) -> tuple[Any, Any]:
    """Scores with their row labels, and components with what is needed to apply them again."""
    import numpy as np
    import pyarrow as pa

    d, k = len(names), len(model.components_)
    heads = [f"PC{i + 1}" for i in range(k)]
    Z = model.transform(X)
    scores: dict[str, Any] = {"row": np.arange(table.n_rows)}
    for name, kind in table.kinds.items():
        if kind == "identifier" and name not in {"row", *heads}:
            scores[name] = pa.array(table.labels(name))
    scores |= {head: np.ascontiguousarray(Z[:, i]) for i, head in enumerate(heads)}
    mean = np.zeros(d) if model.mean_ is None else model.mean_
    scale = np.ones(d) if model.scale_ is None else model.scale_
    columns: dict[str, Any] = {"column": names, "mean": mean, "scale": scale}
    columns |= {head: np.ascontiguousarray(model.components_[i]) for i, head in enumerate(heads)}
    return pa.table(scores), pa.table(columns)


def _repeat(caught: list[warnings.WarningMessage]) -> None:
    """Print each warning once, but for columns set aside, which the summary shows."""
    from ritz._core.errors import ColumnsSetAside

    seen = dict.fromkeys(str(w.message) for w in caught if not issubclass(w.category, ColumnsSetAside))
    for text in seen:
        say("warning", text, "bold yellow")
