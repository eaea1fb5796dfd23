"""``--missing drop``: rows that lack a value in a column that takes part are left out, and counted.

    numbers        pca, svd, kpca, robust, sparse, factor, maps          categories   mca
    both           famd, mfa (of its groups)                             counts       ca: all that it counts

Rows keep the numbers and lines that they have in the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError
from ritz.cli.fitting.columns import Parts, dropping
from ritz.cli.fitting.estimator import groups_of
from ritz.cli.fitting.method import Choice
from ritz.data.tables.table import Table
from ritz.data.words import counted

__all__ = ["columns_used", "without_gaps"]

BATCH_ROWS = 1 << 14


def columns_used(parts: Parts, choice: Choice, method: dict[str, Any]) -> list[str]:
    """Columns that a row must have values in."""
    used = parts.used
    if choice.strings is not None:
        names = [choice.strings]
    elif choice.method == "mfa":
        names = [name for columns in groups_of(method["groups"], used).values() for name in columns]
    else:
        counts = method["counts"] or choice.counts
        kinds = {"mca": ("categorical",), "famd": ("numeric", "categorical")}.get(choice.method, ("numeric",))
        if choice.method == "ca" and counts is not None:
            kinds = ("numeric", "categorical", "text")
        names = [one.name for one in used.columns if one.kind in kinds]
    return list(dict.fromkeys([*names, *([parts.weights] if parts.weights else [])]))


def without_gaps(table: Table, names: list[str]) -> tuple[Table, int]:
    """The table without rows that lack a value in these columns, and how many there were."""
    if table.lazy:
        raise MemoryLimitError(
            "--missing drop needs the table in memory",
            received=f"{table.source}, which is read in pieces",
            hint=dropping(table, "--missing drop leaves out rows"),
        )
    kept = np.flatnonzero(np.concatenate([_complete(batch) for batch in table.batches(names, BATCH_ROWS)]))
    lost = len(table) - len(kept)
    if lost == 0:
        return table, 0
    if len(kept) == 0:
        raise InputError(
            f"expected a row without missing values in {table.source or 'the table'}",
            received=f"a gap in each of {counted(len(table), 'row')}",
            hint="leave out the emptiest columns with --drop, or fill gaps: --missing regularized",
        )
    note = f"{lost:,} of {counted(len(table), 'row')} left out, as asked: a value is missing"
    return table.kept(kept, note), lost


def _complete(batch: Any) -> np.ndarray:
    import pyarrow.compute as pc
    import pyarrow.types as pt

    full = np.ones(batch.num_rows, bool)
    for values in batch.columns:
        there = pc.is_valid(values)
        if pt.is_floating(values.type):
            there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(values), True)))
        elif pt.is_string(values.type) or pt.is_large_string(values.type):
            there = pc.and_(there, pc.fill_null(pc.not_equal(values, ""), False))
        full &= np.asarray(there.to_pylist(), bool)
    return full
