"""Rows that come out of a query: polars LazyFrame, DuckDB relation, pyarrow Dataset and Scanner.

    span   the whole answer, or one fragment of a data set
    pass   the query runs again, with the columns that are asked for

The order of rows must be the same every time; polars and DuckDB keep that of their files unless the query sorts.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, RitzError
from ritz.data.formats.arrow import ArrowSource, Field, fields_of
from ritz.data.formats.files import file_identity, require_shape
from ritz.data.formats.parquet import ParquetSource
from ritz.data.formats.source import Span
from ritz.data.formats.stamp import Stamp, named_files, unchanged

__all__ = ["KeptAnswer", "QuerySource", "from_dataset", "from_duckdb", "from_polars", "from_scanner"]

PEEK_ROWS = 1024

Run = Callable[[Any, list[str], int], Iterator[Any]]  # (key of the span, names, rows) → record batches


class QuerySource(ArrowSource):
    """Rows of a query; ``run`` starts it again."""

    def __init__(
        self,
        run: Run,
        schema: Any,
        peek: Any,
        spans: Sequence[Span],
        *,
        what: str,
        identity: str,
        files: Sequence[Path] = (),
        stamp: Stamp | None = None,
    ) -> None:
        require_shape(spans[-1].stop if spans else 0, len(schema), what)
        super().__init__(fields_of(schema, peek), spans, files)
        self.stamp = stamp
        self._run, self._schema, self._what, self._identity = run, schema, what, identity

    def record_batches(self, span: Span, fields: Sequence[Field], rows: int) -> Iterator[Any]:
        """Run the query and cut its answer to at most ``rows`` rows."""
        import pyarrow as pa

        all_names = self._schema.names
        names = [all_names[field.at] for field in fields]
        seen = 0
        try:
            for batch in self._run(span.key, names, rows):
                seen += batch.num_rows
                columns = [batch.column(name) for name in names]
                some = pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])
                for i in range(0, some.num_rows, rows):
                    yield some.slice(i, rows)
        except RitzError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise _failed(self._what, str(error).splitlines()[0]) from error
        if seen != span.rows:
            raise _failed(self._what, f"{seen} rows where there were {span.rows} before")

    def fingerprint(self) -> str:
        """Changes with the query, and with its files where they are known."""
        return file_identity(self.stamp, self._identity, [field.name for field in self.fields])


def _failed(what: str, received: str) -> FileError:
    return FileError(
        f"expected the same rows from {what} at every reading",
        received=received,
        hint="the data behind it may have changed or be damaged; write it to Parquet and read that",
    )


def from_polars(frame: Any) -> QuerySource:
    """A polars LazyFrame."""
    import polars as pl

    def run(_: Any, names: list[str], rows: int) -> Iterator[Any]:
        some = frame.select(names)
        if hasattr(some, "collect_batches"):
            pieces = some.collect_batches(chunk_size=rows, maintain_order=True)
        else:
            pieces = (some.slice(i, rows).collect() for i in range(0, n, rows))
        for piece in pieces:
            yield from piece.to_arrow().to_batches()

    text = frame.explain(optimized=False)
    stamp = _named(text)
    try:
        n = int(frame.select(pl.len()).collect().item())
        peek = frame.head(PEEK_ROWS).collect().to_arrow()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _failed("a polars LazyFrame", str(error).splitlines()[0]) from error
    plan = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    spans, identity = [Span(0, n)] if n else [], f"polars:{plan}:{n}"
    return QuerySource(run, peek.schema, peek, spans, what="a polars LazyFrame", identity=identity, stamp=stamp)


def _named(query: str) -> Stamp | None:
    """The state of the files that a query names, as far as they are found."""
    files = named_files(query)
    return Stamp(files) if files else None


def from_duckdb(relation: Any, most: float = float("inf")) -> ArrowSource:
    """A DuckDB relation; an answer of more than ``most`` bytes is kept in a temporary file.

    A connection answers one query at a time, and several lanes or passes would need several.
    """

    def reader(some: Any, rows: int) -> Any:
        # Older releases call it by another name.
        return some.to_arrow_reader(rows) if hasattr(some, "to_arrow_reader") else some.fetch_arrow_reader(rows)

    def run(_: Any, names: list[str], rows: int) -> Iterator[Any]:
        yield from reader(relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in names)), rows)

    stamp = _named(relation.sql_query())
    n = int(relation.shape[0])
    peek = reader(relation.limit(PEEK_ROWS), PEEK_ROWS).read_all()
    query = hashlib.blake2b(relation.sql_query().encode(), digest_size=16).hexdigest()
    identity = f"duckdb:{query}:{n}:{peek.schema}"
    spans = [Span(0, n)] if n else []
    source = QuerySource(run, peek.schema, peek, spans, what="a DuckDB relation", identity=identity, stamp=stamp)
    if source.decoded <= most:
        return source
    with unchanged(stamp):
        return KeptAnswer(relation.write_parquet, identity)


class KeptAnswer(ParquetSource):
    """The answer of a query in a temporary Parquet file, which goes when nothing uses it any more."""

    def __init__(self, write: Callable[[str], Any], identity: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ritz-"))
        self._folder = _Folder()
        weakref.finalize(self._folder, shutil.rmtree, folder, ignore_errors=True)
        path = folder / "answer.parquet"
        write(str(path))
        super().__init__([path])
        self._identity = identity

    def fingerprint(self) -> str:
        """Changes with the query, not with the place of the file."""
        return file_identity(None, self._identity, [field.name for field in self.fields])


class _Folder:
    """Lives as long as a source that reads from the folder."""


def from_dataset(dataset: Any) -> QuerySource:
    """A pyarrow Dataset: one span a fragment, or one for all where a filter is part of it."""
    import pyarrow as pa

    options = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}

    def run(fragment: Any, names: list[str], rows: int) -> Iterator[Any]:
        if fragment is None:
            return dataset.to_batches(columns=names, batch_size=rows, **options)
        return fragment.to_batches(schema=dataset.schema, columns=names, batch_size=rows, **options)

    what = "a pyarrow Dataset"
    files = [Path(name) for name in getattr(dataset, "files", []) if Path(name).exists()]
    stamp = Stamp(files) if files else None
    try:
        filtered = bool(getattr(dataset, "_scan_options", None))
        parts = [None] if filtered else list(dataset.get_fragments())
        counts = [dataset.count_rows() if fragment is None else fragment.count_rows() for fragment in parts]
        peek = dataset.head(PEEK_ROWS)
    except (pa.ArrowException, OSError) as error:
        raise _failed(what, str(error).splitlines()[0]) from error
    spans, start = [], 0
    for piece, count in zip(parts, counts, strict=True):
        if count:
            spans.append(Span(start, start + count, piece))
            start += count
    identity = f"dataset:{dataset.schema}:{start}"
    return QuerySource(run, dataset.schema, peek, spans, what=what, identity=identity, files=files, stamp=stamp)


def from_scanner(scanner: Any) -> QuerySource:
    """A pyarrow Scanner over something that can be read again."""
    import pyarrow as pa

    def run(*_: Any) -> Iterator[Any]:
        return iter(scanner.to_batches())  # its columns and sizes were chosen by whoever made it

    what = "a pyarrow Scanner"
    try:
        peek, n = scanner.head(PEEK_ROWS), int(scanner.count_rows())
    except (pa.ArrowException, OSError) as error:
        raise FileError(
            f"expected {what} that can be read again",
            received=str(error).splitlines()[0],
            hint="give the batches themselves, or a Scanner of a Dataset",
        ) from error
    spans = [Span(0, n)] if n else []
    return QuerySource(run, peek.schema, peek, spans, what=what, identity=f"scanner:{peek.schema}:{n}")
