"""Models that place the rows of a fit and no others: axes are eigenvectors of an n×n operator, one entry a row.

    embedding_ (n, k)       coordinates of the rows of the fit
    certificate_            of the operator; shares are shares of its trace

There are no columns to speak of, so no loadings, no reconstruction and no distances off a plane; a method that can
place new rows defines ``transform`` itself.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.keys import key_of_rows
from ritz.data.validate import validate_rows
from ritz.methods.fitted.base import Fitted
from ritz.methods.record import record_of

__all__ = ["Embedded", "sides_agree"]

Floats = NDArray[np.float64]


def sides_agree(values: dict[str, Any], kinds: str, **wanted: tuple[int, ...]) -> None:
    """Refuse arrays of a file of another shape than wanted, where −1 is any length, or of another kind of numbers."""
    for name, shape in wanted.items():
        array = values.get(name)
        if array is None:
            continue
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
            raise TypeError(f"{name} that is no array of its kind of numbers")
        if array.ndim != len(shape) or any(a not in (-1, b) for a, b in zip(shape, array.shape, strict=True)):
            raise ValueError(f"{name} of shape {array.shape}, not {shape}")


class Embedded(Fitted):
    """Coordinates of the rows of the fit."""

    needs: ClassVar[tuple[str, ...]] = ("embedding_",)
    named: ClassVar[tuple[str, ...]] = (*Fitted.named, "embedding_")
    space = "embedding"
    formula = "none"
    projects = places_new_rows = False
    chooses = True
    #: the rule that looks for a gap in the spectrum; others compare with noise in columns, and there are none
    rules: ClassVar[tuple[str, ...]] = ("elbow",)
    without_columns = (
        "its axes are made of rows, not of columns",
        "describe(model, X) says which columns go with its axes",
    )

    @staticmethod
    def as_asked(parameters: dict[str, Any], values: dict[str, Any]) -> None:
        """Refuse columns that were divided by what the file does not tell."""
        if parameters.get("standardize") and values.get("spread_") is None:
            raise ValueError("columns divided by spreads that are not told")

    @property
    def shares(self) -> Floats:
        """Of the trace of the operator."""
        c = self.model.certificate_
        return np.asarray(c.values, np.float64) / c.total if c.total > 0 else np.zeros(len(c.values))

    def answers_for(self, X: Any) -> bool:
        """From its own spectrum, where the solver saw all of it."""
        return self.seen is not None and self.seen.complete

    def possible(self, n: int, d: int) -> int | None:
        """A map has as many dimensions as were asked for."""
        return None

    def rows(self, X: Any) -> Any:
        """Rows as they are."""
        return X

    def row_count(self, X: Any) -> int:
        """Number of rows."""
        return len(X) if not hasattr(X, "shape") else int(X.shape[0])

    def row_coordinates(self) -> Floats:
        """Of the rows of the fit."""
        return np.asarray(self.model.embedding_, np.float64)

    @property
    def compares(self) -> str:
        """As the metric of a map takes them; a graph of given weights is taken as it is."""
        if getattr(self.model, "weights", None) == "precomputed":
            return "precomputed"
        from ritz.graphs.spaces.resolve import takes

        return takes(getattr(self.model, "metric", "euclidean"))

    def compared(self, X: Any) -> Any:
        """Checked, and divided by deviations where columns are standardised."""
        return self.model._rows(X, None, reset=False)[0]

    def compared_rows(self) -> Any:
        """The rows of the fit as the distances see them, where the model keeps all of them; None otherwise."""
        rows = getattr(record_of(self.model), "compared", None)
        return getattr(self.model, "X_fit_", None) if rows is None else rows

    def scores(self, X: Any) -> Floats:
        """Of the rows of the fit, in their order; a method that places new rows is asked for those."""
        if self.places_new_rows:
            return super().scores(X)
        n = self.row_count(X)
        if n != len(self.model.embedding_):
            raise InputError(
                f"{self.name} places the {len(self.model.embedding_):,} rows of its fit and no others",
                received=f"{n:,} rows",
                hint="fit all rows at once; embedding_ holds their coordinates",
            )
        self.require_own(X)
        return self.row_coordinates()

    def require_own(self, X: Any) -> None:
        """Refuse other rows of the same columns, or the same in another order: coordinates would be those of others."""
        key = record_of(self.model).rows_key
        if key is None or not self._of_its_columns(X):
            return
        if key_of_rows(validate_rows(self.model, X, reset=False)) not in (key, None):
            raise InputError(
                f"{self.name} places the rows of its fit, in their order, and no others",
                received=f"{len(self.model.embedding_):,} rows that differ from those, or stand in another order",
                hint="pass the rows of the fit as they were; embedding_ holds their coordinates",
            )

    def _of_its_columns(self, X: Any) -> bool:
        """Whether X has the columns of the fit; other columns of the same rows say nothing about the rows."""
        names = getattr(self.model, "feature_names_in_", None)
        given = getattr(X, "names", getattr(X, "columns", None))
        if names is not None and given is not None:
            return set(names) <= set(given)
        width = X.shape[1] if len(getattr(X, "shape", ())) == 2 else None
        return width in (None, self.model.n_features_in_)
