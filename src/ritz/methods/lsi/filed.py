"""Counts in files: the rows of a fit that its memory limit has no room for, weighted while they are read.

Shards of counts  →  sums of the words, shard by shard  →  row blocks of weights, read anew in every pass
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.memory import limit
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.passes.blocks import Block, are_blocks
from ritz.text.shards import Shards
from ritz.text.sums import Sums
from ritz.text.weights import Weighting

__all__ = ["entries_of", "learned", "squares_of", "streamed"]


def learned(rule: Weighting, counts: Shards) -> Weighting:
    """A weighting fitted to counts in files."""
    rule._check_parameters()
    rule.sums_ = Sums(0, 0.0, *(np.zeros(counts.d) for _ in range(3)))
    for rows in counts.rows():
        rule.sums_ = rule.sums_ + Sums.of(rows)
    return rule


def streamed(rule: Weighting, counts: Shards, memory: Any) -> StreamBlocks:
    """Row blocks of the weights of counts in files."""
    source: Any = counts.weighted(rule)
    return StreamBlocks(source, budget=limit(memory))


def entries_of(counts: Any, rows: Any) -> NDArray[np.int64]:
    """(n,) entries of every document."""
    return counts.entries if isinstance(counts, Shards) else np.diff(rows.indptr)


def squares_of(rows: Any) -> NDArray[np.float64]:
    """(n,) squared lengths of sparse rows."""
    if not are_blocks(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()

    def step(_scratch: dict[str, Any], block: Block) -> Any:
        return np.asarray(block.values.multiply(block.values).sum(axis=1), np.float64).reshape(-1, 1)

    return np.asarray(rows.map_rows(step, np.empty((rows.shape[0], 1)))[:, 0])
