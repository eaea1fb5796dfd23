"""Levels that take no part in the axes, and where they lie all the same.

    excluded level e     Σ w zₑ f = cov(zₑ, R) D_s⁻¹ V Λ^-½,   f = F Λ^-½ the standard coordinates of the rows
    its part of η²       (Σ w zₑ f)²/pₑ,   beside v²λ/pⱼ·s² of the levels in use: η² is the variance between all levels

From the moment state, which holds every level, or from rows in memory when they are fitted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.encode import Encoder
from ritz.data.passes.blocks import are_blocks
from ritz.methods.correspondence.results import inertias_of
from ritz.project.transition import inverse_root

if TYPE_CHECKING:
    from ritz.methods.correspondence.encoded.encoded import EncodedColumns, EncodedTable

__all__ = ["NO_EXCLUDED", "Excluded", "excluded_of", "sums_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

NO_EXCLUDED = (
    "correlation ratios over all levels need the moment state, or rows in memory, where levels are excluded\n"
    "hint: fit with mergeable=True, or ask supplementary_columns(X, 'eta2', rows=X)"
)


class Excluded:
    """Excluded levels among all: their places, their variables and, once known, what they share with the axes."""

    def __init__(self, encoder: Encoder) -> None:
        mine = encoder.active.places
        self.encoder = replace(encoder, exclude=(), missing=_plain(encoder), fill=None)
        wide = self.encoder.active
        self.places: Places = np.unique(wide.places[mine < 0])
        self.kept = np.zeros(len(encoder.active.labels), np.intp)
        self.kept[mine[mine >= 0]] = wide.places[mine >= 0]
        self.owners: Places = wide.owners[self.places]
        self.shares: Floats = wide.counts[self.places] / encoder.weight

    def ratios(self, sums: Floats, J: int) -> Floats:
        """(J, k) their parts of η², from the sums Σ w z f."""
        out = np.zeros((J, sums.shape[1]))
        np.add.at(out, self.owners, np.square(sums) / self.shares[:, None])
        return out


def _plain(encoder: Encoder) -> str:
    return "exclude" if encoder.missing == "regularized" else encoder.missing


def sums_of(model: EncodedColumns, coded: EncodedTable) -> Floats | None:
    """(m, k) Σ w z f of the excluded levels, from rows in memory; None where there is nothing to look at."""
    if are_blocks(coded.rows) or coded.table is None or not model.exclude:
        return None
    excluded, record = Excluded(model._encoder), model._record
    Z = excluded.encoder.rows(coded.table, unseen=None)[:, excluded.encoder.p + excluded.places]
    w = np.asarray(record.row_weights)
    f = np.where(w[:, None] > 0, np.asarray(record.F), 0.0) * inverse_root(inertias_of(model))
    return np.asarray(Z.T @ (w[:, None] * f))


def excluded_of(model: EncodedColumns) -> tuple[Excluded, Floats] | None:
    """Excluded levels and their Σ w z f; None where no level is excluded."""
    len(model.components_)  # solves a pending state
    if not model.exclude:
        return None
    excluded, record = Excluded(model._encoder), model._record
    if record.state is None:
        if record.outside is None:
            raise AttributeError(NO_EXCLUDED)
        return excluded, np.asarray(record.outside)
    wide, p = excluded.encoder, excluded.encoder.p
    every: Any = wide.narrowed(wide.lowered(record.state))
    columns = np.concatenate([np.arange(p), p + excluded.kept])
    cross = every.scatter[np.ix_(p + excluded.places, columns)] * (every.unit**2 / every.weight)
    return excluded, cross / record.scale @ model.components_.T * inverse_root(inertias_of(model))
