"""Parquet: one file, a folder of files, hive partitions (``year=2024/…``) with their keys as columns.

    span   some row groups of one file, about ``SPAN_BYTES`` together
    batch  some columns of a row group after others, or page by page: the way that the memory limit allows
           (``parquet_rows.py``)

The footers tell names, types, rows, missing values and the ends of each column, so numbers need no pass before
the fit. Files of a folder must agree; the first that does not is named.
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.threads import lane_count
from ritz.data.formats.arrow import LIST_BYTES, TEXT_BYTES, ArrowSource, Field, fields_of, views
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.files import damaged, file_identity, require_shape
from ritz.data.formats.list_pages import Blocks, ListColumn, Unlike, list_column
from ritz.data.formats.pack import DECODE_BYTES, list_rows
from ritz.data.formats.parquet_folder import parquet_files, partitions, require_same
from ritz.data.formats.parquet_rows import BUFFER_BYTES, OPEN_COLUMNS, Way, chosen_way, chunk_of, spilled, whole
from ritz.data.formats.source import Span
from ritz.data.formats.stamp import Stamp

__all__ = ["ParquetSource", "parquet_files"]

SPAN_BYTES = 32 << 20
LARGE_GROUP = 4 << 20  # row groups from which columns are read through buffers, and not as wholes
ALL_BUFFERS, LEAST_BUFFER = 16 << 20, 1 << 14  # of all columns together, and of one column
BLOCK_BYTES = 16 << 20  # small row groups are turned into rows together, up to so much
ROOM = float(256 << 20)  # a lane may take, where nobody says otherwise
SPARSE_ROOM = 0.5  # share of the room in use from which Arrow is asked for what it keeps for later
#: Half precision is decoded as bytes: 200,000 embeddings of 384 took 99 MB where 73 were counted without this.
HALF_LISTS = 18e6
LIST_ENTRY = 32  # bytes of one entry of a list while it is decoded, with its levels
PEEK_ROWS = 1024  # rows that tell how long the lists of a column are


class ParquetSource(ArrowSource):
    """Rows of one or several Parquet files."""

    own_batches = True

    _room = ROOM

    def __init__(self, files: Sequence[Path], root: Path | None = None) -> None:
        self.stamp = Stamp(files, root, parquet_files)
        self._meta = [_footer(path) for path in files]
        self._keys, key_fields = partitions(files, root)
        schema = self._meta[0].schema.to_arrow_schema()
        for path, meta in zip(files[1:], self._meta[1:], strict=True):
            require_same(schema, files[0], meta.schema.to_arrow_schema(), path)
        self._top: list[str] = list(schema.names)  # a new list at every look, hence kept
        self._repeat = _repeats(self._top)
        counts = ((m.row_group(g).num_rows, f, g) for f, m in enumerate(self._meta) for g in range(m.num_row_groups))
        self._largest = max(counts, default=(0, 0, 0))
        self._ways: dict[Any, Way] = {}
        self._plain_lists: dict[tuple[int, int], ListColumn | None] = {}  # by file and field
        spans = list(self._cut())
        super().__init__([], spans, files)
        n = spans[-1].stop if spans else 0
        require_shape(n, len(schema) + len(key_fields), root or files[0])
        fields = fields_of(schema, self._peek(schema, n))
        taken = {field.name for field in fields}
        fields += [field for field in key_fields if field.name not in taken]
        ArrowSource.__init__(self, self._completed(fields), spans, files)

    def _cut(self) -> Iterator[Span]:
        """Neighbouring row groups of one file together until they are worth a span; empty ones join any."""
        start = 0
        for f, meta in enumerate(self._meta):
            groups: list[int] = []
            rows, size = 0, 0
            for g in range(meta.num_row_groups):
                group = meta.row_group(g)
                if group.num_rows:
                    groups, rows, size = [*groups, g], rows + group.num_rows, size + group.total_byte_size
                if groups and (size >= SPAN_BYTES or g == meta.num_row_groups - 1):
                    yield Span(start, start + rows, (f, tuple(groups)))
                    start += rows
                    groups, rows, size = [], 0, 0

    def _peek(self, schema: Any, n: int) -> Any:
        """The first rows, where a list column must tell its length."""
        import pyarrow.types as pt

        if not n or not any(pt.is_list(kind) or pt.is_large_list(kind) for kind in schema.types):
            return None
        fields = [Field(name, schema.types[j], j) for j, name in enumerate(schema.names)]
        f, groups = self.spans[0].key
        group = self._meta[f].row_group(groups[0])
        # A list of a thousand equal numbers takes no room in the file: the footer tells how many there are.
        values = sum(group.column(j).num_values for j in range(group.num_columns))
        row = LIST_ENTRY * values / max(1, group.num_rows)
        if row > room() / 4:
            raise too_large(4.0 * row, self.files[f], f"rows of {row / 1e6:,.0f} MB")
        return next(self.record_batches(self.spans[0], fields, max(1, min(PEEK_ROWS, int(room() / 4 / max(1.0, row))))))

    def _completed(self, fields: Sequence[Field]) -> list[Field]:
        """Mark the columns whose footers say that no value is missing (NaN needs a floating type anyway)."""
        import dataclasses

        counts = _null_counts(self._meta)
        leaf = {path.split(".")[0]: count for path, count in counts.items()}
        return [dataclasses.replace(f, complete=f.at < 0 or leaf.get(self._top[f.at]) == 0) for f in fields]

    # rows

    def _laid(
        self, span: Span, columns: Sequence[int] | None, rows: int, order: Literal["C", "F"]
    ) -> Iterator[NDArray[Any]]:
        import pyarrow as pa

        way = self._way(columns, rows)
        at = range(len(self.names)) if columns is None else columns
        fields, pieces = self._pieces(at)
        if way.name == "pages":
            lists = self._list_column(span.key[0], fields, len(at)) if pieces and pieces[0].straight else None
            yield from (
                super()._laid(span, columns, rows, order) if lists is None else self._lists(span, fields, lists, rows)
            )
            return
        chosen, dtypes, dtype = [fields[q] for q in pieces[0].read], pieces[0].dtypes, self.dtype
        with self._opened(span.key[0], 0) as file:
            for groups, n in self._runs(span, len(at) * dtype.itemsize):
                read = partial(self._slice, file, span.key[0], groups, chosen)
                if way.name == "spill":
                    yield from spilled(read, dtypes, dtype, (n, len(at)), way.columns, rows)
                else:
                    # Two pieces: the last waits until the first is done with, so that no third block is begun.
                    yield from views(whole(read, dtypes, dtype, (n, len(at)), way.columns, order), rows, 2)
                if way.held > SPARSE_ROOM * self._room:
                    pa.default_memory_pool().release_unused()

    def _list_column(self, f: int, fields: Sequence[Field], width: int) -> ListColumn | None:
        """The one column of lists that is read, whole, where its pages may be taken as they lie."""
        if len(fields) != 1 or fields[0].at < 0 or fields[0].width != width or fields[0].dtype != self.dtype:
            return None
        place = f, fields[0].at
        if place not in self._plain_lists:
            self._plain_lists[place] = list_column(self._meta[f], self._top[fields[0].at], width, self.dtype)
        return self._plain_lists[place]

    def _lists(self, span: Span, fields: Sequence[Field], column: ListColumn, rows: int) -> Iterator[NDArray[Any]]:
        """Lists by their pages; by Arrow from where they are unlike such pages."""
        f, groups = span.key
        most = max(1, min(rows, LIST_BYTES // (column.width * column.dtype.itemsize)))
        memory = Blocks()
        handle = os.open(self.files[f], os.O_RDONLY | getattr(os, "O_BINARY", 0))
        start = span.start
        try:
            for g in groups:
                done, first = 0, start
                start += self._meta[f].row_group(g).num_rows
                if self._plain_lists[f, fields[0].at] is not None:
                    try:
                        for block in column.blocks(handle, self._meta[f].row_group(g), most, memory):
                            done += len(block)
                            yield block
                            del block  # may be used again
                        continue
                    except Unlike:
                        self._plain_lists[f, fields[0].at] = None
                for batch in self.record_batches(Span(span.start, span.stop, (f, (g,))), fields, most):
                    skip = min(done, batch.num_rows)
                    done -= skip
                    if skip < batch.num_rows:
                        values = list_rows(batch.column(0).slice(skip), column.width, fields[0].name, first + skip)
                        yield np.ascontiguousarray(values, column.dtype)
                    first += batch.num_rows
        finally:
            os.close(handle)

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane of reading takes."""
        return self._way(columns, rows).held

    def overhead(self, fields: Sequence[Field]) -> float:
        """Bytes of columns that are open together, page by page."""
        names = {self._top[field.at] for field in fields if field.at >= 0}
        _, f, g = self._largest
        meta = self._meta[f]
        places = [j for j in range(meta.num_columns) if meta.schema.column(j).path.split(".")[0] in names]
        return len(places) * chunk_of(meta.row_group(g), places, self.dtype.itemsize).open

    def open_together(self, fields: Sequence[Field]) -> int:
        """Columns whose pages the room holds together: each lies by itself, so no byte is read more often."""
        each = self.overhead(fields) / max(1, len(fields))
        return max(1, min(len(fields), OPEN_COLUMNS, int(self._room / max(1.0, each))))

    def within(self, room: float) -> Self:
        """The same rows, read in a way that takes at most ``room`` bytes a lane where there is one."""
        other = copy.copy(self)
        other._room = room
        return other

    def _way(self, columns: Sequence[int] | None, rows: int) -> Way:
        """How to read some columns within the room there is, judged by the row group of most rows."""
        at = range(len(self.names)) if columns is None else columns
        fields, _ = self._pieces(at)
        question = (tuple(field.at for field in fields), len(at), self.dtype, rows, self._room)
        if question not in self._ways:
            self._ways[question] = self._judged(fields, len(at), rows)
        return self._ways[question]

    def _judged(self, fields: Sequence[Field], width: int, rows: int) -> Way:
        names = {self._top[field.at] for field in fields if field.at >= 0}
        most, f, g = self._largest
        meta, itemsize = self._meta[f], self.dtype.itemsize
        places = [j for j in range(meta.num_columns) if meta.schema.column(j).path.split(".")[0] in names]
        row = float(width * itemsize)
        batch, vectors = min(most, rows) * row, any(field.width for field in fields)
        batch = min(batch, max(LIST_BYTES, row)) if vectors else batch
        lists = 4.0 / itemsize * max(batch, DECODE_BYTES) if vectors else 0.0
        lists += HALF_LISTS if lists and itemsize < 4 else 0.0
        block = max(most * row, min(self._together, (self.n_rows or 0) * row))
        return chosen_way(
            chunk_of(meta.row_group(g), places, itemsize), max(1, len(places)), block, batch, lists=lists,
            room=self._room, two=len(self.spans) > 1,
        )  # fmt: skip

    @property
    def _together(self) -> float:
        """Bytes up to which small row groups are turned into rows together."""
        return min(BLOCK_BYTES, self._room / 8)

    def _runs(self, span: Span, row_bytes: int) -> Iterator[tuple[list[int], int]]:
        """Neighbouring row groups that are turned into rows together, and their rows."""
        f, groups = span.key
        run: list[int] = []
        rows = 0
        for g in groups:
            more = self._meta[f].row_group(g).num_rows
            if run and (rows + more) * row_bytes > self._together:
                yield run, rows
                run, rows = [], 0
            run, rows = [*run, g], rows + more
        if run:
            yield run, rows

    def _slice(self, file: Any, f: int, groups: Sequence[int], fields: Sequence[Field], at: Sequence[int]) -> list[Any]:
        """Some of the fields of some row groups, as chunked arrays."""
        import pyarrow as pa

        wanted = [fields[j] for j in at]
        columns = list(dict.fromkeys(self._top[field.at] for field in wanted if field.at >= 0))
        try:
            # Lanes read spans side by side; where there is one span only, Arrow decodes columns side by side.
            alone = len(self.spans) == 1 and lane_count() > 1
            table = file.read_row_groups(groups, columns=columns, use_threads=alone)
        except (pa.ArrowException, OSError) as error:
            raise damaged(self.files[f], "Parquet file", error) from error
        promised = sum(self._meta[f].row_group(g).num_rows for g in groups)
        if columns and table.num_rows != promised:
            raise damaged(self.files[f], "Parquet file", f"{table.num_rows} rows, announced as {promised}")
        places = self._places(wanted, table.schema.names)
        return [
            self._key(f, field, table.num_rows) if place is None else table.column(place)
            for field, place in zip(wanted, places, strict=True)
        ]

    # record batches

    @contextmanager
    def _opened(self, f: int, buffer: int) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, meta = self.files[f], self._meta[f]
        try:
            file = pq.ParquetFile(
                path, metadata=meta, pre_buffer=False, buffer_size=buffer, page_checksum_verification=True
            )
        except (pa.ArrowException, OSError) as error:
            raise damaged(path, "Parquet file", error) from error
        with file:
            yield file

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """Record batches of a span, decoded as they are asked for."""
        import pyarrow as pa

        f, groups = span.key
        meta = self._meta[f]
        columns = list(dict.fromkeys(self._top[field.at] for field in fields if field.at >= 0))
        largest = max(meta.row_group(g).total_byte_size for g in groups)
        buffer = max(LEAST_BUFFER, min(BUFFER_BYTES, ALL_BUFFERS // max(1, len(columns))))
        buffer = buffer if largest > LARGE_GROUP else 0
        straight, places = list(range(len(fields))), None
        try:
            with self._opened(f, buffer) as file:
                for batch in file.iter_batches(rows, row_groups=groups, columns=columns, use_threads=False):
                    places = self._places(fields, batch.schema.names) if places is None else places
                    yield batch if places == straight else self._arranged(batch, fields, places, f)
        except (pa.ArrowException, OSError) as error:
            raise damaged(self.files[f], "Parquet file", error) from error

    def _arranged(self, batch: Any, fields: Sequence[Field], places: Sequence[int | None], f: int) -> Any:
        """The columns in the order of the fields, with the partition keys of file ``f``."""
        import pyarrow as pa

        columns = [
            self._key(f, field, batch.num_rows) if at is None else batch.column(at)
            for field, at in zip(fields, places, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])

    def _key(self, f: int, field: Field, rows: int) -> Any:
        """The partition key of file ``f``, once a row."""
        import pyarrow as pa

        return pa.repeat(pa.scalar(self._keys[f][field.name], field.type), rows)

    def _places(self, fields: Sequence[Field], names: Sequence[str]) -> list[int | None]:
        """Where fields stand in a batch; None for partition keys, which are the same in all rows of a file.

        Columns that share a name, or its beginning up to a dot, all come, in the order of the file.
        """
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        return [None if f.at < 0 else places[self._top[f.at]][self._repeat[f.at]] for f in fields]

    def summaries(self) -> dict[str, Any]:
        """What the footers tell of columns of numbers."""
        from ritz.data.formats.footers import summaries_of

        return summaries_of(self._meta, self.fields, self._top)

    @property
    def decoded(self) -> int:
        """About how many bytes all columns take in memory: numbers by count, text by its uncompressed size.

        Texts that return are written once a row group and counted in codes: a file of 30 MB took 1 GB in memory.
        """
        numbers = (self.n_rows or 0) * sum(field.nbytes for field in self._numeric)
        text = {self._top[f.at] for f in self.fields if f.dtype is None and f.at >= 0}
        return numbers + max(self._bytes(text, packed=False), (self.n_rows or 0) * len(text) * TEXT_BYTES)

    @property
    def nbytes(self) -> int:
        """Bytes of the numeric columns in the files."""
        return self._bytes({self._top[f.at] for f in self._numeric if f.at >= 0}, packed=True)

    def _bytes(self, names: set[str], *, packed: bool) -> int:
        total = 0
        for meta in self._meta:
            tops = [j for j in range(meta.num_columns) if meta.schema.column(j).path.split(".")[0] in names]
            for g in range(meta.num_row_groups if tops else 0):
                group = meta.row_group(g)
                chunks = (group.column(j) for j in tops)
                total += sum(c.total_compressed_size if packed else c.total_uncompressed_size for c in chunks)
        return total

    def fingerprint(self) -> str:
        """Changes with the files and the columns."""
        return file_identity(self.stamp, [field.name for field in self.fields])


def _repeats(names: Sequence[str]) -> list[int]:
    """How often each name came before."""
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        out.append(seen[name])
        seen[name] += 1
    return out


def _footer(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, "Parquet file", error) from error


def _null_counts(footers: Sequence[Any]) -> dict[str, int | None]:
    """Missing values of each leaf column; None where a footer does not say."""
    counts: dict[str, int | None] = {}
    for meta in footers:
        paths = [meta.schema.column(j).path for j in range(meta.num_columns)]
        for g in range(meta.num_row_groups):
            group = meta.row_group(g)
            for j, path in enumerate(paths):
                before, told = counts.get(path, 0), group.column(j).statistics
                unknown = before is None or told is None or not told.has_null_count
                counts[path] = None if unknown else before + told.null_count
    return counts
