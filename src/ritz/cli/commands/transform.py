"""``ritz transform MODEL TABLE``: coordinates of other rows under a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import FORCE, MEMORY, MODEL, OUTPUT_FILE, READING, TEXT, UNSEEN, model_file
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import say, spoken, tell_notes

__all__ = ["transform"]

TABLE = typer.Argument(
    metavar="TABLE", help="Rows with the columns of the fit; texts for a model of texts.", show_default=False
)


@command(READING)
def transform(
    model: Annotated[Path, MODEL],
    table: Annotated[list[Path], TABLE],
    how: dict[str, Any],
    talk: Talk,
    output: Annotated[Path | None, OUTPUT_FILE] = None,
    text: Annotated[str | None, TEXT] = None,
    unseen: Annotated[str | None, UNSEEN] = None,
    predict: Annotated[
        bool, typer.Option("--predict", help="pls, pcr, cca: predictions of the second table instead of scores.")
    ] = False,
    memory: Annotated[str | None, MEMORY] = None,
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Write the scores of TABLE under MODEL.

    Columns are found by name. A table larger than memory is read in pieces; the file appears when it is complete.
    """
    from ritz._core.errors import InputError
    from ritz.cli.fitting.columns import naming_marks, within_reach
    from ritz.cli.fitting.inputs import gathered
    from ritz.cli.results.alike import far_from_fit
    from ritz.cli.results.saved import open_model, refuse_text, unseen_way
    from ritz.cli.results.scores import coordinates, predictions
    from ritz.cli.results.sink import require_free, written
    from ritz.cli.terminal.vocabulary import by_name
    from ritz.data.words import counted

    fresh = require_free(output, force, [model_file(model)], table)
    saved = open_model(model, memory=memory, progress=talk.progress, **unseen_way(unseen))
    refuse_text(saved, text)
    given = gathered(table, how, memory=memory, progress=talk.progress, like=saved.like)
    how, source = given.how, given.path
    if saved.takes_texts:
        return _of_texts(
            saved, saved.texts(source, text, how, memory=memory, progress=talk.progress), output, talk, fresh
        )
    rows = saved.new_table(source, how, memory=memory, progress=talk.progress)
    require_free(output, force, saved.files, rows.files)
    tell_notes(rows, talk)
    far = far_from_fit(saved.manifest, rows)
    for sentence in far:
        say("warning", sentence, "bold yellow")
    ways = saved.model.get_params(deep=False)
    try:
        taken = saved.rows(rows)
        scores = (
            predictions(saved.model, taken, rows) if predict else coordinates(saved.model, taken, rows, fitted=False)
        )
        with within_reach(rows), naming_marks(rows, drops=False):
            written(output, scores, as_json=talk.json, fresh=fresh)
    except InputError as error:
        raise by_name(_on_new_rows(error, ways), rows.names, rows.row_name) from error
    facts = {
        "model": str(saved.path),
        "table": " ".join(map(str, given.named)),
        "rows": len(rows),
        "scores": None if output is None else str(output),
        "notes": [spoken(note) for note in (*rows.notes, *far)],
        "components": len(scores.heads),
    }
    what = counted(len(scores.heads), "predicted column" if predict else "component")
    told = f"{counted(len(rows), 'row')}, {what}: {output}"
    return Answer(facts, None if output is None else lambda: say("done", told, "bold green"), wrote=output)


def _of_texts(saved: Any, texts: Any, output: Path | None, talk: Talk, fresh: bool) -> Answer:
    import numpy as np

    from ritz.cli.results.scores import coordinates_of_texts
    from ritz.cli.results.sink import written
    from ritz.data.words import counted

    tell_notes(texts, talk)
    scores = coordinates_of_texts(saved.model, texts)
    written(output, scores, as_json=talk.json, fresh=fresh)
    n, k = scores.rows or 0, len(scores.heads)
    facts = {
        "model": str(saved.path),
        "table": str(texts.path),
        "rows": n,
        "scores": None if output is None else str(output),
        "notes": [spoken(note) for note in texts.notes],
        "components": k,
        "unseen_words": int(np.sum(saved.model.unseen_)),
    }
    told = f"{counted(n, 'document')}, {counted(k, 'topic')}: {output}"
    return Answer(facts, None if output is None else lambda: say("done", told, "bold green"), wrote=output)


def _on_new_rows(error: Any, parameters: dict[str, Any]) -> Any:
    """Gaps of new rows are filled by a model that was fitted to do so, if its method can."""
    from ritz._core.errors import NonFiniteError

    if not isinstance(error, NonFiniteError) or "NaN" not in error.expected:
        return error
    fit = "fit the model with --missing regularized, or " if "missing" in parameters else ""
    return NonFiniteError(error.expected, received=error.received, hint=f"{fit}drop those rows")
