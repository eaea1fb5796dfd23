"""From what ``fit``, ``transform`` and ``search`` take to counts of words in documents.

    texts (list, Series, table, folder, file, iterable)  →  CSR (n, d),  columns sorted by word
    counts (sparse, dense, frame of numbers)             →  CSR (n, d) as they are

Which of both is given is seen from the type alone: numbers with two sides are counts, everything else holds texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError
from ritz._core.memory import limit
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.words import counted, describe
from ritz.spectral.plan import size_words
from ritz.text.adopt import documents
from ritz.text.collection import Documents
from ritz.text.counts import Counts
from ritz.text.language import LOOKED_AT, Language, recognise, rule_of
from ritz.text.words import Words

__all__ = ["Counted", "Given", "Metered", "count", "count_texts", "is_counts", "metered", "placed", "read"]

#: Bytes that counting and weighting take at their peak for a character of the texts: resident memory grew by 4.6 while
#: abstracts were counted and by 4.9 for news (20 million characters each), and weights add 0.7.
BYTES_A_CHARACTER = 6.0
#: Share of a memory limit that tokens and waiting words may take while counts are written to files.
HELD_SHARE = 0.1


class Given(NamedTuple):
    """What ``fit`` was given."""

    X: Any
    text: str | None = None
    vocabulary: Any = None


@dataclass
class Counted:
    """Counts, and what is known of their rows and columns."""

    counts: Any  # CSR (n, d); Shards where a memory limit has no room for it
    words: Any  # (d,) object array; None where columns have no names
    documents: Documents | None = None
    rule: Words | None = None
    language: Language | None = None
    unseen: Any = None  # (n,) tokens without a column
    names: list[Any] | None = None
    ignored: tuple[str, ...] = ()  # distinct words without a column
    texts: list[str] | None = None  # the documents themselves, where they are kept


def is_counts(X: Any) -> bool:
    """Whether numbers with two sides were given."""
    import scipy.sparse as sp

    if sp.issparse(X):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "buif"
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and isinstance(X[0], (list, tuple, np.ndarray))
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and getattr(X, "ndim", 2) == 2 and hasattr(X, "columns"):  # a frame
        kinds = list(dtypes) if not isinstance(dtypes, dict) else list(dtypes.values())
        return bool(kinds) and all(_is_number(kind) for kind in kinds)
    return False


def _is_number(kind: Any) -> bool:
    told = getattr(kind, "is_numeric", None)
    return bool(told()) if callable(told) else getattr(kind, "kind", "O") in "buif"


def read(X: Any, vocabulary: Any = None) -> Counted:
    """Counts that were given as numbers."""
    import scipy.sparse as sp

    words = vocabulary
    names = None
    if hasattr(X, "columns") and not sp.issparse(X):
        words = [str(name) for name in X.columns] if words is None else words
        index = getattr(X, "index", None)
        if index is not None and not callable(index) and type(index).__name__ != "RangeIndex":
            names = [str(label) for label in index]
        X = X.to_numpy()
    rows = sp.csr_array(X if sp.issparse(X) else _table(X))
    if rows.dtype.kind not in "buif":
        raise InputError("expected a matrix of counts, or texts", received=describe(X))
    return Counted(rows, _ordered(words, rows.shape[1]), names=names)


def _table(X: Any) -> Any:
    """Rows of numbers as an array; lists of words and rows of several lengths are refused."""
    refuse_masked(X)
    if isinstance(X, (list, tuple)):
        for i, row in enumerate(X):
            if isinstance(row, (list, tuple, np.ndarray)) and len(row) and isinstance(row[0], (str, bytes)):
                raise InputError(
                    "expected texts, or a matrix of counts",
                    received=f"a list of words in row {i}",
                    hint="a text is one str: [' '.join(words) for words in documents]",
                )
        sizes = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        for i, size in enumerate(sizes):
            if size != sizes[0]:
                raise InputError(
                    "expected as many counts in each row",
                    received=f"{sizes[0]} in row 0, {size} in row {i}" if size else f"{describe(X[i])} as row {i}",
                    hint="a row has one count for each word",
                )
    return np.asarray(X)


def _ordered(words: Any, d: int) -> Any:
    """Words in the order of their columns, from a list or from a dictionary of columns."""
    if words is None:
        return None
    if isinstance(words, dict):
        words = sorted(words, key=lambda word: int(words[word])) if sorted(words.values()) == list(range(d)) else []
    names = np.empty(len(words), dtype=object)
    names[:] = [str(word) for word in words]
    if len(names) != d or len(set(names.tolist())) != d:
        raise InputError(
            f"vocabulary names each of the {counted(d, 'column')} once",
            received=f"{len(set(names.tolist()))} different names",
            hint="a list of words in the order of the columns, or a dictionary from word to column",
        )
    return names


def count(model: Any, X: Any, text: str | None, vocabulary: Any) -> Counted:
    """Counts of the documents of a fit."""
    if is_counts(X):
        found = read(X, vocabulary)
        found.rule = (model.words or Words()) if found.words is not None else None
        return found
    if vocabulary is not None:
        raise InputError(
            "vocabulary names the columns of a matrix of counts", received=describe(X), hint="leave out vocabulary="
        )
    docs = documents(X, text=text, memory=model.memory)
    language, rule = None, model.words
    if rule is None:
        docs, language = _peeked(docs)
        rule = rule_of(language)
    counts = Counts(rule, model.min_df, model.max_df, model.max_features, model.hashing)
    kept: list[str] | None = [] if model.keep_texts else None
    meter = metered(docs, model.memory, kept, spills=model.method == "svd" and kept is None and not model.keep_counts)
    rows = counts._counted(meter, meter.full)
    words = np.asarray(counts.get_feature_names_out(), dtype=object)
    return Counted(rows, words, docs, rule, language, counts.unseen_, docs.names, texts=kept)


def count_texts(
    rule: Words, buckets: int | None, docs: Documents, memory: Any, kept: list[str] | None = None
) -> tuple[Any, Any]:
    """Counts of texts by a rule, (n, d'), and the word of each column; None where columns are buckets."""
    counts = Counts(rule, hashing=buckets)
    rows = counts.fit_transform(metered(docs, memory, kept))
    return rows, None if buckets is not None else counts.get_feature_names_out()


def placed(counts: Any, columns: Any, d: int) -> Any:
    """Counts whose column j goes to ``columns[j]`` of d, or nowhere where that is −1."""
    from scipy.sparse import csr_array

    to = columns[counts.indices] if len(columns) else np.zeros(0, np.int64)
    kept = to >= 0
    before = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    small = d <= np.iinfo(np.int32).max
    moved = csr_array(
        (counts.data[kept], to[kept].astype(np.int32 if small else np.int64), before[counts.indptr]),
        shape=(counts.shape[0], d),
    )
    moved.sort_indices()
    return moved


def metered(docs: Documents, memory: Any, kept: list[str] | None = None, *, spills: bool = False) -> Metered:
    """The same documents, ``kept`` while they are read; more of them than counting has room for are refused.

    ``spills``: they are not; ``full`` says when their counts have to go to files.
    """
    return Metered(docs, memory, kept, spills)


class _Again(Documents):
    """Documents that hand on another's; the first ones may have been read already."""

    def __init__(self, inner: Documents, first: list[str] | None = None, rest: Any = None) -> None:
        super().__init__(inner.where, batch=inner._batch)
        self.inner, self._first, self._rest = inner, first, rest
        self.names, self.reiterable, self.notes = inner.names, inner.reiterable, inner.notes

    @property
    def n_documents(self) -> int | None:
        """How many documents there are."""
        return self.inner.n_documents

    def items(self) -> Iterator[Any]:
        """What was read already, then what is left."""
        if self._first is None:
            yield from self.inner.items()
            return
        first, self._first = self._first, None
        yield from chain(first, self._rest)

    def texts_of(self, rows: Any) -> list[str]:
        """Texts of the other."""
        return self.inner.texts_of(rows)


class Metered(_Again):
    """Documents whose counts have a memory limit."""

    def __init__(self, inner: Documents, memory: Any, kept: list[str] | None, spills: bool) -> None:
        super().__init__(inner)
        self._room, self._kept, self._spills, self._read = limit(memory), kept, spills, 0

    def full(self) -> float | None:
        """Bytes of tokens that may be held once counts would take more than there is room for; None before."""
        return HELD_SHARE * self._room if BYTES_A_CHARACTER * self._read > self._room else None

    def batches(self, n_bytes: int | None = None) -> Iterator[list[str]]:
        """Batches, as long as there is room for what is counted of them."""
        for batch in self.inner.batches(n_bytes):
            self._read += sum(map(len, batch))
            if BYTES_A_CHARACTER * self._read > self._room and not self._spills:
                raise self._refused()
            if self._kept is not None:
                self._kept += batch
            yield batch
        self.missing = self.inner.missing

    def _refused(self) -> MemoryLimitError:
        needed = BYTES_A_CHARACTER * self._read
        error = MemoryLimitError(
            f"the counts of the texts must fit into memory={size_words(self._room)}",
            received=f"{self._read:,} characters and more, which take {size_words(needed)}",
            hint="a larger memory=, or fewer documents at a time; LSI(method='svd') without keep_texts and keep_counts "
            "is fitted to texts of any size",
        )
        error.least = needed
        return error


def _peeked(docs: Documents) -> tuple[Documents, Language]:
    """The language of documents by the first ones, and documents that still give all."""
    if docs.reiterable:
        return docs, recognise(docs)
    batches = docs.batches(LOOKED_AT)
    first = next(batches, [])
    rest = chain.from_iterable(batches)
    return _Again(docs, first, rest), recognise(first)
