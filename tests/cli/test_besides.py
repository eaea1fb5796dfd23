"""Clusters, rotations, and rows without part on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ritz
from ritz import insight
from ritz.cli.main import app

pd = pytest.importorskip("pandas")


def table(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*args, code=0):
        result = CliRunner().invoke(app, [str(word) for word in args])
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    return call


@pytest.fixture
def animals(tmp_path, monkeypatch):
    """Thirty animals of three sizes, with names, two habits, and two that came later."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    size = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 5)) + 6 * np.eye(5)[size]
    frame = pd.DataFrame(
        X, columns=["height", "weight", "speed", "age", "sleep"], index=[f"animal{i:02}" for i in range(30)]
    )
    frame.index.name = "name"
    frame["habit"] = np.array(["day", "night", "both"])[size]
    frame.to_csv("animals.csv")
    return frame


def test_rows_without_part_are_placed_as_transform_does(animals, run):
    run("fit", "animals.csv", "--supplementary-rows", "animal28,30", "--supplementary", "habit", "-k", 2, "--scale")
    active = animals.iloc[:28, :5]
    model = ritz.PCA(2, scale=True).fit(active)
    placed = table("animals_ritz/supplementary_rows.csv")
    assert [row["name"] for row in placed] == ["animal28", "animal29"]
    assert [row["row"] for row in placed] == ["29", "30"]
    known = model.transform(animals.iloc[28:, :5])
    assert [float(row["PC1"]) for row in placed] == pytest.approx(known[:, 0].tolist())
    seen = np.asarray(insight.cos2(model, animals.iloc[28:, :5]))
    assert [float(row["PC2_cos2"]) for row in placed] == pytest.approx(seen[:, 1].tolist())
    assert len(table("animals_ritz/scores.csv")) == 28
    page = Path("animals_ritz/report.html").read_text(encoding="utf-8")
    assert "row that took no part" in page
    assert "habit=night" in page
    assert json.loads(Path("animals_ritz/manifest.json").read_text())["supplementary_rows"] == [29, 30]
    run("report", "animals_ritz", "animals.csv", "-o", "again.html")
    assert "28 rows" in Path("again.html").read_text(encoding="utf-8")


def test_clusters_have_files_a_part_and_a_line(animals, run):
    result = run("fit", "animals.csv", "--clusters", "auto", "-k", 3, "--json")
    facts = json.loads(result.stdout)
    found = insight.clusters(ritz.PCA(3).fit(animals.iloc[:, :5]), animals.iloc[:, :5])
    assert facts["clusters"]["sizes"] == found.sizes.tolist() == [10, 10, 10]
    assert [int(row["cluster"]) for row in table("animals_ritz/clusters.csv")] == found.labels.tolist()
    told = [row for row in table("animals_ritz/cluster_description.csv") if row["column"].startswith("habit=")]
    assert {row["cluster"] for row in told} == {"1", "2", "3"}
    assert 'id="clusters"' in Path("animals_ritz/report.html").read_text(encoding="utf-8")
    run("fit", "animals.csv", "--clusters", "4")
    assert {row["cluster"] for row in table("animals_ritz/clusters.csv")} == {"1", "2", "3", "4"}


def test_a_rotation_has_files_and_a_part(animals, run):
    run("fit", "animals.csv", "--rotate", "varimax", "-k", 2, "--scale")
    turned = insight.rotate(ritz.PCA(2, scale=True).fit(animals.iloc[:, :5]), "varimax")
    written = table("animals_ritz/rotated_components.csv")
    assert [float(row["RC1"]) for row in written] == pytest.approx(turned.loadings["RC1"].tolist())
    scores = [float(row["RC2"]) for row in table("animals_ritz/rotated_scores.csv")]
    assert scores == pytest.approx(np.asarray(turned.scores(animals.iloc[:, :5]))[:, 1].tolist())
    assert 'id="rotation"' in Path("animals_ritz/report.html").read_text(encoding="utf-8")
    run("fit", "animals.csv")  # the files of the run before go
    assert not Path("animals_ritz/rotated_scores.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--clusters", "many"], "--clusters is a number of clusters, or auto"),
        (["--clusters", "31"], "--clusters is at most the number of rows, 30"),
        (["--rotate", "varimix"], "--rotate"),
        (["--rotate", "varimax", "-k", "1"], "--rotate needs two components or more"),
        (["--rotate", "varimax", "--method", "kpca"], "--rotate is for methods"),
        (["--supplementary-rows", "99"], "numbers from 1 to 30"),
        (["--supplementary-rows", "1..30"], "expected rows that take part"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(animals, run, words, said):
    result = run("fit", "animals.csv", *words, code=3 if "rows" in words[0] else 2)
    assert said in " ".join(result.stderr.split())
    assert not Path("animals_ritz").exists()
