"""Inputs that maps go wrong on in silence elsewhere: each is mapped rightly, warned of, or refused in clear words."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(21)
X = RNG.random((80, 3)) * [3, 2, 0.3]

MAPS = {
    "mds": ritz.MDS(2),
    "manhattan": ritz.MDS(2, metric="manhattan"),
    "metric": ritz.MDS(2, method="metric"),
    "ordinal": ritz.MDS(2, method="ordinal"),
    "sammon": ritz.MDS(2, method="sammon"),
    "isomap": ritz.Isomap(2, n_neighbors=9),
    "laplacian": ritz.LaplacianEigenmaps(2, n_neighbors=9),
    "walk": ritz.DiffusionMaps(2),
    "diffusion": ritz.DiffusionMaps(2, n_neighbors=9),
    "mvu": ritz.MVU(2, n_neighbors=9),
    **{method: ritz.LLE(2, method=method, n_neighbors=9) for method in ("standard", "modified", "hessian", "ltsa")},
}
if find_spec("openTSNE") is not None:  # an extra
    MAPS["tsne"] = ritz.TSNE(2, perplexity=8, early_exaggeration_iter=30, max_iter=60)
OF_NEIGHBOURS = [name for name, model in MAPS.items() if "n_neighbors" in model.get_params() and name != "walk"]
SCALINGS = ("mds", "manhattan", "metric", "ordinal", "sammon")


def made(name, **options):
    from sklearn.base import clone

    return clone(MAPS[name]).set_params(**options)


def told(model, rows):
    """The model, and the categories of what it warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(rows)
    assert all(issubclass(one.category, (ritz.RitzWarning, UserWarning)) for one in said)
    return model, {one.category.__name__ for one in said}


@pytest.mark.parametrize("name", MAPS)
def test_copies_lie_in_one_place(name):
    rows = np.vstack([X, X[:20], X[:5]])
    if name == "sammon":
        with pytest.raises(ritz.InputError, match="rows must differ"):
            made(name).fit(rows)
        return
    model, _ = told(made(name), rows)
    Y = model.embedding_
    size = np.abs(Y).max()
    # steps down a stress end within their tolerance; copies in a map by t-SNE push each other away
    close = {"metric": 1e-2, "ordinal": 1e-2, "tsne": 0.1}.get(name, 1e-6)
    assert np.abs(Y[:20] - Y[80:100]).max() < close * size
    assert np.abs(Y[:5] - Y[100:]).max() < close * size


@pytest.mark.parametrize("name", MAPS)
def test_rows_that_are_all_alike_have_no_map(name):
    with pytest.raises(ritz.RitzError) as error:
        made(name).fit(np.ones((30, 3)))
    assert any(word in str(error.value) for word in ("alike", "differ", "distinct", "apart")), error.value


@pytest.mark.parametrize("name", OF_NEIGHBOURS)
def test_more_neighbours_than_rows_are_refused(name):
    with pytest.raises(ritz.ParameterError, match="number of other") as error:
        made(name, n_neighbors=80).fit(X)
    assert "79" in str(error.value)


@pytest.mark.parametrize("name", OF_NEIGHBOURS)
def test_two_far_clusters_are_warned_of(name):
    two = np.vstack([X, X[:50] + 1e3])
    model, said = told(made(name), two)
    assert "DisconnectedGraph" in said
    assert model.n_connected_components_ == 2
    with pytest.raises(ritz.InputError, match="one piece"):
        made(name, disconnected="error").fit(two)
    largest, said = told(made(name, disconnected="largest"), two)
    assert "DisconnectedGraph" in said
    assert np.isnan(largest.embedding_[80:]).all()
    assert np.isfinite(largest.embedding_[:80]).all()


@pytest.mark.parametrize("name", SCALINGS)
def test_two_far_clusters_are_far_on_maps_of_all_distances(name):
    Y = made(name).fit(np.vstack([X, X[:50] + 1e3])).embedding_
    assert Y[:80, 0].max() < Y[80:, 0].min() or Y[:80, 0].min() > Y[80:, 0].max()


@pytest.mark.parametrize("name", MAPS)
def test_a_row_far_from_all_others(name):
    """By its neighbours it hangs on the others; a radius leaves it alone, which is told."""
    far = np.vstack([X, [[500.0, 0, 0]]])
    model, _ = told(made(name), far)
    assert np.isfinite(model.embedding_).all()
    if "radius" in model.get_params():
        _, said = told(made(name, n_neighbors=None, radius=1.5, disconnected="largest"), far)
        assert "DisconnectedGraph" in said


@pytest.mark.parametrize("name", MAPS)
def test_constant_columns_change_nothing(name, apart):
    wide = np.c_[np.full(80, 7.0), X, np.zeros(80)]
    close = {"metric": 1e-4, "ordinal": 1e-2, "sammon": 1e-4}.get(name, 1e-6)
    assert apart(made(name).fit(wide).embedding_, made(name).fit(X).embedding_) < close


