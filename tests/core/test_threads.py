"""Lanes: the first share's error, what a stop reaches, no thread left. BLAS limits: overlapping scopes, forks."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
import threadpoolctl

from ritz._core import threads
from ritz._core.blas import freed_blas, freed_blas_for, held_blas, limited_blas, single_threaded_blas
from ritz._core.errors import Cancelled
from ritz._core.imports import module_of
from ritz._core.threads import go_on, run_lanes


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"}


def lanes_left() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ritz")]


def test_lanes_give_results_in_order_and_inherit_the_context() -> None:
    with np.errstate(divide="raise"):
        assert run_lanes(lambda share: (share, np.geterr()["divide"]), [3, 1, 2]) == [(s, "raise") for s in (3, 1, 2)]


def test_the_error_of_the_first_share_is_raised_whichever_lane_fails_first() -> None:
    failed = threading.Event()

    def work(share: int) -> None:
        if share == 0:
            assert failed.wait(20)  # the first lane fails last
        else:
            failed.set()
        raise ValueError(f"share {share}")

    with pytest.raises(ValueError, match="share 0") as caught:
        run_lanes(work, [0, 1, 2])
    assert "work" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert lanes_left() == []


def test_an_error_stops_the_lanes_after_it_and_a_cancelled_fit_all() -> None:
    for error, share_that_fails in ((ValueError("x"), 0), (Cancelled("x"), 2)):

        def work(share: int, error: BaseException = error, at: int = share_that_fails) -> None:
            if share == at:
                raise error
            while True:  # ends by go_on, or never
                go_on()

        with pytest.raises(type(error)):
            run_lanes(work, [0, 1, 2] if share_that_fails == 2 else [0, 1])
    assert lanes_left() == []


def test_lanes_inside_lanes_end_with_the_outer_ones() -> None:
    def inner(_: int) -> None:
        while True:
            go_on()

    def outer(share: int) -> None:
        if share == 0:
            raise KeyError("outer")
        run_lanes(inner, [0, 1])

    with pytest.raises(KeyError, match="outer"):
        run_lanes(outer, [0, 1])
    assert lanes_left() == []


def test_an_error_keeps_no_lane_in_memory() -> None:
    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)

    def attempt(held: Held) -> None:
        def work(share: int) -> None:
            assert held
            if share:
                raise ValueError("x")

        with contextlib.suppress(ValueError):
            run_lanes(work, [0, 1])

    attempt(held)
    del held
    assert gone() is None


def test_without_threads_the_caller_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run_lanes(lambda share: share * share, [1, 2, 3]) == [1, 4, 9]


@pytest.fixture
def four() -> Iterator[None]:
    """Four threads before, so that limits can be told apart; what was there comes back."""
    with threadpoolctl.threadpool_limits(4, user_api="blas"):
        yield


@pytest.mark.parametrize("begins", [True, False])
def test_an_interrupt_while_a_lane_starts_leaves_no_lane(monkeypatch: pytest.MonkeyPatch, begins: bool) -> None:
    start = threading.Thread.start

    def interrupted(self: threading.Thread) -> None:
        if begins:
            start(self)
        raise KeyboardInterrupt

    def work(share: int) -> None:
        while True:
            go_on()

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    monkeypatch.setattr(threads, "LOOK", 0.05)
    with pytest.raises(KeyboardInterrupt):
        run_lanes(work, [1, 2])
    assert lanes_left() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_waits_for_a_module_that_another_thread_loads(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_load.py").write_text("import time\ntime.sleep(0.5)\nready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    loading = threading.Thread(target=module_of, args=("slow_to_load",))
    loading.start()
    while "slow_to_load" not in sys.modules:
        time.sleep(0.01)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(10)  # ends a child that waits for ever
            status = 0 if module_of("slow_to_load").ready else 2
        finally:
            os._exit(status)
    loading.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    sys.modules.pop("slow_to_load")


@contextlib.contextmanager
def held_by_another_thread() -> Iterator[None]:
    """One thread for BLAS, asked for by another thread than this."""
    inside, end = threading.Event(), threading.Event()

    def hold() -> None:
        with single_threaded_blas():
            inside.set()
            end.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert inside.wait(20)
        yield
    finally:
        end.set()
        other.join()


@pytest.mark.usefixtures("four")
def test_scopes_that_overlap_restore_what_was_before_the_first() -> None:
    wide, narrow = limited_blas(2), single_threaded_blas()
    wide.__enter__()
    assert blas_threads() == {2}
    narrow.__enter__()
    assert blas_threads() == {1}
    wide.__exit__(None, None, None)  # not the last one to begin
    assert blas_threads() == {1}
    narrow.__exit__(None, None, None)
    assert blas_threads() == {4}


@pytest.mark.usefixtures("four")
def test_the_smallest_limit_holds_and_errors_restore_it() -> None:
    def failing() -> None:
        with limited_blas(1):
            with limited_blas(3):
                assert blas_threads() == {1}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert blas_threads() == {4}
    with limited_blas(2):
        with limited_blas(1):
            pass
        assert blas_threads() == {2}
    assert blas_threads() == {4}


@pytest.mark.usefixtures("four")
def test_what_is_freed_has_the_threads_that_this_thread_had_given_up() -> None:
    with freed_blas():  # nothing to free
        assert blas_threads() == {4}
    with limited_blas(1):
        with freed_blas():
            assert blas_threads() == {4}
            with limited_blas(2):  # lanes, say, of what is freed
                assert blas_threads() == {2}
                with freed_blas():
                    assert blas_threads() == {4}
                assert blas_threads() == {2}
            assert blas_threads() == {4}
        assert blas_threads() == {1}
    assert blas_threads() == {4}
    with limited_blas(1), freed_blas_for(10):  # too short for it
        assert blas_threads() == {1}
    with limited_blas(1), freed_blas_for(10_000):
        assert blas_threads() == {4}
    with pytest.raises(ZeroDivisionError), limited_blas(2), freed_blas():
        raise ZeroDivisionError
    assert blas_threads() == {4}


@pytest.mark.usefixtures("four")
def test_what_is_held_is_not_freed() -> None:
    with held_blas(2):
        with freed_blas(), limited_blas(1), freed_blas():
            assert blas_threads() == {1}
        assert blas_threads() == {2}
    with limited_blas(1):
        with held_blas(1), freed_blas_for(10_000):  # as few as before, but held
            assert blas_threads() == {1}
        with freed_blas():
            assert blas_threads() == {4}
    assert blas_threads() == {4}


@pytest.mark.usefixtures("four")
def test_what_is_freed_respects_the_limits_of_other_threads() -> None:
    def lane(_share: int) -> set[int]:
        with freed_blas():
            return blas_threads()

    with limited_blas(2):
        assert run_lanes(lane, [0, 1]) == [{1}, {1}]  # lanes have one each, whatever they free
        assert blas_threads() == {2}


@pytest.mark.usefixtures("four")
def test_what_one_thread_frees_another_may_hold() -> None:
    with held_by_another_thread(), limited_blas(2):
        assert blas_threads() == {1}
        with freed_blas():
            assert blas_threads() == {1}
    assert blas_threads() == {4}


@pytest.mark.usefixtures("four")
def test_limits_hold_whichever_thread_asks_for_them() -> None:
    seen: list[set[int]] = []

    def work() -> None:
        with limited_blas(1):
            seen.append(blas_threads())
            with freed_blas():
                seen.append(blas_threads())
        seen.append(blas_threads())

    with limited_blas(3):  # the main thread is the first to set any
        pass
    other = threading.Thread(target=work)
    other.start()
    other.join()
    assert seen == [{1}, {4}, {4}]
    assert blas_threads() == {4}


@pytest.mark.usefixtures("four")
def test_scopes_in_many_threads_leave_the_limit_as_it_was() -> None:
    def work(share: int) -> None:
        for i in range(50):
            with limited_blas(1 + (share + i) % 3):
                pass

    run_lanes(work, list(range(6)))
    assert blas_threads() == {4}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.usefixtures("four")
def test_a_forked_child_has_only_the_scopes_of_the_thread_that_forked() -> None:
    with held_by_another_thread():
        child = os.fork()
        if child == 0:
            with limited_blas(2):
                held = blas_threads() == {2}  # the other thread's scope stayed in the parent
            os._exit(0 if held and blas_threads() == {4} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert blas_threads() == {4}
