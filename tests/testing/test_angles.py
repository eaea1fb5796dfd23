"""Principal angles against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.testing import clusters, compare, largest_sine, principal_sines


def planes(angles):
    """Two subspaces of R^{2k} with the given principal angles."""
    k = len(angles)
    U = np.eye(2 * k, k)
    V = np.vstack([np.diag(np.cos(angles)), np.diag(np.sin(angles))])
    return U, V


@pytest.mark.parametrize("angles", [[0.5], [1.2, 0.3, 1e-3], [1e-12, 1e-15], [np.pi / 2, 0.0]])
def test_known_angles(angles):
    U, V = planes(angles)
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((2 * len(angles),) * 2))[0]
    mix = np.linalg.qr(rng.standard_normal((len(angles),) * 2))[0]
    expected = np.sort(np.sin(angles))[::-1]
    np.testing.assert_allclose(principal_sines(U, V), expected, rtol=1e-9, atol=1e-18)
    np.testing.assert_allclose(principal_sines(turn @ U, turn @ V @ mix), expected, atol=2e-15)


def test_signs_and_bases_do_not_matter():
    rng = np.random.default_rng(1)
    U = np.linalg.qr(rng.standard_normal((9, 3)))[0]
    assert largest_sine(U, -U[:, ::-1]) < 1e-15
    assert largest_sine(U, U[:, :1]) < 1e-15


def test_unequal_dimensions():
    U = np.eye(4, 1)
    with pytest.raises(ValueError, match="at most 1"):
        principal_sines(U, np.eye(4, 2))
    with pytest.raises(ValueError, match="independent"):
        principal_sines(np.zeros((4, 1)), U)


def test_clusters_split_at_gaps():
    assert clusters(np.array([5.0, 4.9, 3.0, 1.0, 1.0]), 0.2) == [slice(0, 2), slice(2, 3), slice(3, 5)]
    assert clusters(np.array([2.0]), 0.1) == [slice(0, 1)]


def test_compare_ignores_the_basis_inside_a_cluster_and_a_cut_cluster():
    rng = np.random.default_rng(2)
    U = np.linalg.qr(rng.standard_normal((8, 4)))[0]
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    V = U.copy()
    V[:, 1:3] = U[:, 1:3] @ turn
    values = np.array([4.0, 2.0, 2.0, 1.0])
    result = compare(values, U, V, width=1e-6)
    assert [c.components for c in result] == [slice(0, 1), slice(1, 3)]
    assert max(c.sine for c in result) < 1e-15
    assert result[1].gap == pytest.approx(0.25)
    assert [c.components for c in compare(values, U, V, width=1e-6, following=0.5)][-1] == slice(3, 4)
    assert len(compare(values, U, V, width=1e-6, following=1.0)) == 2
