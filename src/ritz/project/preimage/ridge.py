"""Pre-images learned by kernel ridge regression from scores to rows.              [Bakır, Weston, Schölkopf 2004]

    x̂(t) = x̄ + a(t) (S + αI)⁻¹ Aᵀ(X − 1x̄ᵀ)           a(t) (q,) centred features of t, A (n, q) those of the known rows
    AᵀA = diag(S)                                       one eigendecomposition, every α after that is a diagonal
    hᵢ(α) = 1/n + Σⱼ Aᵢⱼ²/(Sⱼ + α)                      leave-one-out residual: eᵢ/(1 − hᵢ), exact, mean refitted too

The kernel on scores is RBF, whatever the model's own: distances of scores are distances in feature space, which is what
an RBF kernel wants, while the model's γ (scikit-learn's choice) is measured in the units of the rows. Its γ is the best
of a few multiples of 1/median‖t − t'‖², by leave-one-out on some rows; α is the best of a grid of half decades.

h(t), the same sum for a new point, says how far the regression reaches beyond what it has learned: above 1 a point is
worse known than any known row. There the error grows with √h, and a row that leaves the known ones by more than half of
their range is the mean of the nearest known rows instead, which can be neither worse than they are nor wild.

Up to EXACT rows A comes from J K J = P S Pᵀ; beyond, from Nyström features of CENTRES scores, summed over blocks of
rows: no n×n matrix. CSR rows are only ever multiplied from the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import eigh
from ritz._core.random import gaussian_rows
from ritz.kernels.base import chunks
from ritz.kernels.rows import is_sparse
from ritz.project.preimage.known import Known, Preimages, as_scores, neighbours

__all__ = ["ScoreRidge", "fit_ridge", "leave_one_out", "ridge_rows"]

Floats = NDArray[np.float64]

#: Rows up to which the whole kernel matrix of the scores is decomposed, and centres beyond that.
EXACT, CENTRES = 2000, 1500
#: Rows on which γ is chosen, and on which α is judged.
TRIAL, JUDGED = 400, 4000
#: Penalties that are tried, and multiples of 1/median‖t − t'‖².
ALPHAS = tuple(10.0 ** np.arange(-10, 2.1, 0.5))
WIDTHS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)
#: Columns above which residuals are judged through a random projection onto this many.
SKETCH = 256
#: Eigenvalues below this share of the largest are rounding; 1 − h below it says nothing about a row left out.
FLAT, LEVERAGE = 1e-13, 1e-8
#: Known rows whose leave-one-out residuals tell the error of a new one.
NEAR = 10
#: Share of the range of known rows by which a pre-image may leave them.
FAR = 0.5
#: Rows of a block; entries of a matrix of coefficients that may be kept.
BLOCK, KEPT = 1024, 1 << 25


@dataclass(frozen=True, eq=False)
class Basis:
    """a(t) = k(t, c) W − b for the RBF kernel on scores with centres c; ‖a(t)‖² ≤ ‖φ(t) − m‖², equal on the span."""

    gamma: float
    centres: Floats  # (m, k)
    W: Floats  # (m, q)
    b: Floats  # (q,)
    share: Floats  # (m,) m = Σ wⱼ φ(cⱼ)
    grand: float  # ‖m‖²
    S: Floats  # (q,) decreasing

    def features(self, T: Floats) -> tuple[Floats, Floats]:
        """a(t) (r, q), and how much of φ(t) lies outside of the span, (r,) between 0 and about 1."""
        K = rbf(T, self.centres, self.gamma)
        A = K @ self.W - self.b
        beyond = 1 - 2 * K @ self.share + self.grand - np.einsum("ij,ij->i", A, A)
        return A, np.maximum(beyond, 0.0)


@dataclass(frozen=True, eq=False)
class ScoreRidge:
    """The regression, fitted."""

    basis: Basis
    alpha: float
    mean: Floats  # (d,) x̄
    coefficients: Floats | None  # (q, d), or
    left: Any  # (q, n) to be multiplied by the CSR rows
    rows: Any  # X where ``left`` is kept
    judged: Floats  # (j, k) scores of known rows
    residuals: Floats  # (j,) their squared leave-one-out residuals
    total: float  # mean ‖x − x̄‖²
    loo: float  # root of the mean squared leave-one-out residual

    @cached_property
    def folded(self) -> tuple[Floats, Floats] | None:
        """B (c, d) and x̄ − bC (d,), so that rows are k(t, c) B + x̄ − bC; None where CSR rows are multiplied instead."""
        if self.coefficients is None:
            return None
        return self.basis.W @ self.coefficients, self.mean - self.basis.b @ self.coefficients

    def rows_of(self, T: Floats) -> Floats:
        """Rows (m, d) and nothing of their errors, which take a product with every feature more."""
        if self.folded is None:
            return self.predict(T)[0]
        B, offset = self.folded
        X = np.empty((len(T), len(self.mean)))
        for block in chunks(len(T), BLOCK):
            np.matmul(rbf(T[block], self.basis.centres, self.basis.gamma), B, out=X[block])
        X += offset
        return X

    def reach(self, T: Floats) -> Floats:
        """h(t), (m,)."""
        return self._reach(self.basis.features(T)[0])

    def _reach(self, A: Floats) -> Floats:
        return np.asarray(np.square(A) @ (1 / (self.basis.S + self.alpha)))

    def predict(self, T: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows (m, d), the error expected of each (m,), and h(t) (m,).

        The squared error is the mean leave-one-out residual of the nearest known rows, times h(t) where that exceeds 1,
        plus the total variance times the share of φ(t) that no known row explains: far from all known rows the answer
        is x̄, and the error says so.
        """
        X = np.empty((len(T), len(self.mean)))
        error, reach = np.empty(len(T)), np.empty(len(T))
        for block in chunks(len(T), BLOCK):
            A, beyond = self.basis.features(T[block])
            if self.coefficients is None:
                w = A @ self.left
                X[block] = w @ self.rows - np.outer(w.sum(axis=1), self.mean)
            else:
                X[block] = A @ self.coefficients
            near = min(NEAR, len(self.judged))
            index = np.argpartition(_squares(T[block], self.judged), near - 1, axis=1)[:, :near]
            reach[block] = self._reach(A)
            near_by = self.residuals[index].mean(axis=1) * np.maximum(reach[block], 1.0)
            error[block] = np.sqrt(near_by + beyond * self.total)
        X += self.mean
        return X, error, reach


