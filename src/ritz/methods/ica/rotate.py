"""Rotations of whitened rows that make coordinates as far from normal as they can be.        [Hyv99, AGC18, CS93]

    Z (n×k) white,  S = Z Wᵀ,  WWᵀ = I        max Σᵢ εᵢ E G(sᵢ)      εᵢ = ±1: peaked or flat

    logcosh G = log cosh s     exp G = −e^(−s²/2)     cube G = s⁴/4          g = G′

At a maximum M = E[g(s)sᵀ] − diag E g′(s), its rows times εᵢ = sign Mᵢᵢ, is symmetric: what is left of M − Mᵀ is the
gradient on the group of rotations, and what the answer is judged by, whichever library has found it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MissingDependency

__all__ = [
    "CONTRASTS", "column_sums", "contrast", "gradient", "has_picard", "jade", "jade_gradient", "rotation", "rotations",
    "starts",
]  # fmt: skip

Floats = NDArray[np.float64]


def _logcosh(s: Floats) -> tuple[Floats, Floats]:
    t = np.tanh(s)
    return t, 1 - t * t


#: g and g′ of the contrasts.
CONTRASTS: dict[str, Callable[[Floats], tuple[Floats, Floats]]] = {
    "logcosh": _logcosh,
    "exp": lambda s: (s * np.exp(-np.square(s) / 2), (1 - np.square(s)) * np.exp(-np.square(s) / 2)),
    "cube": lambda s: (s**3, 3 * np.square(s)),
}
#: E G of a normal variable, from which contrasts are counted, and G.
NORMAL: dict[str, tuple[float, Callable[[Floats], Floats]]] = {
    "logcosh": (0.374567207491438, lambda s: (a := np.abs(s)) + np.log1p(np.exp(-2 * a)) - math.log(2)),
    "exp": (-1 / math.sqrt(2), lambda s: -np.exp(-np.square(s) / 2)),
    "cube": (0.75, lambda s: np.square(np.square(s)) / 4),
}
#: Rows that are looked at together.
ROWS = 1 << 15
#: Steps on rotations at most, after a library has come near; sources up to which they are Newton's; differences.
STEPS, NEWTON, DIFFERENCE = 60, 12, 1e-6
#: Steps of FastICA that are tried before a library is asked.
TRIED = 40
#: Gradients below which a step hardly turns a rotation, and cosines of all sources above which two of them are one. Of
#: 25 tables each of 200 to 1,500 rows and 2 to 5 sources, ten starts: Laplace, uniform and t with 8 degrees of freedom
#: lose no better optimum, in 0.16 to 0.30 of the time of all starts by themselves; normal ones, which have none to
#: find, 3 with 0.999 and 5 with 0.99, in a third and a quarter of the time.
NEAR, SAME = 0.02, 0.999
#: Numbers of all starts that are turned at a time.
TOGETHER = 1 << 20


@contextmanager
def quiet() -> Iterator[None]:
    """Libraries say nothing: what they have reached is judged by the gradient."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def has_picard() -> bool:
    """Whether python-picard is installed."""
    try:
        import picard  # noqa: F401
    except ImportError:
        return False
    return True


def column_sums(A: Floats) -> Floats:
    """(k,) by a product: NumPy's sums along few long columns are slower."""
    return np.asarray(np.ones(len(A)) @ A)


def moments_of(S: Floats, fun: str) -> tuple[Floats, Floats]:
    """E[g(s)sᵀ] (k, k) and E g′(s) (k,)."""
    M, d = np.zeros((S.shape[1],) * 2), np.zeros(S.shape[1])
    for start in range(0, len(S), ROWS):
        part = S[start : start + ROWS]
        g, slope = CONTRASTS[fun](part)
        M += g.T @ part
        d += column_sums(slope)
    return M / len(S), d / len(S)


def gradient(S: Floats, fun: str) -> float:
    """‖M − Mᵀ‖/2 of sources of unit variance, rows of M by their signs."""
    return _skew(*moments_of(S, fun))


def _skew(M: Floats, d: Floats) -> float:
    N = M - np.diag(d)
    N = N * np.where(np.diag(N) < 0, -1.0, 1.0)[:, None]
    return float(np.linalg.norm(N - N.T)) / 2


def contrast(S: Floats, fun: str) -> Floats:
    """(k,) how far each source is from normal, |E G(s) − E G(ν)|."""
    normal, G = NORMAL[fun]
    sums = sum(column_sums(G(S[start : start + ROWS])) for start in range(0, len(S), ROWS))
    return np.asarray(np.abs(sums / len(S) - normal))


def rotation(Z: Floats, method: str, fun: str, start: Floats, max_iter: int, tol: float) -> tuple[Floats, int, str]:
    """W (k, k), iterations, and what it was found by; ends with steps until the gradient is below ``tol``.

    ``auto``: steps of FastICA, each of which looks at the rows once; where they do not settle, a library's.
    """
    if Z.shape[1] == 1:
        return np.ones((1, 1)), 0, method
    if method == "jade":
        return *jade(Z, start, max_iter, tol), method
    if method == "auto":
        W, count, off = _stepped(Z, start, fun, tol, min(max_iter, TRIED), falling=False)
        if off <= 0.1 * tol:
            return W, count, "fastica"
        method = _library()
    return _by_library(Z, method, fun, start, max_iter, tol)


