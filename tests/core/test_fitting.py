"""Kernels that do not fit the memory of a device are run in smaller shapes."""

from __future__ import annotations

import pytest

from ritz._core.fitting import DoesNotFit, run_fitting


class OutOfResources(Exception):
    """As Triton's, which need not be installed."""


def launcher(room: int):
    tried: list[int] = []

    def launch(size: int) -> None:
        tried.append(size)
        if size > room:
            raise OutOfResources

    return launch, tried


def test_the_first_shape_that_fits_is_taken_and_remembered() -> None:
    launch, tried = launcher(5)
    run_fitting(launch, ((9,), (7,), (4,), (2,)), "first", 1)
    run_fitting(launch, ((9,), (7,), (4,), (2,)), "first", 1)
    assert tried == [9, 7, 4, 4]
    run_fitting(launch, ((3,), (2,)), "first", 2)  # something else decides for itself
    assert tried == [9, 7, 4, 4, 3]


def test_where_none_fits_it_is_said_each_time() -> None:
    launch, tried = launcher(1)
    for _ in range(2):
        with pytest.raises(DoesNotFit, match="2 shapes"):
            run_fitting(launch, ((9,), (7,)), "none")
    assert tried == [9, 7]


def test_other_errors_are_not_taken_for_a_want_of_room() -> None:
    def launch(size: int) -> None:
        raise ValueError(size)

    with pytest.raises(ValueError, match="9"):
        run_fitting(launch, ((9,), (7,)), "other")
