"""No name, path, level, or word of a foreign error steers a terminal: errors, warnings and answers of every command."""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ritz
from ritz._core.container import read_container, write_container
from ritz.cli.main import app
from tests import program

HOSTILE = [
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "over\rwritten",
    "\x9b31m",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\x08\x7f",
    "\u2028",
]
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def quiet(answer):
    """Nothing in stdout or stderr steers a terminal, and nothing is a traceback."""
    found = STEERING.search(answer.stdout + answer.stderr)
    assert found is None, (found, answer.stdout + answer.stderr)
    assert "Traceback" not in answer.stderr
    return answer


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_of_columns_files_and_options(place):
    evil = "".join(HOSTILE[:1] + HOSTILE[3:5])
    X = np.random.default_rng(0).standard_normal((30, 3)) * [5, 2, 1]
    frame = pd.DataFrame(X, columns=[evil, "b", f"c{evil}"]).assign(level=[f"l{evil}{i % 3}" for i in range(30)])
    table, model = f"t{evil}.csv", f"m{evil}"
    frame.to_csv(table, index=False)
    assert quiet(call("fit", table, "-k", 2, "--no-report", "-o", model)).exit_code == 0
    for words in (
        ["inspect", model], ["inspect", model, "--json"], ["verify", model, table],
        ["rank", table, "--criteria", "kaiser"],
        ["plan", table], ["compare", model, model], ["transform", model, table, "-o", f"z{evil}.csv"],
        ["report", model, table, "-o", f"r{evil}.html"], ["export", model, "--to", "sql", "-o", f"e{evil}.sql"],
        ["merge", model, model, "-o", f"m{evil}.ritz"],
    ):  # fmt: skip
        answer = quiet(call(*words))
        assert answer.exit_code in (0, 3, 5), answer.stderr
    for words in (
        ["fit", f"absent{evil}.csv"], ["fit", table, "--columns", evil * 2], ["fit", table, "--drop", f"no{evil}"],
        ["fit", table, "--solver", evil], ["fit", table, "--method", evil], ["fit", table, "-k", evil], [evil],
        ["fit", table, f"--{evil}"], ["transform", f"absent{evil}", table], ["inverse", model, table],
        ["transform", table, table], ["transform", model, table, "-o", f"z{evil}.xyz"],
        ["merge", model, table, "-o", "x"],
        ["transform", model, table, "-o", f"z{evil}.csv"], ["compare", model, f"absent{evil}"],
        ["report", model, f"absent{evil}"], ["verify", model, f"absent{evil}"], ["export", model, "--to", evil],
        ["fit", table, "--debug", "--columns", evil * 2], ["fit", table, "--json", "--columns", evil * 2],
        ["fit", table, "--memory", evil], ["fit", table, "--encoding", evil], ["fit", table, "-o", table],
    ):  # fmt: skip
        text = call(*words)
        assert text.exit_code != 0, words
        assert STEERING.search(text.stdout + text.stderr) is None, words


@pytest.mark.parametrize("hostile", ["".join(one for one in HOSTILE if "\r" not in one)])
def test_new_rows_and_their_levels(place, hostile):
    words = [["u", "v", "w"][i % 3] for i in range(30)]
    frame = pd.DataFrame({"a": words, "b": words[::-1], "c": [words[i * 7 % 30] for i in range(30)]})
    frame.to_csv("t.csv", index=False)
    assert call("fit", "t.csv", "--method", "mca", "-k", 2, "--no-report", "-q").exit_code == 0
    frame.assign(a=hostile).to_csv("new.csv", index=False)
    assert quiet(call("transform", "t_ritz", "new.csv", "-o", "z.csv")).exit_code == 3
    frame.rename(columns={"a": hostile}).to_csv("other.csv", index=False)
    assert quiet(call("transform", "t_ritz", "other.csv", "-o", "z.csv")).exit_code == 3
    pd.DataFrame({hostile: [1.0], f"y{hostile}": [2.0]}).to_csv("scores.csv", index=False)
    quiet(call("inverse", "t_ritz", "scores.csv", "-o", "y.csv"))


@pytest.mark.parametrize("hostile", ["".join(HOSTILE), "\x1b[2J"])
def test_words_in_a_model_file(place, hostile):
    """What a hostile file says of itself reaches nobody's terminal as it is, in Python neither."""
    ritz.save(ritz.PCA(2).fit(np.random.default_rng(0).standard_normal((20, 3))), "m.ritz")
    header, arrays = read_container("m.ritz", "model")
    changes = [({**header, key: hostile}, arrays) for key in header]
    changes += [({**header, hostile: hostile}, arrays), (header, {**arrays, f"fitted.{hostile}": np.arange(3.0)})]
    changes += [(header, {(hostile if i == 0 else name): a for i, (name, a) in enumerate(arrays.items())})]
    for changed, held in changes:
        write_container("x.ritz", "model", changed, held)
        for words in (["inspect", "x.ritz"], ["transform", "x.ritz", "m.ritz"], ["compare", "x.ritz", "m.ritz"]):
            quiet(call(*words))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            said = _loading("x.ritz")
        assert not any(STEERING.search(str(text)) for text in (said, *(one.message for one in caught)))
    write_container("k.ritz", hostile, header, arrays)
    quiet(call("inspect", "k.ritz"))


def _loading(path):
    """What ``ritz.load`` says of a file."""
    try:
        ritz.load(path)
    except ritz.RitzError as error:
        return str(error)
    return ""


def test_warnings_of_ritz_are_safe_and_json_reads_back(place):
    assert str(ritz.ColumnsSetAside("a \x1b[2J")) == "a \\x1b[2J"
    name = "".join(HOSTILE)
    X = np.random.default_rng(0).standard_normal((30, 2))
    pd.DataFrame(X, columns=["a" + name.replace("\r", ""), "b"]).to_csv("t.csv", index=False)
    answer = quiet(call("fit", "t.csv", "-k", 1, "--no-report", "--json"))
    assert json.loads(answer.stdout)["columns"][0].startswith("a\x1b[2J")


def test_a_summary_on_a_terminal_has_no_codes_but_those_of_rich():
    import io

    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from ritz.cli.terminal.console import put

    screen = io.StringIO()
    grid = Grid.grid()
    grid.add_row("name", Text("x\x1b[8mhidden\x9b"), style="bold")
    put(Console(file=screen, force_terminal=True, color_system="standard", width=80), Text("a\r\u202eb", "red"), grid)
    text = screen.getvalue()
    assert "\x1b[31ma\\u202eb" in text  # rich leaves out the carriage return by itself
    assert "x\\x1b[8mhidden\\x9b" in text
    assert STEERING.search(re.sub(r"\x1b\[[0-9;]*m", "", text)) is None
    assert "\x1b[8m" not in text


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_rows_on_a_terminal(place):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((12, 2)), columns=["a", "b"])
    frame.insert(0, "who", [f"w{i}\x1b[2J\u202e" for i in range(12)])
    frame.to_csv("t.csv", index=False)
    assert call("fit", "t.csv", "-k", 1, "--no-report", "-q").exit_code == 0
    to_pipe = call("transform", "t_ritz", "t.csv", "--id", "who").stdout
    assert "w0\x1b[2J\u202e" in to_pipe, "the next program gets what the table holds"
    code, shown = program.on_terminal("transform", "t_ritz", "t.csv", "--id", "who", cwd=Path.cwd(), env=os.environ)
    assert code == 0
    assert "w0\\x1b[2J\\u202e" in shown
    assert "\x1b" not in shown
