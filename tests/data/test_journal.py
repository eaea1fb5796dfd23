"""A fit that was broken off goes on from its journal: same bits, less reading."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz
from ritz._core.journal import Journal, journaling
from ritz.data.engines.stream.blocks import StreamBlocks
from tests.data.test_stream import ArraySource, spectrum


def fit(source, solver="auto", **parameters):
    blocks = StreamBlocks(source)
    blocks.batch = blocks.rows = 50
    return ritz.PCA(3, solver=solver, **parameters).fit(blocks)


@pytest.mark.parametrize("solver", ["moments", "krylov", "lanczos"])
@pytest.mark.parametrize("share", [0.3, 0.9, 1.7])
def test_resumed_fit_is_the_same_and_reads_less(tmp_path, solver, share):
    X = spectrum(4000, 12)
    cuts = list(range(200, 4000, 200))
    whole = ArraySource(X, cuts)
    expected = fit(whole, solver)
    if share >= 1 and solver == "moments":
        share = 0.6
    broken = ArraySource(X, cuts, fail_at=int(share * 4000))
    with pytest.raises(KeyboardInterrupt), journaling(tmp_path / "j", {"fit": 1}, every=0.0):
        fit(broken, solver)
    again = ArraySource(X, cuts)
    with journaling(tmp_path / "j", {"fit": 1}, every=0.0) as journal:
        resumed = fit(again, solver)
    assert np.array_equal(resumed.components_, expected.components_)
    assert np.array_equal(resumed.explained_variance_, expected.explained_variance_)
    assert again.read <= whole.read - 0.3 * share * 4000
    assert journal.reused == (int(share) if solver != "moments" else 0)
    assert not (tmp_path / "j").exists(), "the journal is removed when the fit is done"


def test_a_journal_of_another_fit_is_not_used(tmp_path):
    X = spectrum(1000, 5)
    with pytest.raises(KeyboardInterrupt), journaling(tmp_path / "j", {"data": "a", "k": 3}, every=0.0):
        fit(ArraySource(X, [500], fail_at=400))
    source = ArraySource(X + 1, [500])
    with (
        pytest.warns(ritz.JournalIgnored, match="belongs to another fit .different data.; starting"),
        journaling(tmp_path / "j", {"data": "b", "k": 3}, every=0.0),
    ):
        model = fit(source)
    assert source.read >= 1000
    assert np.allclose(model.mean_, (X + 1).mean(axis=0))


def test_a_damaged_journal_is_read_as_far_as_it_is_sound(tmp_path):
    X = spectrum(1000, 5)
    with pytest.raises(KeyboardInterrupt), journaling(tmp_path / "j", {"k": 3}, every=0.0):
        fit(ArraySource(X, [500], fail_at=900))
    for file in (tmp_path / "j").glob("pass-*"):
        file.write_bytes(file.read_bytes()[:-7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with journaling(tmp_path / "j", {"k": 3}, every=0.0):
            model = fit(ArraySource(X, [500]))
    assert np.array_equal(model.components_, fit(ArraySource(X, [500])).components_)


def test_lanes_write_only_now_and_then(tmp_path):
    journal = Journal(tmp_path / "j", {}, every=1000.0)
    keeper = journal.keeper(0, 0, "label")
    assert not keeper.due()
    assert keeper.restore() is None
    keeper.save(7, {"m": np.arange(3.0), "blocks": 2})
    row, state = keeper.restore()
    assert row == 7
    assert state["blocks"] == 2
    assert state["m"].tolist() == [0, 1, 2]
    assert journal.keeper(0, 0, "another").restore() is None


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_sums_of_rows_that_are_not_finite_are_not_kept(tmp_path, wrong):
    journal = Journal(tmp_path / "j", {}, every=0.0)
    journal.finish(0, "label", {"m": np.arange(3.0), "mass": wrong})
    assert journal.finished(0, "label") is None
    keeper = journal.keeper(1, 0, "label")
    keeper.save(7, {"m": np.arange(3.0), "mass": wrong})
    assert keeper.restore() is None
