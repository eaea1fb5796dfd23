"""``lanczos``: the smallest eigenvalues by products alone, as the largest of P(cI − M)P.

    c ≥ ‖M‖,  P = I − QQᵀ,      θ of M through its root (``ritz.py``),      floor  f by a filter (``filtered.py``)

For graphs whose factor would fill, as those of points in many dimensions do: there gaps are wide, and a few dozen
products reach them. Some pairs more than were asked for are found, and where the widest gap follows, that none was
missed is proved with probability 1 − 1e-9: by the chain itself, or by a polynomial whose degree the gap decides. A gap
that would take too many products is not proved, and the certificate says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz._core.linalg import orth, to_numpy
from ritz._core.tolerance import rounding
from ritz.operators.deflated import Reversed
from ritz.spectral.certificate.completeness import FAILURE
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.lanczos import lanczos
from ritz.spectral.solvers.smallest.entries import Entries, U
from ritz.spectral.solvers.smallest.filtered import DEGREE, WORDS, degree_for, filtered_floor
from ritz.spectral.solvers.smallest.found import Found
from ritz.spectral.solvers.smallest.ritz import Null, Ritz, off, ritz

__all__ = ["far"]

#: Share of ``tol`` that the search is run to: its residuals are measured by c, and angles by gaps.
SHARE = 1e-2
#: Pairs beyond k that are found, for a gap among them.
SPARE = 4


def far(problem: SpectralProblem, entries: Entries, null: Null) -> Found:
    """The k smallest pairs off the null vectors."""
    unit2, p, k = entries.unit**2, entries.p, problem.k
    top = entries.norm * unit2
    M = Reversed(problem.operator, top, null.Q)
    more = min(k + SPARE, p - null.m)
    asked = replace(
        problem, operator=M, k=more, which="largest", null=None, tol=max(SHARE * problem.tol, 1e-13), watch=None
    )  # fmt: skip
    found = lanczos(asked, M)
    V = np.linalg.qr(off(np.asarray(orth(to_numpy(found.vectors))), null.Q))[0]
    every, said = ritz(entries, null, V), found.completeness
    noise = rounding(p, U) * 3 * entries.norm + 2 * null.product + entries.noise * (2 * np.sqrt(entries.norm) + 1)
    floor = entries.norm - said.ceiling / unit2 - noise
    words, failure, pairs = said.words.replace("larger", "smaller"), said.failure, every
    if not floor > float(every.bounds()[1][-1]):
        proved = _filtered(problem, entries, null, every, _widest(every, k))
        if proved is not None:
            pairs, floor, words, failure = *proved, WORDS, FAILURE
    return Found(
        pairs, null, pairs.theta.shape[0], float(floor), failure, words, entries.unit, entries.norm,
        found.iterations, notes=tuple(found.notes),
    )  # fmt: skip


def _widest(pairs: Ritz, k: int) -> int:
    """How many pairs, at least k, the widest gap follows."""
    gaps = np.diff(pairs.theta)[k - 1 :]
    return k + int(np.argmax(gaps)) if len(gaps) else k


def _filtered(
    problem: SpectralProblem, entries: Entries, null: Null, every: Ritz, many: int
) -> tuple[Ritz, float] | None:
    """The first pairs and a floor above them; None where the gap is too narrow to be worth the products."""
    if many >= every.theta.shape[0]:
        return None
    edge = float(every.theta[many])
    degree = degree_for(edge - float(every.theta[many - 1]), entries.p, edge, entries.norm)
    if degree > DEGREE:
        return None
    pairs = ritz(entries, null, every.V[:, :many])
    floor = filtered_floor(entries, null, pairs, edge, degree, problem.start)
    return (pairs, floor) if floor > float(pairs.bounds()[1][-1]) else None
