"""A correlation matrix on the command line: named where it is given as rows, fitted for what it is where asked."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import ritz


@pytest.fixture
def matrix(tmp_path) -> np.ndarray:
    rng = np.random.default_rng(0)
    R = np.corrcoef((rng.standard_normal((90, 1)) + rng.standard_normal((90, 5))).T).round(3)
    np.fill_diagonal(R, 1.0)
    pd.DataFrame(R, index=list("abcde"), columns=list("abcde")).to_csv(tmp_path / "R.csv", index_label="name")
    return R


def test_given_as_rows_it_is_named(run, matrix):
    said = run("fit R.csv --method pca --no-report").stderr
    assert "look like a correlation matrix" in said
    assert "--covariance-of N takes the matrix" in " ".join(said.split())


def test_fitted_for_what_it_is(run, matrix, tmp_path):
    said = " ".join(run("fit R.csv --covariance-of 90 -k 2 -o out").stderr.split())
    assert "rounded to 3 decimals" in said
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "components.csv",
        "manifest.json",
        "model.ritz",
    ]
    model = ritz.load(tmp_path / "out" / "model.ritz")
    assert np.allclose(model.explained_variance_, np.sort(np.linalg.eigvalsh(matrix))[::-1][:2])
    assert model.n_samples_ == 90
    assert "passed" in run("verify out R.csv").stdout + run("verify out R.csv").stderr
    assert "does not tell" in run("transform out R.csv -o x.csv", code=3).stderr
    run("fit R.csv --covariance-of 90 --method factor -k 1 -o factors")
    assert json.loads((tmp_path / "factors" / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("line", "words"),
    [("--method kpca", "pca and factor"), ("--scores csv", "needs rows"), ("--missing mean", "needs rows")],
)
def test_what_needs_rows_is_refused(run, matrix, line, words):
    assert words in run(f"fit R.csv --covariance-of 90 {line}", code=2).stderr
