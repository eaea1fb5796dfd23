"""Leading eigenpairs with all eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core import subset
from ritz._core.linalg import eigh
from ritz._core.subset import largest_pairs

# d, number of vectors
SIZES = [(2, 1), (5, 2), (33, 1), (33, 9), (100, 30), (150, 4), (150, 40)]


def known(d, seed, values=None):
    """A symmetric matrix of known eigenvalues, decreasing, and its vectors."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    theta = np.sort(rng.standard_normal(d))[::-1] if values is None else values
    S = (Q * theta) @ Q.T
    return (S + S.T) / 2, theta, Q


@pytest.mark.parametrize(("d", "top"), SIZES)
@pytest.mark.parametrize("whole", [False, True])
def test_pairs_of_a_known_matrix(d, top, whole, seed):
    S, theta, Q = known(d, seed)
    found, Y = eigh(S, top, whole=whole)
    assert found.shape == (d if whole else top,)
    assert Y.shape == (d, top)
    size = np.abs(theta).max()
    np.testing.assert_allclose(found, theta[: len(found)], atol=1e-14 * d * size)
    np.testing.assert_allclose(Y.T @ Y, np.eye(top), atol=1e-12)
    assert np.abs(S @ Y - Y * found[:top]).max() <= 1e-13 * d * size
    assert np.abs(np.abs(np.sum(Y * Q[:, :top], axis=0)) - 1).max() <= 1e-6


@pytest.mark.parametrize(
    "values",
    [
        np.ones(60),
        np.repeat([3.0, 1.0], 30),
        np.r_[np.full(20, 5.0), np.zeros(40)],
        10.0 ** -np.arange(60),
        np.zeros(60),
    ],
    ids=["equal", "two levels", "rank 20", "graded", "nothing"],
)
def test_values_that_crowd_have_orthonormal_vectors(values, seed):
    S, theta, _ = known(60, seed, values)
    for top in (1, 7, 18):
        found, Y = eigh(S, top, whole=True)
        np.testing.assert_allclose(found, theta, atol=1e-13)
        np.testing.assert_allclose(Y.T @ Y, np.eye(top), atol=1e-12)
        assert np.abs(S @ Y - Y * found[:top]).max() <= 1e-12


@pytest.mark.parametrize("scale", [1e-200, 1e-130, 1e130, 1e200])
def test_sizes_that_the_reduction_does_not_take_are_left_to_the_drivers(scale, seed):
    S, theta, _ = known(40, seed)
    assert largest_pairs(scale * S, 3, whole=True)[1].shape[1] == 0
    found, Y = eigh(scale * S, 3, whole=True)
    np.testing.assert_allclose(found / scale, theta, atol=1e-12)
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("step", ["dsterf", "dstein"])
def test_all_pairs_are_found_where_a_step_of_the_reduction_fails(step, seed, monkeypatch):
    from scipy.linalg import lapack

    S, theta, _ = known(60, seed)
    plain = getattr(lapack, step)
    monkeypatch.setattr(lapack, step, lambda *given: (0 * plain(*given)[0], 1))
    assert largest_pairs(S, 5, whole=True)[1].shape[1] == 0
    found, Y = eigh(S, 5, whole=True)
    np.testing.assert_allclose(found, theta, atol=1e-13)
    assert np.abs(S @ Y - Y * found[:5]).max() <= 1e-12


@pytest.mark.parametrize("n", [20, 60, 150, 300])
@pytest.mark.parametrize("fails", [False, True])
def test_sure_pairs_are_as_many_as_asked_for_among_equal_values(monkeypatch, n, fails):
    S = np.eye(n) - 1 / n  # one value n − 1 times
    S[0, 0] += 1e-15
    if fails:  # as LAPACK does on some crowds, and on which ones differs from release to release
        monkeypatch.setattr(subset, "_by_range", lambda S, top: (S[0, :0], S[:, :0]))
    for top in (1, 3, n):
        theta, Y = subset.sure_pairs(S, top)
        assert theta.shape == (top,)
        assert Y.shape == (n, top)
        np.testing.assert_allclose(S @ Y, Y * theta, atol=1e-13)
        np.testing.assert_allclose(Y.T @ Y, np.eye(top), atol=1e-13)
        np.testing.assert_allclose(theta, np.linalg.eigvalsh(S)[n - top :], atol=1e-13)
    assert subset.sure_pairs(S, 0)[1].shape == (n, 0)
