"""Rows of encoded columns that come in parts, and models that are merged: their states add up.

state  =  moments of every level and every number as they are, so shards with other levels and other shifts merge

merge       levels A ∪ B, absent ones of count zero, then ⊕ as in data/passes/moments.py
subtract    ⊖, and levels that nobody gives any more are gone
solve       numbers shifted again, rare levels pooled, excluded ones left out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MergeError
from ritz.data.encode import Encoder
from ritz.data.encode.columns import opened
from ritz.data.encode.openings import Opened
from ritz.data.encode.vocabulary import pooled
from ritz.data.passes.moments import Moments
from ritz.data.tables.frames import library_of
from ritz.data.tables.table import Table
from ritz.methods.moments import LARGEST_STATE, combined
from ritz.methods.record import set_values, values_of

if TYPE_CHECKING:
    from ritz.methods.correspondence.encoded.encoded import EncodedColumns

__all__ = ["combined_columns", "fit_once", "learned_again", "require_columns", "with_rows"]

M = TypeVar("M", bound="EncodedColumns")
Floats = NDArray[np.float64]

#: Rows that are added up at once where a table can be read only once.
PART_ROWS = 1 << 16


def require_columns(encoder: Encoder) -> None:
    """Refuse more columns than a state can hold."""
    if encoder.d > LARGEST_STATE:
        raise MergeError(
            f"a mergeable state holds at most {LARGEST_STATE:,} columns",
            received=f"{encoder.d:,} numbers and levels",
            hint="fit all rows at once with mergeable=False",
        )


# rows


def fit_once(model: EncodedColumns, X: Any, sample_weight: Any) -> None:
    """Fit to an iterator of tables, or to a table that can be read only once, some rows at a time."""
    if not isinstance(X, Table):
        _fit_parts(model, X, sample_weight)
        return
    used = set(opened(X).choose(categorical=model.categorical, numbers=model._numbers).names)
    _fit_parts(model, X.batches([name for name in X.names if name in used], PART_ROWS), sample_weight)
    model._record.library = library_of(X)


def _fit_parts(model: EncodedColumns, tables: Iterator[Any], sample_weight: Any) -> None:
    """Fit to tables that come one after the other: their states are added up, then solved."""
    fresh = type(model)(**model.get_params(deep=False))
    weights = None if sample_weight is None else np.asarray(sample_weight)
    row = 0
    for table in tables:
        rows = opened(table, model.memory).n_rows
        fresh.partial_fit(table, sample_weight=None if weights is None else weights[row : row + rows])
        row += rows
    if weights is not None and len(weights) != row:
        raise InputError(f"sample_weight needs one entry for each of the {row} rows", received=f"{len(weights)}")
    if row == 0:
        raise InputError("expected tables with rows", received="none", hint="look at what the iterator gives")
    len(fresh.components_)  # solves the state
    model._forget()
    set_values(model, values_of(fresh))


def with_rows(model: M, X: Any, sample_weight: Any) -> M:
    """The model with more rows in its state, or with its first ones."""
    model._check_parameters()
    first = not model.__sklearn_is_fitted__()
    before = None if first else model._need_state("partial_fit")
    model._record = model._records() if first else replace(model._record)
    table = model._open(X, reset=first)
    weights = model._weights(table, sample_weight)
    seen = model._learned(table, weights) if first else model._learned_again(table, weights)
    if first:
        model._record.columns = seen
    state = seen.lifted(model._state_of(seen, table, weights))
    columns = replace(seen, rare=model.rare, exclude=tuple(model.exclude)).distinct()
    if before is not None:
        columns = model._encoder.union(seen)
        state = model._encoder.widened(before, columns.vocabulary).merge(seen.widened(state, columns.vocabulary))
    model._added_up(state, columns=columns, library=library_of(X))
    model._name_variables(columns)
    return model


def learned_again(model: EncodedColumns, table: Opened, weights: Floats) -> Encoder:
    """A look at further rows: the columns are those of the first ones, and of their kinds."""
    encoder = table.fitting(model._encoder)
    seen = Encoder.learn(
        table, categorical=encoder.vocabulary.names, numbers=True, missing=model.missing, weights=weights,
        columns=[name for name in encoder.columns if name in set(encoder.names)],
    )  # fmt: skip
    other = [name for name in encoder.numeric if name not in seen.numeric]
    if other:
        raise InputError(
            f"expected numbers in column {other[0]!r}, as in the first rows", received="categories",
            hint="declare it from the first part on: categorical=[…]",
        )  # fmt: skip
    first = model._encoder
    return seen if list(first.names) == list(seen.names) else seen.renamed(first.columns)


# models


def combined_columns(model: M, others: list[M], verb: Any) -> M:
    """The model of the states of several models over the levels of all of them."""
    for other in others:
        model._same_parameters(other)
        model._need_state(verb.__name__), other._need_state(verb.__name__)
    subtracts = verb is Moments.subtract
    joint = model._encoder
    for other in others:
        _require_same(model._encoder, other._encoder)
        joint = joint if subtracts else joint.union(other._encoder)
    mine, *theirs = (_over(one, joint) for one in (model, *others))
    result = combined(mine, theirs, verb)
    result._record.columns = joint
    if subtracts:
        for other in others:
            _left_by(result, other._encoder)
    return result


def _require_same(mine: Encoder, theirs: Encoder) -> None:
    if mine.numeric != theirs.numeric or mine.vocabulary.names != theirs.vocabulary.names:
        raise MergeError(
            "both models must have the same columns of numbers and of categories",
            received=f"{list(mine.numeric)} and {list(theirs.numeric)} as numbers",
            hint="declare them in both: categorical=[…]",
        )


def _over(model: M, joint: Encoder) -> M:
    """A model with its state over more levels."""
    mine = model._encoder
    strange = [name for name in mine.vocabulary.labels if name not in set(joint.vocabulary.labels)]
    if strange:
        raise MergeError(
            "subtract needs a model whose rows are part of this one",
            received=f"a model that has {strange[0]!r}, which this one never saw",
            hint="subtract only what was merged or fitted before",
        )
    wide = model._restated()
    wide._record.state, wide._record.columns = mine.widened(model._need_state(), joint.vocabulary), joint
    return wide


def _left_by(model: EncodedColumns, other: Encoder) -> None:
    """Drop the levels that went with the rows of another model."""
    mine = model._encoder
    rest, stay, _ = mine.vocabulary.difference(other.vocabulary)
    p, places = mine.p, np.full(mine.p + mine.vocabulary.K, -1, np.intp)
    places[:p], places[p + stay] = np.arange(p), p + np.arange(rest.K)
    record = model._record
    record.columns = replace(mine, vocabulary=rest, weight=mine.weight - other.weight)
    record.state, record.mean_slack = pooled(model._need_state(), places, p + rest.K), None
