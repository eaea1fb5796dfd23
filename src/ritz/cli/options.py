"""Options that say how a table is to be read, for every command that reads one.

--drop COL   →  kinds={COL: "drop"}            --id COL  →  kinds={COL: "identifier"}
--na TEXT    →  missing=[TEXT], beside the usual marks
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from ritz._core.errors import ParameterError

__all__ = ["DECIMAL", "DELIMITER", "DROP", "ENCODING", "HEADER", "IDS", "NA", "THOUSANDS", "table_options"]

HEADER = typer.Option(
    "--header/--no-header",
    show_default="found out",
    help="Whether the first line of a text file names the columns.",
)
DELIMITER = typer.Option(metavar="MARK", show_default="found out", help="What separates fields of a text file.")
DECIMAL = typer.Option(metavar="MARK", show_default="found out", help="Decimal mark of a text file: . or ,")
THOUSANDS = typer.Option(metavar="MARK", show_default="found out", help="What groups digits in a text file.")
ENCODING = typer.Option(metavar="NAME", show_default="found out", help="Encoding of a text file, such as latin-1.")
DROP = typer.Option("--drop", metavar="COL", show_default=False, help="Leave out a column; may be given several times.")
IDS = typer.Option(
    "--id", metavar="COL", show_default="found out", help="A column that names the rows; it goes along with the scores."
)
NA = typer.Option(
    "--na", metavar="TEXT", show_default=False, help="A text that counts as missing in a text file, such as -99."
)


def table_options(
    *, drop: Sequence[str] | None = None, ids: Sequence[str] | None = None, na: Sequence[str] | None = None, **text: Any
) -> dict[str, Any]:
    """Keywords of ``ritz.read`` for what the user said; ``text`` is handed on."""
    both = sorted(set(drop or ()) & set(ids or ()))
    if both:
        raise ParameterError(
            "a column is dropped or names the rows",
            received=f"--drop {both[0]} and --id {both[0]}",
            hint="leave out one of them",
        )
    kinds = dict.fromkeys(drop or (), "drop") | dict.fromkeys(ids or (), "identifier")
    return {**text, "kinds": kinds or None, "missing": list(na) if na else None}
