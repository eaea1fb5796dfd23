"""An interior-point method for maximum variance unfolding that uses that every pair is a matrix of rank one.

    max tr K,  K ⪰ 0, K1 = 0, ‖y_i − y_j‖² + s = c          min cᵀw,  S = L(w) − J ⪰ 0, w ≥ 0        J = I − 11ᵀ/n
    KS = μJ,  s∘w = μ1                                       Newton steps as μ falls                  [HRVW96; Meh92]
    (M + diag(s/w)) dw = μ·dist(S⁻¹) + μ/w − c,              M_ab = (b_aᵀ K b_b)(b_aᵀ S⁻¹ b_b)

M is a product of two m×m tables of differences, entry by entry: O(m²) to form and m³/3 to factor, whatever n. Both
problems have interior points where the graph is in one piece, so nothing stands between the optimum of the one and that
of the other. S stays positive definite, so cᵀw is a bound all the way; K is scaled until no distance is too long. Pairs
are divided by c. Of the equality form (``equal``) w may have either sign, s is absent, and no best w need exist: then w
grows while the gap closes, and the method ends where arithmetic ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.threads import go_on
from ritz.methods.manifold.unfolding.pairs import Pairs

__all__ = ["Ended", "interior", "points_of"]

Floats = NDArray[np.float64]

#: Iterations at most, and those without a tenth less of the gap, or of ⟨K, S⟩ + sᵀw, after which it ends.
MOST, STILL = 100, 6
#: Share of the way to the boundary that a step goes; steps of Lanczos that find the boundary.
INSIDE, STEPS = 0.95, 30
#: Rows up to which the boundary is found by all eigenvalues.
SMALL = 60
#: What is added to M where it is singular to rounding, as a share of its diagonal.
RIDGES = (0.0, 1e-14, 1e-12, 1e-10)
#: Pairs of one block of M.
BLOCK = 512


@dataclass(frozen=True, eq=False)
class Ended:
    """Where a solver ended: points whose pairs may be a little too long, and weights of the pairs."""

    Z: Floats  # (n, r)
    w: Floats  # (m,)
    iterations: int
    words: str


class _Program:
    """The program with c = 1: pairs divided by their distances."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs, self.n, self.m = pairs, pairs.n, len(pairs)
        self.i, self.j, self.root = pairs.i, pairs.j, 1.0 / np.sqrt(pairs.squares)

    def lengths(self, T: Floats) -> Floats:
        """``b_aᵀ T b_a`` over c_a."""
        g = np.diag(T)
        return np.asarray((g[self.i] + g[self.j] - 2 * T[self.i, self.j]) * self.root**2)

    def laplacian(self, v: Floats) -> Any:
        return self.pairs.laplacian(v * self.root**2)

    def table(self, K: Floats, T: Floats) -> Floats:
        """``M``."""
        M = np.empty((self.m, self.m), order="F")
        for start in range(0, self.m, BLOCK):
            go_on()
            at = slice(start, min(start + BLOCK, self.m))
            A, B = K[self.i[at]] - K[self.j[at]], T[self.i[at]] - T[self.j[at]]
            rows = (A[:, self.i] - A[:, self.j]) * (B[:, self.i] - B[:, self.j])
            M[:, at] = (rows * self.root**2 * (self.root[at] ** 2)[:, None]).T
        return M


@dataclass(eq=False)
class _State:
    """K (n×n), v = w·c and slacks s, with S and its inverse off the ones."""

    K: Floats
    v: Floats
    s: Floats
    S: Floats
    factor: Any  # of S + 11ᵀ/n
    inverse: Floats
    root: Any  # Cholesky factor of K + …11ᵀ


def interior(pairs: Pairs, *, tol: float, equal: bool = False, most: int = MOST) -> Ended:
    """Solve until cᵀw − tr K ≤ tol·cᵀw for points that are feasible, or until arithmetic ends."""
    program = _Program(pairs)
    state = _first(program, equal)
    best_K, best_v, best, least, still = state.K, state.v, 0.0, np.inf, 0
    words, iteration, before, lowest = "", 0, np.inf, np.inf
    for iteration in range(1, most + 1):  # noqa: B007
        go_on()
        length = program.lengths(state.K)
        value = float(np.trace(state.K))
        if float(state.v.sum()) < least:
            least, best_v = float(state.v.sum()), state.v
        if equal:  # K is feasible at the end alone: what is still off counts as well
            gap = max(abs(least - value) / least, float(np.abs(length - 1).max()))
            best_K = state.K if gap < before else best_K
        else:
            inside = value / max(1.0, float(length.max()))
            if inside > best:
                best, best_K = inside, state.K
            gap = (least - best) / least
        if gap <= 0.5 * tol:
            words = "the gap is closed"
            break
        barrier = float(np.sum(state.K * state.S)) + float(state.s @ state.v if len(state.s) else 0.0)
        still = 0 if gap < 0.9 * before or barrier < 0.9 * lowest else still + 1
        before, lowest = min(before, gap), min(lowest, barrier)
        if still >= STILL:
            words = "rounding let the gap fall no further"
            break
        found = _stepped(program, state, equal)
        if found is None:
            words = "rounding let the gap fall no further"
            break
        state = found
    return Ended(points_of(best_K), best_v / pairs.squares, iteration, words or f"{most} iterations were not enough")


