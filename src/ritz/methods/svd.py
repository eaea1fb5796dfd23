"""Truncated singular value decomposition, never centred (LSI when X holds words by documents).

    A = X  (n×d),      AᵀA V = V Λ,      coordinates x V

``explained_variance_`` is the variance of the coordinates, as TruncatedSVD reports it: λ/n − (μᵀv)², or where that
difference would cancel Σ((x − μ)ᵀv)²/n by one more pass. A fraction in
``n_components`` is of ‖X‖²_F.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ritz.data.passes.statistics import ColumnStatistics
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.linear import Uncentred
from ritz.methods.left import left_vectors
from ritz.methods.method import Method
from ritz.methods.moments import RESULTS, STATE_FLOOR
from ritz.methods.posed import Posed
from ritz.methods.rank.linear import handed, rows_material
from ritz.methods.rest import (
    SUMMED,
    along,
    framed,
    in_certificate,
    left_over,
    near_enough,
    noise_floor,
    read_again,
    rounding_in,
    seen_apart,
    squares_about,
    squares_in_all,
    squares_off,
)
from ritz.methods.sampled import looked
from ritz.methods.scaling import require_variances, stored_as, times_square
from ritz.methods.streams.adding import AddsRows
from ritz.methods.streams.decay import check_decay
from ritz.methods.streams.held import STATES, check_state, columns_of, state_of_rows
from ritz.operators import Scaled, Weighted
from ritz.project.linear import LinearMap
from ritz.rank.rule import NAMES
from ritz.spectral.constants import SAMPLED_SECONDS
from ritz.spectral.plan import Plan
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution

__all__ = ["SVD"]


class SVD(AddsRows, Method):
    """Singular value decomposition of the rows as they are.

    Parameters
    ----------
    n_components : None, int, float or str
        All, a number, a fraction of ‖X‖²_F in (0, 1), or a rule.
    solver, tol, decay, random_state, memory, device, progress
        As for :class:`ritz.PCA`.
    mergeable : bool, None, "directions" or "sketch"
        As for :class:`ritz.PCA`; None: the moment state of up to 90 columns, which a pickle may leave out.

    Attributes
    ----------
    components_ : (k, d) right singular vectors
    singular_values_ : (k,)
    explained_variance_, explained_variance_ratio_ : (k,) variance of the coordinates, and its share
    total_ : ‖X‖²_F
    n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_

    ``left_vectors(X)`` gives U of the rows of the fit.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> terms = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])  # documents × words
    >>> lsi = ritz.SVD(2).fit(terms)
    >>> lsi.singular_values_.round(3)
    array([3.   , 2.618])
    >>> words = lsi.transform(np.eye(4)).round(3)
    >>> bool((words[0] == words[1]).all())        # words that occur together come to one place
    True
    """

    about: ClassVar[About] = About(
        "Singular value decomposition",
        "svd",
        "SV",
        whole="sum of squares",
        measure="σ²",
        paper="C. Eckart and G. Young, The approximation of one matrix by another of lower rank, Psychometrika "
        "1 (1936), 211–218.",
    )
    fitted: ClassVar[type[Fitted]] = Uncentred
    _holds_vectors = True
    _rescales = True
    _on_device = True
    _results = tuple(name for name in RESULTS if name not in ("mean_", "scale_", "noise_variance_", "total_variance_"))
    _results = (*_results, "total_")
    _agreeing = ("n_components", "decay")
    _rules = tuple(name for name in NAMES if name != "map")  # correlations have no meaning about zero

    def __init__(
        self, n_components: Any = None, *, solver: str = "auto", tol: float = 1e-6, mergeable: bool | str | None = None,
        decay: float = 1.0, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.solver = solver
        self.tol = tol
        self.mergeable = mergeable
        self.decay = decay
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVD:
        """Fit to rows; parameters as in :meth:`ritz.PCA.fit`."""
        return self._fit(X, y, sample_weight)

    def left_vectors(self, X: Any, sample_weight: Any = None) -> np.ndarray:
        """Left singular vectors U (n, k) of the rows of the fit: X = U diag(singular_values_) components_.

        Parameters
        ----------
        X, sample_weight : what fit took
            With weights U belongs to D_w^½ X. Other rows are refused: ``transform`` places those.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.array([[2.0, 1, 0], [1, 2, 0], [0, 0, 3], [0, 1, 1]])
        >>> svd = ritz.SVD().fit(X)
        >>> U = svd.left_vectors(X)
        >>> bool(np.allclose(U * svd.singular_values_ @ svd.components_, X)), (U.T @ U).round(12) + 0
        (True, array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]]))
        """
        return left_vectors(self, X, sample_weight)

    def pose(self, rows: Any, weights: np.ndarray | None) -> Posed:
        """The rows as they are."""
        shape = self._shape(rows)
        wanted = self._wanted(shape.n, shape.d, centered=False)
        frame, keep = {"mean": None, "scale": None}, self._keeps_state(shape.d)
        return Posed(
            rows=rows, weights=weights, shape=shape, wanted=wanted, frame=frame,
            forms_state=keep and shape.n >= shape.d, kept=(keep, self._float(rows)),
        )  # fmt: skip

    def _plan(self, posed: Posed) -> Plan:
        plan = super()._plan(posed)
        return plan if plan.seconds < SAMPLED_SECONDS else looked(self, posed, plan)

    def _problem(self, posed: Posed, plan: Plan) -> SpectralProblem:
        """X itself, in units that keep squares in range."""
        A, stats = self._leaf(posed.rows, posed.weights, plan, posed.unit)
        posed.stats, posed.unit = stats, stats.unit
        wanted = handed(posed.wanted, lambda: rows_material(self, posed.rows, posed.weights, stats))
        if stats.unit != 1:
            A = Scaled(A, stats.unit, "/unit")
        if stats.weights is not None:
            A = Weighted(A, stats.weights)
        return SpectralProblem(
            A, n=stats.weight, d=posed.shape.d, rows=stats.rows, repeatable=self._rereads(posed.shape),
            **self._request(wanted, posed.shape),
        )  # fmt: skip

    def read(self, solution: Solution, posed: Posed) -> None:
        """Variances of the coordinates about their mean, and what the components leave."""
        stats, rows, weights = posed.stats, posed.rows, posed.weights
        require_variances(solution, stats.column, getattr(self, "feature_names_in_", None))
        frame, unit = framed(stats.column, center=False)
        V, nothing = solution.vectors, noise_floor(solution) if unit == solution.unit == 1 else 0.0
        left = lambda: squares_off(rows, weights, V, frame, nothing) * (unit / solution.unit) ** 2  # noqa: E731
        again = None if solution.plan.solver == "sketch" else left
        rest, solution = left_over(solution, posed.rank, again, outside=posed.shape.outside)
        variance, solution = self._spread(solution, stats.column, rows, weights)
        keep, dtype = posed.kept
        self._record.state = stats.moments if keep else None
        self._record.spare = True if keep and self.mergeable is None else None
        if self.mergeable in STATES:
            self._record.state = state_of_rows(self, rows, weights)
        self._record.weight_low = stats.weight_low
        whole, solution = squares_in_all(rows, weights, stats.column, solution)
        self._name(solution, stats.column, dtype, variance, whole, rest)

    def _spread(
        self, spectrum: Solution, column: ColumnStatistics, X: Any, weights: Any, state: Any = None
    ) -> tuple[np.ndarray, Solution]:
        """Variances of the coordinates about their mean: from sums where these keep their digits, else from rows.

        A state has no rows, but holds their scatter about the mean.
        """
        V = spectrum.vectors
        whole = along(spectrum) / column.weight
        variance = whole - np.square(column.mean / spectrum.unit @ V)
        doubt = rounding_in(spectrum) / column.weight + SUMMED * 2.0**-53 * whole
        if np.count_nonzero(doubt <= near_enough(spectrum) * variance) == len(variance):
            return np.asarray(variance), spectrum
        if state is not None:
            spread = state.along(V) * (state.unit / spectrum.unit) ** 2 / column.weight
            return np.maximum(spread, 0.0), spectrum
        about, unit = framed(column, center=True)
        squares = squares_about(X, weights, V, about) * (unit / spectrum.unit) ** 2
        squares = seen_apart(squares, X, spectrum)
        why = "variances of the coordinates are too small for a difference of sums"
        return squares / column.weight, read_again(spectrum, why)

    def _name(
        self, spectrum: Solution, column: ColumnStatistics, dtype: Any, variance: np.ndarray, whole: float, rest: float
    ) -> None:  # fmt: skip
        """Name the results of a spectrum; ``whole``: Σw‖x − μ‖² in units of unit²."""
        V, weight = spectrum.vectors, column.weight
        whole = whole / weight
        self.components_ = np.ascontiguousarray(V.T, dtype)
        self.singular_values_ = stored_as(spectrum.singular_values, dtype)
        self.explained_variance_ = stored_as(times_square(variance, spectrum.unit), dtype)
        self.explained_variance_ratio_ = (variance / whole if whole > 0 else np.zeros_like(variance)).astype(dtype)
        self.total_ = spectrum.total
        self.n_components_, self.n_samples_ = len(spectrum.values), column.rows
        self.certificate_, self.plan_ = spectrum.certificate, spectrum.plan
        record = self._record
        record.weight, record.left, record.dtype = weight, in_certificate(spectrum, rest), dtype

    # rows that are added up

    def _keeps_state(self, d: int) -> bool:
        return 8 * d * d <= STATE_FLOOR if self.mergeable is None else super()._keeps_state(d)

    def _enough_rows(self, rows: int) -> None:
        """One row has a direction."""

    def _name_state(self, solution: Solution, state: Any, rank: int, scale: Any = None) -> None:
        """Name what a state says."""
        rest, solution = left_over(solution, rank, None)
        column = columns_of(state)
        variance, solution = self._spread(solution, column, None, None, state)
        whole = float(column.squares.sum()) * (column.unit / solution.unit) ** 2
        self._name(solution, column, self._record.dtype, variance, whole, rest)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.mergeable is not None:
            check_state(self.mergeable)
        if type(self.decay) is not float or self.decay != 1:
            check_decay(self.decay)

    def _map(self) -> LinearMap:
        return LinearMap(self.components_, None, None, None, getattr(self, "feature_names_in_", None))
