"""Checks of counts, and warnings about rows and columns without any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import EmptyProfiles, InputError, NonFiniteError, ParameterError
from ritz._core.warn import warn
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.validate import require_finite
from ritz.data.words import counted, shorten

__all__ = ["counts_of", "require_counts", "require_known", "warn_columns", "warn_empty"]


def require_counts(N: Any, names: Any) -> None:
    """Refuse counts that cannot be added up, by what is wrong with them."""
    try:
        require_finite(N, names)
    except NonFiniteError as error:
        if "NaN" not in error.expected:
            raise
        hint = "put 0 for no count, or leave the row out; rows count from 0"
        raise NonFiniteError(error.expected, received=error.received, hint=hint) from None
    raise InputError(
        "the counts of a table must have a sum within the range of float64",
        received="counts that are too large to be added up",
        hint="divide all counts by the same power of ten: profiles and inertias stay as they are",
    )


def counts_of(X: Any, n: int, names: list[str] | None = None) -> NDArray[np.float64]:
    """Counts of supplementary columns, (n, m) float64."""
    refuse_masked(X)
    N = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if N.ndim != 2 or N.shape[0] != n or N.dtype.kind not in "fiub":
        raise InputError(
            f"supplementary columns are counts for the {n} rows of the fit, shape ({n}, m)",
            received=f"shape {N.shape} of {N.dtype}",
            hint="pass the columns for all rows, in the order of the fit",
        )
    if not bool(np.all(N >= 0)):
        bad = np.flatnonzero(~np.all(N >= 0, axis=0))
        which = shorten([str(j) if names is None else repr(names[j]) for j in bad])
        rows = counted(int(np.count_nonzero(~np.all(N >= 0, axis=1))), "row")
        raise InputError(
            "supplementary columns hold counts, none missing and none negative",
            received=f"others in column{'s' if len(bad) > 1 else ''} {which}, in {rows}",
            hint="rows without these counts can be supplementary too, and take no part in the fit",
        )
    return N.astype(np.float64)


def require_known(result: str) -> str:
    """The name of a result, if it is one."""
    if result not in ("coordinates", "cos2"):
        raise ParameterError("result must be 'coordinates' or 'cos2'", received=repr(result))
    return result


def warn_empty(totals: NDArray[np.float64], labels: list[Any] | None, what: str, words: str) -> None:
    """Warn about rows or columns without counts."""
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        names = shorten([str(labels[i]) if labels is not None else str(i) for i in empty])
        warn(f"empty {what}{'s' if len(empty) > 1 else ''} {names}: {words}", EmptyProfiles)


def warn_columns(model: Any, empty: NDArray[np.intp], words: str) -> None:
    """Warn about columns of the fit without counts."""
    names = getattr(model, "feature_names_in_", None)
    shown = shorten([str(j if names is None else names[j]) for j in empty])
    plural = "s" if len(empty) > 1 else ""
    warn(f"empty column{plural} {shown}: {words}", EmptyProfiles)
