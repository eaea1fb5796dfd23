"""Eigenpairs that a thread begins: the same ones, once, and nothing that stays behind."""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest

from ritz._core import ahead, linalg
from ritz._core.linalg import eigh

RNG = np.random.default_rng(5)


def _matrix(d: int) -> np.ndarray:
    X = RNG.standard_normal((3 * d, d))
    return X.T @ X


@pytest.mark.parametrize("top", [None, 7])
def test_what_was_begun_is_what_would_have_been_computed(top: int | None) -> None:
    S = _matrix(60)
    theta, V = eigh(S.copy())
    ahead.begin(S)
    assert len(ahead.BEGUN) == 1
    found, W = eigh(S, top)
    assert not ahead.BEGUN  # taken, and computed anew the next time
    k = top or 60
    np.testing.assert_array_equal(found, theta[:k])
    np.testing.assert_array_equal(W, V[:, :k])
    np.testing.assert_allclose(eigh(S, top)[0], theta[:k], rtol=1e-12)


def test_another_matrix_is_not_mistaken_for_it() -> None:
    S, T = _matrix(40), _matrix(40)
    ahead.begin(S)
    np.testing.assert_array_equal(eigh(T)[0], eigh(T.copy())[0])
    assert len(ahead.BEGUN) == 1
    del S
    for _ in range(100):  # until the thread has ended, which holds the matrix
        gc.collect()
        if not ahead.BEGUN:
            break
        time.sleep(0.05)
    assert not ahead.BEGUN


@pytest.mark.parametrize("d", [ahead.LEAST - 1, ahead.MOST])
def test_little_and_large_matrices_are_not_begun(d: int) -> None:
    ahead.begin(np.eye(d))
    assert not ahead.BEGUN


def test_an_array_with_the_number_of_another_gets_nothing_of_it() -> None:
    S, T = _matrix(40), _matrix(40)
    ahead.begin(S)
    ahead.BEGUN[id(T)] = ahead.BEGUN.pop(id(S))
    np.testing.assert_array_equal(eigh(T)[0], eigh(T.copy())[0])
    assert not ahead.BEGUN


@pytest.mark.parametrize("kind", [np.linalg.LinAlgError, MemoryError, ValueError])
def test_a_failure_is_found_out_by_whoever_asks(monkeypatch: pytest.MonkeyPatch, kind: type[Exception]) -> None:
    calls = []

    def fails(S: np.ndarray) -> None:
        calls.append(S)
        raise kind("Eigenvalues did not converge")

    monkeypatch.setattr(linalg, "all_pairs", fails)
    S = _matrix(40)
    ahead.begin(S)
    with pytest.raises(kind):  # and nobody waits for ever
        eigh(S)
    assert len(calls) == 2
    assert not ahead.BEGUN
