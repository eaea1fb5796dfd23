"""Means of sparse rows that pass by in batches, against sums of fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz


@pytest.mark.parametrize("mergeable", ["directions", "sketch"])
def test_the_mean_of_equal_sparse_numbers_does_not_drift(mergeable: str) -> None:
    """A thousand equal entries added one after the other are rounded a thousand times the same way."""
    there = np.arange(4000)[:, None] // [1, 2, 5] % 2 == 0
    rows = sp.csr_matrix(np.where(there, [4.305653655889308, 4.281556104310247, -4.344569072138981], 0.0))
    pca = ritz.PCA(1, mergeable=mergeable)
    for first in range(0, 4000, 1000):
        pca.partial_fit(rows[first : first + 1000])
    exact = [Fraction(sum(Fraction(float(x)) for x in column), 4000) for column in rows.toarray().T.tolist()]
    assert pca.mean_ == pytest.approx([float(m) for m in exact], rel=2.0**-51, abs=0)
