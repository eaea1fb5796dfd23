"""What a table of categories should make its reader think twice about.

η² = Σ pₖ ḡₖ² / λ = 1   on every axis, where every row has a level of its own
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import ConstantColumnWarning, IdentifiersAsCategories
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.words import shorten

__all__ = ["PooledLevels", "constant_variables", "warn_constant", "warn_identifiers"]

#: Rows from which a level for each is no accident; a level whose share differs from 1 by rounding is everybody's.
ENOUGH_ROWS, ALL = 5, 1 - 1e-12


class PooledLevels:
    """What became of rare levels."""

    certificate_: Any

    @property
    def pooled_(self) -> dict[str, list[str]]:
        """Levels that ``rare`` made one level, by variable; a single rare level stays as it is."""
        check_is_fitted(self)
        encoder: Encoder = vars(self)["_columns"]
        return {name: list(levels) for name, levels in encoder.pooled.items()}

    def _name_columns(self, *results: Any) -> None:
        super()._name_columns(*results)  # type: ignore[misc]
        if held := self.pooled_:
            words = "; ".join(f"{name}: {shorten(levels)}" for name, levels in held.items())
            notes = (*self.certificate_.notes, f"rare levels taken together: {words}")
            self.certificate_ = replace(self.certificate_, notes=notes)


def constant_variables(encoder: Encoder) -> NDArray[np.bool_]:
    """(J,) categorical variables whose one level every row gives; one of a huge weight has others beside it."""
    owners, J = encoder.active.owners, encoder.vocabulary.J
    return (np.bincount(owners, minlength=J) == 1) & (np.bincount(owners, encoder.mean >= ALL, minlength=J) > 0)


def warn_constant(encoder: Encoder) -> None:
    """Name categorical columns without variance."""
    still = constant_variables(encoder).tolist()
    names = [repr(name) for name, constant in zip(encoder.vocabulary.names, still, strict=True) if constant]
    if names:
        plural = "s" if len(names) > 1 else ""
        warn(f"constant column{plural} {shorten(names)}: set aside, no variance to analyse", ConstantColumnWarning)


def warn_identifiers(encoder: Encoder, rows: int) -> None:
    """Name columns that give every one of ``rows`` rows a level of its own."""
    if rows < ENOUGH_ROWS:
        return
    levels = np.bincount(encoder.active.owners, minlength=encoder.vocabulary.J)
    names = [repr(name) for name, held in zip(encoder.vocabulary.names, levels.tolist(), strict=True) if held == rows]
    if names:
        plural, has = ("s", "have") if len(names) > 1 else ("", "has")
        warn(
            f"column{plural} {shorten(names)}: every row has its own level, so {'they' if plural else 'it'} {has} "
            f"η² = 1 on every axis\nhint: drop the column{plural}, or set {'one' if plural else 'it'} as index",
            IdentifiersAsCategories,
        )
