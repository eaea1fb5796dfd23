"""What sets groups of rows apart: measurements, categorical variables and their levels.

    a measurement in a group    v = (x̄_g − x̄)/√(s²/n_g · (n − n_g)/(n − 1))           s² = Σ(x − x̄)²/n
    a level in a group          v = ±Φ⁻¹(p/2),  p = min(2P(N < m) + P(N = m), 2P(N > m) + P(N = m))
                                N hypergeometric: n_g rows drawn from n, of which n_l have the level; m is observed
    a measurement, all groups   η² with an F test              a variable, all groups   χ² test of independence

A v-test is about 2 in size where chance ends: it says how far the mean of a group is from that of as many rows drawn at
random without replacement. p-values are those of single variables. These are the numbers of FactoMineR's ``catdes``.
[HLP17, 3.7]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz._core.warn import one_call
from ritz.data.encode import Encoder
from ritz.data.encode.columns import opened
from ritz.data.passes.blocks import blocks_of
from ritz.data.tables.frames import is_missing
from ritz.insight.arguments import table_of_variables

__all__ = ["GroupDescription", "Groups", "Level", "Measurement", "Related", "describe_groups"]

Floats = NDArray[np.float64]


class Measurement(NamedTuple):
    """A measurement in one group."""

    variable: str
    v_test: float
    mean: float  # in the group
    overall_mean: float
    sd: float  # in the group, divisor n
    overall_sd: float
    p_value: float


class Level(NamedTuple):
    """A level of a categorical variable in one group."""

    category: str
    v_test: float
    share_of_level: float  # rows of the level that are in the group
    share_of_group: float  # rows of the group that have the level
    overall_share: float
    p_value: float


class Related(NamedTuple):
    """A variable and all groups: η² of a measurement, χ²/n of a categorical variable, with its degrees of freedom."""

    variable: str
    kind: str  # "measurement" or "categories"
    strength: float
    dof: int
    p_value: float


class GroupDescription(NamedTuple):
    """What sets one group apart.

    Attributes
    ----------
    measurements : list of Measurement, from the largest v-test to the smallest
    levels : list of Level, in the same order
    """

    measurements: list[Measurement]
    levels: list[Level]


class Groups(Tabular, dict[Any, GroupDescription]):
    """Descriptions of groups by name; ``variables`` lists what tells the groups apart at all, by p-value."""

    def __init__(self, described: dict[Any, GroupDescription], variables: list[Related]) -> None:
        super().__init__(described)
        self.variables = variables

    def __repr__(self) -> str:
        lines = []
        for name, (numbers, levels) in self.items():
            lines.append(str(name))
            lines += [
                f"  v {m.v_test:+.2f}  p {m.p_value:.2g}  {m.variable}: mean {m.mean:.4g}, overall {m.overall_mean:.4g}"
                for m in numbers
            ]
            lines += [
                f"  v {one.v_test:+.2f}  p {one.p_value:.2g}  {one.category}: {100 * one.share_of_group:.0f} % of the "
                f"group, overall {100 * one.overall_share:.0f} %" for one in levels
            ]  # fmt: skip
            if not (numbers or levels):
                lines.append("  nothing")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        lines: list[tuple[Any, str, str, float, float]] = []
        for name, (numbers, levels) in self.items():
            lines += [(name, "number", m.variable, m.v_test, m.p_value) for m in numbers]
            lines += [(name, "category", one.category, one.v_test, one.p_value) for one in levels]
        titles = ("group", "kind", "name", "v_test", "p_value")
        return {title: [line[i] for line in lines] for i, title in enumerate(titles)}


@one_call()
def describe_groups(variables: Any, groups: Any, *, alpha: float = 0.05, categorical: Any = None) -> Groups:
    """Describe groups of rows by the variables that set them apart.

    Parameters
    ----------
    variables : frame, Table or array of shape (n, m), one column of a frame, or dict of columns
        Numbers and categories.
    groups : array-like (n,)
        The group of every row; rows without one (None, NaN) belong to none.
    alpha : float
        Largest p-value that is shown; 1 for all.
    categorical : None, "all" or list of names
        Columns of numbers that are categories.

    Returns
    -------
    Groups
        By name of the group: its measurements and levels with v-tests.

    Examples
    --------
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> X = iris.data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> found = insight.describe_groups(X, iris.target_names[iris.target])
    >>> [(m.variable, round(m.v_test, 1)) for m in found["setosa"].measurements]
    [('sepal width', 7.4), ('sepal length', -8.8), ('petal width', -10.8), ('petal length', -11.3)]
    """
    if not (isinstance(alpha, (int, float)) and 0 < alpha <= 1):
        raise ParameterError("alpha must be a number in (0, 1]", received=repr(alpha), hint="alpha=0.05")
    table = opened(table_of_variables(variables))
    labels = list(groups) if isinstance(groups, list) else np.asarray(groups).tolist()
    if table.n_rows != len(labels):
        raise InputError(
            f"groups has one value for each of {table.n_rows} rows", received=f"{len(labels)} values",
            hint="pass the same rows, in the same order",
        )  # fmt: skip
    names: list[Any] = sorted({one for one in labels if not is_missing(one) and one == one}, key=_order)
    if not names:
        raise InputError("expected a group of one row or more", received="no row with a group")
    place = {name: i for i, name in enumerate(names)}
    code = np.array([place.get(one, -1) if one == one and not is_missing(one) else -1 for one in labels], np.intp)
    return Groups(*_described(table, code, names, alpha, categorical))


def _order(name: Any) -> tuple[int, Any, str]:
    return (0, name, "") if isinstance(name, (int, float)) else (1, 0, str(name))


def _described(
    table: Any, code: NDArray[np.intp], names: Sequence[Any], alpha: float, categorical: Any
) -> tuple[dict[Any, GroupDescription], list[Related]]:
    n = table.n_rows
    encoder = Encoder.learn(table, categorical=categorical, numbers=True, missing="exclude", weights=np.full(n, 1 / n))
    Z = np.stack([code == g for g in range(len(names))], axis=1).astype(np.float64)  # (n, G)
    sums, counts = _sums(encoder, encoder.rows(table, unseen=None), Z)
    numbers = _measurements([str(name) for name in encoder.labels[: encoder.p]], sums)
    levels = _levels(encoder, counts, Z)
    related = [*_ratios([str(name) for name in encoder.labels[: encoder.p]], sums), *_independence(encoder, counts)]
    related = sorted((one for one in related if one.p_value <= alpha), key=lambda one: (one.p_value, -one.strength))
    described = {}
    for g, name in enumerate(names):
        measured = sorted((one for one in numbers[g] if one.p_value <= alpha), key=lambda one: -one.v_test)
        kinds = sorted((one for one in levels[g] if one.p_value <= alpha), key=lambda one: -one.v_test)
        described[name] = GroupDescription(measured, kinds)
    return described, related


def _sums(encoder: Encoder, rows: Any, Z: Floats) -> tuple[Floats, Floats]:
    """Σ1, Σx, Σx² of each measurement in each group and in all rows, (p, 3, G + 1); counts of levels likewise."""
    p, G = encoder.p, Z.shape[1]
    sums, counts = np.zeros((p, 3, G + 1)), np.zeros((encoder.d - p, G + 1))
    every = np.column_stack([Z, np.ones(len(Z))])
    for block in blocks_of(rows).each():
        z = block.values if isinstance(block.values, np.ndarray) else block.values.tocsr()
        part = every[block.rows]
        x = np.asarray(z[:, :p] if isinstance(z, np.ndarray) else z[:, :p].toarray(), np.float64)
        there = np.isfinite(x)
        y = np.where(there, x, 0.0)  # near zero already: squares lose nothing
        for i, power in enumerate((there.astype(np.float64), y, y * y)):
            sums[:, i] += power.T @ part
        counts += np.asarray(z[:, p:].T @ part)
    count, first, second = sums[:, 0], sums[:, 1], sums[:, 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / count
        spread = np.maximum(second / count - mean * mean, 0.0)
    moments = np.stack([count, mean + encoder.shift[:, None], spread], axis=1)
    return moments, counts


def _measurements(names: list[str], moments: Floats) -> list[list[Measurement]]:
    from scipy.stats import norm

    count, mean, variance = moments[:, 0], moments[:, 1], moments[:, 2]
    n, overall, spread = count[:, -1:], mean[:, -1:], variance[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        v = (mean[:, :-1] - overall) / np.sqrt(spread / count[:, :-1] * (n - count[:, :-1]) / (n - 1))
        p = 2 * norm.sf(np.abs(v))
    return [
        [
            Measurement(name, float(v[j, g]), float(mean[j, g]), float(overall[j, 0]), float(np.sqrt(variance[j, g])),
                        float(np.sqrt(spread[j, 0])), float(p[j, g]))
            for j, name in enumerate(names) if np.isfinite(v[j, g])
        ]
        for g in range(v.shape[1])
    ]  # fmt: skip


def _levels(encoder: Encoder, counts: Floats, Z: Floats) -> list[list[Level]]:
    from scipy.stats import hypergeom, norm

    n, sizes = len(Z), Z.sum(axis=0)
    every: list[list[Level]] = []
    for g, size in enumerate(sizes.tolist()):
        m, level = np.round(counts[:, g]), np.round(counts[:, -1])
        chance = hypergeom(n, level.astype(int), round(size))
        at = chance.pmf(m)
        p = np.minimum(1.0, np.minimum(2 * chance.cdf(m - 1) + at, 2 * chance.sf(m) + at))
        with np.errstate(invalid="ignore", divide="ignore"):
            of_level, of_group, overall = m / level, m / size, level / n
        v = np.where(of_group >= overall, 1.0, -1.0) * norm.isf(p / 2)
        every.append([
            Level(str(name), float(v[j]), float(of_level[j]), float(of_group[j]), float(overall[j]), float(p[j]))
            for j, name in enumerate(encoder.active.labels) if level[j] > 0
        ])  # fmt: skip
    return every


def _ratios(names: list[str], moments: Floats) -> list[Related]:
    from scipy.stats import f

    found = []
    for name, (count, mean, variance) in zip(names, moments, strict=True):
        inside = count[:-1] > 0
        n, groups = float(count[:-1].sum()), int(inside.sum())
        if groups < 2 or n <= groups:
            continue
        centre = float(count[:-1][inside] @ mean[:-1][inside]) / n
        between = float(count[:-1][inside] @ np.square(mean[:-1][inside] - centre))
        within = float(count[:-1][inside] @ variance[:-1][inside])
        if not between + within > 0:
            continue
        ratio = between / (between + within)
        p = float(f.sf(between / (groups - 1) * (n - groups) / within, groups - 1, n - groups)) if within > 0 else 0.0
        found.append(Related(name, "measurement", ratio, groups - 1, p))
    return found


def _independence(encoder: Encoder, counts: Floats) -> list[Related]:
    from scipy.stats import chi2

    found = []
    owners = encoder.active.owners
    for j, name in enumerate(encoder.vocabulary.names):
        seen = counts[owners == j, :-1]
        seen = seen[seen.sum(axis=1) > 0][:, seen.sum(axis=0) > 0]
        if min(seen.shape) < 2:
            continue
        n = float(seen.sum())
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / n
        statistic, dof = float((np.square(seen - expected) / expected).sum()), (len(seen) - 1) * (seen.shape[1] - 1)
        found.append(Related(str(name), "categories", statistic / n, dof, float(chi2.sf(statistic, dof))))
    return found
