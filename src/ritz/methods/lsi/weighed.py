"""Counts of documents as a fitted model knows them, and their weights.

texts or counts  →  CSR (n, d) over the words of the model  →  weights by what the fit learned
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz._core.errors import EmptyDocuments, InputError
from ritz._core.memory import limit
from ritz._core.warn import warn
from ritz.data.words import counted, cut, describe, shorten
from ritz.methods.lsi.bm25 import inverted
from ritz.methods.lsi.counted import BYTES_A_CHARACTER, Counted, count_texts, is_counts, placed, read
from ritz.methods.lsi.filed import learned, streamed
from ritz.text.adopt import documents
from ritz.text.named import weighting
from ritz.text.shards import Shards
from ritz.text.weights import Weighting
from ritz.text.words import Words

__all__ = [
    "adopted", "columns_of", "counted_pieces", "counts_of", "empty_in", "in_range", "require_words", "rule_of",
    "tell_empty", "unknown_words", "vocabulary_of", "weigh", "weighting_of",
]  # fmt: skip

#: Bytes of counts that are kept however small the coordinates are.
LITTLE_COUNTS = 1 << 26
#: Share of the memory limit that the counts of new documents may take at a time.
PIECE_SHARE = 0.25
#: What the largest weight of words may be.
RANGE = 1e-70, 1e70
#: Ignored words that are told by name.
TOLD = 100


def weighting_of(model: Any) -> Weighting:
    """A new weighting of the model; profiles for a correspondence analysis."""
    chosen = "histogram" if model.method == "ca" else model.weighting
    made = Weighting(**weighting(chosen).get_params())
    if model.norm != "auto" and model.method != "ca":
        made.norm = model.norm
    return made


def weigh(model: Any, counts: Any) -> Any:
    """CSR of weights, by the sums of the fit."""
    rule = weighting_of(model)
    rule.sums_ = model._record.word_sums
    return streamed(rule, counts, model.memory) if isinstance(counts, Shards) else in_range(rule.transform(counts))


def in_range(rows: Any) -> Any:
    """Weights whose fourth powers are numbers; refused where no count of words would have them."""
    largest = float(np.max(rows.data, initial=0.0))
    if largest == 0 or RANGE[0] <= largest <= RANGE[1]:
        return rows
    raise InputError(
        f"expected weights of words between {RANGE[0]:g} and {RANGE[1]:g}",
        received=f"{largest:g} as the largest one",
        hint="divide the counts by a power of ten, or choose weighting='tf-idf', which has documents of length 1",
    )


def adopted(model: Any, found: Counted) -> Any:
    """Weights of the documents of a fit; what the model has to know of its words is recorded."""
    counts, record = found.counts, model._record
    weights = weighting_of(model)
    away = isinstance(counts, Shards)
    rows = streamed(learned(weights, counts), counts, model.memory) if away else in_range(weights.fit_transform(counts))
    record.word_sums, record.rule = weights.sums_, None if found.rule is None else found.rule.parameters()
    record.buckets = model.hashing if found.documents is not None else None
    model.n_features_in_ = int(counts.shape[1])
    if found.words is not None:
        model.feature_names_in_ = found.words
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    record.added_bytes = 16 * counts.shape[0] if away else int(24 * counts.nnz)  # the plan has so much less
    k = model.n_components if isinstance(model.n_components, int) else 200
    small = 6.0 * counts.nnz <= max(LITTLE_COUNTS, 8.0 * counts.shape[0] * k)
    if not away and (model.keep_counts or (model.keep_counts is None and small)):
        record.inverted, record.lengths = inverted(counts), np.asarray(counts.sum(axis=1), np.float64).ravel()
    return rows


def require_words(found: Counted) -> None:
    """Refuse documents that leave nothing to count."""
    n, d = found.counts.shape
    if n and d and found.counts.nnz:
        return
    if n == 0:
        raise InputError("expected at least one document", received="none", hint="look at where texts come from")
    raise InputError(
        "expected documents with words",
        received=f"{counted(n, 'document')} in which no word is left",
        hint="look at words=, min_df= and max_df=; words are letters and digits, so that signs and emoji are none; "
        "stop words and words of one letter are left out",
    )


def rule_of(model: Any) -> Words:
    """The rule by which texts become words."""
    rule = model._record.rule
    if rule is None:
        raise InputError(
            "expected counts: the model was fitted to a matrix whose columns have no names",
            received="texts",
            hint="fit(counts, vocabulary=words) names them",
        )
    return Words(**rule)


def vocabulary_of(model: Any) -> dict[str, int] | None:
    """Column of each word; None where columns have no names, or share words by their hash."""
    record = model._record
    if record.rule is None or record.buckets is not None:
        return None
    if record.word_columns is None:
        record.word_columns = {str(word): j for j, word in enumerate(model.feature_names_in_)}
    columns: dict[str, int] = record.word_columns
    return columns


def columns_of(model: Any, words: Any) -> Any:
    """Column of each word, −1 where it has none."""
    column = model.vocabulary_.get
    return np.fromiter((column(word, -1) for word in words), np.int64, len(words))


def counts_of(model: Any, X: Any, text: str | None = None) -> Counted:
    """Counts of new documents over the words of the model, with the tokens that have no column."""
    d = int(model.n_features_in_)
    if is_counts(X):
        found = read(X)
        if found.words is not None and found.words.tolist() != list(getattr(model, "feature_names_in_", [])):
            found = _by_name(model, found)
        if found.counts.shape[1] != d:
            raise InputError(
                f"expected counts of the {counted(d, 'word')} of the fit",
                received=f"a matrix of shape {found.counts.shape}",
                hint="count with the words of the model, or pass the texts",
            )
        found.unseen = np.zeros(found.counts.shape[0], np.int64) if found.unseen is None else found.unseen
        return found
    return counts_of_documents(model, documents(X, text=text, memory=model.memory))


def counted_pieces(model: Any, X: Any, text: str | None = None) -> Iterator[Counted]:
    """Counts of new documents, as many at a time as a quarter of the memory limit has room for."""
    if is_counts(X):
        yield counts_of(model, X, text)
        return
    most = PIECE_SHARE * limit(model.memory) / BYTES_A_CHARACTER
    piece: list[str] = []
    size, begun = 0, False
    for batch in documents(X, text=text, memory=model.memory).batches():
        length = sum(map(len, batch))
        if piece and size + length > most:
            yield counts_of_documents(model, documents(piece))
            piece, size, begun = [], 0, True
        piece, size = piece + batch, size + length
    if piece or not begun:
        yield counts_of_documents(model, documents(piece))


def counts_of_documents(model: Any, docs: Any) -> Counted:
    """Counts of texts."""
    rule, buckets = rule_of(model), model._record.buckets
    rows, words = count_texts(rule, buckets, docs, model.memory)
    if words is None:
        return Counted(rows, None, docs, rule, unseen=np.zeros(rows.shape[0], np.int64), names=docs.names)
    columns = columns_of(model, words)
    all_ = np.asarray(rows.sum(axis=1)).ravel()
    counts = placed(rows, columns, int(model.n_features_in_))
    unseen = np.rint(all_ - np.asarray(counts.sum(axis=1)).ravel()).astype(np.int64)
    ignored = tuple(str(word) for word in words[columns < 0][:TOLD])
    return Counted(counts, None, docs, rule, unseen=unseen, names=docs.names, ignored=ignored)


def _by_name(model: Any, found: Counted) -> Counted:
    """Counts of a frame, brought to the columns of the model by their names."""
    if model.vocabulary_ is None:
        raise InputError(
            "expected counts without names of columns, as in the fit", received=describe(found.counts),
            hint="pass the numbers alone",
        )  # fmt: skip
    columns = columns_of(model, found.words)
    lost = np.asarray(found.counts[:, np.flatnonzero(columns < 0)].sum(axis=1)).ravel()
    moved = placed(found.counts, columns, int(model.n_features_in_))
    ignored = tuple(str(word) for word in found.words[columns < 0][:TOLD])
    return Counted(moved, None, unseen=np.rint(lost).astype(np.int64), names=found.names, ignored=ignored)


def tell_empty(empty: int, n: int, weightless: int = 0) -> None:
    """Warn of documents without a known word, and of those whose words all have the weight 0."""
    alike = "only words of weight 0, which all documents have equally often"
    for number, what in ((empty, "no known word"), (weightless, alike)):
        if number:
            warn(
                f"{number:,} of {counted(n, 'document')} {'has' if number == 1 else 'have'} {what}: coordinates are "
                "zero, and search does not find them",
                EmptyDocuments,
            )


def empty_in(rows: Any) -> tuple[int, int, int]:
    """Rows of CSR without a word, all rows, and rows whose words have the weight 0: what ``tell_empty`` takes."""
    lengths = np.diff(rows.indptr)
    n, filled = rows.shape[0], int(np.count_nonzero(lengths))
    if np.all(rows.data):
        return n - filled, n, 0
    return n - filled, n, filled - len(np.unique(np.repeat(np.arange(n), lengths)[rows.data != 0]))


def unknown_words(words: Any) -> str:
    """Why a query finds nothing, in words."""
    return f"no word of the query is known: {shorten([cut(str(word)) for word in words])}" if len(words) else NO_WORDS


NO_WORDS = "the query has no words: function words that are left out, single letters, signs and emoji are none"
