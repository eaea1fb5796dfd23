"""What the parameters of an LSI may be, and what a fitted one says of itself."""

from __future__ import annotations

from typing import Any

from ritz._core.errors import MemoryLimitError, ParameterError
from ritz._core.memory import limit
from ritz.data.passes.blocks import are_blocks
from ritz.data.words import counted, describe, nearest
from ritz.spectral.plan import size_words
from ritz.text.counts import Counts
from ritz.text.named import weighting
from ritz.text.weights import NORMS
from ritz.text.words import Words

__all__ = [
    "METHODS",
    "MOST_TOPICS",
    "check_parameters",
    "require_room",
    "require_unweighted",
    "summary",
    "usual_topics",
]

METHODS = ("svd", "ca", "kernel")
#: Blocks of the size of the components, d×k, that solving takes at its peak beside what the plan counts: 7.4 for 6,000
#: messages of 77,141 words and 100 topics.
BLOCKS = 8.0
#: Topics without being told. As many as documents say nothing but words: half of them find more on samples of 60 to
#: 250 documents of Cranfield, CISI and three pairs of newsgroups (mean average precision of 20 such samples 0.468 and
#: 0.498, of a third of them 0.495). Of 100, 200 and 300, 200 finds most on two collections of 1,400 abstracts. A few
#: documents may have nothing to do with each other, and all of them shall be found: up to 40 keep all.
MOST_TOPICS, FEW_DOCUMENTS = 200, 40


def usual_topics(most: int) -> int:
    """How many topics are found without being told, of so many that there are at most."""
    return min(MOST_TOPICS, max(most // 2, min(most, FEW_DOCUMENTS)))


def check_parameters(model: Any) -> None:
    """Refuse a parameter outside what it may be."""
    if model.method not in METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(map(repr, METHODS))}", received=repr(model.method),
            hint=f"method={nearest(model.method, METHODS)!r}",
        )  # fmt: skip
    if model.norm not in ("auto", *NORMS):
        raise ParameterError("norm must be 'auto', 'l2', 'l1' or None", received=repr(model.norm))
    if model.words is not None and not isinstance(model.words, Words):
        raise ParameterError(
            "words must be None or a ritz.text.Words", received=describe(model.words), hint="words=ritz.text.Words()"
        )
    weighting(model.weighting)._check_parameters()
    Counts(model.words, model.min_df, model.max_df, model.max_features, model.hashing)._check_parameters()


def require_unweighted(sample_weight: Any) -> None:
    """Refuse weights of documents."""
    if sample_weight is not None:
        raise ParameterError(
            "documents of an LSI have no weights", received=describe(sample_weight), hint="leave out sample_weight="
        )


def require_room(model: Any, rows: Any, wanted: Any) -> None:
    """Refuse topics that do not fit into memory, before they are computed."""
    (n, d), k, room = rows.shape, wanted if isinstance(wanted, int) else 0, limit(model.memory)
    held = rows.reading if are_blocks(rows) else 24.0 * rows.nnz
    needed = held + 8.0 * k * (BLOCKS * d + n)
    if needed > room:
        error = MemoryLimitError(
            f"{counted(k, 'topic')} of {counted(n, 'document')} and {counted(d, 'word')} must fit into "
            f"memory={size_words(room)}",
            received=f"about {size_words(needed)}",
            hint="fewer n_components, min_df=2 or max_features= for fewer words, or a larger memory=",
        )
        error.least = needed
        raise error


def summary(model: Any) -> str:
    """A fitted model in one or two lines: its sizes, and the language that was recognised."""
    sizes = ((model.n_samples_, "document"), (model.n_features_in_, "word"), (model.n_components_, "topic"))
    words = ", ".join(counted(number, what) for number, what in sizes)
    return f"  {words}" if model.language_ is None else f"  {words}\n  {model.language_}"
