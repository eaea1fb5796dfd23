"""Buffers of a pass in pages of their own, of which a few are kept for the next one."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from ritz._core import pages
from ritz.data.passes.blocks import fresh

MB = 1 << 20


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    pages._kept.clear()


def test_pages_of_a_buffer_that_ended_serve_the_next_one() -> None:
    first = fresh((500, 500), np.float64)
    first[:] = 7.0
    place = first.ctypes.data
    view = first[3:, ::2].T
    del first
    assert not pages._kept  # a view is left
    del view
    assert len(pages._kept) == 1
    assert fresh((600, 1000), np.float64).ctypes.data != place  # which is too small
    again = fresh((400, 800), np.float32, "F")
    assert again.ctypes.data == place
    assert again.flags.f_contiguous
    assert fresh((400, 800), np.float32).ctypes.data != place


def test_two_that_live_have_nothing_in_common() -> None:
    buffers = [fresh((300, 500), np.float64) for _ in range(6)]
    for i, each in enumerate(buffers):
        each[:] = i
    assert all((each == i).all() for i, each in enumerate(buffers))


def test_little_is_kept_and_nothing_that_is_large() -> None:
    big = fresh((3000, 500), np.float64)
    del big
    assert not pages._kept
    many = [fresh((1000, 700), np.float64) for _ in range(8)]
    del many
    assert 0 < sum(map(len, pages._kept)) <= pages.KEPT_BYTES
    assert fresh((10, 10), np.float64).base is None  # of malloc


def test_threads_that_take_and_give_back_do_not_share() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(40):
            held = fresh((260, 500 + turn % 3), np.float64)
            held[:] = number
            if not (held == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
