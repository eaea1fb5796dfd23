"""What may be asked of a fitted model of texts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
    formula = "none"  # of columns: it takes texts
    resamples = permutes = None  # drawn with replacement, copies of a document would share words that no other has

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

    def tabled(self, X: Any) -> Any:
        """Counts of the words of texts."""
        from ritz.methods.lsi.weighed import counts_of

        return X if X is None else counts_of(self.model, X).counts

    def row_count(self, X: Any) -> int:
        """Number of documents."""
        return int(self.rows(X).shape[0])

    def row_coordinates(self) -> Floats:
        """Of the documents of the fit and its updates."""
        return np.asarray(self.model.embedding_, np.float64)

    def refit(self, fit_on: Any, X: Any, seen: NDArray[np.intp], weights: Floats) -> Any:
        """The same model of some documents, over the same words."""
        from ritz.methods.lsi.weighed import counts_of

        record = self.model._record
        words = None if record.buckets is not None else getattr(self.model, "feature_names_in_", None)
        fresh = fit_on.fit(counts_of(self.model, X).counts[seen], vocabulary=words)
        fresh._record.rule, fresh._record.buckets = record.rule, record.buckets
        return fresh

    def picked(self, X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Any:
        """Counts of some documents."""
        from ritz.methods.lsi.weighed import counts_of

        return counts_of(self.model, X).counts[rows]

    def has_columns(self) -> bool:
        """Texts are no table."""
        return False

    def _values(self) -> tuple[Floats, float]:
        """Mean squares of the coordinates, or inertias."""
        if not self._table:
            return super()._values()
        return np.square(np.asarray(self.model.singular_values_, np.float64)), float(self.model.total_)

    def unlike_columns(self) -> Floats:
        """Words are weighted: none counts as it is."""
        return np.zeros(0)

    def plane(self) -> Plane:
        """The plane of the topics."""
        self._plain("plane in the space of its words")
        return super().plane()

    def _plain(self, what: str) -> None:
        if self._table:
            self.refuse(what, "method='ca' is a correspondence analysis", "ritz.CA().fit(counts) has what it offers")
