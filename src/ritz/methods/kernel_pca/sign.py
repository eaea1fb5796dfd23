"""Negative eigenvalues of an indefinite kernel: one policy, whatever the number of components.

    clip    components with λ > 0 only           flip, krein   by decreasing |λ|, coordinates |λ|^½ u
    error   refuse                               share         Σ|λ⁻| / Σ|λ|

``krein`` keeps the signature: k(x, y) = Σ sᵢ zᵢ(x) zᵢ(y) with sᵢ = ±1; ``flip`` takes |λ| as the kernel's own.
The share is exact where all eigenvalues are known. Otherwise stochastic Lanczos quadrature off the pairs found
estimates Σ|λ⁻|, and Σ|λ| = tr M + 2Σ|λ⁻|, tr M being exact; its error is the standard error of the probes and what the
second half of the steps changed. Ritz values of these runs lie within the spectrum, so a negative one below rounding
proves that the kernel is indefinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import NegativeEigenvalues, ParameterError
from ritz._core.random import gaussian_rows
from ritz._core.warn import warn
from ritz.operators.base import Operator

__all__ = [
    "NEGATIVE",
    "Negative",
    "by_magnitude",
    "check_negative",
    "estimate_negative",
    "judge",
    "known_negative",
    "refuse_power",
]

NEGATIVE = ("clip", "flip", "krein", "error")
#: Share of Σ|λ| below which negative eigenvalues are rounding.
ROUNDING_SHARE = 1e-10
#: Random vectors and Lanczos steps of the estimate.
PROBES, STEPS = 16, 24


@dataclass(frozen=True)
class Negative:
    """What is known of the negative eigenvalues."""

    share: float  # Σ|λ⁻|/Σ|λ|
    error: float = 0.0  # its standard error; 0 where all eigenvalues are known
    total: float | None = None  # Σ|λ|
    proved: bool = False  # some eigenvalue is below zero by more than rounding
    lowest: float = 0.0  # the least eigenvalue, or the least Ritz value seen
    total_error: float = 0.0  # standard error of the total

    @property
    def words(self) -> str:
        """The share as text."""
        return f"{100 * self.share:.2f} %" if not self.error else f"{100 * self.share:.2f} % ± {100 * self.error:.2f} %"


def check_negative(negative: Any) -> None:
    """Refuse what is not a policy."""
    if negative not in NEGATIVE:
        raise ParameterError(
            f"negative must be one of {', '.join(NEGATIVE)}", received=repr(negative), hint="negative='clip'"
        )


def judge(negative: str, below: Negative) -> None:
    """Warn of, or refuse, an indefinite kernel."""
    if not below.proved:
        return
    if negative == "error":
        raise ParameterError(
            "expected a kernel whose centred matrix has no negative eigenvalues (negative='error')",
            received=f"negative eigenvalues that make up {below.words} of Σ|λ|",
            hint="negative='clip' leaves them out, 'flip' and 'krein' keep them by magnitude",
        )
    done = "left out" if negative == "clip" else "kept by magnitude"
    warn(
        f"the kernel is indefinite on these rows: negative eigenvalues make up {below.words} of Σ|λ| and are {done} "
        f"(negative={negative!r})",
        NegativeEigenvalues,
    )


def by_magnitude(values: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Positions of the k values of largest magnitude, decreasing."""
    return np.argsort(-np.abs(values), kind="stable")[:k]


def known_negative(values: NDArray[Any]) -> Negative:
    """From all eigenvalues, those that are rounding already 0."""
    total = float(np.sum(np.abs(values)))
    share = float(np.sum(np.abs(values[values < 0]))) / max(total, 1e-300)
    return Negative(share, 0.0, total, share > ROUNDING_SHARE)


def estimate_negative(
    M: Operator, trace: float, U: NDArray[Any], values: NDArray[Any], floor: Callable[[float], float], seed: int,
    probes: int = PROBES, most: int = STEPS,
) -> Negative:  # fmt: skip
    """From the pairs found, tr M, and tr(PMP)⁻ by stochastic Lanczos quadrature, P the projector off the pairs."""
    Z = np.sign(gaussian_rows(seed, 7, 0, M.shape[0], probes))
    Z = Z - U @ (U.T @ Z)
    length = np.linalg.norm(Z, axis=0)
    alphas, betas = _lanczos(M, Z / np.where(length > 0, length, 1.0), U, most)
    rules = [_gauss(alphas[:, j], betas[:-1, j]) for j in range(probes)]
    half = (len(alphas) + 1) // 2
    coarse = _negative([_gauss(alphas[:half, j], betas[: half - 1, j]) for j in range(probes)]) * length**2
    under = _negative(rules) * length**2
    below = float(np.sum(np.maximum(-values, 0.0))) + float(np.mean(under))
    error = float(np.hypot(np.std(under, ddof=1) / np.sqrt(probes), np.mean(under) - np.mean(coarse)))
    lowest = min([float(theta[0]) for theta, _ in rules] + [float(np.min(values, initial=0.0))])
    total = max(trace + 2 * below, abs(trace), 1e-300)
    proved = lowest < -max(floor(lowest), ROUNDING_SHARE * total)
    share = max(below, -lowest) / total if proved else 0.0
    return Negative(share, error * abs(trace) / total**2 if proved else 0.0, total, proved, lowest, 2 * error)


def refuse_power(M: Operator, trace: float, floor: Callable[[float], float], seed: int) -> None:
    """Refuse power iteration where it would follow negative eigenvalues."""
    below = estimate_negative(M, trace, np.zeros((M.shape[0], 0)), np.zeros(0), floor, seed)
    if below.proved:
        raise ParameterError(
            "solver='power' follows the largest |λ|, so it takes kernels without negative eigenvalues",
            received=f"negative eigenvalues that make up {below.words} of Σ|λ|",
            hint="solver='krylov' takes indefinite kernels",
        )


def _negative(rules: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
    """Σ wᵢ max(−θᵢ, 0) of each rule."""
    return np.array([float(w @ np.maximum(-theta, 0.0)) for theta, w in rules])


def _lanczos(M: Operator, Q: NDArray[Any], U: NDArray[Any], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Coefficients (steps, probes) of one Lanczos run a column, off the span of U."""
    before, beta = np.zeros_like(Q), np.zeros(Q.shape[1])
    alphas, betas, basis = [], [], [Q]
    for _ in range(max(1, min(most, M.shape[0] - U.shape[1] - 1))):
        W = np.asarray(M.matmat(Q), np.float64) - before * beta
        alpha = np.einsum("ij,ij->j", Q, W)
        W = W - U @ (U.T @ W)
        for old in basis:  # full reorthogonalisation, column by column
            W = W - old * np.einsum("ij,ij->j", old, W)
        beta = np.linalg.norm(W, axis=0)
        alphas.append(alpha)
        betas.append(beta)
        before, Q = Q, W / np.where(beta > 0, beta, 1.0)
        basis.append(Q)
    return np.array(alphas), np.array(betas)


def _gauss(alpha: NDArray[Any], beta: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Nodes, increasing, and weights of the Gauss rule that a Lanczos run defines."""
    theta, V = np.linalg.eigh(np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1))
    return theta, V[0] ** 2