def points_of(K: Floats) -> Floats:
    """Points Z (n×r) with ZZᵀ = K, but for what is rounding: leaving out axes makes no distance longer."""
    values, V = scipy.linalg.eigh(_centred(K))
    keep = values > len(K) * 2.0**-52 * max(float(values[-1]), 0.0)
    Z = V[:, keep] * np.sqrt(values[keep])
    return np.asarray(Z[:, ::-1] - Z[:, ::-1].mean(axis=0))


def _centred(K: Floats) -> Floats:
    """``JKJ``, symmetric: steps let K drift off K1 = 0, which no distance shows."""
    K = (K + K.T) / 2
    means = K.mean(axis=0)
    return np.asarray(K - means - means[:, None] + means.mean())


def _first(program: _Program, equal: bool) -> _State:
    """Even weights, twice as heavy as λ₂ asks for, and the K that is central for them."""
    n, one = program.n, 1.0 / program.n
    L = program.laplacian(np.ones(program.m)).toarray()
    smallest = float(scipy.linalg.eigvalsh(L + np.trace(L) * one, subset_by_index=[0, 0])[0])
    v = np.full(program.m, 2.0 / smallest)
    S, factor, inverse = _slack(program, v)
    length = program.lengths(inverse)
    mu = float(np.median(1.0 / length))
    K = mu * inverse
    s = np.zeros(0) if equal else np.maximum(1.0 - program.lengths(K), mu / v)
    return _State(K, v, s, S, factor, inverse, scipy.linalg.cholesky(K + np.trace(K) / n * one, lower=True))


def _slack(program: _Program, v: Floats) -> tuple[Floats, Any, Floats]:
    """S, the Cholesky factor of S + 11ᵀ/n, and S⁻¹ off the ones."""
    n = program.n
    S = program.laplacian(v).toarray()
    S[np.diag_indices(n)] -= 1.0
    S += 1.0 / n
    factor = scipy.linalg.cho_factor(S + 1.0 / n, lower=True)
    inverse = scipy.linalg.cho_solve(factor, np.eye(n)) - 1.0 / n
    return S, factor, (inverse + inverse.T) / 2


def _stepped(program: _Program, state: _State, equal: bool) -> _State | None:
    """A predictor and a corrector; None where M, K or S can no longer be factored."""
    K, v, s = state.K, state.v, state.s
    duality = float(np.sum(K * state.S)) + float(s @ v if not equal else 0.0)
    mu = duality / (program.n - 1 + (0 if equal else program.m))
    solve = _solver(program, state, equal)
    if solve is None or not mu > 0:
        return None
    dv, dS, dK, ds = _direction(program, state, solve, 0.0, None, None)
    ap, ad = _reach(state, dv, dS, dK, ds, equal)
    ap, ad = min(1.0, ap), min(1.0, ad)
    after = float(np.sum((K + ap * dK) * (state.S + ad * dS))) + float(
        (s + ap * ds) @ (v + ad * dv) if not equal else 0.0
    )
    centring = min(1.0, max(1e-6, (max(after, 0.0) / duality) ** (3 if min(ap, ad) > 0.5 else 1)))
    T = dK @ (dS @ state.inverse)
    corrector = None if equal else ds * dv / v
    dv, dS, dK, ds = _direction(program, state, solve, centring * mu, (T + T.T) / 2, corrector)
    if not (np.isfinite(dv).all() and np.isfinite(dK).all()):
        return None
    ap, ad = (min(1.0, INSIDE * one) for one in _reach(state, dv, dS, dK, ds, equal))
    return _moved(program, state, (dv, dK, ds), ap, ad)


