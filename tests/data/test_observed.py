"""Counts, means and squares of observed entries, against NumPy's nan-functions; refusals by number and name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.observed import ObservedSums, observe


def gappy(n: int = 60, d: int = 5, seed: int = 0, mean: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + mean
    X[rng.random((n, d)) < 0.3] = np.nan
    X[:, 0] = np.where(np.isnan(X[:, 0]), mean, X[:, 0])
    return X


@pytest.mark.parametrize("rows", [1, 7, 60])
@pytest.mark.parametrize("mean", [0.0, 1e8])
def test_means_and_squares_are_those_of_the_observed_entries(rows: int, mean: float) -> None:
    X = gappy(mean=mean)
    seen = observe(MemoryBlocks(X, rows))
    assert np.array_equal(seen.counts, np.sum(~np.isnan(X), axis=0))
    assert seen.missing == int(np.isnan(X).sum())
    assert seen.least == int(np.sum(~np.isnan(X), axis=1).min())
    exact = X - mean  # exact: both are near each other
    assert np.allclose(seen.shift - mean + seen.offset, np.nanmean(exact, axis=0), rtol=0, atol=1e-14)
    assert np.allclose(seen.variance(), np.nanvar(exact, axis=0, ddof=1), rtol=1e-12)


def test_weights_are_copies() -> None:
    X, w = gappy(), np.random.default_rng(1).integers(0, 4, 60).astype(float)
    X[5], w[5] = np.nan, 0.0  # a row of weight zero is absent, whatever it lacks
    seen, copies = observe(MemoryBlocks(X, 7), w), observe(MemoryBlocks(np.repeat(X, w.astype(int), axis=0)))
    assert np.allclose(seen.mean, copies.mean, atol=1e-14)
    assert np.allclose(seen.squares, copies.squares, rtol=1e-12)
    assert np.array_equal(seen.weights, copies.weights)


def test_sums_survive_a_journal() -> None:
    X = gappy()
    whole, half = ObservedSums(np.zeros(5)), ObservedSums(np.zeros(5))
    blocks = list(MemoryBlocks(X, 20)._blocks(0, 60))
    for block in blocks:
        whole.feed(block)
    half.feed(blocks[0])
    again = ObservedSums(np.zeros(5))
    again.restore(half.state())
    for block in blocks[1:]:
        again.feed(block)
    assert {name: str(value) for name, value in again.state().items()} == {
        name: str(value) for name, value in whole.state().items()
    }


def test_what_has_nothing_is_refused_by_number_and_name() -> None:
    X = gappy()
    X[[7, 41]] = np.nan
    with pytest.raises(InputError, match="nothing observed in rows 7, 41"):
        observe(MemoryBlocks(X, 8))
    X = gappy()
    X[:, 2] = np.nan
    with pytest.raises(InputError, match="nothing observed in column 'c'"):
        observe(MemoryBlocks(X), None, list("abcde"))
    X = gappy()
    X[33, 1], X[34, 1] = np.inf, -np.inf
    with pytest.raises(NonFiniteError, match=r"infinity.*2 such values; first at row 33 column 1, row 34 column 1"):
        observe(MemoryBlocks(X, 8))


@pytest.mark.parametrize("density", [0.05, 0.9])
def test_sparse_rows_with_nan_are_refused(density: float) -> None:
    S = sp.random_array((40, 6), density=density, rng=np.random.default_rng(0), format="csr")
    assert observe(MemoryBlocks(S)).missing == 0
    S.data[3] = np.nan
    with pytest.raises(InputError, match="a sparse matrix with 1 stored NaN"):
        observe(MemoryBlocks(S))
