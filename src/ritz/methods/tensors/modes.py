"""The spectral problem of one unfolding: leading right singular vectors, and what the others hold.       [VVM12]

    A (N×n), rows of an unfolding      A ≈ A V Vᵀ,  V (n×k)         τ² = Σ_{i>k} σᵢ²    what V leaves

Three routes. ``spectral``: :class:`ritz.SVD`, whose planner forms the n×n Gram matrix wherever that is cheapest,
repairs the digits that squaring costs and encloses every value; τ² is known to about 1e-15 of ‖A‖², so τ to 3e-8.
``qr``: where the error that is asked for, or that is left, is smaller than that, a tree of QR factorisations keeps all
rows in a triangle whose singular values are right to a few roundings of σ₁, and τ is the root of the sum of their
squares. ``gram``: a small unfolding in memory whose wanted values lie within LEVEL of σ₁, where squares cost no digit
that counts: the Gram matrix of the smaller side by itself, summed over PIECE rows at a time, and its eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MemoryLimitError
from ritz._core.factors import svd, triangle
from ritz._core.linalg import signs
from ritz._core.warn import unsaid
from ritz.methods.svd import SVD
from ritz.methods.tensors.source import is_mapped, pieces

__all__ = ["Mode", "fine", "solve_mode"]

Floats = NDArray[np.float64]

#: Share of ‖A‖² below which what is left is not told by squares of singular values.
COARSE = 1e-12
#: Share of ‖A‖² that rounding leaves of a matrix that has no more directions: it is not looked at more closely.
NOTHING = 1e-27
#: Columns up to which a triangle is decomposed.
TRIANGLE = 4_000
ROUND = 2.0**-53
#: Smaller side and entries of a small unfolding; rows of one product; how far its wanted values may differ.
SIDE, ENTRIES, PIECE, LEVEL = 128, 1 << 20, 512, 0.03


@dataclass(frozen=True)
class Mode:
    """What is known of one unfolding.

    Attributes
    ----------
    vectors : (n, k) orthonormal
    values : (m,) singular values that are known, k or more, decreasing
    left : Σ_{i>k} σᵢ² as computed
    left_low, left_high : what it is at least and at most, rounding included
    total : ‖A‖²
    route : ``spectral``, ``qr`` or ``gram``
    passes : over the rows
    certificate : of the k values, from the spectral route
    """

    vectors: Floats
    values: Floats
    left: float
    left_low: float
    left_high: float
    total: float
    route: str
    passes: int
    certificate: Any = None


def solve_mode(A: Any, k: int | None, budget: float | None, whole: float, options: dict[str, Any]) -> Mode:
    """Leading vectors of the rows A: ``k`` of them, or as many as leave no more than ``budget``.

    ``whole`` is ‖X‖² of the tensor, against which small is small; ``options`` are those of the solver.
    """
    n = min(A.shape)
    if whole == 0:
        k = 1 if k is None else min(k, n)
        return Mode(np.eye(A.shape[1])[:, :k], np.zeros(n), 0.0, 0.0, 0.0, 0.0, "spectral", 0)
    if k is None and budget is None:
        k = n
    if budget is not None and budget < COARSE * whole and A.shape[1] <= TRIANGLE:
        return fine(A, k, budget, options["room"])
    if k is not None and options["solver"] == "auto" and (found := _small(A, min(k, n), options)) is not None:
        return found
    try:
        found = _spectral(A, k, budget, whole, options)
    except MemoryLimitError:
        if 40 * A.shape[1] ** 2 > options["room"]:
            raise
        return fine(A, k, budget, options["room"])  # holds a triangle and a piece
    unsure = NOTHING * found.total < found.left < COARSE * found.total
    if unsure and found.vectors.shape[1] < n and A.shape[1] <= TRIANGLE:
        return fine(A, k, budget, options["room"])
    return found


def _small(A: Any, k: int, options: dict[str, Any]) -> Mode | None:
    """By the Gram matrix of the smaller side; None where that is not small, or squares would cost digits."""
    wide, small = A.shape[0] < A.shape[1], min(A.shape)
    if small > SIDE or A.size > ENTRIES or is_mapped(A):
        return None
    rows = np.asarray(A.T if wide else A, np.float64)
    G = np.zeros((small, small))
    for start in range(0, len(rows), PIECE):
        part = rows[start : start + PIECE]
        G += part.T @ part
    values, vectors = np.linalg.eigh(G)
    values, V = values[::-1], vectors[:, : -k - 1 : -1]
    total, left = float(np.trace(G)), float(np.sum(np.maximum(values[k:], 0.0)))
    level = options.get("level", LEVEL)
    if not values[k - 1] > level**2 * values[0] or (k < small and left < COARSE * total):
        return None
    if wide:
        V = _orthonormal(rows @ V)
    rounding = (PIECE + len(rows) / PIECE + 10 * small) * ROUND * total
    s = np.sqrt(np.maximum(values, 0.0))
    low, high = max(0.0, left - (k + 1) * rounding), left + (k + 1) * rounding
    if k == small:
        left = low = high = 0.0
    return Mode(np.ascontiguousarray(V * signs(V)), s, left, low, high, total, "gram", 1)


def _spectral(A: Any, k: int | None, budget: float | None, whole: float, options: dict[str, Any]) -> Mode:
    wanted: Any = k
    if k is None and budget is not None:
        share = 1.0 - budget / whole
        wanted = share if 0 < share < 1 else 1
    given = {name: options[name] for name in ("solver", "tol", "random_state", "memory", "progress")}
    with unsaid():
        model = SVD(wanted, mergeable=False, **given).fit(A)
    c = model.certificate_
    V = np.asarray(model.components_, np.float64).T
    if model.components_.dtype == np.float32 or c.orthogonality > 1e-13:
        V = _orthonormal(V)
    count, total = V.shape[1], float(c.total)
    rounding = A.shape[1] * float(c.rounding) + 1e-14 * total
    left = max(float(model._record.left), 0.0)
    low = max(0.0, total - float(np.sum(c.upper)) - rounding)
    high = left + rounding
    if count >= min(A.shape):
        left = low = high = 0.0
    values = np.sqrt(np.maximum(np.asarray(c.values, np.float64), 0.0))
    seen = model._record.seen_values
    if seen is not None and len(seen) > count:
        values = np.concatenate([values, np.sqrt(np.maximum(np.asarray(seen[count:], np.float64), 0.0))])
    return Mode(V, values, left, min(low, left) if left > 0 else 0.0, high, total, "spectral", int(c.passes), c)


def fine(A: Any, k: int | None, budget: float | None, room: float) -> Mode:
    """By a tree of QR factorisations, in one pass: small singular values keep digits that squares would lose."""
    R = np.zeros((0, A.shape[1]))
    for _, block in pieces(A, room):
        R = triangle(np.concatenate([R, block])) if len(R) else triangle(block)
    _, s, Vt = svd(R)
    tail = np.concatenate([np.cumsum(np.square(s[::-1]))[::-1], [0.0]])  # tail[i] = Σ_{j≥i} σⱼ²
    if k is None:
        k = max(1, int(np.argmax(tail <= budget)))
    k = min(k, len(s))
    V = Vt[:k].T * signs(Vt[:k].T)
    slack = (10 + A.shape[1]) * ROUND * float(np.sqrt(tail[0]))
    low = float(np.sum(np.square(np.maximum(s[k:] - slack, 0.0))))
    high = float(np.sum(np.square(s[k:] + slack)))
    return Mode(np.ascontiguousarray(V), s, float(tail[k]), low, high, float(tail[0]), "qr", 1)


def _orthonormal(V: Floats) -> Floats:
    Q, R = np.linalg.qr(V)
    return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0))
