"""Standard output that cannot be written: one sentence, the right exit code, and whether the files are complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ritz
from tests import program

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"
FULL = """
import os, sys
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
from ritz.cli.main import main; main()
"""
CLOSED = """
import os, sys
sys.stdout = None
from ritz.cli.main import main; main()
"""
pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    done = program.ritz("fit", WINE, "-k", 2, "--no-report", "-q", "-o", "model", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "transform model WINE",
        "inverse model model/scores.csv",
        "inspect model",
        "inspect model --json",
        "plan WINE",
        "rank WINE --criteria kaiser --json",
        "doctor",
        "--version",
        "--help",
        "fit --help",
    ],
)
@pytest.mark.parametrize(("how", "why"), [(FULL, "No space left on device"), (CLOSED, "Bad file descriptor")])
def test_an_answer_that_cannot_be_written_is_an_error_of_files(folder, command, how, why):
    done = program.python(how, *command.replace("WINE", str(WINE)).split(), cwd=folder)
    assert done.returncode == 4
    first, hint = done.stderr.splitlines()
    assert first == f"error: standard output could not be written: {why}"
    assert hint == "hint: send standard output to a file or a program that can take it"


@pytest.mark.parametrize(
    ("command", "wrote"),
    [
        ("fit WINE -k 2 --no-report --json -o out/full", "out/full"),
        ("transform model WINE --json -o z.csv", "z.csv"),
        ("inverse model model/scores.csv --json -o rows.csv", "rows.csv"),
        ("merge model --json -o m.ritz", "m.ritz"),
        ("export model --json -o model.sql", "model.sql"),
    ],
)
def test_files_that_are_complete_are_named(folder, command, wrote):
    done = program.python(FULL, *command.replace("WINE", str(WINE)).split(), cwd=folder)
    assert done.returncode == 4
    words = f"error: standard output could not be written: No space left on device; {wrote} is complete\n"
    assert done.stderr.startswith(words)
    assert done.stderr.count("\n") == 2
    assert (folder / wrote).exists()


def test_a_first_error_is_not_hidden_by_the_second(folder):
    done = program.python(FULL, "fit", "--nope", "--json", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no such option: --nope\nhint: ")
    done = program.python(FULL, "inspect", "absent", "--json", cwd=folder)
    assert done.returncode == 4
    assert done.stderr.startswith("error: there is no model at absent\nhint: ")
    assert done.stderr.count("\n") == 2


def test_what_prints_nothing_needs_no_standard_output(folder):
    for how in (FULL, CLOSED):
        done = program.python(how, "fit", WINE, "-k", 2, "--no-report", "-q", "-o", "quiet", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((folder / "quiet/manifest.json").read_text())["rows"] == 178
