"""The Gram matrix of float32 rows by one fused kernel on tensor cores, at the accuracy of float32 products.

    z = (x − s)·2^e,  z ≈ h + l  in float16 pairs        zᵀz ≈ hᵀh + hᵀl + lᵀh

    grid    a slab of rows × a pair of column tiles i ≤ j; one slab reads its rows once while d ≤ 128
    slab    GROUPS groups of FLUSH tiles of TILE rows

float16 holds 11 bits, a pair 22 and the sign of l; what is left out, lᵀl, is below the rounding of float32. Columns are
scaled by powers of two to lengths near one, so that pairs hold deviations up to 65,504 times that length, in steps of
2⁻²⁴ of it at least: as float32 holds one of that length. Tensor cores truncate when they accumulate, so FLUSH tiles are
accumulated there at most and then added in ordinary float32; slabs are added in float64 outside. A number beyond the
range becomes infinite, and the sums say so. One accumulator for all three products leaves room in the registers: two of
them took 5.1 instead of 4.6 ms for 20,000,000 × 128 on an H200, sums of columns over whole tiles 3 ms more. Groups of
one tile, in one loop whose loads run ahead, took 4.2 ms, and lose half as much as groups of two; reading alone takes
2.4 ms, the rest is waiting for tensor cores between two conversions.

The products of all slabs come out: rounding is measured on them (``rounding.py``). ``TRITON_INTERPRET=1`` runs the same
kernel without a graphics processor.
"""

from __future__ import annotations

import os
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from ritz._core.fitting import run_fitting
from ritz._core.imports import module_of
from ritz.data.passes.device.rounding import Slabs, sent

__all__ = ["SLAB_ROWS", "OnTheWay", "block_height", "gram", "takes", "usable"]

#: Rows of a tile; tiles that are accumulated on tensor cores before they are added in float32; groups of these a slab.
TILE, FLUSH, GROUPS = 64, 1, 128
SLAB_ROWS = TILE * FLUSH * GROUPS
#: Columns of a tile at most, and at least, which is what tensor cores take.
WIDEST, NARROWEST = 128, 16
#: Warps, and stages of the pipeline: the most that fit the memory which the threads of a processor share.
WARPS, STAGES = 8, ((3,), (2,), (1,))
#: Rows in which the sums of a tile's columns are kept: one for each warp.
LANES = 8
#: Rows that are sampled for the lengths of the columns.
SAMPLED = 1024
#: Bytes of products of slabs that are held of a block; those of two blocks are held at a time.
HELD_BYTES = 512 << 20
#: Bytes of rows on their way after which products of theirs are begun.
STRETCH_BYTES = 256 << 20
#: Numbers that one program of a sum over slabs adds up, and programs that share the slabs: 0.07 ms for 2,442 products
#: of 128 columns, where torch takes 0.27 to make them float64 numbers first.
ADDED, SHARES = 256, 16


def interpreted() -> bool:
    """Whether Triton's interpreter stands in for a graphics processor."""
    return os.environ.get("TRITON_INTERPRET") == "1"


@lru_cache(maxsize=1)
def _found() -> bool:
    try:
        module_of("triton")
    except ImportError:
        return False
    return True


def usable() -> bool:
    """Whether the kernel can run here at all: Triton is installed, and there is a processor for it."""
    if interpreted():
        return _found()
    return _found() and bool(module_of("torch").cuda.is_available())


def takes(x: Any) -> bool:
    """Whether these rows are of a kind that the kernel reads: float32 on a device, or float16 and bfloat16."""
    torch = module_of("torch")
    there = x.device.type == "cuda" or interpreted()
    return bool(there and x.dtype in (torch.float32, torch.float16, torch.bfloat16))


def tile_columns(d: int) -> int:
    """Columns of a tile: a power of two."""
    return min(WIDEST, max(NARROWEST, 1 << (d - 1).bit_length()))


