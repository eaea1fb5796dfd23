"""A single-pass sketch, repeated from its definition.

    Y = MΩ,  M̂ = Y(ΩᵀY)⁻¹Yᵀ,   values λ̂,   rest = tr M − tr M̂,   ‖(M − M̂₍ᵢ₎)ωᵢ‖ = ‖Y P eᵢ‖/Pᵢᵢ,  P = (ΩᵀY)⁻¹

Ω is that of the fit, whose key the certificate keeps; Y, the eigenvalues of M̂ (from the pencil, not from a root) and
the leave-one-out estimate are computed anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ritz._core.random import gaussian_rows
from ritz.spectral.verify.anew import Anew
from ritz.spectral.verify.fields import scaled

__all__ = ["sketched"]

#: By how much two ways to compute a sketch, whose core is nearly singular by design, may differ in units of θ₁, and
#: two estimates of its error in units of themselves.
VALUES, ESTIMATE = 1e-7, 3e-4

#: Share of the first eigenvalue of a sketch below which its last one is rounding.
CORE = 1e-9


def sketched(c: Any, a: Anew) -> list[str]:
    """What differs from the sketch that the certificate speaks of, in words."""
    grounds = c.frame.get("grounds")
    if c.kind != "estimate" or grounds is None or grounds["k"] != len(c.values) or grounds["drawn"] is None:
        return []
    key, width = int(grounds["drawn"][0], 16), int(grounds["drawn"][1])
    p = a.rows if grounds["turned"] else a.d
    if not 0 < width <= p:
        return ["a sketch with more columns than the table has"]
    omega = np.linalg.qr(gaussian_rows(key, 1, 0, p, width))[0] * p**0.5
    Y = a.forward(a.adjoint(omega)) if grounds["turned"] else a.A.normal(omega)
    s, top = scaled(c), float(np.max(a.theta, initial=0.0))
    values = _eigenvalues(omega, Y)
    words = []
    if top > 0 and not bool(np.all(np.abs(values[: len(a.theta)] - a.theta) <= VALUES * top)):
        words.append("the values are not those of the sketch")
    rest = max(a.A.trace() - float(np.sum(values)), 0.0)
    if not abs(rest - grounds["rest"]) <= VALUES * top * width + 20 * s.rounding:
        words.append("the part of the trace that the sketch leaves out is not what was certified")
    estimate = _leave_one_out(omega, Y) * a.unit2 if width < p else 0.0
    told = width >= p or values[-1] > CORE * max(float(values[0]), 1e-300)  # else it is the rounding of an inverse
    near = abs(estimate - c.estimate) <= ESTIMATE * estimate + VALUES * top * a.unit2
    if not near and (told or not 0 <= c.estimate <= c.total):
        words.append(f"the estimated error of the sketch is {estimate:.3g}, certified {c.estimate:.3g}")
    return words


def _eigenvalues(omega: Any, Y: Any) -> Any:
    """Eigenvalues of M̂ = Y(ΩᵀY)⁻¹Yᵀ, decreasing: those of YᵀY z = λ ΩᵀY z."""
    core = (omega.T @ Y + Y.T @ omega) / 2
    values, E = np.linalg.eigh(core)
    kept = values > 1e-15 * max(float(values[-1]), 1e-300)
    B = Y @ (E[:, kept] / np.sqrt(values[kept]))
    squares = np.square(scipy.linalg.svdvals(B, check_finite=False)) if kept.any() else np.zeros(0)
    return np.concatenate([squares, np.zeros(omega.shape[1] - len(squares))])


def _leave_one_out(omega: Any, Y: Any) -> float:
    core = (omega.T @ Y + Y.T @ omega) / 2
    P = np.linalg.pinv(core, rcond=1e-15, hermitian=True)
    diagonal = np.where(np.diag(P) > 0, np.diag(P), np.inf)
    return float(np.sqrt(np.mean(np.square(np.linalg.norm(Y @ P, axis=0) / diagonal))))
