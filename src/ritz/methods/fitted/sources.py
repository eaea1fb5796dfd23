"""Sources of which rows are mixtures, x = μ + A s: loadings are the mixing, scores the sources."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.linear import Oblique

__all__ = ["Sources"]

Floats = NDArray[np.float64]


class Sources(Oblique):
    """A model of independent sources of unit variance, whose contributions to the variance add up."""

    named: ClassVar[tuple[str, ...]] = (*Oblique.named, "mixing_", "gradient_")
    needs: ClassVar[tuple[str, ...]] = (*Oblique.needs, "_loadings")
    projects = False
    keeps_spectrum = False
    without_rules = ("its sources are ordinary components in a rotation, and the rules speak of those", None)

    def axes(self) -> Axes:
        """The mixing."""
        values, total = self._values()
        return Axes(self.model, np.asarray(self.model.mixing_, np.float64), values, total)

    def standard(self) -> tuple[Floats, Floats, Floats]:
        """Columns of the mixing of unit length."""
        axes = self.axes()
        size = np.linalg.norm(axes.loadings, axis=0)
        return axes.loadings / np.where(size > 0, size, 1.0), axes.variances, axes.variances / axes.total

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """Sources are no projections."""
        self.refuse("cos²", "its sources are no projections of rows",
                    "contributions(model, X) says which rows make a source")  # fmt: skip