def _library() -> str:
    return "picard" if has_picard() else "fastica"


def _by_library(Z: Floats, method: str, fun: str, start: Floats, max_iter: int, tol: float) -> tuple[Floats, int, str]:
    W, count = (_by_picard if method == "picard" else _by_fastica)(Z, fun, start, max_iter, tol)
    return *_refined(Z, W, fun, tol, count), method


def rotations(
    Z: Floats, method: str, fun: str, begun: list[Floats], max_iter: int, tol: float
) -> list[tuple[Floats, int, str]]:
    """``rotation`` from some starts; of those on their way to the same one, the first alone arrives.

    ``auto`` takes all of them a step at a time: of few rows, calls take longer than what they compute.
    """
    if method != "auto" or len(begun) == 1 or Z.shape[1] == 1 or len(begun) * Z.size > TOGETHER:
        return [rotation(Z, method, fun, start, max_iter, tol) for start in begun]
    out = []
    for _, W, count, off in _together(Z, np.array(begun), fun, tol, min(max_iter, TRIED)):
        settled = off <= 0.1 * tol
        out.append((W, count, "fastica") if settled else _by_library(Z, _library(), fun, W, max_iter, tol))
    return out


def _together(Z: Floats, W: Floats, fun: str, tol: float, most: int) -> list[tuple[int, Floats, int, float]]:
    """Steps of FastICA from all starts W (s, k, k): start, rotation, steps and gradient of those that are left."""
    active, done = np.arange(len(W)), []
    for count in range(most + 1):
        S = np.matmul(Z, W.transpose(0, 2, 1))
        g, slope = CONTRASTS[fun](S)
        N = np.matmul(g.transpose(0, 2, 1), S) / len(Z)
        i = np.arange(W.shape[1])
        N[:, i, i] -= np.matmul(np.ones(len(Z)), slope) / len(Z)
        side = np.where(N[:, i, i] < 0, -1.0, 1.0)[:, :, None]
        off = np.linalg.norm(N * side - (N * side).transpose(0, 2, 1), axis=(1, 2)) / 2
        ended = (off <= 0.1 * tol) | (count == most)
        done += [(int(active[j]), W[j], count, float(off[j])) for j in np.flatnonzero(ended)]
        on = _apart(W, off, ended, [one[1] for one in done])
        if not len(on):
            break
        U, _, Vt = np.linalg.svd(N[on])
        turned = U @ Vt
        turned *= np.where(turned[:, i, i] < 0, -1.0, 1.0)[:, :, None]
        W, active = turned @ W[on], active[on]
    return sorted(done, key=lambda one: one[0])


def _apart(W: Floats, off: Floats, ended: NDArray[np.bool_], done: list[Floats]) -> NDArray[np.intp]:
    """Starts that have not ended, without those near a rotation that another is nearer to, or has come to."""
    kept: list[int] = []
    met = list(done)
    for j in np.argsort(off, kind="stable").tolist():
        if ended[j]:
            continue
        if off[j] <= NEAR:
            if any(np.abs(W[j] @ other.T).max(axis=1).min() >= SAME for other in met):
                continue
            met.append(W[j])
        kept.append(j)
    return np.array(sorted(kept), np.intp)


def _by_picard(Z: Floats, fun: str, start: Floats, max_iter: int, tol: float) -> tuple[Floats, int]:
    try:
        from picard import picard
    except ImportError as error:
        raise MissingDependency("method='picard' needs python-picard", hint="pip install 'ritz[ica]'") from error
    with quiet():
        _, W, _, count = picard(
            Z.T, fun={"logcosh": "tanh"}.get(fun, fun), ortho=True, extended=True, whiten=False, centering=False,
            max_iter=max_iter, tol=tol, w_init=start, return_n_iter=True, check_fun=False,
        )  # fmt: skip
    return _nearest(np.asarray(W, np.float64)), int(count)


def _by_fastica(Z: Floats, fun: str, start: Floats, max_iter: int, tol: float) -> tuple[Floats, int]:
    from sklearn.decomposition import fastica

    with quiet():
        _, W, _, count = fastica(
            Z, fun=fun, whiten=False, w_init=start, max_iter=max_iter, tol=max(tol, 1e-10), return_n_iter=True
        )  # fmt: skip
    return _nearest(np.asarray(W, np.float64)), int(count)


def _nearest(W: Floats) -> Floats:
    """The rotation next to a matrix."""
    U, _, Vt = np.linalg.svd(W)
    return np.asarray(U @ Vt)


