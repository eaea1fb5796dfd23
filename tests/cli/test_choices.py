"""What a user may do next is said where a table leaves a choice: arrays of an archive, texts, categories, parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

WORDS = [*"abcdefghij", "the", "cat", "sat", "on", "a", "mat"]


def facts(done):
    return json.loads(done.stdout)


def test_an_archive_of_several_arrays_says_which_and_one_is_chosen(run, seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((20, 4)), rng.standard_normal((30, 3))
    np.savez(tmp_path / "two.npz", a=X, b=Y, y=np.arange(20))
    error = run("fit two.npz", 4).stderr
    assert "received a (20×4, float64), b (30×3, float64), y (20, int64)" in error
    assert "hint: --sheet 'a' or --sheet 'b' takes that array" in error
    done = facts(run("fit two.npz --sheet b -k 2 -o b --no-report --json"))
    assert (done["rows"], done["table_columns"]) == (30, 3)
    values = np.linalg.eigvalsh(np.cov(Y.T))[::-1]
    assert [one["variance"] for one in done["components"]] == pytest.approx(values[:2], rel=1e-12)
    assert "expected an array 'y' with rows and columns of numbers" in run("fit two.npz --sheet y", 4).stderr


def table(rng, place):
    lines = ["a,b,note,key,kind"]
    for i in range(40):
        a, b = rng.standard_normal(2)
        key = "".join(rng.choice(list("0123456789abcdef"), 64))
        lines.append(f"{a:.3f},{b:.3f},{' '.join(rng.choice(WORDS, 14))},k{key},{'xyz'[i % 3]}")
    (place / "t.csv").write_text("\n".join(lines) + "\n")


def test_running_text_that_is_set_aside_mentions_topics(run, seed, tmp_path):
    table(np.random.default_rng(seed), tmp_path)
    aside = {one["column"]: one["reason"] for one in facts(run("fit t.csv -o o --no-report --json"))["set_aside"]}
    assert aside["note"] == "running text; --text note finds its topics"
    assert "--text" not in aside["key"]  # one word each
    assert facts(run("fit t.csv --text note -k 2 -o topics --no-report --json"))["method"] == "lsi"


def test_a_target_of_categories_says_what_takes_them(run, seed, tmp_path):
    table(np.random.default_rng(seed), tmp_path)
    error = run("fit t.csv --target kind", 2).stderr
    assert "--target takes columns of numbers; received 'kind', which holds categories" in error
    assert "--method famd lets categories take part, --supplementary kind shows them" in error


def test_parts_that_were_fitted_otherwise_are_told_apart_by_options(run, seed, tmp_path):
    rng = np.random.default_rng(seed)
    for name, k in (("p", 2), ("q", 1)):
        np.savetxt(tmp_path / f"{name}.csv", rng.standard_normal((30, 3)), delimiter=",", header="a,b,c", comments="")
        run(f"fit {name}.csv -k {k} -o {name} --no-report -q")
    error = run("merge p q -o m.ritz", 3).stderr
    assert "must be fitted with the same options on the same columns; received -k 2 and -k 1" in error
    assert "parameters" not in error


def test_a_report_of_a_tensor_names_entries_by_their_places(run, seed, tmp_path):
    np.save(tmp_path / "t.npy", np.random.default_rng(seed).standard_normal((12, 3, 4)))
    run("fit t.npy --method tucker -k 2,2,2 -o o -q")
    page = (tmp_path / "o" / "report.html").read_text("utf-8")
    assert "entry 3, 4" in page
    assert "column 11" not in page
