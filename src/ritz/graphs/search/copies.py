"""Copies: rows that are the same, byte for byte, are each other's nearest.

    rows      a b a c a          neighbours of the first a, k = 2, are the other two, at distance 0

A row with more than k copies has its neighbours among them. They are found by their bytes, so that ten thousand equal
rows do not have to be compared with each other one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.graphs.lists import Lists
from ritz.graphs.search.screen import Screen

__all__ = ["copies"]

Places = NDArray[np.intp]


def copies(screen: Screen, rows: Places, own: bool, k: int, keep_ties: bool) -> tuple[Places, Lists]:
    """Those of some rows that have at least k copies, and these: the first k by row number, or all.

    Parameters
    ----------
    rows : positions whose k-th neighbour is at distance 0
    own : whether row i is column i, and no copy of itself
    keep_ties : whether all copies are wanted
    """
    content = screen.content("rows", rows) or []
    columns: dict[bytes, list[int]] = {one: [] for one in content}
    if own:  # every copy of such a row is such a row itself
        for i, one in zip(rows, content, strict=False):
            columns[one].append(int(i))
    elif columns:
        for start in range(0, screen.n, 4096):
            some = np.arange(start, min(start + 4096, screen.n))
            for j, one in zip(some, screen.content("columns", some) or [], strict=False):
                if one in columns:
                    columns[one].append(int(j))
    places = {one: np.array(found, np.intp) for one, found in columns.items()}
    chosen, parts = [], []
    for i, one in zip(rows, content, strict=False):
        found = places[one]
        if not keep_ties:
            found = found[: k + 1]
        if own:
            found = found[found != i]
        if len(found) >= k:
            chosen.append(i)
            parts.append(found if keep_ties else found[:k])
    counts = np.array([len(part) for part in parts], np.intp)
    indices = np.concatenate(parts) if parts else np.zeros(0, np.intp)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    return np.array(chosen, np.intp), Lists(indptr, indices, np.zeros(len(indices)))
