"""Parts appear where they have something to say, and say what the model says."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz import insight
from ritz.report import render, write
from ritz.report.context import Context
from ritz.report.html import Html
from ritz.report.part import Content, Part
from ritz.report.parts import PARTS


def data(text: str, name: str):
    found = re.search(rf'<script type="application/json" id="data-{name}">(.*?)</script>', text)
    return json.loads(found[1]) if found else None


def ids(text: str) -> list[str]:
    return re.findall(r'<section id="([\w-]+)"', text)


def iris_like(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 4)) + kind[:, None] * [2, 1, 0, -1]
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=np.array(["x", "y", "z"])[kind])


# which parts


def test_the_whole_report_of_a_table(wine_page):
    assert ids(wine_page) == [
        "answer", "data", "scores", "space", "loadings", "biplot", "circle", "contributions", "described", "scree",
        "outliers", "stability", "reconstruction", "certificate", "reproduce", "glossary", "cite",
    ]  # fmt: skip


def test_the_glossary_has_the_terms_of_the_page_and_no_others(wine_page, counts):
    def terms(page: str) -> list[str]:
        part = re.search(r'(?s)<section id="glossary".*?</section>', page)
        assert part is not None
        return re.findall(r"<dt>(.*?)</dt>", part[0])

    assert {"Loading", "Permutation test", "Bootstrap", "Scree plot"} <= set(terms(wine_page))
    assert "Inertia" not in terms(wine_page)
    model, X = counts
    assert "Inertia" in terms(render(model, X))
    assert "Loading" not in terms(render(model, X))


LINEAR = {"answer", "data", "scores", "loadings", "certificate", "reproduce", "cite"}


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (ritz.SVD(2), {"biplot", "circle", "scree", "outliers"}),
        (ritz.RobustPCA(2), {"biplot", "circle", "outliers"}),
        (ritz.SparsePCA(2), {"biplot", "outliers"}),
        (ritz.FactorAnalysis(1), {"loadings"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_linear_relatives(model, more):
    X = iris_like()[["a", "b", "c", "d"]]
    found = set(ids(render(model.fit(X), X)))
    assert found >= LINEAR | more
    assert "points" not in found
    assert "left-out" not in found


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (ritz.FAMD(3), set()),
        (ritz.MFA(3, groups={"first": ["a", "b"], "second": ["c", "d"], "kind": ["kind"]}), {"groups"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_mixed_tables(model, more):
    X = iris_like()
    found = set(ids(render(model.fit(X), X)))
    assert found >= {"answer", "data", "scores", "points", "circle", "relations", "scree", "outliers"} | more
    assert not found & {"loadings", "biplot", "left-out"}


def test_a_small_contingency_table_has_its_rows_on_the_map(counts):
    model, X = counts
    text = render(model, X)
    assert "points" in ids(text)
    assert "scores" not in ids(text)
    rows, columns = data(text, "points")["sides"]
    assert rows["names"] == list(X.index)
    np.testing.assert_allclose(rows["xy"][0], model.row_coordinates_["Dim1"], rtol=1e-5)
    np.testing.assert_allclose(columns["shares"][1], model.column_contributions_["Dim2"], rtol=1e-5)
    np.testing.assert_allclose(columns["mass"], model.column_masses_, rtol=1e-5)


def test_kernels_have_maps_and_preimages(ring):
    model, X = ring
    text = render(model, X)
    assert {"kernel_maps", "preimages"} <= set(ids(text))
    assert len(data(text, "kernel_maps")["maps"]) == 4


def test_maps_of_frames_warn_of_nothing(ring):
    frame = pd.DataFrame(np.asarray(ring[1]), columns=["x", "y"])
    model = ritz.KernelPCA(2).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "kernel_maps" in ids(render(model, frame))


def test_preimages_far_from_all_rows_are_not_drawn(ring, monkeypatch):
    model, X = ring
    real = type(model).preimages

    def thrown(self, T):
        found = real(self, T)
        rows = np.array(found.rows)
        rows[2] += 1e3  # one place along the first component
        return replace(found, rows=rows)

    drawn = data(render(model, X), "preimages")["axes"]
    monkeypatch.setattr(type(model), "preimages", thrown)
    text = render(model, X)
    assert data(text, "preimages")["axes"] == drawn[1:]
    assert "no pre-image lies near the rows" in re.sub("<[^>]+>", "", text)


def test_strings_have_their_nearest_neighbours():
    words = [a + b + c for a in "abcd" for b in "aeio" for c in "xyz"]
    model = ritz.KernelPCA(3, kernel=ritz.kernels.Spectrum(2)).fit(words)
    text = render(model, words)
    assert "preimages" in ids(text)
    assert "kernel_maps" not in ids(text)
    assert data(text, "rows")["names"][:2] == words[:2]


def test_pictures_appear_only_when_told(squares):
    model, X = squares
    assert "pictures" not in ids(render(model, X))
    text = render(model, X, image_shape=(5, 5))
    assert "pictures" in ids(text)
    held = data(text, "pictures")
    assert held["shape"] == [5, 5]
    assert [step["k"] for step in held["rebuilt"][0]["steps"]] == [1, 2, 3, 0]
    wrong = render(model, X, image_shape=(4, 5))
    assert "pictures" not in ids(wrong)
    assert "image_shape holds 25 pixels" in wrong


def test_a_model_alone_has_a_report(wine):
    model, _ = wine
    found = ids(render(model, None))
    assert {"answer", "loadings", "circle", "scree", "certificate"} <= set(found)
    assert not {"scores", "biplot", "outliers"} & set(found)


# what they say


def test_scores_are_those_of_the_model(wine, wine_page):
    model, table = wine
    import base64

    held = data(wine_page, "rows")
    first = np.frombuffer(base64.b64decode(held["scores"][0]["f32"]), "<f4")
    np.testing.assert_allclose(first, model.transform(table)[:, 0], rtol=1e-5, atol=1e-5)
    assert held["colours"][0]["name"] == "cultivar"
    assert held["colours"][0]["kinds"] == ["Barbera", "Barolo", "Grignolino"]


def test_groups_are_told_by_the_share_between_them(wine, wine_page):
    model, table = wine
    F = pd.Series(model.transform(table)[:, 0]).groupby(table.labels("cultivar"))
    sizes, means = F.size(), F.mean()
    between = (sizes * means**2).sum() / np.square(model.transform(table)[:, 0]).sum()
    words = wine_page.replace("\u00a0", " ")
    assert f"differ most along PC1: {100 * between:.1f} % of its variance lies between them" in words


def test_scree_has_the_consensus_and_the_votes(wine):
    model, table = wine
    ranks = ritz.choose_rank(model, table)
    held = data(render(model, table, ranks=ranks), "scree")
    assert held["consensus"] == ranks.consensus
    assert {rule["name"]: rule["k"] for rule in held["rules"]}["map"] == ranks["map"].k
    np.testing.assert_allclose(held["shares"], model.explained_variance_ratio_, rtol=1e-5)


def test_distances_and_limits_are_those_of_insight(squares):
    model, X = squares
    held = data(render(model, X), "outliers")
    known = insight.outlier_map(model, X)
    np.testing.assert_allclose(held["inside"], known.score_distance, rtol=1e-4)
    np.testing.assert_allclose(held["limits"], [known.score_cutoff, known.orthogonal_cutoff], rtol=1e-6)


def test_a_model_that_keeps_all_is_judged_by_its_first_components(wine):
    names = list(wine[0].feature_names_in_)
    X = pd.DataFrame(wine[1].select(names), columns=names)
    about = Context(wine[0], X)
    assert about.odd is not None
    assert about.odd.components == about.ranks.consensus
    smaller = ritz.PCA(about.ranks.consensus, scale=True).fit(X)
    np.testing.assert_allclose(about.odd.off, insight.spe(smaller, X), rtol=1e-8)


def test_new_rows_are_judged_as_new(squares):
    model, X = squares
    odd = Context(model, X[:20] + 1.0).odd
    assert odd is not None
    assert odd.bounds.rows == "new"


def test_reconstruction_falls_to_what_is_left(squares):
    model, X = squares
    held = data(render(model, X), "reconstruction")
    np.testing.assert_allclose(held["value"][-1], 1 - model.explained_variance_ratio_.sum(), rtol=1e-4)


def test_set_aside_and_missing_are_named(tmp_path):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"]).assign(word=[f"w{i}" for i in range(40)])
    frame.loc[3, "b"] = np.nan
    frame.assign(same=1.0).to_csv(path, index=False)
    table = ritz.read(path)
    with pytest.warns(ritz.ColumnsSetAside):
        model = ritz.PCA(1, missing="em").fit(table)
    text = render(model, table)
    part = text[text.index('<section id="data"') : text.index('<section id="scores"')]
    assert "1 value: b (1)" in part
    assert "same" in part
    assert "word" in part


def test_the_command_and_the_seed_are_there(wine):
    model, table = wine
    text = render(model, table, command="ritz fit wine.csv --seed 7", seed=7)
    assert "ritz fit wine.csv --seed 7" in text
    assert "<dt>Seed</dt><dd>7</dd>" in text
    assert f"Ritz {ritz.__version__}" in text


# rows of every kind


@pytest.mark.parametrize("kind", ["array", "sparse", "polars", "arrow", "table"])
def test_rows_of_every_kind(kind, tmp_path):
    frame = iris_like()[["a", "b", "c", "d"]]
    if kind == "table":
        frame.to_csv(tmp_path / "t.csv", index=False)
    X = {
        "array": lambda: frame.to_numpy(),
        "sparse": lambda: sp.csr_array(frame.to_numpy()),
        "polars": lambda: __import__("polars").DataFrame(frame.to_dict("list")),
        "arrow": lambda: __import__("pyarrow").Table.from_pandas(frame, preserve_index=False),
        "table": lambda: ritz.read(tmp_path / "t.csv"),
    }[kind]()
    text = render(ritz.PCA(2).fit(X), X, points=50)
    assert {"scores", "biplot", "outliers"} <= set(ids(text))
    held = data(text, "rows")
    assert held["n"] == 60
    assert held["count"] >= 50
    assert "of 60 rows are shown: a random sample" in text


def test_a_table_outside_memory_is_sampled(tmp_path):
    frame = iris_like(3000)
    frame.to_parquet(tmp_path / "t.parquet")
    table = ritz.read(tmp_path / "t.parquet", memory="1MB")
    with pytest.warns(ritz.ColumnsSetAside):
        model = ritz.PCA(2).fit(table)
    text = render(model, table, points=500)
    held = data(text, "rows")
    assert 500 <= held["count"] <= 1000
    assert held["colours"][0]["name"] == "kind"


def test_a_sample_holds_the_farthest_rows():
    X = np.random.default_rng(0).normal(size=(2000, 3)) @ np.diag([3, 2, 1])
    X[77] = [60, 0, 0]
    about = Context(ritz.PCA(2).fit(X), X, points=100)
    assert 77 in about.index
    np.testing.assert_allclose(about.scores, ritz.PCA(2).fit(X).transform(X[about.index]))


@pytest.mark.parametrize("color", ["name", "values", "dict"])
def test_colours_that_are_asked_for_come_first(color):
    X = iris_like()
    values = X["kind"].to_numpy()
    asked = {"name": "a", "values": values, "dict": {"sort": values, "size": np.arange(60.0)}}[color]
    rows = X[["a", "b", "c", "d"]]
    held = data(render(ritz.PCA(2).fit(rows), rows, color=asked), "rows")
    assert held["colours"][0]["name"] == {"name": "a", "values": "colour", "dict": "sort"}[color]


def test_wrong_colours_and_names_are_refused():
    X = iris_like()[["a", "b", "c", "d"]]
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ritz.InputError, match="names a column of X"):
        render(model, X, color="no such column")
    with pytest.raises(ritz.InputError, match="one value for each of 60 rows"):
        render(model, X, names=["a"])


# the page


def test_ritz_report_is_called_and_is_a_package(squares, tmp_path):
    model, X = squares
    path = ritz.report(model, X, tmp_path / "r.html", title="Squares")
    assert path == tmp_path / "r.html"
    text = path.read_text(encoding="utf-8")
    assert text == render(model, X, title="Squares")  # the same bytes for the same input
    assert "<title>Squares · Ritz</title>" in text
    assert ritz.report.write is write


def test_nothing_on_the_page_points_elsewhere(wine_page):
    text = wine_page
    head = text[: text.index("<style>")]
    assert "default-src &#x27;none&#x27;" in head
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', text)
    assert "url(" not in text
    assert "@import" not in text
    assert len(text.encode()) < 3_000_000


def test_names_are_text_in_the_page(hostile):
    model, X = hostile
    text = render(model, X, title=X.columns[0])
    assert "<script>window.hacked" not in text
    assert text.count("<script>") == 1
    assert len(text) < 600_000  # names of 10,000 characters are cut


def test_further_parts_slot_in(squares):
    model, X = squares
    mine = Part(
        "mine", "My part", lambda about: about.k == 3, lambda about: Content(Html("<p>hello</p>"), {"n": about.n})
    )
    text = render(model, X, parts=[mine])
    assert ids(text)[-1] == "mine"
    assert data(text, "mine") == {"n": 60}


def test_a_part_that_fails_is_left_out_and_named(squares):
    def build(about):
        raise ritz.InputError("expected better days", received="rain")

    model, X = squares
    text = render(model, X, parts=[Part("bad", "Weather", lambda about: True, build)])
    assert "bad" not in ids(text)
    assert "Weather: expected better days" in text


def test_every_script_belongs_to_a_part():
    folder = Path(ritz.report.__file__).parent / "assets" / "parts"
    assert {path.stem for path in folder.glob("*.js")} <= {part.id for part in PARTS}
    assert len({part.id for part in PARTS}) == len(PARTS)


# notebooks


def test_a_fitted_model_shows_a_card(wine, ring):
    for model in (wine[0], ring[0]):
        card = model._repr_mimebundle_()["text/html"]
        assert "eigenvalues proved" in card
        assert "<script" not in card
    assert "36.2" in wine[0]._repr_html_()
    assert "sk-" in ritz.PCA(2)._repr_html_()  # scikit-learn's diagram until it is fitted


def test_cards_escape_names(hostile):
    assert "<script" not in hostile[0]._repr_html_()


# edges


@pytest.mark.parametrize("case", ["one component", "none", "three rows", "one column", "precomputed", "whiten"])
def test_small_and_odd_models(case):
    X = np.random.default_rng(0).normal(size=(30, 4))
    model, rows = {
        "one component": lambda: (ritz.PCA(1).fit(X), X),
        "none": lambda: (ritz.PCA(0).fit(X), X),
        "three rows": lambda: (ritz.PCA(1).fit(X[:3]), X[:3]),
        "one column": lambda: (ritz.PCA().fit(X[:, :1]), X[:, :1]),
        "precomputed": lambda: (ritz.KernelPCA(2, kernel="precomputed").fit(X @ X.T), X @ X.T),
        "whiten": lambda: (ritz.PCA(2, whiten=True).fit(X), X),
    }[case]()
    found = ids(render(model, rows))
    assert found[:2] == ["answer", "data"]
    assert ("scores" in found) == (case != "none")


def test_a_model_from_a_file_has_the_same_report(squares, tmp_path):
    model, X = squares
    ritz.save(model, tmp_path / "model.ritz")
    assert ids(render(ritz.load(tmp_path / "model.ritz"), X)) == ids(render(model, X))


def test_a_column_of_names_is_not_called_useless(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("task,a,b,c\n" + "".join(f"t{i},{i + 1},{7 - i},{(i * 3) % 5 + 1}\n" for i in range(6)))
    table = ritz.read(path)
    with pytest.warns(ritz.ColumnsSetAside):
        model = ritz.PCA(2).fit(table)
    assert "task (it names the rows)" in render(model, table)
    assert "task (it names the rows)" in render(model, table, names="task")
    assert "task (it names the rows)" not in render(model, table, names=False)


def test_components_of_noise_are_not_said_to_be_found_again(tmp_path):
    rng = np.random.default_rng(0)
    answers = pd.DataFrame({f"q{i}": rng.choice(["yes", "no", "maybe"], 150) for i in range(5)})
    page = ritz.report(ritz.MCA(2).fit(answers), answers, tmp_path / "answers.html", color="q0").read_text(
        encoding="utf-8"
    )
    assert "only groups of them are found again" not in page
    assert "No axis is more than chance: other rows need not give the same ones." in page
    assert "numbers are placed" not in page  # there are none
    assert "differ most along" not in page  # axes are made of q0, and are no more than chance
    counts = rng.poisson(8, size=(12, 4))
    page = ritz.report(ritz.CA().fit(counts), counts, tmp_path / "counts.html").read_text(encoding="utf-8")
    assert "found again" not in page.partition("Stability</h2>")[2].partition("</p>")[0]
    assert "Not even the first axis is more than chance" in page


def test_groups_that_the_axes_are_made_of_are_told_where_these_are_more_than_chance(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.choice(["yes", "no", "maybe"], 150)
    answers = pd.DataFrame({f"q{i}": np.where(rng.random(150) < 0.7, kind, "no") for i in range(4)})
    page = ritz.report.render(ritz.MCA(2).fit(answers), answers, color="q0")
    assert re.search("groups of <bdi>q0</bdi>, a column that the axes are made of, differ most along Dim[12]: ", page)


@pytest.mark.parametrize("kept", [None, "directions", "sketch"])
@pytest.mark.parametrize("method", [ritz.PCA, ritz.SVD])
def test_a_model_of_a_stream_has_a_report_and_correlations(method, kept, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 20)) + 0.1 * rng.normal(size=(120, 20))
    model = method(2, mergeable=kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        for rows in np.array_split(X, 4):
            model.partial_fit(rows)
        page = ritz.report(model, X, tmp_path / "stream.html").read_text(encoding="utf-8")
    assert "Why to trust it" in page
    if method is ritz.PCA:  # the deviations of the columns are in the state, whatever else it lets go of
        correlations = np.asarray(insight.structure(model))
        np.testing.assert_allclose(correlations, insight.structure(model, X), rtol=1e-9, atol=1e-12)


def test_a_single_variable_has_no_corrected_inertias():
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"] * 4})
    assert "Benzécri" not in render(ritz.MCA().fit(frame), frame)
    frame["size"] = ["s", "m"] * 8
    assert "Benzécri" in render(ritz.MCA().fit(frame), frame)


def test_columns_that_do_not_vary_among_the_rows_shown_are_not_called_constant():
    """Of a sparse column a sample may hold nothing but zeros."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((2_000, 3)), np.arange(2_000) == 1_234, np.full(2_000, 7.0)]).astype(float)

    def told(rows, points):
        return re.sub(r"<[^>]+>", " ", render(ritz.PCA(2).fit(rows), rows, points=points))

    assert "1 column among the rows shown: column 3" in told(X[:, :4], 300)
    assert " Constant " not in told(X[:, :4], 3_000)
    assert "1 column: column 4" in told(X, 3_000)