def ridge_rows(
    known: Known, T: Any, ridge: ScoreRidge | None = None, alpha: float | None = None, *, errors: bool = True
) -> Preimages:
    """Pre-images by regression; ``ridge`` from an earlier ``fit_ridge`` saves the fit.

    Without ``errors`` these are NaN, and features are formed only of points whose rows leave the known ones.
    """
    T = as_scores(T, known)
    ridge = fit_ridge(known.scores, known.rows, alpha=alpha) if ridge is None else ridge
    if errors:
        X, error, reach = ridge.predict(T)
        wild = np.flatnonzero(reach > 1.0)
        wild = wild[_outside(X[wild], known.rows)]
    else:
        X, error = ridge.rows_of(T), np.full(len(T), np.nan)
        wild = np.flatnonzero(_outside(X, known.rows))
        wild = wild[ridge.reach(T[wild]) > 1.0]
    if len(wild):
        X[wild], error[wild] = _nearby(known, T[wild])
    return Preimages(X, error, "ridge", guessed=wild)


def _outside(X: Floats, rows: Any) -> NDArray[np.bool_]:
    """Which rows leave the known ones by more than half of their range, in some column."""
    if not len(X):
        return np.zeros(0, np.bool_)
    low, high = (np.asarray(_dense(edge), np.float64).reshape(-1) for edge in (rows.min(axis=0), rows.max(axis=0)))
    slack = FAR * (high - low)
    return np.asarray(((low - slack > X) | (high + slack < X)).any(axis=1))


def _nearby(known: Known, T: Floats) -> tuple[Floats, Floats]:
    """Means of the nearest known rows, nearer ones weighing more, and the spread of those rows about them."""
    near = neighbours(known, T, NEAR)
    weight = 1 / np.maximum(near.distance, 1e-12 * np.max(near.distance, initial=1e-300)) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    X, error = np.empty((len(T), known.rows.shape[1])), np.empty(len(T))
    for i, (index, w) in enumerate(zip(near.index, weight, strict=True)):
        rows = np.asarray(_dense(known.rows[index]), np.float64)
        X[i] = w @ rows
        error[i] = np.sqrt(w @ np.square(rows - X[i]).sum(axis=1))
    return X, error


