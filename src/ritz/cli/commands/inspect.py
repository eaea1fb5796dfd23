"""``ritz inspect MODEL``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ritz.cli.options import MODEL
from ritz.cli.terminal.command import Answer, command

__all__ = ["inspect"]

SHOWN = 12


@command()
def inspect(model: Annotated[Path, MODEL]) -> Answer:
    """Show what MODEL is: its method, columns, components, certificate and plan."""
    from ritz.cli.results.saved import open_model
    from ritz.cli.results.summary import certificate_sentences, components_of
    from ritz.methods.fitted import fitted_of

    saved = open_model(model)
    fitted, capabilities = saved.model, fitted_of(saved.model)
    names = [str(name) for name in getattr(fitted, "feature_names_in_", [])]
    facts = {
        "model": str(saved.path),
        "bytes": saved.path.stat().st_size,
        "estimator": type(fitted).__name__,
        "ritz": _written_by(saved.path),
        "source": saved.manifest.get("source"),
        "rows": int(fitted.n_samples_),
        "columns": names,
        "parameters": _parameters(fitted),
        **components_of(fitted),
        "mergeable": capabilities.mergeable,
        "certificate": certificate_sentences(fitted),
        "plan": {"solver": fitted.plan_.solver, "reasons": list(fitted.plan_.reasons)},
    }
    if capabilities.kernel is not None:
        facts["kernel"] = repr(capabilities.kernel)
    if saved.takes_texts:
        facts |= _of_texts(fitted)
    return Answer(facts, lambda: _show(facts))


def _of_texts(model: Any) -> dict[str, Any]:
    """What a model of texts holds: words instead of columns."""
    from ritz.cli.fitting.texts_job import topic_facts

    language = model.language_
    return {
        "documents": int(model.n_samples_),
        "words": int(model.n_features_in_),
        "empty_documents": len(model.empty_),
        "language_reason": str(language) if language is not None else f"{model.words or 'as counted'}",
        "weighting": model.weighting if isinstance(model.weighting, str) else repr(model.weighting),
        "topics": topic_facts(model),
    }


def _written_by(path: Path) -> str:
    from ritz._core.container import read_container

    header, _ = read_container(path, "model")
    return str(header.get("ritz", ""))[:20]


def _parameters(model: Any) -> dict[str, Any]:
    """Parameters that differ from the default, as plain values."""
    plain = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    return {
        name: value if isinstance(value, (int, float, str, bool, list, dict)) else repr(value)
        for name, value in given.items()
        if name not in ("memory", "progress") and repr(value) != repr(plain[name])
    }


def _show(facts: dict[str, Any]) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.results.summary import show_components, text_lines
    from ritz.cli.terminal.console import put, stdout
    from ritz.data.words import counted, shorten
    from ritz.spectral.plan import reason_lines, size_words

    of = f" of {facts['source']}" if facts["source"] else ""
    texts = "documents" in facts
    head = f"{facts['model']}: {facts['estimator']}{of}, {counted(facts['rows'], 'document' if texts else 'row')}"
    many = facts["words"] if texts else len(facts["columns"])
    head += f", {counted(many, 'word' if texts else 'column')}" if many else ""
    lines = Grid.grid(padding=(0, 2))
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    if facts["columns"] and not texts:
        lines.add_row("columns", Text(shorten(facts["columns"], SHOWN)))
    for name, told in text_lines(facts):
        lines.add_row(name, Text(told))
    if facts["parameters"]:
        lines.add_row("parameters", Text(", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())))
    if "tells" in facts:
        lines.add_row("eigenvalues", Text(f"no shares of a variance: an {facts['tells']}"))
    lines.add_row("certificate", Text("\n".join(facts["certificate"])))
    lines.add_row("plan", Text("\n".join([facts["plan"]["solver"], *reason_lines(facts["plan"]["reasons"])])))
    lines.add_row(
        "merge", Text("possible: the state is kept" if facts["mergeable"] else "not possible: no state is kept")
    )
    lines.add_row("file", Text(f"{size_words(facts['bytes'])}, written by ritz {facts['ritz']}"))
    table = show_components(facts) if facts["components"] else "\nNo component is kept.\n"
    put(stdout(), Text(head, style="bold"), table, lines)
