"""Negative eigenvalues of an indefinite kernel: one policy, whatever the number of components.

    clip    components with λ > 0 only           flip, krein   by decreasing |λ|, coordinates |λ|^½ u
    error   refuse                               share         Σ|λ⁻| / Σ|λ|

``krein`` keeps the signature: k(x, y) = Σ sᵢ zᵢ(x) zᵢ(y) with sᵢ = ±1; ``flip`` takes |λ| as the kernel's own.
The share is exact where all eigenvalues are known; otherwise it is estimated from tr M, ‖M‖²_F and Σ|λ| by stochastic
Lanczos quadrature, with its standard error.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import NegativeEigenvalues, ParameterError
from ritz._core.random import gaussian_rows
from ritz.operators.base import Operator

__all__ = ["NEGATIVE", "by_magnitude", "check_negative", "estimate_share", "judge"]

NEGATIVE = ("clip", "flip", "krein", "error")
#: Share of Σ|λ| below which negative eigenvalues are rounding.
ROUNDING_SHARE = 1e-10
#: Random vectors and Lanczos steps of the estimate.
PROBES, STEPS = 16, 24


def check_negative(negative: Any) -> None:
    """Refuse what is not a policy."""
    if negative not in NEGATIVE:
        raise ParameterError(
            f"negative must be one of {', '.join(NEGATIVE)}", received=repr(negative), hint="negative='clip'"
        )


def judge(negative: str, share: float, error: float) -> None:
    """Warn of, or refuse, an indefinite kernel."""
    if share <= max(ROUNDING_SHARE, 3 * error if error else 0.0):
        return
    how = f"{share:.2%}" if not error else f"{share:.2%} ± {error:.2%}"
    if negative == "error":
        raise ParameterError(
            "a kernel whose centred matrix has no negative eigenvalues (negative='error')",
            received=f"negative eigenvalues that make up {how} of Σ|λ|",
            hint="negative='clip' leaves them out, 'flip' and 'krein' keep them by magnitude",
        )
    done = "left out" if negative == "clip" else "kept by magnitude"
    warnings.warn(
        f"the kernel is indefinite on these rows: negative eigenvalues make up {how} of Σ|λ| and are {done} "
        f"(negative={negative!r})",
        NegativeEigenvalues,
        stacklevel=5,
    )


def by_magnitude(values: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Positions of the k values of largest magnitude, decreasing."""
    return np.argsort(-np.abs(values), kind="stable")[:k]


def estimate_share(M: Operator, total: float, seed: int) -> tuple[float, float]:
    """Σ|λ⁻|/Σ|λ| and its standard error, from tr|M| by stochastic Lanczos quadrature; ``total`` = tr M is exact."""
    n = M.shape[0]
    Q = np.sign(gaussian_rows(seed, 7, 0, n, PROBES)) / np.sqrt(n)
    before, beta = np.zeros_like(Q), np.zeros(PROBES)
    alphas, betas, basis = [], [], [Q]
    for _ in range(min(STEPS, n - 1)):
        W = np.asarray(M.matmat(Q), np.float64) - before * beta
        alpha = np.einsum("ij,ij->j", Q, W)
        W = W - Q * alpha
        for old in basis:  # full reorthogonalisation, column by column
            W = W - old * np.einsum("ij,ij->j", old, W)
        beta = np.linalg.norm(W, axis=0)
        alphas.append(alpha)
        betas.append(beta)
        before, Q = Q, W / np.where(beta > 0, beta, 1.0)
        basis.append(Q)
    traces = np.array([_absolute(np.array(alphas)[:, j], np.array(betas)[:-1, j]) for j in range(PROBES)]) * n
    absolute = max(float(np.mean(traces)), abs(total), 1e-300)
    error = float(np.std(traces, ddof=1)) / np.sqrt(PROBES)
    return max(0.0, (absolute - total) / (2 * absolute)), error / (2 * absolute)


def _absolute(alpha: NDArray[Any], beta: NDArray[Any]) -> float:
    """Σ wᵢ|θᵢ| of the Gauss rule that a Lanczos run defines."""
    T = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1)
    theta, V = np.linalg.eigh(T)
    return float(np.sum(V[0] ** 2 * np.abs(theta)))
