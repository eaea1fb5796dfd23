"""Missing numbers and answers filled in by regularised iterative FAMD and MFA.

    gaps start at the means of what is there; then, until nothing moves:
        m = R̄,   s = own scale · √λ₁(g),   AᵀA V = V Λ  of the completed rows R under (m, s)
        σ² = Σ_{i>k} λᵢ / (min(n − 1, d) − k),   at most λ_{k+1}
        R_h = m + s · F (I − σ²/Λ) Vᵀ    in the hidden cells

own scale: the standard deviation of a number (1 where it is not divided), √p of a category; λ₁(g) is the largest
eigenvalue of a group by itself under it. In FAMD every variable is a group: λ₁ is 1 for a number, and for categories as
long as none of them is filled in. [AHJ16], as missMDA's imputeFAMD and imputeMFA, with one difference on the way: with
the axes held still, hidden cells are set to their own fixed point at once (``data/encode/fill.py``) and not by one step
towards it. What they settle at is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.encode.columns import MemoryColumns
from ritz.data.encode.fill import Fill
from ritz.data.passes.blocks import are_blocks

__all__ = ["Frame", "filled_rows"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Rounds at most, and the change of AᵀA, as a share of its norm, at which they stop.
ROUNDS, SETTLED = 1000, 1e-11


class Frame:
    """Means and scales of completed rows, and AᵀA under them."""

    def __init__(self, encoder: Encoder, groups: Sequence[Places], divided: set[str]) -> None:
        self.p, self.groups = encoder.p, list(groups)
        self.divided = np.asarray([name in divided for name in encoder.numeric], bool)
        self.owners = np.concatenate([np.arange(encoder.p), encoder.p + encoder.active.owners]).astype(np.intp)

    def of(self, R: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
        """(d,) means, (d,) scales and (d, d) AᵀA of rows with weights of sum 1."""
        p, mean = self.p, np.asarray(w @ R)
        if p < len(mean) and float(np.min(mean[p:])) <= 0:
            raise InputError(
                "expected levels that are given often enough to fill in others by",
                received="a level whose filled-in share fell to zero",
                hint="fewer components, or rare=0.02 to take rare levels together",
            )
        D = R - mean
        covariance = D.T @ (w[:, None] * D)
        own = np.ones(len(mean))
        spread = np.sqrt(np.diag(covariance)[:p])
        own[:p] = np.where(self.divided & (spread > 0), spread, 1.0)
        own[p:] = np.sqrt(mean[p:])
        B = covariance / np.outer(own, own)
        scale = own.copy()
        for at in self.groups:
            first = float(np.linalg.eigvalsh(B[np.ix_(at, at)])[-1])
            scale[at] *= np.sqrt(first) if first > 0 else 1.0
        return mean, scale, covariance / np.outer(scale, scale)


def filled_rows(model: Any, coded: Any, k: int, frame: Frame) -> tuple[Encoder, Any, str | None]:
    """The encoder that fills in gaps by ``k`` axes, the completed rows, and what certificates say."""
    encoder, table = model._encoder, coded.table
    if not isinstance(table, MemoryColumns) or are_blocks(coded.rows):
        raise InputError(
            "missing='regularized' needs the table in memory: every round reads it again",
            received="a table that stays outside",
            hint="a larger memory limit in ritz.read",
        )
    present = np.flatnonzero(coded.weights > 0)
    w = coded.weights[present] / float(np.sum(coded.weights))
    hidden = np.concatenate([encoder.number_gaps(table), encoder.gaps(table)], axis=1)[present]
    _require_seen(encoder, hidden)
    R = coded.rows[present]
    rounds = _Rounds(frame, R if isinstance(R, np.ndarray) else R.toarray(), hidden, w, k)
    filling = replace(encoder, fill=rounds.run())
    lost = int(np.count_nonzero(hidden))
    note = (
        f"{lost:,} of {hidden.size:,} cells ({lost / hidden.size:.3g} of all) were missing, filled in by regularised "
        f"iterative {type(model).__name__} with {k} axes in {rounds.made} rounds; the certificate is about the "
        "completed table"
    )
    return filling, filling.rows(table, unseen=None, memory=model.memory), note if lost else None


def _require_seen(encoder: Encoder, hidden: NDArray[np.bool_]) -> None:
    empty = [name for name, gone in zip(encoder.names, np.asarray(hidden.all(axis=0)).tolist(), strict=True) if gone]
    if empty:
        raise InputError(
            f"expected values in column {empty[0]!r}", received="none in any row", hint="leave the column out"
        )


class _Rounds:
    """The rows, and what one round makes of them."""

    def __init__(self, frame: Frame, R: Floats, hidden: NDArray[np.bool_], w: Floats, k: int) -> None:
        self.frame, self.hidden, self.w, self.k, self.made = frame, hidden, w, k, 0
        self.rank = min(R.shape[0] - 1, R.shape[1])
        if k >= self.rank:
            raise ParameterError(
                f"missing='regularized' fills in gaps by fewer than {self.rank} axes, all that the table has",
                received=f"n_components={k}",
                hint="n_components=2",
            )
        cells = hidden[:, frame.owners]
        self.R = np.where(cells, np.where(cells, 0.0, R).T @ w / (w @ ~cells), R)
        self.gaps = np.flatnonzero(hidden.any(axis=1))

    def run(self) -> Fill:
        """Rounds until the completed rows stay as they are."""
        before: Floats | None = None
        moved = np.inf
        while True:
            self.made += 1
            mean, scale, M = self.frame.of(self.R, self.w)
            fill = self._axes(mean, scale, M)
            size = float(np.linalg.norm(M))
            moved = np.inf if before is None else float(np.linalg.norm(M - before)) / size if size > 0 else 0.0
            if moved <= SETTLED or not len(self.gaps):
                return fill
            if self.made >= ROUNDS:
                break
            before = M
            self.R[self.gaps] = fill.complete(self.R[self.gaps], self.hidden[self.gaps])
        warn(
            f"missing values did not settle within {ROUNDS} rounds: the last one still moved the table by "
            f"{moved:.1e} of its size; fewer components settle sooner",
            AccuracyWarning,
        )
        return fill

    def _axes(self, mean: Floats, scale: Floats, M: Floats) -> Fill:
        values, vectors = np.linalg.eigh(M)
        values, V = values[::-1], vectors[:, ::-1][:, : self.k]
        noise = max(float(np.trace(M) - np.sum(values[: self.k])), 0.0) / (self.rank - self.k)
        noise = min(noise, max(float(values[self.k]), 0.0))
        shrink = np.maximum(1 - noise / np.maximum(values[: self.k], np.finfo(np.float64).tiny), 0.0)
        return Fill(np.ascontiguousarray(V), shrink, mean, scale, self.frame.owners)
