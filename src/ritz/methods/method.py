"""The pipeline that every method goes through, and what it gives: fit, plan, verify, transform, files of scores.

    fit:   check → adopt → pose → plan → solve → read
           X ↦ rows ↦ Posed (operator A, how many) ↦ Plan ↦ Solution (pairs + certificate) ↦ names ending in ``_``

A method writes ``pose``, which makes a spectral problem of rows, and ``read``, which names what was found; the other
steps are here, and a method whose rows or whose search are not of the common kind replaces ``_adopt`` or ``_solved``.
scikit-learn's conventions: ``__init__`` only stores, fitted names end in ``_``. A failed fit leaves no model behind.
"""

from __future__ import annotations

import logging
import math
import numbers
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ritz._core.bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, check_is_fitted
from ritz._core.errors import MemoryLimitError, ParameterError, RitzError
from ritz._core.imports import module_of
from ritz._core.linalg import working_dtype
from ritz._core.memory import LITTLE, SMALL_TABLE, limit
from ritz._core.notebook import html_of
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz.data.engines import Engine, engine_of, weighed
from ritz.data.passes.blocks import are_blocks, blocks_of, widened_once
from ritz.data.passes.statistics import Statistics
from ritz.data.passes.unit import UnitChange
from ritz.data.tables.frames import library_of
from ritz.data.tables.identifiers import Labels
from ritz.data.tables.write import RowWriter
from ritz.data.validate import require_device, require_finite, room_for, validate_rows, validate_weights, where_asked
from ritz.methods.calls import forget, public, threads_for
from ritz.methods.coordinates import rows_from, scores_into, scores_lazily, scores_of, scores_to
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted, fitted_of
from ritz.methods.guest import linear_map_of, posed_by, settled_by
from ritz.methods.linear_record import LinearRecord
from ritz.methods.moments import combined, keeps_state, need_state, restated, same_parameters
from ritz.methods.pending import Pending
from ritz.methods.posed import Posed, asked_again, planned_smallest, tell_none, verify_posed, wanted_of, with_sums
from ritz.methods.rank.linear import handed
from ritz.methods.slim import copied, deep_copied, getstate, reduced, setstate
from ritz.methods.streams.decay import faded_rows
from ritz.methods.unfitted import absent, refuse_other_names, require_mean, tell_unfitted
from ritz.methods.verify.model import with_held
from ritz.operators import Dense, Sparse
from ritz.operators.base import Operator
from ritz.operators.framed import Framed
from ritz.project.linear import result_dtype
from ritz.rank.material import Material
from ritz.rank.rule import NAMES
from ritz.spectral.plan import FIRST_GUESS, Plan, Shape, as_planned, over_memory, route, size_words, time_words
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

if TYPE_CHECKING:
    from ritz.spectral.verify import Verification

__all__ = ["Method"]

LOG = logging.getLogger("ritz")
#: Routes of tables, by shape, number and parameters: they depend on nothing else.
routed = lru_cache(maxsize=256)(route)

NO_ROWS = "an operator has a spectrum and nothing else"  # why a rule that asks rows has no answer


