"""``standardize`` divides columns by their deviations, of the fit and of new rows alike; strings are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz

RNG = np.random.default_rng(0)
MIX = np.array([[1, 0.2, 0], [0, 1, 0.3], [0, 0, 0.2]])
X = RNG.standard_normal((80, 3)) @ MIX * [1000.0, 1.0, 0.01] + [5, -2, 1e3]
SPREAD = X.std(axis=0, ddof=1)
MAPS = [
    (ritz.MDS, {}), (ritz.MDS, {"landmarks": 30}), (ritz.Isomap, {}), (ritz.LLE, {}), (ritz.LaplacianEigenmaps, {}),
    (ritz.DiffusionMaps, {}), (ritz.DiffusionMaps, {"n_neighbors": 10}),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "options"), MAPS)
def test_the_map_is_that_of_standardised_columns(cls, options, tmp_path):
    model, plain = cls(2, standardize=True, **options).fit(X), cls(2, **options).fit(X / SPREAD)
    size = np.abs(plain.embedding_).max()
    np.testing.assert_allclose(model.embedding_, plain.embedding_, atol=1e-6 * size)
    np.testing.assert_allclose(model.spread_, SPREAD, rtol=1e-12)
    new = X[:10] * 1.01
    np.testing.assert_allclose(model.transform(new), plain.transform(new / SPREAD), atol=1e-6 * size)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * size)
    assert model.verify(X)
    assert not cls(2, **options).fit(X).spread_
    ritz.save(model, tmp_path / "m.ritz")
    np.testing.assert_array_equal(ritz.load(tmp_path / "m.ritz").transform(new), model.transform(new))
    path = model.transform_to(X, tmp_path / "s.npy")
    np.testing.assert_allclose(np.load(path), model.transform(X), atol=1e-12 * size)


def test_the_way_back_is_in_the_units_of_the_table():
    model = ritz.LLE(2, standardize=True).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, rtol=1e-12)


def test_constant_columns_stay_and_are_named():
    with pytest.warns(ritz.ConstantColumnWarning, match="constant column 3"):
        model = ritz.Isomap(2, standardize=True).fit(np.c_[X, np.full(len(X), 7.0)])
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(ritz.Isomap(2).fit(X / SPREAD).embedding_), atol=1e-9)


def test_sparse_rows_and_weights():
    dense = ritz.Isomap(2, standardize=True).fit(X)
    np.testing.assert_allclose(
        ritz.Isomap(2, standardize=True).fit(sp.csr_array(X)).embedding_, dense.embedding_, atol=1e-9
    )
    w = np.arange(len(X)) % 3
    copies = ritz.MDS(2, standardize=True).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(ritz.MDS(2, standardize=True).fit(X, sample_weight=w).spread_, copies.spread_)


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (ritz.Isomap(standardize=True, metric="edit"), ["a", "bb", "ccc"], "strings"),
        (ritz.MDS(standardize=True, metric="precomputed"), np.ones((3, 3)) - np.eye(3), "given"),
        (ritz.LaplacianEigenmaps(standardize=True, weights="precomputed"), np.ones((4, 4)), "given"),
        (ritz.LLE(standardize="yes"), X, "True or False"),
    ],
)
def test_it_is_refused_without_columns_of_numbers(model, rows, words):
    with pytest.raises(ritz.ParameterError, match=words):
        model.fit(rows)
