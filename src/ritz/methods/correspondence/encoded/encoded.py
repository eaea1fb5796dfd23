"""What MCA, FAMD and MFA share: tables of categories and numbers, looked at, checked and encoded.

table  →  Encoder (learned once)  →  rows R (n×d)  →  Correspondence
refused: NaN and infinity in rows that have a weight, and numbers whose variance is too small for float64
said: columns that give every row a level of its own (η² = 1 on every axis), and columns without variance

Columns are numbers and categories unless a method says otherwise. Rows that come in parts: ``state.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import (
    ConstantColumnWarning,
    IdentifiersAsCategories,
    InputError,
    MergeError,
    NonFiniteError,
    ParameterError,
)  # fmt: skip
from ritz._core.tolerance import CONSTANT
from ritz._core.warn import warn
from ritz.data.column_checks import checked_names
from ritz.data.encode import Encoder
from ritz.data.encode.columns import MemoryColumns, opened
from ritz.data.encode.encoder import UNSEEN_WAYS
from ritz.data.encode.openings import Opened
from ritz.data.engines import Engine
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.passes.blocks import are_blocks, blocks_of
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import Statistics
from ritz.data.tables.frames import is_frame, library_of, row_labels
from ritz.data.tables.labelled import labelled
from ritz.data.tables.table import Table
from ritz.data.validate import validate_weights
from ritz.data.words import describe, nearest, shorten
from ritz.methods.correspondence.coded import Encoded
from ritz.methods.correspondence.encoded import state as states
from ritz.methods.correspondence.encoded.excluded import sums_of
from ritz.methods.correspondence.encoded.rebuilt import decoded, probabilities
from ritz.methods.correspondence.mca.supplementary import Sums, supplementary_columns
from ritz.methods.correspondence.record import ColumnRecord
from ritz.methods.correspondence.results import require_result
from ritz.methods.correspondence.table import Correspondence
from ritz.operators.base import Operator
from ritz.project.transition import cos2

__all__ = [
    "EncodedColumns", "EncodedTable", "constant_variables", "divide", "require_finite_numbers", "warn_constant",
    "warn_identifiers",
]  # fmt: skip

Floats = NDArray[np.float64]

#: Rows from which a level for each is no accident; a level whose share differs from 1 by rounding is everybody's.
ENOUGH_ROWS, ALL = 5, 1 - 1e-12


@dataclass
class EncodedTable(Encoded):
    """Encoded rows and the table that they came from."""

    table: Opened | None = None
    empty: NDArray[np.bool_] | None = None  # rows without a place, such as those without counts


class EncodedColumns(Correspondence):
    """Base of methods whose rows are columns of categories and numbers."""

    categorical: Any
    missing: str
    unseen: str
    rare: float | None
    exclude: Any

    _record: ColumnRecord
    _records: ClassVar[type[ColumnRecord]] = ColumnRecord
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
        return self._record.columns

    def _encode(self, X: Any, sample_weight: Any, *, reset: bool) -> EncodedTable:
        table = self._open(X, reset=reset)
        weights = self._weights(table, sample_weight)
        if reset:
            self._record.columns = self._learned(table, weights, rare=self.rare, exclude=tuple(self.exclude))
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
            self._added_bytes = int(table.held(rows))  # the plan has so much less
        require_finite_numbers(self._encoder, rows, table, weights)
        return self._finished(EncodedTable(rows, weights, row_labels(X), library_of(X), table))

    def _open(self, X: Any, *, reset: bool) -> Opened:
        """The table, after scikit-learn's look at its columns."""
        self._refuse(X)
        table = opened(X, self.memory)
        if isinstance(X, (Table, Opened)) or not isinstance(table, MemoryColumns):
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
        if isinstance(X, np.ma.MaskedArray):
            refuse_masked(X)

    def _compare(self, X: Any, reset: bool) -> None:
        """Record the columns of a frame or array, or compare them; those with names are known by these."""
        if is_frame(X) and (_named(X) if reset else hasattr(self, "feature_names_in_")):
            return
        checked_names(self, X, reset=reset)

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
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

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
        placed = engine.opened(X, self.memory).map_rows(self._encoder, self._coordinates, k, self.unseen)
        return engine.named(placed, list(self.get_feature_names_out()))

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
            values = cos2(values, self._map().distances(coded.rows))
        elif result != "coordinates":
            raise ParameterError("result must be 'coordinates' or 'cos2'", received=repr(result))
        return labelled(values, coded.labels, self._axis_names(), coded.library, "row")

    def _column_labels(self) -> list[str] | None:
        return self._encoder.labels

    def supplementary_columns(
        self, X: Any, result: str = "coordinates", *, categorical: Any = None, rows: Any = None,
        sample_weight: Any = None,
    ) -> Any:  # fmt: skip
        """Other columns for the very rows of the fit: categories and numbers.

        Parameters
        ----------
        X : frame, Table or array of shape (n, m)
            A pandas index that names the rows of the fit is followed; all else is in the order of its rows.
            Missing values take no part.
        result : "coordinates", "cos2", "v_tests" or "eta2"
            Of levels and numbers (for numbers, coordinates are correlations), of levels, or of variables.
        categorical : None, "all" or list of names
            Columns of numbers that are categories.
        rows, sample_weight : optional
            The table that was fitted, and its weights, where it was outside memory.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA(2).fit(tea)
        >>> other = pd.DataFrame({"age": [25, 31, 64, 58, 40, 35, 29]})
        >>> mca.supplementary_columns(other).round(2)  # a number: its correlations with the axes
             Dim1  Dim2
        age  0.88 -0.13
        """
        return supplementary_columns(self, X, result, categorical, rows, sample_weight)

    def _placed(self, sums: Sums, result: str, rows: Any) -> tuple[Floats, list[str]]:
        """A result of supplementary columns and the names of its rows."""
        return sums.result(result, float(self._record.weight))

    # named results

    @property
    def pooled_(self) -> dict[str, list[str]]:
        """Levels that ``rare`` made one level, by variable; a single rare level stays as it is."""
        require_result(self, "pooled_")
        return {name: list(levels) for name, levels in self._encoder.pooled.items()}

    def _name_columns(self, *results: Any) -> None:
        super()._name_columns(*results)
        if pooled := self._encoder.pooled:
            words = "; ".join(f"{name}: {shorten(list(levels))}" for name, levels in pooled.items())
            notes = (*self.certificate_.notes, f"rare levels taken together: {words}")
            self.certificate_ = replace(self.certificate_, notes=notes)

    def _name_rows(self, coded: Encoded) -> None:
        super()._name_rows(coded)
        if isinstance(coded, EncodedTable) and self._record.state is None:
            self._record.outside = sums_of(self, coded)

    # the way back

    def inverse_transform(self, X: Any) -> Any:
        """Rows from coordinates: numbers, and for every categorical variable its most probable level.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Returns
        -------
        A frame of the library that was fitted, or an array; columns in the order of the fit.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> famd = ritz.FAMD(2).fit(wines)
        >>> famd.inverse_transform(famd.transform(wines[:1])).round(1)  # two axes remember the first wine well
          region  acid  alcohol  price
        0  Loire   7.1     11.7    9.7
        """
        return decoded(self, self._rebuilt(X))

    def probabilities(self, X: Any) -> Any:
        """Probabilities of the levels from coordinates, (n, K): the least-squares estimate, none below zero.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> famd = ritz.FAMD(2).fit(wines)
        >>> famd.probabilities(famd.transform(wines[:1])).round(2)
           region=Loire  region=Rhône
        0           1.0           0.0
        """
        return probabilities(self, self._rebuilt(X))

    def _rebuilt(self, X: Any) -> Floats:
        """Encoded rows (n, d) from coordinates."""
        return super().inverse_transform(X)

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
        once = isinstance(X, Iterator) or (isinstance(X, Table) and not X.repeatable)
        if once:
            states.fit_once(self, X, sample_weight)
        return once

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
        states.require_columns(encoder)
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
        return states.with_rows(self, X, sample_weight)

    def _learned_again(self, table: Opened, weights: Floats) -> Encoder:
        """A look at further rows: the columns are those of the first ones, and of their kinds."""
        return states.learned_again(self, table, weights)

    def _same_parameters(self, other: Self, columns: bool = True) -> None:
        if type(self) is not type(other):
            raise MergeError(
                f"a {type(self).__name__} can be combined with a {type(self).__name__} only",
                received=type(other).__name__,
                hint=f"fit the other rows with a {type(self).__name__} first, or add them with partial_fit",
            )
        super()._same_parameters(other, columns)

    def _combine(self, others: list[Self], verb: Any) -> Self:
        return states.combined_columns(self, others, verb)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _named(X: Any) -> bool:
    """Whether all columns of a frame have names that scikit-learn takes: others it refuses, or does without."""
    return all(type(name) is str for name in getattr(X, "columns", (None,)))


