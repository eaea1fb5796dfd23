"""The generators: what they promise about spectra, shapes and types."""

from __future__ import annotations

import numpy as np
import pytest

import ritz.testing
from ritz.testing import (
    HOSTILE,
    KINDS,
    hostile,
    incidence,
    known_hadamard,
    known_sparse,
    matrix,
    sparse_matrix,
    spectrum,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("r", [1, 2, 7, 40])
def test_spectra_decrease_from_one(kind, r):
    values = spectrum(kind, r, cond=1e14, seed=1)
    assert values.shape == (r,)
    assert values[0] == 1
    assert np.all(np.diff(values) <= 0)
    assert np.all(values >= 0)
    np.testing.assert_array_equal(values, spectrum(kind, r, cond=1e14, seed=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(50, 7), (7, 50), (9, 9), (5, 1), (1, 5)])
@pytest.mark.parametrize("make", [matrix, sparse_matrix])
def test_matrices_are_near_their_spectrum(make, shape, dtype):
    X = make("geometric", *shape, cond=100.0, seed=2, dtype=dtype)
    assert X.shape == shape
    assert X.dtype == dtype
    dense = X if make is matrix else X.toarray()
    wanted = spectrum("geometric", min(shape), cond=100.0, seed=2)
    np.testing.assert_allclose(np.linalg.svd(dense, compute_uv=False), wanted, atol=20 * np.finfo(dtype).eps)


def test_centered_matrices_have_the_spectrum_after_centring():
    X = matrix("pairs", 40, 6, cond=10.0, seed=1, centered=True, offset=100.0)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(values, spectrum("pairs", 6, cond=10.0), atol=1e-12)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("shape", [(8, 5), (5, 8), (6, 1), (1, 4), (4, 4)])
def test_hostile_matrices_exist_in_every_shape(name, shape):
    X = hostile(name, *shape, seed=1, dtype=np.float32, exponent=3)
    assert X.shape == shape
    assert X.dtype == np.float32
    assert np.all(np.isfinite(X))


def test_too_wide_a_range_for_exact_entries_is_refused():
    with pytest.raises(ValueError, match="power of two above d"):
        known_hadamard("geometric", 30, 9)


def test_known_matrices_scale_up():
    big = known_sparse("geometric", 3000, 500, cond=1e6, rounds=1)
    assert big.X.nnz < 20 * 3000
    # exact integers: the squared Frobenius norm is the sum of the eigenvalues, to the last bit
    assert sum(v.rational for v in big.eigenvalues) == pytest.approx(float((big.X.data**2).sum()), rel=1e-14)
    cube = incidence("cube", 8)
    assert cube.X.shape == (1024, 256)


def test_public_names_resolve():
    assert all(hasattr(ritz.testing, name) for name in ritz.testing.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = ritz.testing.nothing
