"""Velicer's minimum average partial correlation.

    C_k = C − Σ_{i≤k} λᵢ vᵢ vᵢᵀ,   r_ij = (C_k)_ij / √((C_k)_ii (C_k)_jj)
    f(k) = Σ_{i≠j} |r_ij|^p / (d(d − 1)),   k = 0 … d − 1

As long as components hold what columns have in common, taking one out lowers the correlations that are left; the k of
the least f is the answer. p = 2 in 1976, p = 4 in the revision of 2000. ``C`` is the matrix that was analysed: the
correlations of standardised columns, covariances otherwise.
References: Velicer, Psychometrika 41, 1976; Velicer, Eaton and Fava 2000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.subset import sure_pairs
from ritz.rank.material import Handed
from ritz.rank.shares import Curve, Floats, plural

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Velicer", "average_partials"]

#: Components that are taken out at most.
MOST = 200
#: A column of which less than this is left has been explained.
NOTHING = 1e-10


def average_partials(C: Floats, power: int = 2, most: int = MOST) -> Floats:
    """Return f(0), f(1), … of a covariance matrix; it ends where a column is explained entirely.

    Parameters
    ----------
    C
        Covariances or correlations (d, d).
    power
        2, or 4 as in the revision.
    most
        Components that are taken out at most.
    """
    C = np.array(C, np.float64)
    variances = np.diag(C).copy()
    kept = variances > 0
    C, variances = C[np.ix_(kept, kept)], variances[kept]
    d = len(variances)
    if d < 2:
        return np.zeros(1)
    top = min(most, d - 1)
    values, V = sure_pairs(C, top)
    averages = []
    for k in range(top + 1):
        if k:
            v = V[:, top - k]
            C -= values[top - k] * np.outer(v, v)
        left = np.diag(C)
        if (left <= NOTHING * variances).any():
            break
        R = C / np.sqrt(np.outer(left, left))
        R = R * R if power == 2 else (R * R) ** 2
        averages.append((float(R.sum()) - d) / (d * (d - 1)))
    return np.array(averages)


class Velicer(Handed):
    """Keep as many components as leave the columns with the least correlation.

    Parameters
    ----------
    power : 2 or 4
        Power of the partial correlations that are averaged.
    """

    name = "map"
    needs_all = False
    needs = "matrix"

    def __init__(self, power: int = 2) -> None:
        super().__init__()
        if power not in (2, 4):
            raise ParameterError("power must be 2 or 4", received=repr(power), hint="power=4 is the revision of 2000")
        self.power = power

    def _values(self) -> Floats:
        if "f" not in self.held:
            self.held["f"] = average_partials(self.ask("matrix")(), self.power)
        values: Floats = self.held["f"]
        return values

    def decide(self, seen: Seen) -> int | None:
        """Return the k of the least average partial correlation."""
        if self.lacks() is not None:
            return None
        k = min(int(np.argmin(self._values())), seen.r)
        return k if seen.complete or k <= len(seen.values) else None

    def curve(self, seen: Seen) -> Curve:
        """Return f(k) from k = 0 on."""
        f = np.zeros(0) if self.lacks() is not None else self._values()
        return Curve(np.arange(len(f)), f, None, f"average partial correlation to the power {self.power}")

    def why(self, seen: Seen) -> str:
        """Give the average at the answer and beside it."""
        if self.lacks() is not None:
            return self.lacks() or ""
        f = self._values()
        k = int(np.argmin(f))
        beside = [f"{f[i]:.4f} with {i}" for i in (k - 1, k + 1) if 0 <= i < len(f)]
        what = "square" if self.power == 2 else "fourth power"
        first = f"{plural(k)}: the average {what} of the partial correlations is {f[k]:.4f} there"
        return ", ".join([first, *beside])
