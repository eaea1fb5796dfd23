"""Models of a covariance or correlation matrix: the moment state of rows that nobody has any more.

    S (d×d), n   →   scatter (n − 1)·S,  mean μ or unknown   →   the state that partial_fit adds up   →   the same fit

S is taken as it is given; what it lacks is told. Entries that were rounded by at most e each (a printed table) are
S + E with |Eᵢⱼ| ≤ e, so by Weyl every eigenvalue of the matrix before rounding lies within ‖E‖₂ ≤ e·m of that of S,
where m = d, or d − 1 for correlations, whose diagonal is exact. ``rounding=e`` widens every enclosure by that.
Where S is not quite symmetric, (S + Sᵀ)/2 is decomposed; a symmetric M with Mᵢⱼ between Sᵢⱼ and Sⱼᵢ differs from it by
|Mᵢⱼ − (Sᵢⱼ + Sⱼᵢ)/2| ≤ |Sᵢⱼ − Sⱼᵢ|/2 = Hᵢⱼ, and its eigenvalues by ‖H‖₂ at most, which every enclosure contains.
"""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MatrixAsRows, ParameterError
from ritz._core.warn import warn
from ritz.data.passes.moments import Moments
from ritz.data.passes.unit import power_of_two
from ritz.data.tables.frames import frame_names, frame_to_rows, is_frame, library_of
from ritz.data.tables.table import Table
from ritz.data.words import counted

__all__ = ["Matrix", "matrix_of", "state_of_matrix", "tell_matrix"]

Floats = NDArray[np.float64]

#: Share of the largest entry by which S may differ from its transpose, and by which a diagonal may miss 1.
ASYMMETRY, UNIT_DIAGONAL = 1e-6, 1e-9
#: Share of the largest variance up to which entries and their mirror images differ by rounding alone.
EVEN = 2.0**-48
#: What to do with what is no such matrix.
ROWS = "fit(X) takes a table of rows"
#: Decimals up to which entries count as printed, and columns at least: fewer entries are round by chance.
DECIMALS, FEWEST = 6, 3
#: Share of the largest eigenvalue below which a negative one is rounding of float64.
ROUND = 1e-12
#: Negative eigenvalues that are told, in units of u·d times the largest variance.
NEGATIVE = 16.0
#: Largest and smallest variances whose squares are in range without a unit.
PLAIN = (1e-100, 1e100)


class Matrix(NamedTuple):
    """A covariance matrix as it was given."""

    values: Floats  # (d, d) symmetric
    names: list[str] | None
    library: str | None
    correlations: bool  # whether the diagonal is 1
    decimals: int | None  # to which the entries look rounded
    far: float  # largest difference of an entry from its mirror image
    skew: float  # what half of these differences can move an eigenvalue by


def matrix_of(S: Any, names: Any = None) -> Matrix:
    """A covariance matrix, checked; names of the columns come from a frame, or are given."""
    library = library_of(S)
    if isinstance(S, Table):
        names = S.numeric_names() if names is None else names
        S = S.select(list(names))
    if is_frame(S):
        names, values = [str(name) for name in frame_names(S)] if names is None else names, frame_to_rows(S)
    else:
        values = S.toarray() if hasattr(S, "toarray") else S
    try:
        values = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("expected a covariance matrix of numbers", received=f"{type(S).__name__}: {error}") from error
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not len(values):
        raise InputError(
            "a covariance matrix is square, one row and one column for each variable",
            received=f"shape {values.shape}", hint=ROWS,
        )  # fmt: skip
    if not np.isfinite(values).all():
        raise InputError("a covariance matrix holds finite numbers", received="NaN or infinity",
                         hint="correlations of columns with gaps: FactorAnalysis(missing='fiml').fit(X)")  # fmt: skip
    top, far = float(np.max(np.abs(values))), float(np.max(np.abs(values - values.T)))
    if far > ASYMMETRY * top:
        triangle = not np.any(np.triu(values, 1)) or not np.any(np.tril(values, -1))
        raise InputError(
            "a covariance matrix is symmetric",
            received=f"entries that differ by {far:.3g} from their mirror images",
            hint="of a triangle make the whole: S + S.T - np.diag(np.diag(S))" if triangle else ROWS,
        )
    half = np.abs(values - values.T) / 2
    skew = float(min(np.linalg.norm(half), np.max(half.sum(axis=0))))
    values = (values + values.T) / 2
    if not top or float(np.min(np.diag(values))) < 0:
        raise InputError(
            "variances, the diagonal of a covariance matrix, are not negative, and one is positive",
            received=f"a diagonal from {np.min(np.diag(values)):.3g} to {np.max(np.diag(values)):.3g}",
        )
    given = None if names is None else [str(name) for name in names]
    if given is not None and len(given) != len(values):
        raise InputError(f"expected {len(values)} names of columns", received=f"{len(given)}")
    ones = bool(np.all(np.abs(np.diag(values) - 1) <= UNIT_DIAGONAL))
    return Matrix(values, given, library, ones, _decimals(values), far, skew)


