"""Files and lines of the summary about clusters, rotations and rows that took no part."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.warn import unsaid
from ritz.cli.results.scores import axis_heads
from ritz.data.tables.table import Table
from ritz.data.words import counted
from ritz.methods.fitted import fitted_of

__all__ = ["Found", "extra_facts", "extra_files", "extra_lines", "found_besides"]


class Found:
    """What was found besides the components."""

    def __init__(self, clusters: Any = None, rotation: Any = None, rows: Table | None = None) -> None:
        self.clusters, self.rotation, self.rows = clusters, rotation, rows

    def page(self) -> dict[str, Any]:
        """For the report."""
        given = {"clusters": self.clusters, "rotation": self.rotation, "supplementary_rows": self.rows}
        return {name: value for name, value in given.items() if value is not None}


def extra_facts(found: Found, numbers: list[int]) -> dict[str, Any]:
    """For the manifest, ``--json`` and the summary."""
    facts: dict[str, Any] = {}
    if found.rows is not None:
        facts["supplementary_rows"] = numbers
    if found.clusters is not None:
        one = found.clusters
        facts["clusters"] = {"number": one.k, "sizes": one.sizes.tolist(), "between": float(one.between),
                             "components": one.components}  # fmt: skip
    if found.rotation is not None:
        shares = np.asarray(found.rotation.variance_ratio, np.float64).tolist()
        facts["rotation"] = {"method": found.rotation.method, "shares": shares}
    return facts


def extra_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """For the summary."""
    lines = []
    if facts.get("supplementary_rows"):
        lines.append(
            ("further rows", f"{counted(len(facts['supplementary_rows']), 'row')} placed without part in the axes")
        )
    if "clusters" in facts:
        one = facts["clusters"]
        sizes = ", ".join(f"{size:,}" for size in one["sizes"])
        on = counted(one["components"], "component")
        between = f"{100 * one['between']:.1f} % of the inertia lies between them"
        lines.append(("clusters", f"{one['number']} on {on}, of {sizes} rows; {between}"))
    if "rotation" in facts:
        shares = ", ".join(f"{100 * share:.1f} %" for share in facts["rotation"]["shares"][:8])
        lines.append(("rotation", f"{facts['rotation']['method']}: {shares} of the variance"))
    return lines


def found_besides(done: Any, extra: Any, parts: Any, *, chosen: bool, beside: Table | None) -> Found:
    """Clusters and a rotation, where they are asked for."""
    if not extra.asked:
        return Found()
    from ritz.cli.fitting.extra import clusters_of_fit, rotation_of_fit

    rows = done.rows if isinstance(done.rows, list) else parts.whole
    with unsaid():  # columns that are set aside were said to be
        clusters = clusters_of_fit(done, rows, extra, chosen, parts.weight())
        return Found(clusters, rotation_of_fit(done, extra), beside)


def extra_files(found: Found, done: Any, table: Table) -> dict[str, Any]:
    """Files by name, as Arrow tables."""
    files: dict[str, Any] = {}
    if found.clusters is not None:
        files["clusters.csv"] = _clusters(found.clusters, table)
        described = _described(found.clusters, table)
        if described is not None:
            files["cluster_description.csv"] = described
    if found.rotation is not None:
        files["rotated_components.csv"] = _loadings(found.rotation, done)
        files["rotated_scores.csv"] = _scores(found.rotation, table)
    if found.rows is not None:
        files["supplementary_rows.csv"] = _rows(done.model, found.rows)
    return files


def _named(table: Table) -> dict[str, Any]:
    names = [name for name, kind in table.kinds.items() if kind == "identifier"]
    places = getattr(table, "places", None)
    rows = np.arange(1, len(table) + 1) if places is None else np.asarray(places) + 1
    return {"row": rows} | {name: table.labels(name) for name in names}


def _clusters(found: Any, table: Table) -> Any:
    import pyarrow as pa

    first = _named(table) if len(table) == len(found.labels) else {"row": np.arange(1, len(found.labels) + 1)}
    return pa.table(first | {"cluster": found.labels})


def _described(found: Any, table: Table) -> Any:
    """What sets clusters apart, one line a variable or category of a cluster."""
    import pyarrow as pa

    wanted = [one.name for one in table.columns if one.kind in ("numeric", "categorical")]
    if len(table) != len(found.labels) or not wanted:
        return None
    told = found.describe(pa.table({name: pa.array(table.labels(name)) for name in wanted}))
    rows: list[tuple[Any, ...]] = []
    for cluster, (numbers, levels) in told.items():
        rows += [(cluster, "mean", m.variable, m.v_test, m.mean, m.overall_mean, m.p_value) for m in numbers]
        rows += [(cluster, "share", one.category, one.v_test, one.share_of_group, one.overall_share, one.p_value)
                 for one in levels]  # fmt: skip
    heads = ("cluster", "what", "column", "v_test", "in_cluster", "overall", "p_value")
    return pa.table({head: pa.array([row[i] for row in rows], type=None if rows else pa.null()) for i, head in
                     enumerate(heads)})  # fmt: skip


def _heads(found: Any) -> list[str]:
    k = len(found.matrix)
    return [f"RC{i + 1}" for i in range(k)]


def _loadings(found: Any, done: Any) -> Any:
    import pyarrow as pa

    L = _plain(found.loadings, len(found.matrix))
    return pa.table({"column": done.columns} | {head: L[:, i] for i, head in enumerate(_heads(found))})


def _scores(found: Any, table: Table) -> Any:
    import pyarrow as pa

    with unsaid():
        F = _plain(found.scores(table), len(found.matrix))
    return pa.table(_named(table) | {head: F[:, i] for i, head in enumerate(_heads(found))})


def _plain(values: Any, k: int) -> np.ndarray:
    if hasattr(values, "column_names"):
        return np.column_stack([values.column(i).to_numpy() for i in range(values.num_columns)[-k:]])
    return np.ascontiguousarray(np.asarray(values, np.float64)[:, -k:])


def _rows(model: Any, rows: Table) -> Any:
    """Coordinates and cos² of rows that took no part."""
    import pyarrow as pa

    from ritz._core.errors import RitzError

    fitted, heads = fitted_of(model), axis_heads(model)
    with unsaid():
        F = np.asarray(fitted.scores(rows), np.float64)
    columns = _named(rows) | {head: np.ascontiguousarray(F[:, i]) for i, head in enumerate(heads)}
    try:
        squares = np.asarray(fitted.squares(rows)[1], np.float64)
    except RitzError:
        return pa.table(columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        cos2 = np.square(F) / squares[:, None]
    return pa.table(columns | {f"{head}_cos2": np.ascontiguousarray(cos2[:, i]) for i, head in enumerate(heads)})
