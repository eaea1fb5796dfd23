"""Sums over the entries of CSR rows, in short chains.

    sums      Σᵢ wᵢxᵢⱼ, Σᵢ wᵢxᵢⱼ²      pairwise along every column (CSC)
    adjoint   XᵀB                      long columns cut into pieces of rows that have few of their entries, or into runs
    times     XW                       rows cut into runs, by a new ``indptr`` over the same arrays

SciPy adds one entry after the other. A thousand equal ones (counts, tf-idf weights, indicators) are then rounded the
same way a thousand times: 131,072 entries of 0.7 were off by 1e-12. Cutting a chain costs nothing where there is none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    from scipy.sparse import _sparsetools as tools  # multiplies without making a matrix first
except ImportError:  # a private module: it may go
    tools = None

__all__ = ["HELD_BYTES", "Cuts", "adjoint", "converted", "cuts_of", "kept", "plain_times", "sums", "times"]

#: Entries of a column or a row above which a product with vectors cuts them into pieces of SHORT: 192 equal ones err by
#: up to 32·u, and there are two products in XᵀXV.
LONG, SHORT = 192, 64
#: Bytes of entries in another precision that are kept from one pass to the next.
HELD_BYTES = 1 << 25
#: Runs that are added one after the other.
FEW = 16
#: Share of long rows above which all rows are cut together.
MOST_LONG = 0.5
#: Numbers below which runs are added by NumPy: a sparse matrix takes 0.1 ms to make.
LITTLE = 1 << 16


def sums(x: Any, w: NDArray[np.float64] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Σwx and Σwx² of every column of float64 rows."""
    columns = x.tocsc()
    weights = None if w is None else w[columns.indices]
    return _along(columns, weights, 1), _along(columns, weights, 2)


def _along(columns: Any, weights: Any, power: int) -> NDArray[np.float64]:
    data = columns.data if power == 1 else columns.data * columns.data
    data = data if weights is None else data * weights
    total = np.zeros(columns.shape[1])
    used = np.flatnonzero(np.diff(columns.indptr))
    if len(used):
        total[used] = np.add.reduceat(data, columns.indptr[used])  # NumPy adds along memory pairwise
    return total


def times(x: Any, W: Any) -> Any:
    """``x W`` of CSR rows."""
    lengths = np.diff(x.indptr)
    long = np.flatnonzero(lengths > LONG)
    if not len(long):
        return plain_times(x, W)
    if len(long) > MOST_LONG * len(lengths):
        return _in_runs(x, W)
    product = _without(x, lengths > LONG, lengths) @ W  # rows that are not cut are not handled twice
    product[long] = _in_runs(x[long], W)
    return product


def plain_times(x: Any, W: Any) -> Any:
    """``x W`` of CSR rows, sums as long as they come."""
    if tools is None or x.indices.dtype != x.indptr.dtype or x.dtype != W.dtype or x.dtype.kind != "f":
        return x @ W
    n, d = x.shape
    out = np.zeros((n, W.shape[1]), x.dtype)
    W = np.ascontiguousarray(W)
    if W.shape[1] == 1:  # which has a loop of its own
        tools.csr_matvec(n, d, x.indptr, x.indices, x.data, W.ravel(), out.ravel())
    else:
        tools.csr_matvecs(n, d, W.shape[1], x.indptr, x.indices, x.data, W.ravel(), out.ravel())
    return out


def _in_runs(x: Any, W: Any) -> Any:
    """``x W``, long rows cut into runs whose sums are added a few at a time, level by level."""
    cuts = _cut(x.indptr, LONG, SHORT)
    if cuts is None:
        return x @ W
    runs, owner = cuts
    parts = _with_indptr(x, runs) @ W
    while len(owner) > x.shape[0]:
        firsts, owner = _grouped(owner)
        parts = _added(parts, firsts)
    return parts


def _without(x: Any, gone: Any, lengths: Any) -> Any:
    """CSR rows, some of them emptied."""
    kept = np.repeat(~gone, lengths)
    rows = type(x)(x.shape, dtype=x.dtype)
    rows.data, rows.indices = x.data[x.indptr[0] : x.indptr[-1]][kept], x.indices[x.indptr[0] : x.indptr[-1]][kept]
    rows.indptr = np.concatenate([[0], np.cumsum(np.where(gone, 0, lengths))]).astype(x.indptr.dtype)
    return rows


def converted(x: Any, dtype: Any, scratch: dict[str, Any]) -> Any:
    """CSR rows in another precision: their places are shared, the numbers lie in a buffer that is used again."""
    buffer = scratch.get("converted")
    if buffer is None or buffer.size < x.nnz or buffer.dtype != dtype:
        buffer = scratch["converted"] = np.empty(x.nnz, dtype)
    rows = _with_indptr(x, x.indptr)
    rows.data = buffer[: x.nnz]
    np.copyto(rows.data, x.data, casting="unsafe")
    return rows


def kept(x: Any, dtype: Any, held: dict[Any, Any], start: int) -> Any:
    """CSR rows in another precision, kept for the next pass under the number of their first row."""
    found = held.get((start, dtype))
    if found is None or found.nnz != x.nnz:
        found = held[start, dtype] = converted(x, dtype, {})
    return found


