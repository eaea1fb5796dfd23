"""What MCA, FAMD and MFA share: tables of categories and numbers, encoded, with a state that can be merged.

table  →  Encoder (learned once)  →  rows R (n×d)  →  Correspondence
state  =  moments of every level and every number as they are, so shards with other levels and other shifts merge

merge       levels A ∪ B, absent ones of count zero, then ⊕ as in data/passes/moments.py
subtract    ⊖, and levels that nobody gives any more are gone
solve       numbers shifted again, rare levels pooled, excluded ones left out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MergeError, ParameterError
from ritz.data.column_checks import checked_data
from ritz.data.encode import Encoder
from ritz.data.encode.encoder import UNSEEN_WAYS
from ritz.data.encode.openings import InMemory, Opened, opened
from ritz.data.encode.vocabulary import pooled
from ritz.data.engines import Engine
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import Statistics
from ritz.data.tables.frames import is_frame
from ritz.data.tables.labelled import labelled, library_of, row_labels
from ritz.data.tables.table import Table
from ritz.data.validate import charge, validate_weights
from ritz.data.words import describe, nearest
from ritz.methods.correspondence.encoded.advice import PooledLevels, warn_identifiers
from ritz.methods.correspondence.encoded.excluded import sums_of
from ritz.methods.correspondence.encoded.numbers import divide, require_finite_numbers
from ritz.methods.correspondence.table import Correspondence, Encoded
from ritz.methods.moments import LARGEST_STATE
from ritz.operators.base import Operator
from ritz.project.transition import cos2, row_distances

__all__ = ["EncodedColumns", "EncodedTable"]

Floats = NDArray[np.float64]

#: Rows that are added up at once where a table can be read only once.
PART_ROWS = 1 << 16


@dataclass
class EncodedTable(Encoded):
    """Encoded rows and the table that they came from."""

    table: Opened | None = None
    empty: NDArray[np.bool_] | None = None  # rows without a place, such as those without counts


class EncodedColumns(PooledLevels, Correspondence):
    """Base of methods whose rows are columns of categories and numbers."""

    categorical: Any
    missing: str
    unseen: str
    rare: float | None
    exclude: Any

    _numbers: ClassVar[bool] = True  # whether columns of numbers are taken as they are
    _missing_ways: ClassVar[tuple[str, ...]] = ("error", "category", "exclude")

    # parameters

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, ways in (("missing", self._missing_ways), ("unseen", UNSEEN_WAYS)):
            if getattr(self, name) not in ways:
                raise ParameterError(
                    f"{name} must be one of {', '.join(map(repr, ways))}", received=repr(getattr(self, name)),
                    hint=f"{name}={nearest(getattr(self, name), ways)!r}",
                )  # fmt: skip
        rare = self.rare
        if not (rare is None or (isinstance(rare, (int, float)) and not isinstance(rare, bool) and 0 <= rare < 1)):
            raise ParameterError("rare must be None or a share in [0, 1)", received=repr(rare), hint="rare=0.05")
        if isinstance(self.exclude, str) or not all(isinstance(name, str) for name in self.exclude):
            raise ParameterError(
                "exclude must be a list of levels, written variable=level", received=repr(self.exclude),
                hint="exclude=['region=unknown']",
            )  # fmt: skip

    # rows

    @property
    def _encoder(self) -> Encoder:
        return self.__dict__["_columns"]

    def _encode(self, X: Any, sample_weight: Any, *, reset: bool) -> EncodedTable:
        table = self._open(X, reset=reset)
        weights = self._weights(table, sample_weight)
        if reset:
            self.__dict__["_columns"] = self._learned(table, weights, rare=self.rare, exclude=tuple(self.exclude))
            self._name_variables(self._encoder)
            warn_identifiers(self._encoder, int(np.count_nonzero(weights)))
        return self._encoded(X, table, weights, None if reset else self.unseen)

    def _as_fitted(self, X: Any, sample_weight: Any) -> EncodedTable:
        """The very rows of the fit: those without weight may hold anything, the others nothing that is new."""
        table = self._open(X, reset=False)
        weights = self._weights(table, sample_weight)
        return self._encoded(X, table, weights, "error", weights <= 0)

    def _encoded(self, X: Any, table: Opened, weights: Floats, unseen: str | None, absent: Any = None) -> EncodedTable:
        rows = self._encoder.rows(table, unseen=unseen, memory=self.memory, absent=absent)
        if unseen is None:
            charge(self, table.held(rows))
        require_finite_numbers(self._encoder, rows, table, weights)
        return self._finished(EncodedTable(rows, weights, row_labels(X), library_of(X), table))

    def _open(self, X: Any, *, reset: bool) -> Opened:
        """The table, after scikit-learn's look at its columns."""
        self._refuse(X)
        table = opened(X, self.memory)
        if isinstance(X, (Table, Opened)) or not isinstance(table, InMemory):
            return table
        if table.n_rows == 0 or not table.names:
            what = "sample(s)" if table.names else "feature(s)"
            raise InputError(
                f"Found array with 0 {what} (shape=({table.n_rows}, {len(table.names)})) while a minimum of 1 is "
                f"required by {type(self).__name__}",
                hint="look at the filter or the selection that made it",
            )
        if is_frame(X) or isinstance(X, np.ndarray):
            self._compare(X, reset)
        return table

    def _refuse(self, X: Any) -> None:
        """Refuse what holds neither categories nor real numbers, in scikit-learn's words."""
        if hasattr(X, "tocsr"):
            raise InputError(
                f"Sparse input is not supported by {type(self).__name__}, which takes one column a variable",
                received=describe(X),
                hint="an indicator or count matrix goes to ritz.CA as it is",
            )
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":
            raise InputError("Complex data not supported", received=describe(X), hint="pass X.real and X.imag")

    def _compare(self, X: Any, reset: bool) -> None:
        """Record the columns of a frame or array, or compare them; columns with names are found by these."""
        if not reset and is_frame(X) and hasattr(self, "feature_names_in_"):
            return
        try:
            checked_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as error:
            raise InputError(str(error).rstrip("."), hint="give the columns of the fit, in the same order") from error

    def _weights(self, table: Opened, sample_weight: Any) -> Floats:
        if sample_weight is None:
            return np.ones(table.n_rows)
        return validate_weights(sample_weight, table.n_rows, whole=False)

    def _learned(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        return self._look_at(table, weights, **options)

    def _look_at(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        return Encoder.learn(
            table, categorical=self.categorical, numbers=self._numbers, missing=self.missing, weights=weights, **options
        )

    def _name_variables(self, encoder: Encoder) -> None:
        """Name the columns that are read."""
        used = [name for name in encoder.columns if name in set(encoder.names)]
        self.n_features_in_ = len(used)
        if encoder.named:
            self.feature_names_in_ = np.asarray(used, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)

    def _leaf(self, X: Any, weights: Floats | None, plan: Any, unit: Any = None) -> tuple[Operator, Statistics]:
        leaf, stats = super()._leaf(X, weights, plan, unit)
        stats.names = self._encoder.labels
        if X.shape[1] == self._encoder.d:
            divide(self._encoder, stats, self._divided())
        return leaf, stats

    def _divided(self) -> set[str]:
        """Numbers that are divided by their standard deviation."""
        return set(self._encoder.numeric)

    def _finished(self, coded: EncodedTable) -> EncodedTable:
        """Encoded rows as the method wants them."""
        return coded

    # coordinates of new rows

    def _lazily(self, engine: Engine, X: Any) -> Any:
        k = self._n_features_out  # read first: it solves a pending state
        return engine.opened(X, self.memory).map_rows(self._encoder, self._coordinates, k, self.unseen)

    def _coordinates(self, rows: Any) -> Floats:
        """Coordinates of encoded rows in memory."""
        return self._forward(self._finished(EncodedTable(rows, np.ones(rows.shape[0]))))

    def supplementary_rows(self, X: Any, result: str = "coordinates") -> Any:
        """``coordinates`` or ``cos2`` of rows that took no part in the fit, with their names.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA(2).fit(tea)
        >>> guest = pd.DataFrame([["home", "leaf", "no"]], columns=tea.columns)
        >>> mca.supplementary_rows(guest, "cos2").round(2)  # how well two axes show a drinker they never met
           Dim1  Dim2
        0   0.2  0.16
        """
        coded = self._new(X)
        values = self._forward(coded)
        if result == "cos2":
            values = cos2(values, row_distances(coded.rows, self.__dict__["_mean"], self.__dict__["_scale"]))
        elif result != "coordinates":
            raise ParameterError("result must be 'coordinates' or 'cos2'", received=repr(result))
        return labelled(values, coded.labels, self._axis_names(), coded.library, "row")

    def _column_labels(self) -> list[str] | None:
        return self._encoder.labels

    def _name_rows(self, coded: Encoded) -> None:
        super()._name_rows(coded)
        if isinstance(coded, EncodedTable) and self.__dict__["_state"] is None:
            self.__dict__["_outside"] = sums_of(self, coded)

    # rows that come in parts

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a table.

        Parameters
        ----------
        X : frame, Table or array-like of shape (n, d)
            What stays outside memory is read in pieces; an iterator of tables is read once.
        y : ignored
        sample_weight : (n,) weights of the rows, or None
        """
        return self._fit(X, y, sample_weight)

    def _read_once(self, X: Any, sample_weight: Any) -> bool:
        if isinstance(X, Iterator):
            self._fit_parts(X, sample_weight)
            return True
        if not isinstance(X, Table) or X.repeatable:
            return False
        used = set(opened(X).choose(categorical=self.categorical, numbers=self._numbers).names)
        self._fit_parts(X.batches([name for name in X.names if name in used], PART_ROWS), sample_weight)
        self.__dict__["_library"] = library_of(X)
        return True

    def _fit_parts(self, parts: Iterator[Any], sample_weight: Any) -> None:
        """Fit to tables that come one after the other: their states are added up, then solved."""
        model = type(self)(**self.get_params(deep=False))
        weights = None if sample_weight is None else np.asarray(sample_weight)
        row = 0
        for part in parts:
            rows = opened(part, self.memory).n_rows
            model.partial_fit(part, sample_weight=None if weights is None else weights[row : row + rows])
            row += rows
        if weights is not None and len(weights) != row:
            raise InputError(f"sample_weight needs one entry for each of the {row} rows", received=f"{len(weights)}")
        if row == 0:
            raise InputError("expected tables with rows", received="none", hint="look at what the iterator gives")
        len(model.components_)  # solves the state
        self._forget()
        self.__dict__.update(vars(model))

    # the moment state

    def _kept(self, state: Moments, coded: Encoded) -> Moments:
        encoder = self._encoder
        if not encoder.is_whole and isinstance(coded, EncodedTable) and coded.table is not None:
            state = self._state_of(encoder.whole(), coded.table, coded.weights)
        return encoder.lifted(state)

    def _solvable(self, state: Moments) -> Moments:
        return self._encoder.narrowed(self._encoder.lowered(state))

    def _state_of(self, encoder: Encoder, table: Opened, weights: Floats) -> Moments:
        """Moments of the rows, with a column for every level."""
        if encoder.d > LARGEST_STATE:
            raise MergeError(
                f"a mergeable state holds at most {LARGEST_STATE:,} columns",
                received=f"{encoder.d:,} numbers and levels",
                hint="fit all rows at once with mergeable=False",
            )
        coded = self._finished(EncodedTable(encoder.rows(table, unseen=None, memory=self.memory), weights))
        R, w = self._present(coded)
        stats = Statistics(blocks_of(R), w, names=encoder.labels)
        divide(encoder, stats, self._divided())
        return stats.moments

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows; nothing is solved until a fitted name is read. The result does not depend on how rows are cut.

        Levels may appear in any part; a column that was read as numbers, or as categories, stays so.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> famd = ritz.FAMD(2).partial_fit(wines[:4]).partial_fit(wines[4:])
        >>> famd.eigenvalues_.round(3), ritz.FAMD(2).fit(wines).eigenvalues_.round(3)
        (array([3.001, 0.975]), array([3.001, 0.975]))
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        held = None if first else self._need_state("partial_fit")
        table = self._open(X, reset=first)
        weights = self._weights(table, sample_weight)
        seen = self._learned(table, weights) if first else self._learned_again(table, weights)
        if first:
            self.__dict__["_columns"] = seen
        state = seen.lifted(self._state_of(seen, table, weights))
        columns = replace(seen, rare=self.rare, exclude=tuple(self.exclude)).distinct()
        if held is not None:
            columns = self._encoder.union(seen)
            state = self._encoder.widened(held, columns.vocabulary).merge(seen.widened(state, columns.vocabulary))
        self._forget()
        self._name_variables(columns)
        self.__dict__.update(_columns=columns, _state=state, _pending=True, _dtype=np.dtype(float))
        self.__dict__["_library"] = library_of(X)
        return self

    def _learned_again(self, table: Opened, weights: Floats) -> Encoder:
        """A look at further rows: the columns are those of the first ones, and of their kinds."""
        encoder = table.fitting(self._encoder)
        seen = Encoder.learn(
            table, categorical=encoder.vocabulary.names, numbers=True, missing=self.missing, weights=weights,
            columns=[name for name in encoder.columns if name in set(encoder.names)],
        )  # fmt: skip
        other = [name for name in encoder.numeric if name not in seen.numeric]
        if other:
            raise InputError(
                f"expected numbers in column {other[0]!r}, as in the first rows", received="categories",
                hint="declare it from the first part on: categorical=[…]",
            )  # fmt: skip
        known = self._encoder
        return seen if list(known.names) == list(seen.names) else seen.renamed(known.columns)

    def _same_parameters(self, other: Self, columns: bool = True) -> None:
        if type(self) is not type(other):
            raise MergeError(
                f"a {type(self).__name__} can be combined with a {type(self).__name__} only",
                received=type(other).__name__,
                hint=f"fit the other rows with a {type(self).__name__} first, or add them with partial_fit",
            )
        super()._same_parameters(other, columns)

    def _combine(self, others: list[Self], verb: Any) -> Self:
        for other in others:
            self._same_parameters(other)
            self._need_state(verb.__name__), other._need_state(verb.__name__)
        taken = verb is Moments.subtract
        joint = self._encoder
        for other in others:
            self._same_columns(other)
            joint = joint if taken else joint.union(other._encoder)
        mine, *theirs = (model._over(joint) for model in (self, *others))
        result = super(EncodedColumns, mine)._combine(theirs, verb)
        result.__dict__["_columns"] = joint
        if taken:
            for other in others:
                result._left_by(other)
        return result

    def _same_columns(self, other: Self) -> None:
        mine, theirs = self._encoder, other._encoder
        if mine.numeric != theirs.numeric or mine.vocabulary.names != theirs.vocabulary.names:
            raise MergeError(
                "both models must have the same columns of numbers and of categories",
                received=f"{list(mine.numeric)} and {list(theirs.numeric)} as numbers",
                hint="declare them in both: categorical=[…]",
            )

    def _over(self, joint: Encoder) -> Self:
        """This model with its state over more levels."""
        mine = self._encoder
        strange = [name for name in mine.vocabulary.labels if name not in set(joint.vocabulary.labels)]
        if strange:
            raise MergeError(
                "subtract needs a model whose rows are part of this one",
                received=f"a model that has {strange[0]!r}, which this one never saw",
                hint="subtract only what was merged or fitted before",
            )
        model = self._restated()
        model.__dict__.update(_state=mine.widened(self._need_state(), joint.vocabulary), _columns=joint)
        return model

    def _left_by(self, other: Self) -> None:
        """Drop the levels that went with the rows of ``other``."""
        mine = self._encoder
        rest, stay, _ = mine.vocabulary.difference(other._encoder.vocabulary)
        p, places = mine.p, np.full(mine.p + mine.vocabulary.K, -1, np.intp)
        places[:p], places[p + stay] = np.arange(p), p + np.arange(rest.K)
        columns = replace(mine, vocabulary=rest, weight=mine.weight - other._encoder.weight)
        self.__dict__.update(_state=pooled(self.__dict__["_state"], places, p + rest.K), _columns=columns)
        self.__dict__.pop("_mean_slack", None)

    def _restated(self, **parameters: Any) -> Self:
        model = super()._restated(**parameters)
        model.__dict__["_columns"] = self._encoder
        return model
