"""What a model of texts keeps of its documents, for those who show them: names, counts, lengths, texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.lsi.finding import norms_of, texts_of

__all__ = ["Keeps"]


@dataclass(frozen=True)
class Keeps:
    """Questions to a fitted model of texts; each has an answer, which may be None."""

    model: Any

    @property
    def names(self) -> list[Any] | None:
        """Names of the documents."""
        found: list[Any] | None = self.model._record.row_labels
        return found

    @property
    def inverted(self) -> Any:
        """CSR (d, n): how often each word occurs in each document."""
        return self.model._record.inverted

    @property
    def counts(self) -> Any:
        """CSR (n, d): how often each document has each word."""
        file = self.inverted
        return None if file is None else file.T.tocsr()

    @property
    def lengths(self) -> NDArray[np.float64] | None:
        """(n,) words of each document."""
        found: NDArray[np.float64] | None = self.model._record.lengths
        return found

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(n,) lengths of the coordinates of the documents; zero where they say nothing."""
        return norms_of(self.model)

    @property
    def buckets(self) -> int | None:
        """Columns that words share by their hash."""
        found: int | None = self.model._record.buckets
        return found

    @property
    def updates(self) -> int:
        """How often documents were added."""
        return int(self.model._record.updates or 0)

    @property
    def source(self) -> Any:
        """Documents that can be read again; of an updated model a list."""
        return self.model._record.source

    @property
    def readable(self) -> bool:
        """Whether texts are kept, or can be read again."""
        return self.source is not None or self.model._record.texts is not None

    def texts(self, rows: list[int]) -> list[str] | None:
        """Some of the documents themselves."""
        return texts_of(self.model, rows)
