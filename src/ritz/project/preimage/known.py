"""Rows whose scores are known, and their distances in feature space from points that are given by scores.

A point of the model's plane, P(t) = m + Σ tᵢ vᵢ, and a row z with scores s and reconstruction error q are apart by

    ‖P(t) − φ(z)‖² = ‖t − s‖² + q                    the part within the plane, and the part orthogonal to it

exactly, without a kernel value: all that neighbours need are the scores (n, k) and the errors (n,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.tabular import Tabular
from ritz._core.threads import lane_count, run_lanes
from ritz.kernels.base import chunks
from ritz.project.kernel import FeatureMapped, KernelMap, row_count

__all__ = ["Known", "NearRows", "Preimages", "known_rows", "neighbours"]

Floats = NDArray[np.float64]

#: Points and known rows that are compared at a time.
ROWS, COLS = 256, 8192


@dataclass(frozen=True, eq=False)
class Known:
    """The training rows (or landmarks, or any rows) with their scores."""

    rows: Any  # X (n, d), dense or CSR; objects of any kind for ``neighbours``; None if they are not at hand
    scores: Floats  # (n, k)
    error: Floats  # (n,) reconstruction errors q
    map: KernelMap | FeatureMapped

    @property
    def n(self) -> int:
        """How many."""
        return len(self.scores)


@dataclass(frozen=True)
class Preimages(Tabular):
    """Rows whose images are near given points of feature space, and how near.

    ``error`` estimates how far each row is from the one sought, in units of the rows; each method says how.
    ``distance`` is ‖φ(x̂) − P‖ in feature space, where the method knows it. ``converged``: False where iterations ran
    out. ``guessed``: points so far from all known rows that their pre-images are means of the nearest ones.
    """

    rows: NDArray[Any]  # (m, d), dense
    error: Floats  # (m,)
    method: str
    distance: Floats | None = None  # (m,)
    converged: NDArray[np.bool_] | None = None  # (m,)
    iterations: int = 0
    guessed: NDArray[np.intp] | None = None

    def _table(self) -> dict[str, Any]:
        columns = {f"x{j}": self.rows[:, j] for j in range(self.rows.shape[1])}
        return {"point": range(len(self.rows)), "error": self.error} | columns


@dataclass(frozen=True)
class NearRows(Tabular):
    """The known rows nearest to points of feature space, nearest first."""

    index: NDArray[np.intp]  # (m, c)
    distance: Floats  # (m, c) ‖P − φ(z)‖
    weights: Floats | None  # (m, n) P = Σ wⱼ φ(zⱼ) over all training rows; None unless asked for

    def _table(self) -> dict[str, Any]:
        m, c = self.index.shape
        point, place = np.repeat(np.arange(m), c), np.tile(np.arange(1, c + 1), m)
        return {"point": point, "place": place, "row": self.index.ravel(), "distance": self.distance.ravel()}


def known_rows(step: KernelMap | FeatureMapped, X: Any = None, scores: Any = None, error: Any = None) -> Known:
    """Rows X with their scores under a model; what is not given is computed in one pass.

    Without X, the rows that a KernelMap holds: training rows, whose errors k(z, z) − 2r + g − ‖s‖² need no kernel
    tile once their scores are given, or landmarks.
    """
    if X is None:
        if not isinstance(step, KernelMap):
            raise InputError("known rows of a model of explicit features must be given")
        X = step.rows.source
        if scores is not None and error is None:
            S = np.asarray(scores, np.float64)
            away = step.kernel.diag(step.rows) - 2 * step.row_means + step.grand
            error = step._error(S, away)
    if scores is None or error is None:
        placed = step.scores(X)
        scores = placed.coordinates if scores is None else scores
        error = placed.reconstruction_error if error is None else error
    S, q = np.asarray(scores, np.float64), np.asarray(error, np.float64)
    if X is not None and row_count(X) != len(S):
        raise InputError(f"every known row has one row of scores, here {len(S)}", received=f"{row_count(X)} rows")
    return Known(X, S, q, step)


def neighbours(known: Known, T: Any, count: int = 10, *, weights: bool = False) -> NearRows:
    """The ``count`` known rows nearest in feature space to the points with scores T (m, k).

    ``weights=True`` adds the expansion of each point over all training rows, (m, n): T Λ⁻¹ Sᵀ + 1/n for training rows
    with scores S = U Λ^½, or the model's own dual.
    """
    T = as_scores(T, known)
    count = min(count, known.n)
    steps = list(chunks(len(T), ROWS))
    index = np.empty((len(T), count), np.intp)
    distance = np.empty((len(T), count))

    def work(share: list[slice]) -> None:
        for step in share:
            index[step] = _nearest(T[step], known, count)
            gap = T[step, None, :] - known.scores[index[step]]
            square = np.einsum("ijk,ijk->ij", gap, gap) + known.error[index[step]]
            order = np.argsort(square, axis=1, kind="stable")
            index[step] = np.take_along_axis(index[step], order, axis=1)
            distance[step] = np.sqrt(np.take_along_axis(square, order, axis=1))

    lanes = min(lane_count(), max(len(steps), 1))
    run_lanes(work, [steps[lane::lanes] for lane in range(lanes)])
    return NearRows(index, distance, expansion(known, T) if weights else None)


def _nearest(T: Floats, known: Known, count: int) -> NDArray[np.intp]:
    """Positions of the ``count`` smallest ‖t − s‖² + q, in any order."""
    best = np.empty((len(T), 0))
    index = np.empty((len(T), 0), np.intp)
    for block in chunks(known.n, COLS):
        S = known.scores[block]
        square = np.einsum("ij,ij->i", S, S) + known.error[block] - 2 * T @ S.T
        best = np.concatenate([best, square], axis=1)
        here = np.broadcast_to(np.arange(block.start, block.stop), square.shape)
        index = np.concatenate([index, here], axis=1)
        if best.shape[1] > count:
            kept = np.argpartition(best, count - 1, axis=1)[:, :count]
            best, index = np.take_along_axis(best, kept, axis=1), np.take_along_axis(index, kept, axis=1)
    return index


def expansion(known: Known, T: Any) -> Floats:
    """γ̃ (m, n) with P(t) = Σⱼ γ̃ⱼ φ(zⱼ), over the rows of the map, or over the known rows, then all training rows."""
    T = as_scores(T, known)
    if isinstance(known.map, KernelMap):
        return known.map.coefficients(T)
    values = np.asarray(known.map.values, np.float64)
    return (T / np.where(values > 0, values, np.inf)) @ known.scores.T + 1.0 / known.n


def as_scores(T: Any, known: Known) -> Floats:
    """Scores (m, k) in float64."""
    T = np.asarray(T, np.float64)
    k = known.scores.shape[1]
    if T.ndim != 2 or T.shape[1] != k:
        raise InputError(f"scores have {k} columns, one a component", received=f"shape {T.shape}",
                         hint="one row is T.reshape(1, -1)")  # fmt: skip
    if not np.isfinite(T).all():
        raise InputError("scores must be finite", received="NaN or infinity")
    return T
