"""Programs that hang are told from programs that a busy machine makes slow."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ritz.testing.faults import _patience
from ritz.testing.faults.hang import program as hangs_program
from ritz.testing.faults.hang.ways import WAYS

SLEEP = [sys.executable, "-c", "import time; time.sleep(0.6); print('done')"]


def test_a_slow_machine_gives_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_patience, "start_seconds", lambda: 1000 * _patience.START)
    assert _patience.limit(0.1) == pytest.approx(100.0)
    done = _patience.run(SLEEP, 0.1)
    assert (done.returncode, done.stdout) == (0, "done\n")


def test_a_program_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_patience, "start_seconds", lambda: 0.5 * _patience.START)
    with pytest.raises(subprocess.TimeoutExpired):
        _patience.run([sys.executable, "-c", "import time; time.sleep(600)"], 0.1)


def test_a_yardstick_is_measured() -> None:
    assert 0.01 < _patience.start_seconds() < float("inf")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_way_that_hangs_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from ritz._core.threads import _Lane, _Stop

    def waits(folder) -> list[str]:
        lane = _Lane(int, 1, _Stop(None))  # never starts
        lane.begun = True
        lane.wait(0)
        return []

    monkeypatch.setitem(WAYS, "waits", waits)
    monkeypatch.setattr(hangs_program, "limit", lambda seconds: seconds)
    (finding,) = hangs_program._apart("waits", tmp_path / "waits", 0.5)
    assert "had not ended after" in finding
    assert "threads.py" in finding
