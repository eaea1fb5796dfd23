"""Tables whose rows are all equal: one singular value, and a crowd of rounding behind it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz


@pytest.mark.parametrize("draw", [1, 2])
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_a_repair_reads_on_where_no_pair_follows_those_found(draw):
    row = sp.random_array((1, 300), density=0.2, rng=np.random.default_rng(draw), format="csr")
    X = sp.csr_array(sp.vstack([row] * 400))
    model = ritz.SVD(10, solver="moments").fit(X)
    top = np.sqrt(400 * float(np.sum(row.data**2)))
    np.testing.assert_allclose(model.singular_values_[0], top, rtol=1e-13)
    assert np.max(model.singular_values_[1:]) <= 1e-10 * top
    lower, upper = model.certificate_.lower, model.certificate_.upper
    assert np.all(lower <= [top**2 * (1 + 1e-14), *[0.0] * 9])
    assert np.all(upper >= [top**2 * (1 - 1e-14), *[0.0] * 9])
