"""``lanczos``: the smallest eigenvalues by products alone, as the largest of P(cI − M)P.

    c ≥ ‖M‖,  P = I − QQᵀ,      θ of M through its root (``ritz.py``),      floor  f = c − ceiling − ρ

For graphs whose factor would fill, as those of points in many dimensions do: there gaps are wide, and a few dozen
products reach them. What the chain says of eigenvalues that it missed holds with probability 1 − 1e-9.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz._core.linalg import orth, to_numpy
from ritz._core.tolerance import rounding
from ritz.operators.deflated import Reversed
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.lanczos import lanczos
from ritz.spectral.solvers.smallest.entries import Entries, U
from ritz.spectral.solvers.smallest.found import Found
from ritz.spectral.solvers.smallest.ritz import Null, off, ritz

__all__ = ["far"]

#: Share of ``tol`` that the search is run to: its residuals are measured by c, and angles by gaps.
SHARE = 1e-2


def far(problem: SpectralProblem, entries: Entries, null: Null) -> Found:
    """The k smallest pairs off the null vectors."""
    unit2, p = entries.unit**2, entries.p
    top = entries.norm * unit2
    M = Reversed(problem.operator, top, null.Q)
    asked = replace(problem, operator=M, which="largest", null=None, tol=max(SHARE * problem.tol, 1e-13), watch=None)
    found = lanczos(asked, M)
    V = np.linalg.qr(off(np.asarray(orth(to_numpy(found.vectors))), null.Q))[0]
    pairs, said = ritz(entries, null, V), found.completeness
    noise = rounding(p, U) * 3 * entries.norm + 2 * null.product + entries.noise * (2 * np.sqrt(entries.norm) + 1)
    floor = entries.norm - said.ceiling / unit2 - noise
    words = said.words.replace("larger", "smaller")
    return Found(
        pairs, null, pairs.theta.shape[0], float(floor), said.failure, words, entries.unit, entries.norm,
        found.iterations, tuple(found.notes),
    )  # fmt: skip
