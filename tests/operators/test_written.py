"""A matrix written out has the bits of its product with the identity, however its rows lie."""

from __future__ import annotations

import numpy as np
import pytest

from ritz import operators as op
from ritz.operators.base import Operator

LAYOUTS = {
    "rows": lambda X: X,
    "columns": np.asfortranarray,
    "every second row": lambda X: X[::2],
    "backwards": lambda X: X[:, ::-1],
}
FRAMES = {
    "plain": lambda X: op.Dense(X),
    "centred": lambda X: op.Centered(op.Dense(X), X.mean(axis=0)),
    "centred and scaled": lambda X: op.Scaled(op.Centered(op.Dense(X), X.mean(axis=0)), X.std(axis=0) + 1),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_matrix_written_out_has_the_bits_of_its_product_with_the_identity(frame, layout, dtype):
    rng = np.random.default_rng(0)
    for n, d in ((50, 7), (3000, 40), (7, 60)):
        X = LAYOUTS[layout]((30 * rng.standard_normal((n, d)) + 5).astype(dtype))
        A = FRAMES[frame](X)
        for B in (A, A.T):
            passes, dense = B.tally.passes, B.to_dense()
            assert B.tally.passes == passes + 1
            expected = Operator._written(B)
            assert dense.dtype == (B.dtype if B.dtype.kind == "f" else expected.dtype)
            np.testing.assert_array_equal(dense, expected)
