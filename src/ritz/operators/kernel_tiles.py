"""``K V`` from tiles of K that are made, used and forgotten, or kept.

    for block row I:   for tiles J ≥ I:     P = k(I, J);   out_I += P V_J;   out_J += Pᵀ V_I  (J beyond I)

Only the upper tiles are made, so the work of kernel entries is halved; each lane has its own float64 sums, which are
added in the order of lanes. Products of a few tiles are summed in their own precision, the rest in float64: rounding
does not grow with n. Where the sums of all lanes would take too much memory, each lane makes whole rows instead.

Tiles are square and so small (240×240 with strips of 16 columns: less than 10⁶ multiplications) that BLAS multiplies
them where they lie instead of copying them into an order of its own first, which costs as much as a product with 16
columns. A product with kept tiles, n = 10,000, float32, took 45 ms of processor time with 16 columns, 75 with 32, 139
with 64 (106 Gflop/s of sgemm would be 30, 60 and 121); from tiles of 512×4096 it took 65, 97 and 168.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import lane_count, run_lanes
from ritz.kernels.base import Kernel, Prepared, chunks

__all__ = ["SIDE", "SUMS_BYTES", "TileStore", "cached_bytes", "sweep"]

#: Rows and columns of a tile.
SIDE = 240

#: Columns of V that a tile is multiplied with at a time.
STRIP = 16

#: Bytes of tiles that are made and multiplied together: they should stay in the cache of a core.
GROUP_BYTES = 1 << 20

#: Bytes that the sums of all lanes may take.
SUMS_BYTES = 1 << 29

#: float32 numbers of a cache line.
LINE = 16


class TileStore:
    """Upper tiles of K that were kept, block row by block row; rows and columns beyond n are 0."""

    def __init__(self, n: int, dtype: np.dtype[Any]) -> None:
        self.count = _blocks(n)
        self.tiles = np.empty((self.count * (self.count + 1) // 2, SIDE, SIDE), dtype)  # one piece: few page faults
        self.complete = False

    def of(self, i: int, J: slice) -> NDArray[Any]:
        """Tiles J of block row i, (g, s, s); J ≥ i."""
        first = i * self.count - i * (i - 1) // 2 - i
        return self.tiles[first + J.start : first + J.stop]


def _blocks(n: int) -> int:
    return -(-n // SIDE)


def cached_bytes(n: int, dtype: Any) -> int:
    """Bytes of the upper tiles of an n×n matrix."""
    count = _blocks(n)
    return count * (count + 1) // 2 * SIDE * SIDE * int(np.dtype(dtype).itemsize)


def sweep(
    kernel: Kernel,
    A: Prepared,
    V: NDArray[Any],
    store: TileStore | None = None,
    *,
    sums: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """``K V`` (n, l) in float64 and, for ``sums`` (n, s), ``K sums`` and ‖K‖_F²; V in the precision of A."""
    n, count = A.n, _blocks(A.n)
    lanes = max(1, min(lane_count(), count))
    mirrored = store is not None or lanes * n * V.shape[1] * 8 <= SUMS_BYTES
    W = _Strips.of(V)
    with_sums = np.zeros((count * SIDE, 0 if sums is None else sums.shape[1]))
    with_sums[:n] = 0.0 if sums is None else sums
    shared = None if mirrored else W.zeros()

    def work(lane: int) -> tuple[_Strips, _Sums]:
        out, maker, summed = W.zeros() if shared is None else shared, _Maker(kernel, A, store), _Sums(with_sums)
        adder = _Adder(W, out, maker.group)
        for i in _share(count, lane, lanes):
            for J in chunks(count, maker.group, i if mirrored else 0):
                P = maker.tiles(i, J)
                adder.add(P, i, J, mirrored)
                if sums is not None:
                    summed.add(P, i, J, mirrored)
        return out, summed

    parts = run_lanes(work, list(range(lanes)))
    if store is not None:
        store.complete = True
    out = parts[0][0]
    if mirrored:
        for other, _ in parts[1:]:
            out.plus(other)
    rows = np.sum([each.rows for _, each in parts], axis=0).reshape(len(with_sums), with_sums.shape[1])[:n]
    return out.joined(n), rows, sum(each.square for _, each in parts)


def _share(count: int, lane: int, lanes: int) -> Iterator[int]:
    """Block rows of one lane: there and back through the lanes, for upper block rows get shorter."""
    for i in range(count):
        place = i % (2 * lanes)
        if lane == (place if place < lanes else 2 * lanes - 1 - place):
            yield i


class _Strips:
    """A tall block (n, l) cut into strips of columns and blocks of rows: arrays (blocks, strips, s, columns)."""

    def __init__(self, parts: list[NDArray[Any]]) -> None:
        self.parts = parts

    @classmethod
    def of(cls, V: NDArray[Any]) -> _Strips:
        """Rows beyond n are 0; columns that fill no strip are one of their own."""
        (n, l), count = V.shape, _blocks(V.shape[0])
        full = l // STRIP * STRIP
        parts = []
        for start, stop, width in ((0, full, STRIP), (full, l, l - full)):
            if stop > start:
                padded = np.zeros((count * SIDE, stop - start), V.dtype)
                padded[:n] = V[:, start:stop]
                cut = padded.reshape(count, SIDE, -1, width).swapaxes(1, 2)
                parts.append(np.ascontiguousarray(cut))
        return cls(parts)

    def zeros(self) -> _Strips:
        """Sums in float64."""
        return _Strips([np.zeros(strip.shape) for strip in self.parts])

    def plus(self, other: _Strips) -> None:
        """Add other sums."""
        for mine, more in zip(self.parts, other.parts, strict=True):
            mine += more

    def joined(self, n: int) -> NDArray[np.float64]:
        """Back to (n, l)."""
        columns = [strip.swapaxes(1, 2).reshape(-1, strip.shape[1] * strip.shape[3])[:n] for strip in self.parts]
        return columns[0] if len(columns) == 1 else np.concatenate(columns or [np.zeros((n, 0))], axis=1)


class _Maker:
    """Tiles of one lane: from the store, or made in memory that is used again."""

    def __init__(self, kernel: Kernel, A: Prepared, store: TileStore | None) -> None:
        self.kernel, self.A, self.store = kernel, A, store
        self.group = max(1, GROUP_BYTES // (SIDE * SIDE * A.dtype.itemsize))
        if store is None or not store.complete:
            self.flat = np.empty(SIDE * SIDE * self.group, A.dtype)
            self.scratch = np.empty((self.group, SIDE, SIDE), A.dtype) if store is None else None

    def tiles(self, i: int, J: slice) -> NDArray[Any]:
        """Tiles J of block row i, (g, s, s)."""
        if self.store is None:
            return self._made(i, J, self.scratch[: J.stop - J.start])  # type: ignore[index]
        tiles = self.store.of(i, J)
        if not self.store.complete:
            return self._made(i, J, tiles)
        np.bitwise_or.reduce(tiles.reshape(-1).view(np.int32)[::LINE])  # memory is read faster in one go than by BLAS
        return tiles

    def _made(self, i: int, J: slice, out: NDArray[Any]) -> NDArray[Any]:
        n, group = self.A.n, len(out)
        rows = slice(i * SIDE, min((i + 1) * SIDE, n))
        cols = slice(J.start * SIDE, min(J.stop * SIDE, n))
        height, width = rows.stop - rows.start, cols.stop - cols.start
        panel = self.flat[: height * width].reshape(height, width)
        panel = self.kernel.tile(self.A, self.A, rows, cols, panel)
        if (height, width) == (SIDE, group * SIDE):
            out[...] = panel.reshape(SIDE, group, SIDE).swapaxes(0, 1)
        else:
            out[...] = 0
            for g, columns in enumerate(chunks(width, SIDE)):
                out[g, :height, : columns.stop - columns.start] = panel[:, columns]
        if J.start <= i < J.stop:  # the diagonal tile symmetric to the last bit, as the rest of K is
            own = out[i - J.start]
            own[...] = np.triu(own) + np.triu(own, 1).T
        return out


class _Adder:
    """What tiles give to the product, added to the sums of one lane."""

    def __init__(self, W: _Strips, out: _Strips, group: int) -> None:
        self.pairs = list(zip(W.parts, out.parts, strict=True))
        self.room = [np.empty((group, *w.shape[1:]), w.dtype) for w, _ in self.pairs]

    def add(self, P: NDArray[Any], i: int, J: slice, mirrored: bool) -> None:
        """``out_i += P V_J`` and, for upper tiles, ``out_J += Pᵀ V_i``."""
        below = 1 if J.start == i else 0
        tiles = P[:, None]
        for (w, out), room in zip(self.pairs, self.room, strict=True):
            down = np.matmul(tiles, w[J], out=room[: len(P)])
            out[i] += np.add.reduce(down, axis=0)
            if mirrored and len(P) > below:
                across = np.matmul(tiles[below:].swapaxes(2, 3), w[i], out=room[: len(P) - below])
                out[J.start + below : J.stop] += across


class _Sums:
    """Weighted row sums and the sum of squares of the tiles of one lane, in float64: entries that are all alike, summed
    in float32, would round in one direction.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.weights, self.square = weights.reshape(_blocks(len(weights)), SIDE, weights.shape[1]), 0.0
        self.rows = np.zeros_like(self.weights)

    def add(self, P: NDArray[Any], i: int, J: slice, mirrored: bool) -> None:
        """Tiles J of block row i; upper ones stand for those below, too."""
        for j, tile in zip(range(J.start, J.stop), P, strict=True):
            wide, twice = tile.astype(np.float64, copy=False), mirrored and j > i
            self.rows[i] += wide @ self.weights[j]
            if twice:
                self.rows[j] += wide.T @ self.weights[i]
            flat = wide.reshape(-1)
            self.square += float(flat @ flat) * (2 if twice else 1)
