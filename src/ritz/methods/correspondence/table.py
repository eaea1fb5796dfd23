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

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import InputError, ParameterError
from ritz.data.engines import engine_of
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.tables.identifiers import identifiers_of, labels_of
from ritz.data.tables.table import Table
from ritz.data.tables.write import row_writer
from ritz.methods.base import keep_apart
from ritz.methods.correspondence.results import CorrespondenceResults, why_absent
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.table import OfTable
from ritz.methods.moments import Stateful
from ritz.methods.rank.linear import handed
from ritz.methods.rank.within import Within
from ritz.methods.verify.model import with_held
from ritz.operators import Centered, MomentGram, Scaled, Weighted
from ritz.operators.base import Operator
from ritz.project.linear import LinearMap
from ritz.project.transition import row_distances
from ritz.rank.material import Material
from ritz.rank.positive import Positive
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.verify import Verification

__all__ = ["Correspondence", "Encoded"]


@dataclass
class Encoded:
    """Rows as a method encodes them."""

    rows: Any  # ndarray, CSR or row blocks (n, d)
    weights: NDArray[np.float64]  # (n,) none negative; zero: absent
    labels: list[Any] | None = None  # names of the rows
    library: str | None = None  # of the frame that was given

    @property
    def outside(self) -> bool:
        """Whether the rows stay outside memory."""
        return are_blocks(self.rows)


def shared(column: ColumnStatistics) -> ColumnStatistics:
    """The same columns with weights that sum to 1."""
    return replace(column, weight=1.0, squares=column.squares / column.weight)


def lifted(column: Any, centre: NDArray[np.float64] | None) -> Any:
    """Statistics, or a state, of rows from which ``centre`` was taken off, as those of the rows themselves."""
    return column if centre is None else replace(column, shift=centre, offset=column.mean)


def _shares(weights: NDArray[np.float64], whole: float) -> NDArray[np.float64]:
    shares = weights / whole
    gone = np.flatnonzero((shares < np.finfo(np.float64).tiny) & (weights > 0))
    if len(gone):
        raise InputError(
            "every weight must be a share of their sum that float64 can tell from zero",
            received=f"{weights[gone[0]]:.1e} of {whole:.1e} in row {int(gone[0])} of those with a weight",
            hint="leave such rows out: they are too light to move anything",
        )
    return shares


