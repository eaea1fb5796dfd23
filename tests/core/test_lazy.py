"""Values computed on first read: once an object, without a lock, pickled and copied with it."""

from __future__ import annotations

import copy
import pickle
import threading
from dataclasses import dataclass

import pytest

from ritz._core.lazy import cached_property


class Squares:
    def __init__(self, n: int) -> None:
        self.n, self.count = n, 0

    @cached_property
    def value(self) -> list[int]:
        """n², in a list of its own."""
        self.count += 1
        return [self.n**2]


@dataclass(frozen=True)
class Frozen:
    n: int

    @cached_property
    def value(self) -> int:
        return self.n + 1


def test_computed_once_and_forgotten_with_its_entry() -> None:
    one, other = Squares(3), Squares(4)
    assert one.value == [9]
    assert one.value is one.value
    assert one.count == 1
    assert other.value == [16]
    del one.value
    assert one.value == [9]
    assert one.count == 2
    assert Frozen(1).value == 2
    assert Squares.value.__doc__ == "n², in a list of its own."


def test_an_error_is_not_kept() -> None:
    class Failing:
        fails = True

        @cached_property
        def value(self) -> int:
            if self.fails:
                raise ValueError("not yet")
            return 1

    held = Failing()
    with pytest.raises(ValueError, match="not yet"):
        _ = held.value
    held.fails = False
    assert held.value == 1


def test_kept_values_travel_with_the_object() -> None:
    held = Squares(3)
    _ = held.value
    for other in (pickle.loads(pickle.dumps(held)), copy.deepcopy(held), copy.copy(held)):
        assert other.value == [9]
        assert other.count == 1


def test_one_object_does_not_wait_for_another_and_all_threads_get_one_value() -> None:
    inside, free = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits: bool) -> None:
            self.waits = waits

        @cached_property
        def value(self) -> object:
            if self.waits:
                inside.set()
                assert free.wait(20)
            return object()

    slow, found = Slow(True), []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert inside.wait(20)
    assert Slow(False).value is not None  # would wait for ever under a lock of the class
    free.set()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert all(each is slow.value for each in found)
