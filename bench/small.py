"""Small tables beside others: ``python -m bench.small [--seconds 0.3] [--only 150x4] [--kernels]``.

    ratio = best processor time of Ritz / best of the other      fit, transform, transform of one row, pickle in bytes
    error = largest |λ̂ᵢ − λᵢ|/λᵢ of the k variances, λ by a singular value decomposition in float64

Defaults on all sides, in one process with one BLAS thread, Ritz and one other in turns, so that what else the machine
does falls on both alike: whoever follows a heavy one finds the caches full of it. Ritz forms its certificate in the
same time. Of other libraries those that can be imported are measured, for their fit: faiss (PCAMatrix), torch
(pca_lowrank; eigh of the covariance), scikit-learn's IncrementalPCA. Of float32 rows scikit-learn keeps fewer
digits than Ritz: "of float64" is its fit of a copy in float64, the copy included. The line "as accurate" is the
fastest of all others whose error is at most twice that of Ritz, or at most 1e-12.

``--kernels``: fits of kernel PCA, k = 10, beside each of scikit-learn's solvers; λ by a dense decomposition.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

#: Rows, columns, components (None: all).
TABLES: tuple[tuple[int, int, int | None], ...] = (
    (150, 4, 2),
    (1_000, 20, 2),
    (1_000, 20, None),
    (500, 50, 10),
    (10_000, 100, None),
    (10_000, 100, 5),
    (10_000, 500, 10),
    (50, 300, 3),
    (100, 2_000, 5),
    (20, 20_000, 3),
    (50_000, 30, 2),
    (50_000, 30, 10),
)
#: Rows of kernel PCA.
KERNEL_ROWS = (50, 100, 200, 300, 500, 700, 1_000, 1_500)
KERNELS = ("rbf", "poly", "linear")
DTYPES = ("float64", "float32")
#: An error up to which, and times that of Ritz up to which, another answer counts as accurate.
EXACT, TIMES = 1e-12, 2.0

Fits = dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]]  # what is timed, and the variances of its answer


def table(n: int, d: int, dtype: str = "float64") -> Any:
    """Rows (n, d): the iris data for 150×4, Gaussian ones of unequal columns, off centre, otherwise."""
    import numpy as np
    from sklearn.datasets import load_iris

    if (n, d) == (150, 4):
        return load_iris().data.astype(dtype)
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, d)) * np.linspace(2, 1, d) + rng.uniform(-3, 3, d)).astype(dtype)


def in_turns(functions: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Best processor seconds of functions that run in turns, for about that long in all."""
    for function in functions:
        function()
    best, end = [math.inf] * len(functions), process_time() + seconds * len(functions)
    while True:
        for i, function in enumerate(functions):
            begin = process_time()
            function()
            best[i] = min(best[i], process_time() - begin)
        if process_time() > end:
            return best


def fits(X: Any, k: int) -> Fits:
    """A fit of each library that is there."""
    import numpy as np
    from sklearn.decomposition import PCA, IncrementalPCA

    import ritz

    n = len(X)
    made: Fits = {
        "ritz": (lambda: ritz.PCA(k).fit(X), lambda model: model.explained_variance_),
        "scikit-learn": (lambda: PCA(k).fit(X), lambda model: model.explained_variance_),
    }
    if X.dtype == np.float32:
        made["of float64"] = lambda: PCA(k).fit(X.astype(np.float64)), lambda model: model.explained_variance_
    if k <= n:
        made["incremental"] = lambda: IncrementalPCA(k).fit(X), lambda model: model.explained_variance_
    try:
        import faiss  # type: ignore[import-not-found]
    except ImportError:
        pass
    else:
        narrow = np.ascontiguousarray(X, np.float32)  # it takes nothing else

        def trained() -> Any:
            matrix = faiss.PCAMatrix(X.shape[1], k)
            matrix.train(narrow)
            return matrix

        made["faiss"] = trained, lambda matrix: faiss.vector_to_array(matrix.eigenvalues)[:k] / (n - 1)
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError:
        return made
    torch.set_num_threads(1)
    T = torch.from_numpy(X)

    def by_covariance() -> Any:
        Z = T - T.mean(dim=0)
        return torch.linalg.eigh(Z.T @ Z)[0] if n >= X.shape[1] else torch.linalg.svdvals(Z).square().flip(0)

    made["torch linalg"] = by_covariance, lambda values: values.flip(0)[:k].numpy() / (n - 1)
    width = min(k + 6, *X.shape)
    made["torch lowrank"] = (
        lambda: torch.pca_lowrank(T, q=width),
        lambda found: found[1][:k].square().numpy() / (n - 1),
    )
    return made


def truth(X: Any, k: int) -> Any:
    """(k,) variances in float64."""
    import numpy as np

    Z = X.astype(np.float64)
    Z = Z - Z.mean(axis=0)
    return np.square(np.linalg.svd(Z, compute_uv=False)[:k]) / (len(Z) - 1)