def _dense(rows: Any) -> Any:
    return rows.toarray() if is_sparse(rows) else rows


def fit_ridge(Z: Any, X: Any, *, alpha: float | None = None, gamma: float | None = None, seed: int = 0) -> ScoreRidge:
    """Learn rows X (n, d; dense or CSR) from scores Z (n, k); ``alpha`` and ``gamma`` are chosen unless given."""
    Z = np.asarray(Z, np.float64)
    n = len(Z)
    X = X.tocsr() if is_sparse(X) else np.asarray(X)
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(-1)
    Y = _targets(X, mean, seed)
    draw = np.random.Generator(np.random.Philox(key=seed)).permutation(n)
    alphas = ALPHAS if alpha is None else (float(alpha),)
    if gamma is None:
        gamma = _choose_gamma(Z[draw[:TRIAL]], Y[draw[:TRIAL]], alphas)
    basis, known = _exact(Z, gamma) if n <= EXACT else (_nystrom(Z, Z[np.sort(draw[:CENTRES])], gamma), None)
    judged = np.arange(n) if n <= JUDGED else np.sort(draw[:JUDGED])
    right = np.zeros((len(basis.S), Y.shape[1]))
    for block, A in _features(basis, Z, known):
        right += A.T @ Y[block]
    A = basis.features(Z[judged])[0] if known is None else known
    residuals = _left_out(A, basis.S, right, Y[judged], alphas, n)
    best = int(np.argmin([r.mean() for r in residuals]))
    chosen = alphas[best]
    coefficients, left = _coefficients(basis, chosen, Z, X, mean, known)
    total = float(np.einsum("ij,ij->", Y, Y)) / n
    finite = np.where(np.isfinite(residuals[best]), residuals[best], total)
    rows = X if left is not None else None
    return ScoreRidge(basis, chosen, mean, coefficients, left, rows, Z[judged], finite, total,
                      float(np.sqrt(finite.mean())))  # fmt: skip


def leave_one_out(A: Floats, S: Floats, right: Floats, Y: Floats, alpha: float, n: int) -> Floats:
    """Squared residuals (j,) of rows that are left out, from the fit to all n rows.

    A (j, q) features and Y (j, d) centred targets of the rows that are judged, right = AᵀY (q, d) over all rows. A row
    that decides its own prediction to the last digits cannot be judged: infinity.
    """
    return _left_out(A, S, right, Y, (alpha,), n)[0]


def _left_out(A: Floats, S: Floats, right: Floats, Y: Floats, alphas: Sequence[float], n: int) -> list[Floats]:
    """``leave_one_out`` for each of some penalties: every one is a diagonal between the same matrices."""
    down = 1 / (S[:, None] + np.asarray(alphas))  # (q, penalties)
    free = 1 - 1 / n - np.square(A) @ down
    out = []
    for j in range(len(alphas)):
        e = Y - A @ (right * down[:, j, None])
        with np.errstate(divide="ignore", over="ignore"):
            left = np.einsum("ij,ij->i", e, e) / np.maximum(free[:, j], LEVERAGE) ** 2
        out.append(np.where(free[:, j] > LEVERAGE, left, np.inf))
    return out


def _choose_gamma(Z: Floats, Y: Floats, alphas: tuple[float, ...]) -> float:
    """The best multiple of 1/median‖t − t'‖², α chosen anew for each."""
    D = _squares(Z, Z)[np.triu_indices(len(Z), 1)]
    D = D[D > 0]
    unit = 1 / float(np.median(D)) if len(D) else 1.0
    Y = Y - Y.mean(axis=0)
    errors = []
    for width in WIDTHS:
        basis, A = _exact(Z, width * unit)
        errors.append(min(float(one.mean()) for one in _left_out(A, basis.S, A.T @ Y, Y, alphas, len(Z))))
    return float(WIDTHS[int(np.argmin(errors))] * unit)


