"""Bi-cross-validation: hold out rows and columns at once, and predict the block where they meet.

        columns
    [ A   B ]  rows held out        Â_k = B·D_k⁺·C,   D_k the best rank-k part of D
    [ C   D ]                       error(k) = Σ ‖A − Â_k‖²_F / entries, over all blocks of a cut and several cuts

Nothing of A enters its prediction, neither through the axes nor through the scores; means are those of the rows that
are not held out. Half of the rows and half of the columns are held out where there are many (Owen and Perry found large
blocks best). ``rotate`` turns the columns by a random orthogonal map first, for components that live in few columns.
With P = B V Σ⁻¹ and Q = UᵀC all k cost one decomposition D = UΣVᵀ:
‖A − P_kQ_k‖² = ‖A‖² − 2Σ_{i≤k} pᵢᵀAqᵢ + Σ_{i,j≤k} (PᵀP)∘(QQᵀ).
References: Gabriel 2002; Owen and Perry, Annals of Applied Statistics 3, 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ritz.rank.material import SAMPLE_ROWS, Found, Sampled
from ritz.rank.shares import Curve, Floats, plural

__all__ = ["BiCross", "block_errors", "rotated"]

Mask = NDArray[np.bool_]

#: Rows or columns at which half of them are held out; fewer are cut into more parts, so that enough remain.
HALVES = 40
#: Components that are tried, cuts at least and at most, and the operations spent on all of them.
MOST, LEAST_CUTS, MOST_CUTS, WORK = 100, 2, 20, 6e10
#: Singular values below this share of the largest one are not inverted.
SMALL = 1e-7


def parts_for(size: int) -> int:
    """How many parts rows or columns are cut into."""
    return max(2, min(size, -(-HALVES // max(size, 1))))


def rotated(X: Floats, rng: np.random.Generator) -> Floats:
    """The rows with their columns turned by a random orthogonal map: order, signs, cosine transform."""
    from scipy.fft import dct

    d = X.shape[1]
    return np.asarray(dct(X[:, rng.permutation(d)] * rng.choice([-1.0, 1.0], d), axis=1, norm="ortho"))


def block_errors(X: Floats, rows: Mask, columns: Mask, most: int, *, center: bool) -> Floats:
    """Return ‖A − B D_k⁺ C‖² for k = 0 … most; ``rows`` and ``columns`` are masks of what is held out."""
    train, test = X[~rows], X[rows]
    if center:
        mean = train.mean(axis=0)
        train, test = train - mean, test - mean
    A, B, C, D = test[:, columns], test[:, ~columns], train[:, columns], train[:, ~columns]
    wide = D.shape[1] > D.shape[0]
    M = D @ D.T if wide else D.T @ D
    top = min(most, len(M))
    values, W = eigh(M, subset_by_index=(len(M) - top, len(M) - 1))
    values, W = np.maximum(values[::-1], 0.0), W[:, ::-1]
    good = values > SMALL**2 * max(float(values[0]), 1e-300)
    sigma, W = np.sqrt(values[good]), W[:, good]
    if wide:
        P, Q = (B @ (D.T @ W)) / sigma**2, W.T @ C
    else:
        P, Q = (B @ W) / sigma, ((D @ W) / sigma).T @ C
    linear = np.einsum("ik,ik->k", A.T @ P, Q.T)
    square = np.cumsum(np.cumsum((P.T @ P) * (Q @ Q.T), axis=0), axis=1).diagonal()
    errors = float(np.einsum("ij,ij->", A, A)) - 2.0 * np.append(0.0, np.cumsum(linear)) + np.append(0.0, square)
    # Directions that D does not have cannot predict: the error stays.
    return np.append(errors, np.full(most + 1 - len(errors), errors[-1]))


class BiCross(Sampled):
    """Keep as many components as predict blocks held out best.

    Parameters
    ----------
    rotate : bool
        Turn the columns by a random orthogonal map first.
    rows : int
        Rows that are looked at, at most.
    """

    name = "bcv"

    def __init__(self, rotate: bool = False, rows: int = SAMPLE_ROWS) -> None:
        super().__init__(rows)
        self.rotate = rotate

    def find(self) -> Found:
        """Cut, predict, average."""
        sample, rng = self._sample(), self.rng(3)
        X, center = sample.table(), bool(getattr(sample, "center", True))
        m, d = X.shape
        if m < 3 or d < 2:
            return Found(0, Curve(np.arange(1), np.zeros(1), None, LABEL), f"0 components: {m} rows, {d} columns")
        parts = parts_for(m), parts_for(d)
        inner = (m - -(-m // parts[0]), d - -(-d // parts[1]))
        most = max(1, min(MOST, inner[0] - center, inner[1]))
        cost = parts[0] * parts[1] * 2.0 * inner[0] * inner[1] * min(inner) * 1.5
        cuts = int(np.clip(WORK / max(cost, 1.0), LEAST_CUTS, MOST_CUTS))
        errors = np.zeros(most + 1)
        for _ in range(cuts):
            table = rotated(X, rng) if self.rotate else X
            which = [rng.permutation(size) % count for size, count in zip((m, d), parts, strict=True)]
            for i in range(parts[0]):
                for j in range(parts[1]):
                    errors += block_errors(table, which[0] == i, which[1] == j, most, center=center)
        errors /= cuts * float(m) * d
        k = int(np.argmin(errors))
        beside = [f"{errors[i] / errors[0]:.4f} with {i}" for i in (k - 1, k + 1) if 0 <= i < len(errors)]
        first = (
            f"{plural(k)}: the error of blocks held out is {errors[k] / max(errors[0], 1e-300):.4f} of that of the mean"
        )
        cut = f"{cuts} cuts into {parts[0]}×{parts[1]} blocks; {sample.words}"
        return Found(k, Curve(np.arange(most + 1), errors, None, LABEL), ", ".join([first, *beside]) + f"; {cut}")


LABEL = "mean square error of blocks held out"
