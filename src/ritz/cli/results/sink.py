"""Where rows of numbers go: a file that appears whole, or CSV on stdout for the next program in a pipe."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ritz._core.errors import ParameterError
from ritz._core.visible import visible
from ritz.cli.results.manifest import refuse_existing
from ritz.cli.results.scores import Coordinates
from ritz.data.tables.apart import require_apart
from ritz.data.tables.write import row_writer, rows_to

__all__ = ["require_free", "save_table", "written"]


def require_free(
    output: Path | None, force: bool, model: Iterable[Path], table: Iterable[Path], *, scores: bool = True
) -> bool:
    """Refuse to write over a model and a table, which are read, or over any other file unless the user insists.

    ``scores``: what is written is scores, for the words. True where no file is there.
    """
    if output is None:
        return True
    require_apart(output, model, model=True)
    require_apart(output, table, scores=scores)
    return refuse_existing(output, force)


def written(output: Path | None, scores: Coordinates, *, as_json: bool, fresh: bool) -> None:
    """Write coordinates to ``output``, or to stdout where there is none; ``fresh``: only if no such file has come."""
    if output is None:
        _free(as_json)
        sys.stdout.flush()
        out = _screen()
        with rows_to(out, ".csv", scores.heads, scores.dtype, scores.rows) as write:
            scores.into(write)
        out.flush()
        return
    with row_writer(output, scores.heads, scores.dtype, fresh=fresh) as write:
        scores.into(write)


def save_table(output: Path | None, table: Any, *, as_json: bool, fresh: bool) -> None:
    """Write an Arrow table of any columns."""
    import pyarrow.csv as pc

    options = pc.WriteOptions(quoting_style="needed")
    if output is None:
        _free(as_json)
        sys.stdout.flush()
        out = _screen()
        pc.write_csv(table, out, options)
        out.flush()
        return
    _save(output, table, options, fresh)


def _screen() -> Any:
    """Stdout for bytes: as they are for the next program, without what would steer a terminal for people."""
    return _Screen(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer


class _Screen(io.RawIOBase):
    """A terminal for UTF-8 text, in pieces that may end within a character."""

    def __init__(self, file: Any) -> None:
        self._file, self._decoder = file, codecs.getincrementaldecoder("utf8")("replace")

    def writable(self) -> bool:
        """Say that this is for writing."""
        return True

    def write(self, data: Any) -> int:
        """Write what cannot steer the terminal."""
        data = bytes(data)
        self._file.write(visible(self._decoder.decode(data)).encode())
        return len(data)

    def flush(self) -> None:
        """Hand all to the terminal."""
        self._file.flush()


def _save(output: Path, table: Any, options: Any, fresh: bool) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    from ritz._core.atomic import replacing
    from ritz._core.errors import FileError
    from ritz.data.tables.write import ENDINGS, disk_errors

    kind = output.suffix.lower()
    if kind not in ENDINGS:
        raise FileError(
            f"expected a file name that ends in one of {', '.join(ENDINGS)}", received=output.name,
            hint=f"write to {output.stem}.csv",
        )  # fmt: skip
    with disk_errors(output), replacing(output, fresh=fresh) as file:
        if kind in (".parquet", ".pq"):
            pq.write_table(table, file)
        elif kind in (".arrow", ".feather"):
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        elif kind == ".npy":
            numbers = [name for name in table.schema.names if pa.types.is_floating(table.schema.field(name).type)]
            np.save(file, np.column_stack([table[name].to_numpy() for name in numbers]))
        else:
            tabbed = pc.WriteOptions(quoting_style="needed", delimiter="\t")
            pc.write_csv(table, file, tabbed if kind == ".tsv" else options)


def _free(as_json: bool) -> None:
    """One program reads stdout: it gets rows or JSON."""
    if as_json:
        raise ParameterError("--json and rows cannot both go to stdout", received="no -o", hint="-o scores.csv")
