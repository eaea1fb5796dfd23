"""What may be asked of a fitted model of texts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.linear import Uncentred
from ritz.methods.fitted.plane import Plane

__all__ = ["OfTexts"]

Floats = NDArray[np.float64]


class OfTexts(Uncentred):
    """A model of documents about zero, which takes texts or counts; of a correspondence analysis it has less."""

    named: ClassVar[tuple[str, ...]] = (*Uncentred.named, "embedding_")
    needs: ClassVar[tuple[str, ...]] = ("components_", "embedding_", "_word_sums")
    derived = ("unseen_", "_source", "_word_columns", "_norms")
    restates = False

    @property
    def _table(self) -> bool:
        return bool(self.model.method == "ca")

    @property
    def centered(self) -> bool:
        """A correspondence analysis takes the mean profile off."""
        return self._table

    @property
    def shares(self) -> Floats:
        """Of the sum of squares, or of the inertia."""
        squares = np.square(np.asarray(self.model.singular_values_, np.float64))
        return squares / (float(self.model.total_) or 1.0)

    def rows(self, X: Any) -> Any:
        """Weights of texts or counts."""
        from ritz.methods.lsi.weighed import counts_of

        return self.model._weighed(counts_of(self.model, X).counts)

    def row_count(self, X: Any) -> int:
        """Number of documents."""
        return int(self.rows(X).shape[0])

    def row_coordinates(self) -> Floats:
        """Of the documents of the fit and its updates."""
        return np.asarray(self.model.embedding_, np.float64)

    def has_columns(self) -> bool:
        """Texts are no table."""
        return False

    def axes(self) -> Axes:
        """Words in topics."""
        self._plain("loadings")
        return super().axes()

    def plane(self) -> Plane:
        """The plane of the topics."""
        self._plain("plane in the space of its words")
        return super().plane()

    def _plain(self, what: str) -> None:
        if self._table:
            self.refuse(what, "method='ca' is a correspondence analysis", "ritz.CA().fit(counts) has what it offers")
