"""Tensors, sources, parts and factors beside other libraries: ``python -m bench.beyond [--quick] [--only NAME]``.

tensorly, scikit-learn, picard and factor_analyzer; one that is not installed is named and left out.

Processor seconds of one thread, the best of some fits in turns. What is left: for tensors the relative error, for
sources the gradient of the contrast over rotations (logcosh), for parts the relative error ‖X − WH‖/‖X‖. A row is held
where Ritz is faster or leaves less than every other library, and it never leaves more than the best of them by more
than a thousandth. scikit-learn and picard run with their defaults, and once more with a tolerance of 1e-9.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

__all__ = ["Row", "main", "rows", "show"]

#: What counts as leaving no more, and as taking no longer: fits of milliseconds differ so from turn to turn.
CLOSE, SAME = 1e-3, 1.15


@dataclass(frozen=True)
class Row:
    """A problem: fits by name, and what an answer leaves."""

    name: str
    fits: dict[str, Callable[[], Any]]
    left: Callable[[Any], float]
    absent: str = ""  # which library is missing, and how to get it


def _tensor(shape: tuple[int, ...], rank: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rank,) * len(shape))
    for mode, n in enumerate(shape):
        X = np.moveaxis(np.tensordot(rng.standard_normal((n, rank)), X, (1, mode)), 0, mode)
    X = X / np.linalg.norm(X)
    return X + noise * rng.standard_normal(shape) / np.sqrt(X.size)


def tensors(quick: bool) -> list[Row]:
    """HOSVD, HOOI, trains and sums of products beside tensorly."""
    import tensorly
    from tensorly.decomposition import parafac, tensor_train, tucker

    import ritz

    n = 60 if quick else 200
    X = _tensor((n, n, n), 10, 1e-3)
    few = _tensor((100, 80, 60), 5, 1.0)
    rng = np.random.default_rng(1)
    terms = np.einsum("ir,jr,kr->ijk", *(rng.standard_normal((m, 5)) for m in (n // 2, n // 2, n // 2)))
    terms += 0.1 * rng.standard_normal(terms.shape)

    def off(Y: np.ndarray, made: Any) -> float:
        whole = made.reconstruct() if hasattr(made, "reconstruct") else made
        return float(np.linalg.norm(Y - whole) / np.linalg.norm(Y))

    def hooi(Y: np.ndarray, ranks: list[int], **given: Any) -> Any:
        return tensorly.tucker_to_tensor(tucker(Y, ranks, **given))

    return [
        Row(f"HOSVD {n}³, ranks 10", {
            "ritz HOSVD": lambda: ritz.HOSVD(10).fit(X), "tensorly tucker": lambda: hooi(X, [10] * 3),
        }, lambda made: off(X, made)),
        Row(f"HOOI {n}³, ranks 10", {
            "ritz Tucker": lambda: ritz.Tucker(10).fit(X), "tensorly tucker": lambda: hooi(X, [10] * 3),
        }, lambda made: off(X, made)),
        Row("HOOI 100×80×60, ranks 5, as much noise as signal", {
            "ritz Tucker": lambda: ritz.Tucker(5).fit(few),
            "tensorly tucker": lambda: hooi(few, [5] * 3),
            "tensorly tol=1e-12": lambda: hooi(few, [5] * 3, tol=1e-12, n_iter_max=500),
        }, lambda made: off(few, made)),
        Row(f"train {n}³, ranks 10, 10", {
            "ritz TensorTrain": lambda: ritz.TensorTrain(10).fit(X),
            "tensorly tensor_train": lambda: tensorly.tt_to_tensor(tensor_train(X, [1, 10, 10, 1])),
        }, lambda made: off(X, made)),
        Row(f"CP {n // 2}³, 5 terms", {
            "ritz CP": lambda: ritz.CP(5).fit(terms),
            "tensorly parafac": lambda: tensorly.cp_to_tensor(parafac(terms, 5, random_state=0)),
        }, lambda made: off(terms, made)),
    ]  # fmt: skip


def sources(quick: bool) -> list[Row]:
    """Independent components beside scikit-learn and picard."""
    from picard import picard
    from sklearn.decomposition import FastICA

    import ritz
    from ritz.methods.ica.rotate import gradient

    sizes = [(20_000, 8, 4, 0.0), (400, 3000, 8, 0.0)]
    sizes += [] if quick else [(100_000, 64, 16, 0.0), (100_000, 64, 16, 1e8)]
    out = []
    for n, d, k, offset in sizes:
        rng = np.random.default_rng(0)
        S = np.where(np.arange(k) % 2 == 0, rng.laplace(size=(n, k)), rng.uniform(-1.7, 1.7, (n, k)))
        X = S @ rng.standard_normal((k, d)) + 0.01 * rng.standard_normal((n, d)) + offset

        def left(made: Any, X: np.ndarray = X) -> float:
            found = np.asarray(made if isinstance(made, np.ndarray) else made.transform(X), np.float64)
            found = found - found.mean(axis=0)
            return gradient(found / found.std(axis=0), "logcosh")

        fits: dict[str, Callable[[], Any]] = {
            "ritz ICA": lambda X=X, k=k: ritz.ICA(k).fit(X),
            "scikit-learn FastICA": lambda X=X, k=k: FastICA(k, whiten="unit-variance", random_state=0).fit(X),
            "scikit-learn tol=1e-9": lambda X=X, k=k: FastICA(
                k, whiten="unit-variance", random_state=0, tol=1e-9, max_iter=1000).fit(X),
            "picard": lambda X=X, k=k: picard(X.T, n_components=k, random_state=0, max_iter=1000)[2].T,
        }  # fmt: skip
        out.append(Row(f"ICA {n:,}×{d:,}, {k} sources, offset {offset:g}", fits, left))
    return out


def parts(quick: bool) -> list[Row]:
    """Non-negative parts beside scikit-learn."""
    import scipy.sparse as sp
    from sklearn.decomposition import NMF

    import ritz

    rng = np.random.default_rng(0)
    tables: list[tuple[str, Any, int]] = []
    for n, d, k in ((600, 100, 8),) if quick else ((2000, 200, 10), (500, 2000, 20)):
        tables.append((f"{n:,}×{d:,}", rng.random((n, k)) @ rng.random((k, d)) + 0.05 * rng.random((n, d)), k))
    if not quick:
        rates = rng.gamma(0.3, 1, (5000, 10)) @ rng.gamma(0.1, 1, (10, 1000))  # texts of ten topics
        counts = rng.poisson(30 * rates / rates.sum(axis=1, keepdims=True))
        tables.append(("5,000×1,000 sparse", sp.csr_array(counts.astype(float)), 10))
    out = []
    for name, X, k in tables:
        size = float(sp.linalg.norm(X)) if sp.issparse(X) else float(np.linalg.norm(X))
        fits: dict[str, Callable[[], Any]] = {
            "ritz NMF": lambda X=X, k=k: ritz.NMF(k).fit(X),
            "scikit-learn NMF": lambda X=X, k=k: NMF(k, init="nndsvd", random_state=0).fit(X),
            "scikit-learn tol=1e-9": lambda X=X, k=k: NMF(
                k, init="nndsvd", tol=1e-9, max_iter=2000, random_state=0
            ).fit(X),
        }

        def left(made: Any, size: float = size) -> float:
            return float(getattr(made, "relative_error_", None) or made.reconstruction_err_ / size)

        out.append(Row(f"NMF {name}, {k} parts", fits, left))
        early = {"ritz NMF tol=1e-3": lambda X=X, k=k: ritz.NMF(k, tol=1e-3).fit(X)}
        out.append(Row(f"NMF {name}, {k} parts, stopped early", {**early, **dict([*fits.items()][1:2])}, left))
    return out


def rows(quick: bool) -> list[Row]:
    """All problems."""
    from bench import factors

    out: list[Row] = []
    for what, peer, package in ((tensors, "tensorly", "tensorly"), (sources, "picard", "python-picard")):
        if importlib.util.find_spec(peer) is None:
            words = f"{peer} is not installed: pip install {package}"
            out.append(Row(what.__name__, {}, lambda _: 0.0, words))
        else:
            out += what(quick)
    return [*out, *parts(quick), *(Row(*one) for one in factors.rows(quick))]


def _warmed() -> None:
    """Load what fits load, so that no row pays for it."""
    import ritz

    X = np.random.default_rng(0).random((20, 6, 5))
    for model in (ritz.HOSVD(2), ritz.Tucker(2), ritz.TensorTrain(2), ritz.CP(2)):
        model.fit(X)
    ritz.ICA(2).fit(X[:, :, 0])
    ritz.NMF(2).fit(X[:, :, 0])


def main(arguments: list[str] | None = None) -> int:
    """Print a table a problem; the exit status says whether every row is held."""
    parser = argparse.ArgumentParser(prog="python -m bench.beyond", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small problems, one turn")
    parser.add_argument("--only", metavar="NAME", help="problems whose name contains NAME")
    chosen = parser.parse_args(arguments)
    _warmed()
    asked = [row for row in rows(chosen.quick) if (chosen.only or "").lower() in row.name.lower()]
    return 0 if show(asked, 2 if chosen.quick else 3) else 1


def show(asked: list[Row], turns: int) -> bool:
    """Print a table a problem; whether every row is held."""
    held = True
    for row in asked:
        best, left = _in_turns(row, turns)
        print(f"\n{row.name}")
        if row.absent:
            print(f"  {row.absent}")
        own, *others = row.fits or ("",)
        for name in row.fits:
            print(
                f"  {name:<24}{best[name]:>9.3f} s{best[name] / best[own]:>9.1f}×   leaves {left[name]:.6g}", flush=True
            )
        no_more = all(left[own] <= (1 + CLOSE) * left[name] for name in others)
        ahead = all(best[own] <= SAME * best[name] or left[own] < left[name] for name in others)
        if not (no_more and ahead):
            held = False
            print("  not held")
    return held


def _in_turns(row: Row, turns: int) -> tuple[dict[str, float], dict[str, float]]:
    """The best seconds of each fit, and what it leaves."""
    best: dict[str, float] = dict.fromkeys(row.fits, np.inf)
    left: dict[str, float] = {}
    for _ in range(turns):
        for name, fit in row.fits.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                begin = time.process_time()
                made = fit()
                best[name] = min(best[name], time.process_time() - begin)
                left[name] = row.left(made)
    return best, left


if __name__ == "__main__":
    sys.exit(main())
