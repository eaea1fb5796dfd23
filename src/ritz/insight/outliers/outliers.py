"""Which rows are outliers: p-values, and a list of them with few false alarms.

    p(x) = (1 + #{j : sⱼ ≥ s(x)})/(1 + m)          s of m rows that the model did not see               [BCLRS23]
    odd: the r rows of smallest p, r the largest with p₍ᵣ₎ ≤ r·fdr/n                                    [BH95]

For rows that are exchangeable with the m, p(x) is uniform whatever their distribution and whatever the model, and of
the rows that are called outliers at most a share ``fdr`` is, on average, called so wrongly. Where the m rows come from:

    reference not in the fit      the model as it is
    reference = rows of the fit   each part of them judged by a model without it, new rows by all of these     [Vovk15]
    X = rows of the fit           each judged among the others, by a model without its part
    nothing                       the model's own distribution: Gaussian, or robust for RobustPCA

The rank of a row among n cannot be below 1/n; what p-values of rows of the fit are beyond that is in
``tails.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.random import seed_of
from ritz._core.tabular import Tabular
from ritz._core.warn import unsaid
from ritz.data.tables.frames import row_labels
from ritz.data.validate import validate_weights
from ritz.insight.calls import asked
from ritz.insight.outliers.folds import CrossFit, crossed, parts, row_total, unseen_distances
from ritz.insight.outliers.scores import Score, gaussian_p, score_of
from ritz.insight.outliers.tails import apart, model_tails, pareto_tails, ranks
from ritz.insight.rows.plane import fit_sums
from ritz.methods.fitted import fitted_of

__all__ = ["Outliers", "benjamini_hochberg", "conformal_p", "outliers"]

Floats = NDArray[np.float64]

#: Relative difference of sums up to which rows are taken to be those of the fit; float32 rows leave 1e-6.
SAME_ROWS = 1e-4
TAILS = (None, "model", "pareto", False)
#: P-values below this are as good as 0.
LEAST_P = 1e-300


@dataclass(frozen=True)
class Outliers(Tabular):
    """Odd rows, and how it was decided.

    Attributes
    ----------
    mask : (n,) True for a row that is odd
    p_values : (n,) small for an odd row; uniform for rows that belong
    scores : (n,) what the p-values were made of; larger is odder
    fdr : the expected share of false alarms among the odd rows
    of : "t2", "spe" or "combined": what the scores are
    method : "conformal", "cross-conformal", "leave-out", "gaussian" or "robust"
    resolution : the smallest p-value that could come out
    notes : in words
    names : (n,) of the rows, where they have some
    apart : (n,) True for the rows farthest out that a gap sets apart from the others, at the level ``fdr``; of rows
        of the fit, None of others. Noise with a long tail has rows of small p-value, and none that stands apart
    """

    mask: NDArray[np.bool_]
    p_values: Floats
    scores: Floats
    fdr: float
    of: str
    method: str
    resolution: float
    notes: tuple[str, ...] = field(default=())
    names: list[Any] | None = None
    apart: NDArray[np.bool_] | None = None

    @property
    def rows(self) -> NDArray[np.intp]:
        """Numbers of the outliers, the farthest first."""
        index = np.flatnonzero(self.mask)
        return index[np.lexsort((-self.scores[index], self.p_values[index]))]

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{i if self.names is None else self.names[i]} (p={self.p_values[i]:.2g})" for i in self.rows[:8].tolist()
        )
        more = ", …" if len(self.rows) > 8 else ""
        head = f"{len(self.rows)} of {len(self.mask)} rows are outliers at a false discovery rate of {self.fdr:g}"
        return "\n".join([head + (f": {shown}{more}" if shown else ""), *self.notes])

    def _table(self) -> dict[str, Any]:
        names = range(len(self.mask)) if self.names is None else self.names
        return {"row": names, "odd": self.mask, "p_value": self.p_values, "score": self.scores}


@asked
def outliers(
    model: Any, X: Any, fdr: float = 0.05, *, of: str | None = None, reference: Any = None, rows: str | None = None,
    sample_weight: Any = None, folds: int | None = None, tail: Any = None, random_state: Any = 0,
) -> Outliers:  # fmt: skip
    """Find the outliers.

    Parameters
    ----------
    model : fitted PCA, SVD, KernelPCA, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA
    X : array-like, sparse matrix, frame or Table of shape (n, d); a list for kernels of objects
        Rows to judge: those of the fit, or new ones.
    fdr : float
        Share of false alarms among the rows called odd that is tolerated on average.
    of : None, "t2", "spe" or "combined"
        What counts: the distance in the plane, off it, or both; None is both, for kernel models "spe".
    reference : rows, optional
        What normal rows look like: rows that took no part in the fit, or the rows of the fit.
    rows : None, "new" or "training"
        Whether X are the rows of the fit; None finds out, by sums that only those rows have.
    sample_weight : (n,) weights of the rows of the fit where X is those, optional
    folds : int or None
        Parts that take turns in being left out; None: 10, or 2 for rows that are read from outside memory.
    tail : None, "model", "pareto" or False
        For rows of the fit: p-values below 1/n by the model's own distribution, or by a Pareto tail of the scores,
        which fits any distribution but only finds rows that stand out alone. None: the first where the model has one.
        False: ranks alone, which are exactly uniform and can never be called odd at a false discovery rate below 1.
    random_state : int, Generator, RandomState or None
        Which rows fall into which part.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> rows = np.vstack([X, [2 * far, off]])
    >>> found = insight.outliers(ritz.PCA(2).fit(rows), rows, fdr=0.05)
    >>> np.flatnonzero(found.mask)                # both, and no false alarm among the others
    array([200, 201])
    """
    if not (isinstance(fdr, (int, float)) and 0 < fdr < 1):
        raise ParameterError("fdr must be a number between 0 and 1", received=repr(fdr), hint="fdr=0.05")
    if not any(tail is way or (isinstance(tail, str) and tail == way) for way in TAILS):
        raise ParameterError("tail must be None, 'model', 'pareto' or False", received=repr(tail), hint="tail=None")
    if rows not in (None, "new", "training"):
        raise ParameterError("rows must be None, 'new' or 'training'", received=repr(rows), hint="rows='new'")
    result = _judged(model, X, fdr, of, reference, rows, sample_weight, folds, tail, random_state)
    return replace(result, names=row_labels(X))


def _judged(
    model: Any, X: Any, fdr: float, of: str | None, reference: Any, rows: str | None, sample_weight: Any,
    folds: int | None, tail: Any, random_state: Any,
) -> Outliers:  # fmt: skip
    """By what there is to compare with."""
    score, own = score_of(model, of), fitted_of(model).own_distances(X)
    if reference is None and (rows == "training" or (rows is None and _of_fit(model, X, own, sample_weight))):
        return _among_themselves(model, X, fdr, score, folds, random_state, sample_weight, tail)
    reference = fitted_of(model).kept_rows() if reference is None else reference
    if reference is None:
        return _assumed(model, fdr, score, own)
    with unsaid():
        distances = fitted_of(model).own_distances(reference)
    if _of_fit(model, reference, distances, sample_weight):
        return _crossed(model, X, reference, fdr, score, own, folds, random_state, sample_weight)
    p = conformal_p(score(*distances), score(*own))
    m = int(np.count_nonzero(np.isfinite(score(*distances))))
    words = f"conformal: compared with {m:,} rows that took no part in the fit"
    return _result(p, score(*own), fdr, score.of, "conformal", 1 / (m + 1), words)


# where p-values come from


def _among_themselves(
    model: Any, X: Any, fdr: float, score: Score, folds: int | None, seed: Any, sample_weight: Any, tail: Any
) -> Outliers:
    """Rows of the fit, each by a model that did not see it."""
    n = row_total(model, X)
    fold_of = parts(n, folds, X, seed)
    scores = np.empty(n)
    free = fitted_of(model).distribution_free
    if free and tail == "model":
        raise ParameterError(
            f"tail='model' needs a distribution, which {type(model).__name__} does not assume",
            received="tail='model'", hint="tail='pareto'",
        )  # fmt: skip
    own = None if free or tail in (False, "pareto") else np.empty(n)
    for fit in crossed(model, X, fold_of, sample_weight):
        distances = unseen_distances(fit, X)
        scores[fit.unseen] = score(*distances)
        own = None if own is None else _with_own(own, fit, score, distances)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    judged = np.isfinite(scores) & (weights > 0)
    p = ranks(scores, weights * judged)
    words = f"judged among themselves: {n:,} rows in {int(fold_of.max()) + 1} parts, each part by a model of the others"
    if tail is False:
        least = float(np.min(weights[judged]) / np.sum(weights[judged]))
        return _result(p, scores, fdr, score.of, "leave-out", least, words)
    standing = _standing_apart(scores if own is None else own, judged, fdr, free=own is None)
    if own is None:
        p, note = pareto_tails(p, scores, judged, seed_of(seed)), "p-values of the upper quarter are Pareto tails"
    else:
        p, note = model_tails(p, judged, own), "p-values above the median are tails of the model's own distribution"
    return replace(_result(p, scores, fdr, score.of, "leave-out", 0.0, words, note), apart=standing)


def _standing_apart(values: Floats, judged: NDArray[np.bool_], level: float, *, free: bool) -> NDArray[np.bool_]:
    """(n,) rows that stand apart: by normal scores of p-values of the model's own distribution; where it has none, by
    logarithms of distances, whose tail falls off exponentially even where that of the distances is a power."""
    from scipy.special import ndtri

    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(values) if free else -ndtri(np.clip(values, LEAST_P, 1.0))
    found = np.where(judged & np.isfinite(found), found, -np.inf)
    mask = np.zeros(len(found), bool)
    mask[np.argsort(-found, kind="stable")[: apart(found, level)]] = True
    return mask


def _with_own(own: Floats, fit: CrossFit, score: Score, distances: tuple[Floats, Floats]) -> Floats | None:
    """P-values by the distribution of a model that did not see the rows; None where it does not know enough."""
    try:
        own[fit.unseen] = gaussian_p(fit.model, score, *distances, "new")
    except InputError:
        return None
    return own


def _crossed(
    model: Any, X: Any, reference: Any, fdr: float, score: Score, own: tuple[Floats, Floats], folds: int | None,
    seed: Any, sample_weight: Any,
) -> Outliers:  # fmt: skip
    """New rows against rows of the fit: every part of these is compared by a model that saw neither."""
    n = row_total(model, reference)
    fold_of = parts(n, folds, reference, seed)
    weights = np.ones(n) if sample_weight is None else validate_weights(sample_weight, n)
    above, count = np.zeros(len(own[0])), 0.0
    for fit in crossed(model, reference, fold_of, sample_weight):
        compared, w = score(*unseen_distances(fit, reference)), weights[fit.unseen]
        judged = np.flatnonzero(np.isfinite(compared) & (w > 0))
        order = judged[np.argsort(compared[judged], kind="stable")]
        mass = np.append(0.0, np.cumsum(w[order]))  # a row of weight w is w rows
        with unsaid():
            fresh = score(*fitted_of(fit.model).new_distances(X, fit.seen))
        above += mass[-1] - mass[np.searchsorted(compared[order], fresh, side="left")]
        count += float(mass[-1])
    scores = score(*own)
    p = np.where(np.isfinite(scores), (1 + above) / (1 + count), np.nan)
    words = f"cross-conformal: compared with the {count:,.6g} rows of the fit, each part by a model without it"
    return _result(p, scores, fdr, score.of, "cross-conformal", 1 / (count + 1), words)


def _assumed(model: Any, fdr: float, score: Score, own: tuple[Floats, Floats]) -> Outliers:
    """Nothing to compare with: the distribution that the model assumes."""
    if fitted_of(model).distribution_free:
        raise InputError(
            "new rows are compared with others: this model assumes no distribution and keeps no rows",
            received="reference=None",
            hint="outliers(model, X_new, reference=X_fit), or rows that took no part in the fit",
        )
    robust = fitted_of(model).robust_limits(fdr) is not None
    p = gaussian_p(model, score, *own, "new")
    words = "judged by the model's own distribution, " + (
        "with the location and scale of its good rows" if robust else "which is right for Gaussian rows"
    )
    note = "pass reference=X_fit for p-values that hold whatever the distribution"
    return _result(p, score(*own), fdr, score.of, "robust" if robust else "gaussian", 0.0, words, note)


def _of_fit(model: Any, X: Any, distances: tuple[Floats, Floats], sample_weight: Any) -> bool:
    """Whether these are the rows of the fit: their sums of T² and Q are then those that the model knows."""
    weight, inside, off = fit_sums(model)
    n = len(distances[0])
    weights = fitted_of(model).shares_of_rows(X, n, sample_weight)
    if abs(float(np.sum(weights)) - weight) > SAME_ROWS * weight or n < 2:
        return False
    counting = weights > 0
    for values, expected, floor in ((distances[0], inside, 0.0), (distances[1], off, 1e-9 * _spread(model))):
        total = float(np.sum(weights[counting] * values[counting]))
        if np.isfinite(expected) and not abs(total - expected) <= SAME_ROWS * max(expected, floor):
            return False
    return True


def _spread(model: Any) -> float:
    """The whole variance times its divisor, for what counts as nothing off the plane."""
    return float(model.certificate_.total) if hasattr(model, "certificate_") else 1.0


# from scores to p-values to a list


@asked
def conformal_p(reference: Any, scores: Any) -> Floats:
    """p(x) = (1 + #{j : sⱼ ≥ s(x)})/(1 + m), (n,), from scores of m rows that the model did not see.

    Parameters
    ----------
    reference : (m,) scores of rows that belong; those that are not finite do not count
    scores : (n,) scores of the rows to judge

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> calm = np.array([1.0, 2.0, 3.0, 4.0])     # scores of rows that belong
    >>> insight.conformal_p(calm, [0.5, 3.5, 9.0])  # never 0: four rows can prove no more than 1 in 5
    array([1. , 0.4, 0.2])
    """
    others = np.asarray(reference, np.float64)
    others = np.sort(others[np.isfinite(others)])
    wanted = np.asarray(scores, np.float64)
    above = len(others) - np.searchsorted(others, wanted, side="left")
    return np.where(np.isnan(wanted), np.nan, (1 + above) / (1 + len(others)))


@asked
def benjamini_hochberg(p_values: Any, fdr: float = 0.05) -> NDArray[np.bool_]:
    """True for the r smallest p-values, r the largest with p₍ᵣ₎ ≤ r·fdr/n; NaN is never one of them.

    Parameters
    ----------
    p_values : (n,)
    fdr : float

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> p = np.array([0.001, 0.012, 0.014, 0.04, 0.2])
    >>> p < 0.05 / 5                              # Bonferroni allows one error at all
    array([ True, False, False, False, False])
    >>> insight.benjamini_hochberg(p, fdr=0.05)   # this allows one in twenty of those called odd
    array([ True,  True,  True,  True, False])
    """
    p = np.asarray(p_values, np.float64)
    judged = np.flatnonzero(np.isfinite(p))
    order = judged[np.argsort(p[judged], kind="stable")]
    below = np.flatnonzero(p[order] <= fdr * np.arange(1, len(order) + 1) / max(len(order), 1))
    mask = np.zeros(len(p), bool)
    if len(below):
        mask[p <= p[order[below[-1]]]] = True
    return mask


def _result(p: Floats, scores: Floats, fdr: float, of: str, method: str, least: float, *notes: str) -> Outliers:
    mask = benjamini_hochberg(p, fdr)
    few = int(np.ceil(least * np.count_nonzero(np.isfinite(p)) / fdr - 1e-9))
    words = [note for note in notes if note]
    if few > 1 and not mask.any():
        words.append(
            f"p-values cannot be below {least:.2g} here, so fewer than {few} outliers could not be told from the "
            "others; judge fewer rows at a time, or compare with more"
        )
    return Outliers(mask, p, scores, float(fdr), of, method, least, tuple(words))
