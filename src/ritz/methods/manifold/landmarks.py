"""Landmarks: m of n rows are mapped, all rows are placed by their distances to these. [DST04]

What that costs is estimated from the distances of some further rows s to all n. With V an orthonormal basis of the map

    −½ d²ᵢ V ≈ vᵢᵀH + c  for the s rows, by least squares,       ‖GV − VH‖_F² ≈ n/(s − k − 1) Σ ‖−½ d²ᵢ V − vᵢᵀH − c‖²

and the residual is told relative to ‖H‖₂: what ‖Mv − θv‖/θ₁ is for a map that was solved exactly.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.random import seed_of

__all__ = ["chosen", "estimated_residual", "landmarks_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Rows whose distances to all others are looked at for the estimate.
SAMPLED = 64


def chosen(landmarks: Any, n: int, k: int, random_state: Any) -> Places:
    """Row numbers of landmarks, increasing: so many drawn at random, or those given."""
    if isinstance(landmarks, numbers.Integral) and not isinstance(landmarks, bool):
        m = int(landmarks)
        if not k < m <= n:
            raise ParameterError(
                f"landmarks must be more than n_components={k} and at most n_samples={n}", received=f"landmarks={m}"
            )
        rng = np.random.default_rng(seed_of(random_state))
        return np.sort(rng.choice(n, m, replace=False)).astype(np.intp)
    rows = np.asarray(landmarks)
    fine = rows.ndim == 1 and rows.dtype.kind in "iu" and len(rows) > k
    if not fine or len(np.unique(rows)) < len(rows) or rows.min() < 0 or rows.max() >= n:
        raise ParameterError(
            f"landmarks must be a number, or more than {k} different row numbers below {n}",
            received=f"{landmarks!r}"[:80],
        )
    return np.sort(rows).astype(np.intp)


def landmarks_of(landmarks: Any, part: Places, n: int, k: int, random_state: Any) -> Places:
    """Places of landmarks within one component: its share of the number, or those given that lie in it."""
    taken = chosen(landmarks, n, k, random_state)
    if len(part) == n:
        return taken
    if not isinstance(landmarks, numbers.Integral):
        inside = np.flatnonzero(np.isin(part, taken))
        return chosen(inside, len(part), k, random_state)
    share = min(max(round(int(landmarks) * len(part) / n), k + 1), len(part))
    return chosen(share, len(part), k, random_state)


def estimated_residual(Y: Floats, between: Callable[[Places], Floats], random_state: Any) -> float:
    """Estimate of ‖GV − VH‖/‖H‖ for the map Y; ``between`` gives squared distances of rows to all, (s, n)."""
    n = len(Y)
    rows = np.random.default_rng([seed_of(random_state), 1]).choice(n, min(SAMPLED, n), replace=False).astype(np.intp)
    V = np.linalg.qr(Y - Y.mean(axis=0))[0]
    image = -0.5 * (between(rows) @ V)
    basis = np.column_stack([V[rows], np.ones(len(rows))])
    H = np.linalg.lstsq(basis, image, rcond=None)[0]
    left, free = image - basis @ H, max(len(rows) - basis.shape[1], 1)
    top = float(np.linalg.norm(H[:-1], 2))
    return float(np.sqrt(n / free) * np.linalg.norm(left)) / max(top, 1e-300)
