"""``svd``: every eigenvalue off the null vectors, from a dense decomposition.

    B Q⊥ = Y Σ Wᵀ,  V = Q⊥ W        (p×p − m)      λ = σ²; where no root is known  Q⊥ᵀ M Q⊥ = W Λ Wᵀ

All pairs are measured like those of any other route (``ritz.py``), and none is left that could have been missed.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ritz.spectral.solvers.smallest.entries import Entries
from ritz.spectral.solvers.smallest.found import Found
from ritz.spectral.solvers.smallest.ritz import Null, ritz

__all__ = ["WHOLE", "whole"]

#: Why no eigenvalue is missing.
WHOLE = "the dense decomposition returns every eigenvalue"


def whole(entries: Entries, null: Null) -> Found:
    """All pairs off the null vectors."""
    V = np.eye(entries.p) if null.m == 0 else scipy.linalg.qr(null.Q, check_finite=False)[0][:, null.m :]
    pairs = ritz(entries, null, np.ascontiguousarray(V))
    return Found(pairs, null, pairs.theta.shape[0], np.inf, 0.0, WHOLE, entries.unit, entries.norm, 1)
