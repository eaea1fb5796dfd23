"""What a minimum covariance determinant lacks in small samples, and by how much it is enlarged.

    covariance of the rows that count × c(share) × s(p, n, α)         α = h/n, p dimensions

    c   consistency: rows of a normal distribution within an ellipsoid of probability ``share`` vary less       [CH99]
    s   small samples: 1/(1 − δ), δ from simulations at α = ½ and ⅞, straight between them and to 0 at α = 1   [PVW02]

        log δ is a line in log n: through n = 2p² and 3p² with δ = a/pᵇ there (p > 2), given as such for p = 1, 2

Two ways to take them (``correction`` of RobustPCA). "good": the rows that count are the inner 97.5 % of the good rows,
however many bad rows there are beside them: share 0.975, and n, α of the good rows alone. "rrcov": as R's PcaHubert and
LIBRA do, the share is that of all rows, as if those left out had been normal: with 19 % bad rows variances are 1.4
times as large, without any they agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.methods.robust_pca.location import KEPT, consistency

__all__ = ["CORRECTIONS", "good_factor", "raw_factor", "rrcov_factor", "rrcov_rows"]

#: Ways to enlarge the covariance of the rows that count.
CORRECTIONS = ("good", "rrcov")

#: Constants of [PVW02] by α: (log a, b) of δ = a/nᵇ for p = 1 and 2; (a, b) of δ = a/pᵇ at n = 2p² and at 3p².
RAW = {
    0.5: {1: (0.262024211897096, 0.604756680630497), 2: (0.673292623522027, 0.691365864961895),
          3: ((1.42764571687802, 1.26263336932151), (1.06141115981725, 1.28907991440387))},
    0.875: {1: (-0.351584646688712, 1.01646567502486), 2: (0.446537815635445, 1.06690782995919),
            3: ((0.455179464070565, 1.11192541278794), (0.294241208320834, 1.09649329149811))},
}  # fmt: skip
REWEIGHTED = {
    0.5: {1: (1.11098143415027, 1.5182890270453), 2: (3.11101712909049, 1.91401056721863),
          3: ((1.02842572724793, 1.67659883081926), (0.26800273450853, 1.35968562893582))},
    0.875: {1: (-0.66046776772861, 0.88939595831888), 2: (0.79473550581058, 1.10081930350091),
            3: ((0.544482443573914, 1.25994483222292), (0.343791072183285, 1.25159004257133))},
}  # fmt: skip
#: The shares of rows that were simulated.
HALF, MOST = 0.5, 0.875
#: δ is believed up to here: below 2p rows the lines end in nonsense.
LARGEST = 0.5


def _lacking(p: int, n: float, constants: dict[int, Any]) -> float:
    """δ at one simulated share."""
    if p <= 2:
        log_a, b = constants[p]
        return float(np.exp(log_a) / n**b)
    places = np.log([2.0 * p * p, 3.0 * p * p])
    heights = [np.log(a) - b * np.log(p) for a, b in constants[3]]
    slope = (heights[1] - heights[0]) / (places[1] - places[0])
    return float(np.exp(heights[0] + slope * (np.log(n) - places[0])))


def _small(p: int, n: float, alpha: float, table: dict[float, dict[int, Any]]) -> float:
    half, most = (1 - _lacking(p, n, table[share]) for share in (HALF, MOST))
    if alpha <= MOST:
        correction = half + (most - half) * (alpha - HALF) / (MOST - HALF)
    else:
        correction = most + (1 - most) * (alpha - MOST) / (1 - MOST)
    return 1 / max(correction, 1 - LARGEST)


def raw_factor(p: int, n: int, h: int, alpha: float) -> float:
    """For the covariance of the h rows of least determinant."""
    return consistency(h / n, p) * _small(p, n, alpha, RAW)


def rrcov_factor(p: int, n: int, count: int, alpha: float) -> float:
    """For the covariance of ``count`` of n rows that a reweighting kept, as R's covMcd enlarges it."""
    return consistency(count / n, p) * _small(p, n, alpha, REWEIGHTED) if count < n else 1.0


def good_factor(p: int, n: int, count: int, h: int) -> float:
    """The same where the rows that count are the inner 97.5 % of the good rows, and the others are bad."""
    good = min(float(n), count / KEPT)
    return consistency(KEPT, p) * _small(p, good, float(np.clip(h / good, HALF, 1.0)), REWEIGHTED)


def rrcov_rows(alpha: float, n: int, p: int) -> int:
    """h of R's covMcd: between half of the rows, p counted in, and all of them."""
    half = (n + p + 1) // 2
    return min(n, int(np.floor(2 * half - n + 2 * (n - half) * alpha)))
