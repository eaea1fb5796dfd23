"""``K V`` without K: distances, kernel values and product in registers (Triton).

    Yᵢ = Σⱼ f(zᵢ·z'ⱼ − sᵢ − s'ⱼ) vⱼ          one program: rows i of a block, all j in tiles

``PAIRS``: entries of rows, and where ``FINE`` those of K and V too, are pairs of float16, x = x_hi + x_lo/2048, and a
product is three on the tensor cores,

    x·y ≈ x_hi·y_hi + (x_hi·y_lo + x_lo·y_hi)/2048            22 bits; without, x_hi alone: 11 bits

Columns come in the order of their size (``turned.py``), and low parts of the LEAD first ones alone are kept: what the
others would add is below the last bit. Tensor cores cut off what does not fit when they accumulate, always downwards:
sums of PARTS tiles are added in ordinary float32 arithmetic. Rows beyond the last are zeros, whose v is zero. This
module is imported where Triton is there.
"""

# Triton compiles the text of these functions: no annotations of variables, no docstrings of what is inlined.
from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["absolute", "fused"]

RBF, MATERN1, MATERN3, MATERN5, POWER, TANH, DOT = (tl.constexpr(i) for i in range(7))
LOW = tl.constexpr(1.0 / 2048.0)


@triton.jit
def _value(s, ni, nj, coef0, unit, KIND: tl.constexpr, DEGREE: tl.constexpr):
    """f of a tile of dot products."""
    if KIND == RBF:
        return tl.exp2(s - ni[:, None] - nj[None, :])
    if KIND == MATERN1 or KIND == MATERN3 or KIND == MATERN5:  # noqa: SIM109  (Triton has no `in`)
        r = tl.sqrt(tl.maximum(2.0 * (ni[:, None] + nj[None, :] - s), 0.0))
        e = tl.exp2(r * -1.4426950408889634)
        if KIND == MATERN3:
            e = (1.0 + r) * e
        if KIND == MATERN5:
            e = (1.0 + r * (1.0 + r * 0.3333333333333333)) * e
        return e
    if KIND == POWER:
        base = (s + coef0) * unit
        k = base
        for _ in tl.static_range(DEGREE - 1):
            k = k * base
        return k
    if KIND == TANH:
        e = tl.exp2(tl.abs(s + coef0) * -2.8853900817779268)
        t = (1.0 - e) / (1.0 + e)
        return tl.where(s + coef0 < 0, -t, t)
    return s * unit


@triton.jit
def _half_exp2(x):
    """2^x of float16, two at a time: half the instructions of float32."""
    return tl.inline_asm_elementwise(
        "ex2.approx.f16x2 $0, $1;", "=r,r", [x], dtype=tl.float16, is_pure=True, pack=2
    )  # fmt: skip


@triton.jit
def _dots(
    AH, AL, BH, BL, ah, ac, al, ri, rj,
    D: tl.constexpr, CHUNKS: tl.constexpr, LEAD: tl.constexpr, PAIRS: tl.constexpr,
):  # fmt: skip
    """Dot products of the rows of two tiles; ``ah``, ``ac``, ``al``: those of the first, where they are held."""
    cd = tl.arange(0, D)
    left = ri.to(tl.int64)[:, None]
    right = rj.to(tl.int64)[None, :]
    if CHUNKS == 1:
        bh = tl.load(BH + right * D + cd[:, None])
        if PAIRS:
            cl = tl.arange(0, LEAD)
            bc = tl.load(BH + right * D + cl[:, None]) if LEAD < D else bh
            t = tl.dot(ac, tl.load(BL + right * LEAD + cl[:, None]))
            t = tl.dot(al, bc, t)
            return tl.dot(ah, bh, t * LOW)
        return tl.dot(ah, bh)
    s = tl.zeros((ri.shape[0], rj.shape[0]), tl.float32)
    for c in range(0, D * CHUNKS, D):
        ph = tl.load(AH + left * (D * CHUNKS) + (c + cd)[None, :])
        bh = tl.load(BH + right * (D * CHUNKS) + (c + cd)[:, None])
        s = (s + tl.dot(ph, bh)) if PAIRS else tl.dot(ph, bh, s)  # added in ordinary arithmetic
    if PAIRS:
        t = tl.zeros((ri.shape[0], rj.shape[0]), tl.float32)
        for c in range(0, LEAD, D):
            ph = tl.load(AH + left * (D * CHUNKS) + (c + cd)[None, :])
            bh = tl.load(BH + right * (D * CHUNKS) + (c + cd)[:, None])
            t = tl.dot(ph, tl.load(BL + right * LEAD + (c + cd)[:, None]), t)
            t = tl.dot(tl.load(AL + left * LEAD + (c + cd)[None, :]), bh, t)
        s += t * LOW
    return s


