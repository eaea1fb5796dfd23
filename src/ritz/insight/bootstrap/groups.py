"""Components that the data cannot tell apart, and draws turned towards the fit.

    neighbours   z = (gap/2)²/τ²,   τ² = ½(var ½(e_ii − e_jj) + var e_ij)/n,   p = exp(−z/2)
    e_ij         tᵢtⱼ, what a row adds to entry (i, j) of the covariance of the scores; for columns that are
                 standardised anew tᵢtⱼ − ½(λᵢ + λⱼ) Σₘ vₘᵢvₘⱼa²ₘ

Sample eigenvalues of equal true ones repel each other: their squared half gap is spread as the two numbers
½(s_ii − s_jj) and s_ij together, χ² with two degrees of freedom. For Gaussian rows z is the likelihood ratio of the
test of equality [And63]; τ from the rows allows for others. Neighbours with p above 0.05 belong together: only the
subspace that they span means something, and draws are turned to the fit inside it (orthogonal Procrustes), elsewhere
by signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.insight.bootstrap.intervals import Intervals, interval

__all__ = [
    "EQUAL", "Group", "aligned", "angles_between", "cross", "group_of", "grouped", "neighbour_p", "pair_of",
    "table_of_draws",
]  # fmt: skip

Floats = NDArray[np.float64]

#: p-value above which two neighbours are taken together.
EQUAL = 0.05


@dataclass(frozen=True)
class Group:
    """Components that are known only together, or one that is known by itself.

    Attributes
    ----------
    name : "PC2", or "PC3–PC5"
    components : numbers of the components, from 0
    eigenvalue : Intervals of their mean eigenvalue
    angle, angle_high : degrees between the subspace of the fit and those of the draws: median and upper quantile of the
        largest principal angle
    p_values : of the test that neighbours in the group have equal eigenvalues
    open : whether its last component cannot be told from the next one, which the model leaves out
    """

    name: str
    components: tuple[int, ...]
    eigenvalue: Intervals
    angle: float
    angle_high: float
    p_values: tuple[float, ...]
    open: bool

    @property
    def separated(self) -> bool:
        """Whether this is a single component that means something by itself."""
        return len(self.components) == 1 and not self.open


def cross(scores: Floats, i: int, j: int, values: Floats, columns: Floats | None) -> Floats:
    """What each row adds to entry (i, j) of the covariance of the scores, (n,).

    ``columns`` (n,) is Σₘ vₘᵢvₘⱼa²ₘ where columns are standardised anew.
    """
    e = scores[:, i] * scores[:, j]
    return e if columns is None else e - 0.5 * (values[i] + values[j]) * columns


def neighbour_p(e: tuple[Floats, Floats, Floats], gap: float, weights: Floats | None) -> float:
    """p-value of equal eigenvalues from e_ii, e_jj, e_ij of the rows."""
    w = np.ones(len(e[0])) if weights is None else weights
    n = float(np.sum(w))
    unit = max(float(np.max(np.abs(values), initial=0.0)) for values in e) or 1.0
    e, gap = (e[0] / unit, e[1] / unit, e[2] / unit), gap / unit  # squares of e are fourth powers of the data

    def variance(x: Floats) -> float:
        return float(w @ np.square(x - w @ x / n)) / n

    tau = 0.5 * (variance(0.5 * (e[0] - e[1])) + variance(e[2])) / n
    if not tau > 0:
        return 1.0 if gap <= 0 else 0.0
    return float(np.exp(-0.5 * (0.5 * gap) ** 2 / tau))


def grouped(p_values: Floats, k: int) -> list[tuple[list[int], bool]]:
    """Runs of components that belong together, each with whether it goes on beyond the k-th."""
    runs: list[list[int]] = [[0]]
    for j in range(1, k):
        if p_values[j - 1] > EQUAL:
            runs[-1].append(j)
        else:
            runs.append([j])
    beyond = len(p_values) >= k and p_values[k - 1] > EQUAL
    return [(run, beyond and run[-1] == k - 1) for run in runs]


def aligned(turned: Floats, runs: list[list[int]]) -> Floats:
    """T (B, k, k), orthogonal, that turn the components of the draws to those of the fit, run by run."""
    B, k, _ = turned.shape
    T = np.zeros((B, k, k))
    for run in runs:
        if len(run) == 1:
            T[:, run[0], run[0]] = np.where(turned[:, run[0], run[0]] < 0, -1.0, 1.0)
            continue
        group = slice(run[0], run[-1] + 1)
        U, _, Vt = np.linalg.svd(turned[:, group, group])
        T[:, group, group] = np.swapaxes(U @ Vt, 1, 2)
    return T


def angles_between(turned: Floats, run: slice) -> Floats:
    """Largest principal angle in degrees, (B,), between the span of some components of the fit and that of a draw."""
    M = turned[:, run, run]
    least = np.abs(M[:, 0, 0]) if M.shape[1] == 1 else np.linalg.svd(M, compute_uv=False)[:, -1]
    return np.degrees(np.arccos(np.clip(least, 0.0, 1.0)))


def group_of(
    names: list[str], values: Floats, draws: Floats, turned: Floats, run: list[int], more: bool, p: Floats, level: float
) -> Group:
    """What is known about one run of components; values (k,) of the fit, draws (B, k)."""
    group = slice(run[0], run[-1] + 1)
    mean = interval(draws[:, group].mean(axis=1)[None].copy(), np.atleast_1d(values[group].mean()), level, "percentile")
    middle, high = np.quantile(angles_between(turned, group), [0.5, level])
    name = names[run[0]] if len(run) == 1 else f"{names[run[0]]}–{names[run[-1]]}"
    inside = tuple(float(x) for x in p[run[0] : run[-1] + (1 if more else 0)])
    return Group(name, tuple(run), mean.map(lambda x: float(x[0])), float(middle), float(high), inside, more)


def pair_of(components: Any, k: int) -> list[int]:
    """Two different components, from 0."""
    pair = [int(i) for i in components]
    if len(pair) != 2 or pair[0] == pair[1] or not all(0 <= i < k for i in pair):
        raise ParameterError(
            f"components must be two different numbers from 0 to {k - 1}", received=repr(components),
            hint="components=(0, 1)",
        )  # fmt: skip
    return pair


def table_of_draws(found: Any, title: str) -> dict[str, Any]:
    """Eigenvalues and shares of components with their intervals, and whether each means something by itself."""
    values, shares = found.eigenvalues, found.shares
    names = {i: group.name for group in found.groups for i in group.components}
    k = len(np.asarray(values.estimate))
    table: dict[str, Any] = {title: range(1, k + 1), "group": [names.get(i) for i in range(k)]}
    for name, one in (("eigenvalue", values), ("share", shares)):
        table |= {
            name: np.asarray(one.estimate),
            f"{name}_low": np.asarray(one.low),
            f"{name}_high": np.asarray(one.high),
        }
    return table | {"separated": np.asarray(found.separated)}
