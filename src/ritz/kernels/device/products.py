"""``K V`` on a device, by fused kernels or by tiles.

level    fused                 by tiles
half     float16               float32
single   pairs of float16      float32, summed in float64
double   –                     float64
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ritz._core.fitting import DoesNotFit
from ritz._core.imports import module_of
from ritz.kernels.device.fused import fits, fusable, fused_product
from ritz.kernels.device.rows import DeviceRows, Part
from ritz.kernels.device.tiles import tile

__all__ = ["coarse", "product", "wide_product"]

#: Bytes of a tile, and columns whose products are summed in the precision of the tile.
TILE_BYTES, COLUMNS = 1 << 28, 1 << 14
#: Bytes of rows in float64 that are kept between products with few of them.
KEPT_BYTES = 1 << 30


def coarse(rows: DeviceRows) -> bool:
    """Whether there are products that are cheaper than ``single`` ones."""
    return fusable(rows.kernel, rows) and fits(rows.kernel, rows, "half")


def product(A: DeviceRows, B: DeviceRows, V: Any, level: str) -> Any:
    """``k(A, B) V`` (m, l) in float64."""
    if level != "double" and fusable(A.kernel, A) and all(fits(A.kernel, rows, level) for rows in (A, B)):
        with suppress(DoesNotFit):
            return fused_product(A, B, V, level)
    return _tiled(A, B, V, module_of("torch").float64 if level == "double" else module_of("torch").float32)


def _tiled(A: DeviceRows, B: DeviceRows, V: Any, dtype: Any) -> Any:
    torch = module_of("torch")
    left, right, W = A.at(dtype), B.at(dtype), V.to(dtype)
    out = torch.zeros((A.n, V.shape[1]), dtype=torch.float64, device=V.device)
    columns = min(COLUMNS, max(B.n, 1))
    rows = max(64, TILE_BYTES // (8 * columns))
    for i in range(0, A.n, rows):
        some = slice(i, min(i + rows, A.n))
        for j in range(0, B.n, columns):
            others = slice(j, min(j + columns, B.n))
            out[some] += tile(left[some], right[others]) @ W[others]
    return out


def wide_product(A: DeviceRows, few: Part, V: Any) -> Any:
    """Some rows of k(A, A) V in float64, (m, l); ``few``: these rows of A, in float64."""
    torch = module_of("torch")
    whole = A.at(torch.float64) if 8 * A.X.numel() <= KEPT_BYTES else None
    out = torch.zeros((len(few), V.shape[1]), dtype=torch.float64, device=A.X.device)
    columns = max(COLUMNS, TILE_BYTES // (8 * max(len(few), 1)))
    for j in range(0, A.n, columns):
        others = slice(j, min(j + columns, A.n))
        rest = A.few(others, torch.float64) if whole is None else whole[others]
        out += tile(few, rest) @ V[others].to(torch.float64)
    return out
