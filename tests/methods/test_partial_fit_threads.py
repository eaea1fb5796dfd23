"""``partial_fit`` of one estimator from several threads: one after the other, and never inside itself."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import ritz

rng = np.random.default_rng(0)
X = rng.standard_normal((800, 6)) * np.arange(1, 7)
LEVELS = pd.DataFrame({"p": rng.choice(list("uvw"), 400), "q": rng.choice(list("xyz"), 400)})
COUNTS = rng.integers(1, 9, (400, 5)).astype(float)


def in_threads(model: Any, parts: list[Any], count: int = 4) -> None:
    begin, errors = threading.Barrier(count), []

    def add(some: list[Any]) -> None:
        try:
            begin.wait(20)
            for part in some:
                model.partial_fit(part)
        except BaseException as error:  # noqa: BLE001 (raised below)
            errors.append(error)

    threads = [threading.Thread(target=add, args=(parts[i::count],)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_rows_from_several_threads_are_all_there() -> None:
    model = ritz.PCA(3)
    in_threads(model, [X[i::40] for i in range(40)])
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3] ** 2 / (len(X) - 1)
    assert model.n_samples_ == len(X)
    assert np.allclose(model.explained_variance_, truth, rtol=1e-10)


@pytest.mark.parametrize(("made", "rows"), [(ritz.MCA, LEVELS), (ritz.CA, COUNTS)])
def test_tables_from_several_threads_too(made: Any, rows: Any) -> None:
    take = rows.iloc.__getitem__ if isinstance(rows, pd.DataFrame) else rows.__getitem__
    model, whole = made(2), made(2).partial_fit(rows)
    in_threads(model, [take(slice(i, None, 8)) for i in range(8)])
    assert np.allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_results_read_while_rows_are_added_are_of_some_state() -> None:
    model, end, errors = ritz.PCA(2).partial_fit(X[:50]), threading.Event(), []

    def read() -> None:
        try:
            while not end.is_set():
                assert model.components_.shape == (2, 6)
        except BaseException as error:  # noqa: BLE001 (raised below)
            errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(50, 800, 50):
        model.partial_fit(X[i : i + 50])
    end.set()
    reader.join()
    assert errors == []
    assert model.n_samples_ == 800


def test_a_call_inside_itself_is_refused_and_results_are_not_there_yet() -> None:
    seen: list[Any] = []

    def watch(event: Any) -> None:
        seen.append(getattr(model, "components_", None))
        with pytest.raises(ritz.RitzError, match="from inside its own partial_fit") as caught:
            model.partial_fit(X)
        assert "deepcopy" in str(caught.value)
        other = ritz.PCA(2).partial_fit(X)  # another model may
        seen.append(other.n_components_)

    model = ritz.PCA(2, solver="lanczos", progress=watch).partial_fit(X)
    assert model.components_.shape == (2, 6)
    assert seen[:2] == [None, 2]
    model.progress = None
    assert model.partial_fit(X).n_samples_ == 2 * len(X)


def test_models_are_copied_and_pickled_as_before() -> None:
    model = ritz.PCA(2).partial_fit(X)
    assert not any("lock" in name for name in vars(model))
    for other in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert other.partial_fit(X[:10]).n_samples_ == len(X) + 10
    assert model.n_samples_ == len(X)
    assert clone(model).get_params() == model.get_params()


def test_an_error_gives_the_turn_back() -> None:
    model = ritz.PCA(2).partial_fit(X)
    with pytest.raises(ritz.InputError):
        model.partial_fit(X[:, :3])
    in_threads(model, [X[:100], X[100:200]], count=2)
    assert model.n_samples_ == len(X) + 200
