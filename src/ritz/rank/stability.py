"""Stability: as many components as span the same subspace when the rows are drawn again.

    s(k) = mean over draws of cos²θ_k,   θ_k the largest angle between span(v₁ … v_k) and that of rows drawn again

A subspace that splits components of equal variance turns freely, so s falls and rises again; the answer is the largest
k whose subspace holds, s ≥ ⅔. Directions of noise reach ½ in tables of few columns, because the largest of a sample
stand apart by chance and rows drawn from it repeat that.
References: Besse and de Falguerolles 1993; Fisher et al., J. Am. Statist. Assoc. 111, 2016, for the draws.
"""

from __future__ import annotations

import numpy as np

from ritz.rank.material import SAMPLE_ROWS, Answer, Sampled
from ritz.rank.shares import Curve, Floats, plural

__all__ = ["Stability"]

LABEL = "mean cos² of the largest angle"

#: Draws, components that are tried, and the least mean cos² of a subspace that holds.
DRAWS, MOST, HOLDS = 50, 50, 2.0 / 3.0


class Stability(Sampled):
    """Keep the largest subspace that stays when rows are drawn again.

    Parameters
    ----------
    draws : int
        How often rows are drawn.
    rows : int
        Rows that are looked at, at most.
    """

    name = "stability"

    def __init__(self, draws: int = DRAWS, rows: int = SAMPLE_ROWS) -> None:
        super().__init__(rows)
        self.draws = draws

    def find(self) -> Answer:
        """Draw, decompose, compare."""
        sample, rng = self._sample(), self.rng(4)
        rank = min(sample.shape[0] - 1, sample.shape[1])
        if rank < 1:
            return Answer(0, Curve(np.zeros(0, np.int64), np.zeros(0), None, LABEL), "0 components: nothing varies")
        most = max(1, min(MOST, max(rank // 2, min(rank - 1, 3))))
        M = np.stack([sample.turned(rng, most) for _ in range(self.draws)])
        s = np.array([_worst(M, k) for k in range(1, most + 1)])
        stable = np.flatnonzero(s >= HOLDS)
        k = int(stable[-1]) + 1 if len(stable) else 0
        beside = [f"{s[i - 1]:.2f} for {i}" for i in (k, k + 1) if 1 <= i <= most]
        words = f"{plural(k)}: mean cos² of the worst direction over {self.draws} draws is {', '.join(beside)}"
        curve = Curve(np.arange(1, most + 1), s, np.full(most, HOLDS), LABEL)
        return Answer(k, curve, f"{words}; {sample.words}")


def _worst(M: Floats, k: int) -> float:
    """The mean over draws (b, m, m) of the square of the smallest singular value of the leading k×k block."""
    block = M[:, :k, :k]
    least = np.linalg.eigvalsh(block.swapaxes(1, 2) @ block)[:, 0]  # it is the square that is asked for
    return float(np.mean(np.clip(least, 0.0, 1.0)))
