"""A sample of rows that are read in pieces, and what was decoded for it, kept for the pass that follows.

    lane 0:  span 0 | span 1 | …          the first rows of the spans with which lanes begin, and of a few others
    lane 1:  span m | span m+1 | …

Of Parquet, of text and of queries the first row of a span costs as much as the whole span. So the batches of a span
with which a lane begins are left as they are, half read, and the lane goes on with them: the sample costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ritz._core.threads import run_lanes
from ritz.data.formats.source import Span

__all__ = ["Begun", "first_rows", "sampled_spans"]

#: Spans that are looked at, at most, and of how many one may be decoded in vain.
SPANS, DECODED = 8, 16


class Begun:
    """Batches of a span of dense rows: those that were looked at, and those to come."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._held: list[Any] = []
        self._rest = batches

    def first(self, rows: int) -> Any:
        """The first rows; batches are read until there are as many."""
        while sum(len(batch) for batch in self._held) < rows:
            batch = next(self._rest, None)
            if batch is None:
                break
            self._held.append(batch)
        return np.concatenate([batch[:rows] for batch in self._held])[:rows]

    def all(self) -> Iterator[Any]:
        """All batches, from the first on; none is held once it is handed out."""
        while self._held:
            yield self._held.pop(0)
        yield from self._rest


def sampled_spans(spans: Sequence[Span], firsts: Sequence[Span], decodes: bool) -> list[Span]:
    """Spans to look at: ``firsts``, which cost nothing, and others spread over the table."""
    most = max(0 if firsts else 1, min(SPANS, len(spans) // DECODED) - len(firsts)) if decodes else SPANS
    others = spans[:: max(1, len(spans) // most)][:most] if most else []
    taken = {span.start for span in firsts}
    return [*firsts, *(span for span in others if span.start not in taken)]


def first_rows(spans: Sequence[Span], look: Callable[[Span, int], Any], rows: int, lanes: int) -> list[Any]:
    """About ``rows`` rows in all: what ``look(span, rows)`` gives of each span, several lanes at a time."""
    each = max(1, -(-rows // max(1, len(spans))))
    shares = [spans[lane::lanes] for lane in range(min(lanes, len(spans)))]
    return [rows for share in run_lanes(lambda some: [look(span, each) for span in some], shares) for rows in share]
