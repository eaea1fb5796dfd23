"""Maps of distances beside scikit-learn's: ``python -m bench.manifold [--quick] [--only NAME]``.

    mds       classical scaling of 5,000 given distances, k = 2, certificate included
    smacof    metric scaling of 5,000 given distances from the classical start, and the stress that is reached
    isomap    Isomap of a swiss roll of 10,000 rows, 10 neighbours: seconds and peak memory of all processes

Every step runs in a process of its own. Processor seconds are those of all threads and processes: they suffer less on a
busy machine. Errors against the swiss roll's true coordinates are shares of variance that an affine map leaves.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

__all__ = ["main", "roll"]

TARGETS = {
    "mds": "at most 1 s",
    "smacof": "at most 8 s, stress-1 not above that of R's smacof",
    "isomap": "at most 10 s and 800 MB",
}


def roll(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A swiss roll, and its true coordinates: arc length and height."""
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    height = 21 * rng.random(n)
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return np.c_[t * np.cos(t), height, t * np.sin(t)], np.c_[arc, height]


def left(Y: np.ndarray, truth: np.ndarray) -> list[float]:
    """Shares of the variance of the true coordinates that an affine map of Y leaves."""
    A = np.column_stack([np.ones(len(Y)), Y])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return [float(x) for x in rest.var(axis=0) / truth.var(axis=0)]


def _timed(model: Any, X: Any) -> dict[str, float]:
    def used() -> float:
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    wall, processor = time.perf_counter(), used()
    model.fit(X)
    return {"seconds": time.perf_counter() - wall, "processor": used() - processor}


def _model(name: str, library: str) -> Any:
    if library == "ritz":
        import ritz

        return {
            "mds": ritz.MDS(2, metric="precomputed"), "smacof": ritz.MDS(2, method="metric", metric="precomputed"),
            "isomap": ritz.Isomap(2, n_neighbors=10),
        }[name]  # fmt: skip
    from sklearn import manifold

    if name == "isomap":
        return manifold.Isomap(n_neighbors=10, n_components=2)
    if name == "mds":
        return manifold.ClassicalMDS(2, metric="precomputed")
    return manifold.MDS(2, metric="precomputed", n_init=1, init="classical_mds")


def step(name: str, library: str, n: str) -> dict[str, Any]:
    """One fit, after a small one that loads what is loaded once."""
    warnings.simplefilter("ignore")
    X, truth = roll(int(n))
    given = X
    if name != "isomap":
        from scipy.spatial.distance import cdist

        given = cdist(X, X)
    small = given[:200] if name == "isomap" else given[:200, :200]
    _model(name, library).fit(small)
    model = _model(name, library)
    found: dict[str, Any] = _timed(model, given)
    Y = np.asarray(model.embedding_)
    if name == "smacof":
        from scipy.spatial.distance import pdist

        d, delta = pdist(Y), given[np.triu_indices(len(given), 1)]
        found["stress"] = float(np.sqrt(max(1 - (d @ delta) ** 2 / (d @ d) / (delta @ delta), 0.0)))
    if name == "isomap":
        found["left"] = left(Y, truth)
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["MB"] = sum(peaks) / 1e3
    return found


def main() -> None:
    """Run what was asked for and print one line for each."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a fifth of the rows")
    options.add_argument("--only", default="", help="measurements whose name contains this")
    options.add_argument("--step", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.step:
        print(json.dumps(step(*chosen.step.split())))
        return
    for name, target in TARGETS.items():
        if chosen.only not in name:
            continue
        n = (10_000 if name == "isomap" else 5_000) // (5 if chosen.quick else 1)
        print(f"{name}, n = {n:,} (target: {target})")
        for library in ("ritz", "sklearn"):
            command = [sys.executable, "-m", "bench.manifold", "--step", f"{name} {library} {n}"]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=os.environ)
            if done.returncode:
                print(f"  {library:8} ended with {done.returncode}")
                continue
            told = json.loads(done.stdout.splitlines()[-1])
            more = "".join(f", {key} {told[key]}" for key in ("stress", "left") if key in told)
            print(
                f"  {library:8} {told['seconds']:.2f} s, {told['processor']:.2f} s processor, {told['MB']:.0f} MB{more}"
            )


if __name__ == "__main__":
    main()
