"""The key of a table on a device: the sums of ``passes/keys.py`` in integers of 64 bits, which wrap around alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block

__all__ = ["MarginsThere"]

#: The constants of ``passes/keys.py`` as signed integers, and the bits that a logical shift by 31 leaves.
STEP, MIX = 0x9E3779B97F4A7C15 - 2**64, 0xBF58476D1CE4E5B9 - 2**64
SHIFT, LEFT = 31, 2**33 - 1
#: Which rows have a part in the sums of the columns, and bytes of words that are summed at once.
EVERY, PIECE_BYTES = 8, 256 << 20


class MarginsThere(Sums):
    """Row and column sums of the words of a table, over blocks of tensors."""

    THERE = True
    SUMS = ("columns", "rows")

    def __init__(self, d: int) -> None:
        self.columns, self.rows = np.zeros(d, np.uint64), np.zeros(1, np.uint64)

    def height(self, d: int) -> int | None:
        """Rows of the blocks that it takes: the usual ones."""
        return None

    def close(self) -> None:
        """Everything is on the host already."""

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        import torch

        x = block.values
        if x.layout is not torch.strided:
            words = _words(x.values())
            words = (words ^ ((words >> SHIFT) & LEFT)) * (_mixed((x.col_indices().to(torch.int64) + 1) * STEP) | 1)
            ends = torch.nn.functional.pad(torch.cumsum(words, 0), (1, 0))
            at = x.crow_indices().to(torch.int64)
            self._add(ends[at[1:]] - ends[at[:-1]], block.start)
            return
        step = max(EVERY, PIECE_BYTES // (8 * max(1, int(x.shape[1]))))
        for i in range(0, int(x.shape[0]), step):
            words = _words(x[i : i + step])
            first = block.start + i
            self.columns += words[-first % EVERY :: EVERY].sum(dim=0).cpu().numpy().view(np.uint64)
            self._add(words.sum(dim=1), first)

    def _add(self, sums: Any, start: int) -> None:
        import torch

        places = torch.arange(start + 1, start + 1 + len(sums), dtype=torch.int64, device=sums.device)
        self.rows += _mixed(sums + places * STEP).sum().reshape(1).cpu().numpy().view(np.uint64)


def _words(x: Any) -> Any:
    """The bits of the numbers as float64."""
    import torch

    return x.to(torch.float64).contiguous().view(torch.int64)


def _mixed(words: Any) -> Any:
    words = (words ^ ((words >> SHIFT) & LEFT)) * MIX
    return words ^ ((words >> SHIFT) & LEFT)
