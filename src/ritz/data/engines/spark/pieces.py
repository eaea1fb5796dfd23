"""States and errors as rows (part, seq, data) of a few megabytes each, so that no message of Spark grows too large.

    state {name: array}   →   seq 0: its outline · seq 1 … : the bytes of its arrays, one after the other
    error                 →   seq −1

Neither end copies more than one piece beside the state itself.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

__all__ = ["ERROR", "OUTLINE", "Arrived", "Piece", "in_pieces", "states_of"]

#: Bytes of one piece.
PIECE_BYTES = 4 << 20
#: Numbers of an error's only piece and of an outline.
ERROR, OUTLINE = -1, 0

Piece = tuple[int, int, bytes]


def in_pieces(part: int, state: Any, facts: Any) -> Iterator[Piece]:
    """The pieces of a state of partition ``part``; ``facts`` travel with its outline."""
    buffers: list[Any] = []
    head = pickle.dumps(state, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    yield part, OUTLINE, pickle.dumps((head, [len(one) for one in raw], PIECE_BYTES, facts))
    seq = OUTLINE
    for one in raw:
        for first in range(0, len(one), PIECE_BYTES):
            seq += 1
            yield part, seq, bytes(one[first : first + PIECE_BYTES])


class Arrived:
    """One state as its pieces come, in any order."""

    def __init__(self) -> None:
        self._head: bytes | None = None
        self._lengths: list[int] = []
        self._size = PIECE_BYTES
        self._buffers: list[np.ndarray] = []
        self._early: dict[int, Any] = {}
        self.facts: Any = None

    def take(self, seq: int, data: Any) -> None:
        """Take in a piece; one of an error raises it."""
        if seq == ERROR:
            raise pickle.loads(bytes(data))
        if seq != OUTLINE:
            self._early[seq] = data
        else:
            self._head, self._lengths, self._size, self.facts = pickle.loads(bytes(data))
            self._buffers = [np.empty(length, np.uint8) for length in self._lengths]
            self._places = list(self._all_places())
        if self._head is not None:
            for early in list(self._early):
                self._put(early, self._early.pop(early))

    def _all_places(self) -> Iterator[tuple[int, int]]:
        for i, length in enumerate(self._lengths):
            for first in range(0, length, self._size):
                yield i, first

    def _put(self, seq: int, data: Any) -> None:
        i, first = self._places[seq - 1]
        self._buffers[i][first : first + len(data)] = np.frombuffer(data, np.uint8)

    def state(self) -> Any:
        """The state, of which all pieces have come."""
        assert self._head is not None, "an outline comes with every state"  # noqa: S101
        return pickle.loads(self._head, buffers=self._buffers)


def states_of(pieces: Iterable[Piece]) -> Iterator[tuple[int, Any, Any]]:
    """``(part, state, facts)`` of pieces that come sorted by part, one state in memory at a time."""
    part, arrived = -1, Arrived()
    for number, seq, data in pieces:
        if number != part and part >= 0:
            yield part, arrived.state(), arrived.facts
            arrived = Arrived()
        part = number
        arrived.take(seq, data)
    if part >= 0:
        yield part, arrived.state(), arrived.facts
