"""How steady independent components are over starts and samples of the rows.                                [HHM04]

runs of k vectors each, similarity |⟨wᵢ, wⱼ⟩|  →  k clusters by average linkage
index of a cluster = mean similarity inside − mean similarity to all others          1: always found, alike
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Steadiness", "clustered"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Steadiness:
    """How often components are found again.

    Attributes
    ----------
    index : (k,) mean similarity inside the cluster of each component less that to all others; 1 at best
    found : (k,) share of the runs that have a vector in the cluster
    similarity : (k,) mean absolute correlation of the component with the vectors of its cluster
    runs : how many
    """

    index: Floats
    found: Floats
    similarity: Floats
    runs: int


def clustered(runs: list[Floats], own: Floats) -> Steadiness:
    """Clusters of the unit vectors (k, k) of all runs, and which of them each row of ``own`` belongs to."""
    from sklearn.cluster import AgglomerativeClustering

    k, every = len(own), np.concatenate(runs)
    which_run = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    alike = np.abs(every @ every.T).clip(0, 1)
    near = np.abs(own @ every.T).clip(0, 1)
    if k == 1:
        return Steadiness(np.array([alike.mean()]), np.ones(1), near.mean(axis=1), len(runs))
    tree: Any = AgglomerativeClustering(k, metric="precomputed", linkage="average")
    labels = tree.fit_predict(1 - alike)
    index, found, similar = np.zeros(k), np.zeros(k), np.zeros(k)
    for i in range(k):
        closest = int(np.argmax([near[i, labels == c].mean() for c in range(k)]))
        inside = labels == closest
        rest = alike[np.ix_(inside, ~inside)].mean() if not inside.all() else 0.0
        index[i] = alike[np.ix_(inside, inside)].mean() - rest
        found[i] = len(set(which_run[inside].tolist())) / len(runs)
        similar[i] = near[i, inside].mean()
    return Steadiness(index, found, similar, len(runs))
