"""One hook sees every step, can stop the work, and costs nothing when nobody looks."""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ritz._core import progress
from ritz._core.errors import Cancelled, ParameterError
from ritz._core.progress import Event, resolve, track, using


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self):
        return True


def test_events_carry_stage_counts_and_the_cost_of_the_whole_fit():
    seen = []
    with using(seen.append, "PCA"):
        with track("moments", total=2) as step:
            step(1, passes=0.5, bytes=100)
            step(1, passes=0.5, bytes=100)
        with track("krylov") as step:
            step.total = 7
            step(3, passes=2)
    assert [(e.stage, e.done, e.total, e.passes, e.bytes) for e in seen] == [
        ("moments", 0, 2, 0, 0),
        ("moments", 1, 2, 0.5, 100),
        ("moments", 2, 2, 1, 200),
        ("krylov", 0, None, 1, 200),
        ("krylov", 3, 7, 3, 200),
    ]
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(seen))
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen[0].done = 5


def test_false_stops_and_other_falsy_answers_do_not():
    for answer in (False, np.False_):
        hook = resolve(lambda event, answer=answer: answer, "PCA")
        with pytest.raises(Cancelled, match=r"PCA was stopped by its progress function in stage 'gram'"):
            hook(Event("gram", 0, None, 0, 0, 0.0))
    for answer in (None, 0, "", True, np.True_):
        with using(lambda event, answer=answer: answer), track("gram") as step:
            step(1)


