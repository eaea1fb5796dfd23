"""What is said of corrected Gram matrices, where every term of it is needed: bounds that are attained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from ritz._core.tolerance import solving
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.rough import Rough, rough_gram
from ritz.data.passes.statistics import Statistics
from ritz.operators import Dense
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers import refined as module
from ritz.spectral.solvers.leading import Leading
from ritz.spectral.solvers.refined import REFINED, refined


@dataclass
class Off:
    """A Gram matrix that is off by what is given."""

    matrix: np.ndarray
    by: float

    def off(self, top):
        return self.by


class Far(Dense):
    """Rows whose Gram matrix in float32 would be E off."""

    E: np.ndarray

    def rough(self, k=1, *, scaled=False):
        return Off(self.X.T @ self.X + self.E, float(np.linalg.norm(self.E, 2)))


def far(seed, share, k, *, tol=1e-2, d=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, d)) * 0.7 ** np.arange(d)
    A = Far(X, Statistics(blocks_of(X), about_zero=True))
    A.X = X
    E = rng.standard_normal((d, d))
    E += E.T
    A.E = share * np.linalg.norm(X, 2) ** 2 * E / np.linalg.norm(E, 2)
    return SpectralProblem(A, k, n=200, d=d, rows=200, centered=False, tol=tol), A


def true_residuals(X, pairs):
    V = np.asarray(pairs.vectors, np.longdouble)
    R = np.asarray(X, np.longdouble).T @ (np.asarray(X, np.longdouble) @ V) - V * pairs.leading()
    return np.linalg.norm(np.asarray(R, np.float64), axis=0)


@pytest.mark.parametrize("share", [1e-5, 1e-4, 1e-3])
def test_residuals_count_the_image_that_is_not_known(seed, share, monkeypatch):
    monkeypatch.setattr(module, "UNMEASURED", np.inf)
    problem, A = far(seed, share, 2)
    pairs = refined(problem, A)
    assert pairs.precision == REFINED
    true, told = true_residuals(A.X, pairs), np.linalg.norm(pairs.residual_block, axis=0)
    top = pairs.leading()[0]
    assert np.all(true <= told + pairs.rounding)
    assert np.max(true) > 1.5 * np.max(told) + 1e-13 * top  # without it they would not be so small
    assert pairs.rounding <= 1e3 * np.max(true)
    assert A.passes() == 1  # of the rows: the matrix is given


def test_an_image_that_is_too_far_off_is_measured(seed):
    problem, A = far(seed, 1e-4, 2)
    pairs = refined(problem, A)
    top = pairs.leading()[0]
    assert pairs.precision == REFINED
    assert 100 * 2.0**-53 * top <= pairs.rounding <= module.UNMEASURED * top
    assert np.all(true_residuals(A.X, pairs) <= np.linalg.norm(pairs.residual_block, axis=0) + pairs.rounding)
    assert A.passes() == 2
    assert refined(*far(seed, 1e-9, 2)).rounding >= 100 * 2.0**-53 * top


def test_residuals_above_the_tolerance_are_left_to_the_direct_route(seed):
    problem, A = far(seed, 1e-3, 2, tol=1e-9)
    pairs = refined(problem, A)
    assert pairs.road == ("moments", module.TOO_NEAR)
    assert np.max(np.linalg.norm(pairs.residual_block, axis=0)) <= 1e-12 * pairs.leading()[0]


def ceiling(G, M, W, k, *, values=None, reach=0.0, off=0.0):
    theta, W, Y = module._turned(W, M @ W)
    leading = np.sort(np.linalg.eigvalsh(G))[::-1][: W.shape[1] + 1] if values is None else values
    return module._ceiling(G, W, theta, Y - W * theta, leading, reach, off, k)


def test_a_ceiling_is_above_what_a_matrix_that_is_off_may_hide():
    """Values within W lowered and those outside raised, by all that is allowed."""
    G, M, W = np.diag([10.0, 5.0, 4.9, 1.0]), np.diag([10.0, 4.8, 5.1, 1.0]), np.eye(4)[:, :2]
    assert 5.1 <= ceiling(G, M, W, 1, off=0.2) <= 5.1 + 1e-12
    low = np.array([10.0, 5.0, 4.8])  # the last of which is known to 0.1
    assert 5.1 <= ceiling(G, M, W, 1, values=low, reach=0.1, off=0.2) <= 5.1 + 1e-12


def test_vectors_that_are_not_the_leading_ones_say_nothing_of_what_they_leave():
    G, W = np.diag([10.0, 9.0, 8.0, 1.0]), np.eye(4)[:, [0, 1, 3]]
    assert ceiling(G, G, W, 2) >= 8.0


def test_a_ceiling_holds_for_vectors_that_are_not_invariant(seed):
    rng = np.random.default_rng(seed)
    for _ in range(300):
        d, k = 8, int(rng.integers(1, 5))
        V = np.linalg.qr(rng.standard_normal((d, d)))[0]
        values = np.sort(rng.uniform(0, 1, d))[::-1] ** rng.integers(1, 4)
        G = V * values @ V.T
        turned = V[:, : k + 2] + 10.0 ** rng.uniform(-8, 0) * rng.standard_normal((d, k + 2))
        W, E = np.linalg.qr(turned)[0], rng.standard_normal((d, d))
        E = (E + E.T) * 10.0 ** rng.uniform(-8, -1)
        M = G - E
        true = np.sort(np.linalg.eigvalsh(M))[::-1][k]
        assert ceiling(G, M, W, k, reach=1e-14, off=float(np.linalg.norm(E, 2))) >= true


@pytest.mark.parametrize("k", [8, 9, 10])
def test_nearly_all_components_are_left_to_the_direct_route(seed, k):
    X = np.random.default_rng(seed).standard_normal((100, 10))
    A = Dense(X, Statistics(blocks_of(X), about_zero=True))
    pairs = refined(SpectralProblem(A, k, n=100, d=10, rows=100, centered=False), A)
    assert np.allclose(pairs.leading(), np.linalg.svd(X, compute_uv=False)[:k] ** 2, rtol=1e-12)
    assert (pairs.road is None) == (k < 9)


def test_rows_of_zeros_have_no_components(seed):
    X = np.zeros((50, 6))
    A = Dense(X, Statistics(blocks_of(X), about_zero=True))
    pairs = refined(SpectralProblem(A, 2, n=50, d=6, rows=50, centered=False), A)
    assert not pairs.leading().any()


def nearly(a):
    """Numbers that float32 rounds by half of a last place, all the same way."""
    return a * (1 + 2.0**-24 * 0.999)


def test_numbers_that_are_all_rounded_by_most_attain_the_bound():
    X = np.full((1024, 4), nearly(1.0)) * np.where(np.arange(1024) % 2, 1.0, -1.0)[:, None]
    stats = Statistics(blocks_of(X), about_zero=True)
    stats.__dict__["shift"] = np.zeros(4)
    rough = rough_gram(stats, centered=False)
    error = 4096 * (nearly(1.0) ** 2 - 1)
    assert np.all(rough.matrix == 1024)
    assert error <= rough.off(4096.0) - rough.noise <= 1.2 * error


def test_what_is_taken_off_is_rounded_as_well():
    X = np.zeros((1000, 2))
    X[:790] = nearly(1.0)
    stats = Statistics(blocks_of(X))
    stats.__dict__["shift"] = np.zeros(2)  # off the mean by as much as is borne
    rough = rough_gram(stats, centered=True)
    Z = np.asarray(X, np.longdouble) - X.mean(axis=0, dtype=np.longdouble)
    G = np.asarray(Z.T @ Z, np.float64)
    error = np.linalg.norm(rough.matrix - G, 2)  # no product is rounded: what is allowed for that is not needed
    assert error <= rough.off(float(np.linalg.eigvalsh(G)[-1])) - rough.noise


def test_noise_grows_with_the_largest_of_the_scales():
    none = np.zeros(2)
    rough = Rough(np.zeros((2, 2)), none, none, 1.0, np.ones(2), 1)
    assert rough.scaled(np.array([3.0, -5.0])).off(0.0) >= 25.0


def test_weights_units_and_what_is_known_take_another_way(seed):
    X = np.random.default_rng(seed).standard_normal((200, 5))
    assert rough_gram(Statistics(blocks_of(X), weights=np.full(200, 2.0)), centered=True) is None
    assert rough_gram(Statistics(blocks_of(X * 1e-140)), centered=True) is None
    known = Statistics(blocks_of(X))
    assert known.column is not None
    assert rough_gram(known, centered=True) is None


def diagonal(*values):
    return np.diag(np.asarray(values, float)), np.eye(len(values))


def test_a_ceiling_from_the_matrix_alone_counts_how_far_its_values_can_lie():
    G, W = diagonal(10, 9, 8, 7.9)
    W = W[:, :3]  # what lies off these is too near for more to be said of them
    found = module._ceiling(G, W, np.array([10.0, 9, 8]), np.zeros((4, 3)), np.array([10.0, 9, 8, 7.9]), 0.5, 0.25, 1)
    assert found == 9 + 0.5 + 0.25


def test_a_ceiling_from_what_was_measured_counts_how_far_the_values_that_follow_can_lie():
    G, W = diagonal(10, 9, 8, 5)
    values, theta, block = np.array([10.0, 9, 8, 5]), np.array([10.0, 9, 8]), np.zeros((4, 3))
    assert module._ceiling(G, W[:, :3], theta, block, values, 2.75, 1.5, 1) == 5 + 2.75 + 1.5
    assert module._ceiling(G, W[:, :3], theta, block, values, 2.75, 0.5, 1) == 9  # measured, and above those
    block[3, 0] = 0.125
    assert module._ceiling(G, W[:, :3], theta, block, values, 2.75, 0.5, 1) == 9 + 0.125
    # where values inside may lie below those that follow, nothing is known of what is left
    assert module._ceiling(G, W[:, :3], theta, np.zeros((4, 3)), values, 3.5, 0.5, 1) == 9 + 3.5 + 0.5


@pytest.mark.parametrize(
    ("reach", "ceiling", "expected"),
    [([0.25, 0.5, 0.125], 6.0, 0.5), ([0.25, 0.5, 0.125], 6.75, 0.75), ([0.0, 0.0, 0.0], 5.0, 0.0)],
)
def test_values_of_an_iteration_may_lie_as_far_above_as_it_says(monkeypatch, reach, ceiling, expected):
    values, V = np.array([10.0, 9, 8, 6]), np.eye(40)[:, :4]
    found = Leading(values, V, np.zeros((40, 3)), np.array(reach), ceiling)
    monkeypatch.setattr(module, "iterated", lambda G, k, start, always: found)
    told = module._leading(np.eye(40), 3, True)
    exact = solving(40, 2.0**-53) * 10
    assert exact > 0
    assert told[1] == pytest.approx(max(max(reach) + exact, ceiling - 6), rel=1e-15, abs=0)
    assert told[1] == pytest.approx(expected + (exact if expected != 0.75 else 0), rel=1e-15, abs=0)
    assert np.array_equal(told[0], values)
    assert np.array_equal(told[2], V[:, :3])


def test_values_of_lapack_may_lie_above_by_what_it_rounds(monkeypatch):
    monkeypatch.setattr(module, "iterated", lambda G, k, start, always: None)
    values, reach, V = module._leading(np.diag([9.0, 8, 5, 4, 1]), 2, True)
    np.testing.assert_allclose(values, [9, 8, 5])
    assert reach == solving(5, 2.0**-53) * values[0] > 0
    assert V.shape == (5, 2)
