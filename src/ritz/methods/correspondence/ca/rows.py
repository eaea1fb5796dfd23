"""Rows of a correspondence analysis: counts as profiles, and as deviations that keep their digits.

    A = D_r^½ (X − 1cᵀ) D_c^-½,   X = D_R⁻¹N,   D = X − 1bᵀ with b ≈ c in float64 (see ``data/passes/deviations.py``)

A dense table is solved, placed and verified by D: what is left of c − b is the mean of the rows D, which the statistics
of any table learn. So nearly independent rows and columns lose no digits, and the certificate counts what is rounded:

    ‖Ã − A‖_F ≤ ε·√(Σ wᵢ‖dᵢ‖²) + ε₀,   ε = 6u, ε₀ = 16u² for D;   ε·√(1 + inertia) for profiles of sparse tables
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.deviations import ENTRY_ERROR, ENTRY_FLOOR, deviations, in_deviations
from ritz.data.passes.moments import Moments
from ritz.data.passes.profiles import ProfileBlocks, profiles
from ritz.data.passes.statistics import ColumnStatistics
from ritz.methods.correspondence.coded import Encoded
from ritz.methods.correspondence.record import CountRecord
from ritz.project.linear import LinearMap
from ritz.spectral.certificate.certificate import Certificate

__all__ = ["EncodedCounts", "centred_counts", "placing", "rounding_error", "weighted_masses", "with_slack"]

Floats = NDArray[np.float64]

#: Error of the total of a sparse table, Σ wx²/c − 1 added up in float64, and the share of the total worth a note.
SPARSE_TOTAL, WORTH_SAYING = 1000 * 2.0**-53, 1e-9


class EncodedCounts(Encoded):
    """Rows of counts; profiles and deviations are made when they are asked for.

    Parameters
    ----------
    counts : array, CSR or row blocks (n, d)
    totals, columns : (n,) totals of the rows, (d,) weighted totals of the columns
    weights, labels, library : as in Encoded
    """

    def __init__(
        self, counts: Any, totals: Floats, columns: Floats, weights: Floats, labels: list[Any] | None,
        library: str | None,
    ) -> None:  # fmt: skip
        self.counts, self.totals, self.columns = counts, totals, columns
        self.weights, self.labels, self.library = weights, labels, library
        self._profiles: Any = None
        self._deviations: tuple[Floats, Any] | None = None

    @property
    def rows(self) -> Any:
        """Row profiles."""
        if self._profiles is None:
            self._profiles = profiles(self.counts, self.totals)
        return self._profiles

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the counts."""
        return tuple(self.counts.shape)

    @property
    def outside(self) -> bool:
        """Whether the counts stay outside memory."""
        return are_blocks(self.counts)

    @property
    def centre(self) -> Floats:
        """Column masses, rounded; what deviations are taken from."""
        return self.columns / (float(np.sum(self.columns)) or 1.0)

    def deviations(self, centre: Floats) -> tuple[Any, Floats]:
        """Deviations and what they were taken from: ``centre``, or the one of the fit, whose deviations are known."""
        if self._deviations is None:
            self._deviations = centre, deviations(self.counts, centre, self.totals)
        return self._deviations[1], self._deviations[0]


def centred_counts(coded: EncodedCounts) -> tuple[Any, Floats, Floats]:
    """Deviations of the rows with a weight from the column masses, their weights, and those masses."""
    R, centre = coded.deviations(coded.centre)
    w, present = coded.weights, np.flatnonzero(coded.weights)
    if are_blocks(R):
        R.absent = w == 0
    elif len(present) < len(w):
        R, w = R[present], w[present]
    return R, w, centre


def rounding_error(column: ColumnStatistics | Moments, scale: Floats) -> float:
    """Bound on ‖Ã − A‖₂ from the rounding of profiles or deviations."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    inertia = float(np.sum(squares * np.square(column.unit / scale))) / column.weight
    about = inertia + float(np.sum(np.square(column.mean / scale)))
    if not isinstance(column, Moments):  # of the rows as they were handed in
        return ENTRY_ERROR * float(np.sqrt(about)) + ENTRY_FLOOR
    return float(ENTRY_ERROR * np.sqrt(inertia) + column.rounded * np.sqrt(about) + ENTRY_FLOOR)


def with_slack(certificate: Certificate, column: ColumnStatistics | Moments, total: float) -> Certificate:
    """A certificate that says where a sparse table leaves its total unsure."""
    sparse = column.rounded > 0 if isinstance(column, Moments) else not np.any(column.shift)
    if not sparse:
        return certificate
    notes = certificate.notes
    if WORTH_SAYING * total < SPARSE_TOTAL:
        notes = (*notes, f"the total is known to ± {SPARSE_TOTAL:.0e}: the means of sparse rows are taken off sums")
    return replace(certificate, frame={**certificate.frame, "total_slack": SPARSE_TOTAL}, notes=notes)


def placing(record: CountRecord, step: LinearMap, coded: Any) -> tuple[Any, LinearMap]:
    """Rows, and the map that places them: deviations from the masses of the fit where those can be had.

    ``coded``: encoded counts, or profiles; ``step``: the map of profiles.
    """
    made = coded if isinstance(coded, EncodedCounts) else None
    N = made.counts if made is not None else coded.inner if isinstance(coded, ProfileBlocks) else None
    if N is None or record.mean_low is None or not in_deviations(N):
        return coded.rows if isinstance(coded, Encoded) else coded, step
    mean = record.mean
    D, centre = made.deviations(mean) if made is not None else (deviations(N, mean), mean)
    return D, LinearMap(step.components, (mean - centre) + record.mean_low, step.scale, None)


def weighted_masses(totals: Floats, given: Floats) -> Floats:
    """Masses of rows with a weight of their own."""
    with np.errstate(over="ignore", under="ignore"):
        weights = totals * given
    there = (totals > 0) & (given > 0)
    lost = np.flatnonzero(there & ~((weights >= np.finfo(np.float64).tiny) & np.isfinite(weights)))
    if len(lost) or not np.isfinite(np.sum(weights)):
        row = f" of row {int(lost[0])}" if len(lost) else "s in all"
        raise InputError(
            "weights times row totals must stay within the range of float64",
            received=f"the product{row}",
            hint="multiply all weights by the same power of ten: profiles and inertias stay as they are",
        )
    return weights
