"""k-means from a partition that is given: rows move to the cluster whose centre is nearest, until none wants to.

    Lloyd      all rows move at once, then the centres           until nothing changes
    exchange   row i from a to b where  w_b/(w_b + wᵢ) d²_b < w_a/(w_a − wᵢ) d²_a     one row at a time, centres follow

The second is never worse than the first: no single row can be moved to the better, which is Hartigan's condition and
the one at which R's ``kmeans`` stops. [HartiganWong79]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.insight.clusters.ward import partition_means

__all__ = ["consolidated"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

#: Rounds at most, of either kind; and rows up to which single ones are exchanged.
ROUNDS, EXCHANGED = 100, 20_000
#: An exchange must gain more than rounding, as a share of the inertia.
LEAST = 1e-12


def consolidated(X: Floats, w: Floats, labels: Labels, q: int) -> Labels:
    """A partition (n,) into q clusters that k-means leaves alone."""
    labels = _lloyd(X, w, labels.copy(), q)
    return _exchange(X, w, labels, q) if len(X) <= EXCHANGED else labels


def _lloyd(X: Floats, w: Floats, labels: Labels, q: int) -> Labels:
    for _ in range(ROUNDS):
        mass, centres = partition_means(X, w, labels, q)
        nearest = np.argmin(_squares(X, centres), axis=1).astype(np.intp)
        if (np.bincount(nearest, minlength=q) == 0).any() or not (mass > 0).all():
            return labels  # a cluster would be lost
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return labels


def _squares(X: Floats, centres: Floats) -> Floats:
    return np.stack([np.square(X - centre).sum(axis=1) for centre in centres], axis=1)


def _exchange(X: Floats, w: Floats, labels: Labels, q: int) -> Labels:
    mass, centres = partition_means(X, w, labels, q)
    counts = np.bincount(labels, minlength=q)
    total = float(w @ np.square(X - w @ X / w.sum()).sum(axis=1))
    for _ in range(ROUNDS):
        d2 = _squares(X, centres)
        own = labels
        with np.errstate(divide="ignore", invalid="ignore"):
            stay = w * mass[own] / (mass[own] - w) * d2[np.arange(len(X)), own]
        move = w[:, None] * mass / (mass + w[:, None]) * d2
        move[np.arange(len(X)), own] = np.inf
        best = np.argmin(move, axis=1)
        gain = np.where(counts[own] > 1, stay - move[np.arange(len(X)), best], -np.inf)
        i = int(np.argmax(gain))
        if not gain[i] > LEAST * total:
            break
        a, b = int(labels[i]), int(best[i])
        centres[a] = (mass[a] * centres[a] - w[i] * X[i]) / (mass[a] - w[i])
        centres[b] = (mass[b] * centres[b] + w[i] * X[i]) / (mass[b] + w[i])
        mass[a] -= w[i]
        mass[b] += w[i]
        counts[a] -= 1
        counts[b] += 1
        labels[i] = b
    return labels
