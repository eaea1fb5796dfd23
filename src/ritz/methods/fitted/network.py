"""Models that place rows by a network: coordinates of old and new rows, and no directions in the columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.validate import validate_rows
from ritz.methods.fitted.embedding import Embedded

__all__ = ["OfNetwork"]

Floats = NDArray[np.float64]


class OfNetwork(Embedded):
    """Coordinates by a network; the certificate is that of the ordinary components of the same rows."""

    needs: ClassVar[tuple[str, ...]] = ("embedding_", "_mean64")
    places_new_rows = True
    certified = False
    chooses = False
    keeps_spectrum = False
    without_rules = ("a network has no spectrum of its own, which the rules would look at", None)
    without_columns = (
        "it is a network, whose axes are no directions in the columns",
        "describe(model, X) says which columns go with its axes",
    )

    @property
    def shares(self) -> Floats:
        """Of the variance of the coordinates themselves."""
        values = np.asarray(self.model.explained_variance_, np.float64)
        return values / max(float(values.sum()), 1e-300)

    @property
    def values(self) -> Floats:
        """Variances of the coordinates."""
        return np.asarray(self.model.explained_variance_, np.float64)

    @property
    def gaps(self) -> Floats:
        """Nothing is proved of them."""
        return np.full(self.k, np.nan)

    def rows(self, X: Any) -> Any:
        """Rows, checked."""
        return validate_rows(self.model, X, reset=False)

    def compared(self, X: Any) -> Any:
        """Checked, and divided by deviations where the network saw standardised columns."""
        rows, scale = self.rows(X), getattr(self.model, "scale_", None)
        if scale is None:
            return rows
        dense = rows.toarray() if hasattr(rows, "toarray") else rows
        return np.asarray(dense, np.float64) / np.asarray(scale, np.float64)

    def possible(self, n: int, d: int) -> int:
        """As many as somebody asks for."""
        return int(self.model.n_components_)
