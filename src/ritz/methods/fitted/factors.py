"""Factor analysis, x = μ + L f + e: loadings of its own, factors that may be correlated, scores that are estimates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.validate import validate_rows
from ritz.methods.factor_analysis.model import score_weights
from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.linear import Oblique
from ritz.project.linear import LinearMap

__all__ = ["Factors"]

Floats = NDArray[np.float64]


class Factors(Oblique):
    """A model of common factors."""

    needs: ClassVar[tuple[str, ...]] = (*Oblique.needs, "_weights", "_loadings")
    rotates_all = chooses = True
    keeps_spectrum = False
    projects = False

    def axes(self) -> Axes:
        """The loadings of the model itself, with Φ."""
        model = self.model
        phi = np.asarray(model.factor_correlations_, np.float64)
        oblique = bool(np.any(phi - np.eye(len(phi))))
        values = np.asarray(model.explained_variance_, np.float64)
        return Axes(
            model, np.asarray(model.components_, np.float64).T, values, model.total_variance_, phi if oblique else None
        )  # fmt: skip

    def spread(self, X: Any = None, sample_weight: Any = None) -> Floats:
        """Communalities and uniquenesses together."""
        model = self.model
        unit = 1.0 if model.scale_ is not None else self._recorded("_spread")
        return np.asarray(np.sqrt(np.asarray(model.communalities_ + model.uniquenesses_, np.float64)) * unit)

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """Scores are estimates: rows are not projected."""
        self.refuse("cos²", "its scores are estimates, no projections",
                    "communalities(model) says how well the factors show each column")  # fmt: skip

    def unrotated(self) -> Floats:
        """As they were before the rotation of the fit."""
        return np.asarray(self._recorded("_unrotated"), np.float64)

    def rotated_scores(self, X: Any, matrix: Floats, correlations: Floats) -> Floats:
        """Scores on rotated factors, by the weights of the model's own formula."""
        L = np.asarray(np.linalg.solve(matrix, self.unrotated().T).T, np.float64)
        W = score_weights(L, self._recorded("_psi"), correlations, self.model.scores)
        names = getattr(self.model, "feature_names_in_", None)
        rows = validate_rows(self.model, X, reset=False)
        return np.asarray(LinearMap(W.T, self.mean, self.scale, None, names, self.mean_low).forward(rows))
