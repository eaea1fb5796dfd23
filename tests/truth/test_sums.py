"""Rounding of long sums: tables whose spectrum is a closed form, and where all roundings go the same way.

Truth is exact rational arithmetic on the stored numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ritz
from ritz._core.compensated import add_into, chain, two_product, two_sum

CONSTANTS = [0.7, 0.1, 0.3, 1 / 3]


def holds(certificate, truth, width=1e-13):
    """Every labelled interval contains its eigenvalue, and is no wider than ``width``·λ₁."""
    for i, (low, high, true) in enumerate(zip(certificate.lower, certificate.upper, truth, strict=False)):
        if certificate.labelled[i]:
            assert Fraction(float(low)) <= true <= Fraction(float(high)), (i, float(true), low, high)
            assert high - low <= width * float(truth[0])


# many merges


@pytest.mark.parametrize("value", CONSTANTS)
def test_many_alike_batches(value):
    model, batch = ritz.PCA(2), np.array([[value, value], [-value, -value]])
    for _ in range(2500):
        model.partial_fit(batch)
    holds(model.certificate_, [Fraction(value) ** 2 * 4 * 2500, Fraction(0)], 5e-14)


@pytest.mark.parametrize("value", CONSTANTS)
def test_many_single_rows_and_weights(value):
    model = ritz.PCA(1)
    for i in range(1500):
        model.partial_fit([[value * (-1) ** i, 0.0]], sample_weight=[0.1])
    w, x = Fraction(0.1), Fraction(value)
    holds(model.certificate_, [1500 * w * x * x], 5e-14)
    assert abs(Fraction(model._state.weight) - 1500 * w) <= Fraction(2) ** -53 * 1500 * w


def test_many_merges_in_a_chain_and_in_a_tree():
    value, parts = 0.7, []
    for i in range(512):
        part = ritz.PCA(2).partial_fit(np.array([[value, 0.0], [-value, 0.0], [0.0, value / 4 * (i % 3)]]))
        parts.append(part)
    x = Fraction(value)
    y = [Fraction(value / 4 * (i % 3)) for i in range(512)]
    n, total = 3 * 512, sum(y)
    truth = [1024 * x * x, sum(v * v for v in y) - total * total / n]
    chained = parts[0].merge(*parts[1:])
    while len(parts) > 1:
        parts = [a.merge(b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    for model in (chained, parts[0]):
        holds(model.certificate_, truth, 1e-13)


def test_a_state_without_what_rounding_took_still_merges():
    from ritz.data.blocks import MemoryBlocks
    from ritz.data.moments import Moments
    from ritz.data.statistics import Statistics

    state = Statistics(MemoryBlocks(np.random.default_rng(0).standard_normal((50, 3)) + 5)).moments
    merged = state.merge(state)
    header, arrays = merged.arrays()
    assert {"scatter_low", "offset_low"} <= set(arrays)
    old = Moments.from_arrays(
        {name: header[name] for name in ("rows", "weight", "unit", "noise", "roundoff")},
        {name: arrays[name] for name in ("shift", "offset", "scatter")},
    )
    again = old.merge(Moments.from_arrays(header, arrays))
    np.testing.assert_allclose(again.scatter, 4 * state.scatter, rtol=1e-15, atol=1e-15)


def test_error_free_transformations():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(200) * 2.0 ** rng.integers(-40, 40, 200), rng.standard_normal(200)
    for (high, low), exact in (
        (two_sum(a, b), [Fraction(x) + Fraction(y) for x, y in zip(a, b, strict=True)]),
        (two_product(a, b), [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]),
    ):
        assert [Fraction(x) + Fraction(y) for x, y in zip(high, low, strict=True)] == exact
    high, low = chain([a, b, -a])
    assert np.all(np.abs(high + low - b) <= 2.0**-52 * np.abs(b))
    total, rest = np.zeros((3, 3)), np.zeros((3, 3))
    for _ in range(3000):
        add_into(total, rest, np.full((3, 3), 0.1))
    assert Fraction(float(total[0, 0])) + Fraction(float(rest[0, 0])) == 3000 * Fraction(0.1)
