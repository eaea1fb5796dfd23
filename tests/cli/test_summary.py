"""Numbers in words: summaries that agree with themselves, counts of one, and models that are named twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ritz
from tests.program import heed_ctrl_c

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


def test_all_components_are_not_the_first_ones(run):
    rng = np.random.default_rng(0)
    for name, columns in (("all", 10), ("first", 11)):  # three levels each: two axes a column
        rows = rng.choice(list("abc"), (200, columns))
        heads = ",".join(f"q{j}" for j in range(columns))
        Path(f"{name}.csv").write_text(f"{heads}\n" + "\n".join(",".join(row) for row in rows) + "\n")
    stderr = run("fit all.csv --no-report").stderr
    assert "all.csv: 200 rows, 10 columns, all 20 components\n" in stderr
    assert "the first 20" not in stderr
    stderr = run("fit first.csv --no-report").stderr
    assert "first.csv: 200 rows, 11 columns, 20 of 22 components\n" in stderr
    assert "components   the first 20, as -k was not given" in stderr


def test_counts_of_one(run):
    Path("two.csv").write_text("x,y\n1,2\n3,5\n")
    Path("one.csv").write_text("x\n1\n3\n7\n")
    stderr = run("fit two.csv -k 2 --no-report").stderr
    assert stderr.startswith("two.csv: 2 rows, 2 columns, 2 components, of which 1 can vary\n")
    assert "components   the one direction that 2 rows have\n" in run("fit two.csv --no-report").stderr
    words = "error: -k 3 must be 1; received 3 for 3 rows and 1 column\nhint: -k 1, or leave it out\n"
    assert run("fit one.csv -k 3", 2).stderr == words
    assert run("fit one.csv -k 1.5", 2).stderr.endswith(
        "hint: write -k 1 or -k 2 for so many components, or a share below 1\n"
    )
    assert run("fit one.csv -k 90.5", 2).stderr.endswith("hint: write 0.905 or 90.5%\n")


def test_a_model_that_is_merged_with_itself_is_spoken_of(run):
    run("fit WINE -k 2 --no-report -q -o a")
    run("fit WINE -k 2 --no-report -q -o b")
    Path("half.csv").write_text("".join(WINE.read_text().splitlines(keepends=True)[:90]))
    run("fit half.csv -k 2 --scale --no-report -q -o half")
    result = run("merge a half b -o m.ritz")
    assert result.stderr.startswith("warning: a/model.ritz and b/model.ritz hold the same sums, so they are probably")
    assert "warning" not in run("merge a half -o n.ritz").stderr


def test_rows_are_not_called_scores(run):
    run("fit WINE -k 2 --no-report -q -o a")
    Path("z.csv").write_bytes(Path("a/scores.csv").read_bytes())
    stderr = run("inverse a z.csv -o z.csv --force", 4).stderr
    assert stderr == "error: expected another file than one that is read; received z.csv\nhint: write to z_new.csv\n"


# Signals while the libraries of the command line are loaded: the process sends them to itself in the middle of it.
EARLY = """
import builtins, os, signal, sys
real = builtins.__import__
def imported(name, *rest, **more):
    if name == "typer":
        builtins.__import__ = real
        os.kill(os.getpid(), int(sys.argv[1]))
    return real(name, *rest, **more)
builtins.__import__ = imported
from ritz.cli.entry import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "stopped by the keyboard"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
def test_signals_at_the_very_start(number, code, words):
    command = [sys.executable, "-c", EARLY, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=heed_ctrl_c)
    assert (done.returncode, done.stderr) == (code, f"cancelled: {words}\n")
