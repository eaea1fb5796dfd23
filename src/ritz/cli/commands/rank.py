"""``ritz rank TABLE``: how many components, by all criteria side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ritz.cli.options import COLUMNS, MEMORY, METHOD, READING, SEED, TABLE
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import tell_notes

if TYPE_CHECKING:
    from ritz.rank.consensus import Ranks

__all__ = ["rank"]

CRITERIA = typer.Option("--criteria", metavar="NAMES", show_default="all", help="Names with commas between.")
FRACTION = typer.Option("--fraction", metavar="F", help="Share of the variance for the criterion 'fraction'.")


@command(METHOD, READING, COLUMNS)
def rank(
    table: Annotated[list[Path], TABLE],
    method: dict[str, Any],
    how: dict[str, Any],
    parts: dict[str, Any],
    talk: Talk,
    criteria: Annotated[str | None, CRITERIA] = None,
    fraction: Annotated[float, FRACTION] = 0.9,
    seed: Annotated[int, SEED] = 0,
    memory: Annotated[str | None, MEMORY] = None,
) -> Answer:
    """Say how many components TABLE has, by many criteria, with a consensus."""
    from ritz._core.blas import small_blas
    from ritz.cli.fitting.columns import naming_marks
    from ritz.cli.fitting.inputs import gathered
    from ritz.cli.fitting.probe import probe
    from ritz.insight.choose_rank import choose_rank

    given = gathered(table, how, memory=memory, progress=talk.progress)
    prepared = probe(given.path, method, given.how, parts, memory=memory, seed=seed, progress=talk.progress)
    tell_notes(prepared.parts.whole, talk)
    names = None if criteria is None else [name.strip() for name in criteria.split(",")]
    whole = prepared.parts.whole
    with naming_marks(whole), small_blas(whole.n_rows or 0, len(getattr(whole, "columns", ())) or 1):
        ranks = choose_rank(
            prepared.estimator, prepared.rows, criteria=names, fraction=fraction, random_state=seed,
            sample_weight=prepared.parts.weight(),
        )  # fmt: skip
    facts = {
        "source": prepared.parts.whole.source,
        **prepared.facts(),
        "consensus": int(ranks.consensus),
        "reasons": list(ranks.reasons),
        "criteria": [
            {"criterion": row.criterion, "k": None if row.k is None else int(row.k), "why": row.why}
            for row in ranks.table
        ],
    }
    return Answer(facts, lambda: _show(ranks, facts))


def _show(ranks: Ranks, facts: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.terminal.console import put, stdout
    from ritz.data.words import counted

    head = Text(f"{facts['source']}: {counted(ranks.consensus, 'component')} of {facts['method']}", style="bold")
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("criterion", no_wrap=True)
    grid.add_column("k", justify="right", no_wrap=True)
    grid.add_column("why", overflow="fold")
    for row in ranks.table:
        grid.add_row(row.criterion, "–" if row.k is None else str(row.k), Text(row.why))
    put(stdout(), head, grid, *(Text(reason) for reason in ranks.reasons))
