"""A method that poses a problem of smallest eigenvalues has everything that other methods have."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz import insight, methods
from ritz.methods import register

sys.path.insert(0, str(Path(__file__).parent))
from toy_lle import WeightedLLE

N = 400


@pytest.fixture(autouse=True)
def joined(monkeypatch):
    """The class in the list of methods, for the time of a test."""
    monkeypatch.setattr(methods, "_joined", {})
    register(WeightedLLE)


@pytest.fixture(scope="module")
def weights():
    """Every point of a noisy strip written by its eight neighbours."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.sort(rng.random(N)) * 8, rng.random(N)])
    X = np.column_stack([X, np.sin(X[:, 0])])
    near = np.argsort(np.square(X[:, None] - X).sum(axis=2), axis=1)[:, 1:9]
    Z = X[near] - X[:, None]
    G = Z @ Z.transpose(0, 2, 1)
    G += 1e-3 * np.trace(G, axis1=1, axis2=2)[:, None, None] * np.eye(8)
    w = np.linalg.solve(G, np.ones((N, 8, 1)))[:, :, 0]
    return sp.csr_array(((w / w.sum(axis=1)[:, None]).ravel(), near.ravel(), np.arange(0, 8 * N + 1, 8)), shape=(N, N))


@pytest.fixture(scope="module")
def model(weights):
    return WeightedLLE(3).fit(weights)


@pytest.mark.parametrize("solver", ["auto", "svd", "inverse"])
def test_values_are_those_of_a_dense_decomposition(weights, solver):
    found = WeightedLLE(3, solver=solver).fit(weights)
    B = np.eye(N) - weights.toarray()
    true = np.linalg.svd(B, compute_uv=False)[::-1] ** 2
    assert np.allclose(found.eigenvalues_, true[1:4], rtol=1e-8)
    assert np.all(np.diff(found.eigenvalues_) > 0)
    assert np.abs(found.embedding_.sum(axis=0)).max() < 1e-12 * N  # the constant is left out
    c = found.certificate_
    assert c.which == "smallest"
    assert c.labelled.all()
    assert np.all(c.width < 1e-6 * c.values)
    assert found.verify(weights)


def test_plans_tell_the_route(weights):
    plan = ritz.plan(weights, WeightedLLE(3))
    assert plan.solver == "inverse"
    assert "counts its negative pivots" in str(plan)
    assert WeightedLLE(3).fit(weights).plan_.actual_seconds is not None


def test_files_hold_it(model, weights, tmp_path):
    path = ritz.save(model, tmp_path / "lle.ritz")
    again = ritz.load(path or tmp_path / "lle.ritz")
    assert np.array_equal(again.embedding_, model.embedding_)
    assert str(again.certificate_) == str(model.certificate_)
    assert again.verify(weights)


def test_a_model_that_was_changed_does_not_pass(model, weights):
    changed = WeightedLLE(3).fit(weights)
    changed.embedding_ = changed.embedding_[:, ::-1]
    assert not changed.verify(weights)
    assert not model.verify(weights * 1.0001)


def test_the_rest_of_ritz_takes_it(model, weights):
    assert ritz.plot.scores(model, weights) is not None
    assert ritz.plot.scree(model) is not None
    assert "LLE" in str(insight.describe(model, weights.toarray()[:, :3]))


def test_words_of_the_refusals(weights):
    with pytest.raises(ritz.ParameterError, match="number for n_components"):
        WeightedLLE(0.9).fit(weights)
    with pytest.raises(ritz.ParameterError, match="solver must be"):
        WeightedLLE(2, solver="krylov").fit(weights)
    with pytest.raises(ritz.MemoryLimitError, match="allow memory"):
        WeightedLLE(2, solver="inverse", memory="100kB").fit(weights)
    with pytest.raises(ritz.InputError, match="null vectors are mapped to zero"):
        WeightedLLE(2).fit(weights * 0.5)
