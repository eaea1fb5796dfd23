"""``ritz verify MODEL TABLE``: the certificate of a model, checked anew against the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ritz.cli.options import COLUMNS, MEMORY, MODEL, READING, TABLE
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import FAILED, tell_notes
from ritz.methods.record import value_of

__all__ = ["verify"]


@command(READING, COLUMNS)
def verify(
    model: Annotated[Path, MODEL],
    table: Annotated[Path, TABLE],
    how: dict[str, Any],
    parts: dict[str, Any],
    talk: Talk,
    memory: Annotated[str | None, MEMORY] = None,
) -> Answer:
    """Check MODEL against the TABLE that it was fitted on.

    Means, residuals and the number of eigenvalues are computed anew, by code that shares nothing with the fit. The
    exit code is 5 where the check fails.
    """
    from ritz.cli.fitting.columns import parts_of
    from ritz.cli.fitting.kernel_check import check_kernel
    from ritz.cli.results.saved import open_model

    saved = open_model(model, memory=memory, progress=talk.progress)
    rows = saved.fitted_table(table, how, memory=memory, progress=talk.progress)
    tell_notes(rows, talk)
    weights = parts["weights"] or saved.manifest.get("weights")
    held = parts_of(rows, columns=parts["columns"], weights=weights)
    _require_rows(saved, held.used, table)
    if "kernel_" in vars(saved.model):
        ok, words = check_kernel(saved.model, saved.rows(held.used))
    else:
        done = saved.model.verify(held.used, sample_weight=held.weight())
        ok, words = bool(done), list(done.words)
    facts = {"model": str(saved.path), "table": str(table), "ok": ok, "words": words}
    return Answer(facts, lambda: _show(ok, words), code=0 if ok else FAILED)


def _require_rows(saved: Any, table: Any, path: Path) -> None:
    """Say plainly when this cannot be the table of the fit."""
    from ritz._core.errors import InputError
    from ritz.data.words import counted

    known, n = saved.manifest.get("rows"), table.n_rows
    if known is None and value_of(saved.model, "_raw") is None and value_of(saved.model, "_weight") is None:
        known = int(saved.model.n_samples_)
    if known is not None and n is not None and n != known:
        raise InputError(
            f"verify takes the table that was fitted, of {counted(known, 'row')}",
            received=f"{path} of {counted(n, 'row')}",
            hint="ritz transform takes new rows",
        )


def _show(ok: bool, words: list[str]) -> None:
    from rich.text import Text

    from ritz.cli.terminal.console import put, stdout

    head = Text("verification: ") + Text("passed" if ok else "FAILED", style="bold green" if ok else "bold red")
    put(stdout(), head, *(Text(word) for word in words))
