"""Symmetric products beside other threads: the same numbers however rows lie, and no lock."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from ritz._core import syrk
from ritz._core.syrk import add_product

LAID = {
    "rows": lambda Z: np.ascontiguousarray(Z),
    "columns": lambda Z: np.asfortranarray(Z),
    "some of longer rows": lambda Z: np.hstack([Z, Z])[:, : Z.shape[1]],
    "some of longer columns": lambda Z: np.asfortranarray(np.vstack([Z, Z]))[: len(Z)],
    "every second row": lambda Z: np.repeat(Z, 2, axis=0)[::2],
    "every second entry": lambda Z: np.repeat(np.repeat(Z, 2, axis=0), 2, axis=1)[::2, ::2],
    "between other fields": lambda Z: np.rec.fromarrays(
        [np.arange(len(Z), dtype=np.int8), Z], dtype=[("other", "i1"), ("Z", Z.dtype, Z.shape[1:])]
    )["Z"],
    "bytes the other way round": lambda Z: Z.astype(Z.dtype.newbyteorder()),
    "backwards": lambda Z: np.ascontiguousarray(Z[::-1])[::-1],
}


@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(40, 7), (3, 9), (1, 5), (6, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_a_triangle_has_the_product(monkeypatch, laid, dtype, lower, first, shape, known):
    if not known:
        monkeypatch.setattr(syrk, "_routine", lambda kind: None)  # SciPy hands out no address
    rng = np.random.default_rng(0)
    Z = LAID[laid](rng.integers(-9, 9, shape).astype(dtype))  # whose products and sums are exact
    before = Z.copy()
    G = np.asfortranarray(rng.integers(-9, 9, (shape[1],) * 2).astype(dtype))
    own = np.tril(np.ones_like(G, bool)) if lower else np.triu(np.ones_like(G, bool))
    expected = np.where(own, before.T @ before + (0 if first else G), G)
    add_product(Z, G, first=first, lower=lower)
    np.testing.assert_array_equal(G, expected)
    np.testing.assert_array_equal(Z, before)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64])
def test_numbers_of_another_kind_are_converted(kind):
    Z, G = np.arange(12).reshape(4, 3).astype(kind), np.zeros((3, 3), order="F")
    add_product(Z, G, first=True)
    np.testing.assert_array_equal(G, np.triu(Z.astype(float).T @ Z.astype(float)))


def test_steps_beyond_the_range_of_an_int_are_left_to_the_wrapper(monkeypatch):
    monkeypatch.setattr(syrk, "LONGEST", 5)
    monkeypatch.setattr(syrk, "_routine", lambda kind: pytest.fail)
    Z, G = np.arange(12.0).reshape(2, 6)[:, :3], np.zeros((3, 3), order="F")
    add_product(Z, G, first=True)
    np.testing.assert_array_equal(G, np.triu(Z.T @ Z))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_has_a_product_of_nothing(shape):
    G = np.ones((shape[1],) * 2, order="F")
    add_product(np.empty(shape), G, first=True)
    np.testing.assert_array_equal(G, np.tril(G, -1))


@pytest.mark.parametrize("kind", ["d", "f"])
def test_it_runs_without_the_interpreters_lock(kind):
    routine = syrk._routine(kind)
    if routine is None:
        pytest.skip("SciPy hands out no address of the routine that is known")
    assert not routine._flags_ & ctypes._FUNCFLAG_PYTHONAPI


def test_what_is_not_known_is_left_to_the_wrapper():
    assert syrk._routine("D") is None  # complex numbers
