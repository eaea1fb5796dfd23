"""Maps beside their peers: ``python -m bench.manifold [--quick] [--only NAME …] [--long] [--alone]``.

    isomap        a swiss roll of 10,000 rows, 10 neighbours
    landmarks     50,000 rows by 1,000 landmarks;   streamed: 50,000 rows exactly within 1 GB (--long)
    standard, modified, hessian, ltsa, laplacian    50,000 rows, 12 neighbours;   million: Laplacian, 1,000,000 (--long)
    mnist         Laplacian eigenmaps of 10,000 digits, 15 neighbours
    mds, smacof   classical and metric scaling of 5,000 given distances
    trust         trustworthiness of a picture of 10,000 rows
    tsne          t-SNE of 5,000 digits, where Ritz has it and openTSNE is installed

Every step runs in a process of its own after a small one that loads what is loaded once: seconds, processor seconds of
all threads and processes, peak memory of all of them, certificate included. Errors are what an affine map leaves of the
swiss roll's true coordinates, arc length and height, as shares of variance. What scikit-learn calls "hessian" is local
tangent space alignment; Ritz's is Hessian LLE. Run it on a quiet machine.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CASES", "left", "main", "roll", "step"]

LLE = ("standard", "modified", "hessian", "ltsa")


class Case(NamedTuple):
    """What is measured: rows, what they are, the aim, and the libraries that do it."""

    n: int
    data: str  # "roll", "distances", "digits"
    target: str
    libraries: tuple[str, ...] = ("ritz", "sklearn")
    long: bool = False


CASES = {
    "isomap": Case(10_000, "roll", "at most 10 s and 800 MB"),
    "landmarks": Case(50_000, "roll", "at most 60 s, with an estimate of the residual", ("ritz",)),
    "streamed": Case(50_000, "roll", "exact within 1 GB", ("ritz",), long=True),
    "standard": Case(50_000, "roll", "at most 3.5 s"),
    "modified": Case(50_000, "roll", "at most 6 s"),
    "hessian": Case(50_000, "roll", "at most 4 s"),
    "ltsa": Case(50_000, "roll", "at most 4 s"),
    "laplacian": Case(50_000, "roll", "as fast as scikit-learn"),
    "mnist": Case(10_000, "digits", "as fast as scikit-learn"),
    "million": Case(1_000_000, "roll", "at most 2 min", ("ritz",), long=True),
    "mds": Case(5_000, "distances", "at most 1 s"),
    "smacof": Case(5_000, "distances", "at most 8 s, stress-1 not above that of R's smacof"),
    "trust": Case(10_000, "roll", "at most 2 s and 300 MB"),
    "tsne": Case(5_000, "digits", "as fast as openTSNE", ("ritz", "opentsne", "sklearn")),
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


def digits(n: int) -> np.ndarray | None:
    """Rows of MNIST from the folder of reference data; None where they are not there."""
    from bench.neighbours import SHARED

    path = SHARED / "mnist" / "mnist20k.npz"
    if not path.is_file():
        return None
    with np.load(path) as held:
        return np.asarray(held["X_train"][:n], np.float64)


def _ritz(name: str) -> Any:
    import ritz

    models: dict[str, Callable[[], Any]] = {
        "isomap": lambda: ritz.Isomap(2, n_neighbors=10),
        "landmarks": lambda: ritz.Isomap(2, n_neighbors=10, landmarks=1000),
        "streamed": lambda: ritz.Isomap(2, n_neighbors=10, memory="1GB"),
        "laplacian": lambda: ritz.LaplacianEigenmaps(2, n_neighbors=12),
        "million": lambda: ritz.LaplacianEigenmaps(2, n_neighbors=12),
        "mnist": lambda: ritz.LaplacianEigenmaps(2, n_neighbors=15),
        "mds": lambda: ritz.MDS(2, metric="precomputed"),
        "smacof": lambda: ritz.MDS(2, method="metric", metric="precomputed"),
        "tsne": lambda: ritz.TSNE(2, random_state=0),
        **{method: lambda method=method: ritz.LLE(2, method=method, n_neighbors=12) for method in LLE},
    }  # fmt: skip
    return models[name]()


def _sklearn(name: str) -> Any:
    from sklearn import manifold

    if name in LLE:
        return manifold.LocallyLinearEmbedding(n_neighbors=12, n_components=2, method=name, eigen_solver="arpack")
    if name in ("laplacian", "mnist"):
        near = 12 if name == "laplacian" else 15
        return manifold.SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=near, random_state=0, n_jobs=2)
    if name == "isomap":
        return manifold.Isomap(n_neighbors=10, n_components=2)
    if name == "mds":
        return manifold.ClassicalMDS(2, metric="precomputed")
    if name == "tsne":
        return manifold.TSNE(2, init="pca", random_state=0, n_jobs=2)
    return manifold.MDS(2, metric="precomputed", n_init=1, init="classical_mds")


def _fits(name: str, library: str) -> Callable[[Any], np.ndarray]:
    """From data to coordinates; of ``trust``, to the measure."""
    if name == "trust":
        if library == "ritz":
            from ritz.insight import embedding_quality

            return lambda X: np.array(embedding_quality(X, X[:, :2], 10).trustworthiness)
        from sklearn.manifold import trustworthiness

        return lambda X: np.array(trustworthiness(X, X[:, :2], n_neighbors=10))
    if library == "opentsne":
        from openTSNE import TSNE

        return lambda X: np.asarray(TSNE(2, random_state=0, n_jobs=2).fit(X))
    made = (_ritz if library == "ritz" else _sklearn)(name)
    return lambda X: np.asarray(made.fit(X).embedding_)


def _used() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def step(name: str, library: str, n: int) -> dict[str, Any]:
    """One fit, after a small one that loads what is loaded once."""
    warnings.simplefilter("ignore")
    data = CASES[name].data
    X, truth = roll(n)
    given: Any = X
    if data == "digits":
        given = digits(n)
        if given is None:
            return {"absent": "the digits are not here"}
    elif data == "distances":
        from scipy.spatial.distance import cdist

        given = cdist(X, X)
    small = given[:1500, :1500] if data == "distances" else given[: 1500 if name == "landmarks" else 400]
    try:
        _fits(name, library)(small)
        fit = _fits(name, library)
    except (AttributeError, ImportError) as error:
        return {"absent": str(error)}
    wall, processor = time.perf_counter(), _used()
    Y = fit(given)
    found: dict[str, Any] = {"seconds": time.perf_counter() - wall, "processor": _used() - processor}
    if name == "smacof":
        from scipy.spatial.distance import pdist

        d, delta = pdist(Y), given[np.triu_indices(len(given), 1)]
        found["stress-1"] = float(np.sqrt(max(1 - (d @ delta) ** 2 / (d @ d) / (delta @ delta), 0.0)))
    elif name == "trust":
        found["value"] = float(Y)
    elif data == "roll":
        found["left"] = left(Y, truth)
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["MB"] = sum(peaks) / 1e3
    return found


def _line(library: str, told: dict[str, Any]) -> str:
    if "absent" in told:
        return f"  {library:9} not measured: {told['absent']}"
    more = "".join(f", {key} {told[key]:.6g}" for key in ("stress-1", "value") if key in told)
    if "left" in told:
        more += ", left of arc length {:.1e}, of height {:.1e}".format(*told["left"])
    return f"  {library:9} {told['seconds']:7.2f} s {told['processor']:7.2f} s processor {told['MB']:6.0f} MB{more}"


def main() -> None:
    """Run what was asked for and print one line for each."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a fifth of the rows")
    options.add_argument("--only", nargs="*", help="names of measurements")
    options.add_argument("--long", action="store_true", help="those of minutes as well")
    options.add_argument("--alone", action="store_true", help="without other libraries")
    options.add_argument("--step", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.step:
        name, library, n = chosen.step.split()
        print(json.dumps(step(name, library, int(n))))
        return
    for name, case in CASES.items():
        if name not in chosen.only if chosen.only else case.long and not chosen.long:
            continue
        n = case.n // (5 if chosen.quick else 1)
        print(f"{name}, n = {n:,} (target: {case.target})", flush=True)
        for library in ("ritz",) if chosen.alone else case.libraries:
            command = [sys.executable, "-m", "bench.manifold", "--step", f"{name} {library} {n}"]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=os.environ,
                                  cwd=Path(__file__).resolve().parent.parent)  # fmt: skip
            if done.returncode:
                print(f"  {library:9} ended with {done.returncode}", flush=True)
                continue
            print(_line(library, json.loads(done.stdout.splitlines()[-1])), flush=True)


if __name__ == "__main__":
    main()
