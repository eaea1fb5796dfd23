"""Where rows of numbers go: a file that appears whole, or CSV on stdout for the next program in a pipe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ritz._core.errors import ParameterError
from ritz.cli.scores import Coordinates
from ritz.data.write import row_writer, rows_to
from ritz.methods.base import keep_apart

__all__ = ["save_table", "written"]


def written(output: Path | None, found: Coordinates, table: Any, *, as_json: bool) -> None:
    """Write coordinates to ``output``, or to stdout where there is none."""
    if output is None:
        _free(as_json)
        sys.stdout.flush()
        with rows_to(sys.stdout.buffer, ".csv", found.heads, found.dtype, found.rows) as write:
            found.into(write)
        sys.stdout.buffer.flush()
        return
    keep_apart(output, table)
    with row_writer(output, found.heads, found.dtype) as write:
        found.into(write)


def save_table(output: Path | None, table: Any, *, as_json: bool) -> None:
    """Write an Arrow table of any columns."""
    import pyarrow.csv as pc

    options = pc.WriteOptions(quoting_style="needed")
    if output is None:
        _free(as_json)
        sys.stdout.flush()
        pc.write_csv(table, sys.stdout.buffer, options)
        sys.stdout.buffer.flush()
        return
    _save(output, table, options)


def _save(output: Path, table: Any, options: Any) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    from ritz._core.atomic import replacing
    from ritz._core.errors import FileError
    from ritz.data.write import ENDINGS, disk_errors

    kind = output.suffix.lower()
    if kind not in ENDINGS:
        raise FileError(
            f"expected a file name that ends in one of {', '.join(ENDINGS)}", received=output.name,
            hint=f"write to {output.stem}.csv",
        )  # fmt: skip
    with disk_errors(output), replacing(output) as file:
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
