"""Cross-validation of single entries: by formula, and by hiding them.

    gcv     N·Σ(x − x̂)² / (N − p(k))²,   N = nd entries,  p(k) = d + k(n + d − k − 1) fitted numbers (centred)
            N·Σ(x − x̂)² / (N − p(k))²,   p(k) = k(n + d − k)                                    (not centred)
    kfold   Σ(x − x̂)² / N over entries, each hidden once and predicted by iterative PCA of the others

``gcv`` needs the spectrum only: Σ(x − x̂)² = Σ_{i>k} λᵢ. It is FactoMineR's estim_ncp and goes on from 0 components
until the criterion rises. Its curve is in units of the mean variance Σλ/((n − 1)d), so that it starts at 1, as there.
References: Josse and Husson, Computational Statistics & Data Analysis 56, 2012; Bro et al. 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz.rank.material import Answer, Sampled
from ritz.rank.shares import Curve, Floats, divisor, plural, rests, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["GCV", "KFold"]


class GCV:
    """Keep components until generalised cross-validation says that entries are predicted worse."""

    name = "gcv"
    needs_all = False

    def _values(self, seen: Seen) -> tuple[Floats, bool]:
        """The criterion for k = 0, 1, … and whether no further one can be computed."""
        left, n, d = rests(seen), float(seen.n), float(seen.d)
        k = np.arange(len(left), dtype=np.float64)
        free: Floats = divisor(seen) * d - k * (n + d - k - (1.0 if seen.centered else 0.0))
        last = int(np.argmax(free <= 0)) if (free <= 0).any() else len(left)
        last = min(last, max(1, min(seen.r, int(d), int(n) - seen.centered)))  # all components fit everything
        value = n * d * left[:last] * (divisor(seen) * d) / free[:last] ** 2
        value[0] = 1.0  # nothing is charged for the means alone
        return value, last < len(left) or seen.complete

    def decide(self, seen: Seen) -> int | None:
        """Return the k after which the criterion rises for the first time."""
        value, complete = self._values(seen)
        left, zero = rests(seen), seen.zero_level
        for k in range(len(value)):
            if left[k] <= zero:
                return k
            if k + 1 == len(value):
                return k if complete else None
            step = value[k + 1] - value[k]
            # From a part of the spectrum the rest is known to rounding only.
            blur = 0.0 if seen.complete else zero * (value[k] / left[k] + value[k + 1] / max(left[k + 1], zero))
            if abs(step) <= blur:
                return None
            if step > 0.0:
                return k
        return 0

    def curve(self, seen: Seen) -> Curve:
        """Return the criterion from k = 0 on."""
        value, _ = self._values(seen)
        return Curve(np.arange(len(value)), value, None, "GCV / mean variance")

    def why(self, seen: Seen) -> str:
        """Give the criterion at the answer and beside it."""
        k = self.decide(seen)
        if k is None:
            return undecided(self.name, seen)
        value, _ = self._values(seen)
        beside = [f"{value[i]:.4f} with {i}" for i in (k - 1, k + 1) if 0 <= i < len(value)]
        return ", ".join([f"{plural(k)}: the criterion is {value[k]:.4f} there", *beside])


class KFold(Sampled):
    """Keep as many components as predict single entries best that were hidden."""

    name = "kfold"
    needs = "kfold"

    def find(self) -> Answer:
        """Hide, fill in, average: the method does it."""
        errors, words = self.ask("kfold")(self.rows)
        k = int(np.argmin(errors))
        scale = max(float(errors[0]), 1e-300)
        curve = Curve(np.arange(len(errors)), errors, None, "mean square error of entries held out")
        if len(errors) < 2:  # one column: nothing is left of a row whose only entry is hidden
            return Answer(k, curve, f"{plural(k)}: hidden entries of one column can be predicted by the mean alone")
        beside = [f"{errors[i] / scale:.4f} with {i}" for i in (k - 1, k + 1) if 0 <= i < len(errors)]
        first = f"{plural(k)}: the error of entries held out is {errors[k] / scale:.4f} of that of the mean"
        return Answer(k, curve, ", ".join([first, *beside]) + f"; {words}")