def _exact(Z: Floats, gamma: float) -> tuple[Basis, Floats]:
    """All scores are centres: J K J = P S Pᵀ, a(t) = (k(t, Z) − r) P S^-½; their own features are P S^½."""
    K = rbf(Z, Z, gamma)
    r = K.mean(axis=1)
    g = float(r.mean())
    S, P = eigh(K - r - r[:, None] + g)
    kept = _told(S)
    S, P = S[kept], P[:, kept]
    W = (P - P.mean(axis=0)) / np.sqrt(S)
    return Basis(gamma, Z, W, r @ W, np.full(len(Z), 1 / len(Z)), g, S), P * np.sqrt(S)


def _nystrom(Z: Floats, centres: Floats, gamma: float) -> Basis:
    """Features of some centres, rotated so that their sum of squares over all rows is diagonal."""
    s, Q = eigh(rbf(centres, centres, gamma))
    kept = _told(s)
    root = Q[:, kept] / np.sqrt(s[kept])
    q = root.shape[1]
    first, second = np.zeros(q), np.zeros((q, q))
    shift = rbf(Z[: min(len(Z), BLOCK)], centres, gamma).mean(axis=0) @ root  # near the mean, so little cancels
    for F in _blocks(Z, centres, gamma, root):
        F -= shift
        first += F.sum(axis=0)
        second += F.T @ F
    first /= len(Z)
    S, E = eigh(second - len(Z) * np.outer(first, first))
    kept = _told(S)
    S, E, mean = S[kept], E[:, kept], first + shift
    return Basis(gamma, centres, root @ E, mean @ E, root @ mean, float(mean @ mean), S)


def _told(S: Floats) -> NDArray[np.bool_]:
    """Which eigenvalues (decreasing) are more than rounding."""
    least = FLAT * max(float(S[0]), 1e-300)
    return np.asarray(least < S)


def _blocks(Z: Floats, centres: Floats, gamma: float, root: Floats) -> Iterator[Floats]:
    for block in chunks(len(Z), BLOCK):
        yield rbf(Z[block], centres, gamma) @ root


def _features(basis: Basis, Z: Floats, known: Floats | None) -> Iterator[tuple[slice, Floats]]:
    """Features of known rows, some at a time; ``known``: all of them, where they are at hand."""
    for block in chunks(len(Z), BLOCK):
        yield block, basis.features(Z[block])[0] if known is None else known[block]


def _coefficients(
    basis: Basis, alpha: float, Z: Floats, X: Any, mean: Floats, known: Floats | None
) -> tuple[Floats | None, Floats | None]:
    """(S + α)⁻¹AᵀX (q, d); for many CSR columns (S + α)⁻¹Aᵀ (q, n), where that is the smaller."""
    q, (n, d) = len(basis.S), X.shape
    down = (basis.S + alpha)[:, None]
    if is_sparse(X) and q * d > KEPT and n < d:
        return None, np.concatenate([A.T for _, A in _features(basis, Z, known)], axis=1) / down
    B = np.zeros((q, d))
    for block, A in _features(basis, Z, known):
        if is_sparse(X):
            B += A.T @ X[block].astype(np.float64) - np.outer(A.sum(axis=0), mean)
        else:
            B += A.T @ (X[block] - mean)
    return B / down, None


def _targets(X: Any, mean: Floats, seed: int) -> Floats:
    """Centred rows, (n, d); above SKETCH columns a random projection that keeps lengths, (n, SKETCH), to within 9 %."""
    n, d = X.shape
    if d <= SKETCH:
        return np.asarray(X.toarray() if is_sparse(X) else X, np.float64) - mean
    omega = gaussian_rows(seed, 61, 0, d, SKETCH) / np.sqrt(SKETCH)
    Y = np.empty((n, SKETCH))
    for block in chunks(n, BLOCK):
        Y[block] = X[block] @ omega - mean @ omega if is_sparse(X) else (X[block] - mean) @ omega
    return Y


def rbf(A: Floats, B: Floats, gamma: float) -> Floats:
    """exp(−γ‖a − b‖²), (n, m)."""
    D = _squares(A, B)
    D *= -gamma
    return np.asarray(np.exp(D, out=D))


def _squares(A: Floats, B: Floats) -> Floats:
    """‖a − b‖², (n, m) ≥ 0. Scores are centred already, so little cancels."""
    D = (-2 * A) @ B.T
    D += np.einsum("ij,ij->i", A, A)[:, None]
    D += np.einsum("ij,ij->i", B, B)
    return np.maximum(D, 0.0, out=D)