class Cuts(NamedTuple):
    """How ``adjoint`` cuts CSR rows: rows into 2^most bands, column j into 2^p_j pieces of as many bands."""

    columns: NDArray[np.intp]  # (m,) that are cut
    powers: NDArray[np.int8]  # (m,) p_j ≥ 1


def cuts_of(x: Any) -> Cuts | int:
    """How ``adjoint`` cuts CSR rows: 1 for not at all, 0 where only cuts along columns keep sums short.

    The pieces of a column have the same number of rows. Where its entries stand together, as in sorted rows, one piece
    holds them all.
    """
    counts = np.bincount(x.indices, minlength=1)
    columns = np.flatnonzero(counts > LONG)
    if not len(columns):
        return 1
    cuts = Cuts(columns, np.ceil(np.log2(counts[columns] / SHORT)).astype(np.int8))
    return cuts if int(np.bincount(_places(x, cuts)[0]).max()) <= LONG else 0


def adjoint(x: Any, B: Any, cuts: Cuts | int) -> Any:
    """``xᵀ B`` of CSR rows, cut as ``cuts_of`` says."""
    if not isinstance(cuts, Cuts):
        return _turned_times(x, x.indices, x.shape[1], B) if cuts else times(x.tocsc().T, B)
    places, first = _places(x, cuts)
    return _folded(_turned_times(x, places, int(first[-1]), B), first, cuts)


def _turned_times(x: Any, places: Any, d: int, B: Any) -> Any:
    """``xᵀ B`` of CSR rows whose entries stand in ``places`` of d columns; SciPy's transpose takes 0.1 ms to make."""
    n, l = x.shape[0], B.shape[1]
    kind = x.indptr.dtype
    if tools is None or places.dtype != kind or x.dtype != B.dtype or x.dtype.kind != "f":
        pieces = type(x)((n, d), dtype=x.dtype)
        pieces.data, pieces.indices, pieces.indptr = x.data, places, x.indptr
        return np.asarray(pieces.T @ B)
    out = np.zeros((d, l), x.dtype)
    tools.csc_matvecs(d, n, l, x.indptr, places, x.data, np.ascontiguousarray(B).ravel(), out.ravel())
    return out


def _folded(parts: Any, first: Any, cuts: Cuts) -> Any:
    """The sums of the pieces of every column, added a few at a time, level by level."""
    folded, pieces = parts[first[:-1]], 1 << cuts.powers.astype(np.intp)
    owner = np.repeat(cuts.columns, pieces)
    rest = parts[np.arange(len(owner)) + np.repeat(first[cuts.columns] - np.cumsum(pieces) + pieces, pieces)]
    while len(owner) > len(cuts.columns):
        firsts, owner = _grouped(owner)
        rest = _added(rest, firsts)
    folded[owner] = rest
    return folded


def _places(x: Any, cuts: Cuts) -> tuple[Any, Any]:
    """(nnz,) places of the entries, the pieces of a column after each other, and (d + 1,) the first one of a column."""
    n, d = x.shape
    most = int(cuts.powers.max())
    pieces, shift = np.ones(d, np.intp), np.full(d, most, np.int32)
    pieces[cuts.columns] = 1 << cuts.powers.astype(np.intp)
    shift[cuts.columns] = most - cuts.powers
    first = np.concatenate([[0], np.cumsum(pieces)])
    band = np.repeat(((np.arange(n) << most) // n).astype(np.int32), np.diff(x.indptr))
    band >>= shift[x.indices]
    places = first[:-1].astype(x.indices.dtype)[x.indices]
    places += band
    return places, first


def _cut(indptr: Any, above: int, most: int) -> tuple[Any, Any] | None:
    """Edges of runs of at most ``most`` entries, and the row of each; None where no row has more than ``above``."""
    lengths = np.diff(indptr)
    if int(np.max(lengths, initial=0)) <= above:
        return None
    count = np.maximum(1, -(-lengths // most))
    owner = np.repeat(np.arange(len(lengths)), count)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    runs = np.append(indptr[:-1][owner] + within * most, indptr[-1]).astype(indptr.dtype)
    return runs, owner


def _grouped(owner: Any) -> tuple[Any, Any]:
    """First runs of groups of at most FEW neighbours with the same owner, and the owner of every group."""
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    within = np.arange(len(owner)) - np.repeat(begin, np.diff(np.append(begin, len(owner))))
    firsts = np.flatnonzero(within % FEW == 0)
    return firsts, owner[firsts]


def _added(parts: Any, firsts: Any) -> Any:
    """Sums of groups of rows, (groups, l), each from ``firsts`` to the next.

    A product with ones where there are many: NumPy's ``reduceat`` across rows takes five times as long.
    """
    if parts.size < LITTLE:
        return np.add.reduceat(parts, firsts, axis=0)
    from scipy.sparse import csr_array

    m = len(parts)
    ones = csr_array((len(firsts), m), dtype=parts.dtype)
    ones.data, ones.indices = np.ones(m, parts.dtype), np.arange(m, dtype=np.int32 if m < 2**31 else np.int64)
    ones.indptr = np.append(firsts, m).astype(ones.indices.dtype)
    return ones @ parts


def _with_indptr(x: Any, indptr: Any) -> Any:
    """The entries of CSR rows in other rows."""
    rows = type(x)((len(indptr) - 1, x.shape[1]), dtype=x.dtype)
    rows.data, rows.indices, rows.indptr = x.data, x.indices, indptr
    return rows
