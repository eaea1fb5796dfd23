"""Bi-cross-validation: hold out rows and columns at once, and predict the block where they meet.

        columns
    [ A   B ]  rows held out        Â_k = B·D_k⁺·C,   D_k the best rank-k part of D
    [ C   D ]                       error(k) = Σ ‖A − Â_k‖²_F / entries, over all blocks of a cut and several cuts

Nothing of A enters its prediction, neither through the axes nor through the scores; means are those of the rows that
are not held out. Half of the rows and half of the columns are held out where there are many (Owen and Perry found large
blocks best). ``rotate`` turns the columns by a random orthogonal map first, for components that live in few columns.
With P = B V Σ⁻¹ and Q = UᵀC all k cost one decomposition D = UΣVᵀ,
‖A − P_kQ_k‖² = ‖A‖² − 2Σ_{i≤k} pᵢᵀAqᵢ + Σ_{i,j≤k} (PᵀP)∘(QQᵀ), and all blocks of a cut the products XᵀX of its parts of
the rows (or XXᵀ of its parts of the columns, where these are more).
References: Gabriel 2002; Owen and Perry, Annals of Applied Statistics 3, 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz._core.subset import sure_pairs
from ritz.data.words import counted
from ritz.rank.material import SAMPLE_ROWS, Answer, Sampled
from ritz.rank.shares import Curve, Floats, plural

__all__ = ["BiCross", "cut_errors", "rotated"]

Mask = NDArray[np.bool_]
Part = NDArray[np.int64]

#: Rows or columns at which half of them are held out; fewer are cut into more parts, so that enough remain.
HALVES = 40
#: Components that are tried, cuts at least and at most, and the operations spent on all of them.
MOST, LEAST_CUTS, MOST_CUTS, WORK = 100, 2, 20, 1e10
#: Singular values below this share of the largest one are not inverted.
SMALL = 1e-6


def parts_for(size: int) -> int:
    """How many parts rows or columns are cut into."""
    return max(2, min(size, -(-HALVES // max(size, 1))))


def rotated(X: Floats, rng: np.random.Generator) -> Floats:
    """The rows with their columns turned by a random orthogonal map: order, signs, cosine transform."""
    from scipy.fft import dct

    d = X.shape[1]
    return np.asarray(dct(X[:, rng.permutation(d)] * rng.choice([-1.0, 1.0], d), axis=1, norm="ortho"))


def cut_errors(X: Floats, parts: tuple[Part, Part], most: int, *, center: bool) -> Floats:
    """Return Σ‖A − B D_k⁺ C‖² over all blocks of a cut for k = 0 … most.

    Parameters
    ----------
    X
        Rows (m, d).
    parts
        The part that every row, and every column, belongs to.
    most
        Components that are tried.
    center
        Whether the mean of the rows that are not held out is taken off.
    """
    rows, columns = parts
    errors = np.zeros(most + 1)
    wide = X.shape[1] > X.shape[0]
    grams = [X[:, columns == j] @ X[:, columns == j].T for j in range(int(columns.max()) + 1)] if wide else []
    for i in range(int(rows.max()) + 1):
        left_out = rows == i
        if wide:
            errors += sum(_by_rows(grams, j, left_out, most, center) for j in range(len(grams)))
            continue
        train, test = X[~left_out], X[left_out]
        if center:
            mean = train.mean(axis=0)
            train, test = train - mean, test - mean
        inside, outside = train.T @ train, test.T @ test
        errors += sum(_by_columns(inside, outside, columns == j, most) for j in range(int(columns.max()) + 1))
    return errors


def _by_columns(inside: Floats, outside: Floats, out: Mask, most: int) -> Floats:
    """Errors of a block from XᵀX of the rows kept and of those held out; ``out``: columns held out."""
    kept = ~out
    sigma, V = _leading(inside[np.ix_(kept, kept)], most)
    Q = (V.T @ inside[np.ix_(kept, out)]) / sigma[:, None]
    linear = np.einsum("kj,kj->k", (V.T @ outside[np.ix_(kept, out)]) / sigma[:, None], Q)
    P2 = (V.T @ outside[np.ix_(kept, kept)] @ V) / np.outer(sigma, sigma)
    return _summed(float(np.trace(outside[np.ix_(out, out)])), linear, P2 * (Q @ Q.T), most)


def _by_rows(grams: list[Floats], j: int, left_out: Mask, most: int, center: bool) -> Floats:
    """The same from XXᵀ over the columns of every part: fewer rows than columns."""
    out = _about(grams[j], left_out) if center else grams[j]
    kept: Floats = np.sum([gram for i, gram in enumerate(grams) if i != j], axis=0)
    kept = _about(kept, left_out) if center else kept
    sigma, U = _leading(kept[np.ix_(~left_out, ~left_out)], most)
    P = kept[np.ix_(left_out, ~left_out)] @ U / sigma**2  # B Dᵀ U Σ⁻² = B V Σ⁻¹
    linear = np.einsum("ik,ik->k", P, out[np.ix_(left_out, ~left_out)] @ U)
    Q2 = U.T @ out[np.ix_(~left_out, ~left_out)] @ U
    return _summed(float(np.trace(out[np.ix_(left_out, left_out)])), linear, (P.T @ P) * Q2, most)


def _about(K: Floats, left_out: Mask) -> Floats:
    """XXᵀ with the mean of the rows that are not held out taken off."""
    mean = K[:, ~left_out].mean(axis=1)
    return np.asarray(K - mean - mean[:, None] + float(mean[~left_out].mean()))


def _leading(M: Floats, most: int) -> tuple[Floats, Floats]:
    """Leading singular values that can be inverted, and their vectors."""
    top = min(most, len(M))
    values, W = sure_pairs(M, top)
    values, W = np.maximum(values[::-1], 0.0), W[:, ::-1]
    good = values > SMALL**2 * max(float(values[0]), 1e-300)
    return np.sqrt(values[good]), W[:, good]


def _summed(square: float, linear: Floats, products: Floats, most: int) -> Floats:
    """‖A − P_kQ_k‖² for k = 0 … most; directions that D does not have cannot predict, so there the error stays."""
    both = np.cumsum(np.cumsum(products, axis=0), axis=1).diagonal()
    errors = square - 2.0 * np.append(0.0, np.cumsum(linear)) + np.append(0.0, both)
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

    def find(self) -> Answer:
        """Cut, predict, average."""
        sample, rng = self._sample(), self.rng(3)
        X, center = sample.table(), bool(getattr(sample, "center", True))
        m, d = X.shape
        if m < 3 or d < 2:
            return Answer(
                0,
                Curve(np.arange(1), np.zeros(1), None, LABEL),
                f"0 components: {counted(m, 'row')} and {counted(d, 'column')} cannot be cut",
            )
        parts = parts_for(m), parts_for(d)
        inner = (m - -(-m // parts[0]), d - -(-d // parts[1]))
        most = max(1, min(MOST, inner[0] - center, inner[1]))
        small, large = sorted((m, d))
        cost = 2.0 * large * small**2 + parts[0] * parts[1] * 10.0 * float(min(inner)) ** 3
        cuts = int(np.clip(WORK / max(cost, 1.0), LEAST_CUTS, MOST_CUTS))
        errors = np.zeros(most + 1)
        for _ in range(cuts):
            table = rotated(X, rng) if self.rotate else X
            which = rng.permutation(m) % parts[0], rng.permutation(d) % parts[1]
            errors += cut_errors(table, which, most, center=center)
        errors /= cuts * float(m) * d
        k = int(np.argmin(errors))
        beside = [f"{errors[i] / errors[0]:.4f} with {i}" for i in (k - 1, k + 1) if 0 <= i < len(errors)]
        first = (
            f"{plural(k)}: the error of blocks held out is {errors[k] / max(errors[0], 1e-300):.4f} of that of the mean"
        )
        cut = f"{cuts} cuts into {parts[0]}×{parts[1]} blocks; {sample.words}"
        return Answer(k, Curve(np.arange(most + 1), errors, None, LABEL), ", ".join([first, *beside]) + f"; {cut}")


LABEL = "mean square error of blocks held out"
