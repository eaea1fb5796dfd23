"""Every numerical threshold of Ritz, by name, each with its reason.

``u`` is the unit round-off (half the machine epsilon): 1.1e-16 in float64, 6.0e-8 in float32.

The rounding allowance is the one modelling assumption of the certificate. A product ``ZᵀZ`` summed in blocks
of ``b`` rows has entrywise worst case ``b·u·|Z|ᵀ|Z|``, whose norm overshoots what happens by a factor of about
``d``. Rounding errors behave as independent, mean-zero perturbations [HM19]; then

    ‖fl(ZᵀZ) − ZᵀZ‖₂ ≲ u·λ₁·(√b + 2√d)          and        ‖fl(M)v − Mv‖ ≲ the same.

Random data stays near 4·u (tests/data/test_moments.py repeats that measurement); rows that repeat each other do not.
``ROUND_BASE`` and its kin were raised until no problem of the truth test exceeded them: allowances, not theorems.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "CHECKED_BASE",
    "CLUSTER_GAP",
    "CONSTANT",
    "DEFLATE",
    "NOISE_FLOOR",
    "REPAIR_PASSES",
    "REPAIR_SHARE",
    "ROUND_BASE",
    "ROUND_ROOT",
    "SAFE_RANGE",
    "SCALE_ERROR",
    "SIGN_TIE",
    "SOLVE_BASE",
    "SOLVE_ROOT",
    "TRUST",
    "checked",
    "constant_below",
    "defect_rounding",
    "rounding",
    "solving",
    "unit_roundoff",
]

#: Rounding allowance of products that are not checked, in units of u·λ₁: ROUND_BASE + ROUND_ROOT·√d.
ROUND_BASE = 160.0
ROUND_ROOT = 2.0

#: The same where long sums were checked, or are short.
CHECKED_BASE = 100.0

#: The same where the rounding of the products themselves was measured: what is left is the dense eigenproblem. Random
#: matrices stay below 5; of graphs with one eigenvalue many times over 25 were seen for d = 19, 43 for d = 136
#: (tests/spectral/test_lapack_allowance.py repeats some of them).
SOLVE_BASE = 48.0
SOLVE_ROOT = 1.0

#: The direct routes promise |σ̂ − σ| ≤ 100·u·σ₁; a Gram matrix that may miss most of that is repaired.
TRUST = 80.0

#: Share of ``tol`` up to which every wanted singular value may be off, relative to itself, before it is read again:
#: nobody who asks for 1e-6 sees the tenth digit, and the second pass took most of the time of a fit of 10,000×100.
#: tol = 0 asks for all that arithmetic allows: no share of it.
REPAIR_SHARE = 1e-3

#: Scaled-Gram passes at most; two suffice for condition 1e14, the third confirms.
REPAIR_PASSES = 4

#: Standard deviation of a constant column of whole numbers, in units of what its mean is rounded to: √u and a margin.
WHOLE = 1e-6

#: Singular values below NOISE_FLOOR·u·√d·σ₁ are rounding noise: their directions are arbitrary in the null space.
NOISE_FLOOR = 4.0

#: A new Krylov direction whose square is below this share of its block's is rounding noise and dropped.
DEFLATE = 1e-13

#: Two components whose angle bound exceeds this sine are reported as one plane, not as two directions.
CLUSTER_GAP = 0.5

#: Allowance for a standard deviation whose squares were summed in short pieces. Seen over 20 draws of 2,048 rows: 2·u
#: on Gaussian, 3·u on indicator columns, 11·u on identical rows and on two values.
SCALE_ERROR = 30 * 2.0**-53

#: Entries within this relative distance of the largest magnitude tie in the sign rule; the first one decides.
SIGN_TIE = 1e-6

#: Magnitudes whose fourth powers, summed over a large table, neither overflow nor underflow: in float32, in float64.
SAFE_RANGE = (1e-8, 1e8), (1e-60, 1e60)

#: A column whose spread is below this multiple of u times its mean is constant up to its own rounding.
CONSTANT = 8.0


def constant_below(mean: Any, integers: bool) -> Any:
    """Standard deviations (d,) up to which columns with these means are constant, their entries rounded.

    Whole numbers are exact beyond 2⁵³ as well: only their sums about a rounded mean are not.
    """
    size = np.abs(np.asarray(mean, np.float64))
    usual = CONSTANT * 2.0**-53 * size
    return np.minimum(usual, WHOLE * np.maximum(1.0, np.spacing(size))) if integers else usual


def defect_rounding(d: int) -> float:
    """What |VᵀV − I| may be off: sums of unit vectors in pieces of 128 at most, sixteen of these, then one by one."""
    return 2.0**-53 * (min(d, 128) + 16 + d / 1024)


def unit_roundoff(dtype: Any) -> float:
    """Half the machine epsilon of a floating dtype; 2⁻⁵³ for anything that is not floating."""
    kind = np.dtype(dtype)
    return float(np.finfo(kind).eps) / 2 if kind.kind == "f" and kind.itemsize >= 4 else 2.0**-53


def rounding(d: int, u: float) -> float:
    """Relative rounding allowance ``ρ/λ₁`` of products with a d×d Gram matrix."""
    return u * (ROUND_BASE + ROUND_ROOT * math.sqrt(d))


def solving(d: int, u: float) -> float:
    """Relative allowance of a dense d×d eigenproblem whose matrix has a measured error."""
    return u * (SOLVE_BASE + SOLVE_ROOT * math.sqrt(d))


def checked(d: int, u: float) -> float:
    """Relative allowance of products whose long sums were measured or kept short."""
    return u * (CHECKED_BASE + ROUND_ROOT * math.sqrt(d))
