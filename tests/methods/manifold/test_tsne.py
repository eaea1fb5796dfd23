"""t-SNE: divergence and gradient from their definition, starts, new rows, what is claimed and what is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

import ritz
from ritz.methods.manifold.divergence import affinities, divergence

pytest.importorskip("openTSNE")


def clusters(n=90, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return rng.standard_normal((n, 6)) + 7 * np.eye(6)[labels], labels


@pytest.fixture(scope="module")
def model():
    return ritz.TSNE(2, perplexity=10).fit(clusters()[0])


def plainly(P, Y, a=1.0):
    """KL and gradient, pair by pair."""
    n = len(Y)
    w = np.array([[0.0 if i == j else 1 / (1 + np.sum((Y[i] - Y[j]) ** 2)) for j in range(n)] for i in range(n)])
    Q = w / w.sum()
    some = P > 0
    value = np.sum(P[some] * np.log(P[some] / Q[some]))
    g = np.array([4 * sum((a * P[i, j] - Q[i, j]) * w[i, j] * (Y[i] - Y[j]) for j in range(n)) for i in range(n)])
    return value, g


def test_divergence_and_gradient_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((25, 2)) * 3
    P = rng.random((25, 25)) * (rng.random((25, 25)) < 0.4)
    P = P + P.T
    np.fill_diagonal(P, 0)
    P /= P.sum()
    for a in (1.0, 4.0):
        value, g = plainly(P, Y, a)
        found = divergence(P, Y, a)
        assert found.divergence == pytest.approx(value, rel=1e-12)
        assert found.gradient == pytest.approx(np.linalg.norm(g) * np.linalg.norm(Y - Y.mean(axis=0)), rel=1e-12)
    # the gradient is the derivative of the divergence
    value, g = plainly(P, Y)
    step = 1e-6 * rng.standard_normal(Y.shape)
    slope = (divergence(P, Y + step).divergence - divergence(P, Y - step).divergence) / 2
    assert slope == pytest.approx(float(np.sum(g * step)), rel=1e-5)


def test_of_many_rows_a_sample_is_summed():
    rng = np.random.default_rng(2)
    Y = rng.standard_normal((3000, 2)) * 10
    i = np.repeat(np.arange(3000), 3)
    from scipy.sparse import coo_array

    P = coo_array((np.full(9000, 1 / 9000), (i, rng.integers(0, 3000, 9000))), shape=(3000, 3000)).tocsr()
    whole, part = divergence(P, Y), divergence(P, Y, exact=1000)
    assert whole.error == 0 < part.error
    assert abs(whole.divergence - part.divergence) < 5 * part.error
    assert part.gradient == pytest.approx(whole.gradient, rel=0.2)


def test_affinities_have_the_perplexity_asked_for():
    from openTSNE.affinity import joint_probabilities_nn

    X = np.r_[clusters()[0], np.ones((4, 6))]  # copies, too
    near = ritz.Neighbours(30).fit(X)
    far, where = near.kneighbors()
    own, theirs = affinities(where, far, 10.0), joint_probabilities_nn(where.astype(np.int32), far, [10.0])
    assert abs(own - theirs).max() < 1e-6 * theirs.max()
    assert own.sum() == pytest.approx(1, rel=1e-12)
    one = affinities(where[:1].repeat(31, axis=0) * 0 + np.arange(30), far[:1].repeat(31, axis=0), 10.0)
    assert one.sum() == pytest.approx(1)


def test_a_row_far_from_all_others_has_its_perplexity():
    """exp(−βd²) vanishes where all distances are large and nearly the same, unless the nearest is taken off first."""
    from openTSNE.affinity import joint_probabilities_nn

    from ritz.methods.manifold.opentsne import _in_reach

    rng = np.random.default_rng(3)
    far = np.sort(1000 + rng.random((40, 30)), axis=1)
    where = (np.arange(40)[:, None] + 1 + np.arange(30)) % 40
    own = affinities(where, far, 10.0)
    plain, helped = (joint_probabilities_nn(where.astype(np.int32), d, [10.0]) for d in (far, _in_reach(far)))
    assert abs(own - helped).max() < 1e-6 * own.max()
    assert abs(own - plain).max() > 1e-3 * own.max()  # what the library does by itself


def test_the_map_shows_the_clusters_and_tells_its_divergence(model):
    X, labels = clusters()
    Y = model.embedding_
    centres = np.array([Y[labels == c].mean(axis=0) for c in range(3)])
    assert np.all(np.argmin(np.linalg.norm(Y[:, None] - centres, axis=2), axis=1) == labels)
    from openTSNE.affinity import joint_probabilities_nn

    far, where = ritz.Neighbours(30).fit(X).kneighbors()
    value, g = plainly(joint_probabilities_nn(where.astype(np.int32), far, [10.0]).toarray(), Y)
    assert model.kl_divergence_ == pytest.approx(value, rel=1e-9)
    assert model.gradient_norm_ == pytest.approx(np.linalg.norm(g) * np.linalg.norm(Y), rel=1e-6)
    words = " ".join(model.certificate_.notes)
    assert "eigenvalues are those of the start" in words
    assert "no proof" in words
    assert "sizes of clusters mean little" in words
    assert model.n_iter_ == 750
    np.testing.assert_array_equal(ritz.TSNE(2, perplexity=10).fit(X).embedding_, Y)  # the same every time


def test_it_is_as_good_as_the_library_by_itself():
    import openTSNE

    X = load_digits().data[:500]
    own = ritz.TSNE(2).fit(X)
    other = openTSNE.TSNE(random_state=0, neighbors="exact").fit(X)
    far, where = ritz.Neighbours(90).fit(X).kneighbors()
    # by one definition: the library tells a divergence of which the sum over pairs is an approximation
    assert own.kl_divergence_ < 1.05 * divergence(affinities(where, far, 30.0), np.asarray(other)).divergence
    start = ritz.PCA(2).fit_transform(X)
    np.testing.assert_allclose(own.start_, start / start[:, 0].std() * 1e-4, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", ["embedding_", "kl_divergence_", "gradient_norm_", "explained_variance_", "nodes"])
def test_verify_finds_what_was_changed(model, name):
    X, _ = clusters()
    assert bool(model.verify(X))
    assert "not known" in str(model.verify(X))
    assert not bool(model.verify(X[::-1].copy()))
    from copy import copy

    other = copy(model)
    other._record = copy(model._record)
    holder = other if name.endswith("_") else other._record
    value = getattr(holder, name)
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flat[0] += 0.5 * abs(value).max()
    else:
        value = value * 1.1 + 1e-3
    setattr(holder, name, value)
    assert not bool(other.verify(X))


def test_starts():
    X, _ = clusters()
    quick = {"max_iter": 50, "early_exaggeration_iter": 50, "perplexity": 8}
    for init in ("pca", "laplacian", X[:, :2]):
        made = ritz.TSNE(2, init=init, **quick).fit(X)
        assert made.start_.std(axis=0).max() == pytest.approx(1e-4)
        assert bool(made.verify(X))
    assert np.array_equal(made.start_, (X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0).max() * 1e-4)
    thin = ritz.TSNE(2, **quick).fit(X[:, :1])  # one column has one principal component
    assert thin.embedding_.std(axis=0).min() > 0
    for k in (1, 3):
        solid = ritz.TSNE(k, **quick).fit(X)
        assert solid.embedding_.shape == (90, k)
        assert bool(solid.verify(X))
        assert solid.transform(X[:3] + 0.1).shape == (3, k)


def test_new_rows(model, tmp_path):
    X, labels = clusters()
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    new, kinds = clusters(60, seed=5)
    placed = model.transform(new)
    centres = np.array([model.embedding_[labels == c].mean(axis=0) for c in range(3)])
    assert np.all(np.argmin(np.linalg.norm(placed[:, None] - centres, axis=2), axis=1) == kinds)
    np.testing.assert_allclose(model.transform(new[7:9]), placed[7:9], rtol=1e-9)  # whatever else is asked
    ritz.save(model, tmp_path / "t.ritz")
    again = ritz.load(tmp_path / "t.ritz")
    np.testing.assert_array_equal(again.transform(new), placed)
    assert bool(again.verify(X))
    assert model.inverse_transform(model.embedding_[:3]) == pytest.approx(X[:3])


def test_new_rows_of_large_maps_by_interpolation(monkeypatch):
    from ritz.methods.manifold import opentsne as home

    X, labels = clusters(150)
    monkeypatch.setattr(home, "TREE", 100)
    model = ritz.TSNE(2, perplexity=10, early_exaggeration_iter=100, max_iter=60).fit(X)
    assert "interpolation" in str(model.plan_)
    assert bool(model.verify(X))
    new, kinds = clusters(30, seed=6)
    centres = np.array([model.embedding_[labels == c].mean(axis=0) for c in range(3)])
    placed = model.transform(new)
    assert np.all(np.argmin(np.linalg.norm(placed[:, None] - centres, axis=2), axis=1) == kinds)


def test_other_metrics():
    words = ["cat", "cats", "cart", "art", "arts", "dart", "darts", "dark", "bark", "barks", "spark", "sparks"]
    model = ritz.TSNE(2, metric="edit", max_iter=100).fit(words)
    assert model.embedding_.shape == (12, 2)
    assert bool(model.verify(words))
    assert model.transform(["shark"]).shape == (1, 2)
    X, _ = clusters()
    D = np.linalg.norm(X[:, None] - X, axis=2)
    given = ritz.TSNE(2, perplexity=10, metric="precomputed").fit(D)
    assert given.kl_divergence_ == pytest.approx(ritz.TSNE(2, perplexity=10).fit(X).kl_divergence_, rel=0.1)


def test_refusals(monkeypatch):
    X, _ = clusters()
    for bad, words in (
        ({"n_components": 4}, "1, 2 or 3"), ({"perplexity": 40}, "at most 29.67"), ({"perplexity": 0.5}, "≥ 1.01"),
        ({"perplexity": np.nan}, "> 0"), ({"init": "random"}, "'pca', 'laplacian'"), ({"max_iter": -1}, "≥ 0"),
        ({"exaggeration": 0.5}, "≥ 1"), ({"exaggeration": None}, "≥ 1"), ({"learning_rate": 0}, "> 0"),
    ):  # fmt: skip
        with pytest.raises(ritz.ParameterError, match=words):
            ritz.TSNE(**bad).fit(X)
    for rows, words in ((X[:3], "at least 4 rows"), (np.full((9, 2), np.nan), "finite|NaN|missing")):
        with pytest.raises(ritz.RitzError, match=words):
            ritz.TSNE().fit(rows)
    with pytest.raises(ritz.InputError, match=r"shape \(90, 2\)"):
        ritz.TSNE(init=np.zeros((3, 2))).fit(X)
    small = ritz.TSNE(max_iter=20).fit(X[:4])
    assert small.perplexity_ < 2
    copies = ritz.TSNE(max_iter=50, perplexity=5).fit(np.repeat(X[:10], 4, axis=0))
    assert np.isfinite(copies.embedding_).all()
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(ritz.MissingDependency, match="openTSNE") as told:
        ritz.TSNE().fit(X)
    assert "ritz[tsne]" in str(told.value)