class Correspondence(CorrespondenceResults, Stateful):
    """Base of the correspondence family."""

    center = True  # the centring that the moment state knows
    scale = True
    fitted: ClassVar[type[Fitted]] = OfTable
    _results: ClassVar[tuple[str, ...]] = (
        "components_", "eigenvalues_", "explained_inertia_ratio_", "total_inertia_", "n_components_", "n_samples_",
        "certificate_", "plan_",
    )  # fmt: skip

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

    def _material(self, R: Any, weights: NDArray[np.float64] | None, rows: int, d: int, whole: float) -> Material:
        """What rules for ``n_components`` may ask; R is None where only a state is left."""
        raise NotImplementedError

    def _route(self, X: Any) -> Plan:
        rows, weights = self._present(self._encode(X, None, reset=True))
        shape = self._shape(rows)
        return self._plan_for(shape, self._axes(len(weights), shape.d), whole=self._forms_state(shape))

    # fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a table.

        Parameters
        ----------
        X : frame, Table, array-like or sparse matrix of shape (n, d)
        y : ignored
        sample_weight : (n,) weights of the rows, or None
        """
        self._check_parameters()
        self._forget()
        coded = self._encode(X, sample_weight, reset=True)
        R, weights, centre = self._centred(coded)
        shape, whole = self._shape(R), float(np.sum(weights))
        rows = int(np.count_nonzero(weights))
        wanted = self._axes(rows, shape.d)
        wanted = handed(
            wanted, lambda: self._material(self._present(coded)[0], weights, rows, shape.d, whole), self._rules
        )
        keep = self._keeps_state(shape.d)
        plan = self._plan_for(shape, wanted, whole=keep and shape.n >= shape.d)
        even = bool(np.all(weights == weights[0]))  # sums of whole numbers are then exact
        leaf, stats = self._leaf(R, None if even else _shares(weights, whole), plan)
        spectrum = self._solve(self._problem(leaf, stats, wanted, shape, centre), plan, 1.0, {}, R)
        state = lifted(stats.moments.times(whole / stats.weight), centre) if keep else None
        self.__dict__["_state"] = None if state is None else self._kept(state, coded)
        column = lifted(stats.column, centre)
        self._name_columns(spectrum, column, self._metric(shared(column)), whole, rows)
        self._name_rows(coded)
        return self

    def _problem(
        self, leaf: Operator, stats: Statistics, wanted: Any, shape: Shape, centre: NDArray[np.float64] | None = None
    ) -> SpectralProblem:
        """D_w^½ (R − 1mᵀ) D_s⁻¹; equal weights 1/n are a matter of scale, and ``centre`` was taken off the rows."""

        def metric() -> NDArray[np.float64]:
            return self._metric(shared(lifted(stats.column, centre)))

        A: Operator = Scaled(Centered(leaf, stats), lambda: metric() * np.sqrt(stats.weight))
        if stats.weights is not None:
            A = Weighted(A, stats.weights)
        return SpectralProblem(
            A,
            n=float(stats.rows),
            d=shape.d,
            rows=stats.rows,
            centered=True,
            repeatable=self._rereads(shape),
            inexact=lambda: self._inexact(shared(stats.column), metric()),
            **self._request(wanted, shape),
        )

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

    def _axes(self, rows: int, d: int) -> Any:
        """``n_components`` as a number or a rule; no more axes than the table can have."""
        most, asked = self._most(rows, d), self.n_components
        if most < 1:
            raise InputError(
                f"{type(self).__name__} needs at least 2 rows and 2 columns that are not empty to have an axis",
                received=f"n_samples={rows}, n_features={d}",
                hint="pass a larger table",
            )
        if asked is None:
            return Positive(most)
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and asked > most:
            raise ParameterError(
                f"n_components={asked} must be at most {most}: this table has no more axes",
                received=f"{rows} rows and {d} columns",
                hint="n_components=None gives all",
            )
        wanted = self._wanted(rows, d, centered=True)
        return wanted if isinstance(wanted, int) else Within(wanted, most, self._directions(rows, d))

    # the moment state

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows; nothing is solved until a fitted name is read. The result does not depend on how rows are cut."""
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        held = None if first else self._need_state("partial_fit")
        self.__dict__["_pending"] = not first  # rows are encoded for the state, not for the axes found so far
        coded = self._encode(X, sample_weight, reset=first)
        R, weights, centre = self._centred(coded)
        state = Statistics(self._leaf(R, weights, self._state_plan(R))[1].blocks, weights).moments
        state = self._kept(lifted(state, centre), coded)
        self._forget()
        joined = state if held is None else self._joined(held, state)
        self.__dict__.update(_state=joined, _pending=True, _dtype=np.dtype(float), _library=coded.library)
        return self

    def _kept(self, state: Moments, coded: Encoded) -> Moments:
        """The state that is kept for merging, from that of the encoded rows of a fit."""
        return state

    def _solvable(self, state: Moments) -> Moments:
        """The state of the encoded rows, from that which is kept for merging."""
        return state

    def _state_plan(self, R: Any) -> Any:
        return self._plan_for(self._shape(R), 1, whole=True)

    def _joined(self, held: Moments, state: Moments) -> Moments:
        return held.merge(state)

    def _solve_state(self) -> None:
        """Solve the accumulated state; called when a fitted name is first read."""
        state = self._solvable(self.__dict__["_state"])
        unit = state.times(1 / state.weight)
        wanted = self._axes(state.rows, state.d)
        wanted = handed(wanted, lambda: self._material(None, None, state.rows, state.d, state.weight), self._rules)
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
        self.__dict__.pop("_pending", None)
        self._name_columns(spectrum, unit, scale, state.weight, state.rows)
        if "_note" in self.__dict__:
            self.certificate_ = replace(self.certificate_, notes=(*self.certificate_.notes, self.__dict__["_note"]))

    # named results

    def _name_columns(
        self, spectrum: Solution, column: ColumnStatistics | Moments, scale: Any, whole: float, rows: int
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
        self.__dict__.update(_mean=column.mean, _scale=scale, _inertias=inertias, _weight=whole, _dtype=np.dtype(float))

    def _name_rows(self, coded: Encoded) -> None:
        """Name the results of the rows, if they are in memory."""
        held: dict[str, Any] = {"_library": coded.library, "_row_labels": coded.labels}
        if not coded.outside:
            held["_F"], held["_row_squares"] = self._places_of(coded)
            held["_row_weights"] = coded.weights / np.sum(coded.weights)
        self.__dict__.update(held)

    def _places_of(self, coded: Encoded) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates of rows and their squared distances from the centre."""
        return self._forward(coded), self._distances(coded)

    def _distances(self, coded: Encoded) -> NDArray[np.float64]:
        """(n,) squared distances of rows from the centre."""
        return row_distances(coded.rows, self.__dict__["_mean"], self.__dict__["_scale"])

    # coordinates

    def _map(self) -> LinearMap:
        components = self.components_  # read first: it solves a pending state
        return LinearMap(components, self.__dict__["_mean"], self.__dict__["_scale"], None)

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
        """Check the certificate against the table that was fitted, independently of how the answer was found."""
        check_is_fitted(self)
        len(self.components_)  # solves a pending state
        coded = self._as_fitted(X, sample_weight)
        rows, weights = self._present(coded)
        return with_held(self, self.certificate_.verify(rows, weights / float(np.sum(weights))), (X, sample_weight))

    def _restated(self, **parameters: Any) -> Self:
        model = super()._restated(**parameters)
        model.__dict__["_library"] = self.__dict__.get("_library")
        return model

    def __getattr__(self, name: str) -> Any:
        # Python asks here after a property has raised, so what it said is said again
        if why := why_absent(self, name):
            raise (AttributeError if self.__sklearn_is_fitted__() else NotFittedError)(why)
        return super().__getattr__(name)

    def _forget(self) -> None:
        super()._forget()
        for name in ("_F", "_row_weights", "_row_squares", "_row_labels", "_library"):
            self.__dict__.pop(name, None)
