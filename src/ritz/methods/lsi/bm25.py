"""Scores by words alone, BM25, from an inverted file of the counts.                                       [RZ09]

    s(q, x) = Σ_j q_j · log(1 + (N − df_j + ½)/(df_j + ½)) · tf_j / (tf_j + k₁(1 − b + b |x|/avg))

The inverted file is CSR (d, n): the documents of a word lie together, and only those of the words of a query are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["inverted", "scores"]

Floats = NDArray[np.float64]

K1, B = 1.5, 0.75


def inverted(counts: Any) -> Any:
    """CSR (d, n) of counts (n, d), as small as the counts allow."""
    turned = counts.T.tocsr()
    turned.sort_indices()
    most = float(np.max(turned.data, initial=0.0))
    whole = bool(np.all(turned.data == np.floor(turned.data)))
    for kind in (np.uint8, np.uint16, np.uint32):
        if whole and most <= np.iinfo(kind).max:
            turned.data = turned.data.astype(kind)
            break
    return turned


def scores(file: Any, lengths: Floats, words: NDArray[Any], often: Floats) -> Floats:
    """(n,) BM25 of all documents for a query that has each of ``words`` so ``often``."""
    n = file.shape[1]
    found, mean = np.zeros(n), float(np.mean(lengths)) if n else 1.0
    for j, times in zip(words.tolist(), often.tolist(), strict=True):
        span = slice(file.indptr[j], file.indptr[j + 1])
        rows, tf = file.indices[span], file.data[span].astype(np.float64)
        if len(rows):
            relative = 1.0 - B + B * lengths[rows] / (mean or 1.0)
            found[rows] += times * np.log1p((n - len(rows) + 0.5) / (len(rows) + 0.5)) * tf / (tf + K1 * relative)
    return found
