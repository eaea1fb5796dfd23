"""The leading pairs of a formed matrix: right by place, against known spectra, and refused where unproved."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.operators import Symmetric
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.dense import dense_eigh
from ritz.spectral.solvers.formed import LEFT_OUT, _below, leading_eigh


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
@pytest.mark.parametrize("name", SPECTRA)
def test_every_pair_is_right_by_its_place(name, k):
    values = np.asarray(SPECTRA[name])
    S = known(values)
    M = Symmetric(S, positive=True)
    problem = SpectralProblem(M, k, kind="eigh", partial=True)
    pairs = dense_eigh(problem, M, 1 << 30)
    assert pairs.k == k
    # the matrix itself is off by a few roundings of its largest eigenvalue
    off = 1e-14 * values[0]
    assert np.all(np.abs(pairs.leading() - values[:k]) <= pairs.error + off)
    assert values[k] <= pairs.completeness.ceiling + off
    assert pairs.error <= 1e-9 * values[0]
    assert pairs.completeness.ceiling <= values[k] + 1e-8 * values[0]
    V = pairs.vectors
    assert np.max(np.abs(V.T @ V - np.eye(k))) < 1e-12
    assert np.linalg.norm(S @ V - V * pairs.leading(), 2) <= 1e-12 * values[0]


def test_a_pair_that_was_left_out_is_noticed():
    """Lanczos from one vector can miss a copy of an eigenvalue: the factorisation then fails."""
    values = np.append([5.0, 4.0, 3.0], np.linspace(2, 0, 97))
    S = known(values)
    theta, V = np.linalg.eigh(S)
    theta, V = theta[::-1], V[:, ::-1]
    assert _below(S.T, theta[:3], V[:, :3], theta[3]) == pytest.approx(2.0, abs=1e-8)
    without = [0, 2, 3]  # as if the second had been missed
    assert _below(S.T, theta[without], np.ascontiguousarray(V[:, without]), theta[4]) is None
    assert _below(S.T, theta[:3], V[:, :3], theta[4]) is None  # and as if the fourth had been


def test_what_is_not_partial_is_decomposed_whole():
    S = known(SPECTRA["slow"])
    M = Symmetric(S, positive=True)
    assert len(dense_eigh(SpectralProblem(M, 5, kind="eigh"), M, 1 << 30).values) == 300
    indefinite = Symmetric(S - 0.5 * np.eye(300))
    assert leading_eigh(SpectralProblem(indefinite, 5, kind="eigh", partial=True), indefinite, S, 2.0**-53) is None


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
