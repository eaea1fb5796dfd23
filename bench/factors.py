"""Factor analysis and sampling adequacy beside factor_analyzer and scikit-learn: ``python -m bench.factors [--quick]``.

What is left: of maximum likelihood the discrepancy F = log|Σ| + tr(RΣ⁻¹) − log|R| − d,  Σ = LLᵀ + Ψ, computed here from
loadings and uniquenesses; of KMO and Bartlett's test the largest relative error against 50 digits, or 1e-14. Rows are
run and judged by ``bench.beyond``, which shows them too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

__all__ = ["factor_analyzer", "main", "rows"]


def factor_analyzer() -> Any:
    """The package, or None; its call of scikit-learn's ``check_array`` takes a keyword by its present name."""
    if importlib.util.find_spec("factor_analyzer") is None:
        return None
    import factor_analyzer as package
    from factor_analyzer import factor_analyzer as inside
    from sklearn.utils import check_array

    def checked(X: Any, force_all_finite: Any = True, **given: Any) -> Any:
        return check_array(X, ensure_all_finite=force_all_finite, **given)

    inside.check_array = checked
    return package


def table(n: int, d: int, k: int, seed: int = 0) -> np.ndarray:
    """k common factors, and noise of each column's own."""
    rng = np.random.default_rng(seed)
    L = rng.uniform(-0.8, 0.8, (d, k))
    X = rng.standard_normal((n, k)) @ L.T + rng.standard_normal((n, d)) * rng.uniform(0.5, 1.5, d)
    return np.asarray(X * rng.uniform(0.1, 10, d) + 3)


def discrepancy(R: np.ndarray, L: np.ndarray, psi: np.ndarray) -> float:
    """F of loadings and uniquenesses."""
    S = L @ L.T + np.diag(psi)
    return float(np.linalg.slogdet(S)[1] + np.trace(np.linalg.solve(S, R)) - np.linalg.slogdet(R)[1] - len(R))


def _adequacy(X: np.ndarray) -> tuple[float, float]:
    """KMO and Bartlett's χ² of whole numbers, to 50 digits from exact sums."""
    import mpmath as mp

    n, d = X.shape
    whole = X.astype(np.int64)
    G, sums = (whole.T @ whole).tolist(), whole.sum(axis=0).tolist()
    with mp.workdps(50):
        S = mp.matrix([[mp.mpf(n * G[a][b] - sums[a] * sums[b]) for b in range(d)] for a in range(d)])
        R = mp.matrix([[S[a, b] / mp.sqrt(S[a, a] * S[b, b]) for b in range(d)] for a in range(d)])
        P = R**-1
        off = [(a, b) for a in range(d) for b in range(d) if a != b]
        r2 = mp.fsum(R[a, b] ** 2 for a, b in off)
        q2 = mp.fsum(P[a, b] ** 2 / (P[a, a] * P[b, b]) for a, b in off)
        chi2 = -(n - 1 - mp.mpf(2 * d + 5) / 6) * mp.log(mp.det(R))
        return float(r2 / (r2 + q2)), float(chi2)


def _likelihood(X: np.ndarray, k: int, peers: Any) -> tuple[dict[str, Callable[[], Any]], Callable[[Any], float]]:
    from sklearn.decomposition import FactorAnalysis
    from sklearn.preprocessing import scale

    import ritz

    R, Z = np.corrcoef(X.T), scale(X)
    fits: dict[str, Callable[[], Any]] = {
        "ritz FactorAnalysis": lambda: ritz.FactorAnalysis(k).fit(X),
        "scikit-learn": lambda: FactorAnalysis(k, svd_method="lapack").fit(Z),
        "scikit-learn tol=1e-9": lambda: FactorAnalysis(k, svd_method="lapack", tol=1e-9, max_iter=20_000).fit(Z),
    }
    if peers is not None:
        fits["factor_analyzer"] = lambda: peers.FactorAnalyzer(k, rotation=None, method="ml").fit(X)

    def left(model: Any) -> float:
        if hasattr(model, "get_uniquenesses"):
            return discrepancy(R, model.loadings_, model.get_uniquenesses())
        if hasattr(model, "certificate_"):
            return discrepancy(R, np.asarray(model.components_).T, model.uniquenesses_)
        return discrepancy(R, model.components_.T, model.noise_variance_)

    return fits, left


def _measures(X: np.ndarray, peers: Any) -> tuple[dict[str, Callable[[], Any]], Callable[[Any], float]]:
    import ritz

    truth = np.array(_adequacy(X))
    fits: dict[str, Callable[[], Any]] = {
        "ritz.insight": lambda: (ritz.insight.kmo(X).overall, ritz.insight.bartlett_sphericity(X).chi2)
    }
    if peers is not None:
        fits["factor_analyzer"] = lambda: (
            peers.calculate_kmo(X)[1], peers.calculate_bartlett_sphericity(X)[0]
        )  # fmt: skip
    return fits, lambda made: max(float(np.max(np.abs(np.array(made) / truth - 1))), 1e-14)


def rows(quick: bool) -> list[tuple[str, dict[str, Callable[[], Any]], Callable[[Any], float], str]]:
    """Name, fits, what an answer leaves, and what is missing."""
    peers = factor_analyzer()
    missing = "factor_analyzer is not installed: pip install factor_analyzer, or all of the extra 'bench'"
    absent = "" if peers is not None else missing
    shapes = ((500, 12, 3),) if quick else ((500, 12, 3), (20_000, 30, 5))
    out = []
    for n, d, k in shapes:
        out.append((f"factors {n:,}×{d}, {k}", *_likelihood(table(n, d, k), k, peers), absent))
    n, d = (2000, 10) if quick else (20_000, 30)
    X = np.round(64 * table(n, d, 3))
    out.append((f"KMO and Bartlett {n:,}×{d}", *_measures(X, peers), absent))
    return out


def main(arguments: list[str] | None = None) -> int:
    """Print a table a problem; the exit status says whether every row is held."""
    from bench import beyond

    parser = argparse.ArgumentParser(prog="python -m bench.factors", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small problems, two turns")
    chosen = parser.parse_args(arguments)
    made = [beyond.Row(*one) for one in rows(chosen.quick)]
    return 0 if beyond.show(made, 2 if chosen.quick else 5) else 1


if __name__ == "__main__":
    sys.exit(main())