@pytest.mark.parametrize("name", MAPS)
def test_a_mean_of_a_hundred_million_changes_little(name, apart):
    rows = np.round(X * 2**20) / 2**20  # so that adding 2²⁷ rounds nothing
    close = {"metric": 1e-4, "ordinal": 1e-2, "sammon": 1e-4}.get(name, 1e-6)
    assert apart(made(name).fit(rows + 2.0**27).embedding_, made(name).fit(rows).embedding_) < close


@pytest.mark.parametrize("name", MAPS)
def test_three_rows(name):
    """They have a map of two axes where the method needs no more neighbours than there are."""
    options = {"n_neighbors": None} if name in OF_NEIGHBOURS and name != "diffusion" else {}
    options |= {"n_neighbors": 2} if name == "diffusion" else {}
    if name in ("hessian", "ltsa", "tsne"):
        with pytest.raises(ritz.InputError, match="needs at least"):
            made(name, **options).fit(X[:3])
        return
    model, _ = told(made(name, **options), X[:3])
    assert model.embedding_.shape == (3, 2)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("rows", [1, 2])
def test_one_row_and_two(name, rows):
    model = made(name, **({"n_neighbors": 1} if name in OF_NEIGHBOURS else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rows == 1 or name in ("hessian", "ltsa", "walk"):
            with pytest.raises(ritz.RitzError, match=r"at least|at most|more rows"):
                model.fit(X[:rows])
            return
        try:
            model.fit(X[:rows])
        except ritz.RitzError as error:
            said = str(error)
        else:
            said = ""
            assert np.isfinite(model.embedding_).all()
    assert said == "" or "hint" in said


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused(name, value):
    bad = X.copy()
    bad[4, 1] = value
    with pytest.raises(ritz.InputError, match=r"NaN|infinit|finite"):
        made(name).fit(bad)
    model = made(name).fit(X)
    with pytest.raises(ritz.InputError, match=r"NaN|infinit|finite"):
        model.transform(bad)
    with pytest.raises(ritz.RitzError):
        model.transform(X[:, :2])


@pytest.mark.parametrize("name", [name for name in MAPS if name != "mds"])  # which is PCA, and needs no more than X
def test_a_hundred_thousand_rows_without_room_are_refused(name):
    rows = np.zeros((100_000, 2))
    rows[:, 0] = np.arange(100_000) % 331
    rows[:, 1] = np.arange(100_000) // 331
    with pytest.raises(ritz.MemoryLimitError) as error:
        made(name, memory="20MB").fit(rows)
    assert "MB" in str(error.value) or "GB" in str(error.value)


@pytest.mark.parametrize("model", [ritz.LLE(2), ritz.LLE(2, method="ltsa"), ritz.MVU(2), ritz.LaplacianEigenmaps(2)])
def test_many_copies_of_few_rows_need_no_number_of_neighbours(model):
    """Five places, forty rows at each: as many neighbours as there are others, where nobody asked for a number."""
    model, _ = told(model, np.repeat(X[:5], 40, axis=0))
    assert model.n_neighbors_ == 4
    assert len(np.unique(model.embedding_.round(9), axis=0)) <= 5
    with pytest.raises(ritz.InputError, match=r"needs at least 6 neighbours.*received 5 distinct rows"):
        ritz.LLE(2, method="hessian").fit(np.repeat(X[:5], 40, axis=0))
    with pytest.raises(ritz.ParameterError, match="at most 4"):
        ritz.LLE(2, n_neighbors=10).fit(np.repeat(X[:5], 40, axis=0))


@pytest.mark.parametrize("cls", [ritz.Isomap, ritz.MDS, ritz.LaplacianEigenmaps])
@pytest.mark.parametrize("k", [0, -1])
def test_no_axes_are_no_map(cls, k):
    with pytest.raises(ritz.ParameterError, match=rf"n_components must be at least 1; received {k}"):
        cls(k).fit(np.random.default_rng(0).normal(size=(20, 3)))


@pytest.mark.parametrize("disconnected", ["join", "apart"])
@pytest.mark.parametrize("asked", [{"n_neighbors": 9}, {"radius": 5.0}])
def test_what_may_connect_a_graph_is_a_parameter_of_the_map(disconnected, asked):
    rng, (name, value) = np.random.default_rng(0), *asked.items()
    apart = np.concatenate([rng.normal(size=(15, 3)), rng.normal(size=(15, 3)) + 20])
    for cls in (ritz.Isomap, ritz.LaplacianEigenmaps):
        with pytest.warns(ritz.DisconnectedGraph, match=rf"hint: {name} > {value:g} may connect it"):
            cls(2, disconnected=disconnected, **asked).fit(apart)


def test_one_column_has_one_dimension():
    with pytest.warns(ritz.NegativeEigenvalues, match="30 rows in 1 column have 1 dimension at most"):
        ritz.MDS(2).fit(np.arange(30.0)[:, None])
