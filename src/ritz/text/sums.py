"""What weightings learn of documents: sums that add up over parts of them.

    n documents,  Σ|x| total length,  and for each word  df,  gf = Σ tf,  Σ tf log tf

Counts are whole numbers, so n, df, gf and the length are exact whatever the order; Σ tf log tf is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Sums"]


@dataclass(frozen=True)
class Sums:
    """Sums over documents."""

    n: int
    length: float
    df: Any
    gf: Any
    tf_log_tf: Any

    @classmethod
    def of(cls, counts: Any) -> Sums:
        """Sums of a CSR matrix of counts, without stored zeros."""
        n, d = counts.shape
        tf, j = counts.data, counts.indices
        df = np.bincount(j, minlength=d).astype(np.float64)
        gf = np.bincount(j, weights=tf, minlength=d).astype(np.float64)
        several = tf != 1.0  # most words come once, and log 1 = 0
        terms = tf[several] * np.log(tf[several])
        return cls(
            int(n), float(gf.sum()), df, gf, np.bincount(j[several], weights=terms, minlength=d).astype(np.float64)
        )

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.n + other.n,
            self.length + other.length,
            self.df + other.df,
            self.gf + other.gf,
            self.tf_log_tf + other.tf_log_tf,
        )

    def moved(self, columns: Any, d: int) -> Sums:
        """The sums of word j in column ``columns[j]`` of ``d``; of −1, left out (its length stays counted)."""
        kept = columns >= 0
        arrays = []
        for sums in (self.df, self.gf, self.tf_log_tf):
            out = np.zeros(d)
            out[columns[kept]] = sums[kept]
            arrays.append(out)
        return Sums(self.n, self.length, *arrays)
