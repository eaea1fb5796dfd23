"""The kernels of ``gram_triton.py``; this module loads Triton, and is loaded when a kernel is first asked for."""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["gram_kernel", "scale_kernel", "sum_kernel"]


@triton.jit
def _pair(values, shift, scale, here, w, WEIGHTED: tl.constexpr, TIMES: tl.constexpr):
    """Rows of a tile under the shift, in units of the columns, and as float16 pairs, the smaller one so many TIMES."""
    z = tl.where(here[:, None], (values.to(tl.float32) - shift[None, :]) * scale[None, :], 0.0)
    if WEIGHTED:
        z = z * w[:, None]
    high = z.to(tl.float16)
    low = ((z - high.to(tl.float32)) * TIMES).to(tl.float16)
    return z, high, low


@triton.jit
def gram_kernel(
    x, shift, scale, root, pairs, main, sums,
    n, d, down, along, begin, count, tiles,
    DIAGONAL: tl.constexpr, WEIGHTED: tl.constexpr, T: tl.constexpr, TILE: tl.constexpr, FLUSH: tl.constexpr,
    GROUPS: tl.constexpr, LANES: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One slab of rows, and one pair of column tiles: a tile with itself (DIAGONAL), or two that differ.

    Of a tile with itself hᵀh + 2hᵀl is formed, whose symmetric part is wanted. Sums of columns are taken in LANES rows,
    each by a warp of its own, and added up at the end: a sum over a whole tile would have all warps wait.
    """
    slab, pair = tl.program_id(0).to(tl.int64), tl.program_id(1) + begin
    i, j = tl.load(pairs + 2 * pair), tl.load(pairs + 2 * pair + 1)
    left, right = i * T + tl.arange(0, T), j * T + tl.arange(0, T)
    s_left, s_right = tl.load(shift + left, left < d, 0.0), tl.load(shift + right, right < d, 0.0)
    c_left, c_right = tl.load(scale + left, left < d, 0.0), tl.load(scale + right, right < d, 0.0)
    total = tl.zeros((T, T), tl.float32)
    column, lost = tl.zeros((LANES, T), tl.float32), tl.zeros((LANES, T), tl.float32)
    first = slab * (TILE * FLUSH * GROUPS)
    for group in tl.range(GROUPS, num_stages=STAGES):
        part = tl.zeros((T, T), tl.float32)
        for tile in tl.static_range(FLUSH):  # unrolled, so that loads of the next group run ahead
            row = first + (group * FLUSH + tile) * TILE + tl.arange(0, TILE)
            here = row < n
            w = tl.load(root + row, here, 0.0) if WEIGHTED else s_left
            place = x + row[:, None] * down
            a = tl.load(place + left[None, :].to(tl.int64) * along, here[:, None] & (left < d)[None, :], 0.0)
            if DIAGONAL:
                z, high, low = _pair(a, s_left, c_left, here, w, WEIGHTED, 2.0)
                part = tl.dot(tl.trans(high), high, part)
                part = tl.dot(tl.trans(high), low, part)
                if WEIGHTED:
                    z = z * w[:, None]
                some = tl.sum(tl.reshape(z, (TILE // LANES, LANES, T)), axis=0)
                term = some - lost  # what rounding took before is taken off again
                longer = column + term
                lost = (longer - column) - term
                column = longer
            else:
                z, high, low = _pair(a, s_left, c_left, here, w, WEIGHTED, 1.0)
                b = tl.load(place + right[None, :].to(tl.int64) * along, here[:, None] & (right < d)[None, :], 0.0)
                _, high_right, low_right = _pair(b, s_right, c_right, here, w, WEIGHTED, 1.0)
                part = tl.dot(tl.trans(high), high_right, part)
                part = tl.dot(tl.trans(high), low_right, part)
                part = tl.dot(tl.trans(low), high_right, part)
        total += part
    at = (slab * count + pair) * T * T + tl.arange(0, T)[:, None] * T + tl.arange(0, T)[None, :]
    tl.store(main + at, total)
    if DIAGONAL:
        tl.store(sums + (slab * tiles + i) * T + tl.arange(0, T), tl.sum(column - lost, axis=0))


@triton.jit
def sum_kernel(x, parts, p, size, ADDED: tl.constexpr):
    """Σ of the rows of x (p, size), float32 numbers added in float64, by stretches of rows: (stretches, size)."""
    at = tl.program_id(0) * ADDED + tl.arange(0, ADDED)
    share = tl.program_id(1)
    each = tl.cdiv(p, tl.num_programs(1))
    place = x + share.to(tl.int64) * each * size + at
    total = tl.zeros((ADDED,), tl.float64)
    for _ in range(share * each, tl.minimum(p, (share + 1) * each)):
        total += tl.load(place, at < size, 0.0).to(tl.float64)
        place += size
    tl.store(parts + share.to(tl.int64) * size + at, total, at < size)


@triton.jit
def scale_kernel(
    x, shift, root, scale, n, d, step, inverse, down, along, WEIGHTED: tl.constexpr, T: tl.constexpr,
    ROWS: tl.constexpr, MOST: tl.constexpr,
):  # fmt: skip
    """(d,) powers of two: 2⁻ᵉ where the deviations of every ``step``-th row have a root mean square in [2ᵉ⁻¹, 2ᵉ)."""
    column = tl.program_id(0) * T + tl.arange(0, T)
    s = tl.load(shift + column, column < d, 0.0)
    squares = tl.zeros((T,), tl.float64)
    many = tl.cdiv(n, step)
    row = tl.arange(0, ROWS).to(tl.int64)
    for _ in range(tl.cdiv(many, ROWS)):
        here = row < many
        at = row * step
        z = tl.load(
            x + at[:, None] * down + column[None, :].to(tl.int64) * along, here[:, None] & (column < d)[None, :], 0.0
        )
        z = tl.where(here[:, None], (z.to(tl.float32) - s[None, :]) * inverse, 0.0)
        if WEIGHTED:
            z = z * tl.load(root + at, here, 0.0)[:, None]
        squares += tl.sum(z.to(tl.float64) * z.to(tl.float64), axis=0)
        row += ROWS
    length = tl.sqrt(squares / many)
    bits = (length.to(tl.int64, bitcast=True) >> 52) & 0x7FF  # the exponent as float64 holds it: 1022 + e
    exponent = tl.minimum(tl.maximum(bits - 1022, -MOST), MOST)
    exponent = tl.where((bits == 0) | (bits == 0x7FF), 0, exponent)  # nothing, or not a number
    power = ((127 - exponent) << 23).to(tl.int32).to(tl.float32, bitcast=True)
    tl.store(scale + column, power, column < d)
