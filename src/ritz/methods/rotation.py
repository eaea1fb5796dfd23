"""Rotations of loadings towards a simple structure.

    L = A T^-ᵀ,   factors f = z T (rows),   Φ = TᵀT their correlations          A (d×k) loadings, T (k×k) unit columns

    varimax, quartimax   T orthogonal, maximal  Σ l⁴ − (γ/d) Σₖ (Σⱼ l²ⱼₖ)²,  γ = 1, 0                       [Kai58]
    promax               varimax L, then the least squares fit of L to l|l|^(m−1), m = 4                    [HW64]
    oblimin              T of unit columns, minimal  ¼ Σ_{a≠b} Σⱼ l²ⱼₐ(l²ⱼᵦ − (γ/d) Σᵢ l²ᵢᵦ),  γ = 0: quartimin  [BJ05]

Orthogonal criteria are maximised plane by plane, in closed form, so every step improves; oblimin by a quasi-Newton
method over T/‖T‖. Factors come by decreasing variance, each with its largest loading positive.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.linalg import signs
from ritz._core.warn import warn
from ritz.data.words import nearest

__all__ = ["OBLIQUE", "ROTATIONS", "Rotated", "rotate_loadings"]

Floats = NDArray[np.float64]

ROTATIONS = ("varimax", "quartimax", "promax", "oblimin")
#: Rotations whose factors are correlated.
OBLIQUE = ("promax", "oblimin")
#: Rotations that weigh every variable alike (Kaiser's normalisation) unless told otherwise, as R's functions do.
NORMALIZED = ("varimax", "promax")
#: Singular values of loadings below this share of the largest one are nothing.
RANK = 1e-10


@dataclass(frozen=True)
class Rotated:
    """Rotated loadings and what turns unrotated ones into them."""

    loadings: Floats  # (d, k) L
    matrix: Floats  # (k, k) T
    correlations: Floats  # (k, k) Φ

    @property
    def variances(self) -> Floats:
        """(k,) variance that each factor accounts for, diag(Φ LᵀL); they sum to the communalities."""
        return np.einsum("ij,ji->i", self.correlations, self.loadings.T @ self.loadings)


def rotate_loadings(
    A: Floats, method: str, *, normalize: bool | None = None, power: float = 4, gamma: float = 0.0,
    max_iter: int = 1000, tol: float = 1e-10,
) -> Rotated:  # fmt: skip
    """Rotate loadings (d, k)."""
    _check(method, power, max_iter, tol)
    k = A.shape[1]
    kaiser = method in NORMALIZED if normalize is None else bool(normalize)
    unit = float(np.max(np.abs(A), initial=0.0))
    if k < 2 or unit == 0:
        return _ordered(A, np.eye(k))
    B = A / unit  # fourth powers stay in range; T does not depend on the unit
    if method in OBLIQUE:
        _independent(B)
    C = B / _lengths(B) if kaiser else B
    if method == "oblimin":
        return _ordered(A, _oblimin(C, gamma, max_iter, tol))
    T = _orthomax(C, 0.0 if method == "quartimax" else 1.0, max_iter, tol)
    return _ordered(A, T if method != "promax" else _promax(B, T, power))


def _independent(A: Floats) -> None:
    """Oblique factors need loadings of full rank: a component without variance could point anywhere."""
    values = np.linalg.svd(A, compute_uv=False)
    rank = int(np.count_nonzero(values > RANK * values[0])) if len(values) else 0
    if rank < A.shape[1]:
        raise InputError(
            f"an oblique rotation needs {A.shape[1]} components that vary", received=f"loadings of rank {rank}",
            hint=f"rotate(model, …, n_components={rank})" if rank > 1 else "rotate(model, 'varimax')",
        )  # fmt: skip


def _lengths(A: Floats) -> Floats:
    """√ communalities, (d, 1); 1 where there is none."""
    h = np.linalg.norm(A, axis=1, keepdims=True)
    return np.where(h > 0, h, 1.0)


def _ordered(A: Floats, T: Floats) -> Rotated:
    """By decreasing variance, with the signs of the house."""
    L = np.linalg.solve(T, A.T).T
    size = np.einsum("ij,ji->i", T.T @ T, L.T @ L)
    order = np.argsort(-size, kind="stable")
    L, T = L[:, order], T[:, order]
    turn = signs(L)
    L, T = L * turn, T * turn
    phi = T.T @ T
    np.fill_diagonal(phi, 1.0)
    return Rotated(L, T, phi)


def _orthomax(A: Floats, gamma: float, max_iter: int, tol: float) -> Floats:
    """Kaiser's plane rotations, in sweeps over all pairs, until no angle is larger than ``tol``."""
    d, k = A.shape
    L, T = A.copy(), np.eye(k)
    for _ in range(max_iter):
        largest = 0.0
        for i in range(k - 1):
            for j in range(i + 1, k):
                angle = _angle(L[:, i], L[:, j], gamma / d)
                largest = max(largest, abs(angle))
                c, s = np.cos(angle), np.sin(angle)
                turn = np.array([[c, -s], [s, c]])
                L[:, [i, j]], T[:, [i, j]] = L[:, [i, j]] @ turn, T[:, [i, j]] @ turn
        if largest <= tol:
            break
    else:
        _warn(max_iter, largest)
    U, _, Vt = np.linalg.svd(T)  # many small rotations: orthogonal to the last bit again
    return np.asarray(U @ Vt, np.float64)


