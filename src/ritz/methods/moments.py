"""The moment state of a PCA: add rows, merge models, take rows away, and solve when a result is first read.

    partial_fit   S ← S ⊕ S(rows)        merge   S_a ⊕ S_b        subtract   S ⊖ S_b     (⊕: data/passes/moments.py)

Nothing but the state is kept of the rows, so the result cannot depend on how they were cut. The state of fewer rows
than columns is the rows themselves, where ``mergeable=True`` asks for it (``data/passes/kept_rows.py``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ritz._core import memory as memory_limit
from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, MemoryLimitError, MergeError, ParameterError
from ritz._core.threads import lane_count
from ritz._core.warn import warn
from ritz.data.passes.gram import TILE_ABOVE
from ritz.data.passes.kept_rows import KeptRows
from ritz.data.passes.moments import Moments
from ritz.data.streams.gathered import Gathered
from ritz.data.tables.table import Table
from ritz.data.words import shorten
from ritz.methods.one_pass import fit_sketch, takes_sketch
from ritz.methods.rank.linear import handed, state_material
from ritz.methods.record import keep, value_of
from ritz.methods.scaling import require_variances, spread_of, unit_of
from ritz.methods.streams.held import BOUNDED, LARGEST_STATE, STATES, added, check_state, no_mixture, settled
from ritz.methods.streams.solve import few_of_state, require_divisor, solve_bounded, solve_rows
from ritz.operators import MomentGram
from ritz.spectral.plan import Shape, size_words
from ritz.spectral.problem import SpectralProblem

if TYPE_CHECKING:
    from ritz.methods.method import Method

__all__ = [
    "KEEP_STATE", "LARGEST_STATE", "RESULTS", "STATE_FLOOR", "add_rows", "combined", "fit_once", "keeps_state",
    "kept_words", "moments_of", "need_state", "restated", "same_parameters", "solve_state", "state_kept",
]  # fmt: skip

M = TypeVar("M", bound="Method")

#: Rounding u·tr(before) as a share of the total that is left, up to which that total is known: in 300 subtractions,
#: rows up to 1e12 times as large among them, it was off by 3.9·u·tr(before) at most.
KNOWN = 0.05

#: Columns up to which the moment state of tables of categories is kept without being asked.
KEEP_STATE = 2_000

#: Bytes of a moment state that a PCA keeps without being asked, 90 columns; a larger one where the components are as
#: large, so that a model takes no more than twice what scikit-learn's takes. Of 1,000×500 with two components the state
#: would be 2 MB beside 12 kB.
STATE_FLOOR = 1 << 16

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
    state = _held(model, "a second look")
    other = type(model)(**{**model.get_params(deep=False), **parameters})
    other.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        other.feature_names_in_ = model.feature_names_in_
    keep(other, state=state, dtype=value_of(model, "_dtype"), pending=True)
    if value_of(model, "_matrix"):
        keep(other, matrix=True, note=value_of(model, "_note"), meanless=value_of(model, "_meanless"))
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
    check_state(model.mergeable)
    if model.mergeable in STATES:
        return False  # a state of another kind is kept
    if model.mergeable is None:
        return d <= KEEP_STATE and 32.0 * d * d <= memory_limit.limit(model.memory)
    if model.mergeable and d > LARGEST_STATE:
        raise ParameterError(
            f"mergeable=True keeps a d×d state for at most {LARGEST_STATE:,} columns",
            received=f"{d:,} columns",
            hint="mergeable='directions' keeps a state of bounded size for any number of columns",
        )
    if model.mergeable and (needed := state_room(d)) > (allowed := memory_limit.limit(model.memory)):
        error = MemoryLimitError(
            f"mergeable=True keeps a {d:,}×{d:,} state, which must stay within memory={size_words(allowed)}",
            received=f"at least {size_words(needed)}",
            hint="mergeable=None keeps no state of so many columns, mergeable='directions' one of bounded size; "
            f"memory='{size_words(1.05 * needed).replace(' ', '')}' or more holds it",
        )
        error.least = needed
        raise error
    return bool(model.mergeable)


def state_room(d: int) -> float:
    """Bytes that the moment state of d columns takes while it is formed, at least: wide ones once, others by lanes."""
    return 8.0 * d * d * (1 if d > TILE_ABOVE else lane_count())


def state_kept(model: Any, shape: Shape, wanted: Any, itemsize: int) -> Literal["moments", "rows"] | None:
    """What a PCA keeps for ``merge``: what was asked for, or the moment state where that is small.

    ``itemsize``: bytes of a number of its components. Those of float32 have the vectors of the proof beside them, twice
    as long, and no room for a state.
    """
    if model.mergeable in STATES:
        return None  # a state of another kind is kept
    if model.mergeable is None:
        size, k = 8 * shape.d * shape.d, wanted if isinstance(wanted, int) else 0
        held = k * shape.d * itemsize if itemsize >= 8 and shape.n >= shape.d else 0
        fits = size <= STATE_FLOOR or (size <= held and 4.0 * size <= memory_limit.limit(model.memory))
        return "moments" if fits else None
    if model.mergeable and shape.n < shape.d and shape.stored is None and not shape.outside:
        return "rows"
    return "moments" if keeps_state(model, shape.d) else None


def kept_words(model: Any, shape: Shape, kept: str | None) -> str | None:
    """What the plan says of the state; nothing where it is kept as small ones are, or where none was wanted."""
    if kept == "rows":
        return f"the {shape.n:,} rows are kept as the mergeable state"
    if kept is None and model.mergeable is None and model.missing == "error":
        d = shape.d
        return f"the mergeable state, {d:,}×{d:,} numbers, is not kept: the components are smaller"
    return None


def moments_of(state: Moments | KeptRows) -> Moments:
    """The moment state of whichever is kept."""
    if isinstance(state, Moments):
        return state
    if state.d > LARGEST_STATE:
        raise MergeError(
            f"a d×d state has at most {LARGEST_STATE:,} columns",
            received=f"{state.d:,} columns, and rows that cannot be joined as they are",
            hint="fit all rows at once; rows of one type are merged as long as they are no more than columns",
        )
    return state.moments


def _joined(state: Any, other: Any, verb: str) -> Any:
    """Two states joined by ``merge`` or ``subtract``; rows stay rows where they can."""
    if isinstance(state, KeptRows) and isinstance(other, KeptRows):
        both = state.merged(other) if verb == "merge" else state.without(other)
        if both is not None:
            return both
    state, other = (moments_of(one) if isinstance(one, KeptRows) else one for one in (state, other))
    no_mixture(state, other)
    return getattr(state, verb)(other)


def add_rows(model: M, X: Any, sample_weight: Any) -> M:
    """Add rows to the state of a model, or begin one."""
    model._check_parameters()
    first = not model.__sklearn_is_fitted__()
    before = None if first else model._need_state("partial_fit", wait=True)
    X, weights = model._rows(X, sample_weight, reset=first, whole=False)
    state = added(model, before, X, weights)
    record = model._record
    dtype = model._float(X) if first else np.promote_types(record.dtype, model._float(X))
    model._forget()
    model._record = record.lasting(state=state, dtype=dtype, pending=True)
    return model


def combined(model: M, others: list[Any], verb: Any) -> M:
    """The model of the states of several models, joined by ``verb``."""
    name = verb.__name__
    state = _held(model, name)
    for other in others:
        model._same_parameters(other)
        state = _joined(state, _held(other, name), name)
    result = model._restated()
    dtype = np.result_type(*(value_of(one, "_dtype") for one in (model, *others)))
    keep(result, state=state, dtype=dtype, pending=True, matrix=None)
    if verb is Moments.subtract and isinstance(state, Moments):
        before = model._need_state()
        keep(result, mean_slack=_mean_slack(before, state, value_of(model, "_mean_slack")))
        keep(result, note=_noted(before, state))
    return result


def _noted(before: Moments, state: Moments) -> str:
    """What a subtraction has cost; of a remainder of nothing but rounding not even the total is known."""
    left = float(np.trace(state.scatter)) * (state.unit / before.unit) ** 2
    share = 2.0**-53 * float(np.trace(before.scatter)) / max(left, 1e-300)
    if share <= KNOWN:
        return f"subtracted: eigenvalues are exact to {share:.1e} of the remaining total"
    warn("the rows that subtract took off are so large that what is left of the rest is rounding", AccuracyWarning)
    return "subtracted: what is left cannot be told from the rounding of what was taken off"


def need_state(model: Any, verb: str = "merge", *, wait: bool = False) -> Any:
    """The state of a model, or with ``wait`` rows before it; where it keeps none, an error says how to keep one."""
    state = _kept_in(model, verb, wait)
    return moments_of(state) if isinstance(state, KeptRows) else state


def _held(model: Any, verb: str) -> Any:
    """The state of a model as it is kept; the model is asked for one that is not rows, and may refuse."""
    state = value_of(model, "_state")
    return state if isinstance(state, KeptRows) else model._need_state(verb)


def _kept_in(model: Any, verb: str, wait: bool = False) -> Any:
    check_is_fitted(model)
    state: Any = model._record.state if wait else settled(model)
    if state is None:
        kind, left = type(model).__name__, model.mergeable is None and getattr(model._record, "spare", None) is False
        beyond = ", whose state its pickle left out: ritz.save keeps it" if left else ""
        raise MergeError(
            f"{verb} needs the moment state, which is kept where it is small or with mergeable=True",
            received=f"a model with {model.n_features_in_:,} columns, mergeable={model.mergeable!r}{beyond}",
            hint=f"fit with {kind}(mergeable=True){', or pass models on with ritz.save and ritz.load' if left else ''}",
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
    """Solve what is held of rows that were added."""
    held = model._record.state
    if isinstance(held, KeptRows):
        _solve_rows(model, held)
        return
    if isinstance(held, Gathered) and held.base is None and solve_rows(model, held):
        return
    state = settled(model)
    if isinstance(state, BOUNDED):
        solve_bounded(model, state)
        return
    model._enough_rows(state.rows)
    require_divisor(state.weight, state.weight_low, model)
    shape = Shape(state.rows, state.d, 8, None, symmetric=True)
    center, scaled = (bool(getattr(model, name, False)) for name in ("center", "scale"))
    wanted = model._wanted(state.rows, state.d, centered=center)
    wanted = handed(wanted, lambda: state_material(model, state))
    scale = spread_of(state, model) if scaled else None
    unit = unit_of(state, scaled)
    problem = SpectralProblem(
        MomentGram(state, center=center, scale=scale, unit=unit),
        kind="eigh",
        n=state.weight,
        d=state.d,
        rows=state.rows,
        centered=center,
        repeatable=False,
        **model._request(wanted, shape),
    )
    frame = {"mean": state.mean if center else None, "scale": scale}
    frame["mean_slack"] = model._record.mean_slack
    solution = few_of_state(model, problem, shape, unit, frame)
    if solution is None:
        solution = model._solve(problem, model._plan_for(shape, wanted, whole=True), unit, frame)
    require_variances(solution, state, getattr(model, "feature_names_in_", None))
    # a record of its own: a copy of the model solves for itself
    model._record = replace(model._record, pending=None, weight_low=state.weight_low, state=state)
    model._name_state(solution, state, problem.rank, scale)
    if model._record.note is not None:
        certificate = model.certificate_
        model.certificate_ = replace(certificate, notes=(*certificate.notes, model._record.note))


def _solve_rows(model: Any, state: KeptRows) -> None:
    """Solve rows that were kept: the fit of all of them."""
    # a record of its own: a copy of the model solves for itself
    model._record = replace(model._record)
    posed = model._posed(state.table, state.weights)
    model.read(model._solved(posed, model._plan(posed)), posed)
    model._record.state, model._record.pending = state, None


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
