"""Realistic uses of the command line read as they were recorded; ``python tests/cli/transcripts.py`` shows the rest."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("transcripts", Path(__file__).with_name("transcripts.py"))
transcripts = importlib.util.module_from_spec(spec)
sys.modules["transcripts"] = transcripts
spec.loader.exec_module(transcripts)


@pytest.mark.parametrize("name", transcripts.CASES)
def test_the_transcript_is_as_recorded(name, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    recorded = (transcripts.GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert transcripts.transcript(name, tmp_path) == recorded


def test_every_transcript_has_its_case():
    assert sorted(path.stem for path in transcripts.GOLDEN.glob("*.txt")) == sorted(transcripts.CASES)


def test_no_transcript_shows_a_defect():
    for path in transcripts.GOLDEN.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert "Traceback" not in text
        assert "[exit code 1]" not in text
        assert text.count("[exit code") == text.count("\nerror: ") + text.startswith("error: ")
