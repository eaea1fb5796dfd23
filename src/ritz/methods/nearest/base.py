"""What every index does: unit rows, ``kneighbors`` as scikit-learn's, effort until a recall is reached, the recall."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ritz._core.errors import NonFiniteError, ParameterError
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.methods.lsi.search import DIGITS
from ritz.methods.nearest.recall import Recall, examined, measured

__all__ = ["Nearest", "directions"]

#: Queries by which effort is chosen, and others by which recall is measured.
TRIED, MEASURED = 100, 200
#: Neighbours that recall is measured for.
TOP = 10
#: Lengths beyond which squares leave the range of float64, or lose digits at its ends.
SHORT, LONG = 1e-140, 1e140


def directions(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Rows of length 1, and which of them are not zero; as good for very short and very long rows."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    odd = np.flatnonzero(~((norms > SHORT) & (norms < LONG)))
    if len(odd):
        largest = np.abs(rows[odd]).max(axis=1).astype(np.float64)
        some = rows[odd] / np.where(largest > 0, largest, 1.0)[:, None]
        rows = rows.copy()
        rows[odd], norms[odd] = some, np.linalg.norm(some, axis=1)
    unit = rows / np.where(norms > 0, norms, 1.0)[:, None]
    return np.asarray(unit, rows.dtype), norms > 0


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
        rows = self._numbers(X)
        self._unit, there = directions(rows)
        self._norms = np.where(there, 1.0, 0.0)
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
        unit, there = directions(self._numbers(X, reset=False))
        rows, cosines = self._search(unit.astype(self._unit.dtype, copy=False), min(int(n_neighbors), self.n_samples_))
        lost = (rows < 0) | (self._norms[np.maximum(rows, 0)] == 0) | ~there[:, None]
        rows, distances = np.where(lost, -1, rows), np.where(lost, np.nan, 1.0 - cosines)
        same = DIGITS[self._unit.dtype.itemsize]  # copies may round differently: they come in the order of their rows
        order = np.lexsort((rows, np.where(lost, np.inf, np.round(distances / same))), axis=1)
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

    def _numbers(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        """Rows of finite numbers."""
        refuse_masked(X)
        try:
            rows = validate_data(self, X, dtype=(np.float64, np.float32), reset=reset, order="C")
        except ValueError as error:
            if not str(error).startswith("Input X contains"):
                raise
            received = "NaN" if "NaN" in str(error) else "infinity"
            raise NonFiniteError(
                f"Input X contains {received}: expected finite numbers", hint="leave out these rows, or fill them"
            ) from None
        return np.asarray(rows)

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
