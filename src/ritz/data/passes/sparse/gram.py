"""``XᵀX`` of CSR rows into a dense matrix, tile by tile, in short chains.

    X = [L, H]     H columns with more than CHAIN entries in a block of rows, L the others

    LᵀL   sparse products of column tiles I ≤ J, each into its dense tile      chains of at most CHAIN entries
    LᵀH   a sparse product, into the columns H                                 likewise: L has no more entries
    HᵀH   of crowded columns dense products of CHAIN rows; else of pieces of the rows, until chains are short

A block in which most columns are long is cut into pieces in which they are not. Of others only pairs of long columns
have long chains, so only these are cut. The product of two sparse matrices is a list of its
entries: of 10⁴ rows with 50 entries in 5,000 columns more time goes into making that list than into multiplying, hence
tiles whose lists stay in the caches and blocks of rows as tall as chains allow. Only tiles I ≤ J are formed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.syrk import add_product
from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.data.passes.blocks import csr_rows
from ritz.data.passes.sparse.products import add_tile, tiles_pay, tools
from ritz.data.passes.sparse.sums import column_counts

__all__ = ["CHAIN", "TILE", "add_gram", "mirror", "tall_rows"]

#: Entries that are added one after the other to form a Gram matrix: 256 equal ones err by up to 45·u.
CHAIN = 256
#: Columns of a tile: its product as a list takes 3 MB and stays in the second-level cache.
TILE = 512
#: The same of compiled loops, which make no list: processor seconds of 512, 1,024, 2,048, 4,096 columns: 100,000×5,000
#: with 1 % 0.85, 0.72, 0.82, 0.86; 300,000×1,000 with 2 % 0.39, 0.30, 0.31, 0.31.
WIDE_TILE = 1024
#: Times the rows in which most columns have short chains from which a block is cut into pieces of so many.
PIECES = 1.3
#: Multiplications of a sparse product that take as long as one of a dense symmetric product of short pieces: 1.4 and
#: 0.024 ns on one core. Of 10,000×1,500, processor ms of sparse and of dense products: 10 % 310 and 590, 15 % 920 and
#: 520, 20 % 1,030 and 550.
SPARSE_COST = 58.0
#: Share of entries in the columns H above which LᵀH is a product with dense rows: 0.4 ns a multiplication, 5 ns of two
#: sparse matrices with few entries in common.
FILLED = 0.08
#: Rows that are made dense at a time, in pieces of CHAIN rows; columns of theirs that are multiplied at a time.
ROWS, PANEL = 2048, 128
#: Entries of a block of rows at most: its tiles are copies.
ENTRIES = 4_000_000


def add_gram(S: NDArray[np.float64], x: Any, *, lanes: bool = False) -> int:
    """Add ``xᵀx`` of float64 CSR rows without duplicates to the tiles I ≤ J of S (d, d); ``mirror`` fills the others.

    ``lanes``: share the tiles out among lanes. How many sums were added to one entry of S, one after the other.
    """
    if _dense_pays(x):
        return _add_dense(S, x)
    counts = column_counts(x)
    rows = _short_rows(x, counts)
    return _add_pieces(S, x, rows, lanes) if x.shape[0] > PIECES * rows else _add_piece(S, x, counts, lanes)


def _add_pieces(S: NDArray[np.float64], x: Any, rows: int, lanes: bool) -> int:
    """The same of pieces of about ``rows`` rows, two at least."""
    edges = np.linspace(0, x.shape[0], max(2, -(-x.shape[0] // rows)) + 1).astype(int).tolist()
    return sum(add_gram(S, csr_rows(x, start, stop), lanes=lanes) for start, stop in pairwise(edges))


def _add_piece(S: NDArray[np.float64], x: Any, counts: NDArray[Any], lanes: bool) -> int:
    """Add the tiles I ≤ J of ``xᵀx`` of rows in which most columns have short chains, ``counts`` entries each."""
    long = np.flatnonzero(counts > CHAIN)
    if not len(long):
        _add_tiles(S, x, lanes)
        return 1
    light, heavy = _parted(x, counts > CHAIN)
    if light.nnz:
        _add_tiles(S, light, lanes)
        both = _across(light, heavy)
        S[:, long] += both
        S[long, :] += both.T
    square = np.zeros((len(long), len(long)))
    added = _add_heavy(square, heavy, lanes)
    S[np.ix_(long, long)] += square
    return added


def mirror(S: NDArray[np.float64]) -> None:
    """Fill what is below the diagonal of S from what is above it."""
    d = S.shape[0]
    for first in range(0, d, TILE):
        last = min(first + TILE, d)
        S[last:, first:last] = S[first:last, last:].T
        tile = S[first:last, first:last]
        np.copyto(tile, tile.T.copy(), where=np.tri(last - first, k=-1, dtype=bool))


def tall_rows(x: Any) -> int:
    """Rows of a block of CSR rows for Gram matrices: most columns have short chains in it, and it is no large copy."""
    return _short_rows(x, column_counts(x))


def _short_rows(x: Any, counts: NDArray[Any]) -> int:
    n = x.shape[0]
    nine = int(0.9 * len(counts))  # of ten columns have at most so many
    usual = float(np.partition(counts, nine)[nine]) if len(counts) else 0.0
    return int(min(n, max(ROWS, 0.8 * CHAIN * n / max(usual, 1.0)), max(ROWS, ENTRIES * n // max(1, x.nnz))))


def _add_heavy(S: NDArray[np.float64], x: Any, lanes: bool) -> int:
    """All of ``xᵀx`` of columns with long chains, into a matrix of zeros."""
    if x.shape[0] <= CHAIN or _dense_pays(x):
        added = _add_dense(S, x)
    else:
        added = _add_pieces(S, x, _short_rows(x, column_counts(x)), lanes)
    mirror(S)
    return added


def _add_dense(S: NDArray[np.float64], x: Any) -> int:
    """Add the tiles I ≤ J of ``xᵀx`` by dense products of short pieces."""
    h, groups = x.shape[1], 0
    for start in range(0, x.shape[0], ROWS):
        go_on()
        z, group = csr_rows(x, start, min(start + ROWS, x.shape[0])).toarray(), np.zeros((h, h), order="F")
        for first in range(0, z.shape[0], CHAIN):
            add_product(z[first : first + CHAIN], group, lower=True)
        S += group.T
        for first in range(0, h, TILE):
            tile = slice(first, first + TILE)
            S[tile, tile] += np.tril(group[tile, tile], -1)
        groups += 1
    return groups


def _dense_pays(x: Any) -> bool:
    """Whether dense products take less time than sparse ones."""
    n, d = x.shape
    lengths = np.diff(x.indptr).astype(np.float64)
    return float(n) * d * d <= SPARSE_COST * float(lengths @ lengths)


def _across(light: Any, heavy: Any) -> NDArray[np.float64]:
    """``LᵀH``, dense."""
    if heavy.nnz <= FILLED * heavy.shape[0] * heavy.shape[1]:
        return np.asarray((light.T @ heavy).toarray())
    both = np.zeros((light.shape[1], heavy.shape[1]))
    for start in range(0, light.shape[0], ROWS):
        go_on()
        stop = min(start + ROWS, light.shape[0])
        rows, z = csr_rows(light, start, stop).T, csr_rows(heavy, start, stop).toarray()
        for first in range(0, z.shape[1], PANEL):
            both[:, first : first + PANEL] += rows @ np.ascontiguousarray(z[:, first : first + PANEL])
    return both


def _parted(x: Any, long: NDArray[np.bool_]) -> tuple[Any, Any]:
    """The entries of short columns in their places, and those of the long columns side by side."""
    of_long = long[x.indices]
    place = np.cumsum(long) - 1
    parts = []
    for some, columns in ((~of_long, None), (of_long, place)):
        edges = np.concatenate([[0], np.cumsum(some)])[x.indptr].astype(x.indptr.dtype)
        indices = x.indices[some]
        indices = indices if columns is None else columns[indices].astype(x.indices.dtype)
        width = x.shape[1] if columns is None else int(np.count_nonzero(long))
        parts.append(type(x)((x.data[some], indices, edges), shape=(x.shape[0], width)))
    return parts[0], parts[1]


def _add_tiles(S: NDArray[np.float64], x: Any, lanes: bool) -> None:
    """Add the tiles I ≤ J of ``xᵀx``, whose chains are short; of tiles I = J by compiled loops the part above."""
    d, fast = x.shape[1], tiles_pay(x)
    wide = WIDE_TILE if fast else TILE
    starts = range(0, d, wide)
    columns = x.tocsc()
    tall = [_columns(columns, first, min(first + wide, d)) for first in starts]
    flat = [x] if len(tall) == 1 else [part.T.tocsr() for part in tall]  # (n, tile); ``tall`` are (tile, n)
    pairs = [(i, j) for j in range(len(tall)) for i in range(j + 1) if tall[i].nnz and flat[j].nnz]

    def work(lane: int) -> None:
        scratch: dict[str, Any] = {}
        for i, j in pairs[lane::count]:
            go_on()
            if not (fast and add_tile(S, tall[i], flat[j], (i * wide, j * wide))):
                I, J = slice(i * wide, i * wide + tall[i].shape[0]), slice(j * wide, j * wide + flat[j].shape[1])
                S[I, J] += _product(tall[i], flat[j], scratch)

    count = max(1, min(lane_count(), len(pairs))) if lanes else 1
    run_lanes(work, list(range(count)))


def _columns(columns: Any, first: int, last: int) -> Any:
    """The transpose of some columns of a CSC matrix, as CSR rows on the same memory."""
    a, b = int(columns.indptr[first]), int(columns.indptr[last])
    rows = type(columns.T)((last - first, columns.shape[0]), dtype=columns.dtype)
    rows.data, rows.indices = columns.data[a:b], columns.indices[a:b]
    rows.indptr = columns.indptr[first : last + 1] - columns.indptr[first]
    return rows


def _product(A: Any, B: Any, scratch: dict[str, Any]) -> NDArray[np.float64]:
    """``A B`` of CSR matrices, dense, in memory that is used again."""
    m, n = A.shape[0], B.shape[1]
    kind = A.indices.dtype
    if tools is None or max(m, n) > TILE or not (A.indptr.dtype == B.indptr.dtype == B.indices.dtype == kind):
        return np.asarray((A @ B).toarray())
    if "out" not in scratch:
        scratch["out"], scratch["data"] = np.empty(TILE * TILE), np.empty(TILE * TILE)
        scratch["places"], scratch["edges"] = np.empty(TILE * TILE, kind), np.empty(TILE + 1, kind)
    out = scratch["out"][: m * n].reshape(m, n)
    out.fill(0.0)
    edges, places, data = scratch["edges"][: m + 1], scratch["places"], scratch["data"]
    tools.csr_matmat(m, n, A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, edges, places, data)
    tools.csr_todense(m, n, edges, places, data, out)
    return out
