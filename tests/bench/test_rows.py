"""The bench of common fits runs: a line a peer, with its ratio."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_line_a_peer(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.rows import main, rows

    assert main(["--quick", "--only", "iris", "--seconds", "0"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2
    assert told[1].startswith("PCA(2), 150×4")
    assert "scikit-learn" in told[1]
    assert len(rows(quick=False)) > len(rows(quick=True))
