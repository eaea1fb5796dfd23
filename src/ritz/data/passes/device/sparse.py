"""The moment pass over CSR tensors: m = Σwz, q = Σwz², S = Σwzzᵀ with z = x/unit; the shift is zero.

    m, q     sums of entries by column, in float64
    S        products of dense pieces in float64, 64 rows at a time: a device multiplies zeros as fast as it finds them

Sums in short pieces are as those of ``better``, and so is their rounding: at most SHORT_NOISE·u·λ₁. Whole numbers whose
sums stay below 2⁵³ do not round at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import two_sum
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block
from ritz.data.passes.device.exact import exact
from ritz.data.passes.device.rounding import better_there

__all__ = ["SparseDevicePass", "tree_sums"]

#: Bytes of rows that are made dense at once.
DENSE_BYTES = 256 << 20
#: Entries of a column that are added one after the other.
CHAIN = 64


class SparseDevicePass(Sums):
    """Accumulators over CSR blocks of tensors."""

    THERE = True
    SUMS = ("m", "m_low", "q", "q_low", "S", "blocks", "inexact")

    def __init__(
        self, shift: NDArray[Any], unit: float, weights: NDArray[Any] | None, dtype: np.dtype[Any], products: bool,
        short: bool = False, rows: int = 0,
    ) -> None:  # fmt: skip
        d = shift.shape[0]
        self.unit, self.weights, self.products = unit, weights, products
        self.m, self.m_low, self.q, self.q_low = (np.zeros(d) for _ in range(4))
        self.S = np.zeros((d, d)) if products else None
        self.blocks = self.inexact = 0
        self._sums: dict[str, Any] = {}

    def height(self, d: int) -> int | None:
        """Rows of the blocks that it takes: the usual ones."""
        return None

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        import torch

        x = block.values
        with exact(x.device):
            w = None if self.weights is None else torch.as_tensor(self.weights[block.rows], device=x.device)
            ends, columns, values = x.crow_indices(), x.col_indices(), x.values().to(torch.float64) / self.unit
            self.inexact += w is not None or not bool((values == torch.round(values)).all())
            each = values if w is None else values * torch.repeat_interleave(w.to(torch.float64), ends[1:] - ends[:-1])
            self._add("m", _by_column(columns, each, x.shape[1]))
            self._add("q", _by_column(columns, each * values, x.shape[1]))
            if self.products:
                self._form(x, w)
        self.blocks += 1

    def _form(self, x: Any, w: Any) -> None:
        import torch

        from ritz.data.engines.device.blocks import csr_slice

        n, d = (int(side) for side in x.shape)
        step = max(64, DENSE_BYTES // (8 * d) // 64 * 64)
        for start in range(0, n, step):
            stop = min(start + step, n)
            z = csr_slice(x, start, stop).to_dense().to(torch.float64) / self.unit
            z = z if w is None else z * torch.sqrt(w[start:stop].to(torch.float64))[:, None]
            self._add("S", better_there(z))

    def _add(self, name: str, part: Any) -> None:
        high, low = self._sums.get(name, (part.new_zeros(part.shape), part.new_zeros(part.shape)))
        high, rest = two_sum(high, part)
        self._sums[name] = (high, low + rest)

    def close(self) -> None:
        """Bring the sums to the host."""
        for name, (high, low) in self._sums.items():
            mine: Any = getattr(self, name)
            high, low = two_sum(high, low)
            mine += high.cpu().numpy()
            if name != "S":
                getattr(self, f"{name}_low")[...] += low.cpu().numpy()
        self._sums = {}

    def finish(self) -> NDArray[np.float64]:
        """S; its diagonal from the sums of squares."""
        S = np.asarray(self.S)
        np.fill_diagonal(S, self.q + self.q_low)
        return S


def _by_column(columns: Any, values: Any, d: int) -> Any:
    """(d,) sums of entries by column in float64, each a tree: entries are laid side by side by a stable sort."""
    import torch

    return _tree(values[torch.argsort(columns, stable=True)], torch.bincount(columns, minlength=d))


def tree_sums(rows: Any, v: Any) -> Any:
    """``X v`` (n,) of CSR rows in float64, the sum of every row a tree."""
    import torch

    ends = rows.crow_indices()
    return _tree(rows.values().to(torch.float64) * v[rows.col_indices()], ends[1:] - ends[:-1])


def _tree(values: Any, counts: Any) -> Any:
    """Sums of stretches of ``counts`` numbers, at most CHAIN of them one after the other."""
    import torch

    counts = counts.to(torch.int64)
    while int(counts.max()) > CHAIN:
        chains = (counts + CHAIN - 1) // CHAIN
        lengths = torch.full((int(chains.sum()),), CHAIN, device=values.device)
        there = chains > 0
        lengths[torch.cumsum(chains, 0)[there] - 1] = (counts - CHAIN * (chains - 1))[there]
        values, counts = torch.segment_reduce(values, "sum", lengths=lengths, unsafe=True), chains
    return torch.segment_reduce(values, "sum", lengths=counts, unsafe=True)
