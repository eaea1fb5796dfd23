"""Whether the places of sparse entries lie inside the table: compiled code trusts them.

0 = indptr[0] ≤ … ≤ indptr[m] ≤ stored,    0 ≤ indices < columns
"""

from __future__ import annotations

from typing import Any

from ritz._core.errors import InputError

__all__ = ["check_structure"]


def check_structure(X: Any) -> None:
    """Refuse index arrays that point outside the matrix: compiled code would read foreign memory."""
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    indptr, indices = X.indptr, X.indices
    sound = indptr.size == major + 1 and indptr[0] == 0 and indptr[-1] <= min(indices.size, X.data.size)
    sound = sound and bool((indptr[1:] >= indptr[:-1]).all())
    used = indices[: int(indptr[-1])] if sound else indices
    sound = sound and (used.size == 0 or bool(used.min() >= 0 and used.max() < minor))
    if not sound:
        raise InputError(
            f"a sparse X of shape {X.shape} whose indices lie inside it",
            received=f"damaged {X.format} index arrays",
            hint="build it anew with scipy.sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()",
        )
