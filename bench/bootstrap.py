"""The bootstrap beside refits, and how often its intervals hold the truth: ``python -m bench.bootstrap [--quick]``.

    speed      milliseconds a draw of ``insight.bootstrap`` (draws, with intervals of eigenvalues and loadings), of a
               refit by the Gram matrix in NumPy, and of ``PCA(solver="moments")``, on the same rows drawn again; best
               of several, and seconds of the processor beside them, for a machine that has other work
    coverage   share of tables in which an interval at 0.95 holds the truth, Gaussian and heavy-tailed rows
    groups     share of tables with two equal eigenvalues in which they are reported as one subspace

At 200×20,000 the bootstrap has to be eight times as fast as a refit by Gram, at 5,000×500 not slower.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import ritz
from ritz import insight

__all__ = ["coverage", "main", "speed"]

ROOT = Path(__file__).resolve().parent.parent
K = 10
#: Shape, and how many times faster than a refit by Gram a draw has to be.
SPEED = (((200, 20_000), 8.0), ((5_000, 500), 1.0))


def table(n: int, d: int) -> np.ndarray:
    """Ten components in noise."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, K)) * np.linspace(6, 2, K)) @ rng.standard_normal((K, d)) + rng.standard_normal(
        (n, d)
    )


def refit_by_gram(X: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Components of rows drawn again, by the Gram matrix of the smaller side."""
    A = X[index]
    A = A - A.mean(axis=0)
    if A.shape[1] <= A.shape[0]:
        return np.linalg.eigh(A.T @ A)[1][:, ::-1][:, :K]
    values, U = np.linalg.eigh(A @ A.T)
    return A.T @ (U[:, ::-1][:, :K] / np.sqrt(values[::-1][:K]))


def timed(task: Callable[[], Any], draws: int, repeats: int) -> tuple[float, float]:
    """Milliseconds a draw, and those of the processor: the best of several."""
    found = []
    for _ in range(repeats):
        begin, processor = time.perf_counter(), time.process_time()
        task()
        found.append((time.perf_counter() - begin, time.process_time() - processor))
    best = np.min(np.asarray(found), axis=0)
    return 1e3 * float(best[0]) / draws, 1e3 * float(best[1]) / draws


def speed(n: int, d: int, draws: int, repeats: int) -> dict[str, tuple[float, float]]:
    """Milliseconds a draw of each way."""
    X = table(n, d)
    model = ritz.PCA(K).fit(X)
    few = max(2, draws // 20)
    drawn = [np.random.default_rng(i).integers(0, n, n) for i in range(few)]
    tasks: dict[str, tuple[Callable[[], Any], int]] = {
        "bootstrap": (lambda: insight.bootstrap(model, X, draws).loadings, draws),
        "gram": (lambda: [refit_by_gram(X, index) for index in drawn], few),
        "ritz": (lambda: [ritz.PCA(K, solver="moments", mergeable=False).fit(X[index]) for index in drawn], few),
    }
    found: dict[str, tuple[float, float]] = {}
    for _ in range(repeats):  # in turns, so that a change in the load of the machine meets all of them
        for name, (task, count) in tasks.items():
            now = timed(task, count, 1)
            before = found.get(name, (np.inf, np.inf))
            found[name] = (min(now[0], before[0]), min(now[1], before[1]))
    return found


def coverage(n: int, d: int, repeats: int, *, heavy: bool, scale: bool) -> dict[str, float]:
    """How often intervals hold the truth, in per cent, over two clear components."""
    rng = np.random.default_rng([n, d, heavy, scale])
    values = np.r_[12.0, 4.0, np.full(d - 2, 0.5)]
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    S = (V * values) @ V.T
    if scale:
        s = np.sqrt(np.diag(S))
        S = S / s / s[:, None]
    values, V = np.linalg.eigh(S)
    values, V, root = values[::-1], V[:, ::-1], np.linalg.cholesky(S)
    hits: dict[str, list[float]] = {"eigenvalues": [], "shares": [], "loadings": [], "components": []}
    for i in range(repeats):
        Z = rng.standard_t(8, (n, d)) / np.sqrt(8 / 6) if heavy else rng.standard_normal((n, d))
        X = Z @ root.T
        model = ritz.PCA(2, scale=scale).fit(X)
        found = insight.bootstrap(model, X, 400, random_state=i)
        flip = np.where(np.sum(model.components_ * V[:, :2].T, axis=1) < 0, -1.0, 1.0)
        W = V[:, :2] * flip
        hits["eigenvalues"].append(float(np.mean(found.eigenvalues.covers(values[:2]))))
        hits["shares"].append(float(np.mean(found.shares.covers(values[:2] / values.sum()))))
        hits["loadings"].append(float(np.mean(found.loadings.covers(W * np.sqrt(values[:2])))))
        hits["components"].append(float(np.mean(found.components.covers(W.T))))
    return {name: 100 * float(np.mean(held)) for name, held in hits.items()}


def grouped(n: int, repeats: int) -> float:
    """Per cent of tables in which two equal eigenvalues are reported as one subspace."""
    rng, found = np.random.default_rng(n), 0
    for i in range(repeats):
        X = rng.standard_normal((n, 5)) * np.sqrt([12.0, 4.0, 4.0, 0.5, 0.2])
        groups = insight.bootstrap(ritz.PCA(3).fit(X), X, 2, random_state=i).groups
        found += any({1, 2} <= set(group.components) for group in groups)
    return 100 * found / repeats


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; the exit status says whether the bootstrap is as fast as it has to be."""
    parser = argparse.ArgumentParser(prog="python -m bench.bootstrap", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer draws and tables")
    parser.add_argument("--only", choices=("speed", "coverage"), help="one part")
    chosen = parser.parse_args(arguments)
    report: dict[str, Any] = {"when": datetime.now(UTC).isoformat(timespec="seconds")}
    fast = True
    if chosen.only != "coverage":
        print(f"{'ms a draw (processor)':<22}{'bootstrap':>18}{'refit by Gram':>18}{'PCA refit':>18}{'ratios':>14}")
        for (n, d), least in SPEED:
            draws = (200 if n < d else 40) if chosen.quick else (1000 if n < d else 100)
            cost = speed(n, d, draws, 3 if chosen.quick else 5)
            ratios = [cost[other][0] / cost["bootstrap"][0] for other in ("gram", "ritz")]
            fast = fast and min(ratios) >= least
            cells = "".join(f"{f'{wall:.2f} ({cpu:.2f})':>18}" for wall, cpu in cost.values())
            print(f"{f'{n:,}×{d:,}':<22}{cells}{' '.join(f'{r:.1f}×' for r in ratios):>14}", flush=True)
            report[f"{n}x{d}"] = cost
    if chosen.only != "speed":
        repeats = 100 if chosen.quick else 400
        print(f"\n{'% of intervals at 95 %':<34}{'eigenvalues':>12}{'shares':>12}{'loadings':>12}{'components':>12}")
        for n, d, heavy, scale in ((50, 6, False, False), (100, 6, False, False), (400, 6, False, False),
                                   (100, 6, True, False), (100, 6, False, True), (60, 30, False, False)):  # fmt: skip
            found = coverage(n, d, repeats, heavy=heavy, scale=scale)
            name = f"{n}×{d}{', heavy tails' if heavy else ''}{', scaled' if scale else ''}"
            print(f"{name:<34}" + "".join(f"{value:>12.1f}" for value in found.values()), flush=True)
            report[name] = found
        for n in (50, 200, 1000):
            report[f"grouped {n}"] = grouped(n, repeats)
            print(f"{n} rows: two equal eigenvalues are one subspace in {report[f'grouped {n}']:.1f} %; 95 % is meant")
    folder = ROOT / "bench" / "results"
    folder.mkdir(exist_ok=True)
    (folder / "bootstrap.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0 if fast else 1


if __name__ == "__main__":
    sys.exit(main())
