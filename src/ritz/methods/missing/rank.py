"""How many axes fill the gaps: cross-validation over the observed entries.

    gcv     N·Σ(x − x̂)² / (N − p(k))²,  over the N observed entries;  p(k) = d + k(n + d − k − 1) numbers are fitted
    kfold   Σ(x − x̂)² / N over entries held out: K folds of the observed entries, each hidden once
                                                                        [Josse & Husson 2012, Bro et al. 2008]

``gcv`` goes on from 0 axes until the criterion rises, as missMDA's estim_ncpPCA does, whose criterion this is; with
``scale=True`` squares are taken in units of the columns' spread, so that a unit of measurement cannot decide. Both look
at a sample of the rows, spread evenly over the table: 20,000 at most, fewer of wide tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.observed import observe
from ritz.data.passes.sampled import take_dense
from ritz.methods.missing.em import Filling, iterate
from ritz.rank.sample import constant_columns

__all__ = ["RankChoice", "choose", "complete_folds", "gcv", "kfold", "most_axes"]

Vector = NDArray[np.float64]

#: Rows looked at, axes tried at most, folds, and the tolerance of the fits that are compared.
MOST_ROWS, MOST_AXES, FOLDS, TOL = 20_000, 50, 10, 1e-3
#: Entries looked at: wide tables are judged by fewer rows, and by still fewer where every fold is a fit of its own.
FEW_FOLDS, FEW_ENTRIES, FEW_COLUMNS = 5, 60_000, 300  # for complete rows, where it is one rule of many
MOST_ENTRIES, LEAST_ROWS = {"gcv": 1_000_000, "kfold": 200_000}, 200


@dataclass(frozen=True)
class RankChoice:
    """The number of axes with the criterion it comes from."""

    k: int
    criterion: Vector  # for 0, 1, 2, … axes
    name: str
    why: str
    passes: int


def most_axes(filling: Filling) -> int:
    """Axes that the shape allows: one less than could fit every entry."""
    rows, d = filling.observed.rows, len(filling.observed.offset)
    return max(0, min(rows - (2 if filling.center else 1), d - 1))


def choose(filling: Filling, name: str) -> RankChoice:
    """The number of axes by ``gcv`` or ``kfold``, on a sample of the rows where there are many."""
    sample, words, passes = _sample(filling, name)
    curve = gcv(sample) if name == "gcv" else kfold(sample)
    k = first_minimum(curve) if name == "gcv" else int(np.argmin(curve))
    shown = ", ".join(f"{value:.4g}" for value in curve[:6]) + (", …" if len(curve) > 6 else "")
    plural = "s" if k != 1 else ""
    why = f"{name} chose {k} component{plural} to fill gaps by: criterion {shown} for 0, 1, … components{words}"
    return RankChoice(k, curve, name, why, passes)


def first_minimum(curve: Vector) -> int:
    """Where the curve rises for the first time; its least value if it never does."""
    rises = np.flatnonzero(np.diff(curve) > 0)
    return int(rises[0]) if len(rises) else int(np.argmin(curve))


def gcv(filling: Filling, most: int | None = None, units: Vector | None = None, tol: float = TOL) -> Vector:
    """The criterion for 0, 1, 2, … axes, until it rises or ``most`` is reached.

    ``units`` (d,): squares are taken in these; without them the spread of the columns under ``scale=True``, else 1.
    """
    seen = filling.observed
    metric = 1 / np.square(_units(filling) if units is None else units)
    n, d = seen.weight, len(seen.offset)
    means = d if filling.center else 0
    entries = float(np.sum(seen.weights))
    squares = seen.squares if filling.center else seen.squares + seen.weights * np.square(seen.mean)
    # Nothing is charged for the means alone: the first entry is the mean square itself, as in missMDA.
    curve = [float(np.sum(squares * metric)) / entries]
    most = min(most_axes(filling), MOST_AXES if most is None else most)
    for k in range(1, most + 1):
        free = entries - means - k * (n + d - k - (1 if filling.center else 0))
        if free <= 0:
            break
        done = iterate(replace(filling, k=k), tol)
        curve.append(entries * float(np.sum(done.residues * metric)) / free**2)
        if curve[-1] > curve[-2]:
            break
    return np.array(curve)


def kfold(filling: Filling, folds: int = FOLDS, most: int | None = None, tol: float = TOL) -> Vector:
    """Mean square error of entries held out, for 0, 1, 2, … axes, until it has risen twice."""
    X = _rows(filling)
    metric = 1 / np.square(_units(filling))
    fold = _folds(~np.isnan(X), folds, filling.seed)
    most = min(most_axes(filling), MOST_AXES if most is None else most)
    weights = np.ones(len(X)) if filling.weights is None else filling.weights
    curve: list[float] = []
    for k in range(most + 1):
        error = weight = 0.0
        for i in range(folds):
            hidden = fold == i
            if not hidden.any():
                continue
            rest = np.where(hidden, np.nan, X)
            blocks = MemoryBlocks(rest)
            without = replace(filling, blocks=blocks, observed=observe(blocks, filling.weights, filling.names), k=k)
            filled = iterate(without, tol).filler.fill(rest)
            squares = np.where(hidden, np.square(filled - np.where(hidden, X, 0.0)) * metric, 0.0)
            error += float(weights @ squares.sum(axis=1))
            weight += float(weights @ hidden.sum(axis=1))
        curve.append(error / max(weight, 1e-300))
        if k >= 2 and curve[-1] > curve[-2] > curve[-3]:
            break
    return np.array(curve)


def complete_folds(X: Vector, *, center: bool, scale: bool, seed: int) -> tuple[Vector, str]:
    """Mean square errors of entries of complete rows that were held out, for 0, 1, … axes, and how it was done."""
    X = X[:, ~constant_columns(X) if center else np.any(X != 0, axis=0)]
    words = f"{FEW_FOLDS} folds"
    if X.shape[1] < 2 or X.shape[0] < 3:
        return np.zeros(1), words
    blocks = MemoryBlocks(X)
    filling = Filling(blocks, None, observe(blocks, None, None), 0, True, center, scale, None, seed=seed)
    return kfold(filling, FEW_FOLDS), words


def _units(filling: Filling) -> Vector:
    spread = np.sqrt(filling.observed.variance())
    return np.where(filling.still, 1.0, spread) if filling.scale else np.ones(len(spread))


def _folds(there: NDArray[np.bool_], folds: int, seed: int) -> NDArray[np.int8]:
    """A fold for every observed entry, −1 for the others and for one entry of every row and two of every column."""
    rng = np.random.default_rng(seed)
    fold = rng.integers(0, folds, there.shape, dtype=np.int8)
    order = rng.random(there.shape)
    order[~there] = -1.0
    n, d = there.shape
    fold[np.arange(n), np.argmax(order, axis=1)] = -1
    for row in np.argsort(order, axis=0)[-2:]:
        fold[row, np.arange(d)] = -1
    fold[~there] = -1
    return fold


# a sample of the rows


def _rows(filling: Filling) -> NDArray[np.float64]:
    matrix = getattr(filling.blocks, "X", None)
    if isinstance(matrix, np.ndarray):
        return matrix.astype(np.float64)
    return take_dense(filling.blocks, np.arange(filling.blocks.shape[0]))


def _sample(filling: Filling, name: str) -> tuple[Filling, str, int]:
    """The same question about some rows in memory, and how it is said."""
    n, d = filling.blocks.shape
    most = min(MOST_ROWS, max(LEAST_ROWS, MOST_ENTRIES[name] // max(1, d)))
    if n <= most and isinstance(getattr(filling.blocks, "X", None), np.ndarray):
        return filling, "", 0
    chosen = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
    X = take_dense(filling.blocks, chosen)
    weights = None if filling.weights is None else filling.weights[chosen]
    kept = ~np.isnan(X).all(axis=0)  # a rare column may have nothing in the sample
    keep = np.ones(len(X), bool) if weights is None else weights > 0
    X = X[keep][:, kept]
    keep[keep] = ~np.isnan(X).all(axis=1)
    X = X[~np.isnan(X).all(axis=1)]
    weights = None if weights is None else weights[keep]
    blocks, names = MemoryBlocks(X), None if filling.names is None else list(np.asarray(filling.names)[kept])
    smaller = replace(filling, blocks=blocks, weights=weights, names=names, observed=observe(blocks, weights, names))
    words = "" if n <= most else f"; looked at {len(X):,} of {n:,} rows, spread evenly"
    return smaller, words, 1
