"""Models whose axes lie in a feature space: the same two distances of a row, from k(x, y) alone.

T² = Σ f_i(x)²/λ_i·(n − 1)          Q = k̃(x, x) − Σ f_i(x)²        Hoffmann's reconstruction error
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.tolerance import unit_roundoff
from ritz._core.warn import unsaid
from ritz.methods.fitted.base import Fitted
from ritz.methods.kernel_pca.input import len_of, new_rows
from ritz.methods.kernel_pca.rank import kernel_material
from ritz.rank.material import Material

__all__ = ["InFeatureSpace"]

Floats = NDArray[np.float64]


class InFeatureSpace(Fitted):
    """A kernel model."""

    needs: ClassVar[tuple[str, ...]] = ("_solved_map", "eigenvalues_", "kernel_", "X_fit_", "_dtype")
    space = "feature"
    stores = formula = "kernel"
    distribution_free = True
    chooses = True
    oddity = "spe"  # Hoffmann's error
    derived = ("_preimage", "_score_ridge", "_solved_map")  # a file holds the map as plain values
    without_columns = (
        "its components lie in a feature space",
        "describe(model, X) says which columns go with its axes; t2, spe and outliers take kernel models",
    )

    def rows(self, X: Any) -> Any:
        """Rows as the kernel takes them."""
        return new_rows(self.model, X)

    def possible(self, n: int, d: int) -> None:
        """As many as eigenvalues are positive."""
        return

    def material(self, X: Any) -> Material:
        """Rows of the fit, unless landmarks stand for them."""
        every = self.eigenvectors is not None and len(self.eigenvectors) == self.model.n_samples_
        if X is None and not every:
            return Material(self.name, why_not="the model kept landmarks only")
        return kernel_material(self.model, self.model.kernel_, self.model.X_fit_ if X is None else X)

    def row_count(self, X: Any) -> int:
        """Number of rows."""
        with unsaid():
            return len_of(new_rows(self.model, X))

    def kept_rows(self) -> Any:
        """The rows, where no landmarks stand for them."""
        rows = self.model.X_fit_
        return rows if self.row_count(rows) == self.model.n_samples_ else None

    def has_columns(self) -> bool:
        """Strings and matrices of kernels have none."""
        return bool(self.model.kernel_.takes == "vectors")

    @property
    def _precomputed(self) -> bool:
        return bool(self.model.kernel_.takes == "precomputed")

    def picked(self, X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Any:
        """Some rows; of a matrix of kernels also some columns."""
        if self._precomputed:
            return _square(X)[np.ix_(rows, columns)]
        with unsaid():
            objects = new_rows(self.model, X)
        return objects[rows] if hasattr(objects, "shape") else [objects[i] for i in rows]

    def refit(self, fit_on: Any, X: Any, seen: NDArray[np.intp], weights: Floats) -> Any:
        """By the seen rows alone: a kernel model takes no weights."""
        return fit_on.fit(self.picked(X, seen, seen))

    def changes(self, rows: int) -> dict[str, Any]:
        """The kernel of the fit, with its gamma; landmarks where there are enough rows."""
        model = self.model
        fixed: dict[str, Any] = {"gamma": None, "kernel_params": None, "fit_inverse_transform": False}
        landmarks = model.landmarks
        if model.solver == "nystrom" and isinstance(landmarks, (int, np.integer)):
            fixed["landmarks"] = min(int(landmarks), rows)
        return {**super().changes(rows), "kernel": model.kernel_, **fixed}

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """In feature space."""
        placed = self.kernel_map.scores(new_rows(self.model, X), diagonal=None)
        F = np.asarray(placed.coordinates, np.float64)
        return F, np.square(F).sum(axis=1) + np.asarray(placed.reconstruction_error, np.float64)

    def own_distances(self, X: Any) -> tuple[Floats, Floats]:
        """T² and Q of rows; of a square matrix of kernels the diagonal is k(x, x)."""
        if self._precomputed:
            K = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
            if K.ndim == 2 and K.shape[0] == K.shape[1]:
                return self.distances(K, diagonal=np.diag(K))
        return self.distances(X)

    def unseen_distances(self, X: Any, unseen: NDArray[np.intp], seen: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """T² and Q of the ``unseen`` rows of X, by a model of the ``seen`` ones."""
        diagonal = np.diag(_square(X))[unseen] if self._precomputed else None
        with unsaid():
            return self.distances(self.picked(X, unseen, seen), diagonal=diagonal)

    def new_distances(self, X: Any, seen: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """T² and Q of new rows, by a model of the ``seen`` rows of a fit."""
        return self.distances(np.asarray(X)[:, seen] if self._precomputed else X)

    def _kept(self) -> tuple[Floats, NDArray[np.bool_]]:
        """|λ| and which of them are more than rounding."""
        values = np.abs(np.asarray(self.model.eigenvalues_, np.float64))
        return values, values > unit_roundoff(self.precision) * float(np.max(values, initial=0.0))

    def distances(self, X: Any, diagonal: Any = None) -> tuple[Floats, Floats]:
        """In feature space: variances λ/(n − 1) of the coordinates, and Hoffmann's error."""
        rows = new_rows(self.model, X)
        if len_of(rows) == 0:
            return np.zeros(0), np.zeros(0)
        placed = self.kernel_map.scores(rows, diagonal=diagonal)
        values, keep = self._kept()
        F = np.asarray(placed.coordinates, np.float64)[:, keep]
        variances = values[keep] / max(self.model.n_samples_ - 1, 1)
        inside = np.square(F / np.sqrt(variances)).sum(axis=1)
        return inside, np.asarray(placed.reconstruction_error, np.float64)

    def scale_off(self) -> float:
        """The mean of Q."""
        rest = self.model.total_variance_ - float(np.sum(np.abs(self.model.eigenvalues_)))
        return float(rest / max(self.model.n_samples_ - 1, 1))

    def sums(self) -> tuple[float, float, float]:
        """Nyström's trace is that of its features, while Q counts what they miss: then it is not known."""
        n, (values, keep) = self.model.n_samples_, self._kept()
        exact = self.eigenvectors is not None
        off = max(self.model.total_variance_ - float(np.sum(values)), 0.0) if exact else np.nan
        return float(n), float(np.count_nonzero(keep) * (n - 1)), off


def _square(X: Any) -> NDArray[Any]:
    K = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            "rows of a precomputed kernel are left out from the square matrix of the fit",
            received=f"shape {K.shape}",
            hint="pass k(x, y) of the training rows with each other",
        )
    return K
