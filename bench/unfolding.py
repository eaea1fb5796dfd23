"""Maximum variance unfolding and t-SNE beside Clarabel and openTSNE: processor seconds of one thread, best of two.

python -m bench.unfolding [--large]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import ritz


def timed(work: Callable[[], Any], times: int = 2) -> tuple[float, Any]:
    """Processor seconds, best of several, and the last result."""
    best, made = np.inf, None
    for _ in range(times):
        began = time.process_time()
        made = work()
        best = min(best, time.process_time() - began)
    return best, made


def roll(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A swiss roll and its true coordinates."""
    rng = np.random.default_rng(0)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    return np.c_[t * np.cos(t), height, t * np.sin(t)], np.c_[0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)), height]


def affine_error(Y: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What an affine map from coordinates to the truth leaves, as a share."""
    A = np.c_[np.ones(len(Y)), Y]
    left = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return np.linalg.norm(left, axis=0) / np.linalg.norm(truth - truth.mean(axis=0), axis=0)


def unfolding(large: bool) -> None:
    """Each solver at the sizes that it serves."""
    print("rows  solver     pairs      gap  seconds  arc length, height off by")
    cases = [(30, "clarabel"), (30, "interior"), (80, "interior"), (400, "interior"), (400, "low-rank")]
    cases += [(2000, "low-rank"), (5000, "low-rank")] if large else [(1000, "low-rank")]
    for n, solver in cases:
        X, truth = roll(n)
        few = 6 if n >= 400 else 5
        model = ritz.MVU(2, n_neighbors=few, disconnected="join", solver=solver, progress=False)
        seconds, _ = timed(lambda model=model, X=X: model.fit(X), 1 if n >= 1000 else 2)
        off = affine_error(model.embedding_, truth)
        print(f"{n:5}  {solver:9} {model.n_pairs_:6,}  {model.gap_:.1e}  {seconds:7.2f}  {off[0]:.3f}, {off[1]:.3f}")


def stochastic() -> None:
    """Digits: Ritz's front beside the library by itself."""
    import openTSNE

    X = load_digits().data
    own, model = timed(lambda: ritz.TSNE(2, progress=False).fit(X))
    theirs, other = timed(lambda: openTSNE.TSNE(random_state=0).fit(X))
    print(f"t-SNE of {len(X):,} digits: Ritz {own:.2f} s, KL {model.kl_divergence_:.4f}; ", end="")
    print(f"openTSNE {theirs:.2f} s, KL {other.kl_divergence:.4f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unfolding("--large" in sys.argv)
    stochastic()
