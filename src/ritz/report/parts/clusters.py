"""Clusters of rows on their components: the tree, the map, and what sets each cluster apart (FactoMineR's HCPC)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.words import counted
from ritz.insight.clusters.clusters import Clusters, clusters_of
from ritz.insight.clusters.groups import Groups, describe_groups
from ritz.report.colours import column_of
from ritz.report.context import Context
from ritz.report.html import Html, bdi, details, figure, join, number, percent, table, tag
from ritz.report.pack import codes, few
from ritz.report.part import Content, Part
from ritz.report.words import listed

__all__ = ["PART"]

#: Lines of a table, rows named for a cluster, leaves of the tree that is drawn, and variables in a sentence.
LINES, NAMED, LEAVES, SAID = 12, 3, 60, 3


def _applies(about: Context) -> bool:
    return about.clusters is not None and about.clusters is not False and about.rows is not None and about.k > 0


def _build(about: Context) -> Content:
    found = _found(about)
    shown = _shown(about, found)
    told = _described(about, found)
    words = [_number_words(found), _chance_words(found), *_cluster_words(about, found, told)]
    joins, leaves = _top(found, LEAVES)
    drawn = {
        "labels": codes(shown - 1),
        "k": found.k,
        "sizes": found.sizes.tolist(),
        "gains": few(found.gains[: max(10, found.k + 3)]),
        "joins": joins,
        "leaves": leaves,
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(about.offered)],
    }
    lead = [tag("p", word) for word in words if word]
    tables = [_table(about, found, told, g) for g in range(1, found.k + 1)]
    label = f"Rows in {found.k} clusters, and the tree that they are cut from"
    return Content(
        join(lead, figure("clusters", label, tall="tall"), figure("clusters-tree", "Ward's tree"), tables), drawn
    )


def _found(about: Context) -> Clusters:
    asked = about.clusters
    if isinstance(asked, Clusters):
        return asked
    F = about.scores
    w = about.known.row_weights(about.part, len(F), None)
    return clusters_of(F, np.asarray(w, np.float64), None if asked is True else int(asked))


def _shown(about: Context, found: Clusters) -> np.ndarray:
    """(m,) clusters of the rows that are shown; those given may be of all rows."""
    if len(found.labels) == len(about.index):
        return found.labels
    if len(found.labels) != about.n:
        raise InputError(f"clusters are those of {about.n:,} rows", received=f"{len(found.labels):,} labels")
    return found.labels[about.index]


def _described(about: Context, found: Clusters) -> Groups:
    if about.rows is None:
        return Groups({}, [])
    columns = {}
    for name, values in (*about.rows.columns(about.part), *about.beside.items()):
        held = column_of(list(values)) if isinstance(values, list) else np.asarray(values)
        numbers = held.dtype.kind in "fiu"
        columns[str(name)] = (
            held.astype(np.float64) if numbers else [None if v is None else str(v) for v in held.tolist()]
        )
    if not columns:
        return found.axes(names=about.axes[: found.components])
    return describe_groups(columns, [int(g) or None for g in _shown(about, found)])


def _number_words(found: Clusters) -> str:
    share = percent(found.between)
    some = " Rows were gathered to 1,000 points before the tree was made." if found.gathered else ""
    sizes = listed([f"{size:,}" for size in found.sizes.tolist()])
    return (
        f"{found.k} clusters of {sizes} rows, made on {counted(found.components, 'component')} by Ward's tree and "
        f"k-means: {share} of the inertia lies between them.{some}"
    )


def _chance_words(found: Clusters) -> str:
    """Whether clusters are more than the slices of one cloud."""
    if found.k < 2:
        return ""
    own, clouds = found.chance()
    low, high = percent(float(clouds.min())), percent(float(clouds.max()))
    range_words = f"from {low} to {high} in {len(clouds)} clouds of the same spread without clusters"
    if own > clouds.max():
        return f"That is more than in rows without clusters: {range_words}."
    return (
        f"Rows without clusters give as much: {range_words}. These clusters are slices of one cloud, useful to speak "
        "of kinds of rows, but not kinds that the data set apart."
    )


def _cluster_words(about: Context, found: Clusters, told: Groups) -> list[Html]:
    words = []
    for g in range(1, found.k + 1):
        near = [bdi(_row(about, int(row)), 30) for row in found.paragons[g][:NAMED]]
        parts = told.get(g)
        more = [bdi(m.variable, 30) for m in parts.measurements if m.v_test > 0][:SAID] if parts else []
        less = [bdi(m.variable, 30) for m in reversed(parts.measurements) if m.v_test < 0][:SAID] if parts else []
        have = [bdi(one.category, 30) for one in parts.levels if one.v_test > 0][:SAID] if parts else []
        clauses = [join("high in ", listed(more)) if more else None, join("low in ", listed(less)) if less else None,
                   join("often ", listed(have)) if have else None]  # fmt: skip
        kept = [clause for clause in clauses if clause is not None]
        about_it = join(": ", *[piece for i, c in enumerate(kept) for piece in ("; " if i else "", c)]) if kept else ""
        words.append(join(tag("b", f"Cluster {g}"), about_it, ". Nearest to its centre: ", listed(near), "."))
    return words


def _row(about: Context, place: int) -> str:
    """The name of a row: of those shown, or of all where clusters were found among all."""
    if not about.sampled:
        return about.row_name(place)
    at = int(np.searchsorted(about.index, place))
    there = at < len(about.index) and int(about.index[at]) == place
    return about.row_name(at) if there else f"row {place + 1:,}"


def _table(about: Context, found: Clusters, told: Groups, g: int) -> Html:
    parts = told.get(g)
    blocks: list[Any] = []
    rows: list[tuple[Any, ...]]
    head: tuple[str, ...]
    if parts and parts.measurements:
        rows = [
            (bdi(m.variable, 40), number(m.v_test, 3), number(m.mean, 4), number(m.overall_mean, 4), number(m.sd, 3),
             number(m.overall_sd, 3), _p(m.p_value))
            for m in _farthest(parts.measurements)
        ]  # fmt: skip
        head = ("numbers", "v-test", "mean", "overall", "deviation", "overall", "p")
        blocks.append(table(head, rows, f"Numbers that set cluster {g} apart"))
    if parts and parts.levels:
        rows = [(bdi(one.category, 40), number(one.v_test, 3), percent(one.share_of_group), percent(one.overall_share),
                 percent(one.share_of_level), _p(one.p_value)) for one in _farthest(parts.levels)]  # fmt: skip
        head = ("category", "v-test", "of the cluster", "of all rows", "of it in the cluster", "p")
        blocks.append(table(head, rows, f"Categories that set cluster {g} apart"))
    axes = found.axes(names=about.axes[: found.components]).get(g)
    if axes and axes.measurements:
        rows = [(bdi(m.variable, 40), number(m.v_test, 3), number(m.mean, 3), _p(m.p_value))
                for m in _farthest(axes.measurements)]  # fmt: skip
        blocks.append(table(("axis", "v-test", "mean", "p"), rows, f"Axes that set cluster {g} apart"))
    near = listed([bdi(_row(about, int(row)), 40) for row in found.paragons[g]])
    far = listed([bdi(_row(about, int(row)), 40) for row in found.distant[g]])
    blocks.append(tag("p", "Nearest to the centre: ", near, ". Farthest from the other clusters: ", far, "."))
    return details(f"Cluster {g}: {found.sizes[g - 1]:,} rows", *blocks)


def _farthest(records: list[Any]) -> list[Any]:
    kept = sorted(records, key=lambda one: -abs(one.v_test))[:LINES]
    return sorted(kept, key=lambda one: -one.v_test)


def _p(value: float) -> str:
    return "< 1e−300" if value < 1e-300 else number(value, 2)


def _top(found: Clusters, most: int) -> tuple[list[list[Any]], list[dict[str, Any]]]:
    """The upper part of the tree: joins of (left, right, gain) and its leaves with their sizes, from left to right."""
    tree, n = found.tree, len(found.tree) + 1
    first = max(0, n - most)  # joins below this one are hidden in leaves
    order: list[int] = []

    def walk(node: int) -> None:
        stack = [node]
        while stack:
            one = stack.pop()
            if one >= n + first:
                stack += [int(tree[one - n, 1]), int(tree[one - n, 0])]
            else:
                order.append(one)

    if len(tree):
        walk(2 * n - 2)
    place = {node: i for i, node in enumerate(order)}
    joins = []
    for i in range(first, len(tree)):
        place[n + i] = len(order) + i - first
        joins.append([place[int(tree[i, 0])], place[int(tree[i, 1])], float(f"{tree[i, 2]:.6g}")])
    leaves = [{"rows": 1 if node < n else int(tree[node - n, 3])} for node in order]
    return joins, leaves


PART = Part("clusters", "Clusters", _applies, _build)
