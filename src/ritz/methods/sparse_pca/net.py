"""Sparse components as a regression: the elastic net of Zou, Hastie and Tibshirani.                        [ZHT06]

    min over A, B of  Σⱼ (aⱼ − bⱼ)ᵀ C (aⱼ − bⱼ) + ρ‖bⱼ‖² + αⱼ‖bⱼ‖₁     subject to AᵀA = I          C (d×d), A, B (d×k)

    given A, every bⱼ is an elastic net in Gram form;   given B, CB = U S Wᵀ and A = U Wᵀ;   loadings bⱼ/‖bⱼ‖

Only products with the covariance enter, and its blocks on the columns that have entries (``covariance.py``). ``counts``
instead of penalties: the point of the path at which bⱼ has that many entries and would get one more (``path.py``);
where that goes round in a circle, the places of the entries are held and they are no longer penalised. ρ = ∞ is soft
thresholding of Caⱼ, for far more columns than rows. A penalty never takes the last entry of a component.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.sparse_pca.covariance import Covariance
from ritz.methods.sparse_pca.path import again, along

__all__ = ["Net", "elastic_net", "lasso", "lasso_of_size"]

Floats = NDArray[np.float64]

#: Iterations that are compared with, to see whether loadings go round in a circle, and after how many they are held
#: anyway. Zou's example with numbers of entries settles in about 200.
REMEMBERED, PATIENCE = 24, 250
#: Changes of sign, beside two a column, that are repaired before the whole path is followed instead.
REPAIRS = 50


@dataclass(frozen=True)
class Net:
    """Sparse loadings."""

    loadings: Floats  # (d, k) unit columns
    iterations: int
    converged: bool
    change: float  # of the loadings in the last iteration


def elastic_net(
    C: Covariance,
    start: Floats,
    penalties: Floats | None,
    counts: Any,
    ridge: float,
    *,
    tol: float,
    steps: int,
    tick: Any,
) -> Net:
    """Alternate until no loading changes by more than ``tol``; ``start`` (d, k) are the ordinary axes."""
    A, B = start.copy(), start.copy()
    change, it, seen, supports = np.inf, 0, deque([_unit(B)], maxlen=REMEMBERED), None
    for it in range(1, steps + 1):
        rights = C.times(A).T
        for j, right in enumerate(rights):
            if supports is not None:
                B[:, j] = _on_support(C, right, ridge, supports[j])
            elif counts is not None:
                B[:, j] = lasso_of_size(C, right, ridge, int(counts[j]), None if it == 1 else B[:, j])
            elif penalties is not None:
                last = None if it == 1 else B[:, j]
                B[:, j] = _never_empty(lasso(C, right, ridge, float(penalties[j]), last), C, right)
        if counts is not None and supports is None and (it == PATIENCE or _repeats(_unit(B), seen, tol)):
            supports = [np.flatnonzero(B[:, j]) for j in range(A.shape[1])]
        U, _, Wt = np.linalg.svd(_images(C, B), full_matrices=False)
        A = U @ Wt
        change = float(np.max(np.abs(_unit(B) - seen[-1]), initial=0.0))
        seen.append(_unit(B))
        tick(it, change)
        if change <= tol:
            break
    return Net(_unit(B), it, change <= tol, change)


def _images(C: Covariance, B: Floats) -> Floats:
    """C B, (d, k), by the entries of B."""
    places = [np.flatnonzero(b) for b in B.T]
    return np.column_stack([C.on(where, B[where, j]) for j, where in enumerate(places)])


def _repeats(loadings: Floats, seen: Any, tol: float) -> bool:
    """Whether loadings go round in a circle, as numbers of entries, which have no objective, allow."""
    if float(np.max(np.abs(loadings - seen[-1]))) <= 1000 * tol:  # settling, however slowly
        return False
    return any(float(np.max(np.abs(loadings - old))) <= 10 * tol for old in list(seen)[:-1])


def _on_support(C: Covariance, right: Floats, ridge: float, where: NDArray[np.intp]) -> Floats:
    """The same without a penalty, with entries in given places only."""
    out = np.zeros(len(right))
    if np.isinf(ridge):
        out[where] = right[where]
    elif len(where):
        M = C.block(where) + ridge * np.eye(len(where))
        out[where] = np.linalg.lstsq(M, right[where])[0]
    return out


def _never_empty(b: Floats, C: Covariance, right: Floats) -> Floats:
    """A penalty that leaves nothing leaves the entry that comes first on the path, unpenalised."""
    if not bool(np.any(b)):
        j = int(np.argmax(np.abs(right)))
        b[j] = right[j] / max(float(C.diagonal[j]), 1e-300) if right[j] else 1.0
    return b


def _unit(B: Floats) -> Floats:
    length = np.linalg.norm(B, axis=0)
    return B / np.where(length > 0, length, 1.0)


def lasso(C: Covariance, right: Floats, ridge: float, penalty: float, start: Floats | None = None) -> Floats:
    """argmin bᵀ(C + ρI)b − 2bᵀr + α‖b‖₁, (d,); ``start`` is a solution for a right side nearby.

    With the signs known it is a linear system. Signs of the start are tried first and repaired one by one: an entry
    that would change its sign on the way to the solution leaves, one whose gradient is too large enters [LBRN07].
    """
    half = penalty / 2
    if np.isinf(ridge):  # (C + ρI)/(1 + ρ) → I
        return _soft(right, half)
    b = np.zeros(len(right)) if start is None else np.array(start, np.float64)
    active, slack = np.flatnonzero(b), 1e-12 * float(np.max(np.abs(right), initial=0.0))
    sign, settled = np.sign(b), len(active) == 0
    try:
        for _ in range(REPAIRS + 2 * len(b)):
            if settled:
                left = right - C.on(active, b[active]) - ridge * b
                excess = np.abs(left) - half
                excess[active] = -np.inf
                j = int(np.argmax(excess))
                if excess[j] <= slack:
                    return b
                active, sign[j] = np.append(active, j), np.sign(left[j])
            b, settled = _toward(C, right, ridge, half, b, active, sign)
            active = np.flatnonzero(b)
            sign = np.sign(b)
            settled = settled or len(active) == 0
    except np.linalg.LinAlgError:  # more entries than rows and no ridge: the path leaves such columns out
        pass
    return _path(C, right, ridge, alpha_min=half)[:, -1]


def _toward(
    C: Covariance, right: Floats, ridge: float, half: float, b: Floats, active: NDArray[np.intp], sign: Floats
) -> tuple[Floats, bool]:
    """Go to the solution for these signs, or to the best point at which an entry becomes zero on the way."""
    M = C.block(active) + ridge * np.eye(len(active))
    r, old = right[active], b[active]
    new = np.asarray(np.linalg.solve(M, r - half * sign[active]), np.float64)
    out = np.zeros_like(b)
    if bool(np.all(new * sign[active] > 0)):
        out[active] = new
        return out, True
    crossing = np.flatnonzero((old != 0) & (new * old <= 0))
    best, least = None, np.inf
    for i in [*crossing.tolist(), None]:
        point = new if i is None else old + old[i] / (old[i] - new[i]) * (new - old)
        if i is not None:
            point[i] = 0.0
        value = float(point @ M @ point - 2 * r @ point + 2 * half * np.sum(np.abs(point)))
        if value < least:
            best, least = point, value
    out[active] = best
    return out, False


def _path(C: Covariance, right: Floats, ridge: float, **options: Any) -> Floats:
    """Solutions for falling penalties, (d, steps), by scikit-learn, where the ways of this module have failed."""
    from sklearn.linear_model import lars_path_gram

    M = C.whole() + ridge * np.eye(len(right))
    return np.asarray(lars_path_gram(Xy=right, Gram=M, n_samples=1, method="lasso", **options)[2], np.float64)


def _soft(values: Floats, half: float) -> Floats:
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - half, 0.0), np.float64)


def lasso_of_size(C: Covariance, right: Floats, ridge: float, count: int, last: Floats | None = None) -> Floats:
    """The point of the path with at most ``count`` entries before it has more, (d,); ``last``: one nearby."""
    if np.isinf(ridge):
        order = np.sort(np.abs(right))[::-1]
        return _soft(right, float(order[count]) if count < len(order) else 0.0)
    found = None
    if last is not None and np.count_nonzero(last) == count:
        found = again(C, right, ridge, last)
    if found is None:
        found = along(C, right, ridge, count)
    return _searched(C, right, ridge, count) if found is None else found


def _searched(C: Covariance, right: Floats, ridge: float, count: int) -> Floats:
    """The same, on the path of scikit-learn."""
    steps = min(2 * count + 8, 8 * len(right))  # a step adds an entry, or now and then drops one
    while True:
        path = _path(C, right, ridge, alpha_min=0, max_iter=steps)
        sizes = np.count_nonzero(path, axis=0)
        beyond = np.flatnonzero(sizes > count)
        if len(beyond) or path.shape[1] <= steps:
            last = beyond[0] - 1 if len(beyond) else path.shape[1] - 1
            return path[:, last]
        steps *= 2
