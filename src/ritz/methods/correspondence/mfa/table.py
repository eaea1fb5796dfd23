"""Tables whose columns come in groups: numbers, categories and counts, in one encoded row.

    row   (x | z | n)   →   (x − shift | z | r),   r the shares of the counts, as ``rows.py`` centres them

Rows of groups of counts weigh as much as they count, times their sample weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import EmptyProfiles, InputError
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.encode.openings import Opened
from ritz.data.passes.blocks import are_blocks
from ritz.methods.correspondence.encoded.encoded import EncodedTable
from ritz.methods.correspondence.mfa.rows import count_totals, with_shares
from ritz.methods.correspondence.mfa.separate import weighted_mean

if TYPE_CHECKING:
    from ritz.methods.correspondence.mfa.mfa import MFA

__all__ = ["count_weights", "look", "shares_taken", "unshifted"]

Floats = NDArray[np.float64]


def look(model: MFA, table: Any, weights: Floats, columns: list[str], counts: list[str], **options: Any) -> Encoder:
    """What one look at some columns learns; counts are not shifted."""
    categorical = model.categorical
    if categorical is not None and not isinstance(categorical, str):
        named = {table.names[name] if isinstance(name, int) else str(name) for name in categorical}
        categorical = [name for name in columns if name in named]
    encoder = Encoder.learn(
        table, categorical=categorical, numbers=True, missing=model.missing, weights=weights, columns=columns, **options
    )
    return unshifted(encoder, counts)


def unshifted(encoder: Encoder, counts: list[str]) -> Encoder:
    """The encoder without the shifts of counts; categories among them are refused."""
    among = set(counts)
    words = [name for name in encoder.vocabulary.names if name in among]
    if words:
        raise InputError(
            f"expected counts in column {words[0]!r}, which is in a group of frequencies", received="categories"
        )
    shift = np.where([name in among for name in encoder.numeric], 0.0, encoder.shift)
    return replace(encoder, shift=shift, few=tuple(name for name in encoder.few if name not in among))


def count_weights(model: MFA, table: Opened, weights: Floats) -> Floats:
    """Weights of rows times what they count."""
    counted = model._counted
    encoder = look(model, table, weights, counted, counted)
    totals = count_totals(encoder.rows(table, unseen=None, memory=model.memory), list(encoder.numeric))
    empty = np.flatnonzero((totals == 0) & (weights > 0))
    if len(empty):
        plural = "s" if len(empty) > 1 else ""
        warn(
            f"{len(empty)} row{plural} without counts, the first row {int(empty[0])}: no profile, so no part in "
            "the fit; coordinates are NaN",
            EmptyProfiles,
        )
    return weights * totals


def shares_taken(model: MFA, coded: EncodedTable) -> EncodedTable:
    """Rows with shares in place of counts; the profiles of several tables are learned in a fit."""
    tables = model._tables()
    if len(tables.places) > 1 and tables.profiles is None:  # in a fit
        R, w = model._present(EncodedTable(with_shares(coded.rows, tables), coded.weights))
        mean = weighted_mean(R, w / np.sum(w), model._encoder.labels)
        profiles = np.zeros(len(mean))
        for places in tables.places:
            profiles[places] = mean[places] / max(float(np.sum(mean[places])), 1e-300)
        model._record.profiles, model._record.frequencies = profiles, mean
        tables = model._tables()
    coded.empty = coded.weights <= 0 if are_blocks(coded.rows) else tables.totals(coded.rows) == 0
    coded.rows = with_shares(coded.rows, tables)
    return coded
