"""The command line called inside this process, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import ritz
from ritz.cli.main import app

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """``run("fit WINE -k 2", code=0)``; WINE is the sample table, EMPTY a word without letters."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(line, code=0):
        args = [{"WINE": str(WINE), "EMPTY": ""}.get(word, word) for word in line.split()]
        result = CliRunner().invoke(app, args)
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    return call
