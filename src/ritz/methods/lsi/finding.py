"""Search, neighbours, and files of coordinates of a fitted model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz.data.tables.identifiers import identifiers_of
from ritz.data.tables.write import row_writer
from ritz.data.words import counted, describe
from ritz.methods.coordinates import keep_apart
from ritz.methods.lsi import bm25
from ritz.methods.lsi.counted import is_counts
from ritz.methods.lsi.hits import Hits
from ritz.methods.lsi.search import DIGITS, NOTHING, TOGETHER, Shared, best, exact, mixed, reachable, standards
from ritz.methods.lsi.weighed import counted_pieces, counts_of, empty_in, tell_empty, unknown_words
from ritz.text.adopt import documents

__all__ = [
    "asked_for",
    "attach",
    "in_common",
    "least_of",
    "norms_of",
    "require_counts",
    "search",
    "similar",
    "unit_rows",
    "written",
]

Floats = NDArray[np.float64]

#: Share of BM25 in a hybrid score unless another is given.
HYBRID = 0.3
#: Distance of a topic from what is left, beside its own value, below which its error is not taken to be larger.
LEAST_GAP = 0.01
#: Rows whose coordinates are written at once.
ROWS = 1 << 14


def doubt_of(model: Any) -> Floats:
    """(k,) share of the length of a text that may stand in each of its coordinates and be error of the topic alone.

    (WᵀW − θ)v = r: of words that are in no topic, on which WᵀW is τ at most, v says |r|/(θ − τ) at most.
    """
    c, record, k = model.certificate_, model._record, len(model.singular_values_)
    values = np.maximum(np.asarray(c.values, np.float64), np.finfo(float).tiny)
    own, rest = np.asarray(c.residuals, np.float64) + float(c.rounding), float(c.ceiling)
    if record.cut:  # of the last update alone: what was cut off before is no error of what is left
        rest, own = record.cut
    gaps = np.maximum(values - (rest if np.isfinite(rest) else 0.0), LEAST_GAP * values)
    found: Floats = np.maximum(own / gaps, k * np.finfo(np.float64).eps)
    return found


def norms_of(model: Any) -> Floats:
    """(n,) lengths of the coordinates of the documents; zero where they say nothing."""
    record = model._record
    if record.norms is None:
        E = model.embedding_
        sizes = np.sqrt(np.einsum("ij,ij->i", E, E, dtype=np.float64))
        most = float(np.max(sizes, initial=0.0))
        few = np.flatnonzero(sizes <= most * float(np.linalg.norm(doubt_of(model))))
        for start in range(0, len(few), ROWS):
            some = few[start : start + ROWS]
            sizes[some[~_told(E[some], np.full(len(some), most), model)]] = 0.0
        sizes[model.empty_] = 0.0
        record.norms = sizes
    found: Floats = record.norms
    return found


def _told(places: Any, size: Any, model: Any) -> NDArray[np.bool_]:
    """(m,) whether coordinates (m, k) of texts of a ``size`` are more than error of the topics."""
    return np.asarray(np.any(np.abs(places) > np.outer(size, doubt_of(model)), axis=1))


def _sizes(model: Any, rows: Any) -> Floats:
    """(m,) lengths of weighted rows before they are placed."""
    record, data = model._record, rows.data
    if record.scale64 is not None:
        data = data / record.scale64[rows.indices]
    squares = np.bincount(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), data * data, rows.shape[0])
    means = 0.0 if record.mean64 is None else float(np.linalg.norm(record.mean64 / record.scale64))
    return np.asarray(np.sqrt(squares) + means)


def unit_rows(model: Any) -> NDArray[Any]:
    """(n, k) coordinates of the documents, each of length 1."""
    sizes = norms_of(model)
    return np.asarray(model.embedding_ / np.where(sizes > 0, sizes, 1.0)[:, None], model.embedding_.dtype)


def search(model: Any, query: Any, top: int, hybrid: Any, index: Any) -> Any:
    """``Hits`` of one query, or a list of them."""
    check_is_fitted(model)
    top, share = _checked(top), _share(hybrid)
    if share is not None and index is not None:
        raise ParameterError("hybrid looks at all documents", received="hybrid and index", hint="leave out one of them")
    if share is not None:
        require_counts(model)
    one = isinstance(query, str)
    asked = [query] if one else query if is_counts(query) else _listed(query)
    counts, places = asked_for(model, asked)
    # what is no text, None among texts, asks for nothing
    names = [""] * len(places) if is_counts(asked) else [one if isinstance(one, str) else "" for one in asked]
    found = _answers(model, counts, places, top, share, index)
    hits = [_said(model, answer, str(names[i]), counts, i, places[i]) for i, answer in enumerate(found)]
    return hits[0] if one else hits


def _listed(queries: Any) -> list[Any]:
    if isinstance(queries, Iterable) and not isinstance(queries, (bytes, bytearray, Mapping)):
        return list(queries)
    hint = "model.search('flutter of thin wings')"
    raise InputError(
        "expected a query: a text, a list of texts, or counts of words", received=describe(queries),
        hint="decode bytes first: query.decode('utf-8')" if isinstance(queries, (bytes, bytearray)) else hint,
    )  # fmt: skip


def require_counts(model: Any) -> None:
    """Refuse a model that did not keep what BM25 reads."""
    if model._record.inverted is None:
        raise InputError(
            "hybrid search needs the counts of the documents, which this model did not keep",
            received=f"keep_counts={model.keep_counts!r}",
            hint="fit with keep_counts=True",
        )


def asked_for(model: Any, queries: Any) -> tuple[Any, Floats]:
    """Counts of queries, and their coordinates (m, k); zero where no topic knows their words."""
    counts = counts_of(model, queries)
    model.unseen_ = counts.unseen
    rows = model._weighed(counts.counts)
    places: Floats = model._coordinates(rows)
    places[~_told(places, _sizes(model, rows), model)] = 0.0
    return counts, places


def _answers(model: Any, counts: Any, places: Floats, top: int, share: float | None, index: Any) -> list[Any]:
    """Rows and scores for each query."""
    none = (np.zeros(0, np.int64), np.zeros(0), 0)
    N, norms, E = counts.counts, norms_of(model), model.embedding_
    there = np.linalg.norm(places, axis=1) > 0
    if share is not None:
        known, record, least = np.diff(N.indptr) > 0, model._record, least_of(model)
        found = []
        for i in range(N.shape[0]):
            span = slice(N.indptr[i], N.indptr[i + 1])
            if not known[i] or (share == 0 and not there[i]):
                found.append(none)
                continue
            words = bm25.scores(record.inverted, record.lengths, N.indices[span], N.data[span])
            by_words, by_topics, cosines = standards(E, norms, places[i], words)
            rows = reachable(in_common(model, cosines), words, share, least)
            rows = rows if share > 0 else rows[norms[rows] > 0]
            above = int(np.count_nonzero((cosines[rows] > 0) | (words[rows] > 0)))
            found.append((*mixed(by_words, by_topics, rows, share, top, DIGITS[E.dtype.itemsize]), above))
        return found
    answers: list[Any] = [none] * len(places)
    asked = np.flatnonzero(there)
    if len(asked):
        if index is not None:
            made = [(*one, None) for one in _indexed(model, index, places[asked], top)]
        else:
            many = np.zeros(len(asked), np.int64)
            near = exact(E, norms, places[asked], top, shared=_shared(model, N, asked), found_in=many)
            made = [(*one, number) for one, number in zip(near, many.tolist(), strict=True)]
        for i, answer in zip(asked.tolist(), made, strict=True):
            answers[i] = answer
    return answers


def least_of(model: Any) -> float:
    """The cosine up to which a document has no topic in common with a query."""
    return max(NOTHING, float(np.linalg.norm(doubt_of(model))))


def in_common(model: Any, cosines: Floats) -> Floats:
    """How much documents have in common with a query: what points away has its topics as well, unless that is away from
    a mean, as of a correspondence analysis, where documents that share nothing are."""
    return cosines if model.method == "ca" else np.abs(cosines)


def _shared(model: Any, N: Any = None, asked: Any = None) -> Shared:
    """Which documents have a topic in common with a query, or one of its words (rows ``asked`` of counts N)."""
    least, inverted = least_of(model), model._record.inverted
    if N is None or inverted is None:
        return lambda _, cosines, _rows: in_common(model, cosines) > least

    @lru_cache(maxsize=TOGETHER)
    def with_words(i: int) -> NDArray[np.int64]:
        words = N.indices[N.indptr[asked[i]] : N.indptr[asked[i] + 1]]
        lists = [inverted.indices[inverted.indptr[j] : inverted.indptr[j + 1]] for j in words.tolist()]
        return np.unique(np.concatenate(lists)) if lists else np.zeros(0, np.int64)

    def shared(i: int, cosines: Floats, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        hit = in_common(model, cosines) > least
        if not hit.all():
            hit |= np.isin(rows, with_words(i), assume_unique=True)
        return hit

    return shared


def _indexed(model: Any, index: Any, places: Floats, top: int) -> list[Any]:
    """Candidates of an index, in the order of their cosines."""
    if not hasattr(index, "kneighbors"):
        raise ParameterError(
            "index must have kneighbors", received=type(index).__name__,
            hint="sklearn.neighbors.NearestNeighbors().fit(model.unit_embedding_)",
        )  # fmt: skip
    unit = places / np.linalg.norm(places, axis=1, keepdims=True)
    norms, found = norms_of(model), []
    near = index.kneighbors(unit.astype(model.embedding_.dtype), min(top, model.n_samples_), return_distance=False)
    for query, rows in zip(unit, near, strict=True):
        rows = np.unique(np.asarray(rows, np.int64))
        rows = rows[(rows >= 0)]
        rows = rows[norms[rows] > 0]
        cosines = np.asarray(model.embedding_[rows] @ query, np.float64) / norms[rows]
        hit = in_common(model, cosines) > least_of(model)
        rows, cosines = rows[hit], cosines[hit]
        found.append(best(cosines, rows, top, 1e-12 if model.embedding_.dtype.itemsize == 8 else 1e-6))
    return found


def similar(model: Any, row: int, top: int) -> Hits:
    """Documents nearest to one of the fit."""
    check_is_fitted(model)
    n = model.n_samples_
    if not isinstance(row, (int, np.integer)) or isinstance(row, bool) or not 0 <= row < n:
        raise InputError(f"expected the row of one of the {counted(n, 'document')}", received=repr(row),
                         hint=f"rows are counted from 0 to {n - 1}")  # fmt: skip
    norms = norms_of(model)
    if norms[row] == 0:
        nothing = "the document has no known word" if row in model.empty_ else NO_PART
        return Hits(np.zeros(0, np.int64), np.zeros(0), query=_name(model, int(row)), note=nothing)
    place = np.asarray(model.embedding_[int(row)], np.float64)[None, :]
    many = np.zeros(1, np.int64)
    answer = exact(model.embedding_, norms, place, _checked(top), leave_out=int(row), shared=_shared(model),
                   found_in=many)[0]  # fmt: skip
    return _hits(model, (*answer, int(many[0])), _name(model, int(row)), "" if len(answer[0]) else NO_OTHER)


def _name(model: Any, row: int) -> str:
    labels = model._record.row_labels
    return f"row {row}" if labels is None else str(labels[row])


def _said(model: Any, answer: Any, query: str, counts: Any, i: int, place: Floats) -> Hits:
    note = ""
    if not len(answer[0]):
        known = counts.counts.indptr[i + 1] > counts.counts.indptr[i]
        alone = counts.counts.shape[0] == 1
        nothing = NO_SHARED if np.any(place) else NO_DIRECTION
        note = nothing if known else unknown_words(counts.ignored if alone else _words_of(model, query))
    return _hits(model, answer, query, note)


def _words_of(model: Any, query: str) -> list[str]:
    from ritz.methods.lsi.weighed import rule_of

    return list(dict.fromkeys(rule_of(model).tokens(query))) if query else []


NO_PART = "the words of the document have no part in any topic of the model"
NO_OTHER = "no other document has a topic in common with it"
NO_SHARED = "no document has a topic or a word in common with the query"
NO_DIRECTION = "the words of the query have no part in any topic of the model"


def _hits(model: Any, answer: Any, query: str, note: str) -> Hits:
    rows, scores, many = answer
    labels = model._record.row_labels
    names = None if labels is None else [labels[row] for row in rows.tolist()]
    return Hits(rows, scores, names, query, note, many, lambda wanted: texts_of(model, wanted))


def texts_of(model: Any, rows: list[int]) -> list[str] | None:
    """Texts of documents, kept or read again; None where neither can be done."""
    record = model._record
    if record.texts is not None:
        return [record.texts[row] for row in rows]
    if record.source is None:
        return None
    sources = record.source if isinstance(record.source, list) else [(0, record.source)]
    found: dict[int, str] = {}
    for i, (start, docs) in enumerate(sources):
        stop = sources[i + 1][0] if i + 1 < len(sources) else model.n_samples_
        mine = [row for row in rows if start <= row < stop]
        if docs is None and mine:
            return None
        if mine:
            found |= dict(zip(mine, docs.texts_of([row - start for row in mine]), strict=True))
    return [found[row] for row in rows]


def attach(model: Any, X: Any, text: str | None) -> None:
    """Let hits read their texts again."""
    check_is_fitted(model)
    docs = documents(X, text=text, memory=model.memory)
    n = docs.n_documents
    if not docs.reiterable or (n is not None and n != model.n_samples_):
        raise InputError(
            f"expected the {counted(model.n_samples_, 'document')} of the model, which can be read again",
            received=repr(docs),
            hint="give the texts of the fit and of its updates, in their order",
        )
    model._record.source = docs


def placed(model: Any, X: Any, text: str | None) -> NDArray[np.float64]:
    """(n, k) coordinates of new documents, counted some at a time."""
    parts, unseen, told = [], [], np.zeros(3, np.int64)
    for found in counted_pieces(model, X, text):
        rows = model._weighed(found.counts)
        parts.append(np.asarray(model._coordinates(rows)))
        unseen.append(found.unseen)
        told += empty_in(rows)
    model.unseen_ = np.concatenate(unseen)
    tell_empty(*told.tolist())
    return np.concatenate(parts)


def written(model: Any, X: Any, text: str | None, path: Any) -> Path:
    """Write coordinates to a file that appears when it is complete."""
    check_is_fitted(model)
    counts = counts_of(model, X, text)
    model.unseen_ = counts.unseen
    rows = model._weighed(counts.counts)
    tell_empty(*empty_in(rows))
    target = Path(path)
    keep_apart(target, X)
    names = [f"{model.about.axis}{i + 1}" for i in range(model._n_features_out)]
    labels = identifiers_of(X) if hasattr(X, "columns") else identifiers_of(np.zeros((rows.shape[0], 1)))
    with row_writer(target, names, np.dtype(np.float64)) as write:
        for start in range(0, rows.shape[0], ROWS):
            T = model._coordinates(rows[start : start + ROWS])
            write(T, labels.take(len(T)))
    return target


def _checked(top: Any) -> int:
    if not isinstance(top, (int, np.integer)) or isinstance(top, bool) or top < 1:
        raise ParameterError("top must be a whole number from 1 on", received=repr(top), hint="top=10")
    return int(top)


def _share(hybrid: Any) -> float | None:
    if hybrid is None:
        return None
    if isinstance(hybrid, (bool, np.bool_)):
        return HYBRID if hybrid else None
    if not isinstance(hybrid, (int, float, np.number)) or not 0 <= hybrid <= 1:
        raise ParameterError("hybrid must be None, True or a share from 0 to 1", received=repr(hybrid),
                             hint=f"hybrid={HYBRID}")  # fmt: skip
    return float(hybrid)
