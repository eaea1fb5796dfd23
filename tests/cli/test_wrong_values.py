"""What is said of values that are empty or no numbers: what was expected, in the words of the program."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ritz
from ritz.insight.embedding.dimension import intrinsic_dimension
from ritz.report.parts.trust import _two


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--seed zwei", "'--seed': expected a whole number"),
        ("--seed -4", "'--seed': expected 0 or more"),
        ("--tol viel", "'--tol': expected a number"),
    ],
)
def test_a_wrong_number_is_told_in_plain_words(run, options, said):
    told = run(f"fit WINE {options}", code=2).stderr
    assert said in told
    assert "Input should" not in told


@pytest.mark.parametrize("option", ["--columns", "--target"])
def test_no_name_is_no_column(run, option):
    told = run(f"fit WINE {option}= -o out", code=3).stderr
    assert f"expected names of columns for {option}; received ''" in told
    assert f"hint: {option} cultivar" not in told


def test_an_empty_standard_input_goes_by_that_name(run):
    assert "expected a table on standard input; received nothing" in run("fit - -o out", code=4).stderr


def test_correlations_side_by_side_have_the_same_places():
    assert [_two(0.996), _two(1.0), _two(-0.5), _two(float("nan"))] == ["1.00", "1.00", "−0.50", "–"]


def test_fewer_neighbours_are_not_advised_where_they_would_not_help():
    rows = np.random.default_rng(0).standard_normal((8, 3))
    with pytest.raises(ritz.InputError) as caught:
        intrinsic_dimension(rows, k=5)
    assert "smaller k" not in str(caught.value)


@pytest.mark.parametrize("line", ["fit EMPTY", "inspect EMPTY", "fit WINE -o EMPTY", "report EMPTY WINE"])
def test_an_empty_path_is_not_the_folder_of_the_shell(run, line):
    told = run(line, code=2).stderr
    assert "expected the path of a file or folder; received an empty one" in told


def test_an_empty_path_in_python():
    with pytest.raises(ritz.FileError, match="received an empty one"):
        ritz.read("")


@pytest.mark.parametrize("name", ["r.pdf", "r.PNG", "r.csv"])
def test_a_report_is_not_called_what_it_is_not(run, name, tmp_path):
    run("fit WINE -k 2 --no-report -o out")
    told = run(f"report out WINE -o {name}", code=4).stderr
    assert "its name ends in .html" in told
    assert "r.html is such a name" in told
    assert not (tmp_path / name).exists()


def test_a_count_behind_an_equals_sign(run):
    told = json.loads(run("fit WINE -k=3 --json --no-report").stdout)
    assert len(told["components"]) == 3


@pytest.mark.parametrize("method", ["kpca", "isomap", "lle", "laplacian", "diffusion", "mvu", "tsne", "nmf", "rbm"])
@pytest.mark.parametrize("verb", ["fit", "plan"])
def test_weights_of_a_method_without_them_are_refused_by_fit_and_plan(run, tmp_path, verb, method):
    rows = "".join(f"{i % 5},{i % 7},{1 + i % 3}\n" for i in range(30))
    (tmp_path / "w.csv").write_text("a,b,w\n" + rows)
    error = run(f"{verb} w.csv --method {method} --weights w -k 1", 2).stderr
    assert "--weights is for every method but" in error
    assert f"received --method {method}" in error


@pytest.mark.parametrize("command", ["plan", "rank", "fit"])
def test_infinity_is_refused_without_other_words(run, tmp_path, command):
    path = tmp_path / "far.csv"
    path.write_text("a,b,c\n" + "".join(f"{i}.5,{i * i % 7}.25,{-i}.75\n" for i in range(8)) + "1.5,inf,2.5\n")
    told = run(f"{command} {path}", code=3).stderr
    assert "infinity" in told
    assert "column 'b'" in told
    assert "warning" not in told
