"""Whether the numbers of a kernel problem can be relied on: their range, and what rounding took of them.

    k(x, x) within [LEAST, MOST]          squares of entries, summed over n², neither overflow nor vanish
    ρ ≤ max(tol, FINEST)·λ₁               ρ what rounding may move an eigenvalue by: the certificate's ``rounding``

Tiles of float32 that miss the second line are computed again in float64; float64 ones are what there is, so the
certificate then says that the tolerance was missed, with a warning. |k(x, y)|² ≤ k(x, x) k(y, y) for a positive
kernel, so its diagonal tells its range; entries of other kernels are looked at where they are summed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.errors import AccuracyWarning, InputError
from ritz._core.tolerance import unit_roundoff
from ritz._core.warn import warn
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.rows import is_sparse
from ritz.kernels.vectors import Linear
from ritz.spectral.solution import Solution

__all__ = [
    "SCALE",
    "blurred",
    "in_range",
    "judged",
    "lasting",
    "representable",
    "require_kernel",
    "require_representable",
    "shift_of",
]

#: Largest and least k(x, x): squares of entries, times n², stay within float64.
MOST, LEAST = 1e140, 1e-140
#: The same for float32 tiles.
NARROW_MOST, NARROW_LEAST = 1e15, 1e-15
#: Rounding below this share of λ₁ is stated, not warned about, whatever tol is.
FINEST = 1e-9
#: float32 tiles that may be off by more than this, in units of k(x, x), are not kept for new rows.
COARSE = 1e-4

SCALE = "scale the columns (sklearn.preprocessing.StandardScaler), or choose a smaller gamma or degree"
#: What helps where centring loses digits: of a kernel that was chosen, and of a matrix that was handed over.
CHOSEN = (
    "take the mean off the columns, choose a larger gamma or a smaller degree, or use solver='auto', which reads "
    "explicit features where the kernel has them"
)
GIVEN = "compute K in float64, of rows whose mean is taken off"


def in_range(kernel: Kernel, A: Prepared) -> Prepared:
    """The rows in a precision whose range holds k; refused where no precision does."""
    with np.errstate(over="ignore", invalid="ignore"):
        own = require_kernel(kernel.diag(A), "k(x, x)")
    largest = float(np.max(np.abs(own), initial=0.0))
    lost = largest == 0 and kernel.takes == "vectors" and _any(A.source)
    if largest > MOST or 0 < largest < LEAST or lost:
        raise InputError(
            f"kernel values between {LEAST:g} and {MOST:g}: squares of others leave the range of float64",
            received=f"k(x, x) up to {largest:.3g}",
            hint=SCALE if largest > MOST else "scale the columns (sklearn.preprocessing.StandardScaler)",
        )
    narrow = A.dtype.itemsize < 8 and (largest > NARROW_MOST or 0 < largest < NARROW_LEAST)
    if A.dtype.itemsize < 8 and (narrow or not representable(kernel, A, A.dtype)):
        A = A.at(np.float64)
    if not representable(kernel, A, A.dtype):
        raise InputError(
            "kernel values must be finite", received="rows so large that products of them overflow", hint=SCALE
        )
    return A


def _any(rows: Any) -> bool:
    """Whether some entry is not 0."""
    return bool(rows.nnz if is_sparse(rows) else np.any(np.asarray(rows)))


def representable(kernel: Kernel, A: Prepared, dtype: Any) -> bool:
    """Whether k(x, ·) is finite in this precision for the row with the largest entry."""
    if kernel.takes != "vectors" or not A.n or (A.dtype == dtype and kernel.surely_finite(A)):
        return True
    rows = A.source
    size = abs(rows).max(axis=1).toarray() if is_sparse(rows) else np.max(np.abs(rows), axis=1, initial=0.0)
    i = int(np.argmax(size))
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            P = A.at(dtype)
        except InputError:  # squared distances that overflow are refused where they are prepared
            return False
        return bool(np.isfinite(kernel.tile(P, P, slice(i, i + 1), slice(0, P.n))).all())


def require_kernel(values: Any, what: str = "k(x, y)") -> Any:
    """Refuse kernel values that are NaN or infinite."""
    if not np.isfinite(values).all():
        bad = np.asarray(values)[~np.isfinite(values)]
        raise InputError(
            "kernel values must be finite", received=f"{len(bad):,} values of {what} such as {bad[0]}", hint=SCALE
        )
    return values


def require_representable(values: Any, dtype: Any) -> Any:
    """Values in the precision that rows came in; refused where they leave its range."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(values).astype(dtype)
    if not np.isfinite(rounded).all():
        raise InputError(
            f"eigenvalues within the range of {np.dtype(dtype).name}, the precision of the rows",
            received=f"{float(np.max(np.abs(values))):.3g}",
            hint=f"pass rows as float64: X.astype(np.float64), or {SCALE}",
        )
    return rounded


def lasting(kernel: Kernel, A: Prepared) -> Prepared:
    """Rows to compare new ones with: in float64 where float32 tiles of some row would be mostly rounding."""
    if A.dtype.itemsize >= 8 or not A.n:
        return A
    worst = unit_roundoff(A.dtype) * float(np.max(kernel.roughness(A)))
    return A.at(np.float64) if worst > COARSE else A


def shift_of(kernel: Kernel, rows: Any) -> Any:
    """The mean of dense rows of a linear kernel, (d,); None for others."""
    if not isinstance(kernel, Linear) or is_sparse(rows):
        return None
    return np.asarray(rows.mean(axis=0, dtype=np.float64))


def blurred(spectrum: Solution, tol: float) -> bool:
    """Whether rounding hides more than the tolerance allows."""
    a = spectrum.certificate
    return bool(a.rounding > max(tol, FINEST) * float(np.max(np.abs(a.values), initial=0.0)))


def judged(spectrum: Solution, tol: float, kernel: Kernel, rows: Any) -> Solution:
    """The answer, said to have missed the tolerance where rounding did; warned about."""
    a = spectrum.certificate
    if not blurred(spectrum, tol) or _constant(kernel, rows):
        return spectrum
    warned = not a.converged  # by the solver
    top = float(np.max(np.abs(a.values), initial=0.0))
    lost = a.rounding >= top
    much = "no eigenvalue can be told from rounding" if lost else f"that is {a.rounding / top:.1e}·λ₁, tol={tol:g}"
    words = f"rounding of the kernel matrix may move eigenvalues by {a.rounding:.2e}: {much}"
    if not warned:
        advice = GIVEN if kernel.takes == "precomputed" else CHOSEN
        warn(f"{words}. Centring takes most of K away: {advice}.", AccuracyWarning)
    certificate = replace(a, converged=False, tol=tol, notes=(*a.notes, words))
    return replace(spectrum, certificate=certificate)


def _constant(kernel: Kernel, rows: Any) -> bool:
    """Whether all rows are the same: then every eigenvalue is 0, however large rounding is beside it."""
    if is_sparse(rows):
        # each column holds one value, as often as there are rows or nowhere
        low, high = rows.min(axis=0), rows.max(axis=0)
        return bool(abs(high - low).max() == 0)
    if hasattr(rows, "shape"):
        if kernel.takes == "precomputed":
            return bool(np.all(rows == rows[0, 0]))
        return bool(np.all(rows == rows[:1]))
    try:
        return all(bool(np.all(each == rows[0])) for each in rows)
    except Exception:  # noqa: BLE001  (objects that cannot be compared are not known to be the same)
        return False
