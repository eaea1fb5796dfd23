"""What takes no part has no say: supplementary columns and rows are placed and named, and change no number."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ritz

COUNTS = np.array([[30, 5, 3, 9], [25, 8, 6, 7], [6, 28, 11, 8], [4, 9, 31, 6], [8, 22, 9, 10], [20, 6, 5, 8]])


def counts(columns=4, rows=6):
    names = ["tea", "milk", "juice", "water"][:columns]
    lines = [f"r{i}," + ",".join(map(str, COUNTS[i, :columns])) for i in range(rows)]
    return "\n".join([",".join(["name", *names]), *lines]) + "\n"


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "part.csv").write_text(counts(3, 5))
    (tmp_path / "wide.csv").write_text(counts(4, 6).replace("r5,20,6,5,8", "r5,20,6,5,"))


def test_columns_and_rows_of_counts_keep_their_names_and_change_nothing(run, tables):
    alone = json.loads(run("fit part.csv --method ca -o alone --json").stdout)
    both = json.loads(
        run("fit wide.csv --method ca --supplementary water --supplementary-rows r5 -o both --json").stdout
    )
    assert alone["components"] == both["components"]
    assert both["ranks"]["consensus"] == alone["ranks"]["consensus"]
    for one, other in zip(alone["ranks"]["rules"], both["ranks"]["rules"], strict=True):
        assert (one["name"], one["k"], one["curve"]) == (other["name"], other["k"], other["curve"])
    assert [line.split(",")[0] for line in Path("both/supplementary.csv").read_text().splitlines()[1:]] == ['"water"']
    page = Path("both/report.html").read_text(encoding="utf-8")
    assert '"water"' in page
    assert '"column 1"' not in page
    assert "no value is missing" in page  # the row with a gap takes no part


def test_answers_that_take_no_part_are_not_drawn_again(run):
    rng = np.random.default_rng(0)
    rows = [f"{rng.choice(['a', 'b'])},{rng.choice(['c', 'd'])},{rng.choice(['e', 'f', 'g'])}" for _ in range(40)]
    Path("three.csv").write_text("\n".join(["p,q,extra", *rows]) + "\n")
    Path("two.csv").write_text("\n".join(["p,q", *(row.rpartition(",")[0] for row in rows)]) + "\n")
    alone = json.loads(run("fit two.csv --method mca -o alone --json").stdout)
    both = json.loads(run("fit three.csv --method mca --supplementary extra -o both --json").stdout)
    assert [rule["k"] for rule in alone["ranks"]["rules"]] == [rule["k"] for rule in both["ranks"]["rules"]]
    assert "extra=e" in Path("both/supplementary.csv").read_text()


def test_gaps_of_supplementary_counts_are_named(run, tables):
    said = run("fit wide.csv --method ca --supplementary water", 3).stderr
    assert "received others in column 'water', in 1 row" in said
    assert "supplementary too" in said


def test_numbers_alone_have_no_map_of_categories(run):
    rng = np.random.default_rng(0)
    np.savetxt("n.csv", rng.normal(size=(20, 4)), delimiter=",", header="a,b,c,d", comments="", fmt="%.3f")
    run("fit n.csv --method mfa --groups x=a,b --groups y=c,d -o out -q")
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert 'data-chart="points"' not in page
    assert 'data-chart="circle"' in page
    assert "categories and numbers" not in page


def test_codes_that_stand_side_by_side_are_named_as_a_range(run):
    rng = np.random.default_rng(0)
    rows = "".join(f"{rng.normal():.2f},{','.join(map(str, rng.integers(1, 6, 4)))}\n" for _ in range(60))
    Path("codes.csv").write_text(f"x,q1,q2,q3,q4\n{rows}")
    said = " ".join(run("plan codes.csv").stdout.split())
    assert "--categorical q1..q4" in said
    assert "famd" in run("plan codes.csv --categorical q1..q4").stdout


def test_a_covariance_matrix_has_no_rows_of_its_own(run):
    S = np.cov(np.random.default_rng(0).normal(size=(24, 4)).T)
    np.savetxt("S.csv", S, delimiter=",", header="a,b,c,d", comments="")
    said = run("fit S.csv --covariance-of 24 -k 2").stderr
    assert "S.csv: a covariance matrix of 4 columns from 24 rows, 2 of 4 components\n" in said


def test_numbers_of_persons_are_no_measurements(run):
    rng = np.random.default_rng(0)
    rows = "".join(f"{1001 + i},{rng.normal():.2f},{rng.normal():.2f}\n" for i in range(20))
    Path("p.csv").write_text(f"respondent,a,b\n{rows}")
    assert ritz.read("p.csv").kinds["respondent"] == "identifier"
