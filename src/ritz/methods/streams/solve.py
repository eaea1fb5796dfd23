"""The results of a stream, from what is held of it.

rows that wait alone     posed, planned and solved as ``fit`` does it, to the accuracy that a state promises
a moment state           block Krylov on the d×d matrix where few components are wanted, else LAPACK
frequent directions      the two small matrices of the state                                   solvers/directions.py
a sketch                 its one product                                                       solvers/sketch.py
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.errors import InputError, WideEnclosure
from ritz._core.progress import using
from ritz._core.warn import warn
from ritz.data.passes.unit import power_of_two
from ritz.data.passes.weights import sum_of_weights
from ritz.data.streams.directions import Directions
from ritz.data.streams.gathered import Gathered
from ritz.data.streams.pieces import SAFE_EXTENT
from ritz.data.streams.sketched import Sketched
from ritz.methods.one_pass import check_bounded
from ritz.methods.scaling import require_variances
from ritz.methods.streams.held import columns_of
from ritz.operators.bounded import Bounded, Imaged
from ritz.spectral.plan import Plan, Shape, route
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve
from ritz.spectral.widths import sketch_width

__all__ = ["STATE_TOL", "few_of_state", "require_divisor", "solve_bounded", "solve_rows"]

#: Residuals, in units of λ₁, to which few components of a state are iterated: an eigenvalue is then right to 1e-12·λ₁,
#: which is what a state promises, whatever the gaps are.
STATE_TOL = 1e-12

#: Columns of a moment state above which few components are iterated for, and share of all that counts as few. d = 3,000
#: and k = 10 on one core: 3.7 s by LAPACK.
ITERATED, FEW = 1_000, 0.02


def few_of_state(
    model: Any, problem: SpectralProblem, shape: Shape, unit: float, frame: dict[str, Any]
) -> Solution | None:
    """Few pairs of a d×d state by block Krylov; None where LAPACK is as fast, was asked for, or is needed after all."""
    d, k = shape.d, problem.k
    if model.solver != "auto" or problem.rule is not None or d <= ITERATED or not 0 < k <= FEW * d:
        return None
    plan = route(replace(shape, n=d), k, solver="auto", tol=STATE_TOL, memory=None)
    if plan.solver != "krylov":
        return None
    tight = replace(problem, tol=min(problem.tol, STATE_TOL))
    with using(model.progress, type(model).__name__):
        solution = solve(tight, replace(plan, precision="float64"), unit=unit, frame=frame, quiet=True)
    if not solution.certificate.converged:
        return None
    model._remember(tight, solution, unit)
    return solution


def require_divisor(weight: float, low: float, model: Any) -> None:
    """Refuse rows that weigh so little that Σw − 1 divides nothing."""
    if (weight - 1) + low <= 0 and getattr(model, "center", False):
        raise InputError(
            "the weights of all rows must sum to more than 1", received=f"{weight:g}", hint="add more rows"
        )


def solve_rows(model: Any, held: Gathered) -> bool:
    """Solve rows that wait as a fit of them; False where that missed its tolerance, and a state must be formed."""
    X, weights = held.table
    n, d = X.shape
    record, tol = model._record, model.tol
    model._enough_rows(n if weights is None else int(np.count_nonzero(weights)))
    total, low = (float(n), 0.0) if weights is None else sum_of_weights(weights)
    require_divisor(total, low, model)
    if hasattr(model._wanted(n, d, centered=bool(getattr(model, "center", False))), "on"):
        return False  # what a rule may ask does not depend on how many rows still wait
    direct = n >= d and model._keeps_state(d)
    model.tol = min(tol, STATE_TOL) if tol > 0 else 0.0
    model._record = copy.copy(record)  # a copy of the model solves for itself
    try:
        posed = model._posed(X, weights)
        posed.forms_state = direct
        if not direct:
            posed.kept = (*posed.kept[:-2], False, posed.kept[-1])  # whether a state is kept, and the dtype
        plan = model._plan(posed)
        solution: Solution = model._solved(posed, plan)
        if not solution.certificate.converged:
            return False
        model.read(solution, posed)
    finally:
        model.tol = tol
        solved, model._record = model._record, record
    mine = copy.copy(solved)
    mine.state, mine.pending = (held.united() if mine.state is None else mine.state), None
    mine.library, mine.dtype = record.library, record.dtype
    model._record = mine
    return True


def solve_bounded(model: Any, state: Directions | Sketched) -> None:
    """Solve a state of bounded size, and say so where an enclosure is too wide to be useful."""
    check_bounded(model)
    model._enough_rows(state.rows)
    center = bool(getattr(model, "center", False))
    require_divisor(state.weight, state.weight_low, model)
    state = state if center else _with_mean(state)
    shape = Shape(state.rows, state.d, 8, None, symmetric=True)
    wanted = model._wanted(state.rows, state.d, centered=center)
    request = model._request(wanted, shape)
    operator: Any
    if isinstance(state, Directions):
        operator, plan = Bounded(state, center=center), _directed(state)
    else:
        operator, plan = Imaged(state, center=center), _sketched(state)
        if not isinstance(wanted, int):
            request["k"] = max(1, (state.image.shape[1] - sketch_width(0)) // 2)
    problem = SpectralProblem(
        operator, kind="eigh", n=state.weight, d=state.d, rows=state.rows, centered=center, repeatable=False, **request
    )
    frame = {"mean": state.mean if center else None, "scale": None}
    solution = model._solve(problem, plan, state.unit, frame)
    require_variances(solution, columns_of(state), getattr(model, "feature_names_in_", None))
    model._record = replace(model._record, pending=None, weight_low=state.weight_low)
    model._name_state(solution, state, problem.rank)
    if isinstance(state, Directions):
        _tell(solution)


def _with_mean(state: Directions | Sketched) -> Directions | Sketched:
    """The state in a unit that suits its mean as well: about zero, √w·μ is one of its rows."""
    largest = float(np.max(np.abs(state.mean), initial=0.0))
    if largest == 0:
        return state
    extent = float(np.log2(largest) + 0.5 * np.log2(state.weight))
    return state if extent - np.log2(state.unit) <= SAFE_EXTENT else state.in_unit(power_of_two(extent))


def _directed(state: Directions) -> Plan:
    size = 8.0 * state.basis.size
    reason = f"{len(state.basis)} directions of {state.d:,} columns were kept, with bounds on what was let go of"
    return Plan("directions", "columns", "float64", 1, 0.0, size, (reason,))


def _sketched(state: Sketched) -> Plan:
    reason = f"a sketch of {state.image.shape[1]} columns was added up"
    return Plan("sketch", "columns", "float64", 1, 0.0, 8.0 * state.image.size, (reason,))


def _tell(solution: Solution) -> None:
    """Warn where a variance is not known to within a factor of two."""
    c = solution.certificate
    wide = np.flatnonzero(c.upper > 2 * np.maximum(c.lower, 0.0) + c.rounding)
    if not len(wide):
        return
    i = int(wide[0])
    share = (float(bound[i]) / c.total if c.total > 0 else 0.0 for bound in (c.lower, c.upper))
    low, high = (f"{100 * each:.2g} %" for each in share)
    warn(
        f"frequent directions leave {len(wide)} of {len(c.values)} components open: component {i + 1} has between "
        f"{low} and {high} of the variance. Ask for more components than are needed, or fit rows that can be read "
        "again.",
        WideEnclosure,
    )
