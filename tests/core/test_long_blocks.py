"""Long blocks of vectors are combined and looked at some rows at a time, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core import linalg


def test_combinations_of_rows_are_those_of_one_product():
    rng = np.random.default_rng(0)
    rows, Y = rng.standard_normal((37, 5_000)).astype(np.float32), rng.standard_normal((37, 9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linalg, "BLEND_BYTES", 1 << 12)
        np.testing.assert_allclose(linalg.combine_rows(rows, Y), rows.astype(np.float64).T @ Y, atol=1e-12)
    assert linalg.combine_rows(rows, Y.astype(np.float32)).dtype == np.float32


def test_signs_of_long_columns_are_those_of_short_ones():
    V = np.random.default_rng(0).standard_normal((900, 40))
    V[5, 3] = V[700, 3] = 9.0
    V[2, 3] = -9.0 * (1 - 1e-9)
    for kept in (V, np.asfortranarray(V)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(linalg, "LONG_SIGNS", 1 << 10)
            found = linalg.signs(kept)
        np.testing.assert_array_equal(found, linalg.signs(kept))
    assert found[3] == -1