def _angle(x: Floats, y: Floats, share: float) -> float:
    """The angle in (−π/4, π/4] that maximises the criterion in one plane."""
    u, v = x * x - y * y, 2 * x * y
    a, b = float(np.sum(u)), float(np.sum(v))
    top = 2 * float(u @ v) - share * 2 * a * b
    low = float(u @ u - v @ v) - share * (a * a - b * b)
    size = float(u @ u + v @ v)
    if np.hypot(top, low) <= 1e-15 * size:  # the criterion does not depend on the angle
        return 0.0
    return float(np.arctan2(top, low)) / 4


def _promax(A: Floats, T: Floats, power: float) -> Floats:
    """Least squares towards the powers of varimax loadings."""
    L = A @ T
    U = np.linalg.lstsq(L, L * np.abs(L) ** (power - 1), rcond=None)[0]
    inverse = np.linalg.inv(T @ (U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))))
    return np.asarray(inverse.T, np.float64)  # L = A U = A T^-ᵀ, hence T = U^-ᵀ


def _oblimin(A: Floats, gamma: float, max_iter: int, tol: float) -> Floats:
    """Quasi-Newton over matrices whose columns are scaled to unit length."""
    from scipy.optimize import minimize

    k = A.shape[1]
    unit = float(np.einsum("ij,ij->", A, A)) / len(A) or 1.0  # so that tol has the same meaning for all loadings
    B = A / np.sqrt(unit)

    def value(flat: Floats) -> tuple[float, Floats]:
        S = flat.reshape(k, k)
        lengths = np.linalg.norm(S, axis=0)
        T = S / lengths
        inverse = np.linalg.inv(T)
        L = B @ inverse.T
        squares = L * L
        others = squares.sum(axis=1, keepdims=True) - squares
        others -= gamma * others.mean(axis=0)
        slope = -(L.T @ (L * others) @ inverse).T
        slope = (slope - T * np.sum(T * slope, axis=0)) / lengths  # along the spheres
        return float(np.sum(squares * others)) / 4, slope.ravel()

    found = minimize(value, np.eye(k).ravel(), jac=True, method="BFGS", options={"gtol": tol, "maxiter": max_iter})
    worst = float(np.abs(found.jac).max())
    if worst > max(1e-6, 10 * tol):
        _warn(max_iter, worst)
    S = found.x.reshape(k, k)
    return np.asarray(S / np.linalg.norm(S, axis=0), np.float64)


def _warn(max_iter: int, size: float) -> None:
    warn(
        f"the rotation still changed by {size:.2g} after {max_iter} iterations; try max_iter={10 * max_iter}",
        AccuracyWarning,
    )


def _check(method: Any, power: Any, max_iter: Any, tol: Any) -> None:
    if method not in ROTATIONS:
        words = ", ".join(map(repr, ROTATIONS))
        raise ParameterError(
            f"a rotation is one of {words}", received=repr(method), hint=repr(nearest(method, ROTATIONS))
        )
    if not isinstance(power, (int, float)) or not power > 1:
        raise ParameterError("power must be a number above 1", received=repr(power), hint="power=4")
    if not isinstance(max_iter, numbers.Integral) or max_iter < 1:
        raise ParameterError("max_iter must be a whole number ≥ 1", received=repr(max_iter), hint="max_iter=1000")
    if not isinstance(tol, (int, float)) or not 0 < tol < 1:
        raise ParameterError("tol must be a number between 0 and 1", received=repr(tol), hint="tol=1e-10")
