"""The tree of sums: states of partitions merged eight by eight, on the executors while they are large.

    partitions, in row order     s₀  s₁  …  s₇   s₈  …  s₁₅   …
    a round of the tree          └────s₀:₈───┘   └───s₈:₁₆──┘           pieces are shuffled, sorted and merged
                                 └───────────s₀:₆₄──────────┘ …         until what is left is small, or one

The tree depends on the partitions alone, so the same partitions give the same bits whatever task ended first, and
wherever a merge was made. This process holds what is left, at most ``room`` bytes of states or one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ritz.data.engines.partition import MERGED_AT_ONCE, join
from ritz.data.engines.spark.pieces import Piece, states_of
from ritz.data.engines.spark.task import Merge

__all__ = ["merged_here", "reduced"]

#: Bytes of one state above which it comes in several answers: Spark limits one by spark.driver.maxResultSize.
ANSWER_BYTES = 128 << 20


def reduced(states: Any, shared: Any, numbers: dict[int, int], nbytes: float, room: float) -> list[Piece]:
    """The pieces of what is left of the states in a DataFrame, sorted by part.

    ``numbers``: places of the partitions, which have their own numbers, in row order; ``nbytes``: of one state.
    """
    placed, count = _Placed(numbers), len(numbers)
    if count * nbytes <= room:
        return sorted(map(placed, states.collect()), key=_order)
    rows = states.rdd.map(placed)
    while count > 1:
        count = -(-count // MERGED_AT_ONCE)
        keyed = rows.map(_keyed)
        rows = keyed.repartitionAndSortWithinPartitions(count, _group).mapPartitions(Merge(shared))
        if count * nbytes <= room:
            break
    if nbytes <= ANSWER_BYTES:
        return sorted(rows.collect(), key=_order)
    answers = int(-(-nbytes // ANSWER_BYTES)) + 1
    return sorted(rows.map(_by_seq).partitionBy(answers, _same).values().toLocalIterator(), key=_order)


def _order(piece: Piece) -> tuple[int, int]:
    return piece[:2]


def merged_here(pieces: list[Piece], create: Callable[[], Any], count: int) -> tuple[dict[str, Any], dict[int, Any]]:
    """The state of the whole table, and the facts of all partitions; merged as the executors would."""
    facts: dict[int, Any] = {}

    def noted() -> Iterator[dict[str, Any]]:
        for _, state, fact in states_of(pieces):
            facts.update(fact)
            yield state

    level = noted()
    if count <= 1:
        return next(level), facts
    while True:
        states = list(_round(level, create))
        if len(states) == 1:
            return states[0], facts
        level = iter(states)


def _round(states: Iterator[dict[str, Any]], create: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    group: list[dict[str, Any]] = []
    for state in states:
        group.append(state)
        if len(group) == MERGED_AT_ONCE:
            yield join(create, group)
            group = []
    if group:
        yield join(create, group)


# keys of pieces; functions by name, since they travel


class _Placed:
    """A piece by the place of its partition instead of its number."""

    def __init__(self, numbers: dict[int, int]) -> None:
        self.numbers = numbers

    def __call__(self, row: Any) -> Piece:
        return self.numbers.get(int(row[0]), int(row[0])), int(row[1]), bytes(row[2])


def _keyed(piece: Piece) -> tuple[tuple[int, int, int], bytes]:
    place, seq, data = piece
    return (place // MERGED_AT_ONCE, place, seq), data


def _group(key: tuple[int, int, int]) -> int:
    return key[0]


def _by_seq(piece: Piece) -> tuple[int, Piece]:
    return piece[1], piece


def _same(seq: int) -> int:
    return seq
