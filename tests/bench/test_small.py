"""The bench of small tables runs: who was measured, that all answers agree, and what is printed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize(("n", "d", "k"), [(150, 4, 2), (12, 30, None)])
def test_every_library_gives_the_same_variances(n, d, k):
    from bench.small import measure

    found = {(what, who): (cost, error) for what, who, _, cost, error in measure(n, d, k, "float64", 0.0)}
    whats = {what for what, _ in found}
    assert whats == {"fit", "transform", "one row", "pickle"}
    assert all(cost > 0 for cost, _ in found.values())
    assert found["fit", "ritz"][1] < 1e-9
    assert found["fit", "scikit-learn"][1] < 1e-9
    assert found["fit", "as accurate"][1] < 1e-9
    assert math.isnan(found["pickle", "ritz"][1])


def test_ratios_are_told(capsys):
    from bench.small import main

    main(["--seconds", "0", "--only", "150x4"])
    told = capsys.readouterr().out
    assert told.count("150×4, 2") >= 16
    assert "geometric mean of 2 fit ratios to scikit-learn" in told
