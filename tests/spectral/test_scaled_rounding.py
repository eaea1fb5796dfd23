"""Columns of unlike sizes that are divided by their standard deviations: rounding counts as they are then."""

from __future__ import annotations

import numpy as np
import pytest

import ritz


@pytest.mark.parametrize("value", [0.1, 0.7, 1.1])
@pytest.mark.parametrize("some", [1, 2])
def test_columns_that_round_alike_beside_a_large_one_are_enclosed(seed, value, some):
    """d − 1 equal columns, whose errors in float32 add up, beside one of independent numbers: with r, their
    correlation, the eigenvalues are those of (d − 1, √(d − 1)·r; √(d − 1)·r, 1), n − 1 times.
    """
    rng = np.random.default_rng(some + 2 * seed)
    n, d = 60_000, 400
    X = np.empty((n, d), np.float32)
    X[:, :-1] = rng.choice([-value, value], n)[:, None]
    X[:, -1] = 1e5 * rng.standard_normal(n)
    a, b = (X[:, j].astype(np.longdouble) - X[:, j].mean(dtype=np.longdouble) for j in (0, -1))
    side = np.sqrt(np.longdouble(d - 1)) * (a @ b) / np.sqrt((a @ a) * (b @ b))
    spread = np.sqrt(np.longdouble(d - 2) ** 2 + 4 * side**2)
    true = (n - 1) * np.array([(d + spread) / 2, (d - spread) / 2])
    certificate = ritz.PCA(2, scale=True, solver="moments").fit(X).certificate_
    off = 1e-15 * float(true[0])
    assert np.all(certificate.lower <= true + off)
    assert np.all(true - off <= certificate.upper)
