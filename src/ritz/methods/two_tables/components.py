"""Components of X̃ (m×d) that say most of Ỹ (m×q): three ways.

    svd       XᵀY = W Σ Cᵀ                    all pairs at once; scores t = X w are correlated            PLS-SVD
    simpls    w_a = leading left vector of S_a,  t = X w,  p = Xᵀt/tᵀt,  S_{a+1} = S_a off span p          [dJo93]
    nipals    w_a = leading left vector of (X − TPᵀ)ᵀY,  t = X r,  R = W(PᵀW)⁻¹                            [Wol75, DM97]

Scores of simpls and nipals are orthogonal, so what components explain adds up. With one column in Y both are the same.
Each w_a is the leading left singular vector of a small matrix (d×q), found by LAPACK; ``residuals`` says how well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz._core.factors import svd

__all__ = ["Found", "by_nipals", "by_simpls"]

Floats = NDArray[np.float64]

#: Shares of the first cross-product, and of X, below which nothing but rounding is left.
NOTHING = 1e-14


@dataclass(frozen=True)
class Found:
    """Weights and rotations of components, as many as there are."""

    weights: Floats  # (d, k) unit length
    rotations: Floats  # (d, k) R: scores are X R
    second: Floats  # (q, k) weights of the second table, unit length
    values: Floats  # (k,) singular values of the deflated cross-products
    residuals: Floats  # (k,) ‖Sᵀw − σc‖, in units of the first singular value


def leading(S: Floats) -> tuple[Floats, float, Floats]:
    """w, σ and c with S ≈ σ w cᵀ, the leading triple."""
    if S.shape[1] == 1:
        size = float(np.linalg.norm(S))
        return S[:, 0] / (size or 1.0), size, np.ones(1)
    U, s, Vt = svd(S if S.shape[0] >= S.shape[1] else S.T)
    w, c = (U[:, 0], Vt[0]) if S.shape[0] >= S.shape[1] else (Vt[0], U[:, 0])
    return np.asarray(w), float(s[0]), np.asarray(c)


def by_simpls(X: Floats, Y: Floats, k: int) -> Found:
    """de Jong's components: each of largest covariance with Y among those uncorrelated with the ones before."""
    S = X.T @ Y
    basis: list[Floats] = []
    out = _Growing(X)
    for _ in range(k):
        w, size, c = leading(S)
        t = out.scores(w)
        if out.done(size, t):
            break
        p = X.T @ t / float(t @ t)
        out.add(w, w, c, size, S)
        for _ in range(2):
            for v in basis:
                p = p - v * (v @ p)
        v = p / float(np.linalg.norm(p))
        basis.append(v)
        S = S - np.outer(v, v @ S)
    return out.found()


def by_nipals(X: Floats, Y: Floats, k: int) -> Found:
    """Wold's components: X is deflated by what the scores explain; by rotations, so that X is never written over."""
    S = X.T @ Y
    out, loadings, scores = _Growing(X), [], []  # type: _Growing, list[Floats], list[Floats]
    for _ in range(k):
        w, size, c = leading(S)
        r = w.copy()
        for p, other in zip(loadings, out.rotations, strict=True):
            r -= (p @ w) * other
        t = X @ r
        for s, other in zip(scores, out.rotations, strict=True):  # what rounding left of earlier scores
            share = float(s @ t) / float(s @ s)
            t, r = t - share * s, r - share * other
        if out.done(size, t):
            break
        square = float(t @ t)
        p = X.T @ t / square
        out.add(w, r, c, size, S)
        loadings.append(p)
        scores.append(t)
        S = S - np.outer(p, t @ Y)
    return out.found()


class _Growing:
    """Components found so far."""

    def __init__(self, X: Floats) -> None:
        self.X, self.size = X, float(np.linalg.norm(X))
        self.weights: list[Floats] = []
        self.rotations: list[Floats] = []
        self.second: list[Floats] = []
        self.values: list[float] = []
        self.residuals: list[float] = []

    def scores(self, w: Floats) -> Floats:
        return np.asarray(self.X @ w)

    def done(self, size: float, t: Floats) -> bool:
        """Whether nothing but rounding is left."""
        first = self.values[0] if self.values else size
        return size <= NOTHING * first or float(np.linalg.norm(t)) <= NOTHING * self.size

    def add(self, w: Floats, r: Floats, c: Floats, size: float, S: Floats) -> None:
        self.weights.append(w)
        self.rotations.append(r)
        self.second.append(c)
        self.values.append(size)
        self.residuals.append(float(np.linalg.norm(S.T @ w - size * c)) / (self.values[0] or 1.0))

    def found(self) -> Found:
        columns = lambda held, side: np.column_stack(held) if held else np.zeros((side, 0))  # noqa: E731
        d, q = self.X.shape[1], len(self.second[0]) if self.second else 0
        return Found(
            columns(self.weights, d), columns(self.rotations, d), columns(self.second, q), np.asarray(self.values),
            np.asarray(self.residuals),
        )  # fmt: skip
