"""From coordinates of a map back to rows: rounding does not lose a row of the fit, and precision is that handed in."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import cKDTree

import ritz

MAPS = {
    "isomap": lambda: ritz.Isomap(2, n_neighbors=8),
    "cityblock": lambda: ritz.MDS(2, metric="cityblock"),
    "lle": lambda: ritz.LLE(2, n_neighbors=8),
    "laplacian": lambda: ritz.LaplacianEigenmaps(2, n_neighbors=8),
    "diffusion": lambda: ritz.DiffusionMaps(2),
    "tsne": lambda: ritz.TSNE(2),
}


def sheet(seed):
    rng = np.random.default_rng(seed)
    t = 4 * rng.random(150)
    return np.column_stack([np.cos(t) * t, np.sin(t) * t, 3 * rng.random(150)])


def apart(places, share):
    """Rows whose coordinates no other row has to rounding; a Laplacian puts distant rows in one place."""
    far = cKDTree(places).query(places, 2)[0][:, 1]
    found = far > share * np.abs(places).max()
    assert found.sum() > 100
    return found


@pytest.mark.parametrize("name", MAPS)
def test_a_row_comes_back_from_rounded_coordinates(name, seed):
    X = sheet(seed)
    model = MAPS[name]().fit(X)
    places = model.transform(X)
    nudged = places + 2e-14 * np.abs(places).max()
    own = apart(places, 2e-12)
    np.testing.assert_array_equal(model.inverse_transform(nudged)[own], X[own])
    between = model.inverse_transform(places + 1e-3 * np.abs(places).max())
    assert not np.array_equal(between, X)  # there they are put together


def test_coordinates_that_two_rows_share_to_rounding_are_no_ones_own():
    from ritz.methods.manifold.placed import rows_of

    nodes = np.array([[0.0, 0.0], [1e-14, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    X = np.arange(5.0)[:, None]
    assert rows_of(nodes[1:2], nodes, X)[0, 0] == 1  # equal bits
    made = rows_of(np.array([[4e-15, 0.0], [1.0 + 1e-14, 0.0]]), nodes, X)
    assert made[0, 0] not in (0.0, 1.0)
    assert made[1, 0] == 2


@pytest.mark.parametrize("name", MAPS)
def test_what_comes_in_single_precision_goes_out_in_it(name, seed):
    X = sheet(seed).astype(np.float32)
    model = MAPS[name]()
    placed = model.fit_transform(X)
    assert placed.dtype == model.transform(X).dtype == np.float32
    np.testing.assert_allclose(placed, model.embedding_, atol=3e-7 * np.abs(model.embedding_).max())
    back = model.inverse_transform(placed)
    assert back.dtype == np.float32
    own = apart(model.embedding_, 1e-6)
    np.testing.assert_array_equal(back[own], X[own])
    assert model.inverse_transform(placed.astype(np.float64)).dtype == np.float64


WAYS = {
    **{name: lambda X, make=make: make().fit(X) for name, make in MAPS.items()},
    "ZCA": lambda X: ritz.ZCA().fit(X[:, :2]),
    "tensor": lambda X: ritz.HOSVD((2, 2)).fit(X),
    "kernel": lambda X: ritz.KernelPCA(2, kernel="rbf").fit(X),
    "CA": lambda X: ritz.CA(2).fit(np.abs(X)),
    "FAMD": lambda X: ritz.FAMD(2).fit(X),
}
DAY = np.datetime64("2020-01-01")
NO_COORDINATES = {
    "texts": ([["a", "b"]], "takes real numbers; received dtype <U1"),
    "complex": ([[1j, 2j]], "takes real numbers; received dtype complex128"),
    "days": (np.full((2, 2), DAY), r"takes real numbers; received dtype datetime64\[D\]"),
    "days as objects": (np.array([[DAY, DAY]], dtype=object), "expected numbers"),
    "rows of several lengths": ([[1.0, 2.0], [3.0]], "rows of one length; received 2 entries in row 0 but 1 in row 1"),
    "sparse": (sp.csr_array(np.eye(2)), "takes dense coordinates"),
    "one row": (np.zeros(2), r"shape \(n, 2\); received shape \(2,\)"),
    "a text": ("abc", "received the text 'abc'"),
}


@pytest.mark.parametrize("what", NO_COORDINATES)
@pytest.mark.parametrize("name", WAYS)
def test_what_are_no_coordinates_is_refused_in_the_same_words(name, what, seed):
    given, words = NO_COORDINATES[what]
    with pytest.raises(ritz.InputError, match=rf"(?s){words}.*\nhint: "):
        WAYS[name](sheet(seed)).inverse_transform(given)
