"""``sketch``: strictly one pass; a Nyström approximation of M from one product, with its error.   [Tropp17; ET24]

    Y = MΩ,   Y_ν = Y + νΩ,   M̂ = Y_ν (ΩᵀY_ν)⁻¹ Y_νᵀ − νI  =  B Bᵀ − νI,   B = Y_ν C⁻¹,  CᵀC = ΩᵀY_ν

M̂ ⪯ M up to the shift ν ≈ u‖Y‖, so every eigenvalue is enclosed:  λ̂ᵢ ≤ λᵢ ≤ λ̂ᵢ + (tr M − tr M̂).
Leave-one-out: column i of Ω is independent of the approximation without it, whose error on it is known in closed
form, ‖(M − M̂₍ᵢ₎)ωᵢ‖ = ‖Y P eᵢ‖/Pᵢᵢ with P = (ΩᵀY)⁻¹; the mean of the squares estimates ‖M − M̂‖²_F.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ritz._core.arrays import to_numpy
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import sketch_width
from ritz.spectral.found import Completeness, Found
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.krylov import rounding_of

__all__ = ["sketch"]


def sketch(problem: SpectralProblem, M: Operator, *, total: Callable[[], float | None] | None = None) -> Found:
    """Approximate leading k pairs of the positive semidefinite operator M from one product."""
    p, k = M.shape[0], problem.k
    width = min(p, sketch_width(k))
    omega, _ = np.linalg.qr(gaussian_rows(problem.seed, 1, 0, p, width))
    omega *= np.sqrt(p)  # isotropic columns: E ωωᵀ = I, as the leave-one-out estimate needs
    Y = to_numpy(M.matmat(M.xp.asarray(omega))).astype(np.float64)
    u = unit_roundoff(np.float64)
    if not np.any(Y):
        return _nothing(omega / np.sqrt(p), min(k, width), u)
    nu = u * float(np.linalg.norm(Y)) / np.sqrt(p) * 4
    shifted = Y + nu * omega
    core = omega.T @ shifted
    core = (core + core.T) / 2
    C = _cholesky(core)
    B = scipy.linalg.solve_triangular(C, shifted.T, trans="T", check_finite=False).T
    U, s, _ = scipy.linalg.svd(B, full_matrices=False, check_finite=False)
    values = np.maximum(np.square(s) - nu, 0.0)
    known = total() if total is not None else None
    exact = known if known is not None else np.inf  # without the trace nothing bounds from above
    slack = 10 * rounding_of(M, float(values[0])) + 4 * nu  # the core is nearly singular by design
    rest = max(0.0, exact - float(np.sum(values))) + slack
    k = min(k, len(values))
    V = np.ascontiguousarray(U[:, :k])
    # ‖MV − VΛ‖ ≤ ‖M − M̂‖ ≤ rest for every column: known without another product.
    block = np.full((1, k), min(rest, exact, np.finfo(float).max))
    return Found(
        values,
        V,
        block,
        slack,
        Completeness("trace", (values[k] if k < len(values) else 0.0) + rest, 0.0, "M̂ ⪯ M and the trace"),
        bool(rest <= problem.tol * values[0]) if values[0] > 0 else True,
        u,
        "float64, one pass",
        1,
        estimate=_leave_one_out(Y, core) if width < p else 0.0,
        upper=values[:k] + rest,
        notes=("estimate from a single pass; the enclosures hold, the vectors are approximate",),
    )


def _nothing(Q: np.ndarray, k: int, u: float) -> Found:
    """The zero operator: all eigenvalues are zero, any vectors will do."""
    zero = np.zeros(k)
    complete = Completeness("trace", 0.0, 0.0, "the trace is zero")
    return Found(
        zero,
        Q[:, :k],
        np.zeros((1, k)),
        0.0,
        complete,
        True,
        u,
        "float64, one pass",
        1,
        estimate=0.0,
        upper=zero,
    )


def _cholesky(core: np.ndarray) -> np.ndarray:
    """Upper triangular C with CᵀC = core; the shift grows until rounding no longer makes it indefinite."""
    bump = 0.0
    size = float(np.trace(core)) / core.shape[0]
    for _ in range(12):
        try:
            return np.asarray(scipy.linalg.cholesky(core + bump * np.eye(core.shape[0]), check_finite=False))
        except np.linalg.LinAlgError:
            bump = max(4 * bump, 1e-15 * size)
    return np.asarray(np.sqrt(size) * np.eye(core.shape[0]))


def _leave_one_out(Y: np.ndarray, core: np.ndarray) -> float:
    """Estimate of ‖M − M̂‖_F from the sketch itself."""
    P = np.linalg.pinv(core, hermitian=True)
    diagonal = np.diag(P)
    safe = np.where(diagonal > 0, diagonal, np.inf)
    return float(np.sqrt(np.mean(np.square(np.linalg.norm(Y @ P, axis=0) / safe))))
