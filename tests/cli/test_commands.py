"""The commands around a model: each answers people on stdout or stderr, and programs with ``--json``."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random as sparse_random
from scipy.sparse import save_npz
from typer.testing import CliRunner

import ritz
import ritz.data.tables.read
from ritz.cli.main import app

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"

#: Keys of what is inside an answer: components, criteria.
INNER = {
    "name", "variance", "share", "cumulated", "variance_error", "angle_error", "certified", "measure", "criterion", "k",
    "why",
}  # fmt: skip


def invoke(*args, code=0):
    result = CliRunner().invoke(app, [str(a) for a in args], env={"NO_COLOR": "1"})
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    before = Path.cwd()
    os.chdir(folder)
    try:
        shutil.copy(WINE, "wine.csv")
        invoke("fit", "wine.csv", "-k", 3, "-q")
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def place(fitted, tmp_path, monkeypatch):
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_inspect(place):
    facts = json.loads(invoke("inspect", "wine_ritz", "--json").stdout)
    assert (facts["estimator"], facts["rows"], facts["source"]) == ("PCA", 178, "wine.csv")
    assert facts["parameters"] == {"n_components": 3, "scale": True}
    assert facts["mergeable"] is True
    assert [one["name"] for one in facts["components"]] == ["PC1", "PC2", "PC3"]
    shown = invoke("inspect", "wine_ritz/model.ritz")
    assert "wine_ritz/model.ritz: PCA of wine.csv, 178 rows, 13 columns" in shown.stdout
    assert shown.stderr == ""


def test_transform_and_inverse_are_pipes(place):
    scores = invoke("transform", "wine_ritz", "wine.csv")
    assert scores.stderr == ""
    assert scores.stdout.splitlines()[0] == '"PC1","PC2","PC3"'
    Path("z.csv").write_text(scores.stdout)
    rows = invoke("inverse", "wine_ritz", "z.csv").stdout.splitlines()
    model, Z = ritz.load("wine_ritz/model.ritz"), np.loadtxt("z.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(np.loadtxt(rows, delimiter=",", skiprows=1), model.inverse_transform(Z), rtol=1e-12)
    assert rows[0].startswith('"alcohol","malic_acid"')
    for ending in ("parquet", "arrow", "npy", "tsv"):
        assert (
            f"178 rows, 13 columns: r.{ending}" in invoke("inverse", "wine_ritz", "z.csv", "-o", f"r.{ending}").stderr
        )
        assert len(ritz.read(f"r.{ending}")) == 178
    assert "cannot both go to stdout" in invoke("inverse", "wine_ritz", "z.csv", "--json", code=2).stderr
    Path("w.csv").write_text("PC1,PC2\n1,2\n3,4\n")
    assert "without PC3" in invoke("inverse", "wine_ritz", "w.csv", code=3).stderr


def test_rank(place):
    facts = json.loads(invoke("rank", "wine.csv", "--json", "--criteria", "kaiser,elbow").stdout)
    assert facts["scaled"] is True
    assert {row["criterion"]: row["k"] for row in facts["criteria"]} == {"kaiser": 3, "elbow": 2}
    shown = invoke("rank", "wine.csv", "--criteria", "kaiser,elbow")
    assert "criterion" in shown.stdout
    assert "kaizer" in invoke("rank", "wine.csv", "--criteria", "kaizer", code=2).stderr


def test_plan(place):
    facts = json.loads(invoke("plan", "wine.csv", "-k", 2, "--json").stdout)
    assert facts["solver"] == "moments"
    assert facts["method"] == "pca"
    assert not facts["in_pieces"]
    assert facts["reasons"]
    assert "route" in invoke("plan", "wine.csv").stdout
    assert "missing" not in facts


def test_plan_of_an_iteration_says_that_noise_takes_longer(place):
    save_npz("noise.npz", sparse_random(3000, 2000, 0.01, format="csr", random_state=0))
    shown = " ".join(invoke("plan", "noise.npz", "--method", "svd", "-k", 5).stdout.split())
    assert re.search(
        r"cost about \d+ passes over the data \(several times as many, and as long, where eigenvalues do not decay\), "
        r"about",
        shown,
    )
    shown = " ".join(invoke("plan", "noise.npz", "--method", "svd", "-k", 5, "--solver", "moments").stdout.split())
    assert "decay" not in shown


def test_a_plan_is_that_of_the_fit(place):
    """``ritz fit`` keeps the state that ``ritz merge`` needs, and so forms the Gram matrix."""
    X = np.random.default_rng(0).standard_normal((2500, 1200))
    assert ritz.plan(X, ritz.PCA(3)).solver == "lanczos"
    np.save("tall.npy", X)
    planned = json.loads(invoke("plan", "tall.npy", "-k", 3, "--json").stdout)
    invoke("fit", "tall.npy", "-k", 3, "--scores", "none", "--quiet")
    made = ritz.load("tall_ritz/model.ritz").plan_
    assert (planned["solver"], planned["precision"], planned["passes"]) == ("moments", "float64", made.actual_passes)
    assert tuple(planned["reasons"]) == made.reasons


def test_plan_tells_of_missing_values(place):
    rows = [f"{'' if i % 3 == 0 else i * 1.5},{i * i % 7 + 0.5},{i % 5}.25" for i in range(20)]
    Path("gaps.csv").write_text("\n".join(["a,b,c", *rows, ""]))
    assert json.loads(invoke("plan", "gaps.csv", "--json").stdout)["missing"] == {"a": 7}
    shown = " ".join(invoke("plan", "gaps.csv").stdout.split())
    assert "missing 7 values in 'a' (7): a fit refuses them; allowed by --missing drop, --missing mean," in shown
    shown = " ".join(invoke("plan", "gaps.csv", "--missing", "mean").stdout.split())
    assert "missing 7 values in 'a' (7): --missing mean" in shown
    assert "missing" not in json.loads(invoke("plan", "gaps.csv", "--missing", "drop", "--json").stdout)


def test_a_plan_of_a_table_in_pieces_says_who_decides_about_scaling(place):
    np.save("rows.npy", np.random.default_rng(0).standard_normal((60_000, 40)))
    shown = " ".join(invoke("plan", "rows.npy", "-k", 2, "--memory", "75MB").stdout.split())
    assert "read in pieces" in shown
    assert "scaling decided by the fit, which standardises columns" in shown
    assert "not standardised: as asked" in invoke("plan", "rows.npy", "--memory", "75MB", "--no-scale").stdout


def test_missing_values_of_a_table_in_pieces_are_refused_by_their_place(place):
    X = np.random.default_rng(0).standard_normal((170_000, 32)).astype(np.float32)  # whose rounding is measured
    X[150_000] = np.nan
    np.save("gaps.npy", X)
    told = invoke("fit", "gaps.npy", "-k", 2, "--memory", "75MB", code=3).stderr
    assert "where only finite numbers can be used" in told
    assert "row 150,001" in told


def test_options_of_another_method_tell_who_chose_it(place):
    Path("words.csv").write_text("\n".join(["w", *(f"abc{'x' * (i % 4)}{i}" for i in range(20)), ""]))
    told = " ".join(invoke("fit", "words.csv", "--no-scale", code=2).stderr.split())
    assert "received no --method, and a table or options for which kpca was chosen" in told
    assert "received --method kpca" in " ".join(
        invoke("fit", "words.csv", "--no-scale", "--method", "kpca", code=2).stderr.split()
    )


def test_rank_of_one_column_claims_no_error_of_held_out_entries(place):
    Path("one.csv").write_text("\n".join(["a", *(str(i * i % 17) for i in range(20)), ""]))
    shown = " ".join(invoke("rank", "one.csv", "--criteria", "kfold").stdout.split())
    assert "0 components: hidden entries of one column can be predicted by the mean alone" in shown


def test_verify_has_an_exit_code(place):
    assert invoke("verify", "wine_ritz", "wine.csv").stdout.startswith("verification: passed\n")
    lines = Path("wine.csv").read_text().splitlines()
    lines[5] = lines[5].replace(lines[5].split(",")[1], "99", 1)
    Path("other.csv").write_text("\n".join(lines) + "\n")
    result = invoke("verify", "wine_ritz", "other.csv", code=5)
    assert result.stdout.startswith("verification: FAILED\n")
    assert json.loads(invoke("verify", "wine_ritz", "other.csv", "--json", code=5).stdout)["ok"] is False
    Path("less.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert "takes the table that was fitted, of 178 rows" in invoke("verify", "wine_ritz", "less.csv", code=3).stderr


def test_verify_reads_as_the_fit_did(place):
    invoke("fit", "wine.csv", "--drop", "hue", "--weights", "magnesium", "-k", 2, "-q", "-o", "few", "--no-report")
    assert "passed" in invoke("verify", "few", "wine.csv").stdout


def test_a_kernel_model_that_does_not_fit_its_rows_is_found(place):
    invoke("fit", "wine.csv", "--kernel", "rbf", "-k", 2, "-q", "-o", "kernel", "--no-report")
    assert "passed" in invoke("verify", "kernel", "wine.csv").stdout
    lines = Path("wine.csv").read_text().splitlines()
    Path("other.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    assert "FAILED" in invoke("verify", "kernel", "other.csv", code=5).stdout


def test_compare(place):
    invoke("fit", "wine.csv", "-k", 2, "-q", "-o", "two", "--no-report")
    facts = json.loads(invoke("compare", "wine_ritz", "two", "--json").stdout)
    assert max(facts["angles"]) < 1e-5
    assert [(one["component"], one["other"], one["sign"]) for one in facts["matched"]] == [
        ("PC1", "PC1", 1),
        ("PC2", "PC2", 1),
    ]
    facts = json.loads(invoke("compare", "wine_ritz", "two", "wine.csv", "--json").stdout)
    assert facts["rows"] == 178
    assert 0 < facts["rv"] <= 1
    invoke("fit", "wine.csv", "--kernel", "rbf", "-k", 2, "-q", "-o", "kernel", "--no-report")
    result = invoke("compare", "wine_ritz", "kernel", code=3)
    assert "hint: name a table: ritz compare wine_ritz kernel TABLE" in result.stderr
    assert "RV" in invoke("compare", "wine_ritz", "kernel", "wine.csv").stdout


def test_export(place):
    assert "PCA as sql: wine_ritz/model.sql" in invoke("export", "wine_ritz", "--to", "sql").stderr
    assert "SELECT" in Path("wine_ritz/model.sql").read_text().upper()
    invoke("export", "wine_ritz", "--to", "sql", "--table", "wines")
    assert "wines" in Path("wine_ritz/model.sql").read_text()
    invoke("export", "wine_ritz", "-o", "c.parquet")
    assert "expected c.parquet to be absent" in invoke("export", "wine_ritz", "-o", "c.parquet", code=4).stderr
    invoke("export", "wine_ritz", "-o", "c.parquet", "--force")
    assert "did you mean onnx?" in invoke("export", "wine_ritz", "--to", "onx", code=2).stderr
    assert "neither --to nor -o" in invoke("export", "wine_ritz", code=2).stderr
    assert "another file than the model" in invoke("export", "wine_ritz", "--to", "sql", "-o", "wine_ritz/model.ritz",
                                                   "--force", code=4).stderr  # fmt: skip
    # the folder knows what was added, so a second fit may clear it away
    invoke("fit", "wine.csv", "-k", 2, "-q", "--no-report")
    assert not Path("wine_ritz/model.sql").exists()


def test_report(place):
    page = Path("wine_ritz/report.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert "wine.csv" in page
    assert "ritz fit wine.csv -k 3" in page
    Path("wine_ritz/report.html").unlink()
    assert "wine_ritz/report.html" in invoke("report", "wine_ritz", "wine.csv").stderr
    facts = json.loads(invoke("report", "wine_ritz", "wine.csv", "-o", "mine.html", "--title", "Reds", "--json").stdout)
    assert facts["bytes"] == Path("mine.html").stat().st_size
    assert "Reds" in Path("mine.html").read_text(encoding="utf-8")
    Path("notes.html").write_text("<p>mine")
    assert (
        "expected notes.html to be absent"
        in invoke("report", "wine_ritz", "wine.csv", "-o", "notes.html", code=4).stderr
    )
    assert "did you mean 'cultivar'?" in invoke("report", "wine_ritz", "wine.csv", "--color", "cultiwar", code=3).stderr
    invoke("fit", "wine.csv", "-k", 2, "-q", "--no-report")
    assert not Path("wine_ritz/report.html").exists()


def test_every_kind_of_model_has_a_report(place):
    Path("s.txt").write_text("ACGTACGT\nACGTTTGA\nTTGACAAC\nGGGTACCC\nCATTGACC\n")
    Path("c.csv").write_text("row,a,b,c\nu,10,2,7\nv,3,9,4\nw,5,5,1\nx,1,2,9\n")
    for table in ("s.txt", "c.csv"):
        invoke("fit", table, "-q")
        assert Path(f"{table[0]}_ritz/report.html").stat().st_size < 3e6


def test_demo(place):
    result = invoke("demo", "-o", "shown")
    assert "open shown/report.html in a browser" in result.stderr
    assert result.stdout == ""
    assert json.loads(invoke("demo", "-o", "shown", "--json").stdout)["report"] == "shown/report.html"


def test_doctor(place):
    facts = json.loads(invoke("doctor", "--json").stdout)
    assert facts["ok"] is True
    assert facts["libraries"]["numpy"] == np.__version__
    assert facts["blas"]
    assert {one["library"] for one in facts["extras"]} >= {"matplotlib", "dask", "torch"}
    shown = invoke("doctor").stdout
    assert "trial" in shown
    assert "right (off by" in shown


def test_keys_of_json_are_those_that_the_page_lists(place, root):
    page = (root / "docs" / "cli.md").read_text(encoding="utf-8").partition("### What `--json` holds")[2]
    listed = {}
    for line in (line for line in page.splitlines() if line.startswith("| `")):
        names, keys = line.strip("| ").split(" | ", 1)
        words = " ".join(keys.split("`")[1::2]).split()
        listed |= {name.strip("` "): set(words) for name in names.split(", ")}
    calls = {
        "fit": ["wine.csv", "-o", "again"], "rank": ["wine.csv", "--criteria", "elbow"], "plan": ["wine.csv"],
        "transform": ["wine_ritz", "wine.csv", "-o", "z.csv"], "inverse": ["wine_ritz", "z.csv", "-o", "y.csv"],
        "report": ["wine_ritz", "wine.csv"], "inspect": ["wine_ritz"], "verify": ["wine_ritz", "wine.csv"],
        "compare": ["wine_ritz", "again"], "merge": ["wine_ritz", "again", "-o", "m.ritz"],
        "export": ["wine_ritz", "--to", "csv", "-o", "c.csv"], "doctor": [],
        "search": ["texts_ritz", "wine", "-o", "h.csv"],
    }  # fmt: skip
    (place / "texts.csv").write_text("text\nred wine\nwhite wine\nthin wings\n", encoding="utf-8")
    texts = set(json.loads(invoke("fit", "texts.csv", "--text", "text", "-k", 2, "--json").stdout))
    assert texts <= listed["fit"]
    of_texts = {"documents", "words", "empty_documents", "missing_texts", "language", "language_reason", "weighting"}
    of_texts |= {"topics"}
    assert of_texts <= texts
    may = (
        INNER
        | of_texts
        | {"scaled", "scaling", "kernel", "dropped", "gap", "tells", "unseen_words", "text", "document", "rank", "row"}
        | {"clusters", "rotation", "supplementary_rows"}
    )
    assert set(listed) == {*calls, "demo"} == {command.name for command in app.registered_commands}
    for name, words in calls.items():
        extra = ["-k", 3] if name == "fit" else []
        keys = set(json.loads(invoke(name, *words, *extra, "--json").stdout))
        assert keys <= listed[name], (name, keys - listed[name])
        assert listed[name] - keys <= may, (name, listed[name] - keys)


def test_every_command_speaks_json_quietly_and_in_debug(place):
    for command in app.registered_commands:
        text = invoke(command.name, "--help").stdout
        assert all(option in text for option in ("--json", "--quiet", "--debug")), command.name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_methods(place, shell):
    env = {"_RITZ_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "ritz ins", "COMP_WORDS": "ritz ins",
           "COMP_CWORD": "1", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}  # fmt: skip
    assert "inspect" in CliRunner().invoke(app, [], env=env, prog_name="ritz").stdout
    words = "ritz fit wine.csv --method k"
    env |= {"COMP_WORDS": words, "COMP_CWORD": "4", "_TYPER_COMPLETE_ARGS": words}
    assert "kpca" in CliRunner().invoke(app, [], env=env, prog_name="ritz").stdout
