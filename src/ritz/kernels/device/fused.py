"""Fused products ``K V`` on a graphics processor: what Triton's kernels are handed, in three precisions.

    half      float16 rows, kernel values and vectors, one product each: about 5e-4 of λ₁, for early iterations
    mixed     rows in pairs of float16, values and vectors in float16, whose rounding averages out: about 5e-6 of λ₁
    single    pairs of float16, three products each: about 1e-6, as float32

Rows are turned to their principal axes (``turned.py``), padded with zeros to whole tiles and laid out once for all
products: half ones take the leading columns alone, the others keep pairs of those. Columns of V are scaled by powers of
two into the range of float16, and so is K where it may exceed 1 (polynomials).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.fitting import run_fitting
from ritz._core.imports import module_of
from ritz.kernels.base import Kernel
from ritz.kernels.device.rows import DeviceRows, pieces
from ritz.kernels.device.tiles import diagonal
from ritz.kernels.distances import DistanceKernel
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.vectors import Cosine, Linear, Polynomial, Sigmoid

__all__ = ["WIDEST", "fits", "fusable", "fused_product"]

#: Rows that tables are padded to: tiles of 64 or 128 rows, whose sums are taken over 512 of them, or 1,024 in half.
PADDED, SUMMED = 1024, {"half": 1024, "mixed": 512, "single": 512}
#: Largest entry of a float16 row; entries of V are scaled to at most this, too.
LARGEST, ENTRIES = 30000.0, 64.0
#: Columns of V that one program multiplies, at most.
WIDEST = 128
#: Columns of rows that are held in registers; more are taken in pieces of CHUNK.
HELD, CHUNK = 128, 64
#: Whether 2^x is computed in float16 too where half precision is enough.
QUICK = True
#: Rows of a block, rows of a tile, warps and stages by precision, as measured on an H200 with 64 columns: 31, 48 and 86
#: ms a product of 262,144 rows where 16 columns lead. Those that follow take less of the memory that the threads of a
#: processor share, for wide blocks and rows (149 ms with 128 columns, single), and for devices that have less of it.
SMALLER = ((128, 64, 8, 3), (128, 64, 8, 2), (64, 64, 4, 2), (64, 32, 4, 2), (64, 16, 4, 1))
SHAPES = {
    "half": ((128, 64, 4, 3), *SMALLER),
    "mixed": ((128, 64, 4, 3), *SMALLER),
    "single": ((128, 128, 8, 3), *SMALLER),
    "absolute": ((64, 64, 4, 3), *SMALLER[3:]),
}


def fusable(kernel: Kernel, rows: DeviceRows) -> bool:
    """Whether Triton has a kernel for this one, on this device."""
    if rows.X.device.type == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        return False
    if isinstance(kernel, Polynomial) and not 1 <= kernel.degree <= 8:
        return False
    known = isinstance(kernel, (DistanceKernel, Polynomial, Sigmoid, Cosine, Linear, Laplacian))
    return known and _triton() is not None


def _triton() -> Any:
    try:
        return module_of("ritz.kernels.device.triton_kernels")
    except ImportError:
        return None


@dataclass
class _Laid:
    """Rows in the layout of the fused kernels."""

    high: Any  # (n', d') float16
    low: Any  # (n', l) float16, of the leading columns, or the same as high
    half: Any  # (n',) float32
    unit: float  # K is computed times this
    fits: bool = True


def _kind(kernel: Kernel) -> tuple[int, float, int]:
    """Which f, its c, its degree."""
    if isinstance(kernel, Matern) and not np.isinf(kernel.nu):
        return {0.5: 1, 1.5: 2, 2.5: 3}[kernel.nu], 0.0, 1
    if isinstance(kernel, DistanceKernel):
        return 0, 0.0, 1
    if isinstance(kernel, Polynomial):
        return 4, kernel.coef0, kernel.degree
    return (5, kernel.coef0, 1) if isinstance(kernel, Sigmoid) else (6, 0.0, 1)


def fits(kernel: Kernel, rows: DeviceRows, level: str) -> bool:
    """Whether the rows are in the range of this precision."""
    return isinstance(kernel, Laplacian) or _laid(kernel, rows, level).fits


def _laid(kernel: Kernel, rows: DeviceRows, level: str) -> _Laid:
    layout = "half" if level == "half" else "pairs"
    if layout not in rows.fused:
        rows.fused[layout] = _lay(kernel, rows, layout)
    laid: _Laid = rows.fused[layout]
    return laid


def _lay(kernel: Kernel, rows: DeviceRows, layout: str) -> _Laid:
    torch, axes = module_of("torch"), rows.axes()
    part = rows.at(torch.float32)
    Z, (n, d) = part.Z, part.Z.shape
    base = math.sqrt(math.log2(math.e)) if _kind(kernel)[0] == 0 else 1.0  # exp(x) = 2^(x·log₂e)
    pairs, whole = layout == "pairs", _padded_columns(d)
    lead = -(-axes.lead // CHUNK) * CHUNK if pairs and d > HELD else _padded_columns(axes.lead)
    lead = min(lead, whole)
    held, l = d if pairs else min(d, lead), min(d, lead)
    padded = -(-n // PADDED) * PADDED
    high = torch.zeros((padded, _padded_columns(held)), dtype=torch.float16, device=Z.device)
    low = torch.zeros((padded, lead), dtype=torch.float16, device=Z.device) if pairs else high
    half, most = torch.zeros(padded, device=Z.device), torch.zeros((), device=Z.device, dtype=torch.float64)
    for some in pieces(n, d):
        z = axes.turn(Z[some]) * base
        most = torch.maximum(most, z.abs().max()) if z.numel() else most
        high[some, :held] = z[:, :held].to(torch.float16)
        rounded = high[some, :held].to(torch.float64)
        squares = rounded.square().sum(dim=1) + z[:, held:].square().sum(dim=1)
        if pairs:
            low[some, :l] = ((z - rounded)[:, :l] * 2048).to(torch.float16)
            squares += (rounded[:, :l] * low[some, :l].to(torch.float64)).sum(dim=1) / 1024
        half[some] = (0.5 * squares).to(torch.float32)
    own = float(diagonal(part).max()) if n else 1.0
    return _Laid(high, low, half, _unit(kernel, own), float(most) < LARGEST and math.isfinite(own))


def _padded_columns(d: int) -> int:
    if d <= HELD:
        return max(16, 1 << (d - 1).bit_length()) if d > 1 else 16
    return -(-d // CHUNK) * CHUNK


def _unit(kernel: Kernel, largest: float) -> float:
    """A power of two that brings what a kernel is a power of, or K itself, to at most one."""
    if isinstance(kernel, Polynomial):
        largest = largest ** (1.0 / kernel.degree)
    elif not isinstance(kernel, (Linear, Cosine)):
        return 1.0
    return 2.0 ** -math.ceil(math.log2(largest)) if largest > 0 else 1.0


def fused_product(A: DeviceRows, B: DeviceRows, V: Any, level: str) -> Any:
    """``k(A, B) V`` (m, l) in float64 from products of this precision; V float64 (n, l)."""
    out = [_strip(A, B, V[:, first : first + WIDEST], level) for first in range(0, V.shape[1], WIDEST)]
    return out[0] if len(out) == 1 else module_of("torch").cat(out, dim=1)


def _strip(A: DeviceRows, B: DeviceRows, V: Any, level: str) -> Any:
    torch, kernels, kernel = module_of("torch"), _triton(), A.kernel
    n, l = V.shape
    width = max(16, 1 << (l - 1).bit_length()) if l > 1 else 16
    padded = -(-n // PADDED) * PADDED
    scale = V.abs().amax(dim=0) / ENTRIES if n else torch.ones(l, device=V.device)
    scale = torch.exp2(torch.ceil(torch.log2(scale.where(scale > 0, scale.new_ones(())))))
    W = torch.zeros((padded, width), dtype=torch.float32, device=V.device)
    W[:n, :l] = (V / scale).to(torch.float32)
    high = W.to(torch.float16)
    low = ((W - high.to(torch.float32)) * 2048).to(torch.float16) if level == "single" else high
    if isinstance(kernel, Laplacian):
        Y, unit = _absolute(A, B, high, low if level == "single" else torch.zeros_like(high), width), 1.0
    else:
        a, b = _laid(kernel, A, level), _laid(kernel, B, level)
        unit = min(a.unit, b.unit)
        Y = torch.empty((len(a.high), width), dtype=torch.float32, device=V.device)
        kind, coef0, degree = _kind(kernel)
        d = a.high.shape[1]
        held = d <= HELD
        quick = QUICK and kind == 0 and level == "half" and V.device.type != "cpu"

        def launch(rows: int, tile: int, warps: int, stages: int) -> None:
            kernels.fused[(len(a.high) // rows,)](
                a.high, a.low, a.half, b.high, b.low, b.half, high, low, Y, padded, coef0, unit,
                D=d if held else CHUNK, CHUNKS=1 if held else d // CHUNK, LEAD=a.low.shape[1], KB=width, BM=rows,
                BN=tile, PARTS=SUMMED[level] // tile, KIND=kind, DEGREE=degree, PAIRS=level != "half",
                FINE=level == "single", QUICK=quick, num_warps=warps, num_stages=stages,
            )  # fmt: skip

        run_fitting(launch, SHAPES[level], level, V.device, d, a.low.shape[1], width, kind)
        unit = unit**degree if kind in (4, 6) else 1.0
    return Y[: A.n, :l].to(torch.float64) * (scale / unit)


def _absolute(A: DeviceRows, B: DeviceRows, high: Any, low: Any, width: int) -> Any:
    torch = module_of("torch")
    a, b = (_turned(each) for each in (A, B))
    Y = torch.empty((a.shape[1], width), dtype=torch.float32, device=high.device)

    def launch(rows: int, tile: int, warps: int, stages: int) -> None:
        _triton().absolute[(a.shape[1] // rows,)](
            a, b, high, low, Y, a.shape[1], b.shape[1], a.shape[0],
            KB=width, BM=rows, BN=tile, PARTS=SUMMED["single"] // tile, num_warps=warps, num_stages=stages,
        )  # fmt: skip

    run_fitting(launch, SHAPES["absolute"], "absolute", high.device, width)
    return Y


def _turned(rows: DeviceRows) -> Any:
    """Rows in float32, column after column, padded."""
    torch = module_of("torch")
    if "turned" not in rows.fused:
        Z = rows.at(torch.float32).Z
        padded = torch.zeros((Z.shape[1], -(-len(Z) // PADDED) * PADDED), device=Z.device)
        padded[:, : len(Z)] = Z.T
        rows.fused["turned"] = padded
    return rows.fused["turned"]