# what a table of categories and numbers must be, and what should make its reader think twice


def constant_variables(encoder: Encoder) -> NDArray[np.bool_]:
    """(J,) categorical variables whose one level every row gives; one of a huge weight has others beside it."""
    owners, J = encoder.active.owners, encoder.vocabulary.J
    return (np.bincount(owners, minlength=J) == 1) & (np.bincount(owners, encoder.mean >= ALL, minlength=J) > 0)


def warn_constant(names: list[str]) -> None:
    """Name columns without variance."""
    if names:
        plural = "s" if len(names) > 1 else ""
        warn(
            f"constant column{plural} {shorten([repr(name) for name in names])}: set aside, no variance to analyse",
            ConstantColumnWarning,
        )


def warn_identifiers(encoder: Encoder, rows: int) -> None:
    """Name columns that give every one of ``rows`` rows a level of its own."""
    if rows < ENOUGH_ROWS:
        return
    levels = np.bincount(encoder.active.owners, minlength=encoder.vocabulary.J).tolist()
    names = [repr(name) for name, count in zip(encoder.vocabulary.names, levels, strict=True) if count == rows]
    if names:
        plural, has = ("s", "have") if len(names) > 1 else ("", "has")
        warn(
            f"column{plural} {shorten(names)}: every row has its own level, so {'they' if plural else 'it'} {has} "
            f"η² = 1 on every axis\nhint: drop the column{plural}, or set {'one' if plural else 'it'} as index",
            IdentifiersAsCategories,
        )


