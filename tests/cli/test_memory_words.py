"""Memory limits: scores keep them or are refused, and what an error says would do does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import ritz
from ritz.cli.main import app

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*args, code=0):
        result = CliRunner().invoke(app, [str(word) for word in args])
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    return call


def would_do(result) -> str:
    return re.search(r"hint: (?:allow )?--memory (\S+) (?:or more|would do)", result.stderr)[1]


def answers(n=300):
    rows = np.random.default_rng(0).choice(list("abc"), (n, 4))
    Path("answers.csv").write_text("p,q,r,s\n" + "\n".join(",".join(row) for row in rows) + "\n")
    return "answers.csv"


@pytest.mark.parametrize("name", ["wine", "numbers", "answers"])
def test_a_limit_holds_or_raises_for_scores_too(run, name):
    if name == "numbers":
        np.save("numbers.npy", np.random.default_rng(0).normal(size=(4000, 30)))
    table = {"wine": WINE, "numbers": "numbers.npy"}.get(name) or answers()
    run("fit", table, "-k", 2, "--no-report", "-q", "-o", "m")
    refused = run("transform", "m", table, "-o", "z.npy", "--memory", "1kB", code=3)
    assert "error: the scores must be written within --memory 1 kB; received rows that take at least" in refused.stderr
    assert not Path("z.npy").exists()
    run("transform", "m", table, "-o", "z.npy", "--memory", would_do(refused))
    run("transform", "m", table, "-o", "free.npy")
    np.testing.assert_allclose(np.load("z.npy"), np.load("free.npy"), atol=1e-12)


def test_transform_to_keeps_the_limit_of_its_model(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(4000, 30)))
    model = ritz.PCA(2).fit(ritz.read(tmp_path / "x.npy")).set_params(memory="100kB")
    with pytest.raises(ritz.MemoryLimitError, match=r"(?s)the scores must be written.*hint: allow memory='"):
        model.transform_to(ritz.read(tmp_path / "x.npy", memory="100kB"), tmp_path / "z.npy")
    assert not (tmp_path / "z.npy").exists()


@pytest.mark.parametrize("shape", [(178, 13), (600, 200)])
def test_what_would_do_is_little_for_small_tables(run, shape):
    np.savetxt("t.csv", np.random.default_rng(0).normal(size=shape), delimiter=",", fmt="%.4f")
    refused = run("fit", "t.csv", "--no-report", "-q", "--memory", "1kB", code=3)
    least = would_do(refused)
    assert float(least.removesuffix("MB")) <= 20
    run("fit", "t.csv", "--no-report", "-q", "--memory", least)


def test_long_lines_name_a_sum_that_holds_their_columns_too(run):
    rows = np.random.default_rng(0).random((12, 4_000))
    heads = ",".join(f"x{j}" for j in range(4_000))
    Path("wide.csv").write_text(heads + "\n" + "\n".join(",".join(f"{x:.4f}" for x in row) for row in rows) + "\n")
    least = would_do(run("plan", "wide.csv", "--memory", "1MB", code=3))
    run("plan", "wide.csv", "--memory", least)


@pytest.mark.parametrize(("memory", "kept"), [("170MB", False), ("2GB", True)])
def test_no_state_is_formed_that_the_limit_does_not_hold(run, memory, kept):
    """A d×d state for ``ritz merge`` was formed behind the fit, whatever the limit was."""
    rng = np.random.default_rng(0)
    X = sp.random_array((20_000, 1_990), density=0.02, format="csr", rng=rng)
    sp.save_npz("s.npz", X)
    words = ["s.npz", "--memory", memory, "-k", "2", "--no-scale"]
    run("fit", *words, "--no-report", "--scores", "none", "-o", "out", "--json")
    model = ritz.load("out/model.ritz")
    assert (model._record.state is not None) == kept
    planned = json.loads(run("plan", *words, "--json").stdout)
    assert planned["solver"] == model.plan_.solver
