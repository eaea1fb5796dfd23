"""What is proved of an unfolding: points that are feasible, and a variance that no feasible points exceed.

    points     Z ← Z·min_a √(c_a/‖z_i − z_j‖²): no pair is longer than it may be; their variance is a lower bound
    weights    w ≥ 0, λ₂(L(w)) ≥ λ > 0:   tr K = tr(JK) ≤ tr(L(w)K)/λ = Σ w_a ‖y_i − y_j‖²/λ ≤ Σ w_a c_a/λ      [SBXD06]

Any w proves a bound; the optimal one proves the optimum. λ comes from Ritz's own smallest eigenvalue of a graph, with
its enclosure and its proof that none was missed; of weights of either sign, which the equality form has, from a dense
decomposition less what LAPACK may lose. Roundings of distances and sums are taken off on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ritz._core.errors import InputError
from ritz._core.tolerance import rounding
from ritz.methods.manifold.unfolding.interior import Ended
from ritz.methods.manifold.unfolding.pairs import Pairs
from ritz.operators import Laplacian
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.smallest_plan import choose_smallest, known_null_vectors
from ritz.spectral.solve import solve

__all__ = ["DENSE", "Proof", "better", "gap_of", "proved", "second", "shortened"]

Floats = NDArray[np.float64]

#: Rows up to which weights of either sign are decomposed densely.
DENSE = 2000
#: Roundings of a sum of squares, in units of u: pairwise summation of n·r numbers, squares, products.
SUM = 128.0
#: Sweeps that bring pairs together which are too long, how much further than needed, and when that is enough.
SWEEPS, OVER, NEAR = 200, 1.5, 1e-10
U = 2.0**-53


@dataclass(frozen=True, eq=False)
class Proof:
    """Points and weights, and where the optimum lies: between ``variance`` and ``bound``."""

    Z: Floats  # (n, r) in the unit of the rows
    w: Floats  # (m,) of pairs in their own unit
    variance: float
    bound: float
    second: float  # λ₂(L(w)) is no less
    violation: float  # largest |‖z_i − z_j‖²/c − 1| of the equality form; 0 where no pair is too long
    how: str

    @property
    def gap(self) -> float:
        """(bound − variance)/bound."""
        return gap_of(self.variance, self.bound)


def gap_of(variance: float, bound: float) -> float:
    """(bound − variance)/bound; 1 where nothing bounds it."""
    return (bound - variance) / bound if np.isfinite(bound) else 1.0


def proved(pairs: Pairs, ended: Ended, equal: bool = False) -> Proof:
    """Scale the points, bound the optimum."""
    Z = ended.Z - ended.Z.mean(axis=0)
    far = pairs.of_points(Z)
    margin = pairs.relative + 2 * (Z.shape[1] + 4) * U
    violation = 0.0
    if equal:
        violation = float(np.max(np.abs(far / pairs.squares - 1))) + margin
    else:
        Z, share = shortened(pairs, Z)
        Z = Z * np.sqrt(min(share, 1.0) * (1 - 2 * margin))  # points that could be stretched are left as they are
    variance = float(np.sum(np.square(Z))) * (1 - SUM * U) - _mean(Z)
    w = ended.w if equal else np.maximum(ended.w, 0.0)
    least, how = second(pairs, w)
    total = float(np.sum(np.abs(w) * pairs.squares)) * (SUM * U + margin) + float(w @ pairs.squares)
    bound = total / least * (1 + 4 * U) if least > 0 else float("inf")
    square = pairs.unit**2
    return Proof(Z * pairs.unit, w, max(variance, 0.0) * square, bound * square, least, violation, how)


def better(a: Proof, b: Proof) -> Proof:
    """The points of larger variance with the weights of the smaller bound, of two proofs of one inequality form."""
    points, weights = (a if a.variance >= b.variance else b), (a if a.bound <= b.bound else b)
    return Proof(points.Z, weights.w, points.variance, weights.bound, weights.second, points.violation, weights.how)


def shortened(pairs: Pairs, Z: Floats) -> tuple[Floats, float]:
    """Points whose pairs are brought together where they are too long, and the share that the worst is then too long.

    Scaling all points by the worst pair would give away what one pair of near copies is off by rounding.
    """
    best, share = Z, _share(pairs, Z)
    counts = np.bincount(np.concatenate([pairs.i, pairs.j]), minlength=pairs.n)
    weight = 1.0 / np.maximum(counts[pairs.i], counts[pairs.j])
    B = pairs.incidence()
    back = B.T.tocsr()
    for _ in range(SWEEPS):
        if share >= 1 - NEAR:
            break
        E = B @ Z
        ratio = np.minimum(np.sqrt(pairs.squares / np.maximum(np.einsum("ar,ar->a", E, E), 1e-300)) - 1, 0.0)
        Z = Z + back @ ((0.5 * OVER * weight * ratio)[:, None] * E)
        new = _share(pairs, Z)
        if new > share:
            best, share = Z, new
    return best - best.mean(axis=0), share


def _share(pairs: Pairs, Z: Floats) -> float:
    return float(np.min(pairs.squares / np.maximum(pairs.of_points(Z), 1e-300)))


def second(pairs: Pairs, w: Floats) -> tuple[float, str]:
    """A number that λ₂(L(w)) is not below, and how that is known."""
    if bool(np.any(w < 0)):
        return _decomposed(pairs, w)
    W = pairs.graph(w)
    if connected_components(W, directed=False)[0] > 1:
        return 0.0, "the weights leave the graph in pieces"
    L = Laplacian(W)
    plan = choose_smallest(L, 1, known_null_vectors(L, None), solver="auto", memory=None)
    found = solve(SpectralProblem(L, k=1, kind="eigh", which="smallest", tol=1e-8, seed=0), plan)
    c = found.certificate
    if not bool(c.labelled[0]):
        return 0.0, "the smallest eigenvalue of the weights is not proved"
    told = "" if c.probability >= 1 else f", with probability {c.probability:.9g}"
    return float(c.lower[0]), f"{c.completeness}{told}"


def _decomposed(pairs: Pairs, w: Floats) -> tuple[float, str]:
    n = pairs.n
    if n > DENSE:
        raise InputError(f"the equality form is proved for at most {DENSE:,} rows in one piece",
                         received=f"{n:,} rows", hint="form='inequality'")  # fmt: skip
    L = pairs.laplacian(w).toarray()
    size = float(np.max(np.sum(np.abs(L), axis=1)))
    values = scipy.linalg.eigvalsh(
        L + size / n
    )  # the ones have the eigenvalue ``size``, above all others or among them
    error = (rounding(n, U) + 64 * n * U) * 2 * size
    return float(values[0]) - error, "every eigenvalue of the weights by a dense decomposition, less its rounding"


def _mean(Z: Floats) -> float:
    """n‖z̄‖², which the points' variance about their mean lacks."""
    return float(len(Z) * np.sum(np.square(Z.mean(axis=0))))
