"""The affine map between rows and coordinates, on the host and on a device of another array library."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest

import ritz
from ritz._core.linalg import Place, place_of, to_numpy
from ritz.project.linear import LinearMap

DEVICE = strict.Device("device1")
RNG = np.random.default_rng(0)
V = np.linalg.qr(RNG.standard_normal((6, 6)))[0]


def there(x):
    return strict.asarray(np.asarray(x), device=DEVICE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("whole", [False, True])
def test_rows_on_a_device_get_the_coordinates_of_rows_on_the_host(dtype, whole):
    mean, low = RNG.integers(2**20, 2**21, 6).astype(float), np.full(6, 2.0**-30)
    step = LinearMap(V[:3], mean, np.arange(1.0, 7) if whole else None, np.arange(1.0, 4) if whole else None, low=low)
    X = (mean + RNG.integers(-9, 9, (20, 6))).astype(dtype)
    T, rows = step.forward(X), step.forward(there(X))
    assert place_of(rows) == Place(strict, DEVICE)
    assert str(rows.dtype).endswith(T.dtype.name)
    np.testing.assert_allclose(to_numpy(rows), T, atol=3e-6 if dtype == np.float32 else 1e-13)
    back = step.backward(rows)
    assert place_of(back) == Place(strict, DEVICE)
    np.testing.assert_allclose(to_numpy(back), step.backward(T), rtol=1e-6 if dtype == np.float32 else 1e-15)


def test_all_components_give_the_rows_back():
    step = LinearMap(V, np.arange(6.0), np.arange(1.0, 7), None)
    X = RNG.standard_normal((9, 6))
    np.testing.assert_allclose(to_numpy(step.backward(step.forward(there(X)))), X, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [0.0, 0.9, 1.1, 1e6])
def test_a_short_mean_goes_off_coordinates_and_a_long_one_off_rows(seed, dtype, far):
    rng = np.random.default_rng(seed)
    n, d, k = 20_000, 12, 3
    mean = rng.standard_normal(d)
    mean *= far * np.sqrt(d) / np.linalg.norm(mean)
    X = (rng.standard_normal((n, d)) + mean).astype(dtype)
    V = np.linalg.qr(rng.standard_normal((d, k)))[0]
    step = LinearMap(V.T, mean, None, None, total=float(d))
    assert (step._shift(X, np.dtype(dtype), None)[0] is None) == (far < 1)
    about = X.astype(np.longdouble) - mean.astype(np.longdouble)
    terms = np.abs(about).astype(float) @ np.abs(V) + np.linalg.norm(mean / max(1.0, far))
    off = np.abs(step.forward(X) - (about @ V).astype(float))
    assert np.max(off / terms) <= (d + 4) * np.finfo(dtype).eps


def test_pca_tells_how_far_rows_are_from_their_mean(seed):
    X = np.random.default_rng(seed).standard_normal((400, 5)) * [1, 2, 3, 4, 5]
    for options in ({}, {"scale": True}):
        step = ritz.PCA(2, **options).fit(X)._map()
        frame = X if step.scale is None else X / step.scale
        assert step.total == pytest.approx(frame.var(axis=0, ddof=1).sum())
