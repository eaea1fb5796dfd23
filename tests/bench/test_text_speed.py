"""The bench of topics runs on a small table, and says of every system how good its singular values are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_a_generated_collection_has_words_by_their_rank():
    from bench.text_speed import corpus

    W = corpus(25_000, 3_000, 40, subjects=20)
    assert W.shape == (25_000, 3_000)
    assert 20 <= W.nnz / 25_000 <= 40
    np.testing.assert_allclose(np.sqrt(W.multiply(W).sum(axis=1)), 1.0, rtol=1e-12)
    df = np.sort(np.bincount(W.indices, minlength=3_000))[::-1]
    assert df[0] > 0.2 * 25_000  # as "the" does
    assert df[1_500] < 0.02 * 25_000


def test_the_tables_of_a_small_collection(monkeypatch, capsys):
    from bench import text_speed

    monkeypatch.setattr(text_speed, "K", 8)
    monkeypatch.setattr(text_speed, "SMALL", (2_000, 500, 30))
    few = [one for one in text_speed.systems() if "gensim" not in one.name]
    monkeypatch.setattr(text_speed, "systems", lambda: few)
    assert text_speed.main(["--cases", "generated", "--repeat", "1"]) == 0
    out = capsys.readouterr().out
    lines = {line[2:30].strip(): line.split() for line in out.splitlines() if "1e-06" in line or "arpack  " in line}
    assert float(lines["Ritz"][-2]) < 1e-9
    assert "geometric mean of 2 ratios" in out
    assert "as it comes" in out
