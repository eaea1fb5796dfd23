"""What a model keeps of rows that are added: rows that wait, a moment state, frequent directions, or a sketch.

    d ≤ 20,000      rows, as long as they take no more than a state would; then the d×d moment state      exact
    more columns    frequent directions, ℓ×d numbers; mergeable="directions" asks for them at any size    enclosed
    sketch          d×l numbers, with solver="sketch" above 20,000 columns, or mergeable="sketch"         enclosed

All have one interface: ``merge``, ``times``, rows, weight, mean in two parts; a record holds one of them, or rows that
are ``Gathered`` before one. ``settled`` is the state of all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core import memory as memory_limit
from ritz._core.errors import MergeError, ParameterError
from ritz._core.keys import keyed
from ritz._core.random import seed_of
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.finite import require_finite
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics
from ritz.data.streams.directions import Directions
from ritz.data.streams.gathered import Gathered, faded, fading, formed, plain
from ritz.data.streams.sketched import Sketched
from ritz.methods.one_pass import check_bounded, takes_sketch
from ritz.methods.record import record_of
from ritz.spectral.widths import directions_rows, directions_width, sketch_width

__all__ = [
    "BOUNDED", "LARGEST_STATE", "STATES", "added", "begun", "check_state", "columns_of", "kind_for",
    "no_mixture", "settle", "settled", "state_of_rows", "with_state",
]  # fmt: skip

#: Columns of a moment state at most.
LARGEST_STATE = 20_000

#: What ``mergeable`` may name beside True, False and None.
STATES = ("directions", "sketch")

#: States that bound the scatter and do not hold it.
BOUNDED = (Directions, Sketched)

#: Components that are provided for where a share of the variance decides how many there are.
FRACTION = 50

#: Bytes that may wait of few columns, and share of the memory limit that may wait at most. Two moment states that are
#: merged take 32d² bytes: rows that take no more cost no memory that would not be taken anyway.
FEW_BYTES, MEMORY_SHARE = 8 << 20, 0.25
STATE_BYTES = 32.0


def check_state(mergeable: Any) -> None:
    """Refuse a value of ``mergeable`` that names no state."""
    if mergeable is None or isinstance(mergeable, (bool, np.bool_)) or mergeable in STATES:
        return
    raise ParameterError(
        "mergeable must be None, True, False, 'directions' or 'sketch'",
        received=repr(mergeable),
        hint="None keeps a state of up to 2,000 columns, True of up to 20,000; 'directions' bounds any number of them",
    )


def kind_for(model: Any, d: int) -> str:
    """Which state ``partial_fit`` keeps of d columns: "moments", "directions" or "sketch"."""
    if model.mergeable in STATES:
        return str(model.mergeable)
    if takes_sketch(model, d, LARGEST_STATE):
        return "sketch"
    if d <= LARGEST_STATE:
        return "moments"
    if model.mergeable:
        raise ParameterError(
            f"mergeable=True keeps a d×d state for at most {LARGEST_STATE:,} columns",
            received=f"{d:,} columns",
            hint="leave mergeable=None, or 'directions': a state of bounded size that encloses every variance",
        )
    return "directions"


def _components(model: Any) -> int:
    asked = model.n_components
    whole = isinstance(asked, (int, np.integer)) and not isinstance(asked, bool)
    return max(int(asked), 1) if whole else FRACTION


def begun(model: Any, d: int, kind: str) -> Any:
    """A state of no rows."""
    if kind == "moments":
        return Gathered(None, decay=_decay(model), center=bool(getattr(model, "center", False)))
    check_bounded(model)
    k = min(_components(model), d)
    if kind == "sketch":
        return Sketched.empty(d, sketch_width(k), keyed(seed_of(model.random_state), 0))
    empty = Directions.empty(d, min(directions_width(k), d))
    return Gathered(empty, decay=_decay(model), center=bool(getattr(model, "center", False)))


def _decay(model: Any) -> float:
    return float(getattr(model, "decay", 1.0))


def added(model: Any, held: Any, X: Any, weights: Any) -> Any:
    """What is held, with more rows; ``held`` is None before the first."""
    d = int(X.shape[1])
    if held is None:
        held = begun(model, d, kind_for(model, d))
    decay = _decay(model)
    if isinstance(held, Sketched):
        return _each(model, held, X, weights, decay)
    if not isinstance(held, Gathered):
        held = Gathered(held, decay=decay, center=bool(getattr(model, "center", False)))
    if isinstance(held.base, Directions):
        return _directed(model, held, X, weights)
    if are_blocks(X) or not plain(X, weights):
        count = X.shape[0] if weights is None else int(np.count_nonzero(weights))
        before = faded(held.settled, count, decay)
        names = getattr(model, "feature_names_in_", None)
        new = formed(X, fading(weights, X.shape[0], decay), held.center, names)
        return replace(held.emptied(), base=new if before is None else before.merge(new))
    if held.formed or not held.takes(X):
        held = held.emptied()
    held = held.plus(X, weights)
    return held if held.nbytes <= _room(model, d) else held.emptied()


def _room(model: Any, d: int) -> float:
    """Bytes that may wait."""
    return min(max(FEW_BYTES, STATE_BYTES * d * d), MEMORY_SHARE * memory_limit.limit(model.memory))


def _batches(model: Any, X: Any, weights: Any) -> Any:
    """Rows in memory, some at a time, none of them NaN or infinite."""
    names = getattr(model, "feature_names_in_", None)
    if not are_blocks(X):
        require_finite(X, names)
        yield X, weights
        return
    for block in X.each():
        values = block.values
        w = None if weights is None else weights[block.rows]
        if w is not None and not bool(np.all(w > 0)):
            values, w = values[np.flatnonzero(w > 0)], w[w > 0]
        require_finite(values, names)
        yield values, w


def _each(model: Any, state: Sketched, X: Any, weights: Any, decay: float) -> Sketched:
    for rows, w in _batches(model, X, weights):
        n = rows.shape[0]
        state = faded(state, n, decay).add(rows, fading(w, n, decay))
    return state


def _directed(model: Any, held: Gathered, X: Any, weights: Any) -> Gathered:
    """Rows in blocks of a fixed height, counted from the first row of the stream."""
    height = directions_rows(int(X.shape[1]), held.base.width)  # type: ignore[union-attr]
    for rows, w in _batches(model, X, weights):
        if not held.takes(rows):
            held = held.emptied()
        first = 0
        while first < rows.shape[0]:
            last = min(rows.shape[0], first + height - held.rows)
            held = held.plus(rows[first:last], None if w is None else w[first:last])
            held, first = (held.emptied() if held.rows == height else held), last
    return held


def state_of_rows(model: Any, X: Any, weights: Any) -> Any:
    """The bounded state that ``mergeable`` names, of all rows of a fit with the weights that they have in it."""
    held = begun(model, int(X.shape[1]), str(model.mergeable))
    if isinstance(held, Sketched):
        return _each(model, held, X, weights, 1.0)
    return _directed(model, replace(held, decay=1.0), X, weights).settled


def settled(model: Any) -> Any:
    """The state of all rows of a model; None where it keeps none."""
    held = getattr(record_of(model), "state", None)
    return held.settled if isinstance(held, Gathered) else held


def settle(model: Any) -> None:
    """Add rows that wait to the state, so that a model and its file go on from the same numbers."""
    record = record_of(model)
    if isinstance(getattr(record, "state", None), Gathered):
        record.state = record.state.settled


def with_state(model: Any, X: Any, state: Any) -> Any:
    """A model of the columns of X that holds a state, and is solved when it is first read."""
    model._rows(X[:1], None, reset=True)
    record = model._record
    model._record = record.lasting(state=state, dtype=model._float(X), pending=True)
    return model


def columns_of(state: Any) -> ColumnStatistics:
    """Weight, mean and squares of the columns, from a state of any kind."""
    squares = np.diag(state.scatter).copy() if isinstance(state, Moments) else state.squares
    high, low = state.parts()
    offset = np.zeros_like(high) if low is None else low
    return ColumnStatistics(
        state.rows, state.weight, high, offset, squares, state.unit, state.weight_low, state.whole
    )  # fmt: skip


def no_mixture(one: Any, other: Any) -> None:
    """Refuse states of different kinds."""
    if type(one) is type(other):
        return
    words = {Moments: "a moment state", Directions: "frequent directions", Sketched: "a sketch"}
    raise MergeError(
        "both models must keep the same kind of state",
        received=f"{words.get(type(one), type(one).__name__)} and {words.get(type(other), type(other).__name__)}",
        hint="fit both with the same mergeable=, or add the rows of one to the other with partial_fit",
    )
