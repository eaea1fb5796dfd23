"""Minimum covariance determinant: the h rows whose covariance has the smallest determinant.              [RD99, HRV12]

    C-step   distances by mean and covariance of h rows; the h nearest rows; their determinant is never larger
    starts   ranks, normal scores, tanh, spatial signs, the half nearest to the median, the least outlying rows

Six starts that bad rows cannot spoil, each followed by C-steps to the end, in place of random subsets: the answer does
not depend on a seed or on the order of the rows. Y (n×p).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.robust_pca.location import mad

__all__ = ["least_determinant", "mahalanobis"]

Floats = NDArray[np.float64]

#: C-steps at most: they converge in a few.
STEPS = 100


def least_determinant(Y: Floats, h: int, best: Any = None) -> NDArray[np.intp]:
    """The h rows; ``best`` are rows to try as one more start."""
    best_rows, least = np.arange(h), np.inf
    for start in _starts(Y, h, best):
        index, value = _concentrated(Y, start, h)
        if value < least:
            best_rows, least = index, value
    return best_rows


def mahalanobis(Y: Floats, where: Floats, cov: Floats) -> Floats:
    """Squared distances (n,) from a place in units of a covariance."""
    gap = Y - where
    return np.asarray(np.einsum("ij,ij->i", gap @ np.linalg.pinv(cov, hermitian=True), gap), np.float64)


def _concentrated(Y: Floats, index: NDArray[np.intp], h: int) -> tuple[NDArray[np.intp], float]:
    """C-steps until the determinant stays; its logarithm comes along."""
    last = np.inf
    for _ in range(STEPS):
        some = Y[index]
        cov = np.atleast_2d(np.cov(some.T))
        sign, value = np.linalg.slogdet(cov)
        value = float(value) if sign > 0 else -np.inf
        if value >= last - 1e-12 * max(abs(last), 1.0) or value == -np.inf:
            return index, value
        last = value
        index = np.argsort(mahalanobis(Y, some.mean(axis=0), cov), kind="stable")[:h]
    return index, last


def _starts(Y: Floats, h: int, best: Any) -> Iterator[NDArray[np.intp]]:
    """Rows that are near the centre by six robust pictures of the shape."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n, p = Y.shape
    if best is not None:
        yield np.asarray(best)
    spread = mad(Y)
    Z = (Y - np.median(Y, axis=0)) / np.where(spread > 0, spread, 1.0)
    ranks = rankdata(Z, axis=0)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    half = np.argsort(length[:, 0], kind="stable")[: -(-n // 2)]
    shapes = [
        np.cov(np.tanh(Z).T), np.cov(ranks.T), np.cov(ndtri((ranks - 1 / 3) / (n + 1 / 3)).T),
        np.cov((Z / np.where(length > 0, length, 1.0)).T), np.cov(Z[half].T),
    ]  # fmt: skip
    for shape in shapes:
        _, axes = np.linalg.eigh(np.atleast_2d(shape).reshape(p, p))
        T = Z @ axes
        scale = mad(T)
        T = (T - np.median(T, axis=0)) / np.where(scale > 0, scale, 1.0)
        yield np.argsort(np.einsum("ij,ij->i", T, T), kind="stable")[:h]
