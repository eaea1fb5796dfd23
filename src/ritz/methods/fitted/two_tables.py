"""Models of two tables (PLS, CCA, PCR): scores of the first by rotations that need not be orthogonal."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.linear import Oblique

__all__ = ["TwoTableModel"]

Floats = NDArray[np.float64]


class TwoTableModel(Oblique):
    """Scores are uncorrelated, so that what components explain adds up; they are no projections."""

    needs: ClassVar[tuple[str, ...]] = (
        *Oblique.needs, "_loadings", "_dual", "_structure", "_spread", "_coef64", "_y_mean64", "_y_rotations",
        "_score_covariance", "target_names_",
    )  # fmt: skip
    projects = False
    keeps_spectrum = False
    without_rules = (
        "how many components serve depends on the second table, which the rules do not know",
        "n_components='kfold' of PLS and PCR chooses by cross-validation, n_components='bartlett' of CCA by a test",
    )

    @property
    def values(self) -> Floats:
        """Variances of the first table that components explain."""
        return np.asarray(self.model.explained_variance_, np.float64)

    @property
    def gaps(self) -> Floats:
        """Nothing is proved of them: they are no eigenvalues."""
        return np.full(self.k, np.nan)

    def possible(self, n: int, d: int) -> int:
        """Pairs of canonical variates, pairs of singular vectors, or directions of the first table."""
        q = len(self.model.target_names_)
        pairs = hasattr(self.model, "canonical_correlations_") or getattr(self.model, "algorithm", "") == "svd"
        return min(n - 1, d, q) if pairs else min(n - 1, d)

    def axes(self) -> Axes:
        """Covariances of the columns with the standardised scores."""
        values, total = self._values()
        apart = getattr(self.model, "algorithm", "") != "svd"  # whose scores are correlated
        return Axes(self.model, np.asarray(self._recorded("_structure"), np.float64), values, total, overlap=not apart)

    def spread(self, X: Any = None, sample_weight: Any = None) -> Floats:
        """Of the rows of the fit."""
        return np.asarray(self._recorded("_spread"), np.float64) if X is None else super().spread(X, sample_weight)

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """Rows are not projected."""
        self.refuse("cos²", "its scores are no projections on orthogonal axes",
                    "y_explained_variance_ratio_ says what components explain of the second table")  # fmt: skip

    def unrotated(self) -> Floats:
        """Rotated components would say nothing of the second table."""
        self.refuse("rotations", "its components are chosen by what they say of the second table",
                    "rotate the components of PCA instead")  # fmt: skip
