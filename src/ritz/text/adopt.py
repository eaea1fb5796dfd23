"""From whatever holds texts to ``Documents``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError, InputError, ParameterError
from ritz._core.memory import parse
from ritz.data.words import describe, shorten
from ritz.text.collection import BATCH, Documents, InMemory, Once, of_rows
from ritz.text.files import Files, Lines, files_below, text_fields

__all__ = ["documents"]

TABLES = {".csv", ".tsv", ".tab", ".parquet", ".arrow", ".feather", ".ipc"}
LINES = {".jsonl", ".ndjson"}
PACKED = {".gz", ".xz", ".bz2", ".zst", ".lz4"}
#: A batch and what is made of it take about this many times the characters of the batch.
TIMES = 16
LEAST_BATCH = 1 << 16


def documents(source: Any, *, text: str | None = None, encoding: str | None = None, memory: Any = None) -> Documents:
    """Adopt what holds texts.

    Parameters
    ----------
    source : list, Series, array, frame, Table, path or iterable
        Texts in a list, tuple, Series (pandas, polars), Arrow or NumPy array; a frame or ``ritz.Table`` with the name
        of a column in ``text``; the path of a folder (every text file below it), of a text file (one document), of
        lines of JSON, a CSV or Parquet table with ``text``; any iterable of texts.
    text : str, optional
        Column or field that holds the texts; needed where there are several.
    encoding : str, optional
        Encoding of files; without it UTF-8, a byte order mark, or Windows-1252 where bytes are not UTF-8.
    memory : str, int or None
        Limit such as ``"500MB"`` for what is held of the texts at once.

    Returns
    -------
    Documents
        The texts, read in batches.

    Examples
    --------
    >>> import pyarrow, ritz
    >>> frame = pyarrow.table({"title": ["a", "b"], "review": ["thin wings", "red cat"]})
    >>> docs = ritz.text.documents(frame, text="review")
    >>> docs
    Documents(column 'review' of the table: 2 documents)
    >>> list(docs)
    ['thin wings', 'red cat']
    """
    if isinstance(source, Documents):
        return source
    batch = BATCH if memory is None else int(min(BATCH, max(LEAST_BATCH, parse(memory) / TIMES)))
    if isinstance(source, (str, os.PathLike)):
        return _of_path(Path(source), source, text, encoding, memory, batch)
    if encoding is not None:
        raise ParameterError("encoding is for files", received=f"encoding={encoding!r} for {describe(source)}")
    if isinstance(source, (list, tuple)):
        _no_column(text, source)
        return InMemory(source, batch=batch)
    found = _of_library(source, text, memory, batch)
    if found is not None:
        return found
    if isinstance(source, (bytes, Mapping, Set)) or not isinstance(source, Iterable):
        raise InputError(
            "expected texts: a list, a Series, a column of a table, a path or an iterable of str",
            received=describe(source),
            hint="give a list of str: list(texts.values())" if isinstance(source, Mapping) else "give a list of str",
        )
    _no_column(text, source)
    return Once(source, batch=batch)


def _of_library(source: Any, text: str | None, memory: Any, batch: int) -> Documents | None:
    """Documents of arrays, Series and frames; None of anything else."""
    import narwhals as nw
    import numpy as np
    import pyarrow as pa

    from ritz.data.tables.read import read
    from ritz.data.tables.table import Table

    if isinstance(source, Table):
        return of_rows(source, text, batch=batch)
    if isinstance(source, np.ndarray):
        _no_column(text, source)
        if source.ndim != 1 or source.dtype.kind not in "OUT":
            raise InputError(
                "expected a one-dimensional array of texts", received=describe(source),
                hint="X.ravel() of texts; numbers are counts, documents × words",
            )  # fmt: skip
        return InMemory(source, batch=batch)
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        _no_column(text, source)
        return InMemory(source, batch=batch)
    try:
        seen = nw.from_native(source, allow_series=True)
    except TypeError:
        return None
    if isinstance(seen, nw.Series):
        _no_column(text, source)
        arrow = seen.implementation.is_polars()
        return InMemory(source.to_arrow() if arrow else seen.to_numpy(), _labels(source), batch=batch)
    if isinstance(seen, nw.LazyFrame):
        return of_rows(read(source, memory=memory), text, batch=batch)
    names = seen.columns
    column = text if text is not None else names[0] if len(names) == 1 else None
    if column is None or column not in names:
        raise InputError(
            "expected text= with the name of the column of texts",
            received="no name" if text is None else repr(text),
            hint=f"the columns are {shorten([repr(name) for name in names])}",
        )
    one = seen[column]
    items = one.to_arrow() if not seen.implementation.is_pandas_like() else one.to_numpy()
    return InMemory(items, _labels(source), f"column {column!r} of the table", batch=batch)


def _labels(source: Any) -> list[str] | None:
    """Labels of a pandas index that is more than a count."""
    index = getattr(source, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return [str(label) for label in index]


def _of_path(path: Path, source: Any, text: str | None, encoding: str | None, memory: Any, batch: int) -> Documents:
    try:
        folder, there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a name that no file can have: a text itself
        folder = there = False
    if folder:
        _no_column(text, path)
        paths, names = files_below(path)
        return Files(paths, names, str(path), encoding, batch=batch)
    if not there:
        raise FileError(
            "expected the path of a file or folder",
            received=describe(source if isinstance(source, str) else str(source)),
            hint="a text itself goes into a list: [text]",
        )
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in PACKED]
    ending = endings[-1] if endings else ""
    if ending in LINES:
        if text is None:
            fields = text_fields(path, encoding)
            raise InputError(
                f"expected text= with the name of the field of texts in {path.name}",
                received=f"no name; the fields of its first line are {shorten([repr(name) for name in fields])}"
                if fields else "no name",
                hint=f"text={(fields[-1] if fields else 'text')!r}",
            )  # fmt: skip
        return Lines(path, text, encoding, batch=batch)
    if ending in TABLES or text is not None:
        from ritz.data.tables.read import read

        return of_rows(read(path, memory=memory, encoding=encoding), text, batch=batch)
    return Files([path], [path.name], path.name, encoding, batch=batch)


def _no_column(text: str | None, source: Any) -> None:
    if text is not None:
        raise ParameterError(
            "text= names a column of a table or a field of records",
            received=f"text={text!r} for {describe(source)}",
            hint="leave out text=",
        )
