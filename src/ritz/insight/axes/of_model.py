"""The axes of a fitted model (see ``methods/fitted/axes.py``), and the names that results of rows and columns have."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.data.tables.frames import is_frame, library_of, row_labels
from ritz.data.tables.labelled import labelled
from ritz.methods.fitted import Axes, fitted_of

__all__ = [
    "Axes", "axes_of", "axis_names", "column_labels", "columns_named", "independent", "rows_named", "rows_valued",
    "scores_of", "spread", "weights_of",
]  # fmt: skip

Floats = NDArray[np.float64]


def axes_of(model: Any) -> Axes:
    """The axes of a fitted model whose components are made of columns."""
    return fitted_of(model).axes()


def independent(axes: Axes, what: str) -> None:
    """Refuse components that overlap where sums over components are asked for."""
    if axes.overlap:
        raise ParameterError(
            f"{what} are sums over components, which must not be correlated",
            received=f"{type(axes.model).__name__}, whose components are correlated",
            hint="explained_variance_ holds what each component adds to those before it",
        )


def spread(model: Any, X: Any = None, sample_weight: Any = None) -> Floats:
    """Standard deviation of every column in the frame of the fit, (d,); about zero for an SVD."""
    return fitted_of(model).spread(X, sample_weight)


# names


def axis_names(model: Any, k: int) -> list[str]:
    """PC1, PC2, … as files and reports say."""
    return fitted_of(model).axis_names(k)


def column_labels(model: Any) -> list[str] | None:
    """Names of the columns of the fit; None where it had none."""
    return fitted_of(model).column_labels()


def columns_named(model: Any, values: Floats, names: Sequence[str] | None) -> Any:
    """Results of the columns: a frame of the library of the fit (pandas where it is not known), or an array."""
    labels = column_labels(model)
    if labels is None:
        return values
    library = fitted_of(model).library or ("pandas" if find_spec("pandas") else None)
    return labelled(values, labels, names, library, "column")


def rows_named(X: Any, values: Floats, names: Sequence[str] | None) -> Any:
    """Results of the rows, as the library of X holds them."""
    return labelled(values, row_labels(X), names, library_of(X), "row")


def rows_valued(X: Any, values: Floats) -> Any:
    """One number a row: a Series where X is a frame of pandas, whose rows have names; an array otherwise."""
    return rows_named(X, values, None) if library_of(X) == "pandas" and is_frame(X) else values


# rows


def scores_of(model: Any, X: Any) -> Floats:
    """Coordinates of rows as variances count them: those of a whitening model get their spread back."""
    return fitted_of(model).scores(X)


def weights_of(model: Any, X: Any, n: int, sample_weight: Any) -> Floats:
    """(n,) weights of the rows; the rows of a CA weigh what they count."""
    return fitted_of(model).row_weights(X, n, sample_weight)