def _moved(program: _Program, state: _State, way: tuple[Any, Any, Any], ap: float, ad: float) -> _State | None:
    """The next state; steps are shortened where a factor fails."""
    dv, dK, ds = way
    for _ in range(8):
        v, K = state.v + ad * dv, _centred(state.K + ap * dK)
        try:
            S, factor, inverse = _slack(program, v)
        except scipy.linalg.LinAlgError:
            ad *= 0.5
            continue
        try:
            root = scipy.linalg.cholesky(K + np.trace(K) / program.n**2, lower=True)
        except scipy.linalg.LinAlgError:
            ap *= 0.5
            continue
        return _State(K, v, state.s + ap * ds, S, factor, inverse, root)
    return None


def _solver(program: _Program, state: _State, equal: bool) -> Any:
    M = program.table(state.K, state.inverse)
    diagonal = np.arange(program.m)
    if not equal:
        M[diagonal, diagonal] += state.s / state.v
    own = M[diagonal, diagonal].copy()
    for ridge in RIDGES:
        M[diagonal, diagonal] = own * (1 + ridge)
        try:
            factor = scipy.linalg.cho_factor(M, lower=True, overwrite_a=False)
        except scipy.linalg.LinAlgError:
            continue
        return lambda right: scipy.linalg.cho_solve(factor, right)
    return None


def _direction(
    program: _Program, state: _State, solve: Any, mu: float, corrector: Any, slack: Any
) -> tuple[Floats, Any, Floats, Floats]:
    K, v, s, inverse = state.K, state.v, state.s, state.inverse
    right = mu * program.lengths(inverse) - 1.0
    if len(s):
        right = right + mu / v
    if corrector is not None:
        right = right - program.lengths(corrector)
    if slack is not None:
        right = right - slack
    dv = solve(right)
    dS = program.laplacian(dv)
    T = np.asarray(dS @ K).T @ inverse
    dK = mu * inverse - K - (T + T.T) / 2
    ds = (mu - s * v - s * dv) / v if len(s) else s
    if corrector is not None:
        dK = dK - corrector
    if slack is not None:
        ds = ds - slack
    return dv, dS, dK, ds


def _reach(state: _State, dv: Floats, dS: Any, dK: Floats, ds: Floats, equal: bool) -> tuple[float, float]:
    """How far K and S, s and v can go before they leave their cones."""
    ap = _to_boundary(state.root, lambda x: dK @ x, len(dK))
    ad = _to_boundary(state.factor[0], lambda x: dS @ x, len(dK))
    if not equal:
        ap = min(ap, float(np.min(np.where(ds < 0, -state.s / np.where(ds < 0, ds, -1.0), np.inf))))
        ad = min(ad, float(np.min(np.where(dv < 0, -state.v / np.where(dv < 0, dv, -1.0), np.inf))))
    return ap, ad


def _to_boundary(C: Floats, product: Any, n: int) -> float:
    """The largest α with CCᵀ + αD ⪰ 0, of which D is known by its products: −1/λ_min(C⁻¹DC⁻ᵀ)."""

    def turned(x: Floats) -> Floats:
        x = scipy.linalg.solve_triangular(C, x, lower=True, trans="T", check_finite=False)
        return np.asarray(scipy.linalg.solve_triangular(C, product(x), lower=True, check_finite=False))

    if n <= SMALL:
        A = turned(np.eye(n))
        least = float(np.linalg.eigvalsh((A + A.T) / 2)[0])
    else:
        least = _smallest(turned, n)
    return np.inf if least >= 0 else -1.0 / least


def _smallest(turned: Any, n: int) -> float:
    """The smallest eigenvalue by Lanczos, with the residual taken off."""
    q = np.cos(np.arange(1, n + 1) * 1.234567) + 0.1  # no draw: the same every time
    Q = [q / np.linalg.norm(q)]
    alphas: list[float] = []
    betas: list[float] = []
    least = 0.0
    for _ in range(min(STEPS, n - 1)):
        r = turned(Q[-1])
        alphas.append(float(r @ Q[-1]))
        basis = np.array(Q)
        r = r - basis.T @ (basis @ r)
        r = r - basis.T @ (basis @ r)
        beta = float(np.linalg.norm(r))
        values, V = scipy.linalg.eigh_tridiagonal(alphas, betas)
        error = beta * abs(float(V[-1, 0]))
        least = float(values[0]) - error
        if beta <= 1e-12 or error <= 1e-2 * abs(float(values[0])):
            break
        betas.append(beta)
        Q.append(r / beta)
    return least
