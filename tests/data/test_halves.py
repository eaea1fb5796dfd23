"""Half precision in single precision, bit by bit: every half there is, in every layout, and what is not finite."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.data.passes.halves import copied_into, widened

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@pytest.mark.filterwarnings("ignore:invalid value")  # NumPy's own conversion of signalling NaN
def test_every_half_is_converted_exactly():
    truth = [np.ldexp(1.0 * ((b & 1023) + 1024 * (e > 0)), max(e, 1) - 25) * (-1.0 if b >> 15 else 1.0)
             for b in range(1 << 16) for e in [(b >> 10) & 31]]  # fmt: skip
    finite = np.isfinite(EVERY)
    found = widened(EVERY[finite])
    assert found.dtype == np.float32
    assert np.array_equal(found.astype(np.float64), np.array(truth)[finite])
    assert np.array_equal(np.signbit(found), np.signbit(EVERY[finite]))
    assert np.array_equal(widened(EVERY), EVERY.astype(np.float32), equal_nan=True)
    assert np.isinf(widened(np.array([1.0, -np.inf], np.float16))[1])


def test_every_layout(seed):
    X = np.random.default_rng(seed).standard_normal((40, 30)).astype(np.float16)
    for x in (X, X.T, X[::2, ::3], np.asfortranarray(X), X.astype(">f2"), X[:0]):
        for z in (np.empty(x.shape, np.float32), np.empty((*x.shape, 2), np.float32)[..., 1], np.empty(x.shape)):
            copied_into(z, x)
            assert np.array_equal(z, x.astype(z.dtype))
    assert widened(X.astype(np.float64)).dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_halves_give_what_the_same_numbers_give_as_singles(seed, order):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((3000, 40)) * np.linspace(3, 1, 40) + 2).astype(np.float16, order=order)
    wide = X.astype(np.float32)
    for options in ({}, {"solver": "krylov"}, {"scale": True}):
        a, b = ritz.PCA(5, **options).fit(X), ritz.PCA(5, **options).fit(wide)
        assert np.array_equal(a.components_, b.components_)
        assert np.array_equal(a.certificate_.upper, b.certificate_.upper)
        assert np.array_equal(a.transform(X), b.transform(wide))
    X[7, 3] = np.inf
    with pytest.raises(ritz.NonFiniteError, match="row 7"):
        ritz.PCA(5).fit(X)
