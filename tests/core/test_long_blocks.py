"""Long blocks of vectors are combined and looked at some rows at a time, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core import linalg, long


def test_combinations_of_rows_are_those_of_one_product():
    rng = np.random.default_rng(0)
    rows, Y = rng.standard_normal((37, 5_000)).astype(np.float32), rng.standard_normal((37, 9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long, "BLEND_BYTES", 1 << 12)
        np.testing.assert_allclose(long.combine_rows(rows, Y), rows.astype(np.float64).T @ Y, atol=1e-12)
    assert long.combine_rows(rows, Y.astype(np.float32)).dtype == np.float32


def test_signs_of_long_columns_are_those_of_short_ones():
    V = np.random.default_rng(0).standard_normal((900, 40))
    V[5, 3] = V[700, 3] = 9.0
    V[2, 3] = -9.0 * (1 - 1e-9)
    for kept in (V, np.asfortranarray(V)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(linalg, "LONG_BLOCK", 1 << 3)
            patch.setattr(long, "SIGNED", 1 << 10)
            found = linalg.signs(kept)
        np.testing.assert_array_equal(found, linalg.signs(kept))
    assert found[3] == -1


def test_a_long_block_is_divided_by_its_factor_as_a_short_one_is():
    rng = np.random.default_rng(0)
    W, C = rng.standard_normal((9_000, 7)), np.triu(rng.standard_normal((7, 7))) + 4 * np.eye(7)
    np.testing.assert_allclose(long.divided(W, C)[:50], long.divided(W[:50], C), atol=1e-12)
    C[6, 6] = 1e-9  # which an inverse loses digits by
    np.testing.assert_allclose(long.divided(W, C) @ C, W, atol=1e-12)
