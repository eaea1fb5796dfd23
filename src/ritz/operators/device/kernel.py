"""The kernel matrix on a device, and its centred form: products in several precisions, their rounding measured.

    half     float16 products, for early steps (``coarsest``)
    mixed    rows in pairs of float16, the rest in float16: for vectors that enter the answer with a small share
    single   pairs of float16, or float32 tiles: what float32 rows are answered with
    double   float64 tiles

Nothing is kept of K but what one product with a vector of ones tells: row means r = K1/n and the grand mean g. Vectors
are float64 tensors on the device. A product is compared with rows of K that are formed in float64 there, as on the
processor (``operators/kernel_noise.py``): a certificate says what was measured, whatever computed it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ritz._core.device import within_memory
from ritz._core.imports import module_of
from ritz._core.keys import key_of_bytes
from ritz._core.linalg import Array, to_numpy
from ritz.kernels.base import Kernel
from ritz.kernels.device.fused import WIDEST
from ritz.kernels.device.products import coarse, product
from ritz.kernels.device.rows import DeviceRows
from ritz.kernels.device.tiles import diagonal
from ritz.operators.base import Operator
from ritz.operators.device.noise import Sampled, Sampling
from ritz.operators.kernel import KernelStatistics

__all__ = ["CenteredDeviceKernel", "DeviceKernel"]

#: Columns that cost no more than fewer: most of the time goes into distances.
LEAST_COLUMNS = 64
#: What products in float16 leave of a residual, in units of θ₁: with 3e-5 a kernel PCA of 1,048,576 rows ended them one
#: step of 0.7 s earlier, and took one of 1.0 s more in pairs of float16.
GRAIN = 1e-5
#: Rows from which a product takes longer than to draw the rows that it is checked by.
AHEAD = 1 << 17
#: dtype by which a level is known.
LEVELS = {
    "half": np.dtype(np.float16),
    "mixed": np.dtype(np.float16),
    "single": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}


@dataclass
class _Known:
    """What all precisions of one kernel matrix share."""

    statistics: KernelStatistics | None = None
    sampled: Sampled | Sampling | None = None
    diagonal: Any = None
    passes: int = 0


@dataclass
class _Noise:
    """Largest rounding of products so far, by level."""

    of: dict[str, float] = field(default_factory=dict)


class DeviceKernel(Operator):
    """``K`` (n×n) of rows on a device, never formed.

    Parameters
    ----------
    kernel : Kernel
        With numbers for all parameters.
    rows : DeviceRows
    level : "half", "single" or "double"
    """

    symmetric = True
    checkable = True

    def __init__(self, kernel: Kernel, rows: DeviceRows, level: str, place: Any) -> None:
        super().__init__((rows.n, rows.n), LEVELS[level])
        self.kernel, self.rows, self.level = kernel, rows, level
        self.positive = kernel.positive
        self.xp, self.device = place.xp, place.device
        self._known, self._noise, self._checked = _Known(), _Noise(), True
        self.grain = GRAIN if level == "half" else 0.0

    # products

    def _matmat(self, V: Array) -> Array:
        known, torch = self._known, module_of("torch")
        V = self.place.array(V, np.float64)
        learn = self.level in ("single", "double") and (
            known.statistics is None or known.statistics.dtype.itemsize < self.dtype.itemsize
        )
        known.passes += 1
        W = torch.cat([V, V.new_ones((len(V), 1))], dim=1) if learn else V
        ahead = self.shape[0] >= AHEAD
        if ahead and known.sampled is None:
            known.sampled = Sampling.begin(self.rows, self.diagonal())
        with within_memory(self.place, f"a product with the kernel matrix of {self.shape[0]:,} rows"):
            out = product(self.rows, self.rows, W, self.level)
        if ahead:
            self._sampled()  # while the device multiplies
        if learn:
            out, sums = out[:, :-1], out[:, -1]
            self._learn(sums)
        if self._checked:
            self.check(V, out)
        return out

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def _learn(self, sums: Array) -> None:
        means = to_numpy(sums / self.shape[0])
        self._known.statistics = KernelStatistics(
            means, float(np.mean(means)), to_numpy(self.diagonal()), float("inf"), self.dtype
        )

    def statistics(self) -> KernelStatistics:
        """Row means, grand mean and diagonal: from the products so far, or from one with a vector of ones."""
        if self._known.statistics is None:
            fine = self if self.level in ("single", "double") else self._at("single")
            fine.matmat(self.place.empty((self.shape[0], 0)))
        assert self._known.statistics is not None  # noqa: S101  (for the type checker)
        return self._known.statistics

    def diagonal(self) -> Any:
        """``[k(xᵢ, xᵢ)]`` (n,) in float64, on the device."""
        if self._known.diagonal is None:
            self._known.diagonal = diagonal(self.rows.at(module_of("torch").float32))
        return self._known.diagonal

    def check(self, V: Array, MV: Array, *, answer: int = 0, length: Any = None) -> None:
        sample = self._sampled()
        self._found(sample.of_product(MV, V, self.dtype, length))
        if answer:
            self._found(sample.of_answer(MV[:, :answer], V[:, :answer]))

    def _found(self, noise: float) -> None:
        self._noise.of[self.level] = max(self._noise.of.get(self.level, 0.0), noise)

    def _sampled(self) -> Sampled:
        sampled = self._known.sampled or Sampling.begin(self.rows, self.diagonal())
        self._known.sampled = sampled if isinstance(sampled, Sampled) else sampled.drawn()
        return self._known.sampled

    def measured(self) -> float | None:
        """Largest rounding of the products so far for a unit vector."""
        return self._noise.of.get(self.level, max(self._noise.of.values(), default=None))

    # precision

    def at(self, dtype: Any) -> DeviceKernel:
        level = {8: "double", 4: "single", 2: "half"}[np.dtype(dtype).itemsize]
        return self if level == self.level else self._at(level)

    def block_width(self, columns: int) -> int:
        return (
            max(LEAST_COLUMNS, 1 << (columns - 1).bit_length()) if columns <= WIDEST else -(-columns // WIDEST) * WIDEST
        )

    def coarsest(self) -> DeviceKernel:
        return self._at("half") if coarse(self.rows) else self.at(np.float32)

    def lean(self) -> DeviceKernel:
        return self._at("mixed").unchecked() if self.level == "single" and coarse(self.rows) else self

    def _at(self, level: str) -> DeviceKernel:
        other = DeviceKernel(self.kernel, self.rows, level, self.place)
        other._known, other._noise = self._known, self._noise
        return other

    def unchecked(self) -> DeviceKernel:
        other = self._at(self.level)
        other._checked, other._noise = False, _Noise()
        return other

    # words and figures

    def trace(self) -> float:
        return float(self.diagonal().sum())

    def centered(self) -> CenteredDeviceKernel:
        """``J K J``."""
        return CenteredDeviceKernel(self)

    def key(self) -> int:
        return key_of_bytes(repr(self.kernel), str(content_key(self.rows.X)))

    def gram_dtype(self) -> Any:
        return self.dtype

    def passes(self) -> int:
        return self._known.passes

    def keeps(self) -> bool:
        """Tiles are never kept."""
        return False

    def symbol(self) -> str:
        return "K"


def content_key(X: Any) -> int:
    """64 bits of the numbers of a tensor, the same on every device: Σ bits·odd number of the position, mod 2⁶⁴."""
    torch = module_of("torch")
    total, n = 0, len(X)
    for first in range(0, n, 1 << 18):
        piece = X[first : first + (1 << 18)].to(torch.float64).contiguous().view(torch.int64).reshape(-1)
        place = torch.arange(len(piece), device=X.device, dtype=torch.int64) + first * X.shape[1]
        mixed = (place * 0x1E3779B97F4A7C15 + 0x2545F4914F6CDD1D) | 1
        mixed ^= mixed >> 29
        total += int((piece * (mixed | 1)).sum().item())
    return total & 0xFFFFFFFFFFFFFFFF


class CenteredDeviceKernel(Operator):
    """``J K J`` with J = I − 11ᵀ/n."""

    symmetric = True
    checkable = True

    def __init__(self, inner: DeviceKernel) -> None:
        super().__init__(inner.shape, inner.dtype)
        self.inner, self.positive = inner, inner.positive
        self.xp, self.device, self.grain = inner.xp, inner.device, inner.grain

    def _matmat(self, V: Array) -> Array:
        V = self.place.array(V, np.float64)
        out = self.inner.matmat(V - V.mean(dim=0) if V.shape[0] else V)
        return out - out.mean(dim=0) if V.shape[0] else out

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def statistics(self) -> KernelStatistics:
        """Those of K; ``centered_trace`` is that of J K J."""
        return self.inner.statistics()

    def trace(self) -> float | None:
        """tr(JKJ); None for an indefinite kernel, whose trace bounds nothing, and before it is known."""
        return self.inner.statistics().centered_trace if self.positive else None

    def unchecked(self) -> CenteredDeviceKernel:
        return CenteredDeviceKernel(self.inner.unchecked())

    def block_width(self, columns: int) -> int:
        return self.inner.block_width(columns)

    def coarsest(self) -> CenteredDeviceKernel:
        return CenteredDeviceKernel(self.inner.coarsest())

    def lean(self) -> CenteredDeviceKernel:
        inner = self.inner.lean()
        return self if inner is self.inner else CenteredDeviceKernel(inner)

    def check(self, V: Array, MV: Array, *, answer: int = 0) -> None:
        V = self.place.array(V, np.float64)
        length = V.norm(dim=0)
        V = V - V.mean(dim=0)
        # what the second J took off, 1ᵀK/n times V, is the same for all rows: it is compared without it
        self.inner.check(V, MV, answer=answer, length=length)

    def at(self, dtype: Any) -> CenteredDeviceKernel:
        inner = self.inner.at(dtype)
        return self if inner is self.inner else CenteredDeviceKernel(inner)

    def measured(self) -> float | None:
        return self.inner.measured()

    def inflation(self) -> float:
        """n·g: the eigenvalue of the constant vector, which is rounded along with the rest until it is taken off."""
        stats = self.inner._known.statistics
        return 0.0 if stats is None else max(self.shape[0] * abs(stats.mean), 0.0)

    def key(self) -> int:
        return self.inner.key()

    def gram_dtype(self) -> Any:
        return self.inner.gram_dtype()

    def passes(self) -> int:
        return self.inner.passes()

    def keeps(self) -> bool:
        """Tiles are never kept."""
        return False

    def symbol(self) -> str:
        return "J K J"
