"""Temporary files: a signal that comes before anybody knows the name of one leaves nothing behind."""

from __future__ import annotations

import pytest

from ritz._core import atomic


def test_a_signal_while_a_temporary_file_is_locked_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "try_lock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic.open_temporary(tmp_path / "z.csv")
    assert not list(tmp_path.iterdir())
