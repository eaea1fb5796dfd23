"""``ritz``: the program.

    ritz fit TABLE                read, plan, fit, summarise, write scores, components and the model
    ritz transform MODEL TABLE    scores of other rows under a model
    ritz merge MODEL…             one exact model from models of parts of the data

Exit codes: 0 done, 1 a defect of Ritz, 2 wrong usage, 3 data that cannot be used, 4 a file that cannot be
read or written, 130 cancelled. Results go to stdout (``--json``) and to files, all talk to stderr.

Nothing heavy is imported here, so that ``ritz --help`` answers at once; commands import what they need.
"""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Annotated

import typer

from ritz import __version__
from ritz.cli.console import Program, plain
from ritz.cli.fit import FitCommand, fit
from ritz.cli.transform import merge, transform

__all__ = ["app", "main"]

app = typer.Typer(
    name="ritz",
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("fit", cls=FitCommand)(fit)
app.command("transform")(transform)
app.command("merge")(merge)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"ritz {__version__}")
        raise typer.Exit


@app.callback()
def ritz(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Component analysis whose answers carry their proof."""


def main() -> None:
    """Run the program on the arguments of the process."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows no "±" shows a question mark instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="replace")
    if plain():
        import typer.rich_utils

        typer.rich_utils.COLOR_SYSTEM = None
    app()
