"""Tables whose rows are all equal: one singular value, and a crowd of rounding behind it."""

from __future__ import annotations

from fractions import Fraction

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


@pytest.mark.parametrize("solver", ["svd", "moments"])
@pytest.mark.parametrize(
    ("counts", "values", "columns"),
    [
        ((50, 206), (0.939575310575449, 0.14645305577902154), [0.0010389057617570092, 0.4962974593045475, 3.0]),
        ((176, 620), (0.9051837602671677, 0.15684137669330162), [1.0] * 200),
    ],
    ids=["256×3", "796×200"],
)
def test_decomposed_rows_of_two_kinds_are_not_rounded_in_one_direction(counts, values, columns, solver):
    X = np.outer(np.repeat(values, counts), columns)
    true = sum(Fraction(x) ** 2 * count for row, count in zip(X[[0, -1]], counts, strict=True) for x in row.tolist())
    model = ritz.SVD(2, solver=solver, tol=0).fit(X)
    c, share = model.certificate_, Fraction(model.singular_values_[0]) ** 2 / true
    assert Fraction(c.lower[0]) <= true <= Fraction(c.upper[0])
    assert abs(share - 1) <= 60 * 2.0**-53
