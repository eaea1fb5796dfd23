"""The correlation matrix that is nearest to a symmetric matrix with ones on its diagonal.

    min ‖X − R‖_F   over   X = Xᵀ ⪰ ε I,  diag X = 1        alternating projections with Dykstra's correction  [Hig02b]

Correlations of different rows for each pair (polychoric ones, or pairwise deletion) need not be those of any table:
they may have negative eigenvalues. The repair, and how far it went, are told, never made in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz._core.warn import warn
from ritz.data.tables.labelled import labelled
from ritz.data.words import counted
from ritz.insight.calls import asked
from ritz.methods.covariance import matrix_of

__all__ = ["NearestCorrelation", "nearest_correlation", "repaired"]

Floats = NDArray[np.float64]

#: Projections at most, and the change at which they end.
MOST, STILL = 2000, 1e-12


@dataclass(frozen=True)
class NearestCorrelation(Tabular):
    """A correlation matrix and how far it is from the one that was given.

    Attributes
    ----------
    correlations : (d, d), a frame where one was given
    distance : ‖X − R‖_F
    largest : the largest change of an entry
    negative : number of negative eigenvalues of R
    lowest : the smallest eigenvalue of R
    iterations : of the projections
    """

    correlations: Any
    distance: float
    largest: float
    negative: int
    lowest: float
    iterations: int

    def _table(self) -> dict[str, Any]:
        return {name: [getattr(self, name)] for name in ("distance", "largest", "negative", "lowest", "iterations")}

    def __repr__(self) -> str:
        if not self.distance:
            return f"a correlation matrix as it was given, smallest eigenvalue {self.lowest:.4g}"
        return (
            f"nearest correlation matrix: {counted(self.negative, 'negative eigenvalue')}, the smallest "
            f"{self.lowest:.4g}; entries changed by {self.largest:.4g} at most"
        )


@asked
def nearest_correlation(R: Any, *, floor: float = 1e-8) -> NearestCorrelation:
    """The nearest correlation matrix, in the sum of squared differences.

    Parameters
    ----------
    R : array-like or frame of shape (d, d)
        Symmetric, with ones on the diagonal.
    floor : float
        Smallest eigenvalue of the result, at least.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> R = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]])     # a and b alike, b and c alike, a and c unrelated
    >>> found = insight.nearest_correlation(R)
    >>> found.correlations.round(4)
    array([[1.    , 0.7607, 0.1573],
           [0.7607, 1.    , 0.7607],
           [0.1573, 0.7607, 1.    ]])
    >>> found
    nearest correlation matrix: 1 negative eigenvalue, the smallest -0.4142; entries changed by 0.2393 at most
    """
    if not 0 <= floor < 1:
        raise ParameterError("floor is a number in [0, 1)", received=repr(floor), hint="floor=1e-8")
    matrix = matrix_of(R)
    if not matrix.correlations:
        raise InputError("expected ones on the diagonal of a correlation matrix",
                         received=f"from {np.min(np.diag(matrix.values)):.3g} to {np.max(np.diag(matrix.values)):.3g}",
                         hint="divide covariances by the deviations first")  # fmt: skip
    X, iterations = _projected(matrix.values, floor)
    values = np.linalg.eigvalsh(matrix.values)
    negative = int(np.count_nonzero(values < 0))
    gap = X - matrix.values
    named = labelled(X, matrix.names, matrix.names, matrix.library if matrix.names else None, "column")
    return NearestCorrelation(
        named, float(np.linalg.norm(gap)), float(np.max(np.abs(gap))), negative, float(values[0]), iterations
    )  # fmt: skip


def repaired(R: Floats, what: str, floor: float = 1e-6) -> tuple[Floats, NearestCorrelation | None]:
    """R where it is positive definite; otherwise the nearest correlation matrix, with a warning."""
    if float(np.linalg.eigvalsh(R)[0]) > 0:
        return R, None
    found = nearest_correlation(R, floor=floor)
    warn(
        f"{what} have {counted(found.negative, 'negative eigenvalue')}, the smallest "
        f"{found.lowest:.3g}: the nearest correlation matrix takes their place, which changes entries by "
        f"{found.largest:.3g} at most",
        AccuracyWarning,
    )
    return np.asarray(found.correlations), found


def _projected(R: Floats, floor: float) -> tuple[Floats, int]:
    if float(np.linalg.eigvalsh(R)[0]) >= floor:
        return R, 0
    Y, correction = R.copy(), np.zeros_like(R)
    steps = 0
    while steps < MOST:
        steps += 1
        before = Y - correction
        values, V = np.linalg.eigh(before)
        X = (V * np.maximum(values, floor)) @ V.T
        correction = X - before
        last, Y = Y, (X + X.T) / 2
        np.fill_diagonal(Y, 1.0)
        if float(np.linalg.norm(Y - last)) <= STILL * float(np.linalg.norm(Y)):
            break
    # of the cone exactly, and then the diagonal by scaling, which keeps it there
    values, V = np.linalg.eigh(Y)
    X = (V * np.maximum(values, floor)) @ V.T
    root = np.sqrt(np.diag(X))
    X = X / np.outer(root, root)
    np.fill_diagonal(X, 1.0)
    return (X + X.T) / 2, steps
