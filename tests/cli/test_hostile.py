"""Files that were tampered with, files in the way, and names that mean harm on a terminal."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ritz
from ritz._core.container import read_container, write_container
from ritz.cli.main import app
from ritz.methods.verify.model import differing


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def fitted(tmp_path, monkeypatch):
    """A table of numbers and its result folder."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((40, 4)) * [4, 3, 2, 1] + 5
    pd.DataFrame(X, columns=list("abcd")).to_csv("t.csv", index=False)
    assert call("fit", "t.csv", "-k", "2", "--scale", "--no-report", "-q").exit_code == 0
    return tmp_path


@pytest.mark.parametrize(
    "name", ["components_", "explained_variance_", "singular_values_", "mean_", "scale_", "_mean64", "_scale64"]
)
def test_a_model_that_was_changed_is_found_out(fitted, name):
    header, arrays = read_container("t_ritz/model.ritz", "model")
    changed = arrays[f"fitted.{name}"].copy()
    changed.flat[0] += 1e-6
    write_container("changed.ritz", "model", header, {**arrays, f"fitted.{name}": changed})
    ritz.load("changed.ritz")  # every checksum is true
    assert call("verify", "t_ritz", "t.csv").exit_code == 0
    assert call("verify", "changed.ritz", "t.csv").exit_code == 5


def test_components_in_another_order_are_found_out(fitted):
    header, arrays = read_container("t_ritz/model.ritz", "model")
    write_container(
        "changed.ritz", "model", header, {**arrays, "fitted.components_": arrays["fitted.components_"][::-1]}
    )
    answer = call("verify", "changed.ritz", "t.csv", "--json")
    assert answer.exit_code == 5
    assert "not the vectors of its certificate" in json.loads(answer.stdout)["words"][0]


def test_sound_models_hold_what_is_certified():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * [5, 3, 2, 1, 0.5]
    D = pd.DataFrame({name: rng.choice(list("xyz"), 80) for name in "abc"}).assign(u=rng.standard_normal(80))
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    models = [
        ritz.PCA(2).fit(X), ritz.PCA(2, whiten=True).fit(X, sample_weight=rng.integers(1, 4, 60)),
        ritz.PCA(3, scale=True).fit(X.astype(np.float32)), ritz.PCA(2).fit(X * 1e100), ritz.SVD(2).fit(X),
        ritz.PCA(2, missing="regularized").fit(gaps), ritz.PCA(2).fit(X[:30]).merge(ritz.PCA(2).fit(X[30:])),
        ritz.CA(2).fit(rng.poisson(5, (9, 5))), ritz.MCA(2).fit(D[["a", "b", "c"]]),
        ritz.MCA(2, method="burt").fit(D[["a", "b", "c"]]), ritz.FAMD(2).fit(D),
        ritz.MFA(2, groups={"1": ["a", "b"], "2": ["c", "u"]}).fit(D),
    ]  # fmt: skip
    for model in models:
        assert differing(model) == [], model


def test_a_page_that_only_speaks_of_ritz_is_not_replaced(fitted):
    (fitted / "notes.html").write_text("<p>A spritz at the Ritz</p>")
    assert call("report", "t_ritz", "t.csv", "-o", "notes.html").exit_code == 4
    assert "spritz" in (fitted / "notes.html").read_text()
    for options, code in (([], 0), ([], 4), (["--force"], 0)):
        assert call("report", "t_ritz", "t.csv", "-o", "page.html", "-q", *options).exit_code == code
    for _ in range(2):  # the report of the folder takes the place of the report of the folder
        assert call("report", "t_ritz", "t.csv", "-q").exit_code == 0


def test_scores_are_not_replaced_by_what_is_made_of_them(fitted):
    before = (fitted / "t_ritz/scores.csv").read_bytes()
    assert call("inverse", "t_ritz", "t_ritz/scores.csv", "-o", "t_ritz/scores.csv").exit_code == 4
    assert (fitted / "t_ritz/scores.csv").read_bytes() == before


def test_a_manifest_cannot_reach_outside_of_its_folder(fitted):
    for name in ("../keep.txt", "/etc/hostname", "..", "", "sub/keep.txt"):
        (fitted / "keep.txt").write_text("mine")
        (fitted / "t_ritz/sub").mkdir(exist_ok=True)
        (fitted / "t_ritz/sub/keep.txt").write_text("mine")
        manifest = json.loads((fitted / "t_ritz/manifest.json").read_text())
        manifest["files"][name] = {}
        (fitted / "t_ritz/manifest.json").write_text(json.dumps(manifest))
        assert call("fit", "t.csv", "-k", "2", "--no-report", "-q", "--force").exit_code == 0
        assert (fitted / "keep.txt").read_text() == (fitted / "t_ritz/sub/keep.txt").read_text() == "mine"


def test_a_link_is_replaced_not_followed(fitted):
    (fitted / "mine.txt").write_text("mine")
    (fitted / "t_ritz/scores.csv").unlink()
    (fitted / "t_ritz/scores.csv").symlink_to(fitted / "mine.txt")
    answer = call("fit", "t.csv", "-k", "2", "--no-report", "-q")
    assert answer.exit_code == 4
    assert "changed since Ritz wrote them: scores.csv" in answer.stderr
    assert call("fit", "t.csv", "-k", "2", "--no-report", "-q", "--force").exit_code == 0
    assert (fitted / "mine.txt").read_text() == "mine"
    assert not (fitted / "t_ritz/scores.csv").is_symlink()


def test_errors_are_json_where_json_was_asked_for(fitted):
    for words, code in (
        (["fit", "absent.csv"], 4), (["fit", "t.csv", "-k", "99"], 2), (["fit", "t.csv", "--bogus"], 2),
        (["transform", "t_ritz", "t.csv"], 2), (["fit", "t.csv", "--columns", "z"], 3), (["frob"], 2),
    ):  # fmt: skip
        answer = call(*words, "--json")
        held = json.loads(answer.stdout)
        assert answer.exit_code == held["code"] == code
        assert held["error"]
        assert call(*words).stdout == "" or words[0] == "transform"


def test_names_cannot_steer_a_terminal(fitted):
    name = "\x1b]0;owned\x07\x1b[2Jx"
    pd.DataFrame(np.random.default_rng(0).standard_normal((20, 2)), columns=[name, "b"]).to_csv("e.csv", index=False)
    for words in (["fit", "e.csv", "--no-report"], ["inspect", "e_ritz"], ["fit", "e.csv", "--columns", "\x1b[2J"]):
        answer = call(*words)
        assert "\x1b" not in answer.output
        assert "\x07" not in answer.output
    answer = call("inspect", "e_ritz", "--json")
    assert json.loads(answer.stdout)["columns"] == [name, "b"]


def test_a_reader_that_has_enough_is_no_error(fitted):
    import subprocess
    import sys

    pd.DataFrame(np.random.default_rng(0).standard_normal((20_000, 4)), columns=list("abcd")).to_csv(
        "l.csv", index=False
    )
    words = [sys.executable, "-m", "ritz", "transform", "t_ritz", "l.csv"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdout.readline()
        done.stdout.close()
        assert done.stderr.read() == b""
    assert done.returncode == 0
