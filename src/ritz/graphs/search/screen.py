"""Screens: cheap keys of all pairs, from which it is proved which distances need not be looked at.

    tile(rows, cols) = [key_ij]        key_ij > reach_i(r)  ⇒  d(i, j) > r        exact(i, j) = d(i, j) of some pairs
                                       key_ij < inside_i(r) ⇒  d(i, j) < r

A screen may round as it likes, as long as its reach knows by how much; what it lets through is looked at exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Direct", "Screen"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Screen(ABC):
    """Keys of m rows with n others."""

    m: int
    n: int
    #: The same rows with keys that are closer, or None.
    wide: Screen | None = None
    #: Bytes of one key.
    itemsize: int = 8
    #: Whether threads can work on tiles at the same time.
    parallel: bool = True

    @abstractmethod
    def tile(self, rows: Any, cols: slice) -> NDArray[Any]:
        """Keys of some rows (a slice or positions) with some columns.

        The caller may write into them, and has them until the same thread asks for the next tile.
        """

    @abstractmethod
    def reach(self, rows: Any, distances: Floats) -> Floats:
        """For each row the key above which every distance is larger than the one given."""

    @abstractmethod
    def inside(self, rows: Any, distances: Floats) -> Floats:
        """For each row the key below which every distance is smaller than the one given."""

    @abstractmethod
    def lengths(self, rows: Any, keys: NDArray[Any]) -> Floats:
        """Distances as keys tell them, rounded as these are: for sums over many pairs."""

    def content(self, of: str, rows: Places) -> list[bytes] | None:
        """Bytes that say what each of some "rows" or "columns" is: equal ones are at distance 0; None where unknown."""
        return None

    @abstractmethod
    def exact(self, rows: Places, cols: Places, keys: NDArray[Any]) -> Floats:
        """Distances of pairs, (len(rows),); ``keys`` are those of the pairs."""


class Direct(Screen):
    """Keys that are the distances themselves."""

    def reach(self, rows: Any, distances: Floats) -> Floats:
        """The distance itself."""
        return distances

    def inside(self, rows: Any, distances: Floats) -> Floats:
        """The distance itself."""
        return distances

    def lengths(self, rows: Any, keys: NDArray[Any]) -> Floats:
        """The keys."""
        return np.asarray(keys, np.float64)

    def exact(self, rows: Places, cols: Places, keys: NDArray[Any]) -> Floats:
        """The keys."""
        return np.asarray(keys, np.float64)
