"""Rounding of products with vectors: measured in the units that columns are asked for in, and never told too low."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ritz._core.tolerance import rounding
from ritz.data.passes.blocks import MemoryBlocks
from ritz.operators.affine import Affine
from ritz.operators.lane import Lane


class Off(Lane):
    """A lane whose products are off by a share of themselves."""

    def adjoint(self, rows: Any, B: Any, cuts: Any = 1) -> Any:
        return super().adjoint(rows, B, cuts) * (1 + 1e-9)


def test_columns_in_other_units_that_are_scaled_back_round_alike(seed: int) -> None:
    """Powers of two change no digit: what is measured of scaled columns is what is measured of the same ones as they
    are, whichever of them is the largest before, and it is what products are off by.
    """
    rng = np.random.default_rng(seed)
    X, B = rng.standard_normal((2_048, 60)), rng.standard_normal((2_048, 20))
    plain = Off(60, 20)
    product = plain.product(X, B)
    noise = plain.measured()
    assert 0.9e-9 * np.linalg.norm(product, 2) <= noise <= 1e-7 * np.linalg.norm(product)
    for units in (np.full(60, 2.0**30), np.full(60, 2.0**-30), np.ldexp(1.0, 7 * (np.arange(60) % 9) - 28)):
        scaled = Off(60, 20, metric=units)
        np.testing.assert_array_equal(scaled.product(X / units, B) * units[:, None], product)
        assert scaled.measured() == pytest.approx(noise, rel=1e-12)


def test_what_is_measured_counts_for_vectors_of_any_length(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    X, V = rng.standard_normal((8_000, 120)), np.linalg.qr(rng.standard_normal((120, 30)))[0]
    exact = Affine(MemoryBlocks(X)).normal(V)
    monkeypatch.setattr("ritz.operators.affine.Lane", Off)
    monkeypatch.setattr("ritz.operators.affine.thin", lambda *_: None)  # whose sums are too short to be measured
    for length in (1.0, 2.0**-20, 2.0**20):
        frame = Affine(MemoryBlocks(X))
        off = np.linalg.norm(frame.normal(V * length) / length - exact, 2)
        assert 0.5 * off <= frame.noise[-1] <= 1e3 * off


@pytest.mark.parametrize("value", [0.1, 0.7, 1.1])
def test_equal_rows_round_in_one_direction_which_is_measured_or_allowed(value: float) -> None:
    X, V = np.full((40_000, 120), value), np.full((120, 30), 120**-0.5)
    frame = Affine(MemoryBlocks(X))
    product = frame.normal(V)
    top = X.size * value**2
    exact = len(X) * np.longdouble(value) ** 2 * np.sum(V[:, 0].astype(np.longdouble))
    off = float(np.max(np.abs(product - exact))) * 120**0.5
    assert off <= frame.noise[-1] + rounding(120, 2.0**-53) * top
