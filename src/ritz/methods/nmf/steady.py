"""How steady a number of parts is over random starts.                                                    [BTGM04]

C[i, j] = share of the runs in which rows i and j have the same strongest part       dispersion = mean (2C − 1)²
cophenetic: correlation of 1 − C with the heights at which average linkage joins i and j
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Consensus", "consensus"]

#: Rows that are compared with each other at most.
ROWS = 1500


@dataclass(frozen=True)
class Consensus:
    """How steady k parts are.

    Attributes
    ----------
    k : parts
    cophenetic : 1 where rows always go together or never
    dispersion : the same, from the consensus itself
    relative_error : the least of the runs
    """

    k: int
    cophenetic: float
    dispersion: float
    relative_error: float


def consensus(k: int, fits: list[tuple[NDArray[np.floating], float]]) -> Consensus:
    """From the weights (n, k) of runs, and their errors."""
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    step = max(1, -(-len(fits[0][0]) // ROWS))
    together = np.zeros((len(fits[0][0][::step]),) * 2)
    for W, _ in fits:
        strongest = np.argmax(W[::step], axis=1)
        together += strongest[:, None] == strongest
    C = together / len(fits)
    far = squareform(1 - C, checks=False)
    steady = 1.0 if np.ptp(far) == 0 else float(cophenet(linkage(far, "average"), far)[0])
    return Consensus(k, steady, float(np.mean(np.square(2 * C - 1))), min(error for _, error in fits))
