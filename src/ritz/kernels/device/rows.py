"""Rows on a device as one kernel wants them.

    distance kernels   z = c(x − μ),  s = ‖z‖²/2          dot kernels   z = √γ x          cosine   z = x/‖x‖
    Laplacian          z = γ(x − μ)                        made of two   one of each

The mean μ (float64) is taken off before anything is rounded: distances do not feel it, but their digits do. Rows are
kept as they were given, by reference; those of another precision are made of them when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ritz._core.errors import InputError
from ritz._core.imports import module_of
from ritz.kernels.base import Kernel
from ritz.kernels.combine import Normalized, Product, Scaled, Sum
from ritz.kernels.device.turned import PrincipalAxes, axes_of
from ritz.kernels.distances import DistanceKernel
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.vectors import Cosine, DotKernel

__all__ = ["DeviceRows", "Part", "pieces", "served"]

#: Bytes of float64 rows that are made at a time.
PIECE_BYTES = 1 << 27
#: Smoothness of Matérn kernels that have a formula without a Bessel function.
PLAIN = (0.5, 1.5, 2.5, np.inf)


def served(kernel: Kernel) -> bool:
    """Whether a kernel can be computed on a device."""
    if isinstance(kernel, Matern):
        return kernel.nu in PLAIN
    if isinstance(kernel, (Sum, Product)):
        return served(kernel.left) and served(kernel.right)
    if isinstance(kernel, (Scaled, Normalized)):
        return served(kernel.kernel)
    return isinstance(kernel, (DistanceKernel, DotKernel, Laplacian))


@dataclass
class Part:
    """Rows of one kernel, or those of the kernels that it is made of."""

    kernel: Kernel
    Z: Any = None  # (n, d)
    half: Any = None  # (n,) ‖z‖²/2 of the rounded z, in float64; of distance kernels
    inner: tuple[Part, ...] = ()

    def __len__(self) -> int:
        return len(self.inner[0]) if self.Z is None else len(self.Z)

    def __getitem__(self, rows: Any) -> Part:
        half = None if self.half is None else self.half[rows]
        return Part(
            self.kernel, None if self.Z is None else self.Z[rows], half, tuple(part[rows] for part in self.inner)
        )


@dataclass
class DeviceRows:
    """Rows X (n, d) on a device, and what a kernel makes of them."""

    kernel: Kernel
    X: Any  # (n, d), as given
    shift: Any  # (d,) float64
    made: dict[Any, Part] = field(default_factory=dict)
    fused: dict[str, Any] = field(default_factory=dict)  # what the fused products keep (``fused.py``)
    like: DeviceRows | None = None  # the rows that these are compared with, whose mean and axes are theirs too

    @classmethod
    def of(cls, kernel: Kernel, X: Any, like: DeviceRows | None = None) -> DeviceRows:
        """Rows of a tensor; new rows are taken about the mean of the old ones."""
        if not bool(module_of("torch").isfinite(X).all()):
            raise InputError(
                "rows must be numbers",
                received="NaN or infinity on the device",
                hint="drop or fill such rows first, e.g. X[torch.isfinite(X).all(dim=1)]",
            )
        return cls(kernel, X, mean_of(X) if like is None else like.shift, like=like)

    def some(self, index: Any) -> DeviceRows:
        """Some of the rows, to be compared with all."""
        return DeviceRows(self.kernel, self.X[index].contiguous(), self.shift, like=self)

    def axes(self) -> PrincipalAxes:
        """The axes that fused products turn rows to (``turned.py``)."""
        if self.like is not None:
            return self.like.axes()
        if "axes" not in self.fused:
            Z = self.at(module_of("torch").float32).Z
            self.fused["axes"] = axes_of(Z, distances=isinstance(self.kernel, DistanceKernel))
        return cast(PrincipalAxes, self.fused["axes"])

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def at(self, dtype: Any) -> Part:
        """The rows in a precision, ready for tiles."""
        if dtype not in self.made:
            self.made[dtype] = part_of(self.kernel, self.X, self.shift, dtype)
        return self.made[dtype]

    def few(self, index: Any, dtype: Any) -> Part:
        """Some rows, ready for tiles; that their squares are finite was seen when all of them were prepared."""
        return part_of(self.kernel, self.X[index], self.shift, dtype, seen=bool(self.made))


def pieces(n: int, d: int) -> list[slice]:
    """Rows that are widened to float64 at a time."""
    step = max(1, PIECE_BYTES // (8 * max(d, 1)))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def mean_of(X: Any) -> Any:
    """Column means in float64, without a float64 copy of the rows."""
    torch = module_of("torch")
    total = torch.zeros(X.shape[1], dtype=torch.float64, device=X.device)
    for some in pieces(*X.shape):
        total += X[some].sum(dim=0, dtype=torch.float64)
    return total / max(X.shape[0], 1)


def part_of(kernel: Kernel, X: Any, shift: Any, dtype: Any, *, seen: bool = False) -> Part:
    """What a kernel makes of rows; ``seen``: that squares are finite need not be asked of the device."""
    if isinstance(kernel, (Sum, Product)):
        return Part(kernel, inner=tuple(part_of(k, X, shift, dtype, seen=seen) for k in (kernel.left, kernel.right)))
    if isinstance(kernel, (Scaled, Normalized)):
        return Part(kernel, inner=(part_of(kernel.kernel, X, shift, dtype, seen=seen),))
    torch, (n, d) = module_of("torch"), X.shape
    Z = torch.empty((n, d), dtype=dtype, device=X.device)
    half = torch.empty(n, dtype=torch.float64, device=X.device) if isinstance(kernel, DistanceKernel) else None
    for some in pieces(n, d):
        Z[some] = _scaled(kernel, X[some].to(torch.float64), shift)
        if half is not None:
            half[some] = 0.5 * Z[some].to(torch.float64).square().sum(dim=1)
    if half is not None and n and not seen and not bool(half.max() < torch.finfo(dtype).max / 16):
        raise InputError("squared distances must be finite", received="rows with huge values",
                         hint="scale the columns, or choose a smaller gamma")  # fmt: skip
    return Part(kernel, Z, half)


def _scaled(kernel: Kernel, rows: Any, shift: Any) -> Any:
    """z of float64 rows."""
    d = rows.shape[1]
    if isinstance(kernel, DistanceKernel):
        return (rows - shift) * kernel.scale_for(d)
    if isinstance(kernel, Laplacian):
        return (rows - shift) * kernel._gamma(d)
    if isinstance(kernel, Cosine):
        largest = rows.abs().amax(dim=1, keepdim=True) if d else rows.sum(dim=1, keepdim=True)
        rows = rows / largest.where(largest > 0, largest.new_ones(()))
        length = rows.square().sum(dim=1, keepdim=True).sqrt()
        return rows / length.where(length > 0, length.new_ones(()))
    return rows * kernel.scale_for(d) if isinstance(kernel, DotKernel) else rows
