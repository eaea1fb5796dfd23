"""The commands of "R, task by task" give R's numbers: those on the page, and all eigenvalues of the reference files."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ritz.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## … R, task by task")[2].partition("\n## ")[0]
#: The data set of a task, and R's results.
RESULTS = {
    "decathlon": "decathlon/factominer_PCA", "how many axes": "decathlon/factominer_estim_ncp",
    "USArrests": "usarrests/factominer_PCA", "tea": "tea/factominer_MCA", "poison": "poison/factominer_MCA",
    "housetasks": "housetasks/factominer_CA", "children": "children/factominer_CA",
    "wine, all columns": "wine/factominer_FAMD", "wine, groups": "wine/factominer_MFA", "iris": "iris/factominer_FAMD",
}  # fmt: skip
TASKS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SECTION.splitlines()
    if line.startswith("| ") and not line.startswith(("| what", "|---"))
]

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the reference data are not beside the checkout"),
]


def invoked(line):
    done = CliRunner().invoke(app, shlex.split(line)[1:], env={"NO_COLOR": "1"}, prog_name="ritz")
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in sorted({path.split("/")[0] for path in RESULTS.values()}):
        shutil.copy(SHARED / name / "data.csv", f"{name}.csv")
    lines = Path("children.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("active.csv").write_text("".join(lines[:15]), encoding="utf-8")
    Path("others.csv").write_text(lines[0] + "".join(lines[-4:]), encoding="utf-8")
    return tmp_path


def test_there_are_ten_tasks():
    assert {task[0] for task in TASKS} == set(RESULTS)
    assert len(TASKS) == 10


@pytest.mark.parametrize("task", TASKS, ids=[task[0] for task in TASKS])
def test_a_task_gives_the_numbers_of_r(task, place):
    what, _, command, numbers = task
    line = re.findall(r"`(ritz [^`]*)`", command)[0]
    result = json.loads((SHARED / f"{RESULTS[what]}.json").read_text(encoding="utf-8"))
    shown = [float(text) for text in numbers.split(", ")]
    if " rank " in line:
        found = json.loads(invoked(f"{line} --json"))["consensus"]
        assert [found] == shown == [result["GCV"]["ncp"]]
        return
    facts = json.loads(invoked(f"{line} --no-report --json"))
    shares = 100 * np.array([item["share"] for item in facts["components"]])
    truth = np.array(result["eig"]["values"], float)[:, 1]
    many = min(len(shares), len(truth))
    np.testing.assert_allclose(shares[:many], truth[:many], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(shares[:3], shown, atol=6e-4)


def test_what_took_no_part_lies_where_r_puts_it(place):
    invoked("ritz fit active.csv --method ca --supplementary thirty..more_fifty --no-report -q")
    rows = [line.split(",") for line in invoked("ritz transform active_ritz others.csv").splitlines()[1:]]
    truth = json.loads((SHARED / "children/factominer_CA.json").read_text(encoding="utf-8"))["row_sup"]["coord"]
    found, expected = np.array([row[1:4] for row in rows], float), np.array(truth["values"], float)[:, :3]
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-8)
    assert "0.2097 and 0.7032" in SECTION
    np.testing.assert_allclose(np.abs(found[0, :2]), [0.2097, 0.7032], atol=6e-5)
    invoked("ritz fit decathlon.csv --scale --supplementary Rank,Points,Competition --no-report -q")
    lines = Path("decathlon_ritz/supplementary.csv").read_text(encoding="utf-8").splitlines()
    points = next(line.split(",") for line in lines if line.startswith('"Points","correlation"'))
    assert abs(abs(float(points[2])) - 0.9562) < 6e-5
