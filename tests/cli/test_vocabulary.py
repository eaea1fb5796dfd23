"""Messages of the library in the words of the command line: options that exist, columns and lines by name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import ritz
from ritz.cli.main import app
from ritz.cli.terminal.vocabulary import spoken

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"
PYTHON = re.compile(r"\b[a-z_]+=['\[{\d]|\britz\.[a-z]|\bX\[|numpy|\bNone\b|partial_fit|--\w+  ")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(line, code=0):
        args = [str(WINE) if word == "WINE" else word for word in line.split()]
        result = CliRunner().invoke(app, args)
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        assert not PYTHON.search(result.stderr), result.stderr
        return result

    return call


def answers(name, changes=None):
    rows = [["xyz"[i % 3], "uv"[i % 2], "pqrs"[i * i % 4]] for i in range(40)]
    for (i, j), value in (changes or {}).items():
        rows[i][j] = value
    Path(name).write_text("a,b,c\n" + "\n".join(",".join(row) for row in rows) + "\n")


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("rank WINE --fraction 2", 2, r"error: --fraction must lie .* 2\.0\nhint: --fraction 0\.9\n"),
        ("rank WINE --criteria foo", 2, r"error: --criteria takes names of rules; received 'foo'\nhint: these names"),
        ("fit WINE --encoding nope", 2, r"error: --encoding must be .*\nhint: --encoding utf-8, cp1252 or utf-16\n"),
        ("fit WINE --numeric nope", 3, r"error: expected a column 'nope' for --numeric; received columns 'cultivar'"),
        ("fit WINE --id hew,ash", 3, r"error: expected a column 'hew' for --id; "),
        ("fit WINE --drop nope", 3, r"error: expected a column 'nope' for --drop; "),
        ("fit WINE --categorical ash..huge", 3, r"(?s)'ash\.\.huge' for --categorical; .*hint: check the names"),
        ("fit WINE --drop b*", 3, r"(?s)'b\*' for --drop; .*hint: check the names in the first line of wine\.csv"),
    ],
)  # fmt: skip
def test_options_are_named_as_they_are_written(run, line, code, words):
    assert re.search(words, run(line, code).stderr)


def test_missing_answers_name_options(run):
    answers("t.csv", {(4, 0): ""})
    assert "hint: --missing category makes them a level of their own, --missing exclude" in run("fit t.csv", 3).stderr
    run("fit t.csv --missing category --no-report -q")


def test_models_that_cannot_be_merged(run):
    answers("t.csv")
    run("fit t.csv --no-report -q -o mca")
    run("fit WINE -k 2 --no-report -q -o pca")
    run("fit WINE -k 2 -m kpca --no-report -q -o kpca")
    assert run("merge pca mca -o m.ritz", 3).stderr.endswith("hint: fit the other rows with --method pca first\n")
    assert run("merge mca pca -o m.ritz", 3).stderr.endswith("hint: fit the other rows with --method mca first\n")
    assert "merge takes models that can be merged; received KernelPCA" in run("merge kpca pca -o m.ritz", 3).stderr


def test_how_the_text_was_read_names_the_option(run):
    Path("t.csv").write_bytes(b"caf\xe9,b\n1,2\n3,4\n5,7\n")
    assert "of Windows (--encoding sets another)\n" in run("fit t.csv --no-report").stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drop such rows: X[~numpy.isnan(X).all(axis=1)]; rows count from 0", "drop such rows; rows count from 1"),
        ("mark these as missing: X[numpy.isinf(X)] = numpy.nan; rows", "mark these as missing; rows"),
        ("give columns; ritz.read(path, kinds={name: 'numeric'}) reads text", "give columns; --numeric COL reads text"),
        ("kinds={'zip': 'categorical'}", "--categorical zip"),
        ("categorical=['a', 'b']", "--categorical a,b"),
        ("declare it from the first part on: categorical=[…]", "declare it from the first part on: --categorical COL"),
        ("an indicator goes to ritz.CA as it is", "an indicator goes to --method ca as it is"),
        ("missing='mean', 'em' or 'regularized'", "--missing mean, em or regularized"),
        ("PCA(scale=True) takes", "--scale takes"),
        ("sample_weight must be finite", "--weights must be finite"),
        ("received n_samples=3, n_features=1", "received 3 rows, 1 column"),
        ("stopped at min_uniqueness=0.005 of the variance", "stopped at 0.005 of the variance"),
    ],
)  # fmt: skip
def test_single_words(text, words):
    assert spoken(text) == words


# --- levels that the fit has not seen ---------------------------------------------------------------------


def test_levels_that_the_fit_has_not_seen(run):
    answers("t.csv")
    run("fit t.csv --no-report -q")
    answers("new.csv", {(3, 0): "QQ"})
    assert "hint: --unseen ignore lets them contribute nothing, --unseen supplementary places" in (
        run("transform t_ritz new.csv", 3).stderr
    )
    model = ritz.load("t_ritz/model.ritz")
    for way in ("ignore", "supplementary"):
        run(f"transform t_ritz new.csv --unseen {way} -o {way}.npy")
        expected = model.set_params(unseen=way).transform(ritz.read("new.csv"))
        np.testing.assert_array_equal(np.load(f"{way}.npy"), expected)
    assert not np.array_equal(np.load("ignore.npy"), np.load("supplementary.npy"))
    assert "hint: did you mean ignore?" in run("transform t_ritz new.csv --unseen ignor", 2).stderr
    run("report t_ritz new.csv --unseen ignore -o new.html")
    run("fit WINE -k 2 --no-report -q")
    words = "error: --unseen is for models of categories: mca, famd, mfa; received PCA\nhint: leave out --unseen\n"
    assert run("transform wine_ritz WINE --unseen ignore", 2).stderr == words


# --- where it is: names and lines -------------------------------------------------------------------------


def test_gaps_of_sparse_tables_cannot_be_filled(run):
    X = sp.random(40, 8, 0.4, random_state=0, format="csr")
    X.data[3] = np.nan
    sp.save_npz("s.npz", X)
    for options in ("", " --missing regularized", " --missing mean", " -m svd", " --memory 30MB --missing mean"):
        stderr = run(f"fit s.npz --no-report{options}", 3).stderr
        assert "column 'x6'" in stderr
        assert "put numbers there: gaps of sparse tables cannot be filled; rows count from 1\n" in stderr
    with pytest.raises(ritz.NonFiniteError, match="gaps of sparse tables cannot be filled"):
        ritz.PCA(2).fit(X)
    with pytest.raises(ritz.NonFiniteError, match="let PCA fill the gaps"):
        ritz.PCA(2).fit(X.toarray())


@pytest.mark.parametrize("method", ["svd", "robust", "sparse", "factor", "kpca"])
def test_methods_that_fill_no_gaps_name_the_line_and_the_one_that_does(run, method):
    Path("gaps.csv").write_text("a,b,c\n1,2,3\n4,,6\n7,8,1\n2,3,5\n4,4,4\n")
    assert run(f"fit gaps.csv -m {method} --no-report", 3).stderr.endswith(
        "first at line 3 column 'b'\nhint: --missing drop leaves out those rows, or let --method pca --missing "
        "regularized fill the gaps\n"
    )


def test_counts_of_rows_are_words(run):
    Path("one.csv").write_text("a,b,c\n1,2,3\n")
    for method, name in (("kpca", "kernel PCA"), ("robust", "RobustPCA"), ("pca", "a fit")):
        assert f"error: {name} needs at least 2 rows to have a variance; received 1 row\n" in (
            run(f"fit one.csv -m {method}", 3).stderr
        )
    assert "hint: ritz rank --method pca asks them of all rows\n" in run("rank WINE -m robust", 2).stderr


def test_columns_out_of_range_are_named(run):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.random(30), 1e307 * rng.standard_normal(30)])
    np.savetxt("big.csv", rows, delimiter=",", header="alpha,beta", comments="")
    assert "e+306 in column 'beta'" in run("fit big.csv --no-scale --no-report", 3).stderr
    assert "in column 'alpha'" in run("fit big.csv --no-report", 3).stderr


def test_gaps_of_new_rows_are_named_by_line_or_from_1(run):
    Path("t.csv").write_text("a,b\n1,2\n3,5\n4,4\n9,1\n")
    run("fit t.csv --no-report -q")
    Path("new.csv").write_text("a,b\n1,2\n\n3,5\n4,\n")
    result = run("transform t_ritz new.csv", 3)
    assert (
        "first at line 5 column 'b'\nhint: leave out those rows; or place them by a model that "
        "ritz fit --missing regularized has made\n" in result.stderr
    )
    np.save("new.npy", [[1.0, 2.0], [np.nan, 1.0]])
    Path("named.csv").write_text("x0,x1\n1,2\n3,5\n4,4\n9,1\n")
    run("fit named.csv --no-report -q")
    assert "first at row 2 column 'x0'\n" in run("transform named_ritz new.npy", 3).stderr
    assert "has made; rows count from 1\n" in run("transform named_ritz new.npy", 3).stderr
    answers("c.csv")
    run("fit c.csv --no-report -q")
    answers("gap.csv", {(3, 1): ""})
    assert "1 missing, the first in line 5" in run("transform c_ritz gap.csv", 3).stderr
