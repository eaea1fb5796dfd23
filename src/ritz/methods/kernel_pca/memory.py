"""What a kernel model needs besides the rows that are handed over, in bytes, and how a limit is shared out.

    rows      what the kernel prepares of them: scaled rows and norms, or counts of windows, in each precision used
    blocks    n×w blocks of vectors while products are made, sampled rows of K, the answer
    basis     n×c of block Krylov, c ≥ 3w           tiles     what is left: upper tiles of K that are kept
    dense     K, its symmetric part, its vectors and the work space of eigh
    landmarks the n×m factor while landmarks are chosen, m×m matrices, and blocks of features

Counts are from above: a limit is kept or refused before anything of the size of the limit is made. They were compared
with what processes added (tests/methods/test_kernel_pca_memory.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import MemoryLimitError
from ritz._core.threads import lane_count
from ritz.data.passes.blocks import block_rows
from ritz.kernels.base import Kernel
from ritz.kernels.rows import is_sparse
from ritz.methods.kernel_pca.input import len_of
from ritz.spectral import constants as c
from ritz.spectral import widths
from ritz.spectral.plan import over_memory, size_words

__all__ = ["Room", "for_features", "for_landmarks", "share_out"]

#: Buffers of lanes and of BLAS, whatever the rows.
BUFFERS = 16e6

#: Numbers a row: sampled rows of K in both precisions, blocks of w vectors at once, blocks of k vectors of the answer.
SAMPLED, BLOCKS, ANSWER = 96.0, 12.0, 22.0

#: Bytes a pair of rows for a dense decomposition: K, its symmetric part, vectors, and the work space of eigh.
DENSE = 64.0

#: Share of what is left that a basis may take, and how often it is held at worst, at large and where it is three
#: blocks: all of it may have settled, and is then combined in float64, as its image is.
BASIS, COPIES, SETTLED = 0.15, 4.0, 2.5

#: m×m matrices of float64 while features of m landmarks are made and their moments decomposed.
SQUARES = 20.0


@dataclass(frozen=True)
class Room:
    """How a limit is shared out."""

    dense: bool  # whether a dense decomposition keeps it
    cache: float  # bytes of tiles that may be kept
    basis: float  # bytes of a Krylov basis and its image


def share_out(kernel: Kernel, rows: Any, k: int, limit: float, *, dense: bool) -> Room:
    """Room for the exact routes; refused where neither fits, or where ``dense`` is asked for and does not."""
    n = len_of(rows)
    used = BUFFERS + prepared_bytes(kernel, rows)
    dense_bytes = used + DENSE * float(n) ** 2
    if dense and dense_bytes > limit:
        raise over_memory(limit, dense_bytes, " beyond the data")
    wide = k + widths.oversampling(k)
    fixed = used + 8.0 * n * (SAMPLED + BLOCKS * wide + ANSWER * k)
    least = 3 * 16.0 * n * min(wide, n)
    if fixed + SETTLED * least > limit and dense_bytes > limit:
        raise over_memory(limit, min(fixed + SETTLED * least, dense_bytes), " beyond the data")
    free = max(limit - fixed, least)
    basis = min(float(c.KRYLOV_BASIS_BYTES), max(least, BASIS * free))
    return Room(dense_bytes <= limit, min(0.5 * limit, max(free - COPIES * basis, 0.0)), basis)


def for_features(kernel: Kernel, rows: Any, limit: float) -> float:
    """What is left of the limit once explicit features are made; refused where nothing is."""
    if kernel.takes == "vectors":
        return limit
    need = BUFFERS + prepared_bytes(kernel, rows)
    if need > limit:
        raise MemoryLimitError(
            f"the fit must stay within memory={size_words(limit)}",
            received=f"strings whose windows take up to {size_words(need)} to count",
            hint=f"allow memory='{size_words(1.05 * need).replace(' ', '')}' or more, or give fewer strings",
        )
    return limit - 0.2 * need  # the features themselves; what finding them took is given back


def for_landmarks(kernel: Kernel, rows: Any, m: int, itemsize: int, limit: float) -> None:
    """Refuse a number of landmarks that the limit does not allow, and name one that it does."""
    n = len_of(rows)
    used = BUFFERS + prepared_bytes(kernel, rows)

    def need(count: float) -> float:
        block = lane_count() * 3 * 8.0 * block_rows(int(count)) * count
        return used + n * count * itemsize + SQUARES * 8 * count * count + min(block, 3 * 8.0 * n * count)

    if need(min(m, n)) <= limit:
        return
    fewer = m
    while fewer > 1 and need(fewer) > limit:
        fewer = int(0.8 * fewer)
    if need(fewer) > limit:
        raise over_memory(limit, need(1), " beyond the data")
    raise MemoryLimitError(
        f"the fit must stay within memory={size_words(limit)}",
        received=f"{m:,} landmarks, for which it needs {size_words(need(min(m, n)))}",
        hint=f"landmarks={fewer}, or memory='{size_words(1.05 * need(min(m, n))).replace(' ', '')}'",
    )


def prepared_bytes(kernel: Kernel, rows: Any) -> float:
    """Bytes of rows as the kernel wants them, and of making them so."""
    own = kernel.working_bytes(rows)
    if own is not None:
        return own
    if is_sparse(rows):
        return 4 * 16.0 * float(rows.nnz)
    if hasattr(rows, "shape") and kernel.takes == "vectors":
        n, d = rows.shape
        # a copy that the caller cannot change, rows scaled in both precisions
        return float(n) * (d + 2) * (2 * np.dtype(rows.dtype).itemsize + 12)
    if kernel.takes == "precomputed":
        return 16.0 * float(rows.shape[0]) ** 2  # whether it is symmetric is asked of all of it
    return 0.0
