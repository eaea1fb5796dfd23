"""The work behind ``ritz fit`` of texts: read → fit → describe → write, as for tables.

scores       row, name of the document, T1, T2, …        coordinates U Σ
topics.csv   topic, σ, share, word, weight               the heaviest words at both ends of each topic
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ritz import __version__
from ritz._core.errors import ParameterError
from ritz.cli.fitting.texts import Texts, color_of, make_lsi, open_texts, refuse_parts
from ritz.cli.results.files import untimed
from ritz.cli.results.output import Place, check_folder, write_results
from ritz.cli.results.summary import certificate_sentences, components_of, plan_facts
from ritz.cli.terminal.console import say, spoken
from ritz.data.tables.write import rows_to
from ritz.data.words import counted
from ritz.methods.fitted import fitted_of
from ritz.methods.lsi.checks import usual_topics
from ritz.persist.model import pack

__all__ = ["run_texts", "topics_table"]

#: Words of each end of a topic in its table, topics that are told in words, and words of each end of these.
WORDS, TOLD, FEW = 20, 10, 5
#: Coordinates up to which they are written as text.
AS_TEXT = 2_000_000
#: Documents whose coordinates are written at once.
ROWS = 1 << 14


def run_texts(job: Any, folder: Path) -> dict[str, Any]:
    """Do the work; what the summary says."""
    before = check_folder(folder, job.force, [job.path])
    refuse_parts(job.parts)
    _refuse_engine(job)
    common = {**job.options, "memory": job.memory}
    texts = open_texts(job.path, job.method["text"], job.how, memory=job.memory, progress=job.options["progress"])
    _require_several(texts)
    color = color_of(job.parts.get("color"), texts)
    place = Place(folder, texts.files)
    estimator, language = make_lsi(job.method, job.k or None, texts, common)
    model = estimator.fit(texts.documents)
    facts = {**_describe(job, texts, model, language), "color": color}
    files = _contents(job, texts, model, color)
    paths, removed = write_results(folder, files, facts, place=place, check=texts.check_unchanged)
    done = {"replaced": before if before != texts.source else None, "written": [path.name for path in paths]}
    return {**facts, **done, "removed": removed, "seconds": model.plan_.actual_seconds}


def _refuse_engine(job: Any) -> None:
    if job.engine is not None:
        raise ParameterError(
            "texts are counted on this machine", received=f"--engine {job.engine}", hint="leave out --engine"
        )
    if job.resume and not job.quiet:
        say("note", "texts are fitted at once, so there is nothing to resume", "bold cyan")


def _require_several(texts: Texts) -> None:
    if texts.table is None and texts.column is None and not texts.path.is_dir():
        raise ParameterError(
            "a fit takes several documents", received=f"one file, {texts.path.name}",
            hint="give the folder that holds the texts, or --text COL for a table",
        )  # fmt: skip


# what the summary says


def _describe(job: Any, texts: Texts, model: Any, language: Any) -> dict[str, Any]:
    k, told = int(model.n_components_), model.language_ if language is None else language
    reading = {name: value for name, value in job.how.items() if value not in (None, [])}
    return {
        "ritz": __version__,
        "source": texts.source,
        "rows": int(model.n_samples_),
        "documents": int(model.n_samples_),
        "words": int(model.n_features_in_),
        "empty_documents": len(model.empty_),
        "missing_texts": int(texts.documents.missing),
        "language": None if told is None else told.name,
        "language_reason": words_of(model, told, job.method),
        "weighting": model.weighting,
        "table_columns": 0 if texts.table is None else len(texts.table.columns),
        "columns": [] if texts.column is None else [texts.column],
        "method": "lsi",
        "method_reason": "as asked" if job.method["name"] == "lsi" else "texts: latent semantic indexing",
        "identifiers": texts.identifiers,
        "weights": None,
        "supplementary": [],
        "set_aside": [{"column": name, "reason": why} for name, why in getattr(texts.documents, "set_aside", ())],
        "notes": [spoken(note) for note in texts.notes],
        "choice": _choice(job.k, model, k),
        **components_of(model),
        "possible_components": fitted_of(model).possible(model.n_samples_, model.n_features_in_),
        "topics": topic_facts(model),
        "certificate": certificate_sentences(model),
        "plan": plan_facts(model.plan_),
        "reading": reading | ({} if texts.column is None else {"text": texts.column}),
    }


def words_of(model: Any, language: Any, method: dict[str, Any]) -> str:
    """How texts became words."""
    rule = model.words
    if rule is None or (language is not None and rule.stem):
        return str(language) if language is not None else "counts"
    if method["language"] is not None:
        return f"{method['language']}: function words are left out" + (", and words are stemmed" if rule.stem else "")
    if language is not None and language.name is not None:
        return f"{language.name}: function words are left out, and words are not stemmed"
    return "words are taken as they are"


def _choice(asked: Any, model: Any, k: int) -> dict[str, Any]:
    chosen = fitted_of(model).choice
    if isinstance(asked, (str, float)):
        name = asked if isinstance(asked, str) else "fraction"
        why = chosen[1] if chosen is not None and chosen[0] == name else counted(k, "topic")
        return {"asked": asked, "rule": name, "why": why}
    possible = fitted_of(model).possible(model.n_samples_, model.n_features_in_) or 0
    cut = asked == 0 and k == usual_topics(possible) < possible
    why = f"the first {k}, as -k was not given; a search finds most with about so many" if cut else ""
    return {"asked": {None: "all", 0: "default"}.get(asked, asked), "rule": None, "why": why}


def topic_facts(model: Any) -> list[dict[str, Any]]:
    """The first topics in words."""
    heads = fitted_of(model).axis_names()
    return [
        {"name": heads[i], **{end: [{"word": word, "weight": weight} for word, weight in getattr(topic, end)]
                              for end in ("positive", "negative")}}
        for i, topic in enumerate(model.topics(TOLD, words=FEW))
    ]  # fmt: skip


# files


def _contents(job: Any, texts: Texts, model: Any, color: str | None) -> dict[str, Any]:
    large = model.n_samples_ * model.n_components_ > AS_TEXT
    ending = job.scores or ("parquet" if large else "csv")
    files: dict[str, Any] = {"model.ritz": lambda sink: pack(untimed(model, job.memory), sink)}
    if ending != "none":
        files[f"scores.{ending}"] = lambda sink: _scores(sink, ending, texts, model)
    files["topics.csv"] = topics_table(model)
    if job.figures:
        from ritz.cli.results.figures import text_figures

        files |= text_figures(job.figures, model)
    if job.report:
        from ritz.cli.results.page import render_texts

        files["report.html"] = lambda sink: sink.write(
            render_texts(untimed(model, job.memory), texts, color=color, title=texts.source, command=job.command,
                         seed=job.options["random_state"])
        )  # fmt: skip
    return files


def _scores(sink: Any, ending: str, texts: Texts, model: Any) -> None:
    E, labels = model.embedding_, texts.labels(numbered=True)
    heads = fitted_of(model).axis_names()
    with rows_to(sink, f".{ending}", heads, E.dtype, len(E)) as write:
        for start in range(0, len(E), ROWS):
            block = E[start : start + ROWS]
            write(block, labels.take(len(block)))


def topics_table(model: Any) -> Any:
    """The heaviest words of all topics, one line each."""
    import pyarrow as pa

    heads, lines = fitted_of(model).axis_names(), []
    for head, topic in zip(heads, model.topics(words=WORDS), strict=True):
        ends = [*topic.positive, *reversed(topic.negative)]
        lines += [(head, topic.value, topic.share, word, weight) for word, weight in ends]
    columns = list(zip(*lines, strict=True)) if lines else [()] * 5
    kinds = (pa.string(), pa.float64(), pa.float64(), pa.string(), pa.float64())
    names = ("topic", "singular_value", "share", "word", "weight")
    return pa.table({name: pa.array(np.asarray(column, object), kind)
                     for name, column, kind in zip(names, columns, kinds, strict=True)})  # fmt: skip
