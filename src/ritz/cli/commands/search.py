"""``ritz search MODEL QUERY``: documents of a model of texts that are nearest to a query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ritz.cli.options import FORCE, MEMORY, MODEL, TEXT, model_file
from ritz.cli.terminal.command import Answer, Talk, command
from ritz.cli.terminal.console import say

__all__ = ["search"]

QUERY = typer.Argument(metavar="QUERY", help="What is looked for; several words are one query.", show_default=False)
TOP = typer.Option("--top", metavar="N", min=1, help="How many documents.")
HYBRID = typer.Option(
    "--hybrid", metavar="SHARE", min=0.0, max=1.0, show_default=False,
    help="Share of BM25, which compares words, in the score; 0.3 is a good one.",
)  # fmt: skip
TEXTS = typer.Option(
    "--texts", metavar="PATH", show_default=False, help="Where the documents of the fit lie, to show their texts."
)
OUTPUT = typer.Option(
    "-o", "--output", metavar="FILE", show_default="a table on the screen",
    help="Ends in .csv, .tsv, .parquet or .arrow.",
)  # fmt: skip
#: Characters of a text that are shown.
SHOWN = 300


@command()
def search(
    model: Annotated[Path, MODEL],
    query: Annotated[list[str], QUERY],
    talk: Talk,
    top: Annotated[int, TOP] = 10,
    hybrid: Annotated[float | None, HYBRID] = None,
    texts: Annotated[Path | None, TEXTS] = None,
    text: Annotated[str | None, TEXT] = None,
    output: Annotated[Path | None, OUTPUT] = None,
    memory: Annotated[str | None, MEMORY] = None,
    force: Annotated[bool, FORCE] = False,
) -> Answer:
    """Find the documents of MODEL that are nearest to QUERY.

    MODEL was fitted to texts. The score is the cosine between the topics of the query and of a document; words that
    the fit did not know are ignored, and said. What shares neither a topic nor a word with the query is not found.
    """
    from ritz.cli.results.saved import open_model
    from ritz.cli.results.sink import require_free, save_table

    fresh = require_free(output, force, [model_file(model)], [] if texts is None else [texts], scores=False)
    saved = open_model(model, memory=memory, progress=talk.progress)
    _require_texts(saved)
    if texts is not None:
        found = saved.texts(texts, text, _as_fitted(), memory=memory, progress=talk.progress)
        saved.model.attach(found.documents)
    asked = " ".join(query)
    hits = saved.model.search(asked, top=top, hybrid=hybrid)
    facts = _facts(saved, asked, hits, hybrid)
    if output is not None:
        save_table(output, _table(facts["hits"]), as_json=talk.json, fresh=fresh)
        told = f"{hits.many} hit{'' if hits.many == '1' else 's'}: {output}"
        return Answer({**facts, "file": str(output)}, lambda: say("done", told, "bold green"), wrote=output,
                      notes=[facts["note"]] if facts["note"] else [])  # fmt: skip
    return Answer(facts, lambda: _show(facts))


def _require_texts(saved: Any) -> None:
    from ritz._core.errors import ParameterError

    if not saved.takes_texts:
        raise ParameterError(
            "search takes a model of texts", received=f"{saved.path}, a {type(saved.model).__name__}",
            hint="ritz fit FOLDER --method lsi makes one",
        )  # fmt: skip


def _as_fitted() -> dict[str, Any]:
    from ritz.cli.defaults import READING_DEFAULTS

    return dict(READING_DEFAULTS)


def _facts(saved: Any, query: str, hits: Any, hybrid: float | None) -> dict[str, Any]:
    texts, names = hits.texts if len(hits) else None, hits.names
    return {
        "model": str(saved.path),
        "query": query,
        "score": "cosine of topics" if hybrid is None else f"{hybrid:g} BM25 + {1 - hybrid:g} cosine of topics",
        "unseen_words": int(saved.model.unseen_[0]),
        "note": hits.note,
        "found": hits.found,
        "hits": [
            {
                "rank": i + 1,
                "score": score,
                "row": row + 1,
                "document": None if names is None else str(names[i]),
                "text": None if texts is None else texts[i],
            }
            for i, (row, score) in enumerate(hits)
        ],
    }  # fmt: skip


def _table(hits: list[dict[str, Any]]) -> Any:
    import pyarrow as pa

    kinds = {"rank": pa.int64(), "score": pa.float64(), "row": pa.int64(), "document": pa.string(), "text": pa.string()}
    columns = {name: pa.array([hit[name] for hit in hits], kind) for name, kind in kinds.items()}
    return pa.table(
        {name: column for name, column in columns.items() if not len(hits) or column.null_count < len(hits)}
    )


def _show(facts: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.terminal.console import put, stdout
    from ritz.data.words import counted, cut

    hits = facts["hits"]
    many = f"{len(hits):,} of {facts['found']:,} documents" if facts["found"] > len(hits) else ""
    lines: list[Any] = [
        Text(f"{many or counted(len(hits), 'document')} for {facts['query']!r} by {facts['score']}", style="bold")
    ]
    if hits:
        named, read = hits[0]["document"] is not None, hits[0]["text"] is not None
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        for title in ("", "score", *(() if named else ("row",))):
            grid.add_column(title, justify="right", no_wrap=True)
        if named:
            grid.add_column("document", overflow="fold")
        if read:
            grid.add_column("text", overflow="fold")
        for hit in hits:
            name = [Text(hit["document"])] if named else [f"{hit['row']}"]
            body = [Text(cut(" ".join(hit["text"][: 8 * SHOWN].split()), SHOWN))] if read else []
            grid.add_row(f"{hit['rank']}", f"{round(hit['score'], 4) + 0.0:.4f}", *name, *body)
        lines.append(grid)
    if facts["note"]:
        lines.append(Text(facts["note"]))
    elif facts["unseen_words"]:
        n = facts["unseen_words"]
        are = "is" if n == 1 else "are"
        lines.append(Text(f"{counted(n, 'word')} of the query {are} unknown to the model, and ignored"))
    put(stdout(), *lines)
