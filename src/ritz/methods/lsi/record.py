"""What a fit of texts keeps for itself, with the shapes of it: n documents, d words, k components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.linear_record import LinearRecord
from ritz.methods.lsi.drift import Energies
from ritz.methods.record import ABSENT
from ritz.text.sums import Sums

__all__ = ["LSIRecord"]

Floats = NDArray[np.float64]


@dataclass(eq=False)
class LSIRecord(LinearRecord):
    """Of texts, or of a matrix of counts."""

    #: what belongs to a process and not to a model: where texts can be read again, and what is made of other fields
    TRANSIENT: ClassVar[tuple[str, ...]] = ("source", "word_columns", "norms")

    rule: dict[str, Any] | None = ABSENT  # parameters of the words; None where counts were given without names
    buckets: int | None = ABSENT  # columns that words share by their hash
    word_sums: Sums | None = ABSENT  # of the documents of the fit, by which words are weighted
    word_sums_now: Sums | None = ABSENT  # with those of the updates
    since: NDArray[np.int64] | None = ABSENT  # (d,) row from which on a word is counted; None: all from the first
    inverted: Any = ABSENT  # CSR (d, n) of the counts, for BM25
    lengths: Floats | None = ABSENT  # (n,) words of each document
    row_labels: list[Any] | None = ABSENT  # names of the documents
    texts: list[str] | None = ABSENT  # the documents themselves, where that was asked for
    table: dict[str, Any] | None = ABSENT  # of a correspondence analysis: what it recorded
    lost: float | None = ABSENT  # Σ(τ + ‖R‖) over the updates: what was cut off
    mixed: float | None = ABSENT  # Σ‖R‖
    cut: tuple[float, float] | None = ABSENT  # τ and ‖R‖ of the last one
    updates: int | None = ABSENT
    batches: tuple[int, ...] | None = ABSENT  # documents of the fit, and of every update
    energies: Energies | None = ABSENT  # what ``drift_`` is made of
    source: Any = ABSENT  # Documents of which texts can be read again
    word_columns: Any = ABSENT  # column of each word
    norms: Any = ABSENT  # (n,) lengths of the rows of ``embedding_``

    def __getstate__(self) -> dict[str, Any]:
        """Pickles hold no text unless it was asked for."""
        return {name: value for name, value in vars(self).items() if name not in self.TRANSIENT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**dict.fromkeys(self.TRANSIENT), **state}.items():
            setattr(self, name, value)
