"""How much words themselves should count in a search, from queries whose answers are known.

    AP(q)   = mean over relevant documents of  (relevant ones up to it) / (its rank)
    nDCG(q) = Σ_{i ≤ 10} rel_i / log₂(i + 1),  over that of the best order
    h*      = argmax_h mean_q s(q, h),    s a measure,  h the share of BM25 in a score
    s_cv    = mean_q s(q, h*_(−f)),       h*_(−f) chosen on the queries outside of the part f that q is in

A share that is best on some queries looks better on them than on others. ``score`` is what it reaches on queries that
had no part in choosing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.random import seed_of
from ritz.data.words import counted, describe
from ritz.methods.lsi import bm25
from ritz.methods.lsi.finding import HYBRID, asked_for, in_common, least_of, norms_of, require_counts
from ritz.methods.lsi.search import DIGITS, mixed, reachable, standards

__all__ = ["Mix", "choose_hybrid"]

Floats = NDArray[np.float64]

#: Shares that are tried.
SHARES = tuple(round(0.1 * i, 1) for i in range(11))
MEASURES = ("map", "ndcg")
#: Documents that nDCG looks at.
FIRST = 10
#: Difference of means below which shares are as good as each other.
SAME = 1e-12


@dataclass(frozen=True, repr=False)
class Mix:
    """The share of BM25 that finds most, and how much it finds.

    Attributes
    ----------
    share : the best share on all queries, for ``search(…, hybrid=share)``
    score : mean of the measure over the queries, each scored by a share chosen without it
    shares, means : (s,) what was tried, and the mean of the measure over all queries
    chosen : the share chosen for each part of the queries, on the others
    measure : "map" or "ndcg"
    n_queries : queries with a relevant document

    Examples
    --------
    >>> import ritz
    >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
    >>> mix = ritz.choose_hybrid(lsi, ["red", "white wine", "flutter", "thin"], [[0], [1], [3], [2]], folds=2)
    >>> mix.n_queries, mix.means[0] < mix.means[-1]
    (4, True)
    """

    share: float
    score: float
    shares: Floats
    means: Floats
    chosen: tuple[float, ...]
    measure: str
    n_queries: int

    def __repr__(self) -> str:
        name = {"map": "mean average precision", "ndcg": f"nDCG@{FIRST}"}[self.measure]
        parts = ", ".join(f"{share:g}" for share in self.chosen)
        curve = "  ".join(f"{h:g}: {mean:.3f}" for h, mean in zip(self.shares, self.means, strict=True))
        return "\n".join([
            f"hybrid={self.share:g}: {name} {self.score:.3f} on queries that had no part in the choice",
            f"{_queries(self.n_queries)} in {len(self.chosen)} parts, shares of BM25 chosen on the others: {parts}",
            f"{name} on all of them by the share of BM25: {curve}",
        ])  # fmt: skip


def choose_hybrid(
    model: Any, queries: Sequence[str], relevant: Sequence[Any], *, measure: str = "map",
    shares: Iterable[float] = SHARES, folds: int = 5, random_state: Any = 0,
) -> Mix:  # fmt: skip
    """The share of BM25 in a hybrid search, chosen by cross-validation on judged queries.

    Parameters
    ----------
    model : LSI
        Fitted, with its counts (``keep_counts=True``).
    queries : list of str
    relevant : list
        For each query its relevant documents: rows from 0, or names where documents have names.
    measure : "map" or "ndcg"
        Mean average precision, or the discounted gain of the first ten documents.
    shares : iterable of float
        What is tried, from 0 (topics alone) to 1 (BM25 alone).
    folds : int
        Parts of the queries.
    random_state : int, Generator or RandomState
        Which queries are in which part.

    Examples
    --------
    >>> import ritz
    >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
    >>> mix = ritz.choose_hybrid(lsi, ["red", "white wine", "flutter", "thin"], [[0], [1], [3], [2]], folds=2)
    >>> lsi.search("red", top=1, hybrid=mix.share).texts
    ['red wine']
    """
    check_is_fitted(model)
    if not hasattr(model, "search") or not hasattr(model, "embedding_"):
        raise InputError("expected a fitted ritz.LSI", received=describe(model), hint="ritz.LSI().fit(texts)")
    require_counts(model)
    tried = _checked(measure, shares, folds)
    wanted, answers = _judged(model, queries, relevant)
    if len(wanted) < folds:
        raise InputError(
            f"expected at least {folds} queries with a relevant document, one for each part",
            received=_queries(len(wanted)),
            hint="judge more queries, or folds=2",
        )
    scores = _scores(model, wanted, answers, tried, measure)
    parts = np.random.default_rng(seed_of(random_state)).permutation(len(wanted)) % folds
    chosen, reached = [], np.zeros(len(wanted))
    for part in range(folds):
        mine = parts == part
        j = _best(tried, scores[~mine].mean(axis=0))
        chosen.append(float(tried[j]))
        reached[mine] = scores[mine, j]
    means = scores.mean(axis=0)
    share = float(tried[_best(tried, means)])
    return Mix(share, float(reached.mean()), tried, means, tuple(chosen), measure, len(wanted))


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"


def _best(shares: Floats, means: Floats) -> int:
    """The largest mean; of equal ones that of the share nearest to the usual one."""
    near = np.flatnonzero(means >= means.max() - SAME)
    return int(near[np.argmin(np.abs(shares[near] - HYBRID))])


def _checked(measure: str, shares: Iterable[float], folds: int) -> Floats:
    if measure not in MEASURES:
        raise ParameterError("measure must be 'map' or 'ndcg'", received=repr(measure), hint="measure='map'")
    if not isinstance(folds, (int, np.integer)) or isinstance(folds, bool) or folds < 2:
        raise ParameterError("folds must be a whole number from 2 on", received=repr(folds), hint="folds=5")
    tried = np.unique(np.asarray(list(shares), np.float64))
    if not len(tried) or not bool(np.all((tried >= 0) & (tried <= 1))):
        raise ParameterError("shares must be numbers from 0 to 1", received=repr(shares), hint="shares=(0, 0.3, 1)")
    return tried


def _judged(model: Any, queries: Sequence[str], relevant: Sequence[Any]) -> tuple[list[str], list[set[int]]]:
    """Queries with relevant documents, and the rows of these."""
    asked, told = list(queries), list(relevant)
    if isinstance(queries, str) or len(asked) != len(told):
        raise InputError(
            "expected a list of queries, and for each of them its relevant documents",
            received=f"{'one text' if isinstance(queries, str) else _queries(len(asked))} and "
            f"{counted(len(told), 'list')} of documents",
            hint="choose_hybrid(model, ['first query', 'second query'], [[3, 17], [4]])",
        )  # fmt: skip
    labels = model._record.row_labels
    rows = {} if labels is None else {str(label): row for row, label in enumerate(labels)}
    found = [{_row(model, rows, one) for one in some} for some in told]
    kept = [i for i, some in enumerate(found) if some]
    return [asked[i] for i in kept], [found[i] for i in kept]


def _row(model: Any, rows: dict[str, int], one: Any) -> int:
    n = model.n_samples_
    if isinstance(one, str) and one in rows:
        return rows[one]
    if isinstance(one, (int, np.integer)) and not isinstance(one, bool) and 0 <= one < n:
        return int(one)
    raise InputError(
        "relevant documents are rows of the model, or names of its documents",
        received=repr(one),
        hint=f"rows are counted from 0 to {n - 1}" + ("" if rows else "; this model has no names"),
    )


def _scores(model: Any, queries: list[str], relevant: list[set[int]], shares: Floats, measure: str) -> Floats:
    """(m, s) the measure of every query by every share."""
    counts, places = asked_for(model, queries)
    N, norms, E, record = counts.counts, norms_of(model), model.embedding_, model._record
    out, same = np.zeros((len(queries), len(shares))), DIGITS[model.embedding_.dtype.itemsize]
    for i, known in enumerate(relevant):
        span = slice(N.indptr[i], N.indptr[i + 1])
        if span.start == span.stop:
            continue  # no word is known: nothing is found by any share
        words = bm25.scores(record.inverted, record.lengths, N.indices[span], N.data[span])
        by_words, by_topics, cosines = standards(E, norms, places[i], words)
        topics = bool(np.any(places[i]))
        for j, share in enumerate(shares.tolist()):
            if share > 0 or topics:
                found = reachable(in_common(model, cosines), words, share, least_of(model))
                found = found if share > 0 else found[norms[found] > 0]
                ranked, _ = mixed(by_words, by_topics, found, share, len(found), same)
                out[i, j] = _measured(ranked, known, measure)
    return out


def _measured(ranked: NDArray[np.int64], relevant: set[int], measure: str) -> float:
    """Average precision, or nDCG, of documents in an order."""
    hit = np.isin(ranked, list(relevant))
    if measure == "map":
        return float(np.sum(np.cumsum(hit)[hit] / (np.flatnonzero(hit) + 1)) / len(relevant))
    discounts = 1.0 / np.log2(np.arange(2, FIRST + 2))
    gained = float(discounts[np.flatnonzero(hit[:FIRST])].sum())
    return gained / float(discounts[: min(FIRST, len(relevant))].sum())
