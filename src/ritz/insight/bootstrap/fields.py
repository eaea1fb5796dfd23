"""Intervals of components, loadings and scores from the draws, some columns or rows at a time.

    components   V_b T_b           = P W_b T_b           P = I (tall) or Aᵀ (wide),  P_J W for the columns J of a block
    loadings     V_b Λ_b^½ T_b
    scores       (A − 1m_bᵀ) V_b T_b

n_boot × d × k numbers are never held at once: a block of rows or columns is formed for all draws, sorted and
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import lane_count, run_lanes
from ritz.insight.bootstrap.draws import Drawn, counts_of
from ritz.insight.bootstrap.intervals import Intervals, interval, stacked

__all__ = ["column_draws", "in_blocks", "row_draws"]

Floats = NDArray[np.float64]

#: Entries of the draws that are held at a time.
ENTRIES = 4_000_000

Field = Callable[[NDArray[np.intp]], Floats]


def in_blocks(field: Field, estimate: Floats, n_boot: int, level: float, method: str) -> Intervals:
    """Intervals of (m, k) numbers whose draws ``field(rows)`` gives as (rows, k, B)."""
    m, k = estimate.shape
    height = max(1, min(ENTRIES // max(k * n_boot, 1), -(-m // lane_count())))
    blocks = [np.arange(i, min(i + height, m)) for i in range(0, m, height)]
    lanes = max(1, min(lane_count(), len(blocks)))

    def work(lane: int) -> list[Intervals]:
        return [interval(field(rows), estimate[rows], level, method) for rows in blocks[lane::lanes]]

    lists = run_lanes(work, list(range(lanes)))
    return stacked([lists[i % lanes][i // lanes] for i in range(len(blocks))])


def column_draws(drawn: Drawn, T: Floats, *, loadings: bool) -> Field:
    """Draws of components, or of loadings, of some columns: (columns, k, B)."""
    sample, W = drawn.sample, _combined(drawn, T, loadings=loadings)
    B, k, p = drawn.B, drawn.k, W.shape[0]
    if not sample.wide:
        return lambda columns: W[columns]
    counts = _counts(drawn) if sample.rescale else None

    def field(columns: NDArray[np.intp]) -> Floats:
        A = np.ascontiguousarray(sample.A[:, columns])
        V = (A.T @ W.reshape(p, k * B)).reshape(len(columns), k, B)
        if counts is not None:
            V /= _spreads(A, counts, sample.total)[:, None, :]
        return V

    return field


def _combined(drawn: Drawn, T: Floats, *, loadings: bool) -> Floats:
    """W_b T_b as (p, k, B): the draws of one number lie together."""
    turn = np.sqrt(drawn.values)[:, :, None] * T if loadings else T
    return np.ascontiguousarray(np.moveaxis(drawn.W @ turn, 0, 2))


def _counts(drawn: Drawn) -> Floats:
    return np.stack([counts_of(drawn.sample, b) for b in range(drawn.B)])


def _spreads(A: Floats, counts: Floats, N: float) -> Floats:
    """Standard deviations of some columns in every draw, (columns, B); infinite where a column does not vary."""
    mean = counts @ A / N
    squares = counts @ np.square(A)
    about = squares - N * np.square(mean)
    flat = about <= 1e-24 * np.maximum(squares, 1e-300)
    return np.asarray(np.where(flat, np.inf, np.sqrt(np.where(flat, 1.0, about) / max(N - 1, 1.0))).T)


def row_draws(drawn: Drawn, T: Floats, rows: Floats | None = None) -> Field:
    """Draws of the scores of rows: (rows, k, B).

    ``rows`` (m, d) are others than those of the sample, in the frame of the fit.
    """
    sample, B, k = drawn.sample, drawn.B, drawn.k
    if sample.wide and sample.rescale:
        return _row_by_draw(drawn, T, sample.A if rows is None else rows)
    W = _combined(drawn, T, loadings=False)
    if drawn.scales is not None:
        W = W / drawn.scales.T[:, None, :]
    if sample.wide:
        table = sample.K if rows is None else rows @ sample.A.T
    else:
        table = sample.A if rows is None else rows
    shift = np.zeros((k, B))
    if sample.center:
        middle = (_counts(drawn) @ sample.K / sample.total) if sample.wide else np.asarray(drawn.means)
        shift = np.asarray(np.einsum("bp,pkb->kb", middle, W))
    flat = W.reshape(W.shape[0], k * B)
    return lambda index: (table[index] @ flat).reshape(len(index), k, B) - shift


def _row_by_draw(drawn: Drawn, T: Floats, rows: Floats) -> Field:
    """Many columns that are standardised anew in each draw: components are formed for one draw at a time."""
    sample, B, k = drawn.sample, drawn.B, drawn.k
    scores = np.empty((len(rows), k, B))
    for b in range(B):
        counts = counts_of(sample, b)[None]
        spread = _spreads(sample.A, counts, sample.total)
        V = (sample.A.T @ (drawn.W[b] @ T[b])) / np.square(spread)
        mean = (counts @ sample.A / sample.total)[0] if sample.center else np.zeros(len(V))
        scores[:, :, b] = rows @ V - mean @ V
    return lambda index: scores[index]
