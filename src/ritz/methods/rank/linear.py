"""What PCA and SVD hand to a rule for ``n_components``: columns, covariance, some rows, held-out errors.

    columns   variances as analysed: 1 each with scale=True; mean squares without centring
    matrix    scatter of the moment state over its divisor, or that of the sampled rows
    sample    at most 20,000 rows, fewer of wide tables, spread over the table
    kfold     iterative PCA with entries hidden (missing/rank.py), on at most 200,000 entries

``handed`` gives a rule its material; a rule that reads nothing but the spectrum passes through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.random import seed_of
from ritz.data.passes.moments import Moments
from ritz.data.passes.sampled import chosen_rows, take_dense
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.methods.scaling import divisor_of, spread_of
from ritz.rank.material import SAMPLE_ROWS, Material
from ritz.rank.rule import ROWLESS
from ritz.rank.sample import LinearSample, rows_for, rows_words

__all__ = ["handed", "rows_material", "rows_of_state", "state_material"]

Floats = NDArray[np.float64]

#: Columns up to which a covariance matrix is formed for a rule.
MOST_COLUMNS = 3_000

NO_MATRIX = f"map needs the correlations of the columns, at most {MOST_COLUMNS:,}"


def handed(wanted: Any, material: Callable[[], Material], names: tuple[str, ...] = ROWLESS) -> Any:
    """A rule with its material; numbers and rules that take none as they are."""
    if not hasattr(wanted, "on"):
        return wanted
    rule = wanted.on(material())
    rule.check(", ".join(repr(name) for name in ROWLESS if name in names))
    return rule


class _Once:
    """Samples by their size, taken once: several rules look at the same rows."""

    def __init__(self, make: Callable[[int], LinearSample]) -> None:
        self.make = make
        self.held: dict[int, LinearSample] = {}

    def __call__(self, most: int) -> LinearSample:
        if most not in self.held:
            self.held[most] = self.make(most)
        return self.held[most]


def rows_material(estimator: Any, X: Any, weights: Floats | None, stats: Statistics) -> Material:
    """What rules may ask of rows that are being fitted."""
    center, scale = _frame(estimator)
    sample, folds = _sampling(estimator, X, weights)
    d = int(X.shape[1])

    def matrix() -> Floats:
        if "moments" in vars(stats):  # formed already
            return _covariance(stats.moments, center=center, scale=scale)
        rows = sample(SAMPLE_ROWS).table()
        rows = rows - rows.mean(axis=0) if center else rows
        return np.asarray(rows.T @ rows / max(len(rows) - center, 1))

    return Material(
        method=type(estimator).__name__,
        seed=seed_of(estimator.random_state),
        columns=lambda: _variances(stats.column, center=center, scale=scale),
        matrix=matrix if d <= MOST_COLUMNS else None,
        sample=sample,
        kfold=folds,
        unit=1.0 if scale else stats.unit,
        lacking={} if d <= MOST_COLUMNS else {"map": NO_MATRIX},
    )


def state_material(estimator: Any, state: Moments) -> Material:
    """What rules may ask of a moment state: everything but rows."""
    center, scale = _frame(estimator)
    return Material(
        method=type(estimator).__name__,
        seed=seed_of(estimator.random_state),
        columns=lambda: _variances(state, center=center, scale=scale),
        matrix=(lambda: _covariance(state, center=center, scale=scale)) if state.d <= MOST_COLUMNS else None,
        unit=1.0 if scale else state.unit,
        why_not="a state that was merged or added up keeps none",
        lacking={} if state.d <= MOST_COLUMNS else {"map": NO_MATRIX},
    )


def rows_of_state(estimator: Any, material: Material, X: Any) -> Material:
    """The material of a state with rows beside it."""
    sample, folds = _sampling(estimator, X, None)
    return replace(material, sample=sample, kfold=folds, unit=1.0)


def _frame(estimator: Any) -> tuple[bool, bool]:
    """Whether columns are centred and scaled."""
    return bool(getattr(estimator, "center", False)), bool(getattr(estimator, "scale", False))


def _sampling(estimator: Any, X: Any, weights: Floats | None) -> tuple[_Once, Callable[[int], tuple[Floats, str]]]:
    """Some rows of a table, and errors of entries held out of them."""
    center, scale = _frame(estimator)
    seed, (n, d) = seed_of(estimator.random_state), (int(X.shape[0]), int(X.shape[1]))
    of = n if weights is None else max(round(float(np.sum(weights))), 1)  # a weight is so many copies

    def make(most: int) -> LinearSample:
        rows = take_dense(X, chosen_rows(n, weights, rows_for(of, d, most), seed), used=True)
        return LinearSample(rows, of, center=center, scale=scale)

    def folds(most: int) -> tuple[Floats, str]:
        from ritz.methods.missing import rank as few  # loaded only where it is asked for

        count = max(few.LEAST_ROWS, few.FEW_ENTRIES // max(1, min(d, few.FEW_COLUMNS)))
        rows = take_dense(X, chosen_rows(n, weights, min(most, count), seed), used=True)
        wide = rows.shape[1]
        words = rows_words(len(rows), of)
        if wide > few.FEW_COLUMNS:
            rows = rows[:, chosen_rows(wide, None, few.FEW_COLUMNS, seed)]
            words += f" and {rows.shape[1]} of {d:,} columns"
        errors, how = few.complete_folds(rows, center=center, scale=scale, seed=seed)
        return errors, f"{how}; {words}"

    return _Once(make), folds


def _variances(column: ColumnStatistics | Moments, *, center: bool, scale: bool) -> Floats:
    """Variances (d,) of the columns as analysed, up to a common factor."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    values = squares / divisor_of(column)
    if not center:
        values = squares / column.weight + np.square(column.mean / column.unit)
    if not scale:
        return np.asarray(values)
    return np.asarray(values / np.square(spread_of(column, None) / column.unit))


def _covariance(state: Moments, *, center: bool, scale: bool) -> Floats:
    """Covariance (d, d) of the columns as analysed, up to a common factor."""
    C = state.scatter / divisor_of(state) if center else state.second_moment() / state.weight
    if not scale:
        return np.asarray(C)
    spread = spread_of(state, None) / state.unit
    return np.asarray(C / np.outer(spread, spread))
