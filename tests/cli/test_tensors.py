"""Tensors on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ritz


@pytest.fixture
def tensor(tmp_path):
    X = 1 / (1 + sum(np.meshgrid(*(np.linspace(0, 1, n) for n in (12, 9, 7)), indexing="ij")))
    np.save(tmp_path / "t.npy", X)
    return X


@pytest.mark.parametrize("name", ["hosvd", "tucker", "tt"])
def test_a_tensor_is_taken_apart_and_its_files_agree_with_the_library(run, tensor, tmp_path, name):
    facts = json.loads(run(f"fit t.npy -m {name} --error 1e-4 --json --no-report").stdout)
    model = ritz.load(tmp_path / "t_ritz" / "model.ritz")
    assert facts["shape"] == [12, 9, 7]
    assert facts["relative_error"] == model.relative_error_ <= 1e-4
    assert tuple(facts["ranks"]) == model.ranks_
    with np.load(tmp_path / "t_ritz" / "parts.npz") as file:
        parts = dict(file)
    assert sum(parts[key].size for key in parts) == round(tensor.size / model.compression_)
    scores = np.genfromtxt(tmp_path / "t_ritz" / "scores.csv", delimiter=",", skip_header=1)
    np.testing.assert_allclose(scores[:, -model.n_components_ :], model.embedding_, rtol=1e-12)
    assert "passed" in run("verify t_ritz/model.ritz t.npy").stdout
    run("transform t_ritz/model.ritz t.npy -o s.csv")
    assert "moments" in run(f"plan t.npy -m {name} -k 2").stdout


def test_ranks_and_reports(run, tensor, tmp_path):
    facts = json.loads(run("fit t.npy -m hosvd -k 3,2,2 --json").stdout)
    assert facts["ranks"] == [3, 2, 2]
    page = (tmp_path / "t_ritz" / "report.html").read_text(encoding="utf-8")
    assert "no tensor of these ranks comes nearer" in page.lower()
    run("report t_ritz/model.ritz t.npy -o r.html")


@pytest.mark.parametrize(
    ("line", "words", "code"),
    [
        ("fit t.npy -m hosvd -k kaiser", "one rank a mode", 2),
        ("fit t.npy -m hosvd -k 3,2", "one rank for each of the 3 modes", 2),
        ("fit t.npy -m pca --error 0.1", "--error is for --method hosvd", 2),
        ("fit WINE -m tt", ".npy file", 4),
        ("fit t.npy -m tt --weights a", "no columns", 2),
    ],
)
def test_what_is_no_tensor_is_refused(run, tensor, line, words, code):
    result = run(line, code=code)
    assert words in result.stderr + result.stdout


def test_terms_have_their_own_squares_and_no_interval_of_another_problem(run, tensor):
    facts = json.loads(run("fit t.npy -m cp -k 2 --json -o cp").stdout)
    page = Path("cp/report.html").read_text(encoding="utf-8")
    assert "Its 2 terms hold" in page
    assert "Who is near whom counts" not in page
    model = ritz.load("cp/model.ritz")
    shown = [item["variance"] for item in facts["components"]]
    np.testing.assert_allclose(shown, np.square(model.weights_), rtol=1e-12)
    assert not facts["bounded"]
    assert [item["share"] for item in facts["components"]] == pytest.approx(model.explained_variance_ratio_)


def test_nothing_is_said_of_angles_that_nobody_bounds(run, tensor):
    told = run("fit t.npy -m hosvd -k 2 -o h").stderr
    assert "± σ²" in told
    assert "angle" not in told
    assert "gap" not in told
    page = Path("h/report.html").read_text(encoding="utf-8")
    assert "gap too small" not in page
    assert "angle at most" not in page


@pytest.mark.parametrize(
    ("line", "hint", "code"),
    [
        ("fit t.npy -m hosvd -k 3,2", "hint: -k 2,2,2", 2),
        ("fit t.npy -m tt --error 2", "--error must be a relative error", 2),
        ("fit WINE -m hosvd", "--method svd", 4),
    ],
)
def test_hints_of_tensors_are_those_of_the_command_line(run, tensor, line, hint, code):
    assert hint in run(line, code=code).stderr


def test_slices_come_back_from_scores_a_column_for_every_cell(run, tensor, tmp_path):
    run("fit t.npy -m hosvd --error 1e-9 --no-report -o h")
    run("inverse h h/scores.csv -o back.npy")
    np.testing.assert_allclose(np.load(tmp_path / "back.npy"), tensor.reshape(12, -1), atol=1e-7)
