"""Rounding of a long table is seen wherever it is: no long run of blocks is left unprobed, and equal rows count."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.passes.blocks import block_rows
from ritz.data.passes.rounding import Watched, returning
from ritz.testing.truth import true_spectrum


@pytest.mark.parametrize(("n", "d"), [(800_000, 32), (600_000, 100), (2_000_000, 8), (300_000, 600)])
def test_no_long_run_of_blocks_is_left_unprobed(n, d):
    watched = Watched()
    watched.watch(d, n, np.float32)
    masses = 1 + np.random.default_rng(0).random(n // block_rows(d))
    probed = []
    for i, mass in enumerate(masses):
        watched.weigh(float(mass))
        if watched.some(float(mass)).stop:
            probed.append(i)
    assert np.max(np.diff([-1, *probed, len(masses)])) < 2 * watched.every


@pytest.mark.parametrize("v", [0.7, 1.3, 1.528507113456726])
def test_equal_rows_in_the_middle_of_a_long_table_are_in_the_bounds(v):
    """Coherent rounding of 151 of 391 blocks was in no bound: 1.04 to 2.3 half-widths."""
    rng, n, d, b = np.random.default_rng(7), 800_000, 32, 2048
    pool = rng.standard_normal((200, d))
    bad = rng.choice([-1.0, 1.0], d) * v
    rows = np.concatenate([pool, -pool, [bad, -bad], np.zeros((1, d))]).astype(np.float32)
    code = rng.integers(0, 400, n)
    code[177 * b : 328 * b] = 400 + np.arange(151 * b) % 2
    code[:: n // 256] = 402
    certificate = ritz.PCA(1).fit(rows[code]).certificate_
    truth = true_spectrum(rows, center=True, weights=np.bincount(code).astype(float))
    assert certificate.lower[0] <= float(truth.eigenvalues[0]) <= certificate.upper[0]
    assert certificate.upper[0] - certificate.lower[0] <= 1e-4 * certificate.values[0]


def test_returning_numbers_are_told_from_others():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2048, 40))
    assert not returning(X)
    X[:, 16] = rng.choice([0.3, 0.7], 2048)
    assert returning(X)
    assert returning(np.ones((100, 1)))
