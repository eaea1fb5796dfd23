"""Categorical variables as tables: what every answer adds to the scores.

T[level] = (z − p) W over the block of the variable        z the indicator of the answer, p the shares

missing, unseen      one of: a level's own column · no column (z = 0) · the mean (nothing) · refused · filled in
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.encode.vocabulary import MISSING

__all__ = ["Answer", "Choice", "choices_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """What one answer does."""

    scores: Floats | None  # (k,) added to the scores; None: the row is refused
    known: bool = True  # counts among the answers that place the row
    hidden: bool = False  # filled in by the others
    b: Floats | None = None  # (q,) added to the right side of the system that fills in hidden answers


@dataclass(frozen=True, eq=False)
class Choice:
    """A categorical variable."""

    name: str
    levels: dict[str, Answer]
    missing: Answer
    unseen: Answer
    kind: str = "text"
    P: Floats | None = None  # (q, q) what hiding the variable takes from the system
    Q: Floats | None = None  # (q, k) what the solution adds to the scores

    @property
    def k(self) -> int:
        """Size of the system that fills in answers."""
        return 0 if self.P is None else len(self.P)


def choices_of(encoder: Any, unseen: str, W: Floats) -> tuple[Choice, ...]:
    """All variables of an encoder; ``W`` (K, k) are the weights of its active columns."""
    return tuple(_choice(encoder, j, unseen, W) for j in range(encoder.vocabulary.J))


def _choice(encoder: Any, j: int, unseen: str, W: Floats) -> Choice:
    variable, active = encoder.vocabulary.variables[j], encoder.active
    block = np.flatnonzero(active.owners == j)
    mean, fill = encoder.mean[block], encoder.fill
    u = None if fill is None else fill.vectors[block] * np.sqrt(fill.shrink)

    def answer(place: int) -> Answer:
        """Of the column ``place`` of the indicator; −1: of none."""
        z = (block == place).astype(np.float64)
        b = None if u is None else ((z - fill.mean[block]) / fill.scale[block]) @ u
        return Answer((z - mean) @ W[block], b=b)

    places = active.places[encoder.vocabulary.offsets[j] :][: len(variable.levels)].tolist()
    own = encoder.missing == "category"
    levels = {
        level: answer(place)
        for level, place in zip(variable.levels, places, strict=True)
        if not (own and level == MISSING)
    }
    none = np.zeros(W.shape[1])
    refused = Answer(None)
    mean_answer = Answer(none, known=False, b=None if u is None else np.zeros(u.shape[1]))
    if encoder.missing == "error":
        missing = refused
    elif encoder.missing == "exclude":
        missing = answer(-1)
    elif own and MISSING in variable.place:
        missing = answer(places[variable.place[MISSING]])
    elif own:
        missing = mean_answer if unseen in ("ignore", "supplementary") else refused
    else:
        const = (fill.mean[block] - mean) @ W[block]
        missing = Answer(const, hidden=True, b=np.zeros(u.shape[1]) if u is not None else None)
    strange = {"error": refused, "missing": missing}.get(unseen, mean_answer)
    P = Q = None
    if u is not None:
        P, Q = u.T @ u, (u * fill.scale[block][:, None]).T @ W[block]
    return Choice(variable.name, levels, missing, strange, variable.kind, P, Q)
