"""The axes of a fitted model: what loadings, contributions and rotations are made of.

    loadings L = V Λ^½   (d, k)        V directions, Λ variances of the scores along them, both in the frame of the fit

PCA and its relatives: variances about the mean, as the model reports them. SVD: mean squares σ²/Σw, since it is about
zero. FactorAnalysis: the loadings of the model itself, with Φ the correlations of its factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Axes"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Axes:
    """Loadings of a linear model and the variances behind them."""

    model: Any
    loadings: Floats  # (d, k)
    variances: Floats  # (k,)
    total: float  # the variance of all columns in the frame of the fit
    correlations: Floats | None = None  # (k, k) Φ where factors are correlated
    overlap: bool = False  # components that share what they explain: nothing may be summed over them

    @property
    def structure(self) -> Floats:
        """Covariances of the columns with the standardised scores, (d, k): LΦ."""
        return self.loadings if self.correlations is None else self.loadings @ self.correlations
