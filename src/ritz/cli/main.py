"""``ritz``: the program.

    fit TABLE                 read, plan, fit, summarise, write scores, components, the model and a report
    transform MODEL TABLE     scores of other rows under a model          inverse MODEL SCORES   rows from scores
    rank TABLE                how many components                         plan TABLE             how it would be fitted
    report MODEL TABLE        the report again                            inspect MODEL          what a model file holds
    verify MODEL TABLE        the certificate against the data            compare MODEL MODEL    how alike they are
    search MODEL QUERY        documents of a model of texts
    merge MODEL…              one exact model from models of parts        export MODEL           ONNX, SQL, components
    demo, doctor              a first look; what is installed

Exit codes: 0 done, 1 a defect of Ritz, 2 wrong usage, 3 data that cannot be used, 4 a file that cannot be
read or written, 5 a check that failed, 130 cancelled, 128 + n ended by signal n. Data goes to stdout and to
files, all talk to stderr.

Nothing heavy is imported here, so that ``ritz --help`` answers at once; commands import what they need.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ritz import __version__
from ritz.cli.commands.compare import compare
from ritz.cli.commands.demo import demo
from ritz.cli.commands.doctor import doctor
from ritz.cli.commands.export import export
from ritz.cli.commands.fit import FitCommand, fit
from ritz.cli.commands.inspect import inspect
from ritz.cli.commands.inverse import inverse
from ritz.cli.commands.merge import merge
from ritz.cli.commands.plan import plan
from ritz.cli.commands.rank import rank
from ritz.cli.commands.report import report
from ritz.cli.commands.search import search
from ritz.cli.commands.transform import transform
from ritz.cli.commands.verify import verify
from ritz.cli.terminal.console import Program, plain
from ritz.cli.terminal.signals import end_cleanly
from ritz.cli.terminal.streams import printed, ready
from ritz.cli.terminal.values import PlainCommand

__all__ = ["app", "main"]

app = typer.Typer(
    name="ritz",
    cls=Program,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
FIT, USE, LOOK = "Fit", "Use a model", "Look around"
app.command("fit", cls=FitCommand, rich_help_panel=FIT)(fit)
app.command("rank", cls=FitCommand, rich_help_panel=FIT)(rank)
app.command("plan", cls=FitCommand, rich_help_panel=FIT)(plan)
app.command("transform", cls=PlainCommand, rich_help_panel=USE)(transform)
app.command("search", cls=PlainCommand, rich_help_panel=USE)(search)
app.command("inverse", cls=PlainCommand, rich_help_panel=USE)(inverse)
app.command("report", cls=PlainCommand, rich_help_panel=USE)(report)
app.command("inspect", cls=PlainCommand, rich_help_panel=USE)(inspect)
app.command("verify", cls=PlainCommand, rich_help_panel=USE)(verify)
app.command("compare", cls=PlainCommand, rich_help_panel=USE)(compare)
app.command("merge", cls=PlainCommand, rich_help_panel=USE)(merge)
app.command("export", cls=PlainCommand, rich_help_panel=USE)(export)
app.command("demo", cls=PlainCommand, rich_help_panel=LOOK)(demo)
app.command("doctor", cls=PlainCommand, rich_help_panel=LOOK)(doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        printed(f"ritz {__version__}")
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
    ready()
    end_cleanly()
    if plain():
        import typer.rich_utils

        typer.rich_utils.COLOR_SYSTEM = None
    app()
