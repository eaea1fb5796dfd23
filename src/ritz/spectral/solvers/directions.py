"""``directions``: leading pairs of a scatter matrix that a state of frequent directions encloses.       [Lib13; GLPW16]

    L = H + X,  QᵀLQ − τ ⪯ S ⪯ QᵀHQ + Δ       L = YΘYᵀ,  v = Qᵀy                      H, X (m×m), Q (m×d) orthonormal

    values   θᵢ − τ ≤ λᵢ ≤ min(λᵢ(H) + Δ, θᵢ + ε)      ε = min(Δ, tr S − tr L) ≥ ‖S − QᵀLQ‖
    vectors  ‖Sv − θv‖ = ‖Ev‖ ≤ √(ε·vᵀEv),  vᵀEv ≤ Δ − yᵀXy                             E = S − QᵀLQ ⪰ 0 but for τ

Everything is in the two small matrices; nothing of the rows is needed. A direction of zeros stands where fewer were
kept than are wanted.
"""

from __future__ import annotations

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.linalg import Floats
from ritz._core.tolerance import solving
from ritz.operators.base import Operator
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem

__all__ = ["DIRECTED", "directions"]

#: Why no larger eigenvalue was missed.
DIRECTED = "frequent directions bound what was left out"


def directions(problem: SpectralProblem, M: Operator) -> Pairs:
    """Approximate leading pairs with the enclosures that the state proves."""
    E, d = M.enclosed(), M.shape[0]
    if E is None:
        raise TypeError("directions are found for operators that tell what encloses them")
    core = E.high + E.spare
    theta, Y = np.linalg.eigh(core) if len(core) else (np.zeros(0), np.zeros((0, 0)))
    theta, Y = theta[::-1], Y[:, ::-1]
    higher = np.linalg.eigvalsh(E.high)[::-1] if len(core) else np.zeros(0)
    trace, top = float(M.trace() or 0.0), float(np.max(theta, initial=0.0))
    noise = E.noise + solving(d, 2.0**-53) * top + 8 * 2.0**-53 * trace
    beyond = max(trace - float(np.sum(theta)), 0.0) + E.width * (E.ridge + 2 * E.noise)
    most = min(E.lost, beyond) + E.ridge  # ‖E‖ but for the noise
    values = np.maximum(theta - E.ridge, 0.0)
    k = _count(problem, values, trace)
    m = max(k + 1, len(values))
    values, higher = (np.pad(x, (0, m - len(x))) for x in (values, np.maximum(higher, 0.0)))
    upper = np.maximum(np.minimum(higher + E.lost, values + E.ridge + most), values)
    spare = np.clip(E.lost - np.einsum("ij,ij->j", Y, E.spare @ Y), 0.0, most)
    along = np.maximum(np.pad(spare, (0, m - len(spare)), constant_values=most) + E.ridge, upper - values)
    residuals = np.sqrt(most + noise) * np.sqrt(np.minimum(along, most) + noise) + E.ridge + noise
    residuals = np.maximum(residuals, upper - values)
    ceiling = float(upper[k]) + noise if k < d else -np.inf
    return Pairs(
        values[: max(k, len(theta))],
        _filled(E.basis.T @ Y[:, :k], k),
        residuals[None, :k],
        noise,
        Completeness("trace", ceiling, 0.0, DIRECTED),
        bool(np.max(residuals[:k], initial=0.0) <= problem.tol * values[0]) if values[0] > 0 else True,
        2.0**-53,
        "float64, one pass",
        1,
        estimate=float(np.sqrt(most) * np.sqrt(beyond)),
        upper=upper[:k] + noise,
        notes=("from frequent directions; the enclosures hold, the vectors are approximate",),
        positive=True,
    )


def _count(problem: SpectralProblem, values: Floats, trace: float) -> int:
    """How many: the number asked for, or what a rule decides from the values that are known."""
    if problem.rule is None:
        return min(problem.k, problem.operator.shape[0])
    known = np.asarray(values[: max(problem.rank, 1)], np.float64)
    decided = problem.rule.decide(problem.seen(known, trace, complete=len(values) >= problem.rank))
    if decided is None:
        raise ParameterError(
            "the directions that were kept must decide how many components there are",
            received=f"{len(values)} directions with {100 * float(np.sum(values)) / max(trace, 1e-300):.1f} % of the "
            "variance",
            hint="give a number of components: n_components=50",
        )
    return min(decided, len(values))


def _filled(V: Floats, k: int) -> Floats:
    """V (d, j) with k − j further orthonormal columns."""
    d, j = V.shape
    V, R = np.linalg.qr(V) if j else (V, np.zeros((0, 0)))
    V = V * np.where(np.diag(R) < 0, -1.0, 1.0)
    if j >= k:
        return np.asarray(V)
    more = np.random.default_rng(0).standard_normal((d, k - j))
    for _ in range(2):
        more = more - V @ (V.T @ more)
        more = np.linalg.qr(more)[0]
    return np.hstack([V, more])