def require_finite_numbers(encoder: Encoder, rows: Any, table: Opened, weights: Floats) -> None:
    """Refuse missing and infinite numbers by their columns; rows outside memory are looked at as they are read."""
    if are_blocks(rows) or not encoder.p:
        return
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    if bool(np.isfinite(entries).all()):
        return
    numbers = np.asarray(rows[:, : encoder.p] if isinstance(rows, np.ndarray) else rows[:, : encoder.p].toarray())
    lost = (np.isinf(numbers) if encoder.missing == "regularized" else ~np.isfinite(numbers)) & (weights > 0)[:, None]
    if not bool(lost.any()):
        return
    i, j = (int(at[0]) for at in np.nonzero(lost))
    name, count = encoder.numeric[j], int(lost[:, j].sum())
    what = "NaN" if bool(np.isnan(numbers[lost]).any()) else "infinity"
    raise NonFiniteError(
        f"Input X contains {what}, where only finite numbers can be used",
        received=f"{count} in column {name!r}, the first in {table.row_name(i)}",
        hint="missing='regularized' fills them in by the other columns; or drop those rows",
    )


def divide(encoder: Encoder, stats: Statistics, names: Collection[str]) -> None:
    """Announce numbers that are divided by their standard deviation; one that float64 cannot tell is refused."""
    divided, rounding = np.zeros(encoder.d, bool), np.zeros(encoder.d)
    divided[: encoder.p] = [name in names for name in encoder.numeric]
    rounding[: encoder.p] = CONSTANT * 2.0**-53 * np.abs(encoder.shift)
    stats.divide(divided, rounding)
