"""Tables in JSON: rows as objects, in a list or one a line; or columns as lists.

    [{"a": 1, "b": 2}, …]      {"a": 1, "b": 2}⏎{"a": …}      {"a": [1, …], "b": [2, …]}
    {"columns": ["a", "b"], "data": [[1, 2], …]}               {"results": [{"a": 1}, …]}

Keys that a row lacks are missing. An object inside an object becomes columns ``outer.inner``; a list of numbers is an
embedding, any other list its text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ritz._core.errors import FileError
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.text.bytes import open_packed
from ritz.data.words import cut

__all__ = ["begins_like_json", "json_table"]

BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*[\[{])")
#: Memory for a byte of JSON while it is parsed: objects of Python, then columns.
COST = 12
DEPTH = 8


def begins_like_json(path: Path) -> bool:
    """Whether a file begins as JSON does: a brace, or a list of lists or objects."""
    stream, _ = open_packed(path)
    with stream:
        return BEGINS.match(bytes(stream.read(256))) is not None


def json_table(path: Path) -> tuple[Any, tuple[str, ...]]:
    """An Arrow table, and a note on where the rows were found."""
    stream, _ = open_packed(path)
    with stream:
        data = bytes(stream.read(int(room() // COST) + 1))
    if len(data) * COST > room():
        raise too_large(2.0 * len(data) * COST, path, f"more than {len(data) / 1e6:,.1f} MB of JSON")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_table(path, "bytes that are not UTF-8") from error
    try:
        return _table(json.loads(text), path)
    except json.JSONDecodeError as whole:
        return _lines(text, path, whole), ()
    except RecursionError as error:
        raise _no_table(path, "values inside values without end") from error


def _lines(text: str, path: Path, whole: json.JSONDecodeError) -> Any:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            fault = error if rows else whole
            where = number if rows else whole.lineno
            raise _no_table(path, f"line {where}: {fault.msg}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise _no_table(path, "lines that are no objects")
    return _columns([_flat(row) for row in rows])


def _table(value: Any, path: Path) -> tuple[Any, tuple[str, ...]]:
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return _columns([_flat(row) for row in value]), ()
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return _columns([{f"x{j}": cell for j, cell in enumerate(row)} for row in value]), ()
    if isinstance(value, dict):
        names, rows = value.get("columns"), value.get("data")
        if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
            return _columns([dict(zip(map(str, names), row, strict=False)) for row in rows]), ()
        lists = {name: cells for name, cells in value.items() if isinstance(cells, list)}
        tables = [name for name, cells in lists.items() if cells and all(isinstance(row, dict) for row in cells)]
        if len(tables) == 1:
            return _columns([_flat(row) for row in value[tables[0]]]), (f"the rows are those of {tables[0]!r}",)
        if len(lists) == len(value) and len({len(cells) for cells in lists.values()}) == 1:
            n = len(next(iter(lists.values())))
            return _columns([{name: cells[i] for name, cells in lists.items()} for i in range(n)]), ()
        return _columns([_flat(value)]), ()
    raise _no_table(path, f"JSON that begins with {cut(json.dumps(value), 30)!r}")


def _flat(row: dict[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and value and depth < DEPTH:
            out |= _flat(value, f"{before}{name}.", depth + 1)
        else:
            out[f"{before}{name}"] = value
    return out


def _columns(rows: list[dict[str, Any]]) -> Any:
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        try:
            return pa.array(
                [None if value is None else value for value in values], pa.float64() if float in kinds else None
            )
        except (pa.ArrowInvalid, OverflowError):
            return pa.array([None if value is None else float(value) for value in values])
    if kinds == {bool} or kinds == {str}:
        return pa.array(values)
    if kinds == {list} and all(type(x) in (int, float) for value in values for x in value or ()):
        return pa.array([None if value is None else [float(x) for x in value] for value in values])
    return pa.array(
        [None if value is None else value if isinstance(value, str) else json.dumps(value) for value in values]
    )


def _no_table(path: Path, received: str) -> FileError:
    return FileError(
        f"expected a table in JSON at {path}: a list of objects, one object a line, or lists by column",
        received=received,
        hint='write one object for each row: [{"a": 1, "b": 2}, …]',
    )
