"""Correspondence analysis of a table of counts.

    P = N/n,   r = P1,   c = Pᵀ1,   A = D_r^-½ (P − rcᵀ) D_c^-½ = D_r^½ (X − 1cᵀ) D_c^-½,   X = D_r⁻¹P the row profiles

    AᵀA V = V Λ,   Σλ = χ²/n,   rows F = (X − 1cᵀ) D_c^-½ V,   columns G = D_c^-½ V Λ^½

The second form is a weighted analysis of profiles: the mean of the profiles is c itself, so the operators of PCA do all
the work and a sparse table stays sparse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, MergeError, NoAssociation, NonFiniteError, ParameterError
from ritz._core.memory import limit
from ritz._core.warn import warn
from ritz.data.engines import Engine, weighed
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.passes.deviations import ENTRY_ERROR, in_deviations
from ritz.data.passes.moments import Moments
from ritz.data.passes.profiles import margins, restricted
from ritz.data.passes.statistics import ColumnStatistics
from ritz.data.tables.align import aligned
from ritz.data.tables.contingency import Counts, crosstab, form_of, split_labels, without_names
from ritz.data.tables.frames import is_frame, library_of, row_labels
from ritz.data.tables.labelled import labelled
from ritz.data.tables.table import Table
from ritz.data.validate import compare_columns, validate_rows, validate_weights
from ritz.data.words import shorten
from ritz.methods.coordinates import listed_names
from ritz.methods.correspondence.ca.checks import counts_of, require_counts, require_known, warn_columns, warn_empty
from ritz.methods.correspondence.ca.rows import (
    EncodedCounts,
    centred_counts,
    placing,
    rounding_error,
    weighted_masses,
    with_slack,
)  # fmt: skip
from ritz.methods.correspondence.ca.verify import verify_counts
from ritz.methods.correspondence.coded import Encoded
from ritz.methods.correspondence.rank import CA_RULES, count_material
from ritz.methods.correspondence.record import CountRecord
from ritz.methods.correspondence.results import Derived
from ritz.methods.correspondence.table import Correspondence
from ritz.methods.fitted.about import INERTIA, About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.table import OfCounts
from ritz.methods.record import value_of
from ritz.methods.verify.model import with_held
from ritz.project.linear import LinearMap
from ritz.project.transition import cos2, supplementary
from ritz.rank.material import Material
from ritz.spectral.verify import Verification

__all__ = ["CA"]

#: Inertias that cannot be told from zero are called nothing up to this: a wide enclosure alone says nothing of them.
NOTHING = 1e-9


class CA(Correspondence):
    """Correspondence analysis with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All axes, a number, a fraction of the inertia in (0, 1), or a rule.
    rows, columns, counts : str or None
        Columns of a frame or Table to cross-tabulate: the row variable, the column variable and, for a list that has
        been counted already, the counts. ``rows`` alone names the column that labels the rows of a contingency table.
        Without them a frame of exactly two categorical columns is cross-tabulated and everything else is a
        contingency table.
    solver, tol, mergeable, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    eigenvalues_, explained_inertia_ratio_ : (k,) principal inertias and their shares
    total_inertia_ : χ²/n
    chi2_, dof_, p_value_ : the test of independence
    row_coordinates_, column_coordinates_ : (n, k), (d, k) principal coordinates
    row_standard_coordinates_, column_standard_coordinates_ : the same with weighted variance 1
    row_contributions_, column_contributions_ : shares that sum to 1 on an axis
    row_cos2_, column_cos2_ : quality of each point on each axis
    row_masses_, column_masses_, row_inertias_, column_inertias_
    certificate_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
    >>> ca = ritz.CA().fit(smokers)               # staff of five ranks: none, light, medium, heavy
    >>> ca.eigenvalues_.round(4), ca.explained_inertia_ratio_.round(3)
    (array([0.0748, 0.01  , 0.0004]), array([0.878, 0.118, 0.005]))
    >>> round(ca.chi2_, 2), ca.dof_, round(ca.p_value_, 2)
    (16.44, 12, 0.17)
    >>> ca.column_coordinates_[:, 0].round(2)     # the first axis is to smoke or not
    array([ 0.39, -0.1 , -0.2 , -0.29])
    """

    fitted: ClassVar[type[Fitted]] = OfCounts
    about: ClassVar[About] = About(
        "Correspondence analysis",
        "ca",
        takes="counts",
        **INERTIA,
        paper="M. Greenacre, Theory and Applications of Correspondence Analysis, Academic Press, 1984.",
    )
    _agreeing = ("n_components", "rows", "columns", "counts")
    _rules = CA_RULES
    _record: CountRecord
    _records: ClassVar[type[CountRecord]] = CountRecord
    _empty_rows: ClassVar[bool] = True  # which have no profile: their coordinates are NaN

    def __init__(
        self, n_components: Any = None, *, rows: str | None = None, columns: str | None = None,
        counts: str | None = None, solver: str = "auto", tol: float = 1e-6, mergeable: bool | None = None,
        random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.rows = rows
        self.columns = columns
        self.counts = counts
        self.solver = solver
        self.tol = tol
        self.mergeable = mergeable
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    # the table

    def _encode(self, X: Any, sample_weight: Any, *, reset: bool) -> Encoded:
        return self._encoded(X, sample_weight, reset, placed=not reset and not self._is_pending)

    def _as_fitted(self, X: Any, sample_weight: Any) -> Encoded:
        return self._encoded(X, sample_weight, False, placed=False)

    def _encoded(self, X: Any, sample_weight: Any, reset: bool, *, placed: bool) -> EncodedCounts:
        """Profiles and totals; rows to be ``placed`` on the map count in the columns that have a place there."""
        N, labels, library = self._table(X, sample_weight, reset)
        given = (
            None
            if sample_weight is None or self._tabulated
            else validate_weights(sample_weight, N.shape[0], whole=False)
        )
        N, totals, columns = self._profiled(N, given, placed=placed)
        warn_empty(totals, labels, "row", "no profile, so no part in the fit; coordinates are NaN")
        weights = totals if given is None else weighted_masses(totals, given)
        return EncodedCounts(N, totals, columns, weights, labels, library)

    def _profiled(self, N: Any, given: Any, *, placed: bool) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """Counts, totals of the rows and weighted ones of the columns."""
        totals, columns = margins(N, given)
        if not bool(np.all(np.isfinite(totals))) or not np.isfinite(np.sum(columns)):
            require_counts(N, getattr(self, "feature_names_in_", None))
        return (*(self._with_mass(N, totals) if placed else (N, totals)), columns)

    def _lazily(self, engine: Engine, X: Any) -> Any:
        k = self._n_features_out  # read first: it solves a pending state
        X = engine.among(X, listed_names(self))
        compare_columns(self, engine.columns(X))
        placed = engine.map_rows(X, self._part, k, np.float64, getattr(self, "feature_names_in_", None))
        return engine.named(placed, list(self.get_feature_names_out()))

    def _part(self, rows: Any) -> NDArray[np.float64]:
        """Coordinates of some rows of counts; nobody here knows where these stand in their table."""
        try:
            N, totals, columns = self._profiled(rows, None, placed=True)
        except NonFiniteError:
            raise
        except InputError as error:
            raise InputError(error.expected, received=f"{error.received} of a partition", hint=error.hint) from None
        return self._forward(EncodedCounts(N, totals, columns, totals, None, None))

    def _table(self, X: Any, sample_weight: Any, reset: bool) -> tuple[Any, list[Any] | None, str | None]:
        """Counts, labels of the rows, and the library of the frame."""
        library = library_of(X)
        if isinstance(X, Table):
            X.settle(limit(self.memory))
        form = "raw" if isinstance(X, Counts) else form_of(X, self.rows, self.columns, self.counts)
        if reset:
            self._record.raw = None
        if form == "raw":
            table = X if isinstance(X, Counts) else crosstab(X, self.rows, self.columns, self.counts, sample_weight)
            return self._counted(table, reset), list(table.rows), library
        if form == "labels":
            labels, rest = split_labels(X, str(self.rows))
            return validate_rows(self, rest, reset=reset), labels, library
        names = row_labels(X)
        X = without_names(X.counting()) if isinstance(X, Table) else X
        return validate_rows(self, X, reset=reset), names, library

    @property
    def _tabulated(self) -> bool:
        """Whether the fit counted observations: their weights are in the counts."""
        return self._record.raw is not None

    def _counted(self, table: Counts, reset: bool) -> Any:
        """The counts; those of new tables in the order of the columns of the fit."""
        if reset:
            self.n_features_in_, self.feature_names_in_ = len(table.columns), np.asarray(table.columns, object)
            self._record.raw = table
            return table.values
        names = [str(name) for name in self.feature_names_in_]
        strange = [name for name in table.columns if name not in set(names)]
        if strange:
            raise InputError(
                "expected the column categories of the fit", received=f"{shorten(strange)}", hint="leave them out"
            )
        return table.spread(table.rows, names).values

    def _with_mass(self, N: Any, totals: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
        """New rows on the columns that had counts in the fit: the others have no place on the map."""
        placed = self._result("column_masses_") > 0
        if bool(np.all(placed)):
            return N, totals
        kept = restricted(N, placed)
        rest = margins(kept)[0]
        if np.array_equal(rest, totals):
            return N, totals
        warn_columns(self, np.flatnonzero(~placed), "no counts in the fit, so new counts are left out of the profiles")
        return kept, rest

    # adding and taking away

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows of the table, or observations to be counted; the result does not depend on how they are cut.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ca = ritz.CA().partial_fit(smokers[:2]).partial_fit(smokers[2:])
        >>> bool(np.isclose(ca.total_inertia_, ritz.CA().fit(smokers).total_inertia_))
        True
        """
        self._check_parameters()
        if form_of(X, self.rows, self.columns, self.counts) != "raw":
            return super().partial_fit(X, y, sample_weight, check_input)
        table, library = crosstab(X, self.rows, self.columns, self.counts, sample_weight), library_of(X)
        if self.__sklearn_is_fitted__():
            table, library = self._need_counts("partial_fit").plus(table), library or self._record.library
        return self._hold(table, library)

    def _hold(self, table: Counts, library: str | None) -> Self:
        """Keep counts, to be solved when a fitted name is first read."""
        self._forget()
        self._record = self._records(pending=True, library=library)
        self._counted(table, reset=True)
        return self

    def _solve_state(self) -> None:
        if not self._tabulated:
            super()._solve_state()
            return
        library = self._record.library
        self.fit(self._record.raw)
        self._record.library = library

    def _need_counts(self, verb: str) -> Counts:
        counts: Counts | None = value_of(self, "_raw")
        if counts is None:
            raise MergeError(
                f"{verb} adds up either tables of counts or observations",
                received="observations, and a model of a table" if verb == "partial_fit" else "one model of each",
                hint="cross-tabulate first, or fit both to observations",
            )
        return counts

    def _combine(self, others: list[Self], verb: Any) -> Self:
        """Models of counted observations add up their counts: a category of the rows is one row in all of them."""
        counted = [
            isinstance(model, Correspondence) and value_of(model, "_raw") is not None for model in (self, *others)
        ]
        if not any(counted):
            result = super()._combine(others, verb)
            if verb is Moments.subtract:
                result._record.state = result._need_state().without_traces(self._need_state())
            return result
        table = self._need_counts(verb.__name__)
        for other in others:
            self._same_parameters(other, columns=False)
            theirs = other._need_counts(verb.__name__)
            table = table.plus(theirs) if verb is Moments.merge else table.minus(theirs)
        return type(self)(**self.get_params(deep=False))._hold(table, self._record.library)

    def _metric(self, column: ColumnStatistics | Moments) -> NDArray[np.float64]:
        return np.sqrt(np.where(column.mean > 0, column.mean, 1.0))

    def _name_columns(self, *results: Any) -> None:
        super()._name_columns(*results)
        column = results[1]
        self._record.mean_low = (column.shift - column.mean) + column.offset
        self.certificate_ = with_slack(self.certificate_, column, self.total_inertia_)
        empty = np.flatnonzero(self._record.mean <= 0)
        if len(empty):
            warn_columns(self, empty, "no counts and no place on the map; coordinates are NaN")
        bounds = self.certificate_
        most = float(np.max(bounds.upper, initial=max(bounds.ceiling, 0.0)))
        if not bool(np.any(bounds.lower > 0)) and most <= NOTHING:
            warn(
                "no association that can be told from none: up to rounding every row has the same profile, and no "
                f"eigenvalue exceeds {most:.1e}\n"
                "hint: look at what was counted; a list of combinations needs counts='…'",
                NoAssociation,
            )

    def _centred(self, coded: Encoded) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
        """Deviations from the column masses; sparse tables as profiles."""
        if not isinstance(coded, EncodedCounts) or not in_deviations(coded.counts) or not np.any(coded.weights):
            return super()._centred(coded)
        return centred_counts(coded)

    def _inexact(self, column: ColumnStatistics | Moments, scale: NDArray[np.float64]) -> float:
        return rounding_error(column, scale)

    def _kept(self, state: Moments, coded: Encoded) -> Moments:
        dense = isinstance(coded, EncodedCounts) and in_deviations(coded.counts)
        return state if dense else replace(state, rounded=ENTRY_ERROR)

    def _most(self, rows: int, d: int) -> int:
        return max(0, min(rows, d) - 1)

    def _directions(self, rows: int, d: int) -> int:
        return self._most(rows, d)  # rows and columns are alike

    def _material(self, R: Any, weights: NDArray[np.float64] | None, rows: int, d: int, weight: float) -> Material:
        return count_material(self, R, weights, weight, (rows, d))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("rows", "columns", "counts"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)):
                raise ParameterError(f"{name} must be the name of a column or None", received=repr(value))

    # results

    @Derived
    def chi2_(self) -> float:
        """Pearson's χ² of the table: the total inertia times the grand total."""
        return float(self.total_inertia_) * float(self._record.weight)

    @Derived
    def dof_(self) -> int:
        """(rows − 1)(columns − 1) of the rows and columns that have counts."""
        return (self.n_samples_ - 1) * (int(np.count_nonzero(self._result("column_masses_"))) - 1)

    @Derived
    def p_value_(self) -> float:
        """Probability of a χ² as large if rows and columns were independent; counts are meant."""
        from scipy.stats import chi2

        return float(chi2.sf(self.chi2_, self.dof_))

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate against the table that was fitted, by residuals that are computed anew.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ca = ritz.CA(2).fit(smokers)
        >>> bool(ca.verify(smokers)), bool(ca.verify(smokers + 1))
        (True, False)
        """
        check_is_fitted(self)
        len(self.components_)  # solves a pending state
        X, sample_weight = weighed(X, sample_weight, self.memory)
        coded = self._encoded(X, sample_weight, False, placed=False)
        self._present(coded)  # refuses a table without counts
        given = None if sample_weight is None or self._tabulated else np.asarray(sample_weight, np.float64)
        done = verify_counts(self, coded, given)
        return super().verify(X, sample_weight) if done is None else with_held(self, done, (X, sample_weight))

    # coordinates

    def _placing(self, coded: Any) -> tuple[Any, LinearMap]:
        """Encoded or profiled rows, and the map that places them."""
        step = self._map()  # read first: it solves a pending state
        return placing(self._record, step, coded)

    def _forward(self, coded: Encoded, lengths: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        rows, step = self._placing(coded)
        F = step.forward(rows, np.float64, lengths=lengths)
        if not bool(np.all(coded.weights > 0)):
            F[coded.weights <= 0] = np.nan
        return F

    def _placed_rows(self, coded: Encoded) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if not isinstance(self._placing(coded)[0], np.ndarray):
            return super()._placed_rows(coded)
        squares = np.empty(len(coded.weights))  # of dense rows, in the pass that makes the coordinates
        return self._forward(coded, squares), squares

    def _distances(self, coded: Encoded) -> NDArray[np.float64]:
        rows, step = self._placing(coded)
        return step.distances(rows)

    def _scores_into(self, rows: Any, labels: Any, write: Any, step: Any = None) -> None:
        rows, step = self._placing(rows)
        super()._scores_into(rows, labels, write, step)

    def supplementary_rows(self, X: Any, result: str = "coordinates") -> Any:
        """``coordinates`` or ``cos2`` of rows that took no part in the fit, with their names.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ca = ritz.CA(2).fit(smokers)
        >>> ca.supplementary_rows([[42, 29, 20, 9]]).round(2)  # the whole country, placed among the ranks
        array([[ 0.26, -0.12]])
        >>> ca.supplementary_rows([[42, 29, 20, 9]], "cos2").round(2)
        array([[0.63, 0.13]])
        """
        coded = self._new(X)
        values = self._forward(coded)
        if result == "cos2":
            values = cos2(values, self._distances(coded))
        else:
            require_known(result)
        return labelled(values, coded.labels, self._axis_names(), coded.library, "row")

    def supplementary_columns(self, X: Any, result: str = "coordinates") -> Any:
        """``coordinates`` or ``cos2`` of new columns.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, m)
            Counts of new columns for the very rows of the fit. A pandas index that names these is followed; all else
            is in their order.
        result : "coordinates" or "cos2"

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ca = ritz.CA(2).fit(smokers)
        >>> drinks = np.array([[0, 11], [1, 17], [5, 46], [10, 78], [7, 18]])  # abstainers, drinkers
        >>> ca.supplementary_columns(drinks).round(2)
        array([[ 0.11, -0.36],
               [-0.02,  0.05]])
        """
        check_is_fitted(self)
        F, masses = self._result("row_coordinates_"), self._result("row_masses_")
        X = aligned(X, self._record.row_labels, len(F))
        names = [str(name) for name in X.columns] if is_frame(X) else None
        if isinstance(X, Table):
            X, names = X.numeric()
        N = counts_of(X, len(F), names)
        totals = N.sum(axis=0)
        warn_empty(totals, names, "column", "no profile; coordinates are NaN")
        with np.errstate(invalid="ignore", divide="ignore"):
            values, squares = supplementary((N / totals).T, F, self.eigenvalues_, masses)
        values = values if require_known(result) == "coordinates" else cos2(values, squares)
        return labelled(values, names, self._axis_names(), library_of(X), "column")

    def inverse_transform(self, X: Any, totals: Any = None) -> NDArray[np.float64]:
        """Row profiles from coordinates, (n, d), c + F Vᵀ D_c^½; counts where the totals of the rows are given.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ca = ritz.CA().fit(smokers)
        >>> rebuilt = ca.inverse_transform(ca.transform(smokers), totals=smokers.sum(axis=1))
        >>> bool(np.allclose(rebuilt, smokers))       # all axes hold the whole table
        True
        """
        profiles = super().inverse_transform(X)
        if totals is None:
            return profiles
        refuse_masked(totals)
        sums = np.asarray(totals, np.float64)
        if sums.ndim > 1 or (sums.ndim == 1 and len(sums) != len(profiles)):
            raise InputError(
                f"totals needs one number for each of the {len(profiles)} rows", received=f"shape {sums.shape}"
            )
        return profiles * (sums if sums.ndim == 0 else sums[:, None])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
