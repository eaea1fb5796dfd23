"""``ritz verify MODEL TABLE``: the certificate of a model, checked anew against the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ritz.cli.options import COLUMNS, MEMORY, MODEL, READING, TABLE, TEXT
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import FAILED, tell_notes

__all__ = ["verify"]


@command(READING, COLUMNS)
def verify(
    model: Annotated[Path, MODEL],
    tables: Annotated[list[Path], TABLE],
    how: dict[str, Any],
    parts: dict[str, Any],
    talk: Talk,
    text: Annotated[str | None, TEXT] = None,
    memory: Annotated[str | None, MEMORY] = None,
) -> Answer:
    """Check MODEL against the TABLE that it was fitted on.

    Means, residuals and the number of eigenvalues are computed anew, by code that shares nothing with the fit. The
    exit code is 5 where the check fails.
    """
    from ritz.cli.fitting.columns import parts_of
    from ritz.cli.fitting.inputs import gathered
    from ritz.cli.results.saved import open_model, refuse_text
    from ritz.methods.fitted import fitted_of

    saved = open_model(model, memory=memory, progress=talk.progress)
    refuse_text(saved, text)
    given = gathered(tables, how, memory=memory, progress=talk.progress, like=saved.like)
    table, how = given.path, given.how
    if saved.takes_texts:
        from ritz.cli.fitting.texts import refuse_parts

        refuse_parts(parts)
        texts = saved.texts(table, text, how, memory=memory, progress=talk.progress)
        tell_notes(texts, talk)
        return _answer(saved, table, saved.model.verify(texts.documents))
    rows = saved.fitted_table(table, how, memory=memory, progress=talk.progress)
    tell_notes(rows, talk)
    weights = parts["weights"] or saved.manifest.get("weights")
    columns = parts_of(rows, columns=parts["columns"], weights=weights)
    _require_rows(saved, columns.used, table)
    if fitted_of(saved.model).kernel is not None:
        return _answer(saved, table, saved.model.verify(saved.rows(columns.used)))
    return _answer(saved, table, saved.model.verify(columns.used, sample_weight=columns.weight()))


def _answer(saved: Any, table: Path, done: Any) -> Answer:
    ok, words = bool(done), list(done.words)
    facts = {"model": str(saved.path), "table": str(table), "ok": ok, "words": words}
    return Answer(facts, lambda: _show(ok, words), code=0 if ok else FAILED)


def _require_rows(saved: Any, table: Any, path: Path) -> None:
    """Say plainly when this cannot be the table of the fit."""
    from ritz._core.errors import InputError
    from ritz.data.words import counted
    from ritz.methods.fitted import fitted_of

    rows_of_fit, n = saved.manifest.get("rows"), table.n_rows
    fitted = fitted_of(saved.model)
    if rows_of_fit is None and fitted.counts is None and fitted.weight is None:
        rows_of_fit = int(saved.model.n_samples_)
    if rows_of_fit is not None and n is not None and n != rows_of_fit:
        raise InputError(
            f"verify takes the table that was fitted, of {counted(rows_of_fit, 'row')}",
            received=f"{path} of {counted(n, 'row')}",
            hint="ritz transform takes new rows",
        )


def _show(ok: bool, words: list[str]) -> None:
    from rich.text import Text

    from ritz.cli.terminal.console import put, stdout

    head = Text("verification: ") + Text("passed" if ok else "FAILED", style="bold green" if ok else "bold red")
    put(stdout(), head, *(Text(word) for word in words))
