"""Weights of words in documents: local · global, then the length of the document.

    w_ij = l(tf_ij) · g_j,   then divided by the norm of the row (l2, l1) where one is asked for

tf_ij count of word j in document i;  |x_i| = Σ_j tf_ij its length;  avg the mean length;  N documents;  df_j documents
with word j;  gf_j = Σ_i tf_ij;  p_ij = tf_ij/gf_j.

    local                                                    global_
    count       tf                                           none      1
    binary      1                                            idf       log((1 + N)/(1 + df)) + 1      [SB88], smoothed
    histogram   tf/|x|, the Φ(x) of lecture notes                      as in scikit-learn
    log         log₂(1 + tf)                    [Dum91]      entropy   1 + Σ_i p log p / log N                 [Dum91]
    sublinear   1 + log tf                      [SB88]       gfidf     gf/df                                   [Dum91]
    bm25        tf/(tf + k₁(1 − b + b|x|/avg))  [RZ09]       bm25      log(1 + (N − df + ½)/(df + ½))   [RZ09], Lucene's
    pivoted     (1 + log(1 + log tf))/(1 − s + s|x|/avg)     pivoted   log((N + 1)/df)                  [SBM96, Sin01]
                                                [SBM96, Sin01]

What is learned are sums over documents (N, df, gf, Σ tf log tf, Σ|x|), so parts of the documents merge by adding them:
Σ_i p log p = (Σ_i tf log tf)/gf − log gf. A new document or a query is weighted with what was learned, by itself: its
own tf and length, the global weights and the mean length of the fit; nothing about the other rows of its batch enters.
A word that no document of the fit has (df = 0) gets the weight of the rarest: entropy 1, df taken as 1 for ``pivoted``.
A row of zeros stays zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from ritz._core.errors import InputError, MergeError, NonFiniteError, ParameterError
from ritz.data.words import describe, nearest
from ritz.text.sums import Sums

__all__ = ["GLOBAL", "LOCAL", "NORMS", "Weighting"]

LOCAL = ("count", "binary", "histogram", "log", "sublinear", "bm25", "pivoted")
GLOBAL = ("none", "idf", "entropy", "gfidf", "bm25", "pivoted")
NORMS = (None, "l2", "l1")
#: Units of rounding in an entropy beside one for each document that was added up.
ROUNDED = 16.0
#: Counts below which log(1 + tf) is not the logarithm of the rounded sum.
FRACTION = 0.01
#: Sums of squares that are taken as they are.
IN_RANGE = 1e-280, 1e300


class Weighting(TransformerMixin, BaseEstimator):
    """Weights of words in documents.

    Parameters
    ----------
    local : {"count", "binary", "histogram", "log", "sublinear", "bm25", "pivoted"}
        What a word counts in its document.
    global_ : {"none", "idf", "entropy", "gfidf", "bm25", "pivoted"}
        What a word counts in all documents.
    norm : {None, "l2", "l1"}
        Norm to which each document is scaled.
    k1, b : float
        Of ``bm25``: how fast further occurrences stop to count, and how much length counts.
    slope : float
        Of ``pivoted``: how much length counts.

    Attributes
    ----------
    global_weights_ : ndarray (d,)
        Global weight of each word.
    n_documents_ : int
        Documents of the fit.
    mean_length_ : float
        Their mean length.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.text.Counts().fit_transform(["red cat", "red red wings", "thin wings"])
    >>> ritz.text.weighting("histogram").fit_transform(X).toarray().round(2).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.67, 0.0, 0.33], [0.0, 0.0, 0.5, 0.5]]
    >>> ritz.text.Weighting("log", "entropy").fit(X).global_weights_.round(3).tolist()
    [1.0, 0.421, 1.0, 0.369]
    """

    def __init__(
        self,
        local: str = "count",
        global_: str = "none",
        norm: str | None = None,
        *,
        k1: float = 1.5,
        b: float = 0.75,
        slope: float = 0.2,
    ) -> None:
        self.local = local
        self.global_ = global_
        self.norm = norm
        self.k1 = k1
        self.b = b
        self.slope = slope

    def fit(self, counts: Any, y: Any = None) -> Weighting:
        """Learn the global weights.

        Parameters
        ----------
        counts : sparse or dense (n, d)
            Counts, none of them negative.
        y : ignored
            For pipelines.
        """
        self._check_parameters()
        self.sums_ = Sums.of(_checked(counts))
        return self

    def partial_fit(self, counts: Any, y: Any = None) -> Weighting:
        """Learn from further documents.

        Parameters
        ----------
        counts : sparse or dense (n, d)
            Counts of the same words.
        y : ignored
            For pipelines.
        """
        self._check_parameters()
        counts = _checked(counts)
        if hasattr(self, "sums_"):
            self._require(counts)
            self.sums_ = self.sums_ + Sums.of(counts)
        else:
            self.sums_ = Sums.of(counts)
        return self

    def transform(self, counts: Any) -> Any:
        """Weights of documents, by what was learned from the documents of the fit.

        Parameters
        ----------
        counts : sparse or dense (n, d)
            Counts of the same words.
        """
        self._check_fitted()
        counts = _checked(counts)
        self._require(counts)
        rows = np.diff(counts.indptr)
        data = self._local(counts.data, np.asarray(counts.sum(axis=1)).ravel(), rows)
        if self.global_ != "none":
            data *= self.global_weights_[counts.indices]
        weights = type(counts)((data, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
        if self.norm is not None:
            sizes = _norms(weights, self.norm)
            weights.data /= np.repeat(np.where(sizes > 0, sizes, 1.0), rows)
        return weights

    def merge(self, other: Weighting, *more: Weighting) -> Weighting:
        """The weighting of several parts of the documents.

        Parameters
        ----------
        other, *more : Weighting
            Fitted on the same words with the same parameters; none of them is changed.
        """
        merged = type(self)(**self.get_params())
        self._check_fitted()
        merged.sums_ = self.sums_
        for one in (other, *more):
            if not isinstance(one, Weighting) or one.get_params() != self.get_params():
                raise MergeError("Weightings that are merged have the same parameters", received=repr(one))
            one._check_fitted()
            if len(one.sums_.df) != len(merged.sums_.df):
                raise MergeError(
                    "Weightings that are merged have the same words",
                    received=f"{len(merged.sums_.df)} and {len(one.sums_.df)} of them",
                    hint="moved(columns, d) brings a weighting to the columns of a larger vocabulary",
                )
            merged.sums_ = merged.sums_ + one.sums_
        return merged

    def moved(self, columns: Sequence[int], d: int) -> Weighting:
        """The same weighting for another order of words: word j stands in column ``columns[j]`` of ``d``.

        Parameters
        ----------
        columns : sequence of int
            New column of each word; −1 for a word that is left out.
        d : int
            Number of columns.
        """
        self._check_fitted()
        moved = type(self)(**self.get_params())
        moved.sums_ = self.sums_.moved(np.asarray(columns, np.int64), int(d))
        return moved

    def record(self) -> dict[str, Any]:
        """What was learned, as plain numbers, texts and arrays, for files; ``from_record`` makes the same weighting."""
        self._check_fitted()
        return {"parameters": self.get_params(), **vars(self.sums_)}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Weighting:
        """The weighting of a record.

        Parameters
        ----------
        record : dict
            What ``record`` gave.
        """
        rule = cls(**record["parameters"])
        rule._check_parameters()
        arrays = (np.asarray(record[name], np.float64) for name in ("df", "gf", "tf_log_tf"))
        rule.sums_ = Sums(int(record["n"]), float(record["length"]), *arrays)
        return rule

    @property
    def n_documents_(self) -> int:
        """Documents of the fit."""
        self._check_fitted()
        return self.sums_.n

    @property
    def mean_length_(self) -> float:
        """Mean length of the documents of the fit; 1 where all of them are empty."""
        self._check_fitted()
        return self.sums_.length / self.sums_.n if self.sums_.length > 0 else 1.0

    @property
    def global_weights_(self) -> Any:
        """Global weight of each word."""
        self._check_fitted()
        n, df, gf = self.sums_.n, self.sums_.df, self.sums_.gf
        if self.global_ == "idf":
            return np.log((1.0 + n) / (1.0 + df)) + 1.0
        if self.global_ == "entropy":
            return _entropy(n, df, gf, self.sums_.tf_log_tf)
        if self.global_ == "gfidf":
            return np.where(df > 0, gf / np.maximum(df, 1), 1.0)
        if self.global_ == "bm25":
            return np.log1p((n - df + 0.5) / (df + 0.5))
        if self.global_ == "pivoted":
            return np.log((n + 1.0) / np.maximum(df, 1))
        return np.ones(len(df))

    def _local(self, tf: Any, lengths: Any, rows: Any) -> Any:
        if self.local == "binary":
            return np.ones(len(tf))
        if self.local == "histogram":
            return tf / np.repeat(lengths, rows)
        if self.local == "log":
            return np.where(tf < FRACTION, np.log1p(np.minimum(tf, 1.0)) / np.log(2.0), np.log2(1.0 + tf))
        if self.local == "sublinear":
            return _one_plus_log(tf)
        if self.local == "bm25":
            relative = 1.0 - self.b + self.b * lengths / self.mean_length_
            return tf / (tf + self.k1 * np.repeat(relative, rows))
        if self.local == "pivoted":
            relative = 1.0 - self.slope + self.slope * lengths / self.mean_length_
            return _one_plus_log(_one_plus_log(tf)) / np.repeat(relative, rows)
        return tf.copy()

    def _require(self, counts: Any) -> None:
        d = len(self.sums_.df)
        if counts.shape[1] != d:
            raise InputError(
                f"expected counts of {d:,} words",
                received=f"a matrix of shape {counts.shape}",
                hint="count with the same Counts that the weighting was fitted with",
            )

    def _check_fitted(self) -> None:
        if not hasattr(self, "sums_"):
            raise NotFittedError("this Weighting is not fitted yet: call fit with counts first")

    def _check_parameters(self) -> None:
        for name, allowed in (("local", LOCAL), ("global_", GLOBAL)):
            value = getattr(self, name)
            if value not in allowed:
                raise ParameterError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}",
                    received=repr(value),
                    hint=f"{name}={nearest(value, allowed)!r}",
                )
        if self.norm not in NORMS:
            raise ParameterError("norm must be None, 'l2' or 'l1'", received=repr(self.norm))
        for name, high in (("k1", np.inf), ("b", 1.0), ("slope", 1.0)):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not 0 <= value <= high or not np.isfinite(value):
                raise ParameterError(f"{name} must be a number from 0 on, b and slope at most 1", received=repr(value))


def _checked(counts: Any) -> Any:
    """The counts as CSR of float64 without stored zeros or duplicates; finite, none negative."""
    import scipy.sparse as sp

    if not sp.issparse(counts):
        counts = np.asarray(counts)
    if getattr(counts, "ndim", 2) != 2 or np.dtype(counts.dtype).kind not in "buif":
        raise InputError(
            "expected a matrix of counts (n, d)",
            received=describe(counts),
            hint="Counts().fit_transform(texts) makes one of texts",
        )
    rows = counts if sp.issparse(counts) and counts.format == "csr" else sp.csr_array(counts)
    rows = rows.astype(np.float64, copy=False)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        raise NonFiniteError("expected finite counts", received="NaN or infinity")
    if len(rows.data) and rows.data.min() <= 0:
        if rows.data.min() < 0:
            raise InputError("expected counts, none of them negative", received=f"{rows.data.min():g}")
        rows = rows.copy()
        rows.eliminate_zeros()
    return rows


def _one_plus_log(tf: Any) -> Any:
    """1 + log tf; below one occurrence (fractional counts) tf itself, so that no weight is negative."""
    return np.where(tf >= 1.0, 1.0 + np.log(np.maximum(tf, 1.0)), tf)


def _entropy(n: int, df: Any, gf: Any, tf_log_tf: Any) -> Any:
    """1 + Σ p log p / log n, in [0, 1]; 1 where there is one document, or a word in none.

    What the rounding of the sums explains is 0: a document of such words alone, scaled to length 1, would be noise.
    """
    if n < 2:
        return np.ones(len(gf))
    there = np.maximum(gf, np.finfo(float).tiny)
    sums = np.where(gf > 0, tf_log_tf / there - np.log(there), 0.0)
    rounded = np.finfo(float).eps * (ROUNDED + df) * (1.0 + np.abs(np.log(there))) / np.log(n)
    found = 1.0 + sums / np.log(n)
    return np.where((gf > 0) & (found <= rounded), 0.0, np.clip(found, 0.0, 1.0))


def _norms(weights: Any, norm: str) -> Any:
    """Norm of each row; in units of its largest weight where sums or squares leave the range of float64."""
    sizes, totals = np.abs(weights.data), np.zeros(weights.shape[0])
    filled = np.flatnonzero(np.diff(weights.indptr))
    if not len(filled):
        return totals
    with np.errstate(over="ignore", under="ignore"):
        powers = sizes if norm == "l1" else sizes * sizes
        totals[filled] = np.add.reduceat(powers, weights.indptr[filled])
    found = totals if norm == "l1" else np.sqrt(totals)
    for row in filled[(totals[filled] < IN_RANGE[0]) | (totals[filled] > IN_RANGE[1])].tolist():
        some = sizes[weights.indptr[row] : weights.indptr[row + 1]]
        unit = float(some.max())
        if unit > 0:
            some = some / unit
            found[row] = unit * (some.sum() if norm == "l1" else np.sqrt(some @ some))
    return found
