"""The separate analyses of groups, and what follows from the whole AᵀA.

    own analysis of group g    B_gᵀB_g V_g = V_g Λ_g,   B_g its columns under their own scale;   A_g = B_g/√λ₁(g)
    Lg(g, h)                   ‖A_gᵀA_h‖²_F = tr(W_g W_h),   W_g = A_g A_gᵀ
    within g on axis k         ‖A_g v_k‖²,   v_k the part of axis k in group g

With the moment state all of this is read off blocks of one d×d matrix. Without it, with more columns than a state is
kept for, each group is solved on its own columns, and Lg comes from the n×n matrices W where there are few rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import Statistics
from ritz.operators import Centered, MomentGram, Scaled, Weighted
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import Positive, SpectralProblem
from ritz.spectral.solution import Solution

if TYPE_CHECKING:
    from ritz.methods.correspondence.mfa.mfa import MFA

__all__ = ["Summary", "adopt_axes", "from_rows", "from_state", "lg_of_rows", "own_axes", "scaled_gram", "weighted_mean"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Axes of a group whose eigenvalue is a smaller share of its first are rounding.
NOTHING = 1e-13
#: Columns that are added to a matrix W at once.
TILE = 1024


def from_state(model: MFA, state: Moments, own: Floats, places: Places) -> Solution:
    """The analysis of some columns of a state with Σw = 1."""
    some = replace(
        state, shift=state.shift[places], offset=state.offset[places], scatter=state.scatter[np.ix_(places, places)],
        lost=None if state.lost is None else state.lost[places], scatter_low=None, offset_low=None,
    )  # fmt: skip
    shape = Shape(state.rows, len(places), 8, None, symmetric=True)
    wanted = _wanted(model, state.rows, len(places))
    problem = SpectralProblem(
        MomentGram(some, center=True, scale=own[places]), kind="eigh", n=float(state.rows), d=len(places),
        rows=state.rows, centered=True, repeatable=False, **model._request(wanted, shape),
    )  # fmt: skip
    return _solved(model, problem, model._plan_for(shape, wanted, whole=True))


def from_rows(model: MFA, R: Any, weights: Floats, own: Floats, names: list[str]) -> Solution:
    """The analysis of rows in memory, weights with Σw = 1."""
    shape = model._shape(R)
    wanted = _wanted(model, shape.n, shape.d)
    plan = model._plan_for(shape, wanted)
    leaf, stats = model._leaf(R, weights, plan)
    stats.names = names
    A = Weighted(Scaled(Centered(leaf, stats), own), stats.weights)
    problem = SpectralProblem(
        A, n=float(stats.rows), d=shape.d, rows=stats.rows, centered=True, repeatable=True,
        **model._request(wanted, shape),
    )  # fmt: skip
    return _solved(model, problem, plan, R)


def _solved(model: MFA, problem: SpectralProblem, plan: Plan, rows: Any = None) -> Solution:
    """The spectrum, by a model of its own: what this one remembers is the whole."""
    return type(model)(**model.get_params(deep=False))._solve(problem, plan, 1.0, {}, rows)


def _wanted(model: MFA, rows: int, d: int) -> Any:
    """As many axes of a group as of the whole, and no more than it has."""
    most = max(1, min(rows - 1, d))
    asked = model.n_components
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        return max(1, min(int(asked), most))
    return Positive(most)


def own_axes(spectrum: Solution, group: str) -> tuple[Floats, Floats]:
    """Eigenvalues (k,) and axes (d, k) of a group; a group that does not vary is refused by name."""
    values = np.asarray(spectrum.values, np.float64)
    if len(values) == 0 or not values[0] > 0:
        raise InputError(
            f"expected a group that varies, not {group!r}", received="constant columns only", hint="leave the group out"
        )
    kept = values > NOTHING * values[0]
    return values[kept], np.asarray(spectrum.vectors)[:, kept]


# what follows from AᵀA


class Summary:
    """Lg of the groups, the inertia of their parts of the axes, and the norms of the rows of AᵀA."""

    def __init__(self, gram: Floats, groups: dict[str, Places], V: Floats) -> None:
        parts = list(groups.values())
        self.lg = np.array([[np.sum(np.square(gram[np.ix_(a, b)])) for b in parts] for a in parts])
        self.within = np.array([np.einsum("jk,jl,lk->k", V[a], gram[np.ix_(a, a)], V[a], optimize=True) for a in parts])
        self.norms = np.square(gram).sum(axis=1)


def scaled_gram(state: Moments, scale: Floats) -> Floats:
    """AᵀA (d×d) from a state."""
    factor = state.unit / scale
    return state.scatter * (factor[:, None] * factor / state.weight)


def lg_of_rows(R: Any, w: Floats, mean: Floats, scale: Floats, groups: dict[str, Places]) -> Floats:
    """Lg from the n×n matrices W of the groups."""
    root = np.sqrt(w)[:, None]
    matrices = []
    for places in groups.values():
        W = np.zeros((len(w), len(w)))
        for start in range(0, len(places), TILE):
            at = places[start : start + TILE]
            columns = R[:, at]
            A = root * ((columns if isinstance(columns, np.ndarray) else columns.toarray()) - mean[at]) / scale[at]
            W += A @ A.T
        matrices.append(W)
    return np.array([[np.vdot(a, b) for b in matrices] for a in matrices])


def weighted_mean(rows: Any, weights: Floats, names: list[str]) -> Floats:
    """(d,) means of rows or row blocks."""
    return Statistics(blocks_of(rows), weights, names=names).column.mean


def adopt_axes(model: Any, axes: dict[str, tuple[Floats, Floats]]) -> None:
    """Keep the groups' own analyses, and √λ₁ of the group of every column."""
    places, encoder = model._group_places(), model._encoder
    first, separate = np.ones(encoder.d), {}
    for name, (values, vectors) in axes.items():
        first[places[name]] = np.sqrt(values[0])
        separate[name] = {"values": values, "vectors": vectors, "variables": _variables(encoder, places[name])}
    model._record.first, model._record.separate = first, separate


def _variables(encoder: Any, places: Any) -> int:
    """Number of variables of a group of categories alone, whose own analysis is an MCA; 1 for all else."""
    if not bool(np.all(places >= encoder.p)):
        return 1
    return len(np.unique(encoder.active.owners[places - encoder.p]))
