"""Warnings: once a call, at the user's line, in every thread its own, and nothing of refits."""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ritz._core.callback import calling_user
from ritz._core.errors import AccuracyWarning, ColumnsSetAside, ConstantColumnWarning
from ritz._core.threads import run_lanes
from ritz._core.warn import one_call, unsaid, warn


@contextmanager
def recorded() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


@one_call()
def public(times: int = 3) -> int:
    """What a user calls."""
    for _ in range(times):
        warn("a constant column", ConstantColumnWarning)
    warn("another", ConstantColumnWarning)
    warn("a constant column", AccuracyWarning)
    return times


def test_each_distinct_warning_comes_once_a_call_and_again_in_the_next() -> None:
    with recorded() as caught:
        assert public() == 3
        assert len(caught) == 3
        public()
    assert len(caught) == 6
    assert {(w.filename, w.lineno) for w in caught[:3]} == {(__file__, inspect.currentframe().f_lineno - 4)}
    assert list(inspect.signature(public).parameters) == ["times"]
    assert public.__doc__ == "What a user calls."


def test_a_call_inside_a_call_is_part_of_it() -> None:
    with recorded() as caught, one_call():
        public()
        public()
    assert len(caught) == 3


def test_refits_say_nothing_or_nothing_of_a_kind() -> None:
    with recorded() as caught:
        with one_call(), unsaid():
            public()
        assert caught == []
        with unsaid(ColumnsSetAside), unsaid(ConstantColumnWarning):
            warn("columns", ColumnsSetAside)
            public()
    assert [w.category for w in caught] == [AccuracyWarning]


def test_lanes_share_the_call_and_its_line() -> None:
    with recorded() as caught, one_call():
        run_lanes(lambda _: warn("of a lane", AccuracyWarning), [1, 2, 3])
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_functions_of_the_user_have_calls_of_their_own() -> None:
    with recorded() as caught, one_call(), unsaid(), calling_user():
        public()
    assert len(caught) == 3


def test_filters_of_the_process_are_left_alone_by_threads() -> None:
    before = list(warnings.filters)
    inside = threading.Barrier(2)

    def work() -> None:
        for _ in range(20):
            inside.wait(20)
            with unsaid():
                inside.wait(20)
                public()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


def test_warnings_that_are_errors_are_raised() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        with pytest.raises(AccuracyWarning), one_call():
            warn("not accurate", AccuracyWarning)
