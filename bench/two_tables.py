"""Two tables beside scikit-learn: ``python -m bench.two_tables [--quick]``.

PLS by NIPALS, PLS-SVD, canonical correlation and principal component regression; tall, wide and offset tables.
Processor seconds, one BLAS thread, best of some fits in turns. "error": PLS and PCR, largest error of the predictions
in units of the spread of y against float64 truth by plain dense algebra; CCA, largest error of the canonical
correlations against cosines of principal angles by SciPy. PLS-SVD of Ritz predicts; scikit-learn's does not, and is
given the regression on its scores. The exit status says whether Ritz is faster or more accurate in every row, and never
less accurate by more than rounding.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.linalg

__all__ = ["main", "tables"]

#: Rows, columns of both tables, components, offset.
CASES = (
    ("tall", 20_000, 60, 5, 8, 0.0),
    ("square", 1000, 200, 20, 5, 0.0),
    ("wide", 150, 2000, 3, 5, 0.0),
    ("offset 1e8", 2000, 20, 5, 4, 1e8),
)
#: Errors below this are rounding, and times within this of each other are the same: fits of milliseconds differ so.
ROUNDING, SAME = 1e-9, 1.15
#: Turns, at least, and seconds of processor time up to which more are taken: short fits vary most.
TURNS, ENOUGH = 4, 0.5


def tables(n: int, d: int, q: int, k: int, offset: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """k latent variables behind both, and noise; about an offset, in numbers that float64 holds exactly."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((n, k)) * np.linspace(2, 0.5, k)
    X = T @ rng.standard_normal((k, d)) + 0.5 * rng.standard_normal((n, d))
    Y = T @ rng.standard_normal((k, q)) + rng.standard_normal((n, q))
    return np.round(X * 2**20) / 2**20 + offset, np.round(Y * 2**20) / 2**20


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns about their means, exactly enough: the offset comes off first."""
    Z = X - X[0]
    Z = Z - Z.mean(axis=0)
    return np.asarray(Z / Z.std(axis=0, ddof=1))


def by_nipals(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """Predictions of k components, by the definition: the table is deflated each time."""
    E, F = standardised(X), standardised(Y)
    fitted = np.zeros_like(F)
    for _ in range(k):
        w = np.linalg.svd(E.T @ F, full_matrices=False)[0][:, 0]
        t = E @ w
        fitted += np.outer(t, t @ F) / (t @ t)
        E = E - np.outer(t, t @ E) / (t @ t)
    return fitted


def by_components(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """Predictions of k principal components."""
    U = np.linalg.svd(standardised(X), full_matrices=False)[0][:, :k]
    return np.asarray(U @ (U.T @ standardised(Y)))


def tasks(X: np.ndarray, Y: np.ndarray, k: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any], Any]]:
    """Name → Ritz's fit, scikit-learn's, and the error of a model."""
    from sklearn.cross_decomposition import CCA, PLSSVD, PLSRegression
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import ritz

    middle, spread, q = Y.mean(axis=0), Y.std(axis=0, ddof=1), Y.shape[1]

    def predictions(truth: np.ndarray) -> Callable[[Any], float]:
        return lambda model: float(np.max(np.abs((model.predict(X) - middle) / spread - truth)))

    s = np.linalg.svd(standardised(X).T @ standardised(Y), compute_uv=False)[: min(k, q)] / (len(X) - 1)

    def covariances(model: Any) -> float:
        if hasattr(model, "covariances_"):
            return float(np.max(np.abs(model.covariances_ - s)) / s[0])
        T, U = model[0].transform(X, Y)
        return float(np.max(np.abs(np.sum(T * U, axis=0) / (len(X) - 1) - s)) / s[0])

    def with_regression() -> Any:
        found = PLSSVD(min(k, q)).fit(X, Y)
        return found, LinearRegression().fit(found.transform(X), Y)

    found: dict[str, Any] = {
        "PLS": (lambda: ritz.PLS(k, algorithm="nipals").fit(X, Y), lambda: PLSRegression(k).fit(X, Y),
                predictions(by_nipals(X, Y, k))),
        "PLS-SVD": (lambda: ritz.PLS(min(k, q), algorithm="svd").fit(X, Y), with_regression,
                    covariances),
        "PCR": (lambda: ritz.PCR(k).fit(X, Y),
                lambda: make_pipeline(StandardScaler(), PCA(k), LinearRegression()).fit(X, Y),
                predictions(by_components(X, Y, k))),
    }  # fmt: skip
    if len(X) > 2 * X.shape[1]:
        m = min(3, q)
        rho = np.sort(np.cos(scipy.linalg.subspace_angles(standardised(X), standardised(Y))))[::-1][:m]

        def correlations(model: Any) -> float:
            if hasattr(model, "canonical_correlations_"):
                return float(np.max(np.abs(model.canonical_correlations_ - rho)))
            T, U = model.transform(X, Y)
            return float(np.max(np.abs([abs(np.corrcoef(T[:, j], U[:, j])[0, 1]) for j in range(m)] - rho)))

        found["CCA"] = (lambda: ritz.CCA(m).fit(X, Y), lambda: CCA(m, max_iter=2000).fit(X, Y), correlations)
    return found


def in_turns(
    own: Callable[[], Any], peer: Callable[[], Any], least: int, enough: float
) -> tuple[list[float], list[Any]]:  # fmt: skip
    """The best processor seconds of both, and their models."""
    best, models, begun, turns = [np.inf, np.inf], [None, None], time.process_time(), 0
    while turns < least or time.process_time() - begun < enough:
        for which, task in enumerate((own, peer)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                begin = time.process_time()
                models[which] = task()
                best[which] = min(best[which], time.process_time() - begin)
        turns += 1
    return best, models


def main(arguments: list[str] | None = None) -> int:
    """Print a line a task."""
    parser = argparse.ArgumentParser(prog="python -m bench.two_tables", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tables of a tenth of the rows, two turns")
    chosen = parser.parse_args(arguments)
    good = True
    print(
        f"{'table':<14}{'':<10}{'ritz':>10}{'scikit-learn':>14}{'':>8}   {'error of ritz':>14}{'of scikit-learn':>17}"
    )
    for title, n, d, q, k, offset in CASES:
        rows = max(n // 10, 60) if chosen.quick else n
        X, Y = tables(rows, min(d, 400) if chosen.quick else d, q, k, offset)
        for name, (own, peer, error) in tasks(X, Y, k).items():
            best, models = in_turns(own, peer, 2 if chosen.quick else TURNS, 0.0 if chosen.quick else ENOUGH)
            errors = [error(model) for model in models]
            slower, worse = best[0] > SAME * best[1], errors[0] > max(errors[1], ROUNDING)
            better = errors[0] < 0.5 * errors[1] and errors[1] > ROUNDING
            verdict = (
                "" if not worse and (better or not slower) else "  slower, as accurate" if not worse else "  worse"
            )
            good &= not worse and (not slower or better)
            print(f"{title:<14}{name:<10}{best[0]:>8.4f} s{best[1]:>12.4f} s{best[1] / best[0]:>7.1f}×"
                  f"   {errors[0]:>14.1e}{errors[1]:>17.1e}{verdict}", flush=True)  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
