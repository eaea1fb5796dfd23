"""The leading pairs of a formed matrix: right by place, against known spectra, and refused where unproved."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ritz
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.statistics import Statistics
from ritz.operators import Centered, Dense, Symmetric
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers import leading
from ritz.spectral.solvers.dense import dense_eigh, dense_svd
from ritz.spectral.solvers.leading import ENDED, LEFT_OUT, _lost, below, leading_pairs


def known(values, seed=0):
    """A symmetric matrix with these eigenvalues, up to the rounding of three reflections."""
    rng = np.random.default_rng(seed)
    S = np.diag(np.asarray(values, float))
    for _ in range(3):
        v = rng.standard_normal(len(S))
        v /= np.linalg.norm(v)
        S -= 2 * np.outer(v, v @ S)
        S -= 2 * np.outer(S @ v, v)
    return (S + S.T) / 2


SPECTRA = {
    "fast": 2.0 ** -np.arange(300),
    "slow": 1 / np.sqrt(np.arange(1, 301)),
    "flat": np.append([3.0, 2.0], np.full(298, 1.0)),
    "copies": np.append([5.0, 5.0, 5.0, 4.0, 4.0], np.linspace(3, 0, 295)),
    "tie at k": np.append(np.linspace(9, 5, 5), np.full(295, 5.0)),
    "low rank": np.append(np.linspace(9, 5, 8), np.zeros(292)),
}


@pytest.mark.parametrize("k", [1, 5, 12, 40])
@pytest.mark.parametrize("tol", [0.0, 1e-6])
@pytest.mark.parametrize("name", SPECTRA)
def test_every_pair_is_right_by_its_place(name, tol, k):
    values = np.asarray(SPECTRA[name])
    S = known(values)
    M = Symmetric(S, positive=True)
    problem = SpectralProblem(M, k, kind="eigh", partial=True, tol=tol)
    pairs = dense_eigh(problem, M, 1 << 30)
    assert pairs.k == k
    # the matrix itself is off by a few roundings of its largest eigenvalue
    off = 1e-14 * values[0]
    assert np.all(np.abs(pairs.leading() - values[:k]) <= min(pairs.error, 1e-13 * values[0]) + off)
    assert values[k] <= pairs.completeness.ceiling + off
    assert pairs.error <= 1e-9 * values[0]
    gap = values[k - 1] - values[k]  # a float32 factor, where its rounding is small beside the gap
    assert pairs.completeness.ceiling <= values[k] + 0.05 * gap + 1e-8 * values[0]
    V = pairs.vectors
    assert np.max(np.abs(V.T @ V - np.eye(k))) < 1e-12
    assert np.linalg.norm(S @ V - V * pairs.leading(), 2) <= (1e-12 + k**0.5 * ENDED * tol) * values[0]


def test_values_in_a_crowd_are_right_whatever_the_tolerance():
    """Residuals of 1e-3 leave values that lie close together wrong in the sixth digit: iterations go on."""
    values = np.append(1 - 1e-3 * np.arange(8), np.linspace(0.99, 0, 292))
    found = leading_pairs(known(values), 6, tol=0.1)
    assert found is None or np.max(np.abs(found.values[:6] - values[:6])) < 1e-13


def test_a_pair_that_was_left_out_is_noticed():
    """Lanczos from one vector can miss a copy of an eigenvalue: the factorisation then fails."""
    values = np.append([5.0, 4.0, 3.0], np.linspace(2, 0, 97))
    S = known(values)
    theta, V = np.linalg.eigh(S)
    theta, V = theta[::-1], V[:, ::-1]
    without = [0, 2, 3]  # as if the second had been missed
    for dtype, near in ((np.float64, 1e-8), (np.float32, 1e-3)):
        assert below(S.T, theta[:3], V[:, :3], theta[3], dtype) == pytest.approx(2.0, abs=near)
        assert below(S.T, theta[without], V[:, without], theta[4], dtype) is None
        assert below(S.T, theta[:3], V[:, :3], theta[4], dtype) is None  # and as if the fourth had been


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30, 1e200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_factor_is_formed_in_units_of_the_largest_eigenvalue(scale, dtype):
    values = np.append([5.0, 4.0, 3.0], np.linspace(2, 0, 97)) * scale
    theta, V = np.linalg.eigh(known(values))
    ceiling = below(known(values).T, theta[::-1][:3], V[:, ::-1][:, :3], theta[-4], dtype)
    assert 2 * scale <= ceiling <= 2.01 * scale


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "copies", "three points", "ones", "counts"])
def test_what_a_factor_loses_is_allowed_for(name, dtype):
    """‖LLᵀ − (τI − G + VΘVᵀ)‖₂ of factors in both precisions, beside what the ceiling leaves for it."""
    rng, p, k = np.random.default_rng(1), 300, 4
    X = rng.standard_normal((p, 5))
    rows = {"rbf": X, "copies": np.repeat(X[:30], 10, axis=0), "three points": np.repeat(X[:3], 100, axis=0)}
    if name in rows:
        G = np.exp(-0.1 * np.square(rows[name][:, None] - rows[name]).sum(axis=2)) + 1e-9 * np.eye(p)
    else:
        counts = (rng.random((2 * p, p)) < 0.1).astype(float)
        G = np.ones((p, p)) + 0.3 * np.eye(p) if name == "ones" else counts.T @ counts
    theta, V = np.linalg.eigh(G)
    theta, V = theta[::-1], V[:, ::-1]
    lost = _lost(p, dtype) * theta[0]
    for just_below in (0.5, 0.05):  # the next eigenvalue taken for smaller than it is, by more than rounding
        wrong = theta[k] - (3 + just_below) * lost
        assert wrong <= 0 or below(G, theta[:k], V[:, :k], wrong, dtype) is None
    assert below(G, theta[:k], V[:, :k], max(theta[k], 0.0), dtype) is not None


def test_what_is_not_partial_is_decomposed_whole():
    S = known(SPECTRA["slow"])
    M = Symmetric(S, positive=True)
    assert len(dense_eigh(SpectralProblem(M, 5, kind="eigh"), M, 1 << 30).values) == 300
    indefinite = Symmetric(S - 0.5 * np.eye(300))
    partial = SpectralProblem(indefinite, 5, kind="eigh", partial=True)
    assert len(dense_eigh(partial, indefinite, 1 << 30).values) == 300
    assert leading_pairs(-S, 5, always=True) is None


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_kernel_models_take_this_route(kernel):
    X = np.random.default_rng(0).standard_normal((260, 12))
    quick, whole = (ritz.KernelPCA(6, kernel=kernel, solver=solver).fit(X) for solver in ("auto", "svd"))
    assert quick.certificate_.completeness == LEFT_OUT
    assert "formed" in quick.plan_.reasons[0]
    assert quick.certificate_.labelled.all()
    assert np.allclose(quick.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    assert np.allclose(np.abs(np.sum(quick.eigenvectors_ * whole.eigenvectors_, axis=0)), 1, atol=1e-10)
    assert quick.verify(X)
    assert quick.explained_variance_ratio_ == pytest.approx(whole.explained_variance_ratio_)


def ring(n, gamma):
    """(n,) eigenvalues of J K J, RBF, of n points on the unit circle: a Fourier transform, each twice but the last."""
    m = np.arange(n)
    entries = np.exp(-4 * gamma * np.sin(np.pi * m / n) ** 2)
    values = [math.fsum(entries * np.cos(2 * np.pi * (j * m % n) / n)) for j in range(1, n)]
    return np.sort(np.append(values, 0.0))[::-1]  # centring takes off the constant vector


@pytest.mark.parametrize("k", [1, 4, 5, 6])
@pytest.mark.parametrize(("n", "gamma"), [(260, 0.5), (301, 8.0), (700, 60.0)])
def test_points_on_a_ring_against_their_fourier_transform(n, gamma, k):
    """Every eigenvalue twice, so that a single vector sees one of each in exact arithmetic; odd k ends in between."""
    angle = 2 * np.pi * np.arange(n) / n
    model = ritz.KernelPCA(k, kernel="rbf", gamma=gamma).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
    truth, certificate = ring(n, gamma), model.certificate_
    assert np.all((certificate.lower <= truth[:k]) & (truth[:k] <= certificate.upper))
    assert truth[k] <= certificate.ceiling
    assert np.max(np.abs(model.eigenvalues_ - truth[:k])) <= 1e-12 * truth[0]


def test_a_crowd_far_below_the_wanted_pairs_is_left_out_without_finding_its_largest():
    p, k = 400, 10
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((p, p)))[0]
    crowd = np.sort(np.random.default_rng(4).uniform(1.0, 1.0 + 1e-5, p - k))[::-1]
    values = np.concatenate([np.linspace(100.0, 80.0, k), crowd])
    G = (Q * values) @ Q.T
    found = leading_pairs((G + G.T) / 2, k, least=200, brief=True)
    assert found is not None
    assert len(found.values) == k  # the next one does not come within a few restarts
    assert crowd[0] <= found.ceiling <= 1.0 + 0.05 * 79
    assert np.max(np.abs(found.values - values[:k])) <= 1e-12 * values[0]
    assert np.max(np.linalg.svd(found.vectors.T @ Q[:, :k], compute_uv=False)) >= 1 - 1e-12


def test_one_of_the_wanted_pairs_among_the_crowd_is_not_left_out():
    p = 400
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((p, p)))[0]
    G = (Q * np.concatenate([[100.0, 90.0, 80.0, 70.0], np.ones(p - 4)])) @ Q.T
    G = (G + G.T) / 2
    assert below(np.asfortranarray(G), np.array([100.0, 90.0, 80.0]), Q[:, :3], 5.0, np.float64) is None


def test_equal_eigenvalues_are_left_to_lapack_where_it_takes_little_longer():
    assert leading_pairs(np.eye(300), 3, least=200, brief=True) is None


@pytest.mark.parametrize("first", [3.0, 400.0, 1e9])
def test_one_value_far_above_a_bulk_is_no_decay(monkeypatch, first):
    """Rows that are not centred have one, and an iteration would be begun for nothing."""
    tried = []
    monkeypatch.setattr(leading, "_lanczos", lambda *told: tried.append(told))
    assert leading_pairs(known(np.append([first], np.linspace(1.2, 0.8, 299))), 3, least=200, brief=True) is None
    assert not tried
    if first > 3.0:  # it alone comes at once
        assert leading_pairs(known(np.append([first], np.linspace(1.2, 0.8, 299))), 1, least=200, brief=True) is None
        assert tried.pop()
    assert leading_pairs(known(np.append([first], 1 / np.arange(1.0, 300.0))), 3, least=200, brief=True) is None
    assert len(tried) == 1


def test_values_beyond_the_rank_are_zero_only_where_they_may_be_rounding():
    X = np.random.default_rng(3).standard_normal((5, 8))
    stats = Statistics(blocks_of(X))
    A = Centered(Dense(X, stats), stats)
    centred = dense_svd(SpectralProblem(A, 5, rows=5, centered=True), A, 1 << 30)
    assert centred.values[4] == 0.0  # rows about their mean
    assert centred.values[3] > 0.1
    stats = Statistics(blocks_of(X), about_zero=True)
    A = Dense(X, stats)
    told = dense_svd(SpectralProblem(A, 5, rows=3, centered=False), A, 1 << 30)  # fewer than there are
    np.testing.assert_allclose(told.values, np.linalg.svd(X, compute_uv=False) ** 2, rtol=1e-12)
    small = np.diag([1.0, 1.0, 1e-13, 1e-13])
    A = Dense(small, Statistics(blocks_of(small), about_zero=True))
    told = dense_svd(SpectralProblem(A, 4, rows=2, centered=False), A, 1 << 30)
    assert told.sigma_error < 1e-13  # above rounding, though not by much
    np.testing.assert_allclose(told.values, [1, 1, 1e-26, 1e-26], rtol=1e-2)