def measure(
    n: int, d: int, k: int | None, dtype: str, seconds: float
) -> Iterator[tuple[str, str, float, float, float]]:
    """What was done, by whom, the cost of Ritz in turns with it, its own (seconds, bytes) and, of a fit, its error."""
    import numpy as np
    from sklearn.decomposition import PCA

    import ritz

    X = table(n, d, dtype)
    k = min(n, d) if k is None else k
    made, values = fits(X, k), truth(X, k)
    mine = made["ritz"][0]
    costs = [in_turns([mine, run], seconds) for name, (run, _) in made.items() if name != "ritz"]
    costs.insert(0, [min(one[0] for one in costs)] * 2)
    real = values > 1e-12 * values[0]  # of fewer rows than components the last one is zero
    found = []
    for (name, (run, read)), (own, cost) in zip(made.items(), costs, strict=True):
        answer = np.asarray(read(run()), np.float64)
        found.append((own, cost, float(np.max(np.abs(answer - values)[real] / values[real]))))
        yield "fit", name, *found[-1]
    accurate = [one for one in found[1:] if one[2] <= max(EXACT, TIMES * found[0][2])]
    if accurate:
        yield "fit", "as accurate", *min(accurate, key=lambda one: one[1] / one[0])
    models = {"ritz": ritz.PCA(k).fit(X), "scikit-learn": PCA(k).fit(X)}
    for what, rows in (("transform", X), ("one row", X[:1])):
        costs = in_turns([lambda m=m, rows=rows: m.transform(rows) for m in models.values()], seconds)  # type: ignore[misc]
        for name, cost in zip(models, costs, strict=True):
            yield what, name, costs[0], cost, math.nan
    sizes = {name: float(len(pickle.dumps(model))) for name, model in models.items()}
    for name, size in sizes.items():
        yield "pickle", name, sizes["ritz"], size, math.nan


def measure_kernel(n: int, kernel: str, seconds: float) -> Iterator[tuple[str, float, float, float]]:
    """Solver of scikit-learn, seconds of Ritz and of it for kernel PCA with ten components, and its error.

    Two at a time: whoever follows a dense decomposition finds the caches full of it, and memory given back.
    """
    import warnings

    import numpy as np
    from sklearn.decomposition import KernelPCA

    import ritz

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20)) * np.linspace(2, 1, 20)

    def ours() -> Any:
        return ritz.KernelPCA(10, kernel=kernel).fit(X)

    def peer(solver: str) -> Callable[[], Any]:
        return lambda: KernelPCA(10, kernel=kernel, eigen_solver=solver).fit(X)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of products by the matmul of NumPy in scikit-learn's randomized solver
        values = peer("dense")().eigenvalues_
        yield "ritz", math.nan, math.nan, float(np.max(np.abs(ours().eigenvalues_ - values) / values))
        for solver in ("arpack", "randomized", "dense"):
            mine, cost = in_turns([ours, peer(solver)], seconds)
            yield solver, mine, cost, float(np.max(np.abs(peer(solver)().eigenvalues_ - values) / values))


def print_kernels(seconds: float) -> None:
    """One line a kernel, number of rows and solver."""
    print(f"{'kernel':>8} {'rows':>6} {'who':>11} {'ms':>9} {'error':>8} {'Ritz, ms':>9} {'ratio':>6}")
    for kernel in KERNELS:
        for n in KERNEL_ROWS:
            for who, mine, cost, error in measure_kernel(n, kernel, seconds):
                times = f"{cost * 1e3:9.3f} {error:8.0e} {mine * 1e3:9.3f} {mine / cost:6.2f}"
                shown = f"{'':>9} {error:8.0e}" if who == "ritz" else times
                print(f"{kernel:>8} {n:6,} {who:>11} {shown}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print the table of ratios, and their geometric means."""
    parser = argparse.ArgumentParser(prog="python -m bench.small")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each library and each thing that it does")
    parser.add_argument("--only", help="a table such as 150x4")
    parser.add_argument("--kernels", action="store_true", help="kernel PCA instead of PCA")
    given = parser.parse_args(arguments)
    if given.kernels:
        print_kernels(given.seconds)
        return
    print(f"{'table':>22} {'dtype':>8} {'what':>10} {'who':>14} {'ms or bytes':>12} {'error':>8} {'Ritz ratio':>10}")
    ratios: dict[tuple[str, str], list[float]] = {}
    for dtype in DTYPES:
        for n, d, k in TABLES:
            if given.only not in (None, f"{n}x{d}"):
                continue
            for what, who, mine, cost, error in measure(n, d, k, dtype, given.seconds):
                shown = f"{cost:12,.0f}" if what == "pickle" else f"{cost * 1e3:12.3f}"
                off = "" if math.isnan(error) else f"{error:.0e}"
                against = "" if who == "ritz" else f"{mine / cost:.2f}"
                name = f"{n:,}×{d:,}, {k or 'all'}"
                print(f"{name:>22} {dtype:>8} {what:>10} {who:>14} {shown} {off:>8} {against:>10}", flush=True)
                if who != "ritz":
                    ratios.setdefault((what, who), []).append(mine / cost)
    for (what, who), each in ratios.items():
        mean = math.exp(sum(map(math.log, each)) / len(each))
        print(f"geometric mean of {len(each)} {what} ratios to {who}: {mean:.2f}, largest {max(each):.2f}")


if __name__ == "__main__":
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # read when NumPy is loaded
        os.environ[variable] = "1"
    main()
