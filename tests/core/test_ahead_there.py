"""Eigenpairs that a device is asked for before the sums are on the host; tensors of the host stand in for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ritz  # noqa: E402
from ritz._core import ahead  # noqa: E402
from ritz.data.passes.gram import about_mean  # noqa: E402
from ritz.spectral.solvers import moments  # noqa: E402


@pytest.fixture
def host_stands_in(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Matrices of the host from 20 columns on count as those of a device; what was taken of it is noted."""
    taken: list[Any] = []
    monkeypatch.setattr(ahead, "_pays", lambda S: len(S) >= 20)
    monkeypatch.setattr(moments, "_there", lambda A, G: isinstance(G, np.ndarray) and len(G) >= 20)
    plain = ahead.there
    monkeypatch.setattr(ahead, "there", lambda S: taken.append(plain(S)) or taken[-1])
    return taken


def sums(d: int = 30, n: int = 200) -> tuple[np.ndarray, np.ndarray, float]:
    Z = np.random.default_rng(d).standard_normal((n, d)) * np.linspace(3, 1, d) + 0.3
    return Z.T @ Z, Z.sum(axis=0), float(n)


def test_the_matrix_of_the_device_is_that_of_the_host_to_the_last_bit(host_stands_in: list[Any]) -> None:
    S, m, w = sums()
    begun = ahead.begin_there(torch.from_numpy(S.copy()), torch.from_numpy(m.copy()), w)
    assert begun is not None
    scatter = about_mean(m, S, w)
    ahead.known_of(S, begun)
    ahead.begin(scatter, S)
    assert ahead.there(S) is None  # they are those of the scatter now
    there, theta, Y = ahead.there(scatter)
    assert np.array_equal(there.numpy(), scatter)
    assert np.all(np.diff(theta.numpy()) <= 0)
    np.testing.assert_allclose((Y * theta) @ Y.mT, scatter, atol=1e-12 * theta[0])
    assert ahead.there(scatter) is None  # given once


def test_another_array_finds_nothing_and_what_is_gone_is_forgotten() -> None:
    S, m, w = sums()
    begun = ahead.Begun(torch.from_numpy(S), torch.from_numpy(m), w)
    held = S.copy()
    ahead.known_of(held, begun)
    assert ahead.there(S) is None
    key = id(held)
    assert key in ahead._there
    del held
    assert key not in ahead._there


def test_numbers_without_eigenpairs_are_left_to_whoever_asks() -> None:
    S = torch.zeros((30, 20), dtype=torch.float64)
    assert ahead.Begun(S, torch.zeros(20, dtype=torch.float64), 1.0).result() is None


@pytest.mark.parametrize("k", [3, 30])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_takes_them_and_gives_the_same_answer(host_stands_in: list[Any], k: int, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 30)) * np.linspace(3, 1, 30) + 5
    w = rng.integers(1, 3, 20_000).astype(float) if weighted else None
    there = ritz.PCA(k, device="torch:cpu", solver="moments").fit(X, sample_weight=w)
    assert [each is not None for each in host_stands_in] == [not weighted]  # weights are summed up by the host
    here = ritz.PCA(k, solver="moments").fit(X, sample_weight=w)
    np.testing.assert_allclose(there.explained_variance_, here.explained_variance_, rtol=1e-12)
    angles = np.linalg.svd(there.components_ @ here.components_.T, compute_uv=False)
    assert angles.min() > 1 - 1e-12
    a, b = there.certificate_, here.certificate_
    assert np.all((a.lower <= b.upper) & (b.lower <= a.upper))


@pytest.mark.parametrize("scale", [False, True])
def test_what_a_fit_does_not_take_is_let_go_of(host_stands_in: list[Any], scale: bool) -> None:
    """Standardised columns have another matrix: that of the sums would stay on the device as long as the model."""
    X = np.random.default_rng(3).standard_normal((20_000, 30)) * np.linspace(3, 1, 30) + 5
    model = ritz.PCA(3, device="torch:cpu", solver="moments", scale=scale, mergeable=True).fit(X)
    assert not ahead._there
    assert model.n_components_ == 3


def test_values_that_a_device_left_out_of_order_are_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal eigenvalues come in any order from some routines: off by a rounding each, they would seem to increase."""
    from ritz._core import linalg

    S, _, _ = sums()
    order = np.r_[1, 0, np.arange(2, 30)]
    order[[12, 13, 14]] = 14, 12, 13
    xp = linalg.namespace(torch.from_numpy(S))
    plain = xp.linalg.eigh

    def shuffled(M: Any) -> Any:
        theta, Y = plain(M)
        return theta[order], Y[:, order]

    monkeypatch.setattr(xp.linalg, "eigh", shuffled)
    for top in (None, 15):
        theta, Y = linalg.eigh(torch.from_numpy(S), top)
        assert theta.shape[0] == Y.shape[1] == (top or 30)
        assert np.all(np.diff(theta.numpy()) <= 0)
        np.testing.assert_allclose(S @ Y.numpy(), Y.numpy() * theta.numpy(), atol=1e-10 * float(theta[0]))
