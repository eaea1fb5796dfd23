"""The bench of ordinary calls runs: a line a peer, whose answers agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(("word", "lines"), [("wine", 2), ("wider", 1)])
def test_a_line_a_peer_and_answers_that_agree(word, lines, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.calls import calls, main

    assert word in calls()
    assert main(["--only", word, "--seconds", "0"]) == 0
    told = capsys.readouterr().out.splitlines()[1:]
    assert len(told) == lines
    for line in told:
        assert float(re.search(r"apart (\S+)", line)[1]) < 1e-10
