"""What CA, MCA, FAMD and MFA share: a weighted analysis of encoded rows under a column metric.

    A = D_w^½ (R − 1mᵀ) D_s⁻¹  (n×d),   Σw = 1,   AᵀA V = V Λ,   inertias λ,   F = (R − 1mᵀ) D_s⁻¹ V

| method | rows R             | weights w      | mean m            | scale s         |
| CA     | row profiles       | row totals     | column masses c   | √c              |
| MCA    | indicator          | sample weights | category shares p | √(Jp)           |
| FAMD   | numbers, indicator | sample weights | μ, p              | σ, √p           |
| MFA    | groups of these    | sample weights | μ, p, …           | those × √λ₁     |

A method says how its rows are encoded and what its metric is; the divisor is Σw, as in FactoMineR. Coordinates are
linear in a row, so those of a new row never depend on the rows beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import getattr_static
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz.data.engines import engine_of, weighed
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.tables.identifiers import identifiers_of, labels_of
from ritz.data.tables.table import Table
from ritz.data.tables.write import row_writer
from ritz.methods.coordinates import keep_apart
from ritz.methods.correspondence.coded import Encoded, shares_of_weights
from ritz.methods.correspondence.record import TableRecord
from ritz.methods.correspondence.results import (
    Columns,
    Derived,
    Forgotten,
    Result,
    Rows,
    Side,
    inertia_table,
)  # fmt: skip
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.table import OfTable
from ritz.methods.method import Method
from ritz.methods.posed import Posed
from ritz.methods.rank.linear import handed
from ritz.methods.rank.within import Within
from ritz.methods.verify.model import with_held
from ritz.operators import Centered, MomentGram, Scaled, Weighted
from ritz.operators.base import Operator
from ritz.project.linear import LinearMap
from ritz.rank.material import Material
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import Positive, SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.verify import Verification

__all__ = ["Correspondence"]


class Correspondence(Method):
    """Base of the correspondence family."""

    center = True  # the centring that the moment state knows
    scale = True
    components_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]
    explained_inertia_ratio_: NDArray[np.float64]
    _record: TableRecord
    _records: ClassVar[type[TableRecord]] = TableRecord
    _sides: ClassVar[dict[str, type[Side]]] = {"row": Rows, "column": Columns}
    fitted: ClassVar[type[Fitted]] = OfTable
    _results: ClassVar[tuple[str, ...]] = (
        "components_", "eigenvalues_", "explained_inertia_ratio_", "total_inertia_", "n_components_", "n_samples_",
        "certificate_", "plan_",
    )  # fmt: skip

    row_coordinates_ = Result("(n, k) principal coordinates of the rows")
    row_standard_coordinates_ = Result("(n, k) coordinates of weighted variance 1")
    row_contributions_ = Result("(n, k) shares of the rows in each axis; columns sum to 1")
    row_cos2_ = Result("(n, k) shares of the axes in each row's squared distance from the centre")
    row_masses_ = Result("(n,) shares of the rows in the weight")
    row_inertias_ = Result("(n,) inertias of the rows; they sum to the total inertia")
    column_coordinates_ = Result("(d, k) principal coordinates of the columns")
    column_standard_coordinates_ = Result("(d, k) coordinates of weighted variance 1")
    column_contributions_ = Result("(d, k) shares of the columns in each axis; columns sum to 1")
    column_cos2_ = Result("(d, k) shares of the axes in each column's squared distance from the centre")
    column_masses_ = Result("(d,) shares of the columns in the weight")
    column_inertias_ = Result("(d,) inertias of the columns; they sum to the total inertia")

    # what a method fills in

    def _encode(self, X: Any, sample_weight: Any, *, reset: bool) -> Encoded:
        """Rows and weights; ``reset`` in ``fit``, where the columns are learned."""
        raise NotImplementedError

    def _metric(self, column: ColumnStatistics | Moments) -> NDArray[np.float64]:
        """The scale s (d,), nowhere zero, from the means and variances of the encoded columns (Σw = 1)."""
        raise NotImplementedError

    def _most(self, rows: int, d: int) -> int:
        """The largest number of axes."""
        return max(0, min(rows - 1, d))

    def _directions(self, rows: int, d: int) -> int:
        """Directions that the columns have, however many rows there are."""
        return self._most(max(rows, d + 2), d)

    def _material(self, R: Any, weights: NDArray[np.float64] | None, rows: int, d: int, weight: float) -> Material:
        """What rules for ``n_components`` may ask; R is None where only a state is left."""
        raise NotImplementedError

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        self._record = self._records()
        rows, weights = self._present(self._encode(X, sample_weight, reset=True))
        shape = self._shape(rows)
        whole = self._keeps_state(shape.d) and shape.n >= shape.d
        return self._plan_for(shape, self._axes(len(weights), shape.d), whole=whole)

    # fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a table.

        Parameters
        ----------
        X : frame, Table, array-like or sparse matrix of shape (n, d)
        y : ignored
        sample_weight : (n,) weights of the rows, or None
        """
        return self._fit(X, y, sample_weight)

    def _adopt(self, X: Any, y: Any, sample_weight: Any) -> tuple[Encoded]:
        self._forget()
        self._record = self._records()
        return (self._encode(X, sample_weight, reset=True),)

    def pose(self, coded: Encoded) -> Posed:  # type: ignore[override]
        """Encoded rows, weights that count, and what was taken off the rows when they were encoded."""
        R, weights, centre = self._centred(coded)
        shape, weight = self._shape(R), float(np.sum(weights))
        rows = int(np.count_nonzero(weights))
        wanted = self._axes(
            rows, shape.d, lambda: self._material(self._present(coded)[0], weights, rows, shape.d, weight)
        )
        keep = self._keeps_state(shape.d)
        return Posed(
            rows=R, weights=weights, shape=shape, wanted=wanted, centered=True, kept=(coded, centre, weight, keep),
            forms_state=keep and shape.n >= shape.d,
        )  # fmt: skip

    def _problem(self, posed: Posed, plan: Plan) -> SpectralProblem:
        """D_w^½ (R − 1mᵀ) D_s⁻¹; equal weights 1/n are a matter of scale, and ``centre`` was taken off the rows."""
        weights, (_, centre, weight, _) = np.asarray(posed.weights), posed.kept
        even = bool(np.all(weights == weights[0]))  # sums of whole numbers are then exact
        leaf, stats = self._leaf(posed.rows, None if even else shares_of_weights(weights, weight), plan)
        posed.stats = stats
        self._weigh_groups(leaf, stats, posed.shape)
        leaf.tally.passes += stats.passes  # type: ignore[attr-defined]  # which every leaf of rows has

        def metric() -> NDArray[np.float64]:
            return self._metric(shared(lifted(stats.column, centre)))

        A: Operator = Scaled(Centered(leaf, stats), lambda: metric() * np.sqrt(stats.weight))
        if stats.weights is not None:
            A = Weighted(A, stats.weights)
        return SpectralProblem(
            A,
            n=float(stats.rows),
            d=posed.shape.d,
            rows=stats.rows,
            centered=True,
            repeatable=self._rereads(posed.shape),
            inexact=lambda: self._inexact(shared(stats.column), metric()),
            **self._request(posed.wanted, posed.shape),
        )

    def read(self, solution: Solution, posed: Posed) -> None:
        """Results of the columns, the state that can be merged, and results of the rows where they are in memory."""
        stats, (coded, centre, weight, keep) = posed.stats, posed.kept
        state = lifted(stats.moments.times(weight / stats.weight), centre) if keep else None
        self._record.state = None if state is None else self._kept(state, coded)
        column = lifted(stats.column, centre)
        rows = int(np.count_nonzero(np.asarray(posed.weights)))
        self._name_columns(solution, column, self._metric(shared(column)), weight, rows)
        self._name_rows(coded)

    def _weigh_groups(self, leaf: Operator, stats: Statistics, shape: Shape) -> None:
        """Find the weights of groups of columns that the metric needs; nothing where there are no groups."""

    def _inexact(self, column: ColumnStatistics | Moments, scale: NDArray[np.float64]) -> float:
        """Bound on ‖Ã − A‖₂ from the rounding of the encoded rows, of which ``column`` tells (Σw = 1).

        Levels are exact, and numbers are what was given: nothing.
        """
        return 0.0

    def _centred(self, coded: Encoded) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
        """Rows with a weight, their weights, and what was taken off the rows when they were encoded, if anything."""
        return (*self._present(coded), None)

    def _present(self, coded: Encoded) -> tuple[Any, NDArray[np.float64]]:
        """Rows with a weight, and their weights; rows outside memory stay, marked as absent."""
        R, w = coded.rows, coded.weights
        present = np.flatnonzero(w)
        if len(present) == 0:
            raise InputError(
                "expected rows with a positive weight", received="weights that are all zero", hint="pass counts > 0"
            )
        if len(present) == len(w):
            return R, w
        if are_blocks(R):
            R.absent = w == 0
            return R, w
        return R[present], w[present]

    def _axes(self, rows: int, d: int, material: Callable[[], Material] | None = None) -> Any:
        """``n_components`` as a number or a rule, with its material; no more axes than the table can have."""
        most, asked = self._most(rows, d), self.n_components
        if most < 1:
            alike = rows > 1 and self.about.takes == "categories"
            needs = "a column with 2 different values" if alike else "at least 2 rows and 2 columns that are not empty"
            received = f"{rows:,} rows that are all alike" if alike else f"n_samples={rows}, n_features={d}"
            words = f"{type(self).__name__} needs {needs} to have an axis"
            raise InputError(words, received=received, hint="pass a larger table")
        if asked is None:
            return Positive(most)
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and asked > most:
            raise ParameterError(
                f"n_components={asked} must be at most {most}: this table has no more axes",
                received=f"{rows} rows and {d} columns",
                hint="n_components=None gives all",
            )
        wanted = self._wanted(rows, d, centered=True)
        if isinstance(wanted, int):
            return wanted
        rule = Within(wanted, most, self._directions(rows, d))
        return rule if material is None else handed(rule, material, self._rules)

    # the moment state

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows; nothing is solved until a fitted name is read. The result does not depend on how rows are cut."""
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        before = None if first else self._need_state("partial_fit")
        # rows are encoded for the state, not for the axes that were solved for
        self._record = self._records() if first else replace(self._record, pending=True)
        coded = self._encode(X, sample_weight, reset=first)
        R, weights, centre = self._centred(coded)
        state = Statistics(self._leaf(R, weights, self._state_plan(R))[1].blocks, weights).moments
        state = self._kept(lifted(state, centre), coded)
        return self._added_up(state if before is None else before.merge(state), library=coded.library)

    def _added_up(self, state: Moments, **columns: Any) -> Self:
        """Forget the axes; the state is solved when a fitted name is first read."""
        self._forget()
        self._record = self._record.lasting(**{"state": state, "pending": True, "dtype": np.dtype(float)} | columns)
        return self

    def merge(self, other: Self, *more: Self) -> Self:
        """The model of both tables together, exactly; neither operand changes.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> counts = np.array([[20, 5, 1], [4, 30, 8], [2, 6, 25], [11, 12, 9]])
        >>> both = ritz.CA().fit(counts[:2]).merge(ritz.CA().fit(counts[2:]))
        >>> bool(np.allclose(both.eigenvalues_, ritz.CA().fit(counts).eigenvalues_))
        True
        """
        return self._combine([other, *more], Moments.merge)

    def subtract(self, other: Self) -> Self:
        """The model without the rows of ``other``; exact to u·tr(merged)/tr(rest), as its certificate notes.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> counts = np.array([[20, 5, 1], [4, 30, 8], [2, 6, 25], [11, 12, 9], [7, 3, 18]])
        >>> rest = ritz.CA().fit(counts).subtract(ritz.CA().fit(counts[3:]))
        >>> bool(np.allclose(rest.eigenvalues_, ritz.CA().fit(counts[:3]).eigenvalues_))
        True
        """
        return self._combine([other], Moments.subtract)

    def _kept(self, state: Moments, coded: Encoded) -> Moments:
        """The state that is kept for merging, from that of the encoded rows of a fit."""
        return state

    def _solvable(self, state: Moments) -> Moments:
        """The state of the encoded rows, from that which is kept for merging."""
        return state

    def _state_plan(self, R: Any) -> Any:
        return self._plan_for(self._shape(R), 1, whole=True)

    def _solve_state(self) -> None:
        """Solve the accumulated state; called when a fitted name is first read."""
        self._record = record = replace(self._record)  # a copy of the model solves the state for itself
        state = self._solvable(self._need_state())
        unit = state.times(1 / state.weight)
        wanted = self._axes(state.rows, state.d, lambda: self._material(None, None, state.rows, state.d, state.weight))
        shape = Shape(state.rows, state.d, 8, None, symmetric=True)
        plan = self._plan_for(shape, wanted, whole=True)
        scale = self._metric(unit)
        problem = SpectralProblem(
            MomentGram(unit, center=True, scale=scale),
            kind="eigh",
            n=float(state.rows),
            d=state.d,
            rows=state.rows,
            centered=True,
            repeatable=False,
            inexact=lambda: self._inexact(unit, scale),
            **self._request(wanted, shape),
        )
        spectrum = self._solve(problem, plan, 1.0, {})
        record.pending = None
        self._name_columns(spectrum, unit, scale, state.weight, state.rows)
        if record.note is not None:
            self.certificate_ = replace(self.certificate_, notes=(*self.certificate_.notes, record.note))

    # named results

    def _name_columns(
        self, spectrum: Solution, column: ColumnStatistics | Moments, scale: Any, weight: float, rows: int
    ) -> None:
        """Name the results that need no row: all of the columns' side."""
        squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
        values = np.maximum(spectrum.values, 0.0)
        total = spectrum.total
        self.components_ = np.ascontiguousarray(spectrum.vectors.T)
        self.eigenvalues_ = values
        self.total_inertia_ = float(total)
        self.explained_inertia_ratio_ = values / total if total > 0 else np.zeros_like(values)
        self.n_components_, self.n_samples_ = len(values), rows
        self.certificate_, self.plan_ = spectrum.certificate, spectrum.plan
        inertias = squares * (column.unit / scale) ** 2 / column.weight
        spectrum.certificate.frame.update(mean=column.mean, scale=scale, metric=True)
        record = self._record
        record.mean, record.scale, record.column_inertias = column.mean, scale, inertias
        record.weight, record.dtype = weight, np.dtype(float)

    def _name_rows(self, coded: Encoded) -> None:
        """Name the results of the rows, if they are in memory."""
        record = self._record
        record.library, record.row_labels = coded.library, coded.labels
        if not are_blocks(coded.rows):
            record.F, record.row_squares = self._placed_rows(coded)
            record.row_weights = coded.weights / np.sum(coded.weights)

    def _placed_rows(self, coded: Encoded) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates of rows and their squared distances from the centre."""
        return self._forward(coded), self._distances(coded)

    def _distances(self, coded: Encoded) -> NDArray[np.float64]:
        """(n,) squared distances of rows from the centre."""
        return self._map().distances(coded.rows)

    # coordinates

    def _map(self) -> LinearMap:
        components = self.components_  # read first: it solves a pending state
        return LinearMap(components, self._record.mean, self._record.scale, None)

    def _forward(self, coded: Encoded) -> NDArray[np.float64]:
        return self._map().forward(coded.rows, np.float64)

    def transform(self, X: Any) -> Any:
        """Principal coordinates of rows, (n, k); a Dask collection is transformed lazily.

        Parameters
        ----------
        X : frame, Table, array-like or sparse matrix of shape (n, d), with the columns of the fit
        """
        check_is_fitted(self)
        engine = engine_of(X)
        return self._lazily(engine, X) if engine.lazy else self._forward(self._new(X))

    def _new(self, X: Any, sample_weight: Any = None) -> Encoded:
        """New rows, encoded as the fit encoded its own."""
        check_is_fitted(self)
        len(self.components_)  # solves a pending state
        return self._encode(X, sample_weight, reset=False)

    def _as_fitted(self, X: Any, sample_weight: Any) -> Encoded:
        """The very rows of the fit, encoded by its rules."""
        return self._encode(X, sample_weight, reset=False)

    def transform_to(self, X: Any, path: Any) -> Path:
        """Write the coordinates of rows to a file, some rows at a time, and give its path, as ``PCA.transform_to``.

        Identifiers of a Table and names of rows, such as a pandas index, go along in columns of their own.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> path = ritz.CA(2).fit(smokers).transform_to(smokers, "scores.csv")
        >>> ritz.read(path).names
        ['Dim1', 'Dim2']
        """
        coded, target = self._new(X), Path(path)
        labels = identifiers_of(X)
        if coded.labels is not None and not isinstance(X, Table):
            labels = labels_of(coded.labels, getattr(getattr(X, "index", None), "name", None))
        keep_apart(target, X)
        with row_writer(target, self._axis_names(), np.dtype(np.float64)) as write:
            self._scores_into(coded.rows, labels, write)
        return target

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate against the table that was fitted, independently of how the answer was found.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA(2).fit(tea)
        >>> bool(mca.verify(tea)), bool(mca.verify(tea.replace("yes", "no")))
        (True, False)
        """
        check_is_fitted(self)
        len(self.components_)  # solves a pending state
        X, sample_weight = weighed(X, sample_weight, self.memory)
        coded = self._as_fitted(X, sample_weight)
        rows, weights = self._present(coded)
        return with_held(self, self.certificate_.verify(rows, weights / float(np.sum(weights))), (X, sample_weight))

    def _restated(self, **parameters: Any) -> Self:
        model = super()._restated(**parameters)
        record = model._record
        model._record = self._record.lasting(state=record.state, dtype=record.dtype, pending=True)
        return model

    # results

    def _side(self, side: str) -> Any:
        """The rows, the columns, or what else a method calls a side of its table."""
        return self._sides[side](self)

    def _result(self, name: str) -> NDArray[np.float64]:
        """A named result without labels: ``_result("row_cos2_")``."""
        result = getattr(type(self), name)
        return np.asarray(result.values(self))

    @Derived
    def column_names_(self) -> NDArray[np.object_]:
        """(d,) names of the rows of ``column_coordinates_``, which an array cannot show; x0, x1 … where none came."""
        d = self.components_.shape[1]
        return np.asarray(self._column_labels() or [f"x{j}" for j in range(d)], dtype=object)

    @Derived
    def explained_variance_ratio_(self) -> NDArray[np.float64]:
        """``explained_inertia_ratio_`` under the name that it has in scikit-learn and in PCA: inertia is variance."""
        return self.explained_inertia_ratio_

    def inertia_table(self) -> Any:
        """Eigenvalue, share of the total inertia and cumulative share of every axis, (k, 3).

        A frame of the library that was fitted, with a row for each axis; an array where none came.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ritz.CA().fit(smokers).inertia_table().round(4)  # eigenvalue, share, share so far
        array([[7.480e-02, 8.776e-01, 8.776e-01],
               [1.000e-02, 1.176e-01, 9.951e-01],
               [4.000e-04, 4.900e-03, 1.000e+00]])
        """
        check_is_fitted(self)
        return inertia_table(self)

    def _column_labels(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _axis_names(self) -> list[str]:
        return [f"{self.about.axis}{i + 1}" for i in range(len(self.eigenvalues_))]

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not isinstance(getattr_static(type(self), name, None), Forgotten)]


def shared(column: ColumnStatistics) -> ColumnStatistics:
    """The same columns with weights that sum to 1."""
    return replace(column, weight=1.0, squares=column.squares / column.weight)


def lifted(column: Any, centre: NDArray[np.float64] | None) -> Any:
    """Statistics, or a state, of rows from which ``centre`` was taken off, as those of the rows themselves."""
    return column if centre is None else replace(column, shift=centre, offset=column.mean)
