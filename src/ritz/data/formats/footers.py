"""What the footers of Parquet files tell of columns: summaries without reading a row.

    Σ over row groups of (rows, missing, least, greatest)

NaN is not counted as missing in a footer; a fit finds it in its first pass. A column whose ends are not written
everywhere is left out here and must be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ritz.data.formats.arrow import Field
from ritz.data.tables.summaries import Summary

__all__ = ["summaries_of"]


def summaries_of(footers: Sequence[Any], fields: Sequence[Field], names: Sequence[str]) -> dict[str, Summary]:
    """Summaries, by field name, of the scalar columns of numbers that the footers describe fully."""
    wanted = {names[f.at]: f for f in fields if f.at >= 0 and f.dtype is not None and not f.width and not f.parse}
    repeated = {name for name, count in Counter(names).items() if count > 1}
    summaries: dict[str, Summary] = {}
    failed: set[str] = set(repeated)
    for meta in footers:
        leaves = [(j, meta.schema.column(j).path) for j in range(meta.num_columns)]
        leaves = [(j, path) for j, path in leaves if path in wanted]
        for g in range(meta.num_row_groups):
            group = meta.row_group(g)
            for j, path in leaves if group.num_rows else ():
                if path in failed:
                    continue
                summary = summaries.get(path)
                if summary is None:
                    summary = summaries[path] = _empty(wanted[path])
                if not _add(summary, group.column(j), group.num_rows):
                    failed.add(path)
    return {wanted[path].name: summary for path, summary in summaries.items() if path not in failed}


def _empty(field: Field) -> Summary:
    summary = Summary(field.type)
    summary.exact = False
    return summary


def _add(summary: Summary, chunk: Any, rows: int) -> bool:
    """Take in one chunk; False when its footer does not say enough."""
    if not chunk.is_stats_set or not chunk.statistics.has_null_count:
        return False
    told = chunk.statistics
    summary.rows += rows
    summary.missing += told.null_count
    if told.null_count == rows:
        return True
    if not told.has_min_max:
        return False
    summary._ends(told.min, told.max)
    return True
