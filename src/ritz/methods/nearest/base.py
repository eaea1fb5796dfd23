"""What every index does: unit rows, ``kneighbors`` as scikit-learn's, effort until a recall is reached, the recall."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ritz._core.errors import ParameterError
from ritz.methods.nearest.recall import Recall, examined, measured

__all__ = ["Nearest"]

#: Queries by which effort is chosen, and others by which recall is measured.
TRIED, MEASURED = 100, 200
#: Neighbours that recall is measured for.
TOP = 10


class Nearest(BaseEstimator):
    """Rows by their direction; what finds candidates is the method's own."""

    recall: float | None
    random_state: Any
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array (n, d)
            Vectors; their lengths do not matter, and a row of zeros is never found.
        y : ignored
        """
        if self.recall is not None and not 0 < self.recall <= 1:
            raise ParameterError("recall must be None or a share", received=repr(self.recall), hint="recall=0.95")
        rows = validate_data(self, X, dtype=(np.float64, np.float32), order="C")
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        self._norms = np.where(norms > 0, 1.0, 0.0)
        self._unit = np.asarray(rows / np.where(norms > 0, norms, 1.0)[:, None], rows.dtype)
        self.n_samples_ = len(rows)
        self._measured: tuple[Recall | None] | None = None
        self._build()
        self._choose_effort()
        return self

    def kneighbors(self, X: Any, n_neighbors: int = TOP, return_distance: bool = True) -> Any:
        """Nearest rows of the fit.

        Parameters
        ----------
        X : array (m, d)
            Queries.
        n_neighbors : int
            How many.
        return_distance : bool
            Whether cosine distances, 1 − cos, come first.

        Returns
        -------
        distances (m, n_neighbors) and rows (m, n_neighbors), or rows alone; nan and −1 where fewer were found
        """
        check_is_fitted(self)
        if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, (int, np.integer)) or n_neighbors < 1:
            raise ParameterError("n_neighbors must be a whole number from 1 on", received=repr(n_neighbors))
        queries = validate_data(self, X, dtype=(np.float64, np.float32), reset=False, order="C")
        size = np.linalg.norm(queries, axis=1, keepdims=True)
        unit = np.asarray(queries / np.where(size > 0, size, 1.0), self._unit.dtype)
        rows, cosines = self._search(unit, min(int(n_neighbors), self.n_samples_))
        lost = (rows < 0) | (self._norms[np.maximum(rows, 0)] == 0) | (size == 0)
        rows, distances = np.where(lost, -1, rows), np.where(lost, np.nan, 1.0 - cosines)
        order = np.argsort(np.where(lost, np.inf, distances), axis=1, kind="stable")
        rows = np.take_along_axis(rows, order, axis=1)
        return (np.take_along_axis(distances, order, axis=1), rows) if return_distance else rows

    @property
    def recall_(self) -> Recall | None:
        """Share of the ten true neighbours that are found, with its interval, measured on queries like the rows."""
        check_is_fitted(self)
        if self._measured is None:
            exam = examined(self._unit, self._norms, self._top(), MEASURED, [self._seed(), 1])
            self._measured = (measured(self, exam, self._top()),)
        return self._measured[0]

    def _choose_effort(self) -> None:
        """Raise the effort until the recall that was asked for is reached for some queries."""
        if self.recall is None:
            return
        exam = examined(self._unit, self._norms, self._top(), TRIED, [self._seed(), 0])
        while True:
            found = measured(self, exam, self._top())
            if found is None or found.value >= self.recall or not self._try_harder():
                return

    def _top(self) -> int:
        return max(1, min(TOP, self.n_samples_ - 1))

    def _seed(self) -> int:
        return int(np.random.default_rng(self.random_state).integers(2**31)) if self.random_state is not None else 0

    def _build(self) -> None:
        raise NotImplementedError

    def _search(self, unit: NDArray[Any], top: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        raise NotImplementedError

    def _try_harder(self) -> bool:
        return False

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_unit")
