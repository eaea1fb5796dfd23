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
@pytest.mark.parametrize("far", [0.0, 0.9, 1.9, 2.1, 1e6])
def test_a_short_mean_goes_off_coordinates_and_a_long_one_off_rows(seed, dtype, far):
    rng = np.random.default_rng(seed)
    n, d = 20_000, 12
    mean = far * rng.choice([-1.0, 1.0], d)
    X = (rng.standard_normal((n, d)) + mean).astype(dtype)
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    step = LinearMap(V.T, mean, None, None, sizes=np.ones(d))
    assert (step._shift(X, np.dtype(dtype), None)[0] is None) == (far < 2)
    about = X.astype(np.longdouble) - mean.astype(np.longdouble)
    terms = np.abs(about).astype(float) @ np.abs(V) + np.linalg.norm(mean if far < 2 else mean / far)
    off = np.abs(step.forward(X) - (about @ V).astype(float))
    assert np.max(off / terms) <= (d + 4) * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"whiten": True}, {"scale": True}])
def test_a_mean_far_from_zero_in_a_small_column_costs_its_scores_no_digits(seed, dtype, options):
    X = np.random.default_rng(seed).standard_normal((30_000, 6)) * [1e6, 1, 1, 1, 1, 1]
    X[:, 1] += 1e5  # less than the first column varies
    X = X.astype(dtype)
    model = ritz.PCA(6, **options).fit(X)
    step, wide = model._map(), np.longdouble
    about = X.astype(wide) - step.mean.astype(wide) - (0 if step.low is None else step.low.astype(wide))
    true = about / (1 if step.scale is None else step.scale) @ model.components_.astype(wide).T
    true /= 1 if step.spread is None else step.spread
    off = np.max(np.abs(model.transform(X) - true), axis=0) / np.std(true, axis=0)
    assert np.max(off[1:]) <= 40 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_components_leave_counts_among_the_deviations(seed, dtype):
    """A mean of the size of the deviations is short for few components of many alike columns, too; but not for those of
    a small column: no variance that is left is larger than one that is found."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((4_000, 60)) + rng.uniform(-1.5, 1.5, 60)).astype(dtype)
    step = ritz.PCA(3).fit(X)._map()
    assert step._shift(X, np.dtype(dtype), None)[0] is None
    wide = np.longdouble
    true = (X.astype(wide) - step.mean.astype(wide) - (0 if step.low is None else step.low)) @ step.components.T
    assert np.max(np.abs(step.forward(X) - true)) <= 30 * np.finfo(dtype).eps * np.abs(true).max()
    small = np.column_stack([X[:, :3], 1e-3 * X[:, 3] + 1])
    assert ritz.PCA(4).fit(small)._map()._shift(small, np.dtype(dtype), None)[0] is not None


def test_a_short_mean_is_seen_in_every_unit(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30_000, 6)) + 0.1
    for unit in (1e-160, 1.0, 1e150):
        step = ritz.PCA(6).fit(unit * X)._map()
        assert step._shift(unit * X, np.dtype(float), None)[0] is None
        step = ritz.PCA(6).fit(unit * (X + 3))._map()
        assert step._shift(unit * X, np.dtype(float), None)[0] is not None


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_a_mean_is_short_or_long_in_the_units_of_scaled_columns(seed, unit):
    X = unit * np.random.default_rng(seed).standard_normal((30_000, 6))
    for far in (0.2, 9.0):
        step = ritz.PCA(6, scale=True).fit(X + far * unit)._map()
        assert (step._shift(X, np.dtype(float), None)[0] is None) == (far < 1)


def test_pca_tells_how_far_scores_are_from_zero(seed):
    X = np.random.default_rng(seed).standard_normal((400, 5)) * [1, 2, 3, 4, 5]
    for options in ({}, {"scale": True}, {"whiten": True}):
        model = ritz.PCA(2, **options).fit(X)
        scores = model.transform(X) * (model._map().spread if "whiten" in options else 1.0)
        np.testing.assert_allclose(model._map().sizes, scores.std(axis=0, ddof=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_a_short_mean_lacks_goes_off_coordinates_too(seed, dtype):
    rng = np.random.default_rng(seed)
    rows = 30_000 if dtype == np.float64 else 200  # float64 rows of few numbers go another way
    X = rng.standard_normal((rows, 6)).astype(dtype)
    mean, low = np.full(6, 0.25), np.linspace(0.01, 0.06, 6)
    step = LinearMap(V[:3], mean, None, None, low=low, sizes=np.ones(3))
    assert step._short(mean)
    expected = (X.astype(np.float64) - mean - low) @ V[:3].T
    np.testing.assert_allclose(step.forward(X), expected, atol=1e-5 if dtype == np.float32 else 1e-12)
