"""How many eigenvalues lie above a level: by inertia, or by a search from random numbers that nobody knows.

    inertia     M − τI = LDLᵀ has as many positive pivots as M has eigenvalues above τ (Sylvester); d ≤ 5,000
    deflated    otherwise Lanczos on (I − VVᵀ)M(I − VVᵀ) from a Gaussian start bounds what was missed  [KW92]

The start comes from the operating system: no table can have been made for it.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import scipy.linalg

from ritz._core.random import gaussian_rows
from ritz.spectral.verify.anew import Anew
from ritz.spectral.verify.fields import scaled

__all__ = ["count"]

#: Columns up to which eigenvalues are counted by an LDLᵀ factorisation.
INERTIA_LIMIT = 5000
#: Products of the deflated Lanczos check, its columns, and the probability with which it may fail.
STEPS, WIDTH, FAILURE = 24, 4, 1e-9
#: Which of the labelled enclosures are counted, from the first to the last.
SHARES = (0.0, 1 / 3, 2 / 3, 1.0)
#: How far the Lanczos bound may overshoot what it bounds.
SHARP = 1.5


def count(c: Any, a: Anew, slack: float, words: list[str]) -> tuple[int | None, float | None, bool]:
    """Eigenvalues above the enclosures and the ceiling: exactly, by inertia, or bounded by deflated Lanczos."""
    k = len(c.values)
    if k == 0:
        return 0, None, True
    if a.sigma is not None:
        above = int(np.count_nonzero(np.square(a.sigma) > scaled(c).upper[-1] + slack))
        words.append(f"decomposition: all {len(a.sigma)} singular values computed anew")
        return above, None, True  # truth.py has compared them all
    if a.d <= INERTIA_LIMIT:
        return _by_inertia(c, a, slack, words)
    s = scaled(c)
    seen, bound = _deflated(a)
    spread = float(np.linalg.norm(a.residuals))
    words.append(f"no eigenvalue above {bound * a.unit2:.6g} was missed, with probability 1 − {FAILURE:.0e}")
    if seen > s.ceiling + spread + 2 * slack:
        words.append(f"an eigenvalue of at least {seen * a.unit2:.6g} was missed, above the ceiling {c.ceiling:.6g}")
        return None, bound * a.unit2, False
    level = max(s.ceiling, float(s.values[-1])) if math.isfinite(s.ceiling) else math.inf
    sharp = bound <= level * SHARP or not bool(np.all(c.labelled))
    if not sharp:
        words.append("the search cannot exclude a missed eigenvalue above the ceiling")
    return None, bound * a.unit2, bool(sharp)


def _by_inertia(c: Any, a: Anew, slack: float, words: list[str]) -> tuple[int | None, float | None, bool]:
    """Labelled enclosures hold their eigenvalues: no more than i lie above the i-th, more than i above its foot."""
    s, M, right, above = scaled(c), a.A.gram(), True, None
    labelled = np.flatnonzero(c.labelled)
    few = sorted({int(labelled[round(share * (len(labelled) - 1))]) for share in SHARES}) if len(labelled) else []
    for i in few:
        above = _inertia(M, float(s.upper[i]) + 2 * slack)
        foot = float(s.lower[i]) - 2 * slack
        within = _inertia(M, foot) if foot > 0 else a.d  # M is positive semidefinite
        if not above <= i < within:
            right = False
            words.append(f"component {i + 1}: {above} eigenvalues above its enclosure, {within} above its lower end")
    if 0 <= s.ceiling < math.inf:
        beyond = _inertia(M, s.ceiling + 2 * slack)
        if beyond > len(c.values):
            right = False
            words.append(f"{beyond} eigenvalues above the ceiling {c.ceiling:.6g}, {len(c.values)} returned")
    if right and len(few):
        have = "1 enclosure has" if len(few) == 1 else f"{len(few)} enclosures have"
        places = "its place says" if len(few) == 1 else "their places say"
        words.append(f"inertia: {have} as many eigenvalues above and below as {places}")
    elif right:
        words.append("no enclosure is labelled by index, nothing to count")
    return above, None, right


def _inertia(M: Any, level: float) -> int:
    """Eigenvalues of M above ``level``: positive pivots of LDLᵀ(M − level·I)."""
    _, D, _ = scipy.linalg.ldl(M - level * np.eye(M.shape[0]), check_finite=False)
    number, i, d = 0, 0, D.shape[0]
    while i < d:
        if i + 1 < d and D[i + 1, i] != 0:
            number += int(np.count_nonzero(np.linalg.eigvalsh(D[i : i + 2, i : i + 2]) > 0))
            i += 2
        else:
            number += int(D[i, i] > 0)
            i += 1
    return number


def _deflated(a: Anew) -> tuple[float, float]:
    """The largest Ritz value of M outside span V, and what no eigenvalue there exceeds but for FAILURE."""
    V, d, seed = a.V, a.d, int.from_bytes(os.urandom(8), "little")
    Q, _ = np.linalg.qr(_off(gaussian_rows(seed, 7, 0, d, WIDTH), V))
    basis, image, largest = Q, np.empty((d, 0)), 0.0
    steps = max(2, min(STEPS, (d - V.shape[1]) // WIDTH))
    for _ in range(steps):
        image = np.hstack([image, _off(a.A.normal(basis[:, image.shape[1] :]), V)])
        largest = float(np.linalg.eigvalsh(basis.T @ image)[-1])
        Q, _ = np.linalg.qr(_off(image[:, -WIDTH:], np.hstack([V, basis])))
        basis = np.hstack([basis, Q])
    need = (math.log(1 / FAILURE) / WIDTH + math.log(1.648 * math.sqrt(d))) / (2 * steps - 1)
    return largest, float(largest / (1 - min(need, 0.99) ** 2))


def _off(W: Any, V: Any) -> Any:
    W = W - V @ (V.T @ W)
    return W - V @ (V.T @ W)
