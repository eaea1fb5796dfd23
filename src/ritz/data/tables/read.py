"""Anything with rows and columns to a table: files, folders, frames, arrays, queries, batches.

    read(path or object)  →  Table, in memory where it is small or a quarter of the stated limit holds it,
                             else where it lies

A Table without a stated limit is loaded by the first fit whose own limit holds it four times.

The content of a file decides, not its ending: ``PAR1`` is Parquet, ``\\x93NUMPY`` an array, ``ARROW1`` an Arrow file,
well-known other formats are refused by name, and all else is read as delimited text. Nothing is ever unpickled, and
nothing is mapped into memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ritz._core.errors import InputError, RitzError
from ritz._core.memory import limit, within
from ritz._core.progress import Progress, using
from ritz._core.warn import one_call
from ritz.data.formats.files import unreadable
from ritz.data.tables.objects import is_anndata, source_of
from ritz.data.tables.table import EAGER_SHARE, Column, Table
from ritz.data.words import shorten

if TYPE_CHECKING:
    from ritz.data.tables.paths import Found

__all__ = ["read"]

#: Bytes up to which a table is loaded where no limit is stated, and that looking at its columns may take: a CSV file of
#: 200,000×20 took 0.39 s of processor time with 20 MB, 0.36 with 40, 0.35 with 80.
EAGER_BYTES, LOOK_BYTES = 8e6, 40e6


@one_call()
def read(
    source: Any,
    *,
    header: bool | None = None,
    memory: Any = None,
    kinds: Mapping[str, str] | Callable[[list[str]], Mapping[str, str]] | None = None,
    layer: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    skip: int | None = None,
    coerce: bool = False,
    like: Mapping[str, Any] | None = None,
    sheet: str | int | None = None,
    image_shape: tuple[int, int] | None = None,
    progress: Progress | bool | None = None,
) -> Table:
    """Read a table from a file, a folder, a frame, an array, a query, or batches of rows.

    Parameters
    ----------
    source : path or object
        CSV and its relatives (also packed: ``.csv.gz``), Parquet (a file, a folder, hive partitions), Arrow and Feather
        files, ``.npy``, ``.npz`` with one array or a sparse matrix, ``.h5ad`` and zarr where their libraries are there;
        workbooks (``.xlsx``, ``.ods``), JSON and lines of JSON, SQLite and DuckDB files, folders of pictures;
        pandas, polars and Arrow frames, arrays, sparse matrices; polars LazyFrames, pyarrow Datasets, DuckDB relations;
        any iterable of batches. An iterator of batches can be read once only.
    header : bool or None
        Whether the first line of a text file names the columns; None finds out, and ``notes`` says what was found.
    memory : str, int or None
        Memory limit, such as ``"2GB"``. A table that takes more than a quarter of it stays where it is and is read in
        pieces: the numbers are the same. Without it only small tables are loaded at once; a larger one is loaded by
        the first fit whose limit allows it.
    kinds : mapping or callable, optional
        What columns are, where the table would be misread: ``{"zip": "categorical", "year": "numeric"}``;
        ``"drop"`` leaves a column out. A function gets the names of all columns and gives such a mapping.
    layer : str, optional
        Layer of an AnnData store to read instead of X.
    delimiter, decimal, thousands, encoding : str, optional
        How a text file is written; found out without them.
    missing : sequence of str, optional
        Texts of a text file that count as missing beside the usual marks, such as ``["-99"]``.
    keep : sequence of str, optional
        Usual marks of missing values that are values here, such as ``["None"]``.
    skip : int, optional
        Lines before the header of a text file; found out without it.
    coerce : bool
        Whether values that are no numbers become missing in columns that are nearly all numbers; otherwise such a
        column is set aside, and the values are named.
    like : mapping, optional
        ``written`` of another Table: a text file is read as that one was, unless that cannot be. Its entry ``kinds``,
        if there is one, holds as ``kinds`` does for those columns that are there.
    sheet : str or int, optional
        Sheet of a workbook, by name or by number from 1, the first without it; table of a database; array of an
        ``.npz``.
    image_shape : (height, width), optional
        Pixels that the pictures of a folder are brought to; or the shape of the pictures that the rows of a table are.
    progress : None, bool or callable
        Looking at a long file takes time: None shows a bar on a terminal, False nothing; a function of an event is
        called instead, and stops by returning False.

    Returns
    -------
    Table
        With the kind of every column and the number of missing values.

    Raises
    ------
    FileError
        When there is no such file, or it holds no table, or no rows.

    Examples
    --------
    >>> import ritz
    >>> from importlib.resources import files
    >>> wine = ritz.read(files("ritz") / "data/samples/wine.csv")
    >>> wine.n_rows, wine.names[:4]
    (178, ['cultivar', 'alcohol', 'malic_acid', 'ash'])
    >>> with open("shops.csv", "w") as file:
    ...     for line in ("shop;turnover;kind", "A17;1.204,50;old", "B02;987,00;new", "C40;n/a;old", "D11;2.310,20;new"):
    ...         print(line, file=file)
    >>> shops = ritz.read("shops.csv")            # the delimiter and the decimal comma are found out
    >>> shops.kinds, shops.missing
    ({'shop': 'identifier', 'turnover': 'numeric', 'kind': 'categorical'}, {'turnover': 1})
    """
    if isinstance(source, Table):
        return source
    from ritz.data.tables.paths import Found, Ways, from_path, no_options, refuse_address

    allowed, eager = limit(memory), EAGER_BYTES if memory is None else EAGER_SHARE * limit(memory)
    text: dict[str, Any] = {"header": header, "delimiter": delimiter, "decimal": decimal, "thousands": thousands}
    text |= {"encoding": encoding, "missing": missing, "keep": keep, "skip": skip}
    with using(progress, "read"), within(allowed):
        if not isinstance(source, (str, os.PathLike)):
            no_options(**text, layer=None if is_anndata(source) else layer, sheet=sheet)
            found = Found(source_of(source, EAGER_SHARE * allowed, layer))
            return _table(found, _both(found, like, kinds), memory, eager, coerce)
        try:
            refuse_address(source)
            look = LOOK_BYTES if memory is None else EAGER_SHARE * allowed
            ways = Ways(layer, sheet, image_shape, eager, look, EAGER_SHARE * allowed)
            more = {"coerce": coerce, **_followed(like)}
            found = from_path(Path(source), text, more, ways)
            return _pictured(_table(found, _both(found, like, kinds), memory, eager, coerce), image_shape)
        except OSError as error:
            if isinstance(error, RitzError):
                raise
            raise unreadable(source, error) from error


def _pictured(table: Table, shape: tuple[int, int] | None) -> Table:
    """The table, whose rows are pictures of this shape where the user says so."""
    if shape is None:
        return table
    numbers = sum(column.kind in ("numeric", "constant") for column in table.columns)
    if len(shape) != 2 or shape[0] * shape[1] != numbers:
        raise InputError(
            f"expected {shape[0]}×{shape[1]} = {shape[0] * shape[1]:,} columns of numbers for image_shape",
            received=f"{numbers:,}",
            hint="image_shape=(height, width) of the pictures in the rows",
        )
    table.image_shape = tuple(shape)
    return table


def _followed(like: Mapping[str, Any] | None) -> dict[str, Any]:
    """How another file was written, as options of a text file."""
    return {} if not like else {"decimal_like": like.get("decimal"), "readings": like.get("columns") or {}}


def _both(found: Found, like: Mapping[str, Any] | None, kinds: Any) -> Mapping[str, str] | None:
    """What the user says of columns, and what was said of another table, as far as it has the same columns."""
    before = (like or {}).get("kinds") or {}
    source = found.source
    if callable(kinds):
        fields = getattr(source, "fields", None)
        kinds = kinds([*source.label_names, *source.names] if fields is None else [field.name for field in fields])
    if not before:
        return cast(Mapping[str, str] | None, kinds)
    there = {*source.names, *source.label_names}
    return {**{name: kind for name, kind in before.items() if name in there}, **(kinds or {})}


def _table(opened: Found, kinds: Mapping[str, str] | None, memory: Any, eager: float, coerce: bool) -> Table:
    """Load what is small enough, and say what the columns are."""
    from ritz.data.formats.columns import judge, said
    from ritz.data.formats.load import load
    from ritz.data.formats.matrix import MemoryMatrix
    from ritz.data.formats.memory import ArrowTable, coerced

    source, forced = said(opened.source, kinds)
    in_memory = isinstance(source, (ArrowTable, MemoryMatrix))
    if not in_memory and source.repeatable and source.decoded <= eager:
        source = load(source)
    dropped = [repr(name) for name, kind in (kinds or {}).items() if kind == "drop"]
    notes = (*opened.notes, f"left out, as you said: {shorten(dropped)}") if dropped else opened.notes
    shared = [repr(field.name) for field in getattr(source, "fields", ()) if field.shared]
    if shared:
        notes = (*notes, f"some columns share a name; a number was added: {shorten(shared)}")
    _require_no_strays(opened, forced)
    columns = [column if column.name in forced else opened.judged(column) for column in judge(source, forced)]
    if coerce and isinstance(source, ArrowTable) and (strays := [c.name for c in columns if c.strays]):
        source, more = coerced(source, strays)
        notes, columns = (*notes, *more), judge(source, forced)
    stated = None if memory is None else limit(memory)
    made = Table(
        columns, source, source=opened.name, notes=notes, line=opened.line, memory=stated, forced=forced,
        marks=opened.marks, written=opened.written,
    )  # fmt: skip
    made.image_shape = opened.image
    return made


def _require_no_strays(opened: Found, forced: Mapping[str, str]) -> None:
    """Refuse columns that are to be numbers and hold other values, each with its line."""
    meant = [name for name in opened.strays if forced.get(name) == "numeric"]
    if meant:
        from ritz.data.tables.strays import stray_error

        line = opened.line
        columns = [opened.judged(Column(name, "text")) for name in meant]
        raise stray_error(columns, opened.name, lambda row: f"line {line(row)}" if line else f"row {row}")
