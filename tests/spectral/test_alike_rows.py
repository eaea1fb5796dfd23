"""Sparse rows that are all alike: every eigenvalue about the mean is zero, and enclosed whatever rounding leaves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz


@pytest.mark.filterwarnings("ignore::ritz.RitzWarning")
@pytest.mark.parametrize(
    ("n", "d", "k", "dtype"),
    [(3500, 300, 1, np.float32), (12, 900, 10, np.float64), (400, 300, 1, np.float32), (400, 300, 3, np.float64)],
)
@pytest.mark.parametrize("draw", [0, 1])
def test_zero_is_enclosed_and_verified(n, d, k, dtype, draw):
    rng = np.random.default_rng(draw)
    row = rng.standard_normal(d) * (rng.random(d) < 0.2)
    X = sp.csr_matrix(np.tile(row, (n, 1)).astype(dtype))
    model = ritz.PCA(k).fit(X)
    assert np.all(model.certificate_.lower <= 0)
    assert model.certificate_.values.max() < 1e-20
    checked = model.verify(X)
    assert checked, checked
