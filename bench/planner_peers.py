"""The peers of ``bench.planner``, their error, and when they are cut off.

    off = max ‖XᵀXv − σ²v‖ / σ₁²        of unit vectors, of Ritz's answer and of a peer's alike

ARPACK by way of scikit-learn's TruncatedSVD with the same tolerance, where that gives fewer digits than Ritz with
``tol=0`` as well, and of float32 tables in float64 too; its randomized solver; and of dense tables its PCA by
covariances, which takes sparse ones too, and by a dense SVD, which centre. A peer reaches the tolerance where ``off``
is within it, and values that solve the same problem are within it of Ritz's. It has as many digits where ``off`` is
also at most twice that of Ritz's answer, or no more than rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.planner_tables import Table
from bench.planner_timed import CUT, forked, timed
from ritz.spectral.plan import choose

__all__ = [
    "LONG_CUT",
    "PEER_CUT",
    "TOL",
    "fastest",
    "in_turns",
    "measure_peers",
    "peer_limit",
    "peers_of",
    "residual",
    "too_large",
]

#: Times Ritz at which a peer is cut off if that is not above LONG seconds, and if it is.
PEER_CUT, LONG_CUT, LONG = 10.0, 3.0, 60.0
#: The default of every Ritz solver: what a peer has to reach.
TOL = 1e-6
#: Times the error of Ritz's answer, and the error of rounding, up to which a peer has as many digits.
DIGITS, ROUNDING = 2.0, 1e-13
#: ARPACK with all the digits that it has, by scikit-learn's default tolerance.
TIGHT, LOOSE = "arpack, tol=0", ("arpack", "arpack, float64")
#: Times the other at which a peer and the choice are close, and how often they are measured again in turns then.
CLOSE, TURNS = 3.0, 2


def in_turns(
    table: Table, X: Any, ours: dict[str, Any], peers: dict[str, Any], fit: Callable[[], dict[str, Any]]
) -> None:
    """Measure the choice, the fastest peer that reaches the tolerance and the fastest of as many digits again, one
    after the other, where they are close to each other.
    """
    names = {name for count in ("accurate", "equal") if (name := fastest(peers, count)) is not None}
    for name in sorted(names):
        run, peer = peers_of(table)[name][0], peers[name]
        for _ in range(TURNS):
            if not 1 / CLOSE <= peer["seconds"] / ours["seconds"] <= CLOSE:
                break
            ours["seconds"] = min(ours["seconds"], fit()["seconds"])
            again = forked(lambda pipe, run=run: timed(pipe, lambda: run(X), lambda _: {}, math.inf, CUT))
            peer["seconds"] = min(peer["seconds"], again["seconds"])


def fastest(peers: dict[str, Any], count: str) -> str | None:
    """The fastest peer that is ``"accurate"``, within the tolerance, or ``"equal"``, of as many digits as Ritz."""
    names = [name for name, peer in peers.items() if peer is not None and peer[count]]
    return min(names, key=lambda name: float(peers[name]["seconds"])) if names else None


def measure_peers(table: Table, X: Any, ours: dict[str, Any]) -> dict[str, Any]:
    """Seconds and accuracy of other libraries; None where one was cut off."""
    found: dict[str, Any] = {}
    values, components = ours.pop("answer")
    ours["off"] = residual(X, np.asarray(values, np.float64), components, False)
    best = peer_limit(ours["seconds"])
    for name, (run, centred) in peers_of(table).items():
        if name == "dense" and _dense_seconds(table) > best:
            found[name] = None
            continue
        if name == TIGHT and (loose := [found[other] for other in LOOSE if other in found]):
            if any(peer is not None and peer["equal"] for peer in loose):
                continue  # nothing is gained by more digits
            if loose[-1] is None:  # and no time by asking for more
                found[name] = None
                continue
        found[name] = forked(lambda pipe, run=run, best=best: timed(pipe, lambda: run(X), _read_peer, best, 1.2))
        if found[name] is None:
            continue
        sigma, V = found[name].pop("answer")
        off = residual(X, sigma, V, centred)
        if not centred:  # the same problem
            off = max(off, float(np.max(np.abs(sigma**2 - np.square(values)))) / sigma[0] ** 2)
        equal = off <= min(TOL, max(DIGITS * ours["off"], ROUNDING))
        found[name] |= {"off": off, "accurate": bool(off <= TOL), "equal": bool(equal)}
        if equal:  # a slower one of more digits than the fastest still counts
            best = min(best, found[name]["seconds"])
    return found


def peer_limit(ours: float) -> float:
    """Seconds at which a peer is cut off."""
    return max(LONG_CUT * ours, min(PEER_CUT * ours, LONG))


def peers_of(table: Table) -> dict[str, tuple[Callable[[Any], Any], bool]]:
    """Fits of others, those that are likely to be fast first, and whether they centre."""
    from sklearn.decomposition import PCA, TruncatedSVD

    k, r = table.k, min(table.n, table.d)
    peers: dict[str, tuple[Callable[[Any], Any], bool]] = {}
    if table.d <= (5_000 if table.density is None else 2_000) or (k == r and table.d <= 5_000):
        peers["covariance"] = (lambda X: PCA(k, svd_solver="covariance_eigh").fit(X), True)
    if k < r:
        made = {"algorithm": "arpack", "tol": TOL}
        peers["arpack"] = (lambda X: TruncatedSVD(k, **made).fit(X), False)
        peers["randomized"] = (lambda X: TruncatedSVD(k, random_state=0).fit(X), False)
        if table.dtype == "float32":  # in which ARPACK often ends above the tolerance
            peers["arpack, float64"] = (lambda X: TruncatedSVD(k, **made).fit(X.astype(np.float64)), False)
        # Of float32 rows in float64: in float32 no more digits than with the tolerance.
        tight = {"algorithm": "arpack", "tol": 0.0}
        peers[TIGHT] = (lambda X: TruncatedSVD(k, **tight).fit(X.astype(np.float64, copy=False)), False)
    if table.density is None and not too_large(table):
        peers["dense"] = (lambda X: PCA(k, svd_solver="full").fit(X), True)
    return peers


def residual(X: Any, sigma: np.ndarray, V: np.ndarray, centred: bool) -> float:
    """Largest ‖XᵀXv − σ²v‖ of unit vectors, rows of V, in units of σ₁²."""
    mean = X.mean(axis=0) if centred else None
    W, total = V.T.astype(np.float64), np.zeros(V.T.shape)
    for first in range(0, X.shape[0], 65_536):
        some = X[first : first + 65_536]
        B = some @ W if mean is None else some @ W - mean @ W
        total += some.T @ B if mean is None else some.T @ B - np.multiply.outer(mean, B.sum(axis=0))
    return float(np.max(np.linalg.norm(total - W * sigma**2, axis=0))) / float(sigma[0]) ** 2


def _dense_seconds(table: Table) -> float:
    """Of a dense SVD on one core, at the rate of products: from below."""
    return 2 * choose(table.shape, table.k, solver="svd").seconds / (2 if table.dtype == "float32" else 1)


def too_large(table: Table) -> bool:
    return table.n * table.d > 4e7 or min(table.n, table.d) > 3_000


def _read_peer(model: Any) -> dict[str, Any]:
    return {"answer": (np.asarray(model.singular_values_, np.float64), model.components_)}
