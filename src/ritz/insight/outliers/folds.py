"""Distances of rows from models that did not see them.

    rows in K parts;   model k fitted to all parts but the k-th;   (T², Q) of part k from model k

A row of the fit lies nearer to its plane than a row that is new: distances from one's own fit would call too few rows
odd, and none when there are as many components as rows. Parts are drawn at random and of equal size, so distances are
exchangeable among rows that are: the rank of one among all is uniform [VGS05; BCLRS23]. Fits leave rows out by weight
zero, so rows may be of any kind and size; rows of a kernel model are picked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ritz._core.errors import InputError, ParameterError
from ritz._core.random import seed_of
from ritz._core.warn import unsaid
from ritz.data.engines import engine_of
from ritz.methods.fitted import fitted_of

__all__ = ["CrossFit", "Held", "cross_distances", "crossed", "row_total"]

Floats = NDArray[np.float64]

#: Parts in memory, and for rows that are read from outside in every pass.
FOLDS, FOLDS_OUTSIDE = 10, 2


@dataclass(frozen=True)
class Held:
    """Distances of rows from models that did not see them."""

    t2: Floats  # (n,)
    spe: Floats  # (n,)
    part: NDArray[np.intp]  # (n,) the part of each row
    folds: int


@dataclass(frozen=True)
class CrossFit:
    """One model and the rows it did not see."""

    model: Any
    unseen: NDArray[np.intp]
    seen: NDArray[np.intp]


def row_total(model: Any, X: Any) -> int:
    """Number of rows."""
    return fitted_of(model).row_count(X)


def parts(n: int, folds: int | None, X: Any, seed: Any) -> NDArray[np.intp]:
    """The part of every row: equal sizes, drawn at random."""
    count = (FOLDS_OUTSIDE if engine_of(X).outside(X) else FOLDS) if folds is None else folds
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 2:
        raise ParameterError("folds must be a number of parts, at least 2", received=repr(folds), hint="folds=10")
    if n < 4:
        raise InputError(
            "rows are compared with models that did not see them, which needs at least 4", received=f"{n}",
            hint="pass reference=X_training",
        )  # fmt: skip
    rng = np.random.default_rng(seed_of(seed))
    return rng.permutation(np.arange(n) % min(int(count), n))


def crossed(model: Any, X: Any, fold_of: NDArray[np.intp], sample_weight: Any = None) -> Iterator[CrossFit]:
    """For each part the same model fitted to the rows of all others."""
    given = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    fitted = fitted_of(model)
    for fold in range(int(fold_of.max()) + 1):
        seen, unseen = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        weights = (fold_of != fold).astype(np.float64)
        with unsaid():
            fresh = clone(model).set_params(**fitted.changes(len(seen)))
            fresh = fitted.refit(fresh, X, seen, weights if given is None else weights * given)
        yield CrossFit(fresh, unseen, seen)


def unseen_distances(fit: CrossFit, X: Any) -> tuple[Floats, Floats]:
    """T² and Q of the rows that a model did not see."""
    return fitted_of(fit.model).unseen_distances(X, fit.unseen, fit.seen)


def cross_distances(model: Any, X: Any, *, folds: int | None = None, seed: Any = 0, sample_weight: Any = None) -> Held:
    """Distances of every row from a model that did not see it."""
    n = row_total(model, X)
    fold_of = parts(n, folds, X, seed)
    inside, off = np.empty(n), np.empty(n)
    for fit in crossed(model, X, fold_of, sample_weight):
        inside[fit.unseen], off[fit.unseen] = unseen_distances(fit, X)
    return Held(inside, off, fold_of, int(fold_of.max()) + 1)
