"""``ritz fit TABLE``: the options, and what is said about the result; the work is in ``fitting/job.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import COLUMNS, FORCE, MEMORY, METHOD, READING, SEED, TABLE, column_option
from ritz.cli.terminal.command import Answer, Group, Talk, command
from ritz.cli.terminal.console import Program, stderr
from ritz.cli.terminal.values import PlainCommand

__all__ = ["FitCommand", "fit"]


SCORE_KINDS = ("csv", "parquet", "npy", "arrow", "none")
FIGURE_KINDS = ("png", "svg", "pdf")


class FitCommand(PlainCommand):
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


COMPONENTS = typer.Option(
    "-k",
    "--components",
    metavar="K",
    show_default="all, at most 20",
    help="A count, a share of the variance (0.9 or 90%), 'all', or a rule: aic, bcv, bic, broken-stick, "
    "dpa, elbow, gavish-donoho, gcv, kaiser, kfold, map, mle, parallel, permutation, stability.",
)
OUTPUT = typer.Option("-o", "--output", metavar="DIR", show_default="<stem>_ritz", help="Result folder.")
SOLVER = typer.Option(
    help="auto, svd, moments, krylov, lanczos, chebyshev, power or sketch.", rich_help_panel="The computation"
)
TOL = typer.Option(
    help="Residual at which iterative solvers stop, relative to the largest eigenvalue.",
    rich_help_panel="The computation",
)
SCORES = typer.Option(
    metavar="KIND", show_default="csv, parquet for a table read in pieces", help="csv, parquet, npy, arrow or none."
)
FIGURES = typer.Option(
    "--figures", metavar="KIND", show_default=False, help="Also pictures for papers: png, svg or pdf."
)
VERBOSE = typer.Option("--verbose", "-v", help="Show the whole certificate, and the plan with its reasons.")
REPORT = typer.Option("--report/--no-report", help="Write report.html.")
ENGINE = typer.Option(
    metavar="ADDRESS", show_default=False, help="Compute on a Dask cluster: dask://host:port.",
    rich_help_panel="The computation",
)  # fmt: skip
DEVICE = typer.Option(
    "--device", metavar="NAME", help="Where to compute: cpu, cuda, cuda:1, or auto.", rich_help_panel="The computation"
)
COVARIANCE_OF = typer.Option(
    "--covariance-of", metavar="N", min=2, show_default=False,
    help="TABLE is the covariance or correlation matrix of N rows, for pca and factor.",
    rich_help_panel="The method",
)  # fmt: skip
RESUME = typer.Option("--resume", help="Go on with a fit that was broken off.", rich_help_panel="The computation")

FURTHER = Group(
    "further",
    {
        "color": (
            Annotated[
                str | None,
                column_option("--color", "A column that points are coloured by.", "a column of categories, if any"),
            ],
            None,
        ),
        "supplementary": (
            Annotated[
                list[str] | None,
                column_option("--supplementary", "A column that takes no part in the axes, placed among them."),
            ],
            None,
        ),
    },
)


EXTRA = Group(
    "extra",
    {
        "supplementary_rows": (
            Annotated[
                list[str] | None,
                typer.Option(
                    "--supplementary-rows", metavar="ROWS", show_default=False,
                    help="Rows that take no part in the axes, placed among them: names, or numbers from 1, as 24..27.",
                    rich_help_panel="What columns are for",
                ),
            ],
            None,
        ),
        "clusters": (
            Annotated[
                str | None,
                typer.Option(
                    "--clusters", metavar="K", show_default=False,
                    help="Rows in clusters on the components: a number of them, or auto.",
                    rich_help_panel="The method",
                ),
            ],
            None,
        ),
        "rotate": (
            Annotated[
                str | None,
                typer.Option(
                    "--rotate", metavar="NAME", show_default=False,
                    help="Rotate the components: varimax, quartimax, promax or oblimin.",
                    rich_help_panel="The method",
                ),
            ],
            None,
        ),
    },
)  # fmt: skip


@command(METHOD, READING, COLUMNS, FURTHER, EXTRA)
def fit(
    table: Annotated[list[Path], TABLE],
    method: dict[str, Any],
    parts: dict[str, Any],
    further: dict[str, Any],
    extra: dict[str, Any],
    how: dict[str, Any],
    talk: Talk,
    components: Annotated[str | None, COMPONENTS] = None,
    output: Annotated[Path | None, OUTPUT] = None,
    scores: Annotated[str | None, SCORES] = None,
    report: Annotated[bool, REPORT] = True,
    figures: Annotated[list[str] | None, FIGURES] = None,
    solver: Annotated[str, SOLVER] = "auto",
    tol: Annotated[float, TOL] = 1e-6,
    seed: Annotated[int, SEED] = 0,
    memory: Annotated[str | None, MEMORY] = None,
    engine: Annotated[str | None, ENGINE] = None,
    device: Annotated[str, DEVICE] = "cpu",
    covariance_of: Annotated[int | None, COVARIANCE_OF] = None,
    resume: Annotated[bool, RESUME] = False,
    force: Annotated[bool, FORCE] = False,
    verbose: Annotated[bool, VERBOSE] = False,
) -> Answer:
    """Find the components of TABLE.

    The method follows from the columns, and the summary says why. Scores, components, the model, a report to open in
    a browser and a manifest go to a folder <stem>_ritz in the current folder.
    """
    from ritz.cli.fitting.components import parse_choice, parse_components
    from ritz.cli.fitting.extra import parse_extra
    from ritz.cli.fitting.inputs import gathered
    from ritz.cli.fitting.job import Job, run

    given = gathered(table, how, memory=memory, progress=talk.progress)
    job = Job(
        path=given.path,
        named=given.named,
        k=0 if components is None else parse_components(components, method["missing"], method["name"]),
        method=method,
        how=given.how,
        said=how,
        parts={**parts, **further},
        options={"solver": solver, "tol": tol, "random_state": seed, "device": device, "progress": talk.progress},
        output=output,
        force=force,
        memory=memory,
        resume=resume,
        covariance_of=covariance_of,
        engine=engine,
        scores=None if scores is None else parse_choice("--scores", scores, SCORE_KINDS),
        figures=_kinds(figures),
        report=report,
        quiet=talk.silent,
        command=_command(),
        extra=parse_extra(extra["clusters"], extra["rotate"], extra["supplementary_rows"]),
    )
    facts, folder = run(job)
    return answer(facts, folder, verbose)


def answer(facts: dict[str, Any], folder: Path, verbose: bool = False) -> Answer:
    """What ``ritz fit`` and ``ritz demo`` say of a fit."""

    def show() -> None:
        from ritz.cli.results.summary import show

        gone = f"\nremoved: {', '.join(facts['removed'])}, of the run before" if facts["removed"] else ""
        show(facts, stderr(), f"{folder}/: {', '.join(facts['written'])}{gone}", verbose)

    notes = [] if facts["replaced"] is None else [f"replaced the results of {facts['replaced']}"]
    if "report.html" in facts["written"]:
        facts = {**facts, "report": str(folder / "report.html")}
    return Answer({**facts, "folder": str(folder)}, show, notes=notes, wrote=folder)


def _kinds(texts: list[str] | None) -> tuple[str, ...]:
    from ritz.cli.fitting.components import parse_choice

    words = [word for text in texts or () for word in text.split(",") if word.strip()]
    return tuple(dict.fromkeys(parse_choice("--figures", word, FIGURE_KINDS) for word in words))


def _command() -> str:
    """The command as it was typed, for the report."""
    import shlex

    return shlex.join(["ritz", *Program.typed])
