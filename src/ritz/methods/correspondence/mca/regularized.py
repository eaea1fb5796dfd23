"""Missing answers filled in by regularised iterative MCA.

    hidden blocks start at the shares of the answers given; then, until nothing moves:
        p = Z̄,  s = √(Jp),  AᵀA V = V Λ  of the completed table
        σ² = (Σλ − Σ_{i≤k} λᵢ)/(r − k),  at most λ_{k+1},    r = min(n − 1, K − J)
        Z_h = p + s · F (I − σ²/Λ) Vᵀ    in the hidden blocks

[JCLH12], as missMDA's imputeMCA, with one difference on the way: with the axes held still, the hidden blocks are set
to their own fixed point at once (``data/encode/fill.py``) and not by one step towards it. What they settle at is the
same. Rows without gaps are added up once; a round reads the others, some at a time, and decomposes K×K.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.encode.columns import MemoryColumns
from ritz.data.encode.fill import Fill
from ritz.data.tables.frames import library_of
from ritz.methods.correspondence.encoded.rebuilt import frame_of, value_of

__all__ = ["filled_in", "imputed"]

Floats = NDArray[np.float64]

#: Rounds at most, and the change of AᵀA, as a share of its norm, at which they stop.
ROUNDS, SETTLED = 1000, 1e-11
#: Rows that are filled in at a time.
CHUNK = 4096


def filled_in(encoder: Encoder, coded: Any, k: int) -> tuple[Encoder, Any, str | None]:
    """The encoder that fills in missing answers by ``k`` axes, the completed rows, and what certificates say."""
    table = coded.table
    if not isinstance(table, MemoryColumns):
        raise InputError(
            "missing='regularized' needs the table in memory: every round reads it again",
            received="a table that stays outside",
            hint="missing='category' or 'exclude', or a larger memory limit in ritz.read",
        )
    present = np.flatnonzero(coded.weights > 0)
    weights = coded.weights[present] / float(np.sum(coded.weights))
    hidden = encoder.gaps(table)[present]
    rounds = _Rounds(encoder, coded.rows[present], hidden, weights, k)
    filling = replace(encoder, fill=rounds.run())
    lost = int(np.count_nonzero(hidden))
    note = (
        f"{lost:,} of {hidden.size:,} answers ({lost / hidden.size:.3g} of all) were missing, filled in by regularised "
        f"iterative MCA with {k} axes in {rounds.made} rounds; the certificate is about the completed table"
    )
    return filling, filling.rows(table, unseen=None), note if lost else None


def imputed(model: Any, X: Any) -> Any:
    """A table in memory with its missing answers filled in."""
    if model.missing != "regularized":
        raise ParameterError(
            "impute needs a model that fills in what is missing",
            received=f"missing={model.missing!r}",
            hint=f"{type(model).__name__}(2, missing='regularized')",
        )
    table = model._open(X, reset=False)
    if not isinstance(table, MemoryColumns):
        raise InputError("expected a table in memory", received="a table that stays outside", hint="pass some rows")
    encoder = table.fitting(model._encoder)
    hidden = encoder.gaps(table)
    rows = encoder.rows(table, unseen=model.unseen)
    words, active = encoder.vocabulary, encoder.active
    p, columns = encoder.p, dict[str, Any]()
    numbers = np.asarray(rows[:, :p] if isinstance(rows, np.ndarray) else rows[:, :p].toarray())
    for j, name in enumerate(encoder.numeric):
        given = np.asarray(table.numbers(name), np.float64)
        columns[name] = np.where(np.isnan(given), numbers[:, j] + encoder.shift[j], given)
    for j, variable in enumerate(words.variables):
        coded = table.coded(variable.name)
        given = np.asarray([*(value_of(level, variable.kind) for level in coded.levels), None], object)[coded.codes]
        gaps = np.flatnonzero(hidden[:, j])
        at = np.flatnonzero(active.owners == j)
        names = [active.labels[i][len(variable.name) + 1 :] for i in at]
        levels = np.asarray([value_of(name, variable.kind) for name in names], dtype=object)
        if len(gaps):
            given[gaps] = levels[np.asarray(rows[gaps][:, p + at].toarray()).argmax(axis=1)]
        columns[variable.name] = given
    return frame_of({name: columns[name] for name in encoder.columns if name in columns}, library_of(X))


class _Rounds:
    """The table, and what one round makes of it."""

    def __init__(self, encoder: Encoder, Z: Any, hidden: NDArray[np.bool_], weights: Floats, k: int) -> None:
        self.owners, self.J, self.k = encoder.active.owners, encoder.vocabulary.J, k
        self.made = 0
        self.rank = min(Z.shape[0] - 1, Z.shape[1] - self.J)
        if k >= self.rank:
            raise ParameterError(
                f"missing='regularized' fills in answers by fewer than {self.rank} axes, all that the table has",
                received=f"n_components={k}",
                hint="n_components=2",
            )
        gaps = hidden.any(axis=1)
        full = Z[np.flatnonzero(~gaps)]
        w = weights[~gaps]
        self.first: Floats = np.asarray(full.T @ w)
        self.second: Floats = (full.T @ full.multiply(w[:, None]).tocsr()).toarray()
        self.Z, self.hidden, self.weights = Z[np.flatnonzero(gaps)], hidden[gaps], weights[gaps]
        answered = 1 - np.asarray(self.weights @ self.hidden, np.float64)
        counts = self.first + self.Z.T @ self.weights
        self.start = np.asarray(counts / answered[self.owners])

    def run(self) -> Fill:
        """Rounds until the completed table stays as it is."""
        K = len(self.owners)
        none = np.zeros((K, 1)), np.zeros(1)
        fill, before = Fill(*none, self.start, np.sqrt(self.J * self.start), self.owners), np.zeros((K, K))
        moved = np.inf
        for _ in range(ROUNDS):
            self.made += 1
            mean, M = self._completed(fill)
            fill = self._axes(mean, M)
            size = float(np.linalg.norm(M))
            moved = float(np.linalg.norm(M - before)) / size if size > 0 else 0.0
            if moved <= SETTLED:
                return fill
            before = M
        warn(
            f"missing answers did not settle within {ROUNDS} rounds: the last one still moved the table by "
            f"{moved:.1e} of its size; fewer components settle sooner",
            AccuracyWarning,
        )
        return fill

    def _completed(self, fill: Fill) -> tuple[Floats, Floats]:
        """Means of the completed table, and its AᵀA."""
        mean, second = self.first.copy(), self.second.copy()
        for at in range(0, self.Z.shape[0], CHUNK):
            some = slice(at, at + CHUNK)
            rows, w = fill.complete(self.Z[some].toarray(), self.hidden[some]), self.weights[some]
            mean += w @ rows
            second += rows.T @ (w[:, None] * rows)
        if float(np.min(mean)) <= 0:
            raise InputError(
                "expected levels that are given often enough to fill in others by",
                received="a level whose filled-in share fell to zero",
                hint="fewer components, or rare=0.02 to take rare levels together",
            )
        scale = np.sqrt(self.J * mean)
        return mean, (second - np.outer(mean, mean)) / np.outer(scale, scale)

    def _axes(self, mean: Floats, M: Floats) -> Fill:
        values, vectors = np.linalg.eigh(M)
        values, V = values[::-1], vectors[:, ::-1][:, : self.k]
        noise = max(float(np.trace(M) - np.sum(values[: self.k])), 0.0) / (self.rank - self.k)
        noise = min(noise, float(values[self.k]))
        shrink = np.maximum(1 - noise / np.maximum(values[: self.k], np.finfo(np.float64).tiny), 0.0)
        return Fill(np.ascontiguousarray(V), shrink, mean, np.sqrt(self.J * mean), self.owners)
