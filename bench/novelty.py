"""Scores of strange rows beside other detectors: ``python -m bench.novelty [--quick]``.

    area under the ROC curve = P(score of an outlier > score of a normal row),     ½ for guessing

Four tables with labelled outliers (Ionosphere, WDBC, satellite, mammography), in two settings:

    all rows    every detector is fitted to all rows, outliers among them, and scores the same rows; no label is used
    normal      fitted to half of the normal rows, scores the other half and the outliers; the mean of five halves

Columns are standardised by the rows of the fit. Nothing is tuned: the RBF kernel has γ = 1/median ‖x − y‖² or
1/(d·variance), the number of components is the fewest with 90 % of the variance, and other detectors have their
defaults. Activation is not monotone (far from all rows it turns round), so its distance from its median on the rows of
the fit is measured too. Values of pyod come with the tables.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.digits import ABSENT, SHARED

__all__ = ["Labelled", "detectors", "golden", "main", "measure", "tables"]

NAMES = ("Ionosphere", "WDBC", "satellite", "mammography")
SHARE = 0.9
#: pyod's detectors in the file that comes with the tables.
GOLDEN = {
    "pyod PCA, weighted": "pyod_pca_auroc",
    "error of PCA, as given": "recon90_auroc",
    "Mahalanobis, as given": "mahalanobis_auroc",
}

Score = Callable[[np.ndarray], np.ndarray]
Areas = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Labelled:
    """Rows (n, d) and which of them are outliers (n,)."""

    name: str
    rows: np.ndarray
    outlier: np.ndarray


def tables(names: tuple[str, ...]) -> list[Labelled]:
    """The tables; none where the folder of reference data is not."""
    found = []
    for name in names:
        path = SHARED / "outliers" / f"{name}.npz"
        if path.is_file():
            with np.load(path) as held:
                found.append(Labelled(name, held["X"], held["y"].astype(bool)))
    return found


def golden() -> Areas:
    """Areas that come with the tables: of all rows, fitted and scored."""
    told = json.loads((SHARED / "outliers" / "pyod_pca.json").read_text(encoding="utf-8"))["results"]
    return {shown: {name: told[name][key] for name in told} for shown, key in GOLDEN.items()}


def kernel_scores(X: np.ndarray, gamma: str) -> dict[str, Score]:
    """All scores of one kernel PCA."""
    import ritz

    model = ritz.KernelPCA(SHARE, kernel="rbf", gamma=gamma, fit_inverse_transform=False).fit(X)
    middle = float(np.median(model.activation(X)))
    return {
        f"KernelPCA novelty, {gamma}": model.novelty,
        f"KernelPCA potential, {gamma}": model.potential,
        f"KernelPCA activation, {gamma}": model.activation,
        f"KernelPCA |activation − median|, {gamma}": lambda new: np.abs(model.activation(new) - middle),
    }


def error_of(model: Any) -> Score:
    """The squared reconstruction error of linear PCA."""
    return lambda new: np.square(new - model.inverse_transform(model.transform(new))).sum(axis=1)


def detectors(X: np.ndarray) -> dict[str, Score]:
    """Every detector fitted to standardised rows; larger is stranger."""
    from sklearn.decomposition import PCA
    from sklearn.ensemble import IsolationForest
    from sklearn.svm import OneClassSVM

    import ritz

    gamma = ritz.kernels.RBF("median").fix(X).gamma
    peers = {
        "scikit-learn OneClassSVM, scale": OneClassSVM(gamma="scale"),
        "scikit-learn OneClassSVM, median": OneClassSVM(gamma=gamma),
        "scikit-learn IsolationForest": IsolationForest(random_state=0),
    }
    found = kernel_scores(X, "median") | kernel_scores(X, "scale")
    found["ritz.PCA, reconstruction error"] = error_of(ritz.PCA(SHARE).fit(X))
    for name, peer in peers.items():
        fitted = peer.fit(X)
        found[name] = lambda new, fitted=fitted: -fitted.score_samples(new)
    found["scikit-learn PCA, reconstruction error"] = error_of(PCA(SHARE, svd_solver="full").fit(X))
    return found


def areas(train: np.ndarray, new: np.ndarray, outlier: np.ndarray) -> dict[str, float]:
    """The area under the curve of every detector."""
    from sklearn.metrics import roc_auc_score

    centre, spread = train.mean(axis=0), train.std(axis=0)
    spread[spread == 0] = 1.0
    train, new = (train - centre) / spread, (new - centre) / spread
    return {name: float(roc_auc_score(outlier, score(new))) for name, score in detectors(train).items()}


def measure(table: Labelled, halves: int) -> tuple[dict[str, float], dict[str, float]]:
    """Areas when fitted to all rows, and the mean of areas when fitted to half of the normal ones."""
    every = areas(table.rows, table.rows, table.outlier)
    normal, strange = np.flatnonzero(~table.outlier), np.flatnonzero(table.outlier)
    found = []
    for seed in range(halves):
        order = np.random.default_rng([2, seed]).permutation(normal)
        train, rest = order[: len(order) // 2], np.concatenate([order[len(order) // 2 :], strange])
        found.append(areas(table.rows[train], table.rows[rest], table.outlier[rest]))
    return every, {name: float(np.mean([one[name] for one in found])) for name in every}


def shown(title: str, found: Areas, names: list[str]) -> str:
    """A table of areas: a line a detector, a column a table, and their mean."""
    head = f"{title:<42}" + "".join(f"{name:>13}" for name in [*names, "mean"])
    lines = [head, "-" * len(head)]
    for detector, values in found.items():
        numbers = [values[name] for name in names]
        lines.append(f"{detector:<42}" + "".join(f"{value:>13.4f}" for value in [*numbers, float(np.mean(numbers))]))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print both tables; the exit status is 0 when they could be measured or there was nothing to measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.novelty", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the two small tables, two halves")
    chosen = parser.parse_args(arguments)
    held = tables(NAMES[:2] if chosen.quick else NAMES)
    if not held:
        print(ABSENT)
        return 0
    names = [table.name for table in held]
    begin, processor = time.perf_counter(), time.process_time()
    every: Areas = {}
    normal: Areas = {}
    for table in held:
        print(
            f"{table.name}: {table.rows.shape[0]:,} × {table.rows.shape[1]}, {table.outlier.sum():,} outliers",
            flush=True,
        )
        for into, values in zip((every, normal), measure(table, 2 if chosen.quick else 5), strict=True):
            for detector, value in values.items():
                into.setdefault(detector, {})[table.name] = value
    print("", shown("fitted to all rows", every | golden(), names), sep="\n")
    print("", shown("fitted to half of the normal rows", normal, names), "", sep="\n")
    print(f"{time.perf_counter() - begin:.0f} s, {time.process_time() - processor:.0f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
