"""Columns in units of their standard deviations, for maps whose distances would otherwise be those of one column.

    z_ij = x_ij / s_j,    s_j = √(Σᵢ wᵢ (x_ij − x̄_j)²/(Σw − 1)),  1 for a constant column

Means are left alone: distances do not see them, and sparse rows stay sparse. New rows are divided alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.statistics import Statistics
from ritz.kernels.rows import is_sparse
from ritz.methods.scaling import spread_of

__all__ = ["in_units", "require_numbers", "restored_units"]

Floats = NDArray[np.float64]


def require_numbers(model: Any, kind: str) -> None:
    """Refuse ``standardize`` where rows have no columns of numbers, and what is neither True nor False."""
    wanted = getattr(model, "standardize", False)
    if not isinstance(wanted, (bool, np.bool_)):
        raise ParameterError("standardize must be True or False", received=repr(wanted), hint="standardize=True")
    if wanted and kind != "vectors":
        what = {"strings": "strings", "precomputed": "distances or weights that are given"}.get(kind, "any objects")
        raise ParameterError("standardize divides columns of numbers by their spread", received=f"a metric of {what}",
                             hint="leave out standardize")  # fmt: skip


def in_units(model: Any, rows: Any, weights: Any = None, *, reset: bool) -> Any:
    """Rows as the distances see them; ``reset``: learn the units from these rows."""
    if not getattr(model, "standardize", False):
        if reset:
            model.spread_ = None
        return rows
    if reset:
        names = getattr(model, "feature_names_in_", None)
        model.spread_ = spread_of(Statistics(MemoryBlocks(rows), weights, names=names).column, model)
    s = model.spread_
    if is_sparse(rows):
        made = rows.tocsr(copy=True)
        made.data = np.asarray(made.data / s[made.indices], rows.dtype)
        return made
    dtype = rows.dtype if rows.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return np.asarray(np.asarray(rows, np.float64) / s, dtype)


def restored_units(model: Any, rows: Floats) -> Floats:
    """Rows in the units of the table."""
    s = getattr(model, "spread_", None)
    return rows if s is None else rows * s
