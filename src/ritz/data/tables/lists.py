"""The error for a table whose lists of numbers hold nothing that can be used, and little beside them does.

    {"id": 17, "embedding": null}       the numbers of an embedding were meant, not those that name its rows

Lists that are all missing, all empty or of different lengths are set aside as any such column. Where all that is left
is one number a row, or whole numbers, which name and count rows, an analysis of these would answer another question;
the user says so where it is meant: by leaving out the lists, or by calling the numbers numeric.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ritz._core.errors import InputError
from ritz.data.tables.table import RAGGED, Column, Table
from ritz.data.words import shorten

__all__ = ["lost_lists"]

#: Names of columns that hold embeddings where they hold anything: a writer that met no list knows no type.
NAMED = re.compile(r"(^|[\s_.-])(embeddings?|embeds?|emb|vectors?|vec|features?)$", re.IGNORECASE)


def _by_kinds(names: Sequence[str]) -> str:
    return "kinds={" + ", ".join(f"{name!r}: 'drop'" for name in names) + "}"


def lost_lists(table: Table, dropping: Callable[[Sequence[str]], str] = _by_kinds) -> InputError | None:
    """The error that names the lists, and the way to go on without them; None where numbers are left, or were meant."""
    types = table.types
    lost = [column for column in table.columns if column.kind != "numeric" and _lost(column, types.get(column.name))]
    left = [column.name for column in table.columns if column.kind == "numeric"]
    said = table.said
    if not lost or not left or any(said.get(name) == "numeric" for name in left):
        return None
    if any(name not in types for name in left):  # columns of other lists, which can be used
        return None
    if len(left) > 1 and not all(_whole(types[name]) for name in left):
        return None
    told = "; ".join(f"{column.name!r} ({column.reason})" for column in lost)
    return InputError(
        f"expected lists of numbers, of one length, in {shorten([repr(column.name) for column in lost])} of "
        f"{table.source or 'the table'}",
        received=f"{told}, and beside them {shorten([repr(name) for name in left])} alone",
        hint=f"fill the lists; {dropping([column.name for column in lost])} analyses the other columns",
    )


def _lost(column: Column, kind: Any) -> bool:
    """Whether a column that is set aside was to hold lists of numbers."""
    import pyarrow.types as pt

    from ritz.data.formats.pack import numpy_dtype

    if kind is None:
        return False
    if pt.is_null(kind):
        return NAMED.search(column.name) is not None
    lists = pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind)
    numbers = lists and (numpy_dtype(kind.value_type) is not None or pt.is_null(kind.value_type))
    return numbers and (column.kind == "constant" or column.reason.startswith((RAGGED, "values of type")))


def _whole(kind: Any) -> bool:
    import pyarrow.types as pt

    return bool(pt.is_integer(kind))