def _stepped(
    Z: Floats, W: Floats, fun: str, tol: float, most: int, *, falling: bool
) -> tuple[Floats, int, float]:  # fmt: skip
    """Steps of FastICA, which converge like Newton's once they are near; ``falling``: none to a larger gradient."""
    M, d = moments_of(Z @ W.T, fun)
    off, count = _skew(M, d), 0
    while count < most and off > 0.1 * tol:
        turned = _nearest(M - np.diag(d))
        tried = (turned * np.where(np.diag(turned) < 0, -1.0, 1.0)[:, None]) @ W
        M, d = moments_of(Z @ tried.T, fun)
        now = _skew(M, d)
        if falling and not now < off:
            break
        W, off, count = tried, now, count + 1
    return W, count, off


def _refined(Z: Floats, W: Floats, fun: str, tol: float, count: int) -> tuple[Floats, int]:
    """Steps of FastICA as long as the gradient falls, then Newton's."""
    W, more, off = _stepped(Z, W, fun, tol, STEPS, falling=True)
    if off > 0.1 * tol and Z.shape[1] <= NEWTON:
        return _newton(Z, W, fun, tol, count + more)
    return W, count + more


def _newton(Z: Floats, W: Floats, fun: str, tol: float, count: int) -> tuple[Floats, int]:
    """Newton's steps on rotations, W ← e^Θ W, with the derivative of the gradient by differences."""
    from scipy.linalg import expm

    k = len(W)
    pairs = np.triu_indices(k, 1)

    def turned(angles: NDArray[Any]) -> Floats:
        T = np.zeros((k, k))
        T[pairs] = angles
        return np.asarray(expm(T - T.T))

    def slope(V: Floats, side: Floats | None = None) -> tuple[Floats, Floats]:
        M, d = moments_of(Z @ V.T, fun)
        N = M - np.diag(d)
        side = np.where(np.diag(N) < 0, -1.0, 1.0) if side is None else side
        N = N * side[:, None]
        return (N - N.T)[pairs], side

    for _ in range(STEPS // 4):
        g, side = slope(W)
        if np.linalg.norm(g) <= 0.1 * tol:
            break
        steps = DIFFERENCE * np.eye(len(g))
        J = np.column_stack(
            [(slope(turned(step) @ W, side)[0] - g) / DIFFERENCE for step in np.asarray(steps, np.float64)]
        )
        tried = turned(-np.linalg.lstsq(J, g, rcond=None)[0]) @ W
        if not np.linalg.norm(slope(tried, side)[0]) < np.linalg.norm(g):
            break
        W, count = tried, count + 1
    return _nearest(W), count


# --- JADE ------------------------------------------------------------------------------------------------


def cumulants(Z: Floats) -> Floats:
    """(m, k, k) the k(k + 1)/2 matrices of fourth cumulants of white rows."""
    n, k = Z.shape
    out = []
    for i in range(k):
        for j in range(i + 1):
            both = (Z * (Z[:, i] * Z[:, j])[:, None]).T @ Z / n
            E = np.zeros((k, k))
            E[i, j] = E[j, i] = 1.0
            Q = both - (np.eye(k) + 2 * np.diag(np.eye(k)[i]) if i == j else E)
            out.append(Q if i == j else math.sqrt(2) * Q)
    return np.array(out)


def jade(Z: Floats, start: Floats, max_iter: int, tol: float) -> tuple[Floats, int]:
    """Joint approximate diagonalisation of fourth cumulants by Jacobi rotations."""
    V, sweeps = start.T.copy(), 0
    C = np.einsum("ai,mab,bj->mij", V, cumulants(Z), V, optimize=True)
    k = Z.shape[1]
    while sweeps < max_iter:
        sweeps, largest = sweeps + 1, 0.0
        for p in range(k - 1):
            for q in range(p + 1, k):
                a, b = C[:, p, p] - C[:, q, q], C[:, p, q] + C[:, q, p]
                on, both = float(a @ a - b @ b), 2 * float(a @ b)
                angle = 0.5 * math.atan2(both, on + math.hypot(on, both))
                largest = max(largest, abs(angle))
                if abs(angle) < 1e-15:
                    continue
                c, s = math.cos(angle), math.sin(angle)
                G = np.array([[c, -s], [s, c]])
                V[:, [p, q]] = V[:, [p, q]] @ G
                C[:, :, [p, q]] = C[:, :, [p, q]] @ G
                C[:, [p, q], :] = np.einsum("ba,mbj->maj", G, C[:, [p, q], :])
        if largest <= min(tol, 1e-8):
            break
    return V.T, sweeps


def jade_gradient(S: Floats) -> float:
    """Largest angle by which a Jacobi rotation would still turn two sources."""
    C, k, largest = cumulants(S), S.shape[1], 0.0
    for p in range(k - 1):
        for q in range(p + 1, k):
            a, b = C[:, p, p] - C[:, q, q], C[:, p, q] + C[:, q, p]
            on, both = float(a @ a - b @ b), 2 * float(a @ b)
            largest = max(largest, abs(0.5 * math.atan2(both, on + math.hypot(on, both))))
    return largest


def starts(k: int, count: int, seed: Any) -> list[Floats]:
    """The identity, and rotations drawn at random."""
    rng = np.random.default_rng(seed)
    return [np.eye(k), *(_nearest(rng.standard_normal((k, k))) for _ in range(count - 1))]
