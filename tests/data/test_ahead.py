"""Reading ahead: order, errors where they are awaited, and readers that end with the iteration."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from ritz._core.errors import RitzError
from ritz.data.passes import read_ahead
from ritz.data.passes.read_ahead import ahead


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ritz-read"]


def test_items_come_in_order_and_the_reader_ends() -> None:
    assert list(ahead(iter(range(100)), depth=3)) == list(range(100))
    assert readers() == []


def test_an_error_comes_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("the disk is gone")

    found: list[int] = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(ahead(items()))
    assert found == [1, 2]
    assert readers() == []


def test_closing_the_iterator_ends_the_reader_and_closes_what_it_read() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    iterator = ahead(items())
    assert next(iterator) == 1
    iterator.close()  # type: ignore[attr-defined]
    assert closed.is_set()
    assert readers() == []
    forgotten = ahead(items())
    next(forgotten)
    del forgotten
    assert readers() == []


def test_an_interrupt_of_the_reader_arrives_and_ends_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    iterator = ahead(items())
    assert next(iterator) == 1
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert readers() == []


def test_without_threads_the_caller_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert list(ahead(iter(range(5)))) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("begins", [True, False])
def test_an_interrupt_while_the_reader_starts_leaves_no_reader(monkeypatch: pytest.MonkeyPatch, begins: bool) -> None:
    start, read = threading.Thread.start, []

    def interrupted(self: threading.Thread) -> None:
        if begins:
            start(self)
        raise KeyboardInterrupt

    def items() -> Iterator[int]:
        while True:
            read.append(1)
            yield 1

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    monkeypatch.setattr(read_ahead, "LAST_WAIT", 5.0 if begins else 0.05)
    with pytest.raises(KeyboardInterrupt):
        next(ahead(items()))
    assert readers() == []
    assert begins or not read


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_child_is_told_that_its_reader_stayed_behind() -> None:
    iterator = ahead(iter(range(1000)))
    next(iterator)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            next(iterator)
        except RitzError as error:
            status = 0 if "forked" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list(iterator) == list(range(1, 1000))
