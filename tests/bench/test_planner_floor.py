"""The calls that no route avoids: a chain's own products are counted, not those that search or measure."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from bench.planner import Table, make
from bench.planner_floor import counted, floor_of


@pytest.mark.parametrize(("density", "n", "d"), [(None, 60, 12), (None, 12, 60), (0.1, 90, 20)])
def test_a_direct_route_has_a_product_and_a_decomposition(density, n, d):
    table = Table(n, d, 2, "slow", density)
    X = make(table)
    calls = floor_of(table, X, ritz.SVD(2, solver="moments").fit(X), {})
    assert [times for times, _ in calls] == [1.0, 1.0]
    values = np.asarray(calls[1][1]()[0])
    assert np.max(values) == pytest.approx(np.linalg.norm(X if density is None else X.toarray(), 2) ** 2)


def test_a_chain_counts_its_own_products():
    table = Table(900, 400, 2, "slow", 0.05)
    X = make(table)
    with counted() as products:
        model = ritz.SVD(2, solver="lanczos").fit(X)
    ((columns, dtype),) = [key for key in products if key[0] == 1]
    assert (columns, dtype) == (1, "float64")  # which little sparse tables are iterated in
    assert 6 <= products[1, dtype] < model.plan_.actual_passes
    calls = floor_of(table, X, model, products)
    assert [times for times, _ in calls] == [products[1, dtype]] * 2
    assert [call().shape for _, call in calls] == [(900,), (400,)]
