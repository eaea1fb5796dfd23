"""Dask frames and arrays of categories: looked at and encoded by the workers, partition by partition.

    partitions  →  one census each, merged in row order        partitions  →  encoded chunks  →  row blocks

Encoded chunks are tasks like any other: a cluster holds them between passes where they fit, and makes them again where
they do not or where a worker died.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.encode.columns import memory_columns
from ritz.data.encode.openings import Choice, Opened
from ritz.data.encode.vocabulary import Census
from ritz.data.engines.dask.blocks import DaskBlocks
from ritz.data.engines.dask.cluster import Watch, collected, current_client, require_dask
from ritz.data.engines.dask.rows import Partitions, grouped
from ritz.data.engines.dask.task import hand_out

__all__ = ["DaskTable", "look_by_workers"]

#: Bytes of a file that one task looks at.
LOOK_BYTES = 64 << 20


class DaskTable(Opened):
    """A Dask frame, or a Dask array of texts."""

    def __init__(self, X: Any, client: Any = None) -> None:
        require_dask()
        self.client = current_client() if client is None else client
        self._parts = parts_of(X)
        empty = np.empty((0, int(X.shape[1])), X.dtype) if hasattr(X, "chunks") else X._meta
        self._meta, self._known = memory_columns(empty), list(X.chunks[0]) if hasattr(X, "chunks") else None
        self.names, self.named = self._meta.names, self._meta.named
        self._lengths: list[int] | None = None

    def kind(self, name: str) -> str:
        """What a column holds, by what the collection announces."""
        return self._meta.kind(name)

    def census(self, choice: Choice, weights: Any = None) -> Census:
        """Look at the columns of a choice in every partition."""
        look = require_dask().delayed(_look, pure=False)
        if weights is None:
            parts = [look(partition, choice, None) for partition in self._parts]
        else:
            cuts = pairwise([0, *accumulate(self.lengths())])
            parts = [look(partition, choice, weights[a:b]) for partition, (a, b) in zip(self._parts, cuts, strict=True)]
        censuses = _gathered(parts, self.client)
        self._lengths = [census.rows for census in censuses]
        return _joined(censuses)

    @property
    def n_rows(self) -> int:
        """Number of rows; counted by the workers where nobody knows."""
        return sum(self.lengths())

    def lengths(self) -> list[int]:
        """Rows of every partition."""
        if self._lengths is None:
            length = require_dask().delayed(len, pure=False)
            self._lengths = [
                int(rows) for rows in _gathered([length(partition) for partition in self._parts], self.client)
            ]
        return self._lengths

    def encoded(self, encoder: Any, unseen: str | None, memory: Any, absent: Any = None) -> Any:
        """Row blocks of encoded partitions."""
        encoder, lengths = self.fitting(encoder), self.lengths()
        dask = require_dask()
        sealed = dask.delayed(hand_out, pure=False)(_Sealed(encoder))
        task = dask.delayed(_encode, pure=False)
        cuts = list(pairwise([0, *accumulate(lengths)]))
        some = [None if absent is None else absent[a:b] for a, b in cuts]
        chunks = [
            task(sealed, partition, unseen, a, gone)
            for partition, (a, _), gone in zip(self._parts, cuts, some, strict=True)
        ]
        stored = sum(lengths) * (encoder.p + encoder.vocabulary.J)
        table: Partitions = grouped(chunks, lengths, encoder.d, np.dtype(np.float64), True, stored, encoder.labels)
        return DaskBlocks.of(table, self.client)

    def map_rows(self, encoder: Any, function: Callable[[Any], Any], width: int, unseen: str | None) -> Any:
        """``function`` of the encoded rows of every partition as a Dask array (n, width); nothing is computed now."""
        import dask.array as da

        mapped = require_dask().delayed(_Mapped(self.fitting(encoder), function, unseen), pure=False)
        meta = np.empty((0, width))
        lengths = [np.nan] * len(self._parts) if self._known is None else self._known
        parts = [
            da.from_delayed(mapped(partition), (rows, width), np.float64, meta=meta)
            for partition, rows in zip(self._parts, lengths, strict=True)
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)


class _Sealed:
    """An encoder, or a source, that Dask does not look into."""

    def __init__(self, value: Any) -> None:
        self.held = value


def parts_of(X: Any) -> list[Any]:
    """Partitions of whole rows, in order."""
    if not hasattr(X, "chunks"):
        return list(X.to_delayed())
    if X.ndim != 2:
        raise InputError(
            "a Dask collection with rows and columns", received=f"{X.ndim} dimension(s)", hint="X.reshape(-1, 1)"
        )
    rows = X if X.numblocks[1] <= 1 else X.rechunk({1: int(X.shape[1])})
    return list(rows.to_delayed().reshape(-1))


def _look(rows: Any, choice: Choice, weights: Any) -> Census:
    census = Census(choice)
    census.update(memory_columns(rows), weights)
    return census


def _encode(sealed: _Sealed, rows: Any, unseen: str | None, start: int, absent: Any) -> Any:
    return sealed.held.encode(memory_columns(rows), unseen, start, absent)


def _joined(parts: list[Census]) -> Census:
    first, *more = parts
    for later in more:
        first.merge(later)
    return first


def _gathered(tasks: list[Any], client: Any) -> list[Any]:
    if client is None:
        return list(require_dask().compute(*tasks))
    results: list[Any] = [None] * len(tasks)
    collected(client, tasks, results.__setitem__, Watch("", 0, 0))
    return results


def look_by_workers(source: Any, choice: Choice, weights: Any, client: Any) -> Census:
    """The census of a table in files, read by the workers."""
    delayed = require_dask().delayed
    sealed = delayed(hand_out, pure=False)(_Sealed(source))
    spans = [span for span in source.spans if span.rows]
    width = source.decoded / max(1, source.n_rows or 1)
    groups: list[list[Any]] = []
    for span in spans:
        if groups and (span.stop - groups[-1][0].start) * width <= LOOK_BYTES:
            groups[-1].append(span)
        else:
            groups.append([span])
    task = delayed(_look_spans, pure=False)
    cuts = [None if weights is None else weights[group[0].start : group[-1].stop] for group in groups]
    tasks = [task(sealed, choice, cut, group) for cut, group in zip(cuts, groups, strict=True)]
    return _joined(_gathered(tasks, client))


def _look_spans(sealed: _Sealed, choice: Choice, weights: NDArray[np.float64] | None, spans: list[Any]) -> Census:
    from ritz.data.encode.stream import look

    first = spans[0].start
    some = None if weights is None else _From(weights, first)
    return look(sealed.held, choice, some, spans)


class _From:
    """Weights of some rows, indexed by where they stand in the whole table."""

    def __init__(self, values: NDArray[np.float64], start: int) -> None:
        self._values, self._start = values, start

    def __getitem__(self, rows: slice) -> NDArray[np.float64]:
        return self._values[rows.start - self._start : rows.stop - self._start]


class _Mapped:
    """``function`` of the encoded rows of a partition."""

    def __init__(self, encoder: Any, function: Callable[[Any], Any], unseen: str | None) -> None:
        self.encoder, self.function, self.unseen = encoder, function, unseen
        self.__name__ = "ritz-coordinates"  # the name of its tasks on Dask's dashboard

    def __call__(self, rows: Any) -> Any:
        return self.function(self.encoder.encode(memory_columns(rows), self.unseen))
