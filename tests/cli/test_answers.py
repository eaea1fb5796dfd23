"""Answers stay the same from command to command, and what is near a limit, empty or unproved is said in words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.cli.fitting.scaling import decide_scaling

WORDS = re.compile(r"<[^>]+>")


def written(name, X, columns="abcdefgh"):
    head = ",".join(columns[: X.shape[1]])
    np.savetxt(name, X, delimiter=",", header=head, comments="", fmt="%.6f")


def two_factors(rng, n=60, d=4, spread=1.0):
    """Rows with two common factors, whose last column spreads ``spread`` times as far as the first."""
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.4 * rng.standard_normal((n, d))
    return X / X.std(axis=0, ddof=1) * np.geomspace(1, spread, d)


def test_a_report_about_other_rows_keeps_the_answers_of_the_fit(run, seed):
    X = two_factors(np.random.default_rng(seed), n=80, d=6)
    written("all.csv", X)
    written("few.csv", X[:12] + 1)
    run("fit all.csv -q")
    kept = json.loads(Path("all_ritz/manifest.json").read_text())["ranks"]
    first = Path("all_ritz/report.html").read_text(encoding="utf-8")
    run("report all_ritz few.csv -o few.html -q")
    other = Path("few.html").read_text(encoding="utf-8")
    answer = kept["reasons"][0].replace("'", "&#x27;")
    assert answer in first
    assert answer in other
    assert json.loads(run("rank all.csv --json").stdout)["consensus"] == kept["consensus"]


def test_models_of_the_whole_space_are_compared_by_components(run, seed):
    rng = np.random.default_rng(seed)
    written("a.csv", two_factors(rng))
    written("b.csv", two_factors(rng))
    run("fit a.csv --scale --no-report -q")
    run("fit b.csv --scale --no-report -q")
    told = run("compare a_ritz b_ritz").stdout
    assert "are the same" not in told
    assert "both span the whole space, and components are compared instead" in told
    facts = json.loads(run("compare a_ritz b_ritz --json").stdout)
    assert facts["whole_space"]
    assert len(facts["nested_angles"]) == 3
    run("fit a.csv --scale -k 2 --no-report -q -o a2")
    run("fit b.csv --scale -k 2 --no-report -q -o b2")
    assert not json.loads(run("compare a2 b2 --json").stdout)["whole_space"]


@pytest.mark.parametrize(("fold", "near"), [(7.0, False), (9.5, True), (10.8, True), (20.0, False)])
def test_near_the_tenfold_limit_both_shares_are_told(run, seed, fold, near):
    X = two_factors(np.random.default_rng(seed), spread=fold)
    written("t.csv", X)
    facts = json.loads(run("fit t.csv --no-report --json").stdout)
    assert ("near the limit" in facts["scaling"]) is near
    if near:
        scaled = json.loads(run("fit t.csv --scale --no-report --json").stdout)["components"][0]["share"]
        units = json.loads(run("fit t.csv --no-scale --no-report --json").stdout)["components"][0]["share"]
        assert f"PC1 holds {100 * scaled:.1f} % standardised (--scale)" in facts["scaling"]
        assert f"{100 * units:.1f} % in its units (--no-scale)" in facts["scaling"]
    assert decide_scaling(np.array([1.0, fold]), ["a", "b"], True).near is False


def test_parts_that_decided_otherwise_are_told_what_to_do(run, seed):
    rng = np.random.default_rng(seed)
    written("a.csv", two_factors(rng, spread=9.5))
    written("b.csv", two_factors(rng, spread=10.8))
    run("fit a.csv --no-report -q")
    run("fit b.csv --no-report -q")
    hint = run("merge a_ritz b_ritz -o m.ritz", code=3).stderr.partition("as in: ritz ")[2].split()
    assert hint == ["fit", "b.csv", "--no-scale", "-o", "b_ritz"]
    run(" ".join([*hint, "--no-report", "-q"]))
    run("merge a_ritz b_ritz -o m.ritz")


def test_what_is_not_proved_is_said_with_what_would_prove_it(run, seed):
    sp.save_npz("flat.npz", sp.random(1500, 1100, density=0.01, random_state=seed, format="csr"))
    told = " ".join(run("fit flat.npz --method svd --solver lanczos -k 20 --no-report").stderr.split())
    assert "marked ?) are not proved: some σ² of the table lies in each interval" in told
    assert "--solver moments would prove all of them" in told
    told = run("fit flat.npz --method svd --solver moments -k 20 --no-report --force").stderr
    assert "?" not in told


def test_the_summary_is_for_its_reader_and_v_has_the_rest(run):
    plain, verbose = (run(f"fit WINE -k 2 --no-report --force {more}").stderr for more in ("", "-v"))
    assert "no component was missed" in plain
    for words in ("|VᵀV − I|", "pass over the data", "because"):
        assert words not in plain
        assert words in verbose
