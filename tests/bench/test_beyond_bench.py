"""The bench of sources, parts and factors: its measures are right, and a library that is absent is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpmath")


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parent.parent.parent))


def test_the_discrepancy_is_that_of_the_model():
    from bench import factors

    X = factors.table(400, 8, 2)
    R, ridge = np.corrcoef(X.T), np.full(8, 1e-3)
    exact = factors.discrepancy(R, np.linalg.cholesky(R - np.diag(ridge)), ridge)
    assert exact == pytest.approx(0, abs=1e-9)
    fits, left = factors._likelihood(X, 2, None)
    found = {name: left(fit()) for name, fit in fits.items() if "tol" not in name}
    assert found["ritz FactorAnalysis"] <= found["scikit-learn"] + 1e-9


def test_adequacy_is_right_and_an_absent_library_is_named(monkeypatch, capsys):
    from bench import beyond, factors

    found = beyond.importlib.util.find_spec
    gone = {"factor_analyzer", "tensorly", "picard"}
    monkeypatch.setattr(beyond.importlib.util, "find_spec", lambda name: None if name in gone else found(name))
    monkeypatch.setattr(beyond, "parts", lambda quick: [])
    monkeypatch.setattr(beyond, "_warmed", lambda: None)
    beyond.main(["--quick"])
    shown = capsys.readouterr().out
    for name in gone:
        assert f"{name} is not installed: pip install" in shown
    factors.main(["--quick"])
    alone = capsys.readouterr().out
    assert "factor_analyzer is not installed: pip install" in alone
    for name in ("factors 500×12, 3", "ritz FactorAnalysis", "scikit-learn", "KMO and Bartlett", "ritz.insight"):
        assert name in alone
    X = np.round(64 * factors.table(300, 6, 2))
    fits, left = factors._measures(X, None)
    assert left(fits["ritz.insight"]()) < 1e-11
