"""Results of R and scikit-learn for maps of distances: a folder that is not part of the repository."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "manifold"
#: A work tree may lie one folder deeper.
FOLDERS = (FOLDER, FOLDER.parents[3] / "shared" / "data" / "manifold")


class Golden:
    """Data and results by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def result(self, name: str) -> Any:
        return json.loads((self.folder / f"{name}.json").read_text())

    def rows(self, name: str, file: str = "data") -> np.ndarray:
        """Rows as the results were made from: swiss scaled, iris without its copy."""
        lines = list(csv.reader((self.folder / name / f"{file}.csv").read_text().splitlines()))
        columns = {"eurodist": slice(1, 22), "swiss": slice(1, 7), "iris": slice(1, 5), "swiss_roll": slice(0, 3)}[name]
        X = np.array([[float(x) for x in line[columns]] for line in lines[1:]])
        if name == "swiss":
            X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        if name == "iris":
            X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]
        return X

    def distances(self, name: str) -> np.ndarray:
        from scipy.spatial.distance import cdist

        X = self.rows(name)
        return X if name == "eurodist" else cdist(X, X)


@pytest.fixture(scope="session")
def golden() -> Golden:
    folder = next((each for each in FOLDERS if each.is_dir()), None)
    if folder is None:
        pytest.skip("results of other systems are not here: ../shared/data/manifold")
    return Golden(folder)


@pytest.fixture(scope="session")
def apart() -> Any:
    return _apart


def _apart(found: Any, expected: Any) -> float:
    """Largest difference of coordinates up to the signs of axes, relative to the largest."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    flip = np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)
    return float(np.abs(found * flip - expected).max() / np.abs(expected).max())


@pytest.fixture(scope="session")
def eurodist_like() -> np.ndarray:
    """Distances that no Euclidean rows have: shortest ways through a small network."""
    from scipy.sparse.csgraph import shortest_path

    rng = np.random.default_rng(3)
    X = rng.random((24, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    D[np.sort(D, axis=1)[:, [6]] < D] = 0
    return shortest_path(np.maximum(D, D.T), directed=False)


@pytest.fixture(scope="session")
def roll() -> np.ndarray:
    rng = np.random.default_rng(0)
    t = 1.5 * np.pi * (1 + 2 * rng.random(600))
    return np.c_[t * np.cos(t), 21 * rng.random(600), t * np.sin(t)]
