"""Non-negative parts of which rows are sums, X ≈ WH: nothing is centred, and parts overlap."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.linear import Uncentred
from ritz.methods.fitted.plane import Plane
from ritz.project.linear import LinearMap

__all__ = ["NonNegative"]

Floats = NDArray[np.float64]


class NonNegative(Uncentred):
    """A model of non-negative parts."""

    named: ClassVar[tuple[str, ...]] = (
        *Fitted.named, "components_", "explained_variance_ratio_", "relative_error_", "kkt_residual_",
    )  # fmt: skip
    needs: ClassVar[tuple[str, ...]] = ("components_", "_weights_norm")
    resamples = permutes = None
    projects = turns = chooses = keeps_spectrum = False
    formula = "none"
    without_rules = ("its parts are not orthogonal and have no spectrum, which the rules would look at", None)
    why = ("its parts are not orthogonal, and rows are sums of them with no negative weight",
           "relative_error_ says what the parts leave, transform(X) gives the weights")  # fmt: skip

    @property
    def shares(self) -> Floats:
        """Of ‖X‖²."""
        return np.asarray(self.model.explained_variance_ratio_, np.float64)

    @property
    def values(self) -> Floats:
        """(k,) what each part holds of ‖X‖²."""
        return self.shares * float(self.model.total_)

    def axes(self) -> Axes:
        """Parts as long as the root of the mean square of their weights."""
        model = self.model
        size = np.asarray(self._recorded("_weights_norm"), np.float64) / np.sqrt(max(int(model.n_samples_), 1))
        L = np.asarray(model.components_, np.float64).T * size
        return Axes(model, L, np.square(L).sum(axis=0), float(model.total_) / model.n_samples_, overlap=True)

    def linear_map(self) -> LinearMap:
        """Weights come from a problem with constraints."""
        self.refuse("linear map of its columns", *self.why)

    def plane(self) -> Plane:
        """There is none."""
        self.refuse("plane in the space of its columns", *self.why)

    def distances(self, X: Any, diagonal: Any = None) -> tuple[Floats, Floats]:
        """There is no plane."""
        self.refuse("distances of rows", *self.why)

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """There is no plane."""
        self.refuse("cos²", *self.why)

    def sums(self) -> tuple[float, float, float]:
        """There is no plane."""
        self.refuse("distances of rows", *self.why)

    def standard(self) -> tuple[Floats, Floats, Floats]:
        """There is no biplot of parts that overlap."""
        self.refuse("biplot", *self.why)

    def rotated_scores(self, X: Any, matrix: Floats, correlations: Floats) -> Floats:
        """Turned parts would be negative somewhere."""
        self.refuse("rotations", *self.why)

    def unrotated(self) -> Floats:
        """Turned parts would be negative somewhere."""
        self.refuse("rotations", *self.why)
