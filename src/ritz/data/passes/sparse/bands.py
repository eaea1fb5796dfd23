"""``XᵀX`` of CSR rows with few entries and columns, by one sparse product of all bands of entries at once.

    S = Σ_b X_bᵀ D_w X          X_b (n×d): the entries of band b, in the order in which they are stored

X₁, X₂, … side by side are the same entries in b·d columns, so that one product of their transpose with X gives the
parts of all bands. A column has at most CHAIN entries in a band, so no chain is longer; the parts are added a few at a
time. Cutting rows into blocks, and columns into long and short ones (``sparse/gram.py``), takes small tables more calls
than they have work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.sparse.products import tools
from ritz.data.passes.sparse.sums import along, in_levels

__all__ = ["CHAIN", "banded_gram", "banded_moments"]

#: Entries of a column in a band at most, and how many there should be at most on average.
CHAIN, USUAL = 256, 192
#: Numbers of all parts up to which they are formed; beyond, twice as many as there are entries.
LITTLE = 1 << 17
#: Columns up to which one part is formed in any case: its products, as a list, stay in the second-level cache.
SQUARE = 512
#: Multiplications up to which nothing takes less time: beyond, crowded rows are multiplied as dense ones, and blocks
#: are shared out among lanes. Processor ms of ``PCA`` in another way and so: 140,618×16 with 13,837 entries 1.1 and
#: 0.7, 589,020×11 with 807,000 in blocks 54 and 16, 32,989×58 with 167,000 (1.0e6 multiplications) 6.3 and 4.3,
#: 30,000×300 with 180,000 (1.3e6) 12.1 and 11.6; beyond, 10,000×100 with 150,000 (2.4e6) 4.9 and 5.7.
MULTIPLIED = 1.5e6


def banded_gram(x: Any, w: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], int] | None:
    """Σwxxᵀ on its diagonal and above it, and how many parts were added one after the other.

    ``x``: float64 CSR rows without duplicates. None where another way takes less time.
    """
    found = _in_bands(x)
    return None if found is None else _gram(x, found, _by_columns(x, found), w)


def banded_moments(
    x: Any, w: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int] | None:
    """Σwx and Σwx² of every column as well, (d,), from entries that are in the order of columns for the products: of
    421,000×127 with 264,000 entries they took half of the time of a pass when they were formed by themselves.
    """
    found = _in_bands(x)
    if found is None:
        return None
    edges, rows, data = _by_columns(x, found)
    m, q = (in_levels(each.reshape(found.bands, -1))[0] for each in along(edges, rows, data, w))
    return m, q, *_gram(x, found, (edges, rows, data), w)


class _InBands(NamedTuple):
    """The column of every entry among those of all bands, how many bands, and numbers of their products at most."""

    places: NDArray[Any]
    bands: int
    size: int


def _in_bands(x: Any) -> _InBands | None:
    """How entries are laid in bands; None where another way takes less time."""
    d = x.shape[1]
    if not 0 < x.nnz <= MULTIPLIED or tools is None or x.indices.dtype != x.indptr.dtype:
        return None
    multiplied = float(np.square(np.diff(x.indptr), dtype=np.float64).sum())
    most = max(2 * x.nnz, LITTLE, d * d if d <= SQUARE else 0)
    found = None if multiplied > MULTIPLIED else _banded(x.indices, d, most)
    return None if found is None else _InBands(*found, min(found[1] * d * d, int(multiplied)))


def _by_columns(x: Any, found: _InBands) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Edges of the columns of all bands, and their rows and entries one column after the other."""
    parts, kind = found.bands * x.shape[1], x.indptr.dtype
    edges, rows, data = np.empty(parts + 1, kind), np.empty(x.nnz, kind), np.empty(x.nnz)
    tools.csr_tocsc(x.shape[0], parts, x.indptr, found.places, x.data, edges, rows, data)
    return edges, rows, data


def _gram(
    x: Any, found: _InBands, columns: tuple[Any, Any, Any], w: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], int]:
    """The products of all bands, added up a few at a time, level by level."""
    edges, rows, data = columns
    d = x.shape[1]
    weighted = data if w is None else data * w[rows]
    return in_levels(_product(x, (edges, rows, weighted), found.bands * d, found.size).reshape(found.bands, d, d))


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


def _product(x: Any, columns: tuple[Any, Any, Any], parts: int, size: int) -> NDArray[np.float64]:
    """The transpose of the entries in their places, times the rows, (parts, d): a list of at most ``size`` numbers."""
    d, kind = x.shape[1], x.indptr.dtype
    ends, places, products = np.empty(parts + 1, kind), np.empty(size, kind), np.empty(size)
    tools.csr_matmat(parts, d, *columns, x.indptr, x.indices, x.data, ends, places, products)
    out = np.zeros((parts, d))
    tools.csr_todense(parts, d, ends, places, products, out)
    return out
