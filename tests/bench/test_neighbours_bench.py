"""The tables of neighbours run, and every exact search beside Ritz's finds the same rows where it can."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_quick_tables(capsys):
    from bench.neighbours import main

    assert main(["--quick"]) == 0
    out = capsys.readouterr().out
    plain, far = out.split("mean 1e8")
    recalls = {line[:26].strip(): float(line.split()[-1]) for line in plain.split("Gauss")[1].splitlines()[2:5]}
    assert recalls["ritz, exact with proof"] == recalls["scikit-learn, brute"] == 1.0
    lost = next(line for line in far.splitlines() if line.startswith("scikit-learn, brute"))
    assert float(lost.split()[-1]) < 0.1  # products of rows at a mean of 1e8 have no digits left
    values = [line.split()[-1] for line in out.splitlines() if "trustworthiness" in line or "embedding_quality" in line]
    assert values[0] == values[1]