@triton.jit
def fused(
    AH, AL, NA, BH, BL, NB, VH, VL, Y, m, coef0, unit,
    D: tl.constexpr, CHUNKS: tl.constexpr, LEAD: tl.constexpr, KB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    PARTS: tl.constexpr, KIND: tl.constexpr, DEGREE: tl.constexpr, PAIRS: tl.constexpr, FINE: tl.constexpr,
    QUICK: tl.constexpr,
):  # fmt: skip
    """Y (rows, KB) = f(A Bᵀ) V; A, B (·, D·CHUNKS), their low parts (·, LEAD) and V (m, KB) in float16."""
    ri = tl.program_id(0) * BM + tl.arange(0, BM)
    ck = tl.arange(0, KB)
    ni = tl.load(NA + ri)
    acc = tl.zeros((BM, KB), tl.float32)
    low = tl.zeros((BM, KB), tl.float32)
    left = ri.to(tl.int64)[:, None]
    ah = tl.load(AH + left * (D * CHUNKS) + tl.arange(0, D)[None, :])
    ac, al = ah, ah  # high and low parts of the LEAD first columns
    if PAIRS and CHUNKS == 1:
        ac = tl.load(AH + left * D + tl.arange(0, LEAD)[None, :]) if LEAD < D else ah
        al = tl.load(AL + left * LEAD + tl.arange(0, LEAD)[None, :])
    for o in range(0, m, BN * PARTS):
        part = tl.zeros((BM, KB), tl.float32)
        for j in range(o, o + BN * PARTS, BN):
            rj = j + tl.arange(0, BN)
            s = _dots(AH, AL, BH, BL, ah, ac, al, ri, rj, D, CHUNKS, LEAD, PAIRS)
            nj = tl.load(NB + rj)
            vh = tl.load(VH + rj.to(tl.int64)[:, None] * KB + ck[None, :])
            if PAIRS and FINE:
                k = _value(s, ni, nj, coef0, unit, KIND, DEGREE)
                kh = k.to(tl.float16)
                kl = ((k - kh.to(tl.float32)) * 2048.0).to(tl.float16)
                vl = tl.load(VL + rj.to(tl.int64)[:, None] * KB + ck[None, :])
                part = tl.dot(kh, vh, part)
                low = tl.dot(kh, vl, low)
                low = tl.dot(kl, vh, low)
            elif QUICK:
                part = tl.dot(_half_exp2((s - ni[:, None] - nj[None, :]).to(tl.float16)), vh, part)
            else:
                part = tl.dot(_value(s, ni, nj, coef0, unit, KIND, DEGREE).to(tl.float16), vh, part)
        acc += part
    if FINE:
        acc += low * LOW
    tl.store(Y + ri.to(tl.int64)[:, None] * KB + ck[None, :], acc)


@triton.jit
def absolute(
    A, B, VH, VL, Y, rows, m, d,
    KB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Y = exp(−‖zᵢ − z'ⱼ‖₁) V with A (d, rows), B (d, m) float32, columns first: a loop over columns."""
    ri = tl.program_id(0) * BM + tl.arange(0, BM)
    ck = tl.arange(0, KB)
    acc = tl.zeros((BM, KB), tl.float32)
    low = tl.zeros((BM, KB), tl.float32)
    for o in range(0, m, BN * PARTS):
        part = tl.zeros((BM, KB), tl.float32)
        for j in range(o, o + BN * PARTS, BN):
            rj = j + tl.arange(0, BN)
            s = tl.zeros((BM, BN), tl.float32)
            pa = A + ri
            pb = B + rj
            for _ in range(d):
                s += tl.abs(tl.load(pa)[:, None] - tl.load(pb)[None, :])
                pa += rows
                pb += m
            k = tl.exp2(s * -1.4426950408889634)
            kh = k.to(tl.float16)
            kl = ((k - kh.to(tl.float32)) * 2048.0).to(tl.float16)
            vh = tl.load(VH + rj.to(tl.int64)[:, None] * KB + ck[None, :])
            vl = tl.load(VL + rj.to(tl.int64)[:, None] * KB + ck[None, :])
            part = tl.dot(kh, vh, part)
            low = tl.dot(kh, vl, low)
            low = tl.dot(kl, vh, low)
        acc += part
    acc += low * LOW
    tl.store(Y + ri.to(tl.int64)[:, None] * KB + ck[None, :], acc)