class Method(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators."""

    #: words about the method, and what may be asked of a fitted model
    about: ClassVar[About]
    fitted: ClassVar[type[Fitted]]

    _rules: ClassVar[tuple[str, ...]] = NAMES  # that make sense for ``n_components``
    #: whether components are the vectors that the certificate speaks of
    _holds_vectors: ClassVar[bool] = False
    #: whether a fit begins again in another unit where squares of the data leave the range of float64
    _rescales: ClassVar[bool] = False
    _of_pairs: ClassVar[bool] = False  # whether the matrix is one of rows by rows
    _pieces: ClassVar[tuple[str, str]] = ("row", "column")  # what they are called
    #: the record that fits keep things in for themselves
    _records: ClassVar[type[Any]] = LinearRecord
    _record: Any = None
    #: fitted names that a pending state is solved for, of methods that keep one; parameters that agree in a merge
    _results: ClassVar[tuple[str, ...]] = ()
    _agreeing: ClassVar[tuple[str, ...]] = ()
    #: fitted names that are missed before the fit, beside those of ``fitted.named``
    _told: ClassVar[tuple[str, ...]] = ()
    _guest: ClassVar[bool] = False  # a method of another package
    _on_device: ClassVar[bool] = False  # whether rows on a device stay there; they come to the host otherwise

    n_components: Any
    certificate_: Any
    solver: str
    tol: float
    mergeable: Any = None
    decay: Any = 1.0
    random_state: Any
    memory: Any
    device: str
    progress: Any

    def __new__(cls, *_given: Any, **named: Any) -> Self:
        return refuse_other_names(cls, **named) if named else object.__new__(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._guest = not cls.__module__.startswith("ritz.")
        rules = getattr(getattr(cls, "fitted", None), "rules", None)
        if isinstance(rules, tuple) and "_rules" not in vars(cls):
            cls._rules = rules
        for name in vars(cls).get("_results", ()):
            if name not in vars(cls):
                setattr(cls, name, Pending(name))
        tell_unfitted(cls)
        public(cls)

    def pose(self, rows: Any, weights: np.ndarray | None) -> Posed:
        """The spectral problem of rows and their weights."""
        raise NotImplementedError

    def read(self, solution: Any, posed: Posed) -> None:
        """Name the results."""
        raise NotImplementedError

    # the pipeline

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
        y : ignored
        sample_weight : (n,) frequencies, or None
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Check, adopt, pose, plan, solve, read; a fit that fails leaves no model behind."""
        try:
            self._check_parameters()
            if sample_weight is not None:
                X, sample_weight = weighed(X, sample_weight, getattr(self, "memory", None))
            if not self._read_once(X, sample_weight):
                adopted = self._adopt(X, y, sample_weight)
                with threads_for(self, adopted[0]):
                    posed = self._posed(*adopted)
                    self.read(self._solved(posed, self._plan(posed)), posed)
                    if self._guest:
                        settled_by(self, posed)
        except BaseException:
            forget(self)
            raise
        return self

    def _adopt(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """What ``pose`` takes: validated rows and their weights."""
        self._record = self._records()
        adopted = self._rows(X, sample_weight, reset=True)
        return adopted if self.decay == 1 else faded_rows(self, *adopted)

    def _posed(self, *adopted: Any) -> Posed:
        return self._filled(posed_by(self, *adopted) if self._guest else self.pose(*adopted))

    def _filled(self, posed: Posed) -> Posed:
        """The problem, with what a method leaves to the pipeline."""
        if posed.shape is None and posed.operator is not None:
            width = working_dtype(posed.operator.dtype).itemsize
            posed.shape = Shape(*posed.operator.shape, width, None, symmetric=posed.kind == "eigh")
        if posed.kind == "eigh" and posed.operator is not None:
            posed.frame = {"matrix": posed.operator.symbol(), **posed.frame}
        if posed.wanted is None and posed.operator is not None:
            wanted = self._wanted(posed.shape.n, posed.shape.d, centered=posed.centered)
            posed.wanted = handed(wanted, lambda: Material(type(self).__name__, why_not=NO_ROWS), self._rules)
        return posed

    def _plan(self, posed: Posed) -> Any:
        if posed.which == "smallest":
            return planned_smallest(self, posed)
        return self._plan_for(posed.shape, posed.wanted, whole=posed.forms_state)

    def _solved(self, posed: Posed, plan: Any) -> Any:
        """The solution; once more, in another unit, where squares of the rows left the range of float64."""
        try:
            return self._attempted(posed, plan)
        except UnitChange as change:
            posed.rows, posed.unit = change.rows(posed.rows), change.unit
            return self._attempted(posed, replace(plan, precision="float64"))

    def _attempted(self, posed: Posed, plan: Plan) -> Solution:
        problem = self._problem(posed, plan)
        posed.rank = problem.rank
        return self._solve(problem, plan, 1.0 if posed.unit is None else posed.unit, posed.frame, posed.rows)

    def _problem(self, posed: Posed, plan: Plan) -> SpectralProblem:
        """The problem that is solved by this plan."""
        asked = self._request(posed.wanted, posed.shape)
        return SpectralProblem(posed.operator, **posed.question(), **asked)

    def _read_once(self, X: Any, sample_weight: Any) -> bool:
        return False  # True: the fit is done already, because rows that can be read only once were added up

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        """The plan for fitting an estimator that is not fitted yet."""
        return self._plan(self._posed(*self._adopt(X, y, sample_weight)))

    def _keep(self, solution: Solution, rows: int) -> None:
        """Name what every method has: the proof, the route, and how many."""
        self.certificate_, self.plan_ = solution.certificate, solution.plan
        self.n_components_, self.n_samples_ = len(solution.values), rows

    def _check_parameters(self) -> None:
        if self.device != "cpu":
            require_device(self.device)
        if not isinstance(self.tol, (float, numbers.Real)) or self.tol is False or not 0 <= self.tol < 1:
            raise ParameterError("tol must be a number in [0, 1)", received=repr(self.tol), hint="tol=1e-6")

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, whole: bool = True) -> tuple[Any, np.ndarray | None]:
        """Validated rows and weights; rows of weight zero are absent, whatever they hold."""
        if reset:
            # of what is told about the columns later
            self._new_record().library = None if type(X) in (np.ndarray, list) else library_of(X)
        X = validate_rows(self, X, reset=reset)
        if sample_weight is None:
            return X, None
        weights = validate_weights(sample_weight, X.shape[0], whole=whole)
        present = np.flatnonzero(weights)
        if len(present) < len(weights) and not are_blocks(X):
            return X[present], weights[present]
        if len(present) < len(weights):
            X.absent = weights == 0
        return X, weights

    def _plan_for(self, shape: Shape, k: int | Any, *, whole: bool = False) -> Plan:
        """The route; a small table in memory is not weighed against what is available."""
        options: dict[str, Any] = {"solver": self.solver, "tol": self.tol, "forms_state": whole}
        kept = self.memory is None and not shape.outside and isinstance(self.solver, str)  # others are refused
        try:
            plan = routed(shape, as_planned(k), memory=None, **options) if kept else None
            if plan is None or (8 * shape.numbers > SMALL_TABLE and not plan.fits(room_for(self))):
                plan = route(shape, as_planned(k), memory=room_for(self), **options)
            return plan if plan.solver != "sketch" else with_sums(self, shape, plan)
        except MemoryLimitError as error:
            added = limit(self.memory) - room_for(self)
            if error.least is None or not added > 0:
                raise
            raise over_memory(limit(self.memory), error.least + added) from error

    def _new_record(self) -> Any:  # an empty one before the first fit
        if self._record is None:
            self._record = self._records()
        return self._record

    # the moment state, of methods that keep one

    def _keeps_state(self, d: int) -> bool:  # whether the state of d columns is kept
        small = self.memory is self.mergeable is None and 32 * d * d <= LITTLE
        return bool(self._results) and (small or keeps_state(self, d))

    _need_state, _same_parameters, _combine, _restated = need_state, same_parameters, combined, restated
    __getstate__, __setstate__, __reduce_ex__, __copy__, __deepcopy__ = getstate, setstate, reduced, copied, deep_copied

    @property
    def _added_bytes(self) -> int | None:  # what was put in memory for the fit
        return None if self._record is None else self._record.added_bytes

    @_added_bytes.setter
    def _added_bytes(self, added: int) -> None:
        self._new_record().added_bytes = added

    @property
    def _is_pending(self) -> bool:  # whether rows were added that nothing has been solved for yet
        return self._record is not None and bool(self._record.pending)

    _absent = absent

    def _forget(self) -> None:
        """Drop what an earlier fit has named, in methods that add rows."""
        for name in [name for name in vars(self) if name in self._results]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "certificate_" in vars(self) or self._is_pending

    def _shape(self, X: Any) -> Shape:
        if type(X) is np.ndarray:
            return Shape(X.shape[0], X.shape[1], working_dtype(X.dtype).itemsize)
        blocks, (n, d), reading = are_blocks(X), map(int, X.shape), getattr(X, "reading", None)
        outside = blocks and not getattr(X, "resident", False)
        stored = (int(X.stored) if X.sparse else None) if blocks else None if isinstance(X, np.ndarray) else int(X.nnz)
        width, there = working_dtype(X.dtype).itemsize, getattr(X, "where", "")
        return Shape(n, d, width, stored, outside=outside, reading=reading, there=there)

    def _leaf(
        self, X: Any, weights: np.ndarray | None, plan: Plan, unit: float | None = None
    ) -> tuple[Operator, Statistics]:
        """The rows as an operator, with what passes over them will learn; ``unit`` where an attempt has found it."""
        X = X if self.device == "cpu" else where_asked(self, X)
        X = X if plan.side == "columns" else widened_once(X, plan.precision)
        narrow = plan.solver == "moments" and plan.precision == "float32" and unit is None
        names, zero = vars(self).get("feature_names_in_"), not getattr(self, "center", False)
        stats = Statistics(blocks_of(X), weights, (np.float64, np.float32)[narrow], names, self._rescales, zero, unit)
        stats.narrow = self._rescales and plan.precision.startswith("float32")
        dense = isinstance(X, np.ndarray) or self._shape(X).stored is None
        return (Dense if dense else Sparse)(X, stats), stats

    def _solve(
        self, problem: SpectralProblem, plan: Plan, unit: float, frame: dict[str, Any], rows: Any = None
    ) -> Solution:
        """The spectrum; where the solver stumbled over rows that are not finite, the error says so."""
        try:
            passes = plan.passes if are_blocks(rows) and not getattr(rows, "resident", False) else 0
            if passes:
                times = time_words(passes, plan.solver)
                LOG.info("%s: %s will be read %s", type(self).__name__, size_words(rows.nbytes), times)
            if self.progress is None and rows is not None and not passes and 8 * math.prod(rows.shape) <= SMALL_TABLE:
                spectrum = solve(problem, plan, unit=unit, frame=frame)  # done before a bar would show
            else:
                with using(self.progress, type(self).__name__, expected=passes * getattr(rows, "nbytes", 0)):
                    spectrum = solve(problem, plan, unit=unit, frame=frame)
        except RitzError:
            raise
        except (ValueError, RuntimeWarning):  # LinAlgError is a ValueError; warnings may be errors
            if rows is not None:
                require_finite(rows, getattr(self, "feature_names_in_", None))
                if isinstance(problem.operator, Framed) and (stats := problem.operator._statistics()) is not None:
                    stats.settle()
            raise
        if rows is not None and np.count_nonzero(np.isfinite(spectrum.values)) < len(spectrum.values):
            require_finite(rows, getattr(self, "feature_names_in_", None))
        self._remember(problem, spectrum, unit)
        return spectrum

    def _remember(self, problem: SpectralProblem, solution: Solution, unit: float) -> None:
        """Keep what a later question about the number of components needs: the values known, and the answer given."""
        direct, rank = solution.plan.solver in ("svd", "moments"), problem.rank
        values = (solution.thetas if direct else solution.scaled)[: max(rank, 1)]
        # in the units of the data, unless those cannot hold them
        square = 1.0 if "shown" in solution.certificate.frame else unit**2
        total, complete, rule = solution.scaled_total, len(values) >= rank, problem.rule
        n, d = problem.n or float(problem.operator.shape[0]), problem.d or problem.operator.shape[1]
        seen, choice = (total * square, n, d, rank, problem.centered, complete), None
        if rule is not None and hasattr(rule, "why"):
            choice = (rule.name, rule.why(problem.seen(values, total, complete=complete)))
        record = self._new_record()
        record.seen_values, record.seen, record.choice = values * square, seen, choice
        if rule is not None and not len(solution.values):
            tell_none(rule, solution)

    def _wanted(self, n: int, d: int, *, centered: bool, n_components: Any = None) -> int | Any:
        asked = self.n_components if n_components is None else n_components
        if asked is None or (type(asked) is int and 0 < asked <= min(n, d)):
            return min(n, d) if asked is None else asked
        return wanted_of(self, asked, n, d, centered=centered)

    def _request(self, wanted: int | Any, shape: Shape) -> dict[str, Any]:
        """k and rule of a problem, with what the rule needs to know."""
        seed = self.random_state if type(self.random_state) is int and self.random_state >= 0 else None
        seed = seed_of(self.random_state) if seed is None else seed
        if isinstance(wanted, int):
            return {"k": wanted, "rule": None, "tol": self.tol, "seed": seed}
        guess = shape.small if wanted.needs_all else min(FIRST_GUESS, shape.small)
        return {"k": guess, "rule": wanted, "tol": self.tol, "seed": seed}

    def _rereads(self, shape: Shape) -> bool:
        return not shape.outside or self.tol == 0  # a second pass may follow; from files where tol=0 asks for it

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate against the rows that were fitted, sharing no code with the fit.

        Parameters
        ----------
        X, sample_weight : what fit took
            A Table or Dask collection outside memory is read again, some times.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> pca = ritz.PCA(2).fit(X)
        >>> bool(pca.verify(X))
        True
        >>> pca.components_ = pca.components_[::-1]   # an axis is not where it should be
        >>> print(str(pca.verify(X)).splitlines()[0])
        verification: FAILED
        """
        check_is_fitted(self)
        certificate = self.certificate_  # read first: it solves a pending state
        if getattr(self._record, "matrix", None):
            return module_of("ritz.methods.from_covariance").verify_matrix(self, X)
        X, sample_weight = weighed(X, sample_weight, self.memory)
        rows, weights = faded_rows(self, *self._rows(X, sample_weight, reset=False))
        if getattr(self._record, "em_sigma", None) is not None:
            return module_of("ritz.methods.from_covariance").verify_expected(self, rows, weights, (X, sample_weight))
        if "mean" in certificate.frame:
            return with_held(self, certificate.verify(self._solved_rows(rows), weights), (X, sample_weight))
        checked = verify_posed(certificate, asked_again(self)._posed(rows, weights))  # no table with means and scales
        return with_held(self, checked, (X, sample_weight), certificate=True)

    def _solved_rows(self, rows: Any) -> Any:
        return rows  # those that the certificate speaks of, where the method has made others of them

    _map = linear_map_of  # from rows to coordinates, and back; of methods that place new rows

    def transform(self, X: Any) -> Any:
        """Coordinates of rows, (n, k).

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            A Dask collection, or a Spark DataFrame, is transformed lazily: the result is one as well.
        """
        check_is_fitted(self)
        require_mean(self)
        if type(X) is not np.ndarray and (engine := engine_of(X)).lazy:
            return self._lazily(engine, X)
        return scores_of(self, X)

    def _lazily(self, engine: Engine, X: Any) -> Any:
        """Coordinates of a collection of a lazy engine."""
        return scores_lazily(self, engine, X)

    def transform_to(self, X: Any, path: Any) -> Path:
        """Write the coordinates of rows to a file, some rows at a time, and give its path.

        Parameters
        ----------
        X : Table, array-like, sparse matrix or frame of shape (n, d)
            The identifiers of a Table go along.
        path : path
            Ends in ``.parquet``, ``.csv``, ``.tsv``, ``.arrow``, ``.feather`` or ``.npy``. The file appears when it is
            complete.

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> path = ritz.PCA(2).fit(X).transform_to(X, "scores.parquet")
        >>> ritz.read(path).names, ritz.read(path).n_rows
        (['PC1', 'PC2'], 150)
        """
        return scores_to(self, X, path)

    def _scores_into(self, rows: Any, labels: Labels, write: RowWriter, step: Any = None) -> None:
        """Hand the coordinates of rows, with their labels, to a writer."""
        scores_into(self, rows, step or self._map(), labels, write)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return the coordinates of the rows."""
        self.fit(X, y) if sample_weight is None else self.fit(X, y, sample_weight=sample_weight)
        return self.transform(X) if self.fitted.places_new_rows else np.asarray(fitted_of(self).row_coordinates())

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows from coordinates, (n, d).

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 5]], float)
        >>> pca = ritz.PCA(1).fit(X)
        >>> pca.inverse_transform(pca.transform(X)).round(2)[-1]  # the row on the line that is nearest to (4, 5)
        array([4.18, 4.86])
        """
        return rows_from(self, X)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    _float = staticmethod(lambda X: result_dtype(X.dtype))  # of results, by that of the rows

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's hook behind ``_repr_html_``."""
        return html_of(self, super()._html_repr)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


public(Method)
