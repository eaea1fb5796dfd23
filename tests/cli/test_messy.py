"""Tables as people have them: totals, columns that took no part, lines of text, numbers that are far too large."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def test_a_row_of_totals_is_told(run, seed):
    counts = np.random.default_rng(seed).integers(1, 40, (8, 4))
    lines = [f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(counts)]
    Path("plain.csv").write_text("what,a,b,c,d\n" + "\n".join(lines) + "\n")
    assert "sum of all rows" not in run("fit plain.csv --no-report").stderr
    total = "Total," + ",".join(map(str, counts.sum(axis=0)))
    Path("total.csv").write_text("what,a,b,c,d\n" + "\n".join([*lines, total]) + "\n")
    assert "warning: line 10 is the sum of all rows above it" in run("fit total.csv --no-report").stderr


def test_too_many_components_name_what_was_set_aside(run):
    Path("few.csv").write_text("a,b,c\n" + "".join(f"{i},7,{i * i % 5}\n" for i in range(15)))
    told = run("fit few.csv -k 2 --no-report", code=2).stderr
    assert (
        "hint: -k 1, or leave it out; columns set aside: a (an identifier: every row has its own); b (always 7)" in told
    )


def test_lines_of_text_name_the_method_for_them(run):
    Path("texts.csv").write_text("comment\n" + "".join(f"I like tea and walk number {i}\n" for i in range(9)))
    assert "lines of text are taken by --method lsi" in run("fit texts.csv", code=4).stderr
    run("fit texts.csv --method lsi -k 2 --no-report")


def test_numbers_beyond_squares_are_named_with_what_they_stand_beside(run):
    Path("huge.csv").write_text("a,b\n1e300,1\n2e300,2\n-1e300,5\n3e299,1\n")
    assert "2.8e+00 in column 'b' beside values of " in run("fit huge.csv", code=3).stderr


def test_another_file_is_not_shown_as_bytes(run):
    told = run("inspect WINE", code=4).stderr
    assert "begins with 'cultivar'" in told
