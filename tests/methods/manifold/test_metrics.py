"""Distances that are given, sparse graphs, kernels, strings and functions: every map takes them, and means the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import ritz
from ritz import kernels

RNG = np.random.default_rng(4)
X = np.c_[RNG.random(90) * 3, RNG.random(90)] @ RNG.standard_normal((2, 3)) + 0.05 * RNG.standard_normal((90, 3))
NEW = X[:7] + 0.02
D, TO = cdist(X, X), cdist(NEW, X)
WORDS = [
    a + b + c
    for a in ("gra", "blo", "stri", "ta")
    for b in ("ssy", "nde", "ng", "bles")
    for c in ("", "s", "er", "est")
]

MAPS = {
    "mds": ritz.MDS(2),
    "metric": ritz.MDS(2, method="metric"),
    "isomap": ritz.Isomap(2, n_neighbors=8),
    "laplacian": ritz.LaplacianEigenmaps(2, n_neighbors=8),
    "diffusion": ritz.DiffusionMaps(2, n_neighbors=8),
    "walk": ritz.DiffusionMaps(2),
    **{method: ritz.LLE(2, method=method, n_neighbors=8) for method in ("standard", "modified", "hessian", "ltsa")},
}


def made(name, **options):
    from sklearn.base import clone

    return clone(MAPS[name]).set_params(**options)


@pytest.mark.parametrize("name", MAPS)
def test_distances_of_rows_make_the_map_of_the_rows(name, apart):
    rows, given = made(name).fit(X), made(name, metric="precomputed").fit(D)
    assert apart(given.embedding_, rows.embedding_) < 1e-6
    # steps down a stress end within tol, and its map is the more curved the less they went
    assert apart(given.transform(TO), rows.transform(NEW)) < (1e-4 if name == "metric" else 1e-6)
    assert apart(given.transform(D), given.embedding_) < 1e-8 or name == "metric"


@pytest.mark.parametrize("name", MAPS)
def test_the_linear_kernel_means_euclidean_distances(name, apart):
    rows, kernel = made(name).fit(X), made(name, metric=kernels.Linear()).fit(X)
    assert apart(kernel.embedding_, rows.embedding_) < 1e-5
    assert apart(kernel.transform(NEW), rows.transform(NEW)) < (1e-3 if name == "metric" else 1e-5)


@pytest.mark.parametrize("name", [name for name in MAPS if name not in ("mds", "metric", "walk")])
def test_a_sparse_graph_is_taken(name, apart):
    """Stored distances are those that are known: of all pairs, they are the distances themselves."""
    graph = sp.csr_array(D)
    given, whole = made(name, metric="precomputed").fit(graph), made(name, metric="precomputed").fit(D)
    assert apart(given.embedding_, whole.embedding_) < 1e-8
    assert apart(given.transform(sp.csr_array(TO)), whole.transform(TO)) < 1e-8


def test_a_graph_without_distances_among_neighbours_is_no_ground_for_local_weights():
    graph = ritz.Neighbours(k=8).fit(X).graph_
    ritz.LaplacianEigenmaps(2, n_neighbors=8, metric="precomputed").fit(graph)
    with pytest.raises(ritz.InputError, match="distances among the neighbours"):
        ritz.LLE(2, n_neighbors=8, metric="precomputed").fit(graph)
    for name in ("mds", "metric"):
        with pytest.raises(ritz.InputError, match="all pairs"):
            made(name, metric="precomputed").fit(graph)


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning", "ignore::ritz.DisconnectedGraph")
@pytest.mark.parametrize("metric", ["edit", kernels.Spectrum(2).normalized()], ids=["edit", "spectrum"])
@pytest.mark.parametrize("name", MAPS)
def test_strings_are_taken(name, metric, apart):
    options = (
        {"disconnected": "join"}
        if "disconnected" in MAPS[name].get_params() and name in ("isomap", "laplacian")
        else {}
    )
    model = made(name, metric=metric, **options).fit(WORDS)
    assert model.embedding_.shape == (len(WORDS), 2)
    placed = model.transform(WORDS[:9])
    assert np.isfinite(placed).all()
    if name != "metric":
        assert apart(placed, model.embedding_[:9]) < 1e-6
    with pytest.raises(ritz.RitzError, match="way back"):
        model.inverse_transform(placed)


@pytest.mark.parametrize("name", MAPS)
def test_a_function_of_two_rows_is_taken(name, apart):
    def euclid(x, y):
        return float(np.linalg.norm(x - y))

    some = X[:40]
    assert apart(made(name, metric=euclid).fit(some).embedding_, made(name).fit(some).embedding_) < 1e-6


@pytest.mark.parametrize("name", MAPS)
def test_sparse_rows_are_taken(name, apart):
    rows = np.c_[np.zeros(90), X, np.zeros((90, 4))]
    dense, sparse = made(name).fit(rows), made(name).fit(sp.csr_array(rows))
    assert apart(sparse.embedding_, dense.embedding_) < (1e-4 if name == "metric" else 1e-6)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        ("negative", "≥ 0"),
        ("asymmetric", "symmetric"),
        ("nan", "finite"),
        ("own", "to itself is 0"),
        ("oblong", "square"),
    ],
)
def test_distances_that_are_none_are_refused(name, spoiled, words):
    bad = D.copy()
    if spoiled == "negative":
        bad[3, 4] = bad[4, 3] = -1.0
    elif spoiled == "asymmetric":
        bad[3, 4] += 1.0
    elif spoiled == "nan":
        bad[3, 4] = bad[4, 3] = np.nan
    elif spoiled == "own":
        bad[5, 5] = 1.0
    else:
        bad = bad[:, :-1]
    with pytest.raises(ritz.InputError, match=words):
        made(name, metric="precomputed").fit(bad)