def test_an_exception_in_the_hook_becomes_cancelled_with_its_cause():
    def broken(event):
        raise ZeroDivisionError("oops")

    with pytest.raises(Cancelled, match="ZeroDivisionError: oops") as caught, using(broken), track("gram"):
        pass
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert isinstance(caught.value, KeyboardInterrupt)

    def own(event):
        raise Cancelled("enough")

    with pytest.raises(Cancelled, match=r"^enough$"), using(own), track("gram"):
        pass

    def interrupted(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught, using(interrupted), track("gram"):
        pass
    assert not isinstance(caught.value, Cancelled)


def test_hook_of_one_stage_alone():
    seen = []
    with track("krylov", total=1, hook=seen.append) as step:
        step(1)
    assert [e.done for e in seen] == [0, 1]
    with track("krylov", total=1) as step:  # nobody listens
        step(1)
    assert len(seen) == 2


def test_current_hook_is_restored_after_errors_and_nested_fits():
    outer, inner = [], []
    with using(outer.append):
        with pytest.raises(RuntimeError), using(inner.append):
            raise RuntimeError
        with using(None), track("inherits"):
            pass
        with using(False), track("silent"):
            pass
        with track("outer"):
            pass
    with track("nobody"):
        pass
    assert [e.stage for e in outer] == ["inherits", "outer"]
    assert inner == []


def test_a_fit_inside_a_silent_one_is_silent(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with using(False), using(None), track("gram") as step:
        step(1)
    assert sys.stderr.getvalue() == ""


def passes_of_three_tenths(passes, expected):
    """Events of ``passes`` passes over 1000 bytes, where ``expected`` bytes were planned."""
    seen = []
    with using(seen.append, expected=expected):
        for _ in range(passes):
            with track("reading", total=1.0) as step:
                for share in (0.3, 0.3, 0.4):
                    step(share, passes=share, bytes=int(1000 * share))
    return seen


def test_a_plan_that_was_too_short_grows_by_whole_passes():
    seen = passes_of_three_tenths(4, expected=2000)
    inside, more = seen[:9], [event for event in seen if event.passes > 2 + 1e-6]
    assert {(event.expected, event.beyond) for event in inside} == {(2000, False)}
    assert [round(event.expected) for event in more] == [3000, 3000, 3000, 3000, 4000, 4000, 4000]
    assert all(event.beyond and event.bytes <= event.expected * (1 + 1e-6) for event in more)
    assert all(event.left is not None and event.left >= 0 for event in more)
    assert more[-1].left == pytest.approx(0, abs=1e-6)


def test_the_bar_says_that_more_passes_came_than_were_planned(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "140")
    with using(True, "PCA", expected=2e6), track("reading") as step:
        step(1, passes=2, bytes=2_000_000)
        within = stream.getvalue()
        step(1, passes=0.5, bytes=500_000)
    assert "planned" not in within
    assert "pass 3 (more than planned), 2 of 3 MB" in stream.getvalue()


def test_steps_from_threads_lose_no_count():
    seen = []
    with using(seen.append), track("gram", total=4000) as step, ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(lambda: [step(1, bytes=2) for _ in range(1000)])
    assert max(e.done for e in seen) == 4000
    assert max(e.bytes for e in seen) == 8000
    assert len(seen) == 4001


def test_a_hook_in_another_thread_can_stop_the_worker():
    with using(lambda event: event.done < 3), track("gram") as step, ThreadPoolExecutor(1) as pool:
        work = pool.submit(lambda: [step(1) for _ in range(10)])
        with pytest.raises(Cancelled):
            work.result()


@pytest.mark.parametrize("bad", ["yes", 3, []])
def test_other_values_are_refused(bad):
    with pytest.raises(ParameterError, match=r"(?s)progress to be None, True, False or a function.*hint"):
        resolve(bad, "PCA")


# --- the bar ----------------------------------------------------------------------------------------------


def drawn(monkeypatch, value, *, stream, patience=0.0, steps=3):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with using(value, "PCA"), track("krylov", total=steps) as step:
        for _ in range(steps):
            step(1, passes=1)
    return stream.getvalue()


def test_bar_by_itself_only_on_a_terminal(monkeypatch):
    assert "PCA: krylov" in drawn(monkeypatch, None, stream=Terminal())
    assert drawn(monkeypatch, None, stream=io.StringIO()) == ""
    assert drawn(monkeypatch, False, stream=Terminal()) == ""


def test_short_fits_do_not_flicker_unless_asked_to(monkeypatch):
    assert drawn(monkeypatch, None, stream=Terminal(), patience=60.0) == ""
    assert "PCA: krylov, pass 3" in drawn(monkeypatch, True, stream=Terminal(), patience=60.0)


def test_bar_leaves_the_terminal_in_order_after_cancel(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)

    def work():
        with using(True, "PCA"), track("krylov", total=3) as step:
            step(1)
            raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        work()
    assert "\x1b[?25h" in stream.getvalue()  # the cursor is shown again


def test_no_bar_from_worker_threads_or_dumb_terminals(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    kinds = []
    thread = threading.Thread(target=lambda: kinds.append(type(resolve(None, "PCA")).__name__))
    thread.start()
    thread.join()
    monkeypatch.setenv("TERM", "dumb")
    kinds.append(type(resolve(None, "PCA")).__name__)
    monkeypatch.setattr(sys, "stderr", None)
    kinds.append(type(resolve(None, "PCA")).__name__)
    assert kinds == ["_Silent"] * 3


def test_a_bar_inside_a_foreign_live_display_stays_away(monkeypatch):
    from rich.console import Console
    from rich.live import Live

    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Live("mine", console=Console(file=io.StringIO())), using(True, "PCA"), track("krylov") as step:
        step(1)


def test_rich_is_loaded_only_for_a_bar():
    code = (
        "import sys; from ritz._core.progress import using, track\n"
        "with using(None), track('gram') as step: step(1)\n"
        "print('rich' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_event_is_public_in_shape():
    assert [f.name for f in dataclasses.fields(Event)] == [
        "stage",
        "done",
        "total",
        "passes",
        "bytes",
        "seconds",
        "expected",
        "beyond",
    ]


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(5, "the terminal is gone"), ValueError("closed file")])
def test_a_terminal_that_goes_away_ends_the_bar_and_not_the_fit(monkeypatch, error):
    class Gone(Terminal):
        writes = 0

        def write(self, text):
            Gone.writes += 1
            raise error

    streams, before = (sys.stdout, Gone()), os.fstat(1)
    monkeypatch.setattr("sys.stderr", streams[1])
    with using(True, "PCA"), track("krylov", total=3) as step:
        for _ in range(3):
            step()
    assert Gone.writes > 0
    assert (sys.stdout, sys.stderr) == streams
    assert os.path.samestat(os.fstat(1), before)  # stdout was not sent to nowhere


def test_a_fit_inside_a_progress_function_reports_to_nobody():
    seen = []

    def watch(event):
        seen.append(event.stage)
        with using(None, "inner"), track("inner") as step:
            step()

    with using(watch, "outer"), track("outer") as step:
        step()
    assert seen == ["outer", "outer"]
