"""Parquet: one file, a folder of files, hive partitions (``year=2024/…``) with their keys as columns.

    span   some row groups of one file, about ``SPAN_BYTES`` together
    batch  decoded page by page, from a buffer a column where a row group is large: what is held of it are its pages

The footers tell names, types, rows, missing values and the ends of each column, so numbers need no pass before
the fit. Files of a folder must agree; the first that does not is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ritz._core.errors import FileError
from ritz.data.source import Span
from ritz.data.sources.arrow import ArrowSource, Field, fields_of
from ritz.data.sources.files import damaged, file_identity, require_shape

__all__ = ["ParquetSource", "parquet_files"]

SPAN_BYTES = 32 << 20
LARGE_GROUP = 4 << 20  # row groups from which columns are read through buffers, and not as wholes
BUFFER_BYTES = 16 << 20  # of all columns' buffers together
LEAST_BUFFER, MOST_BUFFER = 1 << 14, 1 << 18  # of one column's
PEEK_ROWS = 1024  # rows that tell how long the lists of a column are


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files in a folder and its sub-folders, in the order of their names; hidden ones are left out."""
    found = [path for path in folder.rglob("*") if path.suffix.lower() in {".parquet", ".pq", ".parq"}]
    return sorted(p for p in found if p.is_file() and not any(x[0] in "._" for x in p.relative_to(folder).parts))


class ParquetSource(ArrowSource):
    """Rows of one or several Parquet files."""

    def __init__(self, files: Sequence[Path], root: Path | None = None) -> None:
        self._meta = [_footer(path) for path in files]
        self._keys, key_fields = _partitions(files, root)
        schema = self._meta[0].schema.to_arrow_schema()
        for path, meta in zip(files[1:], self._meta[1:], strict=True):
            _require_same(schema, files[0], meta.schema.to_arrow_schema(), path)
        self._top: list[str] = list(schema.names)  # a new list at every look, hence kept
        self._repeat = _repeats(self._top)
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
        return next(self.record_batches(self.spans[0], fields, PEEK_ROWS))

    def _completed(self, fields: Sequence[Field]) -> list[Field]:
        """Mark the columns whose footers say that no value is missing (NaN needs a floating type anyway)."""
        import dataclasses

        counts = _null_counts(self._meta)
        leaf = {path.split(".")[0]: count for path, count in counts.items()}
        return [dataclasses.replace(f, complete=f.at < 0 or leaf.get(self._top[f.at]) == 0) for f in fields]

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """Record batches of a span, decoded as they are asked for."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        f, groups = span.key
        path, meta = self.files[f], self._meta[f]
        columns = list(dict.fromkeys(self._top[field.at] for field in fields if field.at >= 0))
        largest = max(meta.row_group(g).total_byte_size for g in groups)
        buffer = max(LEAST_BUFFER, min(MOST_BUFFER, BUFFER_BYTES // max(1, len(columns))))
        buffer = buffer if largest > LARGE_GROUP else 0
        straight, places = list(range(len(fields))), None
        try:
            with pq.ParquetFile(path, metadata=meta, pre_buffer=False, buffer_size=buffer) as file:
                for batch in file.iter_batches(rows, row_groups=groups, columns=columns, use_threads=False):
                    places = self._places(fields, batch.schema.names) if places is None else places
                    yield batch if places == straight else self._arranged(batch, fields, places, f)
        except (pa.ArrowException, OSError) as error:
            raise damaged(path, "Parquet file", error) from error

    def _arranged(self, batch: Any, fields: Sequence[Field], places: Sequence[int | None], f: int) -> Any:
        """The columns in the order of the fields, with the partition keys of file ``f``."""
        import pyarrow as pa

        held = [
            pa.repeat(pa.scalar(self._keys[f][field.name], field.type), batch.num_rows)
            if at is None
            else batch.column(at)
            for field, at in zip(fields, places, strict=True)
        ]
        return pa.RecordBatch.from_arrays(held, names=[field.name for field in fields])

    def _places(self, fields: Sequence[Field], names: Sequence[str]) -> list[int | None]:
        """Where fields stand in a batch; None for partition keys, which are the same in all rows of a file.

        Columns that share a name, or its beginning up to a dot, all come, in the order of the file.
        """
        found: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            found.setdefault(name, []).append(place)
        return [None if f.at < 0 else found[self._top[f.at]][self._repeat[f.at]] for f in fields]

    def summaries(self) -> dict[str, Any]:
        """What the footers tell of columns of numbers."""
        from ritz.data.sources.footers import summaries_of

        return summaries_of(self._meta, self.fields, self._top)

    @property
    def decoded(self) -> int:
        """About how many bytes all columns take in memory: numbers by count, text by its uncompressed size."""
        numbers = (self.n_rows or 0) * sum(field.nbytes for field in self._numeric)
        text = {self._top[f.at] for f in self.fields if f.dtype is None and f.at >= 0}
        return numbers + self._bytes(text, packed=False)

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
        return file_identity(self.files, [field.name for field in self.fields])


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
        for g in range(meta.num_row_groups):
            group = meta.row_group(g)
            for j in range(group.num_columns):
                chunk = group.column(j)
                told = chunk.is_stats_set and chunk.statistics.has_null_count
                before = counts.get(chunk.path_in_schema, 0)
                known = told and before is not None
                counts[chunk.path_in_schema] = before + chunk.statistics.null_count if known else None
    return counts


def _partitions(files: Sequence[Path], root: Path | None) -> tuple[list[dict[str, Any]], list[Field]]:
    """Keys of ``key=value`` folders below ``root``: one dictionary a file, and their fields."""
    import pyarrow as pa

    raw = [
        {k: unquote(v) for k, _, v in (part.partition("=") for part in path.relative_to(root).parts[:-1]) if v}
        if root is not None
        else {}
        for path in files
    ]
    names = list(raw[0]) if raw else []
    for path, keys in zip(files, raw, strict=True):
        if list(keys) != names:
            raise FileError(
                f"expected partition folders {names or 'none'} for {path}, as for {files[0]}",
                received=str(list(keys) or "none"),
                hint="give a folder whose files lie equally deep",
            )
    fields, typed = [], [dict[str, Any]() for _ in files]
    for name in names:
        values = [None if keys[name] == "__HIVE_DEFAULT_PARTITION__" else keys[name] for keys in raw]
        whole = all(v is None or (v.lstrip("-").isdigit() and str(int(v)) == v) for v in values)
        fields.append(Field(name, pa.int64() if whole else pa.string(), -1, complete=None not in values))
        for held, value in zip(typed, values, strict=True):
            held[name] = int(value) if whole and value is not None else value
    return typed, fields


def _require_same(first: Any, here: Path, other: Any, there: Path) -> None:
    """Refuse a file whose columns differ, by name and type, from those of the first."""
    for name in first.names:
        if name not in other.names:
            raise _disagree(here, there, f"no column {name!r}")
    for name in other.names:
        if name not in first.names:
            raise _disagree(here, there, f"another column, {name!r}")
    for a, b in zip(first, other, strict=True):
        if a.name != b.name:
            raise _disagree(here, there, f"column {b.name!r} where {a.name!r} was expected")
        if a.type != b.type:
            raise _disagree(here, there, f"column {a.name!r} of type {b.type} instead of {a.type}")


def _disagree(here: Path, there: Path, what: str) -> FileError:
    return FileError(
        f"expected {there} to have the same columns as {here}",
        received=what,
        hint="write the files with one schema, or read them one by one",
    )
