"""The moment state of a PCA: add rows, merge models, take rows away, and solve when a result is first read.

    partial_fit   S ← S ⊕ S(rows)        merge   S_a ⊕ S_b        subtract   S ⊖ S_b     (⊕: data/passes/moments.py)

Nothing but the state is kept of the rows, so the result cannot depend on how they were cut.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ritz._core import memory as memory_limit
from ritz._core.errors import InputError, MergeError, ParameterError
from ritz.data.passes.center import mean_parts
from ritz.data.passes.moments import Moments
from ritz.data.passes.unit import UnitChange
from ritz.data.tables.table import Table
from ritz.data.words import shorten
from ritz.methods.one_pass import fit_sketch, takes_sketch
from ritz.methods.rank.linear import handed, state_material
from ritz.methods.record import keep, value_of
from ritz.methods.rest import left_over
from ritz.methods.scaling import require_variances, spread_of, unit_of
from ritz.operators import MomentGram
from ritz.spectral.constants import SMALL_SIDE
from ritz.spectral.plan import Shape
from ritz.spectral.problem import SpectralProblem

if TYPE_CHECKING:
    from ritz.methods.method import Method

__all__ = [
    "KEEP_STATE", "LARGEST_STATE", "RESULTS", "add_rows", "cheap_state", "combined", "fit_once", "keeps_state",
    "need_state", "restated", "same_parameters", "solve_state",
]  # fmt: skip

M = TypeVar("M", bound="Method")

#: Columns up to which the moment state is kept without being asked, and at most.
KEEP_STATE, LARGEST_STATE = 2_000, 20_000

#: Round-offs of the spread before by which subtraction may move a mean.
MEAN_SLACK = 100.0

#: Rows that are added up at once from an iterator.
ONCE_ROWS = 1 << 14

#: Names of a PCA that are solved for when they are first read after ``partial_fit``.
RESULTS = (
    "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "scale_",
    "noise_variance_", "n_components_", "n_samples_", "total_variance_", "certificate_", "plan_",
)  # fmt: skip


def restated(model: M, **parameters: Any) -> M:
    """A model with other parameters from the same state: no row is read again."""
    state = model._need_state("a second look")
    other = type(model)(**{**model.get_params(deep=False), **parameters})
    other.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        other.feature_names_in_ = model.feature_names_in_
    keep(other, state=state, dtype=value_of(model, "_dtype"), pending=True)
    return other


def fit_once(model: Any, table: Table, sample_weight: Any) -> None:
    """Fit to rows that can be read only once: their state is added up, then solved."""
    names = table.numeric_names()
    source, columns = table.source_for(names)
    fresh = type(model)(**model.get_params(deep=False))
    row, weights = 0, None if sample_weight is None else np.asarray(sample_weight)
    d = len(names)
    if takes_sketch(model, d, LARGEST_STATE):
        fit_sketch(fresh, source, columns, d, weights)
    else:
        for span in source.spans:
            for batch in source.batches(span, columns, ONCE_ROWS):
                some = None if weights is None else weights[row : row + batch.shape[0]]
                fresh.partial_fit(batch, sample_weight=some)
                row += batch.shape[0]
        if weights is not None and len(weights) != row:
            raise InputError(f"sample_weight needs one entry for each of the {row} rows", received=f"{len(weights)}")
        fresh._solve_state()
    model._forget()
    fresh.feature_names_in_ = np.asarray(names, dtype=object)
    for name, value in vars(fresh).items():
        setattr(model, name, value)


def keeps_state(model: Any, d: int) -> bool:
    """Whether the state of d columns is kept: it was asked for, or it is small."""
    if model.mergeable is None:
        return d <= KEEP_STATE and 32.0 * d * d <= memory_limit.limit(model.memory)
    if model.mergeable and d > LARGEST_STATE:
        raise ParameterError(
            f"mergeable=True keeps a d×d state for at most {LARGEST_STATE:,} columns",
            received=f"{d:,} columns",
            hint="leave mergeable=None and fit all rows at once",
        )
    return bool(model.mergeable)


def cheap_state(model: Any, shape: Shape) -> bool:
    """Whether a state is formed whatever the route: that of many sparse columns may cost more than the answer."""
    return shape.stored is None or shape.d <= SMALL_SIDE or bool(model.mergeable)


def add_rows(model: M, X: Any, sample_weight: Any) -> M:
    """Add rows to the state of a model, or begin one."""
    model._check_parameters()
    first = not model.__sklearn_is_fitted__()
    before = None if first else model._need_state("partial_fit")
    X, weights = model._rows(X, sample_weight, reset=first, whole=False)
    if X.shape[1] > LARGEST_STATE:
        raise MergeError(
            f"partial_fit keeps a d×d state for at most {LARGEST_STATE:,} columns",
            received=f"{X.shape[1]:,} columns",
            hint="fit all rows at once; an iterator of batches can be sketched in one pass: solver='sketch'",
        )
    # A state cannot be repaired later: it is always formed in float64.
    plan = replace(model._plan_for(model._shape(X), 1, whole=True), precision="float64")
    try:
        added = model._leaf(X, weights, plan)[1].moments
    except UnitChange as change:
        added = model._leaf(change.rows(X), weights, plan, change.unit)[1].moments
    state = added if before is None else before.merge(added)
    record = model._record
    dtype = model._float(X) if first else np.promote_types(record.dtype, model._float(X))
    model._forget()
    model._record = record.lasting(state=state, dtype=dtype, pending=True)
    return model


def combined(model: M, others: list[Any], verb: Any) -> M:
    """The model of the states of several models, joined by ``verb``."""
    name = verb.__name__
    state = model._need_state(name)
    for other in others:
        model._same_parameters(other)
        state = verb(state, other._need_state(name))
    result = model._restated()
    dtype = np.result_type(*(value_of(one, "_dtype") for one in (model, *others)))
    keep(result, state=state, dtype=dtype, pending=True)
    if verb is Moments.subtract:
        before = model._need_state()
        keep(result, mean_slack=_mean_slack(before, state, value_of(model, "_mean_slack")))
        left = float(np.trace(state.scatter)) * (state.unit / before.unit) ** 2
        share = 2.0**-53 * float(np.trace(before.scatter)) / max(left, 1e-300)
        keep(result, note=f"subtracted: eigenvalues are exact to {share:.1e} of the remaining total")
    return result


def need_state(model: Any, verb: str = "merge") -> Moments:
    """The state of a model; where it keeps none, an error that says how to keep one."""
    check_is_fitted(model)
    state: Moments | None = value_of(model, "_state")
    if state is None:
        raise MergeError(
            f"{verb} needs the moment state, which is kept for d ≤ {KEEP_STATE:,} ({SMALL_SIDE} of sparse rows) or "
            "with mergeable=True",
            received=f"a model with {model.n_features_in_:,} columns, mergeable={model.mergeable!r}",
            hint=f"fit with {type(model).__name__}(mergeable=True)",
        )
    return state


def same_parameters(model: Any, other: Any, columns: bool = True) -> None:
    """Refuse to join models of different parameters or columns."""
    if not (isinstance(other, type(model)) or isinstance(model, type(other))):
        raise MergeError(
            f"a {type(model).__name__} can be combined with a {type(model).__name__} only",
            received=type(other).__name__,
            hint=f"fit the other rows with a {type(model).__name__} first, or add them with partial_fit",
        )
    check_is_fitted(other)
    mine, theirs = model.get_params(deep=False), other.get_params(deep=False)
    pairs = ((name, mine[name], theirs[name]) for name in model._agreeing)
    differ = [f"{name}={one!r} and {name}={two!r}" for name, one, two in pairs if one != two]
    names = getattr(model, "feature_names_in_", None), getattr(other, "feature_names_in_", None)
    if columns and names[0] is not None and names[1] is not None and list(names[0]) != list(names[1]):
        differ.append(_other_names(list(names[0]), list(names[1])))
    if differ:
        raise MergeError(
            "both models must have the same parameters and columns",
            received="; ".join(differ),
            hint="fit both with the same parameters on the same columns in the same order",
        )


def solve_state(model: Any) -> None:
    """Solve the accumulated state of a PCA."""
    state: Moments = model._record.state
    model._enough_rows(state.rows)
    if (state.weight - 1) + state.weight_low <= 0 and model.center:
        raise InputError(
            "the weights of all rows must sum to more than 1",
            received=f"{state.weight:g}",
            hint="add more rows",
        )
    shape = Shape(state.rows, state.d, 8, None, symmetric=True)
    wanted = model._wanted(state.rows, state.d, centered=model.center)
    wanted = handed(wanted, lambda: state_material(model, state))
    plan = model._plan_for(shape, wanted, whole=True)
    scale = spread_of(state, model) if model.scale else None
    unit = unit_of(state, model.scale)
    problem = SpectralProblem(
        MomentGram(state, center=model.center, scale=scale, unit=unit),
        kind="eigh",
        n=state.weight,
        d=state.d,
        rows=state.rows,
        centered=model.center,
        repeatable=False,
        **model._request(wanted, shape),
    )
    frame = {"mean": state.mean if model.center else None, "scale": scale}
    frame["mean_slack"] = model._record.mean_slack
    solution = model._solve(problem, plan, unit, frame)
    require_variances(solution, state, getattr(model, "feature_names_in_", None))
    # a record of its own: a copy of the model solves for itself
    model._record = replace(model._record, pending=None, weight_low=state.weight_low)
    rest, solution = left_over(solution, problem.rank, None)
    model._name(solution, mean_parts(state), scale, state.weight, state.rows, model._record.dtype, rest)
    if model._record.note is not None:
        certificate = model.certificate_
        model.certificate_ = replace(certificate, notes=(*certificate.notes, model._record.note))


def _mean_slack(whole: Moments, rest: Moments, before: np.ndarray | None) -> np.ndarray:
    """What subtraction may leave in the means: as good as spread and mean before allow, over the share that is left."""
    spread = np.sqrt(np.diag(whole.scatter)) / np.sqrt(max(whole.weight, 1e-300)) * whole.unit
    share = whole.weight / max(rest.weight, 1e-300)
    own = 2.0**-53 * (MEAN_SLACK * spread + 4 * np.abs(whole.mean))
    return np.asarray(share * (own + (0.0 if before is None else before)))


def _other_names(mine: list[str], theirs: list[str]) -> str:
    """In what two lists of column names differ."""
    both = set(mine) & set(theirs)
    only = [[repr(name) for name in names if name not in both] for names in (mine, theirs)]
    told = [f"{shorten(words)} only in the {at}" for words, at in zip(only, ("first", "second"), strict=True) if words]
    if told:
        return f"columns {' and '.join(told)}"
    a, b = next((a, b) for a, b in zip(mine, theirs, strict=True) if a != b)
    return f"columns in another order, such as {b!r} where the first has {a!r}"
