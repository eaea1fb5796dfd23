"""Work ahead of who asks: results in their order, an error in its turn, no more under way than was said."""

from __future__ import annotations

import threading

import pytest

from ritz._core import in_order as module
from ritz._core.in_order import in_order


def ritz_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("ritz-ahead")]


def test_an_error_comes_in_its_turn_and_ends_the_threads():
    def work(i: int) -> int:
        if i == 3:
            raise ValueError("three")
        return i

    came = []
    with pytest.raises(ValueError, match="three"):
        came.extend(in_order(work, range(10), 3))
    assert not ritz_threads()
    assert came == [0, 1, 2]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_results_are_those_of_a_loop(threads):
    assert list(in_order(lambda i: i * i, iter(range(20)), threads)) == [i * i for i in range(20)]
    assert list(in_order(lambda i: i, [], threads)) == []
    stream = in_order(lambda i: i, iter(range(30)), threads)
    assert next(stream) == 0
    stream.close()
    assert not ritz_threads()


def test_no_more_is_taken_than_was_said():
    taken = 0

    def items():
        nonlocal taken
        for i in range(50):
            taken += 1
            yield i

    for came, _ in enumerate(in_order(lambda i: i, items(), 2), 1):
        assert taken <= came + 3  # two under way, one more, and the one in hand


def test_work_is_done_where_no_thread_begins(monkeypatch):
    class Full(module.ThreadPoolExecutor):
        def submit(self, *_):
            raise RuntimeError("can't start new thread")

    def work(i: int) -> int:
        if i == 2:
            raise ValueError("two")
        return i

    monkeypatch.setattr(module, "ThreadPoolExecutor", Full)
    assert list(in_order(lambda i: i + 1, range(4), 2)) == [1, 2, 3, 4]
    stream = in_order(work, range(4), 2)
    assert [next(stream), next(stream)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(stream)
