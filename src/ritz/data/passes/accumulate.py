"""Accumulators: what a pass adds up, lane by lane, partition by partition.

    merge     a ← a + b            the sums of two pieces of a table, the earlier one on the left
    state     {name: sum}          as plain arrays and numbers, for a checkpoint or another process
    restore   the inverse of state

Sums named in ``SUMS`` are added, lists named in ``LISTS`` are joined; everything else is scratch and is rebuilt.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

__all__ = ["Sums"]


class Sums:
    """Base of accumulators: the names of what is added up are all that a subclass declares."""

    SUMS: ClassVar[tuple[str, ...]] = ()
    LISTS: ClassVar[tuple[str, ...]] = ()
    #: Stored entries up to which sparse rows come as one block, however many rows: lanes and calls would not pay.
    ENTIRE: int = 0

    def merge(self, other: Self) -> None:
        """Add the sums of a later piece of the table."""
        for name in self.SUMS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if theirs is None:
                continue
            if isinstance(mine, np.ndarray):
                mine += theirs
            else:
                setattr(self, name, theirs if mine is None else mine + theirs)
        for name in self.LISTS:
            getattr(self, name).extend(getattr(other, name))

    def state(self) -> dict[str, Any]:
        """The sums by name; a list becomes one entry an item."""
        sums = {name: getattr(self, name) for name in self.SUMS if getattr(self, name) is not None}
        for name in self.LISTS:
            sums |= {f"{name}.{i}": item for i, item in enumerate(getattr(self, name))}
        return sums

    def restore(self, state: dict[str, Any]) -> None:
        """Take over sums that ``state`` gave."""
        for name in self.SUMS:
            if name not in state:
                continue
            mine = getattr(self, name)
            if isinstance(mine, np.ndarray):
                mine[...] = state[name]
            else:
                setattr(self, name, state[name])
        for name in self.LISTS:
            items = [key for key in state if key.startswith(f"{name}.")]
            setattr(self, name, [state[key] for key in sorted(items, key=lambda key: int(key.rpartition(".")[2]))])

    @property
    def nbytes(self) -> int:
        """Bytes that one accumulator holds."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
