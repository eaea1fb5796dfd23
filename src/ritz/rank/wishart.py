"""Spectra of noise: Wishart matrices by Bartlett's decomposition, never from data.

    W = TᵀT ~ Wishart_d(m, I),   T (min(m, d)×d) upper trapezoidal,   tᵢᵢ² ~ χ²(m − i + 1),   tᵢⱼ ~ N(0, 1), i < j

Scaled to columns of the variances sⱼ that were observed, TD with D = diag(√sⱼ/‖tⱼ‖) has exactly these variances: the
spectrum of independent columns, given the variances, as a permutation keeps them. A draw costs the same for a hundred
rows and for a hundred million. Above ``DENSE`` on the smaller side the leading eigenvalues come from Lanczos on TD.
References: Bartlett 1933; Horn, Psychometrika 30, 1965.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rank.shares import Floats

__all__ = ["DENSE", "bartlett", "draws_for", "noise_spectra", "white_spectra"]

#: Smaller side up to which all eigenvalues of a draw are computed.
DENSE = 1_000
#: Draws at least and at most, and this over the square of the smaller side between.
LEAST, MOST, SQUARE = 20, 1_000, 2e6
#: Draws above DENSE, where they hardly differ any more.
LARGE = 10
#: Entries of the factors that are held at once.
HELD = 4_000_000
#: Accuracy of eigenvalues by Lanczos: far below what differs from draw to draw.
CLOSE = 1e-4


def draws_for(r: int) -> int:
    """How many draws: eigenvalues of large matrices hardly differ between draws, and cost more."""
    return LARGE if r > DENSE else int(np.clip(SQUARE / float(max(r, 1)) ** 2, LEAST, MOST))


def bartlett(m: float, d: int, draws: int, rng: np.random.Generator) -> NDArray[Any]:
    """Factors T (draws, r, d) of Wishart matrices with m degrees of freedom, r = min(m, d); large ones in float32."""
    r = int(min(m, d))
    T = np.triu(rng.standard_normal((draws, r, d), dtype=np.float64 if r <= DENSE else np.float32))
    i = np.arange(r)
    T[:, i, i] = np.sqrt(rng.chisquare(m - i, size=(draws, r)))
    return T


def noise_spectra(m: float, shares: Floats, draws: int, rng: np.random.Generator, top: int) -> Floats:
    """Eigenvalues of independent Gaussian columns.

    Parameters
    ----------
    m
        Degrees of freedom: rows, less one if their mean is removed.
    shares
        Variances of the columns (d,), as shares of their sum.
    draws, rng
        How many, and from which random numbers.
    top
        How many leading eigenvalues are wanted at least.

    Returns
    -------
    ndarray (draws, ≥ top)
        Decreasing, as shares of the total.
    """
    shares = shares[shares > 0]  # a column that does not vary adds nothing
    d, r = len(shares), int(min(m, len(shares)))
    if r == 0:
        return np.zeros((draws, 1))
    root = np.sqrt(shares)

    def scaled(T: Floats) -> Floats:
        lengths = np.sqrt(np.einsum("brd,brd->bd", T, T))
        return np.asarray(T * (root / lengths)[:, None, :].astype(T.dtype))

    return _spectra(m, d, draws, rng, top, scaled)


def white_spectra(m: float, d: int, draws: int, rng: np.random.Generator, top: int) -> Floats:
    """Eigenvalues (draws, ≥ top) of Wishart matrices W (d×d) with m degrees of freedom, decreasing."""
    if min(m, d) < 1:
        return np.zeros((draws, 1))
    return _spectra(m, d, draws, rng, top, lambda T: T)


def _spectra(
    m: float, d: int, draws: int, rng: np.random.Generator, top: int, scaled: Callable[[Floats], Floats]
) -> Floats:
    r = int(min(m, d))
    once = max(1, HELD // (r * d))
    parts = []
    for start in range(0, draws, once):
        T = scaled(bartlett(m, d, min(once, draws - start), rng))
        if r <= DENSE:
            parts.append(np.linalg.eigvalsh(T @ T.transpose(0, 2, 1))[:, ::-1])
        else:
            parts.append(np.stack([_leading(factor, min(top, r - 1)) for factor in T]))
    return np.maximum(np.concatenate(parts), 0.0)


def _leading(T: Floats, top: int) -> Floats:
    from scipy.sparse.linalg import LinearOperator, eigsh

    r = T.shape[0]
    M = LinearOperator((r, r), matvec=lambda v: T @ (v @ T), dtype=T.dtype)
    start = np.cos(np.arange(1.0, r + 1.0)).astype(T.dtype)  # any start will do: the factor is random
    return np.asarray(eigsh(M, k=top, tol=CLOSE, v0=start, return_eigenvectors=False)[::-1], np.float64)
