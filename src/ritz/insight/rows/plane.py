"""Distances of rows from the plane of a fitted model (see ``methods/fitted/plane.py``), and what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted import Plane, fitted_of
from ritz.project.residual import Parts

__all__ = ["Plane", "distances", "fit_sums", "mapped", "plane_of", "rows_of"]

Floats = NDArray[np.float64]


def plane_of(model: Any) -> Plane:
    """The plane of a fitted linear model, with the variances that the model itself reports."""
    return fitted_of(model).plane()


def rows_of(model: Any, X: Any) -> Any:
    """Rows as the model encodes them: an array, CSR or row blocks; gaps filled where the model knows how."""
    return fitted_of(model).rows(X)


def mapped(plane: Plane, rows: Any, width: int, step: Callable[[Parts], Floats], *, whole: bool = False) -> Floats:
    """``step`` of the parts of every row, (n, width), in one pass; ``whole``: also the parts of sparse rows."""
    return fitted_of(plane.model).mapped(plane, rows, width, step, whole=whole)


def distances(model: Any, X: Any, *, diagonal: Any = None) -> tuple[Floats, Floats]:
    """T² and Q of rows, (n,) each, in one pass.

    ``diagonal``: k(x, x) of the rows for a precomputed kernel, which cannot know it.
    """
    return fitted_of(model).distances(X, diagonal)


def fit_sums(model: Any) -> tuple[float, float, float]:
    """Σw, Σw·T² and Σw·Q of the rows of the fit, which the model knows without them; NaN where it does not."""
    return fitted_of(model).sums()