def state_of_matrix(matrix: Matrix, n: Any, mean: Any, rounding: Any) -> tuple[Moments, str]:
    """The moment state of n rows with this covariance, and what is to be told of it."""
    S, d = matrix.values, len(matrix.values)
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 2:
        raise ParameterError("n is the number of rows behind the covariance matrix, at least 2", received=repr(n),
                             hint="from_covariance(S, n=145)")  # fmt: skip
    if rounding is not None and not (isinstance(rounding, numbers.Real) and 0 <= float(rounding) < np.inf):
        raise ParameterError("rounding is the largest error of an entry, a number ≥ 0", received=repr(rounding),
                             hint="rounding=0.0005 for three decimals")  # fmt: skip
    n, rounding = int(n), None if rounding is None else float(rounding)
    wide = d - 1 if matrix.correlations else d
    step = None if matrix.decimals is None else 0.5 * 10.0**-matrix.decimals
    below = _require_positive(S, n, wide, rounding, step)
    top = float(np.max(np.diag(S)))
    unit = 1.0 if PLAIN[0] < top < PLAIN[1] else power_of_two(0.5 * float(np.log2(top)))
    scaled = S / unit / unit
    moved = max((rounding or 0.0) * wide, matrix.skew)  # a matrix between both triangles is within either
    noise = (n - 1) * (2.0**-53 * float(np.linalg.norm(scaled)) + moved / unit / unit)
    center = np.zeros(d) if mean is None else _mean(mean, d)
    state = Moments(n, float(n), center, np.zeros(d), scaled * (n - 1), unit, noise, 2.0**-53)
    told = _told(matrix, rounding, step, wide) + _uneven(matrix, top)
    if below > NEGATIVE * 2.0**-53 * d * top:
        told += f"; its smallest eigenvalue is {-below:.2g}, and negative ones are taken for 0"
    return state, told


def _uneven(matrix: Matrix, top: float) -> str:
    """What is told of entries that differ from their mirror images by more than rounding."""
    if matrix.far <= EVEN * top:
        return ""
    return (
        f"; entries differ from their mirror images by up to {matrix.far:.2g}: the mean of both is taken, and "
        "enclosures hold for every symmetric matrix whose entries lie between the two"
    )


def _told(matrix: Matrix, rounding: Any, step: float | None, wide: int) -> str:
    """What the certificate says of a matrix that was given."""
    kind = "correlation" if matrix.correlations else "covariance"
    if rounding:
        return f"of a {kind} matrix right to {rounding:g} in each entry: enclosures hold for the matrix before rounding"
    words = f"of the {kind} matrix as it was given; nothing is known of how it was rounded"
    if step is None:
        return words
    places = counted(matrix.decimals or 0, "decimal")
    return (
        f"of the {kind} matrix as it was given; its entries look rounded to {places}, which moves an eigenvalue of it "
        f"by at most {step * wide:.2g}"
    )


def _require_positive(S: Floats, n: int, wide: int, rounding: Any, step: float | None) -> float:
    """How far the smallest eigenvalue lies below 0; a matrix with negative ones that rounding does not explain is
    refused, and one with more directions than rows have.
    """
    values = np.linalg.eigvalsh(S)
    top, slack = float(values[-1]), max(rounding or 0.0, step or 0.0) * wide
    allowed = ROUND * len(S) * top + slack
    if values[0] < -allowed:
        raise InputError(
            "a covariance matrix has no negative eigenvalue",
            received=f"one whose smallest eigenvalue is {values[0]:.4g}, as correlations of different rows for each "
            "pair may have",
            hint="ritz.insight.nearest_correlation(R) gives the nearest matrix that is one, and how far it is",
        )
    rank = int(np.count_nonzero(values > max(allowed, 1e-10 * top)))
    if rank > n - 1:
        raise ParameterError(
            f"n={n} rows have a covariance of rank {n - 1} at most", received=f"a matrix of rank {rank}",
            hint="n is the number of rows that the matrix was computed from",
        )  # fmt: skip
    return max(0.0, -float(values[0]))


def _mean(mean: Any, d: int) -> Floats:
    values = np.asarray(mean, np.float64).ravel()
    if len(values) != d or not np.isfinite(values).all():
        raise InputError(f"mean holds {d} finite numbers, one for each column", received=f"{len(values)} numbers")
    return values


def _decimals(S: Floats) -> int | None:
    """Decimals that all entries have at most, where entries are printed numbers; None where they are not."""
    upper = S[np.triu_indices(len(S), 1)]
    if len(S) < FEWEST or not np.any(upper):
        return None
    for places in range(DECIMALS + 1):
        shifted = upper * 10.0**places
        if bool(np.all(np.abs(shifted - np.round(shifted)) <= 1e-9 * np.maximum(1.0, np.abs(shifted)))):
            return places
    return None


def tell_matrix(model: Any, rows: Any) -> None:
    """Warn where rows look like a correlation or covariance matrix."""
    d = rows.shape[1]
    if rows.shape[0] != d or d < FEWEST or not isinstance(rows, np.ndarray):
        return
    diagonal = np.diag(rows)
    if not (diagonal > 0).all() or not np.any(rows - np.diag(diagonal)):
        return
    if float(np.max(np.abs(rows - rows.T))) > UNIT_DIAGONAL * float(np.max(diagonal)):
        return
    root = np.sqrt(diagonal.astype(np.float64))
    if bool(np.any(np.abs(rows) > np.outer(root, root) * (1 + UNIT_DIAGONAL))):
        return
    ones = bool(np.all(np.abs(diagonal - 1) <= UNIT_DIAGONAL))
    kind, name = "correlation" if ones else "covariance", type(model).__name__
    warn(
        f"the {d} rows look like a {kind} matrix: symmetric, with {'ones' if ones else 'variances'} on the diagonal. "
        f"They are taken as rows; {name}.from_covariance(S, n) takes the matrix of n rows for what it is",
        MatrixAsRows,
    )
