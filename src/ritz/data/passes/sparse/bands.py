"""``XᵀX`` of CSR rows with few entries and columns, by one sparse product of all bands of entries at once.

    S = Σ_b X_bᵀ D_w X          X_b (n×d): the entries of band b, in the order in which they are stored

X₁, X₂, … side by side are the same entries in b·d columns, so that one product of their transpose with X gives the
parts of all bands. A column has at most CHAIN entries in a band, so no chain is longer; the parts are added a few at a
time. Cutting rows into blocks, and columns into long and short ones (``sparse/gram.py``), takes small tables more calls
than they have work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.sparse.products import tools
from ritz.data.passes.sparse.sums import FEW

__all__ = ["CHAIN", "banded_gram"]

#: Entries of a column in a band at most, and how many there should be at most on average.
CHAIN, USUAL = 256, 192
#: Numbers of all parts up to which they are formed; beyond, twice as many as there are entries.
LITTLE = 1 << 17
#: Columns up to which one part is formed in any case: its products, as a list, stay in the second-level cache.
SQUARE = 512
#: Multiplications up to which nothing takes less time: beyond, crowded rows are multiplied as dense ones, and blocks
#: are shared out among lanes. Processor ms of ``SVD`` before and with it: 140,618×16 with
#: 13,837 entries 3.7 and 1.1, 650,076×6 with 219,000 47 and 8, 141,780×144 with 95,000 7.6 and 4.4.
MULTIPLIED = 1e6


def banded_gram(x: Any, w: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], int] | None:
    """Σwxxᵀ on its diagonal and above it, and how many parts were added one after the other.

    ``x``: float64 CSR rows without duplicates. None where another way takes less time.
    """
    d = x.shape[1]
    if not 0 < x.nnz <= MULTIPLIED or tools is None or x.indices.dtype != x.indptr.dtype:
        return None
    lengths = np.diff(x.indptr)
    multiplied = float(np.square(lengths, dtype=np.float64).sum())
    most = max(2 * x.nnz, LITTLE, d * d if d <= SQUARE else 0)
    found = None if multiplied > MULTIPLIED else _banded(x.indices, d, most)
    if found is None:
        return None
    places, bands = found
    entries = x.data if w is None else x.data * np.repeat(w, lengths)
    parts = bands * d
    S = _product(x, entries, places, parts, min(parts * d, int(multiplied))).reshape(bands, d, d)
    added = 1
    while len(S) > 1:
        firsts = np.arange(0, len(S), FEW)
        added += min(len(S), FEW)
        S = np.add.reduceat(S, firsts)
    return S[0], added


def _banded(indices: NDArray[Any], d: int, most: int) -> tuple[NDArray[Any], int] | None:
    """The column of every entry among those of all bands, and how many bands; None where these are too many."""
    longest = int(np.bincount(indices, minlength=1).max())
    bands = 1 if longest <= CHAIN else -(-longest // USUAL)
    while bands * d * d <= most:
        if bands == 1:
            return indices, 1
        sizes = np.diff(np.arange(bands + 1) * len(indices) // bands)
        places = indices + np.repeat(np.arange(bands, dtype=indices.dtype) * indices.dtype.type(d), sizes)
        if int(sizes.max()) <= CHAIN or int(np.bincount(places).max()) <= CHAIN:
            return places, bands
        bands = min(4 * bands, -(-len(indices) // CHAIN))  # entries of a column stand together
    return None


def _product(x: Any, entries: NDArray[np.float64], places: NDArray[Any], parts: int, size: int) -> NDArray[np.float64]:
    """The transpose of the entries in their places, times the rows, (parts, d): a list of at most ``size`` numbers."""
    n, d = x.shape
    kind = x.indptr.dtype
    edges, rows, data = np.empty(parts + 1, kind), np.empty(x.nnz, kind), np.empty(x.nnz)
    tools.csr_tocsc(n, parts, x.indptr, places, entries, edges, rows, data)
    ends, columns, products = np.empty(parts + 1, kind), np.empty(size, kind), np.empty(size)
    tools.csr_matmat(parts, d, edges, rows, data, x.indptr, x.indices, x.data, ends, columns, products)
    out = np.zeros((parts, d))
    tools.csr_todense(parts, d, ends, columns, products, out)
    return out
