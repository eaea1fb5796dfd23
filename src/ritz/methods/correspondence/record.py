"""What fits of the correspondence family keep for themselves, with the shapes of it.

n rows, d encoded columns, k axes, G active groups, S supplementary ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.encode import Encoder
from ritz.data.passes.moments import Moments
from ritz.data.tables.contingency import Counts
from ritz.methods.record import ABSENT, Record

__all__ = ["AnswerRecord", "ColumnRecord", "CountRecord", "GroupRecord", "MixedRecord", "TableRecord"]

Floats = NDArray[np.float64]


@dataclass(eq=False)
class TableRecord(Record):
    """Of every method of the family."""

    LASTING: ClassVar[tuple[str, ...]] = ("library",)

    library: str | None = ABSENT  # of the frame that was given
    state: Moments | None = ABSENT  # of the rows, for merging
    pending: bool | None = ABSENT  # whether the state has changed since it was solved
    dtype: np.dtype[Any] = ABSENT
    note: str | None = ABSENT  # for the certificate
    mean_slack: Floats | None = ABSENT  # (d,) what a subtraction may leave in the means
    # the frame
    mean: Floats = ABSENT  # (d,)
    scale: Floats = ABSENT  # (d,) the metric
    column_inertias: Floats = field(
        default=ABSENT, metadata={"key": "_inertias"}
    )  # (d,) squared norms of the columns of A
    weight: float = ABSENT  # Σw
    inertias: Floats | None = field(
        default=ABSENT, metadata={"key": "_lambda"}
    )  # (k,) of the axes, where ``eigenvalues_`` are made of them
    # the rows, where they are in memory
    F: Floats | None = ABSENT  # (n, k) coordinates
    row_weights: Floats | None = ABSENT  # (n,) Σ = 1
    row_squares: Floats | None = ABSENT  # (n,) squared distances from the centre
    row_labels: list[Any] | None = ABSENT
    # the spectrum, for questions about the number of axes
    seen: tuple[Any, ...] = ABSENT
    seen_values: Floats = ABSENT
    choice: tuple[str, str] | None = ABSENT


@dataclass(eq=False)
class CountRecord(TableRecord):
    """Of a table of counts."""

    raw: Counts | None = ABSENT  # counted from observations
    mean_low: Floats | None = ABSENT  # (d,) what the float64 numbers of the mean lack


@dataclass(eq=False)
class ColumnRecord(TableRecord):
    """Of columns that are encoded."""

    LASTING: ClassVar[tuple[str, ...]] = (*TableRecord.LASTING, "columns")

    columns: Encoder = ABSENT
    outside: Floats | None = ABSENT  # (m, k) Σ w z f of the excluded levels


@dataclass(eq=False)
class AnswerRecord(ColumnRecord):
    """Of answers to questions."""

    pairs: tuple[Floats, Floats] | None = ABSENT  # (d,) inertias of the Burt table, and between variables


@dataclass(eq=False)
class MixedRecord(ColumnRecord):
    """Of numbers and categories."""

    still: NDArray[np.bool_] = ABSENT  # (d,) columns that do not vary


@dataclass(eq=False)
class GroupRecord(MixedRecord):
    """Of groups of columns."""

    LASTING: ClassVar[tuple[str, ...]] = (*MixedRecord.LASTING, "members")

    members: dict[str, list[str]] = ABSENT  # names of the columns of every group
    profiles: Floats | None = ABSENT  # (d,) of several tables of counts, each by itself
    frequencies: Floats | None = ABSENT  # (d,) means of their shares
    first: Floats = ABSENT  # (d,) √λ₁ of the group of a column
    separate: dict[str, Any] = ABSENT  # the groups' own analyses
    moments: Moments | None = ABSENT  # with Σw = 1, until the columns are named
    lg: Floats | None = ABSENT  # (G + S, G + S)
    within: Floats | None = ABSENT  # (G, k) inertia of the groups' parts of the axes
    row_norms: Floats | None = ABSENT  # (d,) squared norms of the rows of AᵀA
    spread: Floats = ABSENT  # (d,)
    means: Floats = ABSENT  # (d,) with shares in place of counts
    partial: Floats | None = ABSENT  # (n, G, k)
    beside: dict[str, Any] | None = ABSENT  # what is known of the supplementary groups
