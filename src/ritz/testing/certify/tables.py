"""Tables that break one assumption about rounding each, with a truth that does not need all their rows.

    repeated   m distinct rows Tᵢ, the i-th cᵢ times: XᵀX = Tᵀ diag(c) T, so the truth is that of T with weights c.
               Long sums of equal numbers round in one direction; where the rows stand decides who sees them.
    alike      one batch, fed or merged thousands of times: the same with c = times
    chosen     the leading direction is orthogonal to the Gaussian block that a public seed draws
    integers   whole numbers of every width, far from zero: `ritz.testing.known.known_integers`

The order of ``repeated`` rows: ``sorted`` as they come, ``zeros`` half of the table is zero and stands first, ``late``
the largest rows stand at the end, ``shuffled``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ritz._core.random import gaussian_rows
from ritz.testing.spectra import spectrum

__all__ = ["BATCH", "ORDERS", "VALUES", "chosen", "distinct", "repeated"]

Array = np.ndarray[Any, Any]

#: Numbers that columns are made of: none has a short binary expansion, so every sum of them rounds.
VALUES = {"sevenths": 0.7, "tenths": 0.1, "thirds": 1 / 3, "thousandths": 1e-3, "idf": 5.247024072160486}
ORDERS = ("sorted", "zeros", "late", "shuffled")
#: Rows of a batch that is fed or merged over and over.
BATCH = 6
#: Columns of the public block that a chosen direction is orthogonal to: more than any solver of few components draws.
BLOCK = 32


@lru_cache(maxsize=4)
def distinct(kind: str, n: int, d: int, seed: int, dtype: str, order: str, few: bool) -> tuple[Array, Array]:
    """The distinct rows (m×d) and how often each stands in the table of n rows."""
    rng = np.random.default_rng(seed)
    m = BATCH if few else int(rng.integers(2, 25))
    signs = rng.choice([-1.0, 0.0, 1.0, 1.0], (m, d))
    signs[0, 0] = 1.0
    rows = (signs * VALUES[kind] * rng.choice([1.0, 1.0, 1.0, 0.5, 3.0], d)).astype(dtype)
    free = n // 2 if order == "zeros" else n
    share = rng.dirichlet(np.full(m, 0.4)) if not few else np.full(m, 1 / m)
    counts = np.maximum(1, np.floor(share * free)).astype(np.int64)
    counts[int(np.argmax(counts))] += free - int(counts.sum())
    if order == "zeros":
        rows, counts = np.concatenate([np.zeros((1, d), dtype), rows]), np.append(n - free, counts)
    if order == "late":
        ranks = np.argsort(np.linalg.norm(rows, axis=1), kind="stable")
        rows, counts = rows[ranks], counts[ranks]
    return rows, counts


def repeated(rows: Array, counts: Array, order: str, seed: int, sparse: bool) -> Any:
    """The table itself, dense or CSR."""
    place = np.repeat(np.arange(len(rows)), counts)
    if order == "shuffled":
        place = np.random.default_rng(seed + 5).permutation(place)
    if not sparse:
        return rows[place]
    from scipy import sparse as sp

    return sp.csr_matrix(rows)[place]


def chosen(kind: str, n: int, d: int, seed: int, state: int, cond: float, dtype: str) -> Array:
    """Rows whose leading right (tall) or left (wide) singular vector is orthogonal to what ``state`` draws.

    Behind it follow values of at most 0.95, so that what rounding leaves of the leading one in the block has no chance
    to grow within a few products.
    """
    rng = np.random.default_rng(seed)
    r, p = min(n, d), d if n >= d else n
    sigma = 0.95 * spectrum(kind, r - 1, cond=cond, seed=seed) if r > 1 else np.zeros(0)
    block = gaussian_rows(state, 1, 0, p, min(BLOCK, p - 2))
    around = np.c_[np.ones(p), block] if n < d else block  # the rows' means are taken off
    first = _off(rng.standard_normal((p, 1)), around)
    inner = _completed(first, r, rng)
    outer = np.linalg.qr(_off(rng.standard_normal((max(n, d), r)), np.ones((max(n, d), 1)) if n >= d else None))[0]
    left, right = (outer, inner) if n >= d else (inner, outer)
    return ((left * np.append(1.0, sigma)) @ right.T).astype(dtype)


def _off(W: Array, basis: Array | None) -> Array:
    if basis is None:
        return W
    Q = np.linalg.qr(basis)[0]
    for _ in range(3):
        W = W - Q @ (Q.T @ W)
    return W / np.linalg.norm(W, axis=0)


def _completed(first: Array, r: int, rng: np.random.Generator) -> Array:
    """Orthonormal columns that begin with ``first``."""
    Q = np.linalg.qr(np.c_[first, rng.standard_normal((first.shape[0], r - 1))])[0]
    return Q * np.append(np.sign(Q[:, 0] @ first[:, 0]), np.ones(r - 1))
