"""Weights of rows under the divergence of Kullback and Leibler, the parts held fixed.                 [LS99, Meh92]

    x (d,) ≥ 0,  P (k×d) ≥ 0 with rows of sum 1,  t = Σx        min f(u) = Σu − Σⱼ xⱼ log(uP)ⱼ   over u (k,) ≥ 0

A convex problem for each row: how much of x each part takes. ∂f = g = 1 − P(x/uP), ∂²f = P diag(x/(uP)²) Pᵀ. At the
minimum g ≥ 0, and g = 0 where u > 0. Multiplicative steps u ← u(1 − g) begin; where parts are nearly alike thousands of
them lead nowhere, so the interior-point method goes on: Newton's steps for g(u) = z, uₗzₗ = μ with μ → 0. A step goes
99/100 of the way to zero at most, in u and so in uP. As f is convex, and Σu = t at its minimum,

    f(u) − min f ≤ Σ uₗgₗ + t max(0, −min g),        and a row ends where this is down to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["mixture_weights"]

Floats = NDArray[np.float64]

U = float(np.finfo(np.float64).eps) / 2
#: Share of t that f may lie above its minimum, multiplicative steps before the first of Newton, steps at most.
GAP, BEFORE, STEPS = 1e-14, 5, 100
#: Least weight and multiplier to begin with; share of μ aimed at; share of the way to zero that a step may go.
LEAST, START, CENTRE, NEAR = 1e-3, 1e-3, 0.1, 0.99
#: Share of its diagonal added to ∂²f, of parts that are combinations of each other.
RIDGE = 1e-13
#: Numbers that rows taken together, or their second derivatives, may have.
ROOM = 4_000_000


def mixture_weights(X: Any, H: Floats) -> Floats:
    """W (n, k) ≥ 0 of rows X (n, d), dense or sparse, with the least divergence from W H."""
    n, (k, d) = int(X.shape[0]), H.shape
    at_once = max(1, ROOM // max(k * k, d))
    sizes = H.sum(axis=1)
    P = H / np.where(sizes > 0, sizes, 1.0)[:, None]
    there = sizes > 0
    W = np.zeros((n, k))
    if not there.any():
        return W
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    for start in range(0, n, at_once):
        part = X[start : start + at_once]
        totals = np.asarray(part.sum(axis=1), np.float64).reshape(-1)
        rows = np.flatnonzero(totals > 0)
        if len(rows):
            u = _solved(_Rows(part[rows], totals[rows], P[there]))
            W[np.ix_(start + rows, np.flatnonzero(there))] = u * totals[rows, None] / sizes[there]
    return W


class _Rows:
    """Rows as shares of their sums (so t = 1), and what is asked of them at u (n, k)."""

    def __init__(self, X: Any, totals: Floats, P: Floats) -> None:
        self.P, self.sparse = P, hasattr(X, "tocsr")
        if self.sparse:
            X = X.tocsr().astype(np.float64)
            self.at = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            X.data = X.data / totals[self.at]
        else:
            X = np.asarray(X, np.float64) / totals[:, None]
        self.X = X

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: NDArray[np.intp]) -> _Rows:
        """Some of them."""
        return _Rows(self.X[rows], np.ones(len(rows)), self.P)

    def made(self, u: Floats) -> Floats:
        """uP, of sparse rows where x is stored; 1 where no part has anything, which no weight can change."""
        if self.sparse:
            made = np.einsum("ij,ij->i", u[self.at], self.P.T[self.X.indices])
            return np.where(np.asarray(self.P.any(axis=0))[self.X.indices], made, 1.0)
        return np.where(self.P.any(axis=0), u @ self.P, 1.0)

    def slope(self, u: Floats) -> Floats:
        """∂f (n, k)."""
        return 1.0 - self._times(self._over(self.made(u)))

    def curve(self, u: Floats) -> Floats:
        """∂²f (n, k, k)."""
        made = self.made(u)
        weights = self._over(made) / np.where(made > 0, made, 1.0)
        columns = self.P[:, self.X.indices] if self.sparse else self.P
        return np.stack([self._times(weights * column) for column in columns], axis=1)

    def _over(self, made: Floats) -> Floats:
        x = self.X.data if self.sparse else self.X
        return np.asarray(np.divide(x, made, out=np.zeros_like(made), where=(x > 0) & (made > 0)))

    def _times(self, values: Floats) -> Floats:
        if not self.sparse:
            return values @ self.P.T
        M = self.X.copy()
        M.data = values
        return np.asarray(M @ self.P.T)


def _solved(rows: _Rows) -> Floats:
    """u (n, k), by steps of Newton on u > 0, z > 0, for the rows that still gain by them."""
    k, d = rows.P.shape
    enough = GAP + U * math.sqrt(d)
    u = np.full((len(rows), k), 1.0 / k)
    for _ in range(BEFORE):
        u = np.maximum(u * (1.0 - rows.slope(u)), LEAST)
    found, best, open_ = u.copy(), np.full(len(rows), np.inf), np.arange(len(rows))
    g = rows.slope(u)
    z = np.maximum(g, START)
    for _ in range(STEPS):
        gap = np.sum(u * g, axis=1) + np.maximum(-g.min(axis=1), 0.0)
        nearer = gap < best[open_]
        best[open_[nearer]], found[open_[nearer]] = gap[nearer], u[nearer]
        going = np.flatnonzero(gap > enough)
        if not len(going):
            break
        if len(going) < len(u):
            rows, open_, u, z, g = rows.take(going), open_[going], u[going], z[going], g[going]
        u, z = _stepped(rows, u, z, g)
        g = rows.slope(u)
    return found


def _stepped(rows: _Rows, u: Floats, z: Floats, g: Floats) -> tuple[Floats, Floats]:
    """One step towards g(u) = z and uₗzₗ = μ, a share of what it is, that leaves both positive."""
    k = u.shape[1]
    mu = CENTRE * np.mean(u * z, axis=1, keepdims=True)
    C, own = rows.curve(u), np.arange(k)
    C[:, own, own] += z / u + RIDGE * C[:, own, own]
    du = np.linalg.solve(C, (mu / u - g)[:, :, None])[:, :, 0]
    dz = mu / u - z - z / u * du
    far = np.maximum(np.max(-du / u, axis=1), np.max(-dz / z, axis=1))
    length = np.where(far > NEAR, NEAR / np.where(far > 0, far, 1.0), 1.0)[:, None]
    return u + length * du, z + length * dz
