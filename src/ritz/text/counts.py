"""Counts: how often each word occurs in each document, as a sparse matrix.

    texts  →  CSR (n, d) float64,   entry (i, j) = c_j(x_i),   columns sorted by word

One pass, in batches; what is kept of the texts is four bytes a token until the words are known, and the matrix then
(twelve bytes for each word of a document). Columns are sorted by word, so shards that are merged, batches of any size
and one call give the same matrix. With ``hashing`` no vocabulary is kept: column = abs(h) mod n_buckets with h the
signed MurmurHash3 (32 bits, seed 0) of the word in UTF-8, as scikit-learn's ``HashingVectorizer`` [WDLSA09].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from ritz._core.errors import MergeError, ParameterError
from ritz._core.in_order import in_order
from ritz._core.threads import lane_count
from ritz.data.words import describe
from ritz.text.adopt import documents
from ritz.text.buckets import Buckets, placed
from ritz.text.gather import Gathered
from ritz.text.learned import Columns, Learned, Limits
from ritz.text.shards import Shards
from ritz.text.tokens import Tokens, renumbered
from ritz.text.vocabulary import Vocabulary
from ritz.text.words import Words

__all__ = ["Counts"]

#: Words are looked up in a dictionary where the vocabulary is so many times larger; otherwise all at once.
FEW = 20


class Counts(TransformerMixin, BaseEstimator):
    """Counts of words.

    Parameters
    ----------
    words : Words, optional
        The rule that turns a text into tokens; ``Words()`` without it.
    min_df, max_df : int or float
        Words in fewer, or more, documents are left out; a float is a share of the documents.
    max_features : int, optional
        Keep that many words, the most frequent ones.
    hashing : int, optional
        Number of buckets: words share columns by their hash, and no vocabulary is kept.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each word. With hashing: of the words that are remembered.
    document_frequency_ : ndarray (d,)
        Number of documents that contain each word.
    global_frequency_ : ndarray (d,)
        How often each word occurs in all documents.
    n_documents_, n_empty_ : int
        Documents of the fit, and how many of them had no token at all.
    unseen_ : ndarray (n,)
        After ``transform``: tokens of each document that have no column.
    empty_ : ndarray
        After ``transform`` and ``fit_transform``: rows without any count.

    Examples
    --------
    >>> import ritz
    >>> counts = ritz.text.Counts()
    >>> X = counts.fit_transform(["red cat sat", "red red wings", ""])
    >>> counts.get_feature_names_out().tolist(), X.toarray().tolist()
    (['cat', 'red', 'sat', 'wings'], [[1.0, 1.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    >>> counts.transform(["a green cat"]).toarray(), counts.unseen_
    (array([[1., 0., 0., 0.]]), array([1]))
    """

    _learned: Learned

    def __init__(
        self,
        words: Words | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        hashing: int | None = None,
    ) -> None:
        self.words = words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.hashing = hashing

    def fit(self, texts: Any, y: Any = None) -> Counts:
        """Learn the words of texts.

        Parameters
        ----------
        texts : anything that ``ritz.text.documents`` takes
            The documents.
        y : ignored
            For pipelines.
        """
        learned = self._begun()
        for tokens in self._tokens(texts):
            learned.add(tokens)
        self._learned = learned
        return self

    def partial_fit(self, texts: Any, y: Any = None) -> Counts:
        """Learn the words of further texts; columns are sorted by word, so they move where words are new.

        Parameters
        ----------
        texts : anything that ``ritz.text.documents`` takes
            The documents.
        y : ignored
            For pipelines.
        """
        learned = self._begun() if self._unfitted() else self._learned.copy()
        for tokens in self._tokens(texts):
            learned.add(tokens)
        self._learned = learned
        return self

    def fit_transform(self, texts: Any, y: Any = None) -> Any:
        """Learn the words of texts and count them, in one pass.

        Parameters
        ----------
        texts : anything that ``ritz.text.documents`` takes
            The documents.
        y : ignored
            For pipelines.
        """
        return self._counted(texts)

    def _counted(self, texts: Any, full: Any = None) -> Any:
        """Counts of texts, CSR; ``Shards`` in files from when ``full()`` first gives the bytes of tokens to hold."""
        learned, rows = self._begun(), Gathered()
        for tokens in self._tokens(texts):
            if self.hashing is None:
                learned.saw(tokens)
                rows.add_words(tokens)
            else:
                learned.add(tokens)
                rows.add(placed(tokens, int(self.hashing)))
            room = None if full is None or rows.folder is not None else full()
            if room is not None:
                rows.spill(room)
        lengths = rows.lengths()
        if self.hashing is None:
            counts, learned.state = rows.with_vocabulary()
        else:
            counts = rows.matrix(None, int(self.hashing))
        kept = learned.columns().kept
        if kept is not None:
            counts = counts.selected(kept) if isinstance(counts, Shards) else counts[:, kept]
        self._learned = learned
        self._say(counts, lengths)
        return counts

    def transform(self, texts: Any) -> Any:
        """Count the words of texts; words without a column are ignored, and ``unseen_`` counts them.

        Parameters
        ----------
        texts : anything that ``ritz.text.documents`` takes
            The documents.
        """
        columns = self._fitted().columns()
        rows, lengths = Gathered(), [np.zeros(0, np.int64)]
        for tokens in self._tokens(texts):
            lengths.append(np.diff(tokens.starts))
            rows.add(placed(tokens, int(self.hashing)) if self.hashing is not None else _known(tokens, columns))
        counts = rows.matrix(None, len(columns.df))
        self._say(counts, np.concatenate(lengths))
        return counts

    def merge(self, other: Counts, *more: Counts) -> Counts:
        """The counts of several parts of the documents: the same columns as of all documents at once.

        Parameters
        ----------
        other, *more : Counts
            Fitted with the same parameters; none of them is changed.
        """
        merged = self
        for one in (other, *more):
            merged = merged._merged(one)
        return merged

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Word of each column; with hashing the most frequent words of each bucket.

        Parameters
        ----------
        input_features : ignored
            As scikit-learn has it.
        """
        return np.asarray(self._fitted().columns().names, dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each word. With hashing: of the words that are remembered."""
        return self._fitted().columns().dictionary

    @property
    def document_frequency_(self) -> Any:
        """Number of documents that contain each word."""
        return self._fitted().columns().df

    @property
    def global_frequency_(self) -> Any:
        """How often each word occurs in all documents."""
        return self._fitted().columns().gf

    @property
    def n_documents_(self) -> int:
        """Documents of the fit."""
        return self._fitted().n

    @property
    def n_empty_(self) -> int:
        """Documents of the fit without any token."""
        return self._fitted().empty

    def record(self) -> dict[str, Any]:
        """What was learned, as plain numbers, texts and arrays, for files; ``from_record`` makes the same Counts."""
        parameters = self.get_params(deep=False)
        parameters["words"] = None if self.words is None else self.words.parameters()
        return {"parameters": parameters, **self._fitted().record()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Counts:
        """The Counts of a record.

        Parameters
        ----------
        record : dict
            What ``record`` gave.
        """
        parameters = dict(record["parameters"])
        parameters["words"] = None if parameters["words"] is None else Words(**parameters["words"])
        counts = cls(**parameters)
        counts._check_parameters()
        counts._learned = Learned.from_record(record, counts._limits(), counts.hashing)
        return counts

    def _limits(self) -> Limits:
        return Limits(self.min_df, self.max_df, self.max_features)

    def _begun(self) -> Learned:
        self._check_parameters()
        return Learned(Vocabulary() if self.hashing is None else Buckets(int(self.hashing)), self._limits())

    def _say(self, counts: Any, lengths: Any) -> None:
        """State what of the documents has no place in the matrix."""
        away = isinstance(counts, Shards)
        sums = counts.totals if away else np.asarray(counts.sum(axis=1)).ravel()
        self.unseen_ = lengths - sums.astype(np.int64)
        self.empty_ = np.flatnonzero((counts.entries if away else np.diff(counts.indptr)) == 0)

    def _tokens(self, texts: Any) -> Iterator[Tokens]:
        """Tokens of the texts, batch by batch; the next batches are cut into words while one is counted."""
        rule = Words() if self.words is None else self.words
        return in_order(rule.batch, documents(texts).batches(), lane_count())

    def _merged(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            raise MergeError("expected fitted Counts", received=describe(other))
        first, second = self._fitted(), other._fitted()
        ours, theirs = self.get_params(deep=False), other.get_params(deep=False)
        for name, value in ours.items():
            if value != theirs[name] and not (name == "words" and (value or Words()) == (theirs[name] or Words())):
                raise MergeError(
                    "Counts that are merged have the same parameters",
                    received=f"{name}={value!r} and {name}={theirs[name]!r}",
                )
        both = type(self)(**ours)
        both._learned = first.merged(second)
        return both

    def _unfitted(self) -> bool:
        return not hasattr(self, "_learned")

    def _fitted(self) -> Learned:
        if self._unfitted():
            raise NotFittedError("this Counts is not fitted yet: call fit with texts first")
        return self._learned

    def __sklearn_is_fitted__(self) -> bool:
        return not self._unfitted()

    def _check_parameters(self) -> None:
        if self.words is not None and not isinstance(self.words, Words):
            raise ParameterError("words must be a ritz.text.Words", received=describe(self.words), hint="words=Words()")
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            share = isinstance(value, (float, np.floating)) and 0.0 <= value <= 1.0
            number = (
                isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= (name == "max_df")
            )
            if not share and not number:
                raise ParameterError(
                    f"{name} must be a whole number of documents, or a share between 0.0 and 1.0", received=repr(value)
                )
        if type(self.min_df) is type(self.max_df) and self.max_df < self.min_df:
            raise ParameterError(
                "max_df must allow as many documents as min_df asks for",
                received=f"min_df={self.min_df!r}, max_df={self.max_df!r}",
            )
        for name in ("max_features", "hashing"):
            value = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 1
            if value is not None and not whole:
                raise ParameterError(f"{name} must be None or a whole number from 1 on", received=repr(value))
        if self.hashing is not None and (self.min_df != 1 or self.max_df != 1.0 or self.max_features is not None):
            raise ParameterError(
                "with hashing every bucket is a column: min_df, max_df and max_features cannot be used",
                hint="leave them out, or leave out hashing",
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _known(tokens: Tokens, columns: Columns) -> Tokens:
    """Tokens of the words that have a column, numbered by it."""
    if len(tokens.distinct) * FEW < len(columns.df):
        column = columns.dictionary.get
        numbers = np.array([column(word, -1) for word in tokens.words], np.int32)
    else:
        import pyarrow.compute as pc

        numbers = pc.index_in(tokens.distinct, columns.words).fill_null(-1).to_numpy(zero_copy_only=False)
    return renumbered(tokens, numbers, None)
