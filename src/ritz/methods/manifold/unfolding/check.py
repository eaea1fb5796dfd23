"""The check of an unfolding against pairs that were measured anew, with nothing of the solvers.

    ‖z_i − z_j‖² ≤ c_a           for every pair, by differences of the stored points
    variance ≤ Σ‖z_i − z̄‖²,      Σ w_a c_a/λ ≤ bound
    λ ≤ λ₂(L(w))                 n ≤ 2,000: by LAPACK; otherwise one negative pivot of L(w) − λI, that of the ones, with
                                 the rows in an order of chance
"""

from __future__ import annotations

import os

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from ritz._core.tolerance import rounding
from ritz.methods.manifold.unfolding.pairs import Pairs
from ritz.spectral.verify.smallest import DENSE, _pivots

__all__ = ["check_unfolding"]

Floats = NDArray[np.float64]

#: Relative differences that rounding leaves, and how far below λ pivots are counted.
CLOSE, BELOW = 1e-9, 1e-7
U = 2.0**-53


def check_unfolding(
    pairs: Pairs, Z: Floats, w: Floats, told: tuple[float, float, float, float], equal: bool
) -> tuple[list[str], list[str]]:
    """What is wrong, and what was looked at; ``told``: variance, bound, λ, violation."""
    variance, bound, least, violation = told
    if len(w) != len(pairs) or len(Z) != pairs.n:
        return [f"weights of {len(w):,} pairs, and the rows have {len(pairs):,}: other rows, or other neighbours"], []
    if not (np.isfinite(Z).all() and np.isfinite(w).all()):
        return ["points or weights that are not finite"], []
    wrong = []
    square = np.array([np.sum((Z[i] - Z[j]) ** 2) for i, j in zip(pairs.i, pairs.j, strict=True)]) / pairs.unit**2
    excess = square / pairs.squares - 1
    off = float(np.max(np.abs(excess) if equal else excess))
    if off > (violation * (1 + 1e-6) if equal else 0.0) + CLOSE:
        wrong.append(f"a pair of rows is {off:.1e} of its squared distance too long in the map")
    own = float(np.sum(np.square(Z - Z.mean(axis=0))))
    if abs(own - variance) > CLOSE * own:
        wrong.append(f"the variance of the points is {own:.9g}, told {variance:.9g}")
    if not equal and bool(np.any(w < 0)):
        wrong.append("a weight is negative")
    if np.isfinite(bound):
        proved = float(w @ pairs.squares) / least * pairs.unit**2 if least > 0 else float("inf")
        if not proved <= bound * (1 + CLOSE):
            wrong.append(f"the weights prove a bound of {proved:.9g}, told {bound:.9g}")
        wrong += _second(pairs, w, least)
    words = [f"{len(pairs):,} pairs measured anew, the longest {off:+.1e}; smallest eigenvalue of the weights as told"]
    return wrong, words


def _second(pairs: Pairs, w: Floats, least: float) -> list[str]:
    """Whether λ₂(L(w)) is at least λ."""
    L, n = pairs.laplacian(w), pairs.n
    if n <= DENSE:
        P = scipy.linalg.qr(np.ones((n, 1)))[0][:, 1:]
        values = scipy.linalg.eigvalsh(P.T @ (L @ P)) if n > 1 else np.array([np.inf])
        if values[0] < least - 4 * rounding(n, U) * float(values[-1]):
            return [f"λ₂ of the weights is {values[0]:.12g}, told at least {least:.12g}"]
        return []
    share = 1 + int.from_bytes(os.urandom(4), "little") / 2**32
    below = _pivots(sp.csc_array(L), least * (1 - share * BELOW))
    if below is not None and below != 1:
        return [f"{below - 1} eigenvalues of the weights lie below {least:.12g}"]
    return []
