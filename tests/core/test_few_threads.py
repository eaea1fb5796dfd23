"""Small fits take one thread of BLAS, whichever method; large ones as many as there are, and all give them back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import ritz
from ritz._core import blas
from ritz.methods.calls import threads_for

RNG = np.random.default_rng(5)
ROWS = RNG.standard_normal((120, 60)) * np.linspace(3, 1, 60)
COUNTS = RNG.poisson(4, (120, 60)) + 1
ESTIMATORS = [
    ritz.PCA(3), ritz.SVD(3), ritz.KernelPCA(3, kernel="rbf"), ritz.FactorAnalysis(2), ritz.CA(2), ritz.PLS(2),
    ritz.SparsePCA(2), ritz.RobustPCA(2), ritz.MDS(2), ritz.Isomap(2), ritz.LaplacianEigenmaps(2), ritz.NMF(2),
    ritz.ICA(2),
]  # fmt: skip


def _threads() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The limits that fits ask for."""
    asked: list[int] = []
    enter = blas._scopes.enter
    monkeypatch.setattr(blas._scopes, "enter", lambda threads: (asked.append(threads), enter(threads))[1])
    return asked


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_small_fit_asks_for_one_thread_and_gives_back_the_others(
    estimator: Any, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, during = _threads(), []
    read = type(estimator).read

    def looks(self: Any, *given: Any) -> Any:
        during.extend(_threads())
        return read(self, *given)

    monkeypatch.setattr(type(estimator), "read", looks)
    second = (ROWS[:, :2],) if isinstance(estimator, ritz.PLS) else ()
    estimator.fit(COUNTS if isinstance(estimator, (ritz.CA, ritz.NMF)) else ROWS, *second)
    assert 1 in seen
    assert set(during) == {1}
    assert _threads() == before


def test_tiny_and_large_fits_ask_for_nothing() -> None:
    shapes = [(150, 4), (2_000_000, 40), (1300, 3), (90, 3), (300, 200, 200, 5)]
    for rows, square in [*((np.broadcast_to(0.0, shape), False) for shape in shapes), (object(), False), (["a"], True)]:
        work = float(np.prod(np.shape(rows), dtype=float)) * min(np.shape(rows), default=1)
        with threads_for(ritz.KernelPCA() if square else ritz.PCA(), rows):
            assert bool(blas._scopes._running) == (blas.THREADED < work <= blas.ALONE)
    for n, alone in ((50, False), (300, True), (2000, False)):
        with threads_for(ritz.Isomap(), np.broadcast_to(0.0, (n, 3))):
            assert bool(blas._scopes._running) == alone


def test_a_fit_that_fails_gives_the_threads_back() -> None:
    before = _threads()
    with pytest.raises(ritz.RitzError):
        ritz.PCA(3).fit(np.where(ROWS > 0, np.nan, ROWS))
    assert _threads() == before


def test_states_are_solved_by_one_thread_too(seen: list[int]) -> None:
    model = ritz.PCA(3)
    for some in np.array_split(ROWS, 4):
        model.partial_fit(some)
    seen.clear()
    assert model.components_.shape == (3, 60)
    assert seen[:1] == [1]


@pytest.mark.parametrize("when", [1, 2, 3, 4])
def test_an_interrupt_while_limits_are_set_or_restored_leaves_none_behind(when: int) -> None:
    class Library:
        threads, calls = 4, 0

        def get_num_threads(self) -> int:
            return self.threads

        def set_num_threads(self, threads: int) -> None:
            Library.calls += 1
            if Library.calls == when:
                raise KeyboardInterrupt
            self.threads = threads

    scopes = blas._Scopes()
    scopes._controller = libraries = [Library(), Library()]
    Library.calls = 0
    with pytest.raises(KeyboardInterrupt):
        scopes.leave(scopes.enter(1))
    assert [library.threads for library in libraries] == [4, 4]
    assert not scopes._running
    assert not scopes._found
    scopes.leave(scopes.enter(2))
    assert [library.threads for library in libraries] == [4, 4]


@pytest.mark.parametrize(("d", "freed"), [(1_200, True), (300, False)])
def test_only_long_decompositions_of_large_fits_take_the_threads_of_blas(
    d: int, freed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere threads of BLAS would spin beside the lanes of the next pass."""
    asked: list[int] = []
    enter = blas._scopes.enter
    monkeypatch.setattr(blas._scopes, "enter", lambda threads: (asked.append(threads), enter(threads))[1])
    monkeypatch.setattr(blas, "FREED", 1_000)
    X = np.random.default_rng(0).standard_normal((8_000_000 // d, d))
    ritz.SVD(d // 3, solver="moments").fit(X)
    assert asked[0] == 1
    assert (blas.FREELY in asked) == freed


def test_a_small_fit_keeps_to_one_thread_whatever_its_decomposition_would_take(
    seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More would bring little there, and take many times the time on a busy machine."""
    monkeypatch.setattr(blas, "FREED", 50)
    before = _threads()
    ritz.PCA(40, solver="moments").fit(ROWS)
    ritz.PCA(40).partial_fit(ROWS).explained_variance_.sum()
    assert seen
    assert blas.FREELY not in seen
    assert _threads() == before
