"""Points instead of their Gram matrix: maximum variance unfolding of many rows.                             [BM03]

    max ‖Z‖²,  Z (n×r), 1ᵀZ = 0,  g_a = ‖z_i − z_j‖² − c_a ≤ 0
    min over Z of  −½‖Z‖² + ¼ Σ ([w + ρ∘g]₊² − w²)/ρ,   then w ← [w + ρ∘g]₊        augmented Lagrangian   [Hes69; Pow69]

r is a few more than the axes of the map. The minima are found by limited-memory BFGS in the metric of L(w + 2ρc), of
which one sparse factor is made for each round: without it the steps would number as the diameter of the graph squared.
Stationary points have L(w)Z = Z, so where λ₂(L(w)) = 1 too, Z is the optimum of all ranks. Weights of the rounds are a
little loose: a share of even weights is mixed in, whichever makes cᵀw/λ₂ least. Nothing is promised: the gap between
the best points and the best weights of all rounds is measured, and told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh, splu

from ritz._core.random import gaussian_rows
from ritz._core.threads import go_on
from ritz.methods.manifold.unfolding.interior import Ended
from ritz.methods.manifold.unfolding.pairs import Pairs
from ritz.methods.manifold.unfolding.proof import shortened

__all__ = ["loosest", "low_rank"]

Floats = NDArray[np.float64]

#: Rounds at most, steps of one at most, and after how many rounds points and weights are looked at.
ROUNDS, STEPS, EVERY = 60, 400, 3
#: What ρ grows by in the first rounds, and later: measured on swiss rolls of 400 to 5,000 rows.
GROWTH, EARLY, LATER = 1.5, 10, 1.2
#: Gradient, in the metric of the factor over ‖Z‖, at which a round ends: at first, times so much a round, at last.
FIRST, SHARPER, LAST = 1e-3, 0.6, 1e-7
#: Pairs of steps that are remembered; decrease that a step must bring; how often it is cut.
REMEMBERED, ARMIJO, CUTS = 12, 1e-4, 25
#: Shares of even weights that are tried.
SHARES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)
#: Dimensions beyond those of the map, and random parts of the start relative to its size.
BEYOND, NOISE = 6, 1e-2


def low_rank(pairs: Pairs, axes: int, *, tol: float, seed: int, rounds: int = ROUNDS) -> Ended:
    """Points and weights whose gap is at most ``tol``, or those of all rounds."""
    rank = min(axes + BEYOND, pairs.n - 1)
    even, Z = _start(pairs, rank, seed)
    w, rho = even.copy(), even / pairs.squares
    B = pairs.incidence()
    best_Z, best_w, inside, bound, rounded = Z, even, 0.0, np.inf, 0
    for rounded in range(1, rounds + 1):
        factor = _factor(pairs, w + 2 * rho * pairs.squares)
        loss = _Loss(B, pairs.squares, w, rho)
        Z = _descended(loss, Z, factor, max(FIRST * SHARPER ** (rounded - 1), LAST))
        w = loss.weights(Z)
        if rounded % EVERY == 0 or rounded == rounds:
            brought, share = shortened(pairs, _off(Z))
            value = float(np.vdot(brought, brought)) * min(share, 1.0)
            if value > inside:
                inside, best_Z = value, brought
            mixed, reach = loosest(pairs, w, even)
            if reach < bound:
                bound, best_w = reach, mixed
            if bound - inside <= 0.8 * tol * bound:
                break
        rho = rho * (GROWTH if rounded <= EARLY else LATER)
    return Ended(_off(best_Z), best_w, rounded, f"points of {rank} dimensions")


def loosest(pairs: Pairs, w: Floats, even: Floats) -> tuple[Floats, float]:
    """``w`` with the share of ``even`` weights that makes cᵀw/λ₂(L(w)) least, and how much that is."""
    total, own = float(pairs.squares @ w), float(pairs.squares @ even)
    best, least = even, float("inf")
    for share in SHARES:
        mixed = (1 - share) * w + share * (total / own if total > 0 else 1.0) * even
        smallest = _second(pairs, mixed)
        reach = float(pairs.squares @ mixed) / smallest if smallest > 0 else float("inf")
        if reach < least:
            best, least = mixed, reach
        elif np.isfinite(least):
            break  # λ₂ is concave in the share: it goes down from here
    return best, least


def _second(pairs: Pairs, w: Floats) -> float:
    """λ₂ of L(w), not proved."""
    L = sp.csc_array(pairs.laplacian(w))
    if pairs.n <= 64:
        return float(np.linalg.eigvalsh(L.toarray())[1])
    size = float(np.max(np.abs(L.diagonal()), initial=1e-300))
    try:
        lu = _splu(L + 1e-9 * size * sp.eye_array(pairs.n, format="csc"))
        inverse = sp.linalg.LinearOperator(L.shape, lambda x: _off(lu.solve(_off(x))), dtype=np.float64)
        top = eigsh(inverse, k=1, which="LM", tol=1e-10, v0=_off(np.cos(np.arange(pairs.n) * 1.234567)))[0][0]
    except (RuntimeError, np.linalg.LinAlgError):
        return 0.0
    return float(1.0 / top - 1e-9 * size)


def _off(x: Floats) -> Floats:
    return x - x.mean(axis=0)


def _splu(A: Any) -> Any:
    return splu(sp.csc_array(A), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _factor(pairs: Pairs, weights: Floats) -> Callable[[Floats], Floats]:
    """``x ↦ L(weights)⁻¹ x`` off the ones."""
    L = pairs.laplacian(weights)
    size = float(np.max(L.diagonal()))
    lu = _splu(L + 1e-12 * size * sp.eye_array(pairs.n, format="csr"))
    return lambda x: _off(lu.solve(_off(x)))


def _start(pairs: Pairs, rank: int, seed: int) -> tuple[Floats, Floats]:
    """Even weights with λ₂ = 1, and the lowest eigenvectors of their Laplacian, scaled until one pair is tight."""
    even = 1.0 / pairs.squares
    L = sp.csc_array(pairs.laplacian(even))
    n, size = pairs.n, float(np.max(L.diagonal()))
    if n <= 200 or rank + 1 >= n - 1:
        values, V = np.linalg.eigh(L.toarray())
        values, V = values[1 : rank + 1], V[:, 1 : rank + 1]
    else:
        lu = _splu(L + 1e-12 * size * sp.eye_array(n, format="csc"))
        inverse = sp.linalg.LinearOperator((n, n), lambda x: _off(lu.solve(_off(x))), dtype=np.float64)
        start = _off(np.cos(np.arange(n) * 1.234567))
        tops, V = eigsh(inverse, k=rank, which="LM", tol=1e-6, v0=start)
        values, V = 1.0 / tops[::-1], V[:, ::-1]
    values = np.maximum(values, 1e-300)
    Z = V * np.sqrt(values[0] / values)
    Z = Z + NOISE * gaussian_rows(seed, 1 << 22, 0, n, rank) / np.sqrt(n) * np.sqrt(values[0] / values)
    Z = _off(Z)
    Z = Z * np.sqrt(float(np.min(pairs.squares / np.maximum(pairs.of_points(Z), 1e-300))))
    return even / float(values[0]), Z


class _Loss:
    """The augmented Lagrangian of given weights."""

    def __init__(self, B: Any, c: Floats, w: Floats, rho: Floats) -> None:
        self.B, self.back, self.c, self.w, self.rho = B, B.T.tocsr(), c, w, rho

    def weights(self, Z: Floats) -> Floats:
        """``[w + ρ∘g]₊``."""
        return self._tense(self.B @ Z)

    def _tense(self, E: Floats) -> Floats:
        return np.maximum(self.w + self.rho * (np.einsum("ar,ar->a", E, E) - self.c), 0.0)

    def at(self, Z: Floats) -> tuple[float, Floats]:
        """Value and gradient."""
        E = self.B @ Z
        t = self._tense(E)
        value = -0.5 * float(np.vdot(Z, Z)) + 0.25 * float(np.sum((t - self.w) * (t + self.w) / self.rho))
        return value, self.back @ (t[:, None] * E) - Z


def _descended(loss: _Loss, Z: Floats, factor: Callable[[Floats], Floats], sharp: float) -> Floats:
    """A minimum near Z; L⁻¹ is applied once a step, to the gradient: to its changes by differences."""
    value, gradient = loss.at(Z)
    steep = factor(gradient)
    changes: list[_Change] = []
    for _ in range(STEPS):
        go_on()
        if np.sqrt(max(float(np.vdot(gradient, steep)), 0.0)) <= sharp * float(np.linalg.norm(Z)):
            break
        way = _direction(gradient, steep, changes)
        slope = float(np.vdot(gradient, way))
        if not slope < 0:
            changes, way = [], -steep
            slope = float(np.vdot(gradient, way))
        t = 1.0
        for _cut in range(CUTS):
            new = Z + t * way
            found, turned = loss.at(new)
            if found <= value + ARMIJO * t * slope:
                break
            t *= 0.5
        else:
            break
        steeper = factor(turned)
        s, y = new - Z, turned - gradient
        curved = float(np.vdot(s, y))
        if curved > 1e-12 * float(np.linalg.norm(s)) * float(np.linalg.norm(y)):
            changes.append(_Change(s, y, steeper - steep, curved))
            del changes[:-REMEMBERED]
        Z, value, gradient, steep = new, found, turned, steeper
    return Z


@dataclass(frozen=True, eq=False)
class _Change:
    """A step s, the change of the gradient y, L⁻¹y and sᵀy."""

    s: Floats
    y: Floats
    solved: Floats
    curved: float


def _direction(g: Floats, steep: Floats, changes: list[_Change]) -> Floats:
    """−Hg: the two loops of limited-memory BFGS, from a multiple of L⁻¹."""
    q, solved, kept = -g, -steep, []
    for one in reversed(changes):
        a = float(np.vdot(one.s, q)) / one.curved
        q, solved = q - a * one.y, solved - a * one.solved
        kept.append(a)
    if changes:
        last = changes[-1]
        solved = solved * (last.curved / max(float(np.vdot(last.y, last.solved)), 1e-300))
    for one, a in zip(changes, reversed(kept), strict=True):
        solved = solved + one.s * (a - float(np.vdot(one.y, solved)) / one.curved)
    return np.asarray(solved - solved.mean(axis=0))
