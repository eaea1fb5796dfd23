"""``sketch``: a Nyström approximation of M from a single product, with its error.   [Tropp17; ET24]

    Y = MΩ,   Y_ν = Y + νΩ,   M̂ = Y_ν (ΩᵀY_ν)⁻¹ Y_νᵀ − νI  =  B Bᵀ − νI,   B = Y_ν C⁻¹,  CᵀC = ΩᵀY_ν

M̂ ⪯ M up to the shift ν ≈ u‖Y‖, so every eigenvalue is enclosed:  λ̂ᵢ ≤ λᵢ ≤ λ̂ᵢ + (tr M − tr M̂).
Leave-one-out: column i of Ω is independent of the approximation without it, whose error on it is known in closed
form, ‖(M − M̂₍ᵢ₎)ωᵢ‖ = ‖Y P eᵢ‖/Pᵢᵢ with P = (ΩᵀY)⁻¹; the mean of the squares estimates ‖M − M̂‖²_F.
"""

from __future__ import annotations

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.factors import svd
from ritz._core.linalg import (
    Array,
    eigh,
    inner,
    leading,
    namespace,
    norms,
    place_of,
    positive,
    qr,
    root,
    symmetric,
    to_numpy,
    wide,
)
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solvers.dense import stated
from ritz.spectral.solvers.krylov import rounding_of
from ritz.spectral.widths import sketch_width

__all__ = ["sketch"]


def sketch(problem: SpectralProblem, M: Operator) -> Pairs:
    """Approximate leading k pairs of the positive semidefinite operator M from one product."""
    if not M.positive:
        raise ParameterError(
            "solver='sketch' needs an operator without negative eigenvalues: M̂ ⪯ M holds for no other",
            received=repr(M),
            hint="solver='krylov', or Symmetric(S, positive=True) if none is negative",
        )
    p, k = M.shape[0], problem.k
    width = min(p, sketch_width(k))
    basis, _ = qr(M.place.array(gaussian_rows(problem.start, 1, 0, p, width)))
    omega = basis * p**0.5  # isotropic columns: E ωωᵀ = I, as the leave-one-out estimate needs
    Y = wide(M.matmat(omega))
    u = unit_roundoff(np.float64 if M.checkable else M.dtype)
    size = float(np.linalg.norm(to_numpy(norms(Y))))
    if size == 0:
        return _nothing(basis, min(k, width), u)
    nu = u * size / p**0.5 * 4
    shifted = Y + nu * omega
    core = symmetric(inner(omega, shifted))
    U, s, _ = svd(root(core, shifted))
    values = to_numpy(positive(s * s - nu))
    trace = M.trace()
    exact = trace if trace is not None else np.inf  # without the trace nothing bounds from above
    slack = 10 * rounding_of(M, float(values[0])) + 4 * nu  # the core is nearly singular by design
    rest = max(0.0, exact - float(np.sum(values))) + slack
    k = min(k, len(values))
    V = leading(U, k)
    # ‖MV − VΛ‖ ≤ ‖M − M̂‖ ≤ rest for every column: known without another product.
    block = M.place.full((1, k), float(min(rest, exact, np.finfo(float).max)))
    pairs = Pairs(
        values,
        V,
        block,
        slack,
        Completeness("trace", (values[k] if k < len(values) else 0.0) + rest, 0.0, "M̂ ⪯ M and the trace"),
        bool(rest <= problem.tol * values[0]) if values[0] > 0 else True,
        u,
        "float64, one product",
        1,
        estimate=_leave_one_out(Y, core) if width < p else 0.0,
        upper=values[:k] + rest,
        notes=("estimate from a single product; the enclosures hold, the vectors are approximate",),
        positive=True,
        drawn=(problem.start, width),
    )
    return stated(pairs, M)


def _nothing(Q: Array, k: int, u: float) -> Pairs:
    """The zero operator: all eigenvalues are zero, any vectors will do."""
    zero = np.zeros(k)
    complete = Completeness("trace", 0.0, 0.0, "the trace is zero")
    return Pairs(
        zero,
        Q[:, :k],
        place_of(Q).zeros((1, k)),
        0.0,
        complete,
        True,
        u,
        "float64, one product",
        1,
        estimate=0.0,
        upper=zero,
        positive=True,
    )


def _leave_one_out(Y: Array, core: Array) -> float:
    """Estimate of ‖M − M̂‖_F from the sketch itself."""
    xp = namespace(Y)
    omega, E = eigh(core)
    kept = xp.abs(omega) > 1e-15 * xp.max(xp.abs(omega))
    inverse = xp.where(kept, 1 / xp.where(kept, omega, xp.ones_like(omega)), xp.zeros_like(omega))
    P = (E * inverse) @ xp.matrix_transpose(E)
    diagonal = to_numpy(xp.linalg.diagonal(P))
    safe = np.where(diagonal > 0, diagonal, np.inf)
    return float(np.sqrt(np.mean(np.square(to_numpy(norms(Y @ P)) / safe))))
