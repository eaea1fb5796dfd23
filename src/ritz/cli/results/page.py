"""The report of a fit, as the bytes of a page.

The page gets the whole table, so that a reader can colour rows by columns that took no part; strings come as a list,
with the other columns beside them.
"""

from __future__ import annotations

from typing import Any

from ritz.data.tables.table import Table

__all__ = ["render_page", "render_texts"]

LABELS = ("categorical", "numeric")


def render_page(
    model: Any, rows: Any, table: Table, *, color: str | None, title: str, command: str | None, seed: Any = None,
    supplementary: list[str] | None = None, found: dict[str, Any] | None = None, ranks: Any = None,
) -> bytes:  # fmt: skip
    """The page about ``model`` and the ``rows`` of ``table``."""
    from ritz.report import render
    from ritz.report.origin import Named

    given: dict[str, Any] = {"title": title, "command": command, "seed": seed}
    given |= found or {}
    given["ranks"] = ranks
    if supplementary:
        given["supplementary"] = supplementary
    shape = table.image_shape
    if shape is not None and len(shape) == 2 and getattr(model, "n_features_in_", 0) == shape[0] * shape[1]:
        given["image_shape"] = shape
    if isinstance(rows, list):
        kinds = table.kinds
        first = [color] if color is not None else []
        columns = [*first, *(name for name, kind in kinds.items() if kind in LABELS and name != color)]
        names = next((name for name, kind in kinds.items() if kind == "identifier"), None)
        given |= {"color": {name: table.labels(name) for name in columns} or None}
        given |= {"names": rows if names is None else [str(label) for label in table.labels(names)]}
        rows = Named(rows)
        rows.origin = getattr(table, "origin", None)
        return render(model, rows, **given).encode("utf-8", "replace")
    return render(model, table, color=color, **given).encode("utf-8", "replace")


def render_texts(
    model: Any, texts: Any, *, color: str | None, title: str, command: str | None, seed: Any = None
) -> bytes:
    """The page about a model of ``texts``; columns of their table are there to colour by."""
    from ritz.report import render

    given: dict[str, Any] = {"title": title, "command": command, "seed": seed, "names": texts.documents.names}
    if texts.table is not None:
        kinds = texts.table.kinds
        first = [color] if color is not None else []
        columns = [
            *first,
            *(name for name, kind in kinds.items() if kind in LABELS and name not in (color, texts.column)),
        ]
        given["color"] = {name: texts.table.labels(name) for name in columns} or None
    texts.documents.origin = texts.origin
    return render(model, texts.documents, **given).encode("utf-8", "replace")