def block_height(d: int) -> int:
    """Rows of a block whose products of slabs fit into HELD_BYTES."""
    T = tile_columns(d)
    tiles = -(-d // T)
    pairs = tiles * (tiles + 1) // 2
    return int(max(1, HELD_BYTES // (4 * pairs * T * T)) * SLAB_ROWS)


@lru_cache(maxsize=1)
def _kernels() -> Any:
    """The kernels, compiled for every kind of argument when first used."""
    return module_of("ritz.data.passes.device.triton_kernels")


@lru_cache(maxsize=16)
def _pairs(tiles: int, device: Any) -> tuple[list[tuple[int, int]], Any, Any, Any]:
    """Pairs of column tiles i ≤ j, those of a tile with itself first, and as a tensor; for every tile of the whole
    matrix the pair that it comes from, and whether that is to be transposed.
    """
    pairs = [(i, i) for i in range(tiles)] + [(i, j) for i in range(tiles) for j in range(i + 1, tiles)]
    number = {pair: k for k, pair in enumerate(pairs)}
    every = [(i, j) for i in range(tiles) for j in range(tiles)]
    where = np.asarray([number[min(i, j), max(i, j)] for i, j in every])
    below = np.asarray([i > j for i, j in every])
    return pairs, *(sent(x, device) for x in (np.asarray(pairs, np.int32), where, below))


def _summed(x: Any) -> Any:
    """The sum over the first axis of float32 numbers, in float64."""
    torch = module_of("torch")
    p, size = int(x.shape[0]), int(x[0].numel())
    shares = min(SHARES, p)
    parts = torch.empty((shares, size), dtype=torch.float64, device=x.device)
    _kernels().sum_kernel[(-(-size // ADDED), shares)](x, parts, p, size, ADDED=ADDED)
    return parts.sum(dim=0).reshape(x.shape[1:])


class OnTheWay(Protocol):
    """A block whose rows come as they are asked for."""

    def upto(self, stop: int) -> None:
        """Have the rows before ``stop`` come."""
        ...

    def every(self, step: int) -> Any:
        """Every ``step``-th row, before the others."""
        ...


def gram(slabs: Slabs, coming: OnTheWay | None = None) -> tuple[Any, Any, Any]:
    """Σz and Σzzᵀ of a block in float64, and whether float16 pairs hold it; the products stay with the slabs.

    All three are on the device: nothing is waited for here but rows that are still ``coming``, whose products are begun
    stretch by stretch.
    """
    torch = module_of("torch")
    x = slabs.x
    d = int(x.shape[1])
    T = tile_columns(d)
    tiles, p = -(-d // T), slabs.count
    pairs, at, where, below = _pairs(tiles, x.device)
    scale = _scale(slabs, coming)
    main = torch.empty((p, len(pairs), T, T), dtype=torch.float32, device=x.device)
    sums = torch.empty((p, tiles, T), dtype=torch.float32, device=x.device)
    shift, unit = slabs.shift.to(torch.float32), scale * slabs.inverse

    def launch(stages: int, some: slice, begin: int, many: int) -> None:
        rows = slice(some.start * SLAB_ROWS, some.stop * SLAB_ROWS)
        z = x[rows]
        _kernels().gram_kernel[(some.stop - some.start, many)](
            z, shift, unit, z if slabs.root is None else slabs.root[rows], at, main[some], sums[some],
            int(z.shape[0]), d, x.stride(0), x.stride(1), begin, len(pairs), tiles,
            DIAGONAL=begin == 0, WEIGHTED=slabs.root is not None, T=T, TILE=TILE, FLUSH=FLUSH, GROUPS=GROUPS,
            LANES=LANES, STAGES=stages, num_warps=WARPS if T >= WIDEST else WARPS // 2, num_stages=stages,
        )  # fmt: skip

    step = p if coming is None else max(1, STRETCH_BYTES // (SLAB_ROWS * d * x.itemsize))
    for first in range(0, p, step):
        some = slice(first, min(first + step, p))
        if coming is not None:
            coming.upto(min(some.stop * SLAB_ROWS, int(x.shape[0])))
        for begin, many in ((0, tiles), (tiles, len(pairs) - tiles)):
            if many:
                run = partial(launch, some=some, begin=begin, many=many)
                run_fitting(run, STAGES, "gram", x.device, x.dtype, T, begin == 0, slabs.root is not None)
    back = (1 / scale).to(torch.float64)

    def whole(products: Any) -> Any:
        """(m, d, d) from the tiles of m slabs: both halves, in the units of the rows."""
        every = products[:, where]
        full = torch.where(below[:, None, None], every.transpose(2, 3), every)
        full = full.reshape(-1, tiles, tiles, T, T).transpose(2, 3).reshape(-1, tiles * T, tiles * T)
        return full[:, :d, :d] * back[:, None] * back

    diagonal = slice(0, tiles)  # pairs of a tile with itself

    def even(products: Any) -> Any:
        """Of a tile with itself the symmetric part."""
        own = products[:, diagonal]
        products[:, diagonal] = (own + own.transpose(2, 3)) / 2
        return products

    def formed(numbers: list[int]) -> Any:
        return whole(even(main[sent(np.asarray(numbers), x.device)].to(torch.float64)))

    total = whole(even(_summed(main)[None]))[0]
    squares = main[:, diagonal].diagonal(dim1=2, dim2=3).to(torch.float64)
    lengths = torch.zeros(tiles * T, dtype=torch.float64, device=x.device)
    lengths[:d] = back * back
    slabs.masses = (squares.reshape(p, tiles * T) * lengths).sum(dim=1)
    slabs.product = formed
    m = sums.sum(dim=0, dtype=torch.float64).reshape(tiles * T)[:d] * back
    return m, total, torch.isfinite(total).all()


def _scale(slabs: Slabs, coming: OnTheWay | None = None) -> Any:
    """(d,) powers of two that bring sampled deviations to lengths near one, by one kernel: the device waits for it."""
    torch, x, root = module_of("torch"), slabs.x, slabs.root
    b, d = (int(side) for side in x.shape)
    step = max(1, b // SAMPLED)
    if coming is not None:
        x, root, step = coming.every(step), None if root is None else root[::step].contiguous(), 1
        b = int(x.shape[0])
    scale = torch.empty(d, dtype=torch.float32, device=x.device)
    T = tile_columns(d)
    _kernels().scale_kernel[(-(-d // T),)](
        x, slabs.shift.to(torch.float32), x if root is None else root, scale, b, d, step, slabs.inverse,
        x.stride(0), x.stride(1), WEIGHTED=root is not None, T=T, ROWS=TILE, MOST=100,
    )  # fmt: skip
    return scale
