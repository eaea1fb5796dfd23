"""Whole numbers may be counts, codes or measurements: the summary names the other reading where there is one.

Every mention is pasted and works; tables of measurements, of numbers with decimals or below zero get no mention.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest


def written(name, columns, rows=()):
    """A file of columns, by name; ``rows`` are names of rows."""
    head = [*(["place"] if len(rows) else []), *columns]
    body = zip(*([rows] if len(rows) else []), *columns.values(), strict=True)
    lines = [",".join(head), *(",".join(str(value) for value in line) for line in body)]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def told(run, name, more=""):
    return json.loads(run(f"fit {name} --no-report --json --force {more}").stdout)


COUNTS = "if they are counts, --method ca"


def test_counts_without_names_of_rows_mention_ca(run, seed):
    """As authors by letters: larger whole numbers, rows without names."""
    rng = np.random.default_rng(seed)
    written("letters.csv", {f"l{j}": rng.poisson(80 * rng.uniform(0.5, 2), 12) for j in range(5)})
    facts = told(run, "letters.csv")
    assert facts["method"] == "pca"
    assert COUNTS in facts["method_reason"]
    assert "--categorical" not in facts["method_reason"]
    assert told(run, "letters.csv", "--method ca")["method"] == "ca"


def test_counts_with_names_of_rows_are_a_table_of_counts_and_mention_pca(run, seed):
    """As mortality by cause and age: rows named, totals of one order."""
    rng = np.random.default_rng(seed)
    names = [f"cause {i}" for i in range(9)]
    written("deaths.csv", {f"age{j}": rng.poisson(40 * (j + 1), 9) for j in range(4)}, names)
    facts = told(run, "deaths.csv")
    assert facts["method"] == "ca"
    assert "--method pca takes them as measurements" in facts["method_reason"]
    assert told(run, "deaths.csv", "--method pca")["method"] == "pca"


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5), (0, 1), tuple(range(11))])
def test_codes_mention_categories_and_the_mention_can_be_pasted(run, seed, values):
    rng = np.random.default_rng(seed)
    columns = {f"q {j}": rng.permutation(np.resize(values, 120)) for j in range(4)}
    written("asked.csv", columns)
    facts = told(run, "asked.csv")
    assert facts["method"] == "pca"
    option = re.search(r"if they are codes, (--categorical \S+)", facts["method_reason"])[1]
    assert option == "--categorical all"
    assert COUNTS not in facts["method_reason"]
    assert told(run, "asked.csv", option)["method"] == "mca"


def test_some_codes_are_named_in_quotes_that_a_shell_takes(run, seed):
    rng = np.random.default_rng(seed)
    codes = {name: rng.permutation(np.resize(np.arange(k), 90)) for name, k in (("my sex", 2), ("school", 3))}
    columns = {"income": rng.normal(2e3, 300, 90).round(2), "age": rng.normal(40, 9, 90).round(1), **codes}
    written("mixed.csv", columns)
    reason = told(run, "mixed.csv")["method_reason"]
    words = shlex.split(re.search(r"if they are codes, (--categorical .*?)(?:;|$)", reason)[1])
    assert words == ["--categorical", "my sex,school"]
    from typer.testing import CliRunner

    from ritz.cli.main import app

    again = CliRunner().invoke(app, ["fit", "mixed.csv", "--no-report", "--json", "--force", *words])
    assert json.loads(again.stdout)["method"] == "famd"


MEASURED = {
    "decimals": lambda rng: {f"x{j}": rng.normal(5, 1, 40).round(2) for j in range(4)},
    "written with a point": lambda rng: {f"x{j}": [f"{v}.0" for v in rng.integers(1, 6, 60)] for j in range(4)},
    "below zero": lambda rng: {f"x{j}": rng.integers(-20, 20, 40) for j in range(4)},
    "two columns": lambda rng: {f"x{j}": rng.integers(20, 90, 40) for j in range(2)},
    "few rows for each value": lambda rng: {f"x{j}": rng.permutation(np.arange(8)) for j in range(2)},
}  # fmt: skip


@pytest.mark.parametrize("kind", MEASURED)
def test_measurements_are_left_in_peace(run, seed, kind):
    written("m.csv", MEASURED[kind](np.random.default_rng(seed)))
    facts = told(run, "m.csv")
    assert facts["method"] == "pca"
    assert "--method ca" not in facts["method_reason"]
    assert "--categorical" not in facts["method_reason"]


@pytest.mark.parametrize(("option", "used"), [("all", 5), ("q1..q3", 3), ("q*", 3), ("q?", 3)])
def test_all_ranges_and_wildcards(run, seed, option, used):
    rng = np.random.default_rng(seed)
    columns = {f"q{j}": rng.permutation(np.resize((1, 2, 3), 60)) for j in (1, 2, 3)}
    columns |= {name: rng.permutation(np.resize((1, 2), 60)) for name in ("sex", "edu")}
    written("codes.csv", columns)
    facts = told(run, "codes.csv", f"--categorical {option}")
    assert facts["method"] == ("mca" if used == 5 else "famd")
    levels = {name.split("=")[0] for name in _labels("codes_ritz/components.csv") if "=" in name}
    assert len(levels) == used


def _labels(path):
    return [line.split(",")[0] for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]]
