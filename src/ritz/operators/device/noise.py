"""The rounding of products with a kernel matrix on a device, measured there.

    rows i₁ … i_m with probabilities pᵢ       ⇒       ‖E V‖² = 𝔼 (1/m) Σ ‖eᵢV‖² / pᵢ            E = computed − exact

As ``operators/kernel_noise.py``, which says where the numbers come from: products are compared with rows k(xᵢ, ·) in
float64, half of the probability even, half where large errors are expected; rows drawn where an answer lives are
looked at too. J takes a constant off every column of a product, which no single row tells: it is estimated from the
sampled rows and taken off their differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ritz._core.imports import module_of
from ritz._core.linalg import to_numpy
from ritz.kernels.device.products import wide_product
from ritz.kernels.device.rows import DeviceRows, Part
from ritz.operators.kernel_noise import CHECKED, DRAWN, SAFETY, SURE, counted, systematic

__all__ = ["ROUNDOFF", "Sampled", "Sampling"]

#: u of the entries of K by dtype: float16 rows and values, pairs of float16, float64.
ROUNDOFF = {2: 2.0**-10, 4: 2.0**-22, 8: 2.0**-53}
#: Share of all rows that a vector lives on, (Σv²)²/Σv⁴, above which sampled rows do not miss it.
SPREAD = 0.1


@dataclass(frozen=True)
class Sampled:
    """Rows of K that products are checked by."""

    rows: DeviceRows
    index: np.ndarray  # (m,)
    share: np.ndarray  # (n,) m·pᵢ: how often a row is expected
    rough: Any  # (n,) ρ, on the device
    diagonal: Any  # (n,)

    @cached_property
    def _there(self) -> tuple[Any, Any, Part]:
        """Numbers, weights and the rows themselves, in float64, on the device."""
        torch, device = module_of("torch"), self.rows.X.device
        index = torch.as_tensor(self.index, device=device)
        weight = torch.as_tensor(1.0 / self.share[self.index], device=device)[:, None]
        return index, weight, self.rows.few(index, torch.float64)

    def of_product(self, product: Any, V: Any, dtype: np.dtype[Any], length: Any) -> float:
        """Largest ‖J(K̃v − Kv)‖/‖v‖ over the columns of V, from ``product`` = J K̃ V, or from K̃ V.

        ``length`` instead of ‖v‖: that of the vectors before their means were taken off.
        """
        if not V.shape[1]:
            return 0.0
        torch = module_of("torch")
        index, weight, few = self._there
        gap = product[index] - wide_product(self.rows, few, V)
        taken = (gap * weight).sum(dim=0) / weight.sum()
        seen = SAFETY * ((gap - taken) * weight.sqrt()).norm(dim=0)
        length = V.norm(dim=0) if length is None else length
        # how many rows a vector lives on: a sample sees one that is spread over more than a few of all
        squares = V.square()
        lives = squares.sum(dim=0).square() / squares.square().sum(dim=0).clamp(min=1e-300)
        local = lives < SPREAD * self.rows.n
        # both figures in one wait for the device, which was asked for all of this while it multiplied
        worst, some = torch.stack([_worst(seen, length), local.any().to(torch.float64)]).tolist()
        if not some:
            return float(worst)
        unseen = self._local(product - taken, V, ROUNDOFF[dtype.itemsize]) * local
        return float(_worst(torch.maximum(seen, unseen), length))

    def of_answer(self, product: Any, V: Any) -> float:
        """‖J(K̃V − KV)‖₂ of orthonormal columns, from the sampled rows and rows drawn where these columns live."""
        torch = module_of("torch")
        if not V.shape[1]:
            return 0.0
        leverage = to_numpy(V.square().sum(dim=1))
        drawn = systematic(leverage, DRAWN * V.shape[1])
        fresh = np.setdiff1d(drawn, self.index)
        index = np.concatenate([self.index, fresh])
        there, sampled = torch.as_tensor(index, device=V.device), self._there[1]
        gap = product[there] - wide_product(self.rows, self.rows.few(there, torch.float64), V)
        gap = gap - (gap[: len(self.index)] * sampled).sum(dim=0) / sampled.sum()
        times = np.concatenate([np.ones(len(self.index)), np.zeros(len(fresh))]) + counted(drawn, index)
        expected = self.share[index] + DRAWN * leverage[index] * V.shape[1] / max(float(leverage.sum()), 1e-300)
        weight = torch.as_tensor(np.sqrt(times / expected), device=V.device)[:, None]
        return SURE * float(torch.linalg.matrix_norm(gap * weight, 2))

    def _local(self, product: Any, V: Any, u: float) -> Any:
        """By how much K̃v may be off where v lives on so few rows that the sample misses them, (l,)."""
        own = self.diagonal[:, None] * V
        beside = ((product - own).abs() - 4 * u * own.abs()).clamp_(min=0.0)
        beside *= (u * self.rough).clamp(max=1.0)[:, None]
        return beside.norm(dim=0) + u * product.norm(dim=0)


def _worst(sizes: Any, length: Any) -> Any:
    """The largest size in units of a length; 0 where all lengths are."""
    torch = module_of("torch")
    one = length.new_ones(())
    return torch.where(length > 0, sizes / length.where(length > 0, one), 0 * one).amax()


@dataclass
class Sampling:
    """Rows of K to check products by, the same for every fit: what the device tells, then the draw on the host.

    The draw takes milliseconds, so it is made while the device multiplies: ``begin`` before that, ``drawn`` after.
    """

    rows: DeviceRows
    diagonal: Any
    rough: Any
    worst: np.ndarray | None  # (n,) ρ²|k(x, x)|; None where all rows are taken

    @classmethod
    def begin(cls, rows: DeviceRows, diagonal: Any) -> Sampling:
        """Ask the device for what the draw needs."""
        rough = roughness(rows.at(module_of("torch").float32))
        worst = None if rows.n <= CHECKED else to_numpy(rough.square() * diagonal.abs())
        return cls(rows, diagonal, rough, worst)

    def drawn(self) -> Sampled:
        """The rows."""
        n = self.rows.n
        if self.worst is None:
            return Sampled(self.rows, np.arange(n), np.ones(n), self.rough, self.diagonal)
        total = float(self.worst.sum())
        share = np.full(n, 1.0 / n) if not (np.isfinite(total) and total > 0) else 0.5 / n + 0.5 * self.worst / total
        share /= share.sum()
        index = np.sort(np.random.default_rng(0x52495A).choice(n, CHECKED, p=share))
        return Sampled(self.rows, index, CHECKED * share, self.rough, self.diagonal)


def roughness(part: Part) -> Any:
    """ρ (n,): entries are off by about u·(ρᵢ + ρⱼ)/2, as ``Kernel.roughness``."""
    if part.inner:
        return 1.0 + sum(roughness(each) for each in part.inner)
    torch = module_of("torch")
    if part.half is not None:
        return 1.0 + 4.0 * part.half
    return torch.ones(len(part.Z), dtype=torch.float64, device=part.Z.device)
