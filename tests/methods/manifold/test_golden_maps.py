"""MDS and Isomap beside R (stats, ape, vegan, MASS, smacof) and scikit-learn, at the tolerances of their README."""

from __future__ import annotations

import numpy as np
import pytest

import ritz

FOLDERS = ("eurodist", "swiss", "iris", "swiss_roll")


@pytest.mark.parametrize("name", FOLDERS)
def test_cmdscale(golden, apart, name):
    expected = golden.result(f"{name}/stats_cmdscale")
    D = golden.distances(name)
    model = ritz.MDS(2, metric="precomputed").fit(D)
    assert apart(model.embedding_, expected["points"]["values"]) < 1e-8
    np.testing.assert_allclose(model.eigenvalues_, expected["eig"][:2], rtol=1e-10)
    assert model.certificate_.total == pytest.approx(expected["trace"], rel=1e-10)
    assert all(model.certificate_.labelled)
    assert apart(model.transform(D), model.embedding_) < 1e-8
    if name != "eurodist":
        rows = ritz.MDS(2).fit(golden.rows(name))
        assert apart(rows.embedding_, expected["points"]["values"]) < 1e-8
        assert "no n×n matrix" in str(rows.plan_)
    else:
        values = np.array(expected["eig"])
        assert model.negative_share_ == pytest.approx(-values[values < 0].sum() / np.abs(values).sum(), rel=1e-9)


def test_corrections(golden, apart):
    expected = golden.result("eurodist/ape_pcoa")
    D = golden.distances("eurodist")
    for correction in ("lingoes", "cailliez"):
        model = ritz.MDS(2, metric="precomputed", correction=correction).fit(D)
        told = expected[correction]
        assert apart(model.embedding_, told["vectors_cor"]["values"]) < 1e-8
        corrected = [row[told["values"]["cols"].index("Corr_eig")] for row in told["values"]["values"][:2]]
        np.testing.assert_allclose(model.eigenvalues_, corrected, rtol=1e-10)
        assert f"{model.constant_:.12g}"[:9] in told["note"]
        assert model.negative_share_ < 1e-10
        assert apart(model.transform(D), model.embedding_) < 1e-8
    assert model.constant_ == pytest.approx(golden.result("eurodist/stats_cmdscale")["add"]["ac"], rel=1e-12)


@pytest.mark.parametrize("correction", ["none", "lingoes", "cailliez"])
@pytest.mark.parametrize("name", ["swiss", "iris", "swiss_roll"])
def test_distances_of_rows_need_no_correction(golden, apart, name, correction):
    """ape finds no negative eigenvalue there, and corrects nothing."""
    told = golden.result(f"{name}/ape_pcoa")[correction]
    assert told["vectors_cor"] is None
    asked = None if correction == "none" else correction
    model = ritz.MDS(2, metric="precomputed", correction=asked).fit(golden.distances(name))
    at = told["values"]["cols"].index("Eigenvalues")
    np.testing.assert_allclose(model.eigenvalues_, [row[at] for row in told["values"]["values"][:2]], rtol=1e-10)
    assert model.constant_ == 0
    assert apart(model.embedding_, [row[:2] for row in told["vectors"]["values"]]) < 1e-8


def test_weights(golden, apart):
    expected = golden.result("eurodist/vegan_wcmdscale")
    D = golden.distances("eurodist")
    model = ritz.MDS(2, metric="precomputed").fit(D, sample_weight=expected["w"])
    assert apart(model.embedding_, expected["points"]["values"]) < 1e-8
    np.testing.assert_allclose(model.eigenvalues_, expected["eig"][:2], rtol=1e-10)
    assert apart(model.transform(D), model.embedding_) < 1e-8


def test_gower_new_rows(golden, apart):
    expected = golden.result("swiss_roll/gower_new")
    X, new = golden.rows("swiss_roll"), golden.rows("swiss_roll", "new_rows")
    points = np.array(expected["new_points"]["values"])
    k = points.shape[1]
    assert apart(ritz.MDS(k).fit(X).transform(new), points) < 1e-8
    from scipy.spatial.distance import cdist

    given = ritz.MDS(k, metric="precomputed").fit(cdist(X, X))
    assert apart(given.transform(cdist(new, X)), points) < 1e-8


@pytest.mark.parametrize("name", FOLDERS)
def test_stress_is_not_above_that_of_smacof_and_mass(golden, name):
    D = golden.distances(name)
    mass = golden.result(f"{name}/MASS_mds")
    for method, known in (
        ("metric", golden.result(f"{name}/smacof_ratio")["stress1"]),
        ("interval", golden.result(f"{name}/smacof_interval")["stress1"]),
        ("ordinal", golden.result(f"{name}/smacof_ordinal")["stress1"]),
        ("ordinal", mass["isoMDS"]["stress_percent"] / 100),
        ("sammon", mass["sammon"]["stress"]),
    ):
        model = ritz.MDS(2, method=method, metric="precomputed", max_iter=2000).fit(D)
        assert model.stress_ <= known + 1e-6, method


@pytest.mark.parametrize(
    ("name", "k"), [("eurodist", 5), ("eurodist", 8), ("swiss", 7), ("iris", 35), ("swiss_roll", 8), ("swiss_roll", 10)]
)
def test_isomap_of_vegan(golden, apart, name, k):
    """From distances: vegan's ties are those of rounded distances, which differ where true distances tie (iris)."""
    expected = golden.result(f"{name}/vegan_isomap_k{k}")
    D = golden.distances(name)
    model = ritz.Isomap(5, n_neighbors=k, metric="precomputed").fit(D)
    assert model.graph_.nnz // 2 == expected["edges"]
    np.testing.assert_allclose(model.eigenvalues_, expected["eig"][:5], rtol=0, atol=1e-10 * expected["eig"][0])
    assert apart(model.embedding_, expected["points"]["values"]) < 1e-8
    assert apart(model.transform(D), model.embedding_) < 1e-8
    from ritz.methods.manifold.geodesic import Geodesics

    g = Geodesics(model.graph_).between(np.arange(len(D)))
    assert g.sum() / 2 == pytest.approx(expected["geodesic_sum"], rel=1e-12)
    np.testing.assert_allclose(g[0], expected["geodesic_row1"]["values"], rtol=1e-12)
    if "geodesic" in expected:
        np.testing.assert_allclose(g, expected["geodesic"]["values"], rtol=1e-12)


def test_isomap_new_rows_of_scikit_learn(golden, apart):
    expected = golden.result("swiss_roll/python_isomap")
    X, new = golden.rows("swiss_roll"), golden.rows("swiss_roll", "new_rows")
    model = ritz.Isomap(5, n_neighbors=10).fit(X)
    assert apart(model.transform(new), expected["transform_new"]["values"]) < 1e-8
    np.testing.assert_allclose(model.eigenvalues_, expected["eigenvalues"], rtol=1e-10)
