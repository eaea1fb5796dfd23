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


def test_the_tables_of_a_small_collection(monkeypatch, capsys, tmp_path):
    from bench import text_speed

    monkeypatch.setattr(text_speed, "K", 8)
    monkeypatch.setattr(text_speed, "SMALL", (2_000, 500, 30))
    few = [one for one in text_speed.systems() if "gensim" not in one.name]
    monkeypatch.setattr(text_speed, "systems", lambda: few)
    asked = ["--cases", "generated", "--repeat", "1", "--keep", str(tmp_path / "runs.json")]
    assert text_speed.main(asked) == 0
    out = capsys.readouterr().out
    runs = [line.split() for line in out.splitlines() if line.startswith("  Ritz")]
    tried = [float(run[1]) for run in runs]
    assert tried[0] == 1e-6
    assert len(set(tried)) == len(tried) > 2
    assert set(tried) <= set(text_speed.LADDER)
    assert float(runs[0][-2]) < 1e-9
    assert "geometric mean of 2 ratios at equal or better singular values" in out
    monkeypatch.setattr(text_speed, "corpus", None)  # nothing is made again
    assert text_speed.main(asked) == 0
    tables = [[line for line in text.splitlines() if line.startswith("  ")] for text in (out, capsys.readouterr().out)]
    assert tables[0] == tables[1]


def test_a_peer_is_compared_with_ritz_by_the_loosest_tolerance_that_is_as_good(capsys):
    from bench.text_speed import LADDER, Run, compared

    def ours(tol: float) -> Run:  # the error is that of a square, the time that of its digits
        return Run(tol, 1.0 - np.log10(tol), tol**2, 0.0)

    peers = {
        "exact": [Run(0, 12.0, 0.0, 0.0)],
        "coarse": [Run(5, 6.0, 1.1e-2, 0.0), Run(10, 9.0, 1e-4, 0.0)],
        "as good": [Run(0, 6.0, 1e-6, 0.0)],
        "endless": [Run(2, 70.0, np.inf, np.inf)],
    }
    assert compared(ours, peers) == pytest.approx([12 / 6, 6 / 2, 6 / 4, 70 / 7])
    out = capsys.readouterr().out
    assert "3.0 times at an error of 1e-02 (tol=0.1), 3.0 times at an error of 1e-04 (tol=0.01)" in out
    assert "more than 10.0 times without coming to an end (tol=1e-06)" in out
    assert LADDER[-1] == 1e-6
    usual = lambda tol: Run(tol, 2.0 if tol == 1e-6 else 3.0, tol**2, 0.0)  # noqa: E731  the default is the quickest
    assert compared(usual, {"coarse": [Run(5, 6.0, 1.1e-2, 0.0)]}) == [3.0]


def test_what_takes_too_long_is_stopped():
    from bench.text_speed import Stopped, limited

    def endless() -> None:
        while True:
            pass

    with pytest.raises(Stopped), limited(0.05, wall=True):
        endless()
    with limited(10.0, wall=True):
        pass
