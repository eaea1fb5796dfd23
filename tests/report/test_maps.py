"""The report of a map says how far to trust it, and only what its numbers bear out."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight
from ritz.report import map_trust, render
from ritz.report.context import Context
from ritz.report.words import sentences

RNG = np.random.default_rng(0)
NOISE = RNG.standard_normal((150, 12))
T, HEIGHT = RNG.uniform(0, 4.5, 250), RNG.uniform(0, 2, 250)
SHEET = np.c_[np.cos(T), np.sin(T), HEIGHT]
MAPS = {
    "mds": ritz.MDS(2), "stress": ritz.MDS(2, method="metric"), "isomap": ritz.Isomap(2), "lle": ritz.LLE(2),
    "laplacian": ritz.LaplacianEigenmaps(2), "diffusion": ritz.DiffusionMaps(2),
}  # fmt: skip


def ids(text):
    return re.findall(r'<section id="([\w-]+)"', text)


def data(text, name):
    found = re.search(rf'<script type="application/json" id="data-{name}">(.*?)</script>', text)
    return json.loads(found[1]) if found else None


def words(model, X):
    return " ".join(html.unescape(re.sub("<[^>]*>", "", one)) for one in sentences(Context(model, X)))


@pytest.fixture(autouse=True, scope="module")
def few_draws():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(map_trust, "DRAWS", 4)
        patch.setattr(map_trust, "TRIED", (5, 20))
        yield


@pytest.fixture(scope="module")
def pages(few_draws):
    return {name: render(model.fit(SHEET), SHEET) for name, model in MAPS.items()}


@pytest.mark.parametrize("name", list(MAPS))
def test_every_map_has_a_part_on_trust(pages, name):
    found = ids(pages[name])
    assert {"answer", "scores", "trust", "distortion", "stability", "certificate"} <= set(found)
    assert ("spectrum" in found) == (name in ("lle", "laplacian", "diffusion"))
    assert ("scree" in found) == ("spectrum" not in found)
    assert ("choices" in found) == (name in ("isomap", "lle", "laplacian"))
    assert "left-out" not in found
    assert "0.0\u00a0%" not in pages[name].partition('id="stability"')[0]


def test_curves_are_those_of_insight(pages):
    drawn = data(pages["isomap"], "trust")
    Y = MAPS["isomap"].fit(SHEET).embedding_
    quality = insight.embedding_quality(SHEET, Y, 50)
    np.testing.assert_allclose(drawn["map"]["lcmc"], quality.curve["lcmc"], rtol=1e-5)
    plain = insight.embedding_quality(SHEET, ritz.PCA(2).fit_transform(SHEET), 50)
    np.testing.assert_allclose(drawn["plain"]["continuity"], plain.curve["continuity"], rtol=1e-5)
    assert drawn["chance"]["lcmc"] == [0.0] * 50
    assert len(drawn["ranks"]["values"]) == drawn["ranks"]["side"] ** 2


def test_axes_without_shares_show_none(pages):
    assert all("share" not in axis for axis in data(pages["lle"], "rows")["axes"])
    assert all("share" in axis for axis in data(pages["isomap"], "rows")["axes"])
    drawn = data(pages["laplacian"], "spectrum")
    model = MAPS["laplacian"].fit(SHEET)
    np.testing.assert_allclose(drawn["values"], model.eigenvalues_, rtol=1e-5)
    np.testing.assert_allclose(drawn["gaps"], [np.diff(model.eigenvalues_)[0],
                               model.certificate_.ceiling - model.eigenvalues_[1]], rtol=1e-5)  # fmt: skip


def test_an_unrolled_sheet_shows_more_than_pca():
    told = words(ritz.Isomap(2).fit(SHEET), SHEET)
    assert "the map shows neighbours that PCA in 2 dimensions does not" in told
    assert "about 2 dimensions where they lie" in told
    assert "the map has room for them" in told


def test_noise_shows_nothing_more_than_pca():
    for model in (ritz.Isomap(2), ritz.DiffusionMaps(2), ritz.LLE(2)):
        told = words(model.fit(NOISE), NOISE)
        assert "that PCA in 2 dimensions does not" not in told
        assert "two cannot hold them without false or missing neighbours" in told
    with pytest.warns(ritz.AccuracyWarning, match="no other"):
        model = ritz.LLE(2, method="ltsa").fit(NOISE)
    assert "says next to nothing about the rows" in words(model, NOISE)


def test_many_rows_whose_nearest_are_mixed_up_are_not_called_nothing(monkeypatch):
    monkeypatch.setattr(map_trust, "SAMPLE", 200)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 2)) * [1, 0.45]
    model = ritz.MDS(1).fit(X)  # its length, of which the ten nearest rows are a small part
    about = Context(model, X)
    assert about.trust.spoken.overlap < 0.1
    assert about.trust.spoken.trustworthiness > 0.8
    assert "next to nothing" not in words(model, X)


def test_scaling_of_euclidean_distances_is_pca():
    assert "PCA in 2 dimensions gives the same map" in words(ritz.MDS(2).fit(NOISE), NOISE)


def test_a_map_of_least_stress_claims_no_shares_of_its_start():
    told = words(ritz.MDS(2, method="metric").fit(NOISE), NOISE)
    assert "of stress " in told
    assert "axes hold" not in told


def test_axes_that_few_rows_take_are_said():
    X = RNG.standard_normal((200, 3))
    X[:2] *= 60
    text = words(ritz.MDS(2).fit(X), X)
    assert re.search(r"[12] of the 200 rows take half of MDS1", text)
    assert "hardly anything of the others" in text
    assert "take half of" not in words(ritz.MDS(2).fit(SHEET), SHEET)
    assert "take half of" not in words(ritz.MDS(2).fit(X[:40]), X[:40])


def test_what_a_map_without_a_proof_does_not_show_is_said():
    pytest.importorskip("openTSNE")
    model = ritz.TSNE(2, max_iter=50).fit(SHEET)
    text = html.unescape(re.sub("<[^>]*>", "", render(model, SHEET)))
    assert "how far groups lie apart and how large they are means little" in text
    assert "The map was found by the solver “openTSNE”" in text
    assert "The eigenvalues were found by" not in text


def test_components_apart_are_said():
    two = np.concatenate([SHEET[:120], SHEET[120:] + 100])
    with pytest.warns(ritz.RitzWarning):
        model = ritz.LaplacianEigenmaps(2).fit(two)
    assert "2 components, each placed by itself" in words(model, two)


def test_standardised_columns_are_measured_as_the_map_sees_them():
    X = SHEET * [1000.0, 1.0, 1.0]
    model = ritz.Isomap(2, standardize=True).fit(X)
    about = Context(model, X)
    Z = X / X.std(axis=0, ddof=1)
    assert about.trust.spoken.lcmc == insight.embedding_quality(Z, model.embedding_, 10).lcmc
    assert "3 standardised columns" in words(model, X)


def test_many_rows_are_sampled_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(map_trust, "ALL", 200)
    monkeypatch.setattr(map_trust, "SAMPLE", 100)
    monkeypatch.setattr(map_trust, "NEAR", 150)
    monkeypatch.setattr(map_trust, "ENTRIES", 250 * 20)
    model = ritz.Isomap(2).fit(SHEET)
    text = html.unescape(render(model, SHEET))
    assert "Measured at 100 of 250 rows, drawn at random" in text
    assert "standard errors are" in text
    assert "Seen from 20 rows, drawn at random" in text
    assert "150 rows drawn at random" in text


def test_rows_of_the_fit_are_known_and_others_are_placed():
    model = ritz.Isomap(2).fit(SHEET)
    assert Context(model, SHEET).own_rows
    other = SHEET[::-1].copy()
    about = Context(model, other)
    assert not about.own_rows
    np.testing.assert_allclose(about.scores, model.embedding_[::-1], atol=1e-8)
    np.testing.assert_allclose(about.trust.Y, model.embedding_[::-1], atol=1e-8)


def test_strings_have_distances_too():
    names = ["".join(RNG.choice(list("abcde"), 7)) for _ in range(60)]
    model = ritz.MDS(2, metric="edit").fit(names)
    text = render(model, names)
    assert "trust" in ids(text)
    assert "classical scaling in 2 dimensions gives the same map" in words(model, names)
    assert "PCA" not in words(model, names)


def test_rows_left_out_of_the_map_are_not_measured():
    two = np.concatenate([SHEET[:200], SHEET[200:] + 100])
    with pytest.warns(ritz.RitzWarning):
        model = ritz.LaplacianEigenmaps(2, disconnected="largest").fit(two)
    about = Context(model, two)
    assert about.trust.n == 200
    text = render(model, two)
    assert "distortion" in ids(text)
    assert "50 rows outside of the largest component of the graph of neighbours are not on the map" in words(model, two)


def test_a_graph_that_is_given_has_no_distances():
    W = np.exp(-np.square(SHEET[:60, None] - SHEET[:60]).sum(axis=2))
    model = ritz.LaplacianEigenmaps(2, weights="precomputed").fit(W)
    found = ids(render(model, W))
    assert "trust" not in found
    assert {"answer", "scores", "spectrum"} <= set(found)


def test_few_rows_and_one_axis_have_a_page():
    few = SHEET[:9]
    assert "answer" in ids(render(ritz.MDS(2).fit(few), few))
    assert {"trust", "choices"} <= set(ids(render(ritz.Isomap(1).fit(SHEET), SHEET)))


def test_a_card_says_eigenvalues_and_gaps():
    frame = pd.DataFrame(SHEET, columns=list("abc"))
    text = ritz.LaplacianEigenmaps(2).fit(frame)._repr_html_()
    assert "gap to the next" in text
    assert "%" not in re.sub(r"style=\"[^\"]*\"", "", text)


def test_one_neighbour_is_spoken_of_in_the_singular():
    T = np.random.default_rng(0).normal(size=(12, 3, 3)).cumsum(axis=0)
    words = html.unescape(re.sub(r"<[^>]+>", "", render(ritz.HOSVD(2).fit(T), T)))
    assert "The row nearest to a row is its nearest on the map for" in words
    assert "At 1 neighbour the trustworthiness" in words
    assert "1 neighbours" not in words
