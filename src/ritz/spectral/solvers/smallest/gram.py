"""BᵀB of a sparse B, rows of one neighbourhood together.

    M = Σ_g S_gᵀ (B_gᵀ B_g) S_g        S_g picks the w columns that all rows of group g have entries in

Rows of an alignment come in groups with entries in the same columns: nine rows of twelve entries are one product of
12×12 numbers instead of nine sparse ones. Where every row has two entries, as of a Laplacian, each is one product off
the diagonal. An entry of M is the sum of the same products in another order, so that bounds by the number of terms hold
as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ritz._core.threads import go_on

__all__ = ["gram"]

#: Rows of a group, on average, from which on groups are worth it.
WORTH = 4.0
#: Entries of small products that are made at a time.
ENTRIES = 1 << 24


def gram(B: Any) -> Any:
    """``BᵀB`` as CSC with sorted indices; B in CSR."""
    if B.shape[0] and B.nnz == 2 * B.shape[0] and np.all(np.diff(B.indptr) == 2):
        return _of_edges(B)
    groups = _groups(B)
    M = B.T.tocsr() @ B if groups is None else _of_groups(B, *groups)
    M = sp.csc_array(M)
    M.sort_indices()
    return M


def _of_edges(B: Any) -> Any:
    """Of rows of two entries, as a Laplacian's root has them: one product off the diagonal, two squares on it."""
    n, (i, j) = B.shape[1], B.indices.reshape(-1, 2).T
    data = B.data.reshape(-1, 2)
    across = data[:, 0] * data[:, 1]
    own = np.bincount(B.indices, np.square(B.data), n)
    diagonal = np.arange(n, dtype=B.indices.dtype)
    places = np.concatenate([i, j, diagonal]), np.concatenate([j, i, diagonal])
    M = sp.coo_array((np.concatenate([across, across, own]), places), shape=(n, n)).tocsc()
    M.sort_indices()
    return M


def _groups(B: Any) -> tuple[int, NDArray[np.intp]] | None:
    """Entries of a row, and where groups of rows with the same columns begin; None where that is no gain."""
    rows, width = B.shape[0], int(B.indptr[1]) if B.shape[0] else 0
    if width == 0 or B.nnz != rows * width or np.any(np.diff(B.indptr) != width):
        return None
    columns = B.indices.reshape(rows, width)
    starts = np.flatnonzero(np.append(True, np.any(columns[1:] != columns[:-1], axis=1)))
    return (width, starts) if rows >= WORTH * len(starts) else None


def _of_groups(B: Any, width: int, starts: NDArray[np.intp]) -> Any:
    """The sum over groups, some of them at a time."""
    step = max(1, ENTRIES // width**2)
    ends = np.append(starts, B.shape[0])
    whole: Any = None
    for first in range(0, len(starts), step):
        go_on()
        M = _some(B, width, ends[first : first + step + 1])
        whole = M if whole is None else whole + M
    return whole


def _some(B: Any, width: int, ends: NDArray[np.intp]) -> Any:
    starts, sizes = ends[:-1], np.diff(ends)
    data, columns = B.data.reshape(-1, width), B.indices.reshape(-1, width)[starts]
    products = np.empty((len(starts), width, width))
    for size in np.unique(sizes):
        at = np.flatnonzero(sizes == size)
        rows = data[starts[at, None] + np.arange(size)]  # (groups, size, w)
        products[at] = rows.transpose(0, 2, 1) @ rows
    n, many = B.shape[1], len(starts) * width
    places = np.repeat(columns, width, axis=0).ravel()
    ends = np.arange(0, many * width + 1, width, dtype=places.dtype)
    spread = sp.csr_array((products.ravel(), places, ends), shape=(many, n))
    each = np.arange(many + 1, dtype=places.dtype)
    picks = sp.csc_array((np.ones(many), columns.ravel(), each), shape=(n, many)).tocsr()
    return picks @ spread
