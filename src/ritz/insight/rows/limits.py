"""Limits of T², Q and their combination: how large is too large.

gaussian     the formulas of ``limits_gauss.py``, from the spectrum alone; exact where that is possible
robust       χ²_k for T², and Q^⅓ ~ N(μ̂, σ̂²) with location and scale of the good rows, for RobustPCA      [HRV05]
conformal    the ⌈(n + 1)(1 − α)⌉-th smallest distance of rows that the model did not see, for every model   [VGS05]

    φ = T²/τ² + Q/δ²   has mean Σa and variance 2Σa², a = 1/τ² (k times) and λⱼ/δ²: the same formulas as Q's   [YQ01]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz.data.validate import validate_weights
from ritz.insight.calls import asked
from ritz.insight.outliers.folds import cross_distances
from ritz.insight.rows.limits_gauss import (
    Rest,
    Thetas,
    box,
    inflation,
    new_rest,
    spe_limit,
    t2_new,
    t2_training,
    training,
)
from ritz.insight.rows.limits_rest import rest_of
from ritz.insight.rows.plane import Plane, distances, plane_of
from ritz.methods.fitted import fitted_of

__all__ = ["Limits", "limits"]

ROWS = ("new", "training")
FORMULAS = ("moments", "jackson-mudholkar")


@dataclass(frozen=True)
class Limits(Tabular):
    """Limits at level ``alpha``: if nothing is wrong, a row lies beyond one with probability ``alpha``.

    Attributes
    ----------
    t2, spe, combined : limits of ``t2``, ``spe`` and ``combined``
    alpha : level
    rows : "new" or "training"
    method : "gaussian", "robust" or "conformal"
    notes : how they were found, in words
    """

    t2: float
    spe: float
    combined: float
    alpha: float
    rows: str
    method: str
    notes: tuple[str, ...] = ()

    def index(self, inside: NDArray[Any], off: NDArray[Any]) -> NDArray[np.float64]:
        """φ of rows with these T² and Q; a part without limit does not count."""
        parts = [values / bound for values, bound in ((inside, self.t2), (off, self.spe)) if 0 < bound < np.inf]
        return np.asarray(np.sum(parts, axis=0), np.float64) if parts else np.zeros(len(inside))

    def __repr__(self) -> str:
        numbers = f"t2={self.t2:.6g}, spe={self.spe:.6g}, combined={self.combined:.6g}"
        return f"Limits({numbers}, alpha={self.alpha:g}, rows={self.rows!r}, method={self.method!r})"

    def _table(self) -> dict[str, Any]:
        return {"of": ["t2", "spe", "combined"], "limit": [self.t2, self.spe, self.combined], "alpha": [self.alpha] * 3}


@asked
def limits(
    model: Any, alpha: float = 0.05, rows: str = "new", *, X: Any = None, sample_weight: Any = None,
    method: str | None = None, formula: str = "moments", folds: int | None = None, random_state: Any = 0,
) -> Limits:  # fmt: skip
    """Limits of T², Q and the combined index.

    Parameters
    ----------
    model : fitted PCA, SVD, KernelPCA, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA
    alpha : float
        Share of rows beyond each limit if nothing is wrong.
    rows : "new" or "training"
        For rows that took no part in the fit, or for those of the fit, which lie nearer to their own plane.
    X, sample_weight : rows of the fit and their weights, optional
        Needed by conformal limits, and by Gaussian ones of a model that does not keep its moment state.
    method : None, "gaussian" or "conformal"
        None: Gaussian, except for kernel models and the correspondence family, whose rows are not. RobustPCA has
        robust limits instead of Gaussian ones.
    formula : "moments" or "jackson-mudholkar"
        Gaussian limits of Q: χ² with its first three moments, which is nearer to the truth, or Jackson and Mudholkar's,
        and Box's where that has none, as other programs do.
    folds : int or None
        Conformal limits of new rows: parts that take turns in being left out of the fit.
    random_state : int, Generator, RandomState or None
        Which rows fall into which fold.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz import insight
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 4, 1, 1, 1]
    >>> pca = ritz.PCA(2).fit(X)
    >>> far, off = pca.mean_ + [20, 0, 0, 0, 0], pca.mean_ + [0, 0, 0, 0, 9]  # beyond the others; off their plane
    >>> bounds = insight.limits(pca, alpha=0.01)
    >>> bool(insight.t2(pca, [far])[0] > bounds.t2), bool(insight.spe(pca, [off])[0] > bounds.spe)
    (True, True)
    >>> float(np.mean(insight.spe(pca, X) > bounds.spe))  # about one row of a hundred, if nothing is wrong
    0.015
    """
    if not (isinstance(alpha, (int, float)) and 0 < alpha < 1):
        raise ParameterError("alpha must be a number between 0 and 1", received=repr(alpha), hint="alpha=0.05")
    if rows not in ROWS:
        raise ParameterError("rows must be 'new' or 'training'", received=repr(rows), hint="rows='new'")
    if formula not in FORMULAS:
        words = " or ".join(map(repr, FORMULAS))
        raise ParameterError(f"formula must be {words}", received=repr(formula), hint="formula='moments'")
    fitted = fitted_of(model)
    free = fitted.distribution_free
    way = method or ("conformal" if free else "gaussian")
    if way == "conformal":
        return _conformal(model, alpha, rows, X, sample_weight, folds, random_state)
    if way != "gaussian" or free:
        what = "'conformal': rows of this model are not Gaussian" if free else "None, 'gaussian' or 'conformal'"
        raise ParameterError(f"method must be {what}", received=repr(method), hint="method='conformal'")
    if fitted.robust_limits(alpha) is not None:
        return _robust(model, alpha, rows)
    return _gaussian(plane_of(model), alpha, rows, X, sample_weight, formula)


def _gaussian(plane: Plane, alpha: float, rows: str, X: Any, sample_weight: Any, formula: str) -> Limits:
    rest = rest_of(plane, X, sample_weight)
    inside, off, both, words = gaussian_parts(plane, rest, alpha, rows, formula)
    notes = [words, rest.words] if plane.rest > 0 else [rest.words]
    if not plane.centered:
        notes.append("rows were not centred: distances are from zero, and limits hold for rows with mean zero")
    return Limits(inside, off, both, alpha, rows, "gaussian", tuple(notes))


def gaussian_parts(plane: Plane, rest: Rest, alpha: float, rows: str, formula: str) -> tuple[float, float, float, str]:
    """Limits of T², Q and φ, and by whose formula that of Q."""
    options: dict[str, Any] = {"centered": plane.centered}
    if rows == "training":
        inside = t2_training(plane.k, plane.rows, plane.divisor, alpha=alpha, **options)
        off, words = spe_limit(training(rest.thetas, plane.rows, plane.divisor, **options), alpha, formula)
        if off <= 0 or inside <= 0:
            return inside, off, 1.0, words
        joint = Thetas.even(plane.k, 1 / inside).plus(rest.thetas.times(1 / off))
        both, _ = spe_limit(training(joint, plane.rows, plane.divisor, **options), alpha, formula)
        return inside, off, both, words
    inside = t2_new(plane.variances, rest if plane.chosen else None, plane.rows, plane.divisor, alpha=alpha, **options)
    t, nu = new_rest(rest, plane.variances, plane.rows, plane.d - plane.k, chosen=plane.chosen, **options)
    off, words = spe_limit(t, alpha, formula)
    off *= inflation(t, nu, alpha)
    if off <= 0 or not 0 < inside < np.inf:
        return inside, off, 1.0, words
    from scipy.stats import chi2

    larger = inside / float(chi2.isf(alpha, plane.k))  # T² of new rows: a χ² stretched to its limit
    joint = Thetas.even(plane.k, larger / inside).plus(t.times(inflation(t, nu, alpha) / off))
    return inside, off, spe_limit(joint, alpha, formula)[0], words


def _robust(model: Any, alpha: float, rows: str) -> Limits:
    inside, off, t = fitted_of(model).robust_limits(alpha)
    both = 1.0
    if off > 0 and inside > 0:
        both = box(Thetas.even(model.n_components_, 1 / inside).plus(Thetas(*t).times(1 / off)), alpha)
    words = "χ² for T², and a normal distribution of Q^⅓ with location and scale of the good rows"
    return Limits(inside, off, both, alpha, rows, "robust", (words,))


def _conformal(model: Any, alpha: float, rows: str, X: Any, sample_weight: Any, folds: int | None, seed: Any) -> Limits:
    X = fitted_of(model).kept_rows() if X is None else X
    if X is None:
        raise InputError(
            "conformal limits need the rows of the fit",
            received="X=None",
            hint="limits(model, X=X)",
        )
    if rows == "training":
        inside, off, words = *distances(model, X), "quantiles of the rows of the fit"
    else:
        left_out = cross_distances(model, X, folds=folds, seed=seed, sample_weight=sample_weight)
        inside, off = left_out.t2, left_out.spe
        words = f"quantiles of rows left out of the fit, {left_out.folds} parts in turn"
    weights = np.ones(len(inside)) if sample_weight is None else validate_weights(sample_weight, len(inside))
    tau, delta = (_quantile(values, weights, alpha) for values in (inside, off))
    first = Limits(tau, delta, 1.0, alpha, rows, "conformal", (words,))
    both = _quantile(first.index(inside, off), weights, alpha)
    return Limits(first.t2, first.spe, both, alpha, rows, "conformal", (words,))


def _row_count(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _quantile(values: NDArray[Any], weights: NDArray[Any], alpha: float) -> float:
    """The ⌈(n + 1)(1 − α)⌉-th smallest: a further row exceeds it with probability at most α; ∞ with too few rows.

    A row of weight w is w of the n rows.
    """
    counting = np.flatnonzero(np.isfinite(values) & (weights > 0))
    order = counting[np.argsort(values[counting], kind="stable")]
    mass = np.cumsum(weights[order])
    place = np.ceil(((mass[-1] if len(mass) else 0.0) + 1) * (1 - alpha) - 1e-9)
    at = int(np.searchsorted(mass, place - 1e-9))
    return float(values[order[at]]) if at < len(order) else float("inf")
