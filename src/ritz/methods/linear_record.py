"""What fits of methods with directions in the columns keep for themselves, with the shapes of it.

n rows, d columns, k components; sums of weights Σw and means are kept in two parts, so that no digit is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.kept_rows import KeptRows
from ritz.data.passes.moments import Moments
from ritz.methods.record import ABSENT, Record

__all__ = [
    "FactorRecord",
    "KernelRecord",
    "LinearRecord",
    "NetworkRecord",
    "RobustRecord",
    "SparseRecord",
    "TwoTableRecord",
]

Floats = NDArray[np.float64]


@dataclass(eq=False)
class LinearRecord(Record):
    """Of PCA and SVD, and what all others have in common."""

    LASTING: ClassVar[tuple[str, ...]] = ("library",)

    library: str | None = ABSENT  # of the frame that was given
    dtype: np.dtype[Any] = ABSENT  # of the results
    weight: float = ABSENT  # Σw
    weight_low: float | None = ABSENT  # what the float64 number Σw lacks
    mean64: Floats | None = ABSENT  # (d,)
    mean_low: Floats | None = ABSENT  # (d,) what the float64 numbers of the mean lack
    scale64: Floats | None = ABSENT  # (d,)
    left: float | None = ABSENT  # Σ_{i>k} λᵢ, as the certificate would show it
    filler: Any = ABSENT  # fills gaps of rows
    # the state, of methods whose models can be merged
    state: Moments | KeptRows | None = ABSENT
    spare: bool | None = field(default=ABSENT, metadata={"saved": False})  # only as it is small; False: left out
    pending: bool | None = ABSENT  # whether the state has changed since it was solved
    note: str | None = ABSENT  # for the certificate
    matrix: bool | None = ABSENT  # whether the fit was to a covariance matrix, not to rows
    entry_rounding: float | None = ABSENT  # largest error of an entry of that matrix, where it is known
    meanless: bool | None = ABSENT  # whether nobody knows the mean of the rows
    mean_slack: Floats | None = ABSENT  # (d,) what a subtraction may leave in the means
    # the spectrum, for questions about the number of components
    seen: tuple[Any, ...] = ABSENT
    seen_values: Floats = ABSENT
    choice: tuple[str, str] | None = ABSENT


@dataclass(eq=False)
class SparseRecord(LinearRecord):
    """Of loadings that are not orthogonal."""

    loadings: Floats = ABSENT  # (d, k)
    score_covariance: Floats = ABSENT  # (k, k)
    rest_variance: float = ABSENT  # off the plane of the loadings
    rest: Floats | None = ABSENT  # variances off the plane, where there are few columns


@dataclass(eq=False)
class FactorRecord(SparseRecord):
    """Of common factors."""

    spread: Floats = ABSENT  # (d,) standard deviations
    unrotated: Floats = ABSENT  # (d, k) loadings before any rotation
    weights: Floats = ABSENT  # (d, k) of the scores
    psi: Floats = ABSENT  # (d,) variances of the uniquenesses
    em_mean: Floats | None = ABSENT  # (d,) of the last step of EM, where rows had gaps
    em_sigma: Floats | None = ABSENT  # (d, d)


@dataclass(eq=False)
class TwoTableRecord(SparseRecord):
    """Of two tables; the loadings are rotations, by which scores are made."""

    dual: Floats = ABSENT  # (k, d) from scores back to rows
    structure: Floats = ABSENT  # (d, k) covariances of columns and standardised scores
    spread: Floats = ABSENT  # (d,) standard deviations in the frame of the fit
    coef64: Floats = ABSENT  # (d, q) from rows in the frame of the fit to the second table
    y_rotations: Floats = ABSENT  # (q, k)
    y_mean64: Floats = ABSENT  # (q,)
    y_mean_low: Floats | None = ABSENT  # (q,)
    y_scale64: Floats | None = ABSENT  # (q,)
    flat: bool = ABSENT  # whether the second table was a vector


@dataclass(eq=False)
class NetworkRecord(LinearRecord):
    """Of a network: straight path, its bias, then weights and biases of the layers beside it, in float64."""

    encoder: list[Floats] = ABSENT
    decoder: list[Floats] = ABSENT
    unit: float = ABSENT  # what rows are divided by
    # of a Boltzmann machine
    loadings: Floats = ABSENT  # (d, k) weights
    hidden: Floats = ABSENT  # (k,)
    visible: Floats = ABSENT  # (d,)


@dataclass(eq=False)
class RobustRecord(LinearRecord):
    """Of the good rows among all."""

    variance64: Floats = ABSENT  # (k,)
    off_location: float = ABSENT  # of the cube roots of Q
    off_spread: float = ABSENT
    off_thetas: tuple[float, float, float] = ABSENT  # moments of Q
    sums: tuple[float, float, float] = ABSENT  # Σw, Σw·T², Σw·Q
    subspace: Floats | None = ABSENT  # (d, ·) of robpca
    center: Floats | None = ABSENT  # (d,) about which directions are taken
    before: Floats | None = ABSENT  # (d,) centre of the rows before the last step
    good: float | None = ABSENT  # Σw of the good rows


@dataclass(eq=False)
class KernelRecord(Record):
    """Of a kernel model."""

    library: str | None = ABSENT
    dtype: np.dtype[Any] = ABSENT
    solved_map: Any = ABSENT  # from rows to coordinates
    signature: Floats = ABSENT  # (k,) signs of the eigenvalues
    preimage: Any = ABSENT  # what pre-images know of the rows, made when it is asked for
    score_ridge: Any = ABSENT
    filler: Any = ABSENT  # fills gaps of rows
    gaps: Any = ABSENT  # (n, d) where entries of the rows were missing
    seen: tuple[Any, ...] = ABSENT
    seen_values: Floats = ABSENT
    choice: tuple[str, str] | None = ABSENT
