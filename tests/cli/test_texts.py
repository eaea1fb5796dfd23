"""Texts from the command line: what is written, found, checked, refused, and left alone when something goes wrong."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import ritz
from ritz.cli.results.output import working

TEXTS = {
    "wines/red.txt": "A glass of red wine from the old vineyard, with the taste of cherries and of oak.",
    "wines/white.txt": "White wine from the vineyard by the river: a taste of apples, and of grass.",
    "wines/rose.txt": "The rose wine of the vineyard is neither red nor white; a taste of berries and of summer.",
    "wings/flutter.txt": "Flutter of thin wings in supersonic flow: the wings of a plane begin to shake.",
    "wings/lift.txt": "The lift of a wing depends on the angle at which the flow meets the wing of the plane.",
    "wings/drag.txt": "Drag of a wing in a supersonic flow, measured in a wind tunnel with a model of the plane.",
}


@pytest.fixture
def texts(run, tmp_path):
    """A folder of texts, and the same as a table and as lines of JSON, in the current folder."""
    for name, text in TEXTS.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    rows = [(f"r{i}", "ab"[i > 2], text) for i, text in enumerate(TEXTS.values())]
    with (tmp_path / "reviews.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "kind", "review"), *rows])
    lines = [json.dumps({"review": text}) + "\n" for text in TEXTS.values()]
    (tmp_path / "reviews.jsonl").write_text("".join(lines), encoding="utf-8")
    return run


def told(run, line):
    return json.loads(run(line).stdout)


def read(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_folder_becomes_topics_scores_and_a_model(texts):
    facts = told(texts, "fit docs --method lsi -k 2 --json")
    assert sorted(os.listdir("docs_ritz")) == sorted(facts["written"])
    model = ritz.load("docs_ritz/model.ritz")
    direct = ritz.LSI(2).fit("docs")
    np.testing.assert_allclose(model.singular_values_, direct.singular_values_, rtol=1e-12)
    assert facts["documents"] == 6
    assert facts["words"] == direct.n_features_in_
    assert facts["language"] == "english"
    scores = read("docs_ritz/scores.csv")
    assert [row["document"] for row in scores] == sorted(TEXTS)
    values = np.array([[float(row["T1"]), float(row["T2"])] for row in scores])
    np.testing.assert_allclose(values, direct.embedding_, atol=1e-12)
    topics = read("docs_ritz/topics.csv")
    first = next(row for row in topics if row["topic"] == "T1")
    word, weight = direct.topics(1)[0].positive[0]
    assert (first["word"], float(first["weight"])) == (word, pytest.approx(weight))


def test_equal_runs_write_equal_files(texts):
    texts("fit docs --method lsi -k 2 -o a -q")
    texts("fit docs --method lsi -k 2 -o b -q")
    for name in ("model.ritz", "scores.csv", "topics.csv"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes(), name


def test_a_column_implies_the_method(texts):
    facts = told(texts, "fit reviews.csv --text review -k 2 --json")
    assert facts["method"] == "lsi"
    assert facts["identifiers"] == ["id"]
    assert [row["id"] for row in read("reviews_ritz/scores.csv")] == [f"r{i}" for i in range(6)]
    hits = told(texts, "search reviews_ritz flutter wings --top 2 --json")["hits"]
    assert hits[0]["document"] == "r3"


def test_lines_of_json_are_documents(texts):
    told(texts, "fit reviews.jsonl --text review -k 2 -o lines --json")
    model = ritz.load("lines/model.ritz")
    np.testing.assert_allclose(model.embedding_, ritz.LSI(2).fit(list(TEXTS.values())).embedding_, atol=1e-12)
    texts("verify lines reviews.jsonl")


def test_one_column_of_texts_is_a_table(texts, tmp_path):
    (tmp_path / "two.csv").write_text("text\nred wine\nthin wings\nwings in flutter\n", encoding="utf-8")
    assert told(texts, "fit two.csv --text text --json")["documents"] == 3


def test_words_are_as_asked(texts):
    for options, rule in (
        ("--plain", ritz.text.Words()),
        ("--language english", ritz.text.Words(stop_words="english", stem="english")),
        ("--no-stem", ritz.text.Words(stop_words="english")),
    ):
        texts(f"fit docs --method lsi -k 2 {options} -q --no-report -o o --force")
        expected = ritz.LSI(2, words=rule).fit("docs")
        assert list(ritz.load("o/model.ritz").feature_names_in_) == list(expected.feature_names_in_), options


def test_the_weighting_is_as_asked(texts):
    texts("fit docs --method lsi -k 2 --weighting bm25 -q --no-report")
    expected = ritz.LSI(2, weighting="bm25").fit("docs").singular_values_
    np.testing.assert_allclose(ritz.load("docs_ritz/model.ritz").singular_values_, expected, rtol=1e-12)


def test_a_search_finds_what_python_finds(texts):
    texts("fit docs --method lsi -k 3 -q")
    model = ritz.load("docs_ritz/model.ritz")
    for words, hybrid in (("flutter of thin wings", None), ("red wine", 0.5)):
        option = "" if hybrid is None else f"--hybrid {hybrid}"
        found = told(texts, f"search docs_ritz {words} --top 4 {option} --json")
        hits = model.search(words, top=4, hybrid=hybrid)
        assert [hit["row"] - 1 for hit in found["hits"]] == hits.rows.tolist()
        np.testing.assert_allclose([hit["score"] for hit in found["hits"]], hits.scores)
        assert [hit["text"] for hit in found["hits"]] == [None] * len(hits)
        assert found["found"] == hits.found
    shown = told(texts, "search docs_ritz flutter --texts docs --json")["hits"]
    assert [hit["text"] for hit in shown] == [TEXTS[hit["document"]] for hit in shown]


def test_hits_go_to_a_file(texts):
    texts("fit docs --method lsi -k 2 -q --no-report")
    texts("search docs_ritz wine --top 3 --texts docs -o hits.parquet")
    table = pq.read_table("hits.parquet")
    assert table.column_names == ["rank", "score", "row", "document", "text"]
    assert table.num_rows == 3
    texts("search docs_ritz wine -o hits.parquet", code=4)
    texts("search docs_ritz wine -o docs_ritz/model.ritz --force", code=4)
    texts("search docs_ritz zebra -o none.csv")
    assert read("none.csv") == []


def test_new_documents_get_their_place(texts, tmp_path):
    texts("fit docs --method lsi -k 2 -q --no-report")
    (tmp_path / "new.md").write_text("red wine and unheard words", encoding="utf-8")
    done = texts("transform docs_ritz new.md")
    expected = ritz.load("docs_ritz/model.ritz").transform(["red wine and unheard words"])[0]
    row = next(csv.DictReader(done.stdout.splitlines()))
    np.testing.assert_allclose([float(row["T1"]), float(row["T2"])], expected, atol=1e-15)
    assert row["document"] == "new.md"
    facts = told(texts, "transform docs_ritz reviews.csv --text review -o new.csv --json")
    assert facts["rows"] == 6


def test_verify_tells_other_documents(texts, tmp_path):
    texts("fit docs --method lsi -k 2 -q --no-report")
    texts("verify docs_ritz docs")
    (tmp_path / "docs/wines/red.txt").write_text(TEXTS["wings/lift.txt"], encoding="utf-8")
    assert "FAILED" in texts("verify docs_ritz docs", code=5).stdout
    texts("verify docs_ritz docs/wines", code=3)


def test_a_report_again(texts):
    texts("fit reviews.csv --text review -k 3 --color kind -q")
    first = Path("reviews_ritz/report.html").read_text(encoding="utf-8")
    texts("report reviews_ritz reviews.csv -o again.html")
    again = Path("again.html").read_text(encoding="utf-8")
    for part in ("The topics", "Nearest documents", "The words", "How many topics"):
        assert part in first
        assert part in again
    assert '"name":"kind"' in again
    texts("report reviews_ritz reviews.csv --text kind -o other.html")
    assert "not those of the fit" in Path("other.html").read_text(encoding="utf-8")


def test_rank_plan_and_inspect_speak_of_texts(texts):
    assert told(texts, "rank docs --method lsi --criteria elbow,broken-stick --json")["method"] == "lsi"
    assert told(texts, "plan reviews.csv --text review --json")["solver"] == "moments"
    texts("fit docs --method lsi -k 2 -q --no-report")
    facts = told(texts, "inspect docs_ritz --json")
    assert facts["documents"] == 6
    assert len(facts["topics"]) == 2


def test_a_fit_that_fails_leaves_what_was_there(texts, monkeypatch):
    texts("fit docs --method lsi -k 2 -q")
    before = {path.name: path.read_bytes() for path in Path("docs_ritz").iterdir() if path.is_file()}
    import ritz.cli.fitting.texts_job as job

    def broken(*_):
        raise ritz.InputError("broken off")

    monkeypatch.setattr(job, "_scores", broken)
    texts("fit docs --method lsi -k 3 -q", code=3)
    after = {path.name: path.read_bytes() for path in Path("docs_ritz").iterdir() if path.is_file()}
    assert after == before


def test_texts_that_change_during_a_fit_are_noticed(texts, monkeypatch):
    import ritz.cli.fitting.texts_job as job

    whole = job._contents

    def changing(*given):
        files = whole(*given)
        Path("docs/wines/red.txt").write_text("something else", encoding="utf-8")
        return files

    monkeypatch.setattr(job, "_contents", changing)
    assert "changed" in texts("fit docs --method lsi -k 2 -q --no-report", code=4).stderr
    assert not Path("docs_ritz/model.ritz").exists()


def test_one_run_at_a_time_works_in_a_folder(texts):
    with working(Path("docs_ritz")):
        texts("fit docs --method lsi -k 2 -q", code=4)


def test_pictures_of_topics(texts):
    texts("fit docs --method lsi -k 3 -q --no-report --figures svg")
    made = {path.name for path in Path("docs_ritz").glob("figure_*")}
    assert made == {"figure_topics.svg", "figure_documents.svg", "figure_words.svg"}


def test_documents_without_words_are_told(texts, tmp_path):
    (tmp_path / "docs/zero.txt").write_text("", encoding="utf-8")
    done = texts("fit docs --method lsi -k 2 --no-report")
    assert "1 document without a known word" in done.stderr
    assert "1 of 7 documents has no known word" in done.stderr


def test_names_cannot_steer_a_terminal(texts, tmp_path):
    (tmp_path / "docs" / "\x1b[31mred.txt").write_text("zebra zebra stripes", encoding="utf-8")
    texts("fit docs --method lsi -k 3 -q --no-report")
    assert "\x1b" not in texts("search docs_ritz zebra --texts docs").stdout


def test_a_score_of_nothing_is_no_hit(texts):
    texts("fit docs --method lsi --quiet")
    shown = texts("search docs_ritz wine --top 6").stdout
    assert shown.startswith("3 documents for 'wine' by cosine of topics\n")
    assert "0.0000" not in shown
    assert texts("search docs_ritz wine --top 2").stdout.startswith("2 of 3 documents for 'wine'")
    assert texts("search docs_ritz wine --top 6 --hybrid 1").stdout.startswith("3 documents for 'wine'")
    assert "3 hits: hits.csv" in texts("search docs_ritz wine -o hits.csv").stderr
    assert "0.0000" not in repr(ritz.load("docs_ritz/model.ritz").search("wine"))


def test_other_texts_than_those_of_the_fit_are_refused_with_a_hint(texts):
    texts("fit docs --method lsi --quiet")
    refused = texts("search docs_ritz wine --texts docs/wines", code=3)
    assert "expected the 6 documents of the model" in refused.stderr
    assert "hint: give the texts of the fit" in refused.stderr
