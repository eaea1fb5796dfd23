"""``--missing drop`` is offered as it can be taken: a table that is read in pieces is told what memory loads it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ritz.cli.main import app

SMALL = "60MB"


def invoke(*args, code=0):
    result = CliRunner().invoke(app, [str(a) for a in args], env={"NO_COLOR": "1"})
    assert result.exit_code == code, (result.output, result.exception)
    return " ".join((result.stderr + result.stdout).split())


@pytest.fixture
def gaps(tmp_path, monkeypatch):
    """Files of numbers with gaps that 60 MB of memory do not load."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((220_000, 10))
    X[::1000, 3] = np.nan

    def written(ending: str) -> str:
        name = f"gaps.{ending}"
        if ending == "npy":
            np.save(name, X)
        elif ending == "parquet":
            pq.write_table(pa.table({f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(10)}), name)
        else:
            text = "\n".join(",".join("" if v != v else f"{v:.4f}" for v in row) for row in X.tolist())
            Path(name).write_text(",".join(f"x{j}" for j in range(10)) + "\n" + text + "\n")
        return name

    return written


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_the_memory_that_is_named_takes_the_option(gaps, ending):
    name = gaps(ending)
    told = invoke("fit", name, "-k", 2, "--memory", SMALL, "--no-report", code=3)
    offered = re.search(r"--missing drop leaves out those rows of a table in memory, which --memory (\S+) loads", told)
    assert offered, told
    invoke("fit", name, "-k", 2, "--memory", SMALL, "--missing", "drop", "--no-report", code=3)
    taken = invoke("fit", name, "-k", 2, "--memory", offered[1], "--missing", "drop", "--no-report")
    assert "220 of 220,000 rows left out" in taken


def test_a_refusal_names_that_memory_too(gaps):
    told = invoke("fit", gaps("npy"), "-k", 2, "--memory", SMALL, "--missing", "drop", "--no-report", code=3)
    assert "--missing drop needs the table in memory" in told
    assert "hint: --missing drop leaves out rows of a table in memory, which --memory 71.8MB loads" in told


def test_a_plan_offers_it_last_and_with_the_memory(gaps):
    told = invoke("plan", gaps("parquet"), "-k", 2, "--memory", SMALL)
    assert "in pieces" in told
    assert re.search(
        r"allowed by --missing mean, --missing em, --missing regularized, --missing drop of a table in memory, which "
        r"--memory \S+ loads",
        told,
    )


def test_a_table_in_memory_is_offered_it_as_before(gaps):
    told = invoke("fit", gaps("npy"), "-k", 2, "--no-report", code=3)
    assert "hint: --missing drop leaves out those rows, or let" in told
