"""What texts are: documents, words, language, weights, documents without words, words that occur most."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.data.words import counted, shorten
from ritz.methods.lsi.keeps import Keeps
from ritz.report.context import Context
from ritz.report.html import bdi, clip, details, join, number, table, tag
from ritz.report.part import Content

__all__ = ["text_data"]

#: Documents without words that are named, and words in the table.
NAMED, WORDS = 8, 40


def text_data(about: Context) -> Content:
    """Facts about texts, and their words."""
    model, keeps = about.model, Keeps(about.model)
    n, d = int(model.n_samples_), int(model.n_features_in_)
    facts: list[tuple[str, Any]] = [("Documents", _documents(about, n)), ("Words", _words(about, d))]
    if model.language_ is not None:
        facts.append(("Language", f"{model.language_}"))
    elif model.words is not None:
        facts.append(("Words are made by", tag("code", clip(repr(model.words), 400))))
    way = model.weighting if isinstance(model.weighting, str) else repr(model.weighting)
    if model.method == "ca":
        way = "those of a correspondence analysis of the counts"
    facts.append(("Weights", way))
    if keeps.lengths is not None and len(keeps.lengths):
        low, middle, high = (float(x) for x in np.quantile(keeps.lengths, [0, 0.5, 1]))
        facts.append(("Length", f"{number(middle)} words (median), from {number(low)} to {number(high)}"))
    facts.append(("Without a known word", _empty(about)))
    if keeps.updates:
        facts.append(("Updates", f"{keeps.updates}; {model.drift_}"))
    facts += [("Reading", note) for note in getattr(about.X, "notes", ())]
    listed = tag("dl", [join(tag("dt", name), tag("dd", words)) for name, words in facts], class_="facts")
    return Content(join(listed, _frequent(about)), None, "The texts")


def _documents(about: Context, n: int) -> str:
    words = f"{n:,}"
    if about.sampled:
        words += f"; charts show {len(about.index):,} of them, drawn evenly at random"
    if not about.of_fit:
        words = f"{about.n:,}; not those of the fit, which had {counted(n, 'document')}"
    return words


def _words(about: Context, d: int) -> str:
    buckets = Keeps(about.model).buckets
    return f"{d:,} different ones" if buckets is None else f"{d:,} columns, which words share by their hash"


def _empty(about: Context) -> str:
    empty = about.model.empty_
    if not len(empty):
        return "none"
    labels = Keeps(about.model).names
    names = [f"row {i + 1:,}" if labels is None else clip(labels[i], 40) for i in empty[:NAMED].tolist()]
    more = f" and {len(empty) - NAMED:,} more" if len(empty) > NAMED else ""
    return f"{len(empty):,}: {shorten(names, NAMED)}{more}; they lie at zero, and no search finds them"


def _frequent(about: Context) -> Any:
    """Words that most documents have."""
    file, names = Keeps(about.model).inverted, getattr(about.model, "feature_names_in_", None)
    if file is None or names is None:
        return None
    often, total = np.diff(file.indptr), np.asarray(file.sum(axis=1), np.float64).ravel()
    order = np.argsort(-often, kind="stable")[:WORDS]
    rows = [(bdi(names[j], 40), f"{int(often[j]):,}", f"{int(total[j]):,}") for j in order.tolist()]
    return details("The commonest words", table(("word", "documents", "times"), rows, "Words that most documents have"))
