"""Principal component analysis.

    A = D_w^½ (X − 1μᵀ) D_σ⁻¹   (n×d),      AᵀA V = V Λ,      variance λ/(Σw − 1),      scores (x − μ) D_σ⁻¹ V

Variances use n − 1, as scikit-learn; ``scale=True`` divides by the n − 1 standard deviation, as R's prcomp. Weights
are frequencies: an integer weight equals that many copies, zero equals absence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.frozen import changed
from ritz._core.imports import module_of
from ritz.data.passes.kept_rows import KeptRows
from ritz.data.tables.read import read
from ritz.data.tables.table import Table
from ritz.data.validate import validate_rows
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.linear import LinearModel
from ritz.methods.from_covariance import from_covariance, of_state
from ritz.methods.likelihood import GaussianModel, deviations, gaussian_of, left_of_rows
from ritz.methods.linear_record import LinearRecord
from ritz.methods.method import Method
from ritz.methods.missing.imputing import Imputing
from ritz.methods.missing.model import (
    GAP_RESULTS,
    completed,
    filled_rows,
    filling,
    keep_filler,
    refuse_gaps_read_once,
    refuse_models_of_gaps,
    unfilled,
    with_gaps,
)
from ritz.methods.moments import RESULTS, STATE_FLOOR, fit_once, kept_words, state_kept
from ritz.methods.posed import Posed
from ritz.methods.rank.linear import handed, rows_material
from ritz.methods.rest import framed, in_certificate, left_over, squares_off, with_passes
from ritz.methods.sampled import looked
from ritz.methods.scaling import (
    degrees_of_freedom,
    require_variances,
    spread_of,
    standardised,
    stored_as,
    times_square,
)  # fmt: skip
from ritz.methods.streams.adding import AddsRows
from ritz.methods.streams.decay import check_decay
from ritz.methods.streams.held import STATES, check_state, state_of_rows
from ritz.methods.unfitted import require_mean
from ritz.project.linear import LinearMap
from ritz.spectral.constants import SAMPLED_SECONDS
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution

if TYPE_CHECKING:
    from ritz.project.incomplete import IncompleteMap

__all__ = ["PCA"]

#: What is done with states of several tables, whose means must be known.
VERBS = ("merge", "subtract", "partial_fit")


class PCA(Imputing, AddsRows, Method):
    """Principal component analysis with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All, a number, a fraction of the variance in (0, 1), or a rule: ``aic bcv bic broken-stick dpa elbow
        gavish-donoho gcv kaiser kfold map mle parallel permutation stability``, or ``consensus`` of them all.
    center : bool
        Subtract the means of the columns.
    scale : bool
        Divide columns by their standard deviations (divisor n − 1).
    whiten : bool
        Give scores unit variance.
    missing : "error", "mean", "em" or "regularized"
        Missing values: refuse them; fill them with the means of their columns, with the least-squares fit of k
        components, or with the same shrunk by the noise. That k is ``n_components`` where it is a number, and chosen by
        cross-validation (``gcv``, or ``kfold`` where that is asked for) otherwise.
    solver : str
        ``"auto"``, or one of ``svd moments krylov lanczos chebyshev power sketch``.
    tol : float
        Iterative solvers stop when ‖Mv − θv‖ ≤ tol·θ₁. ``moments`` reads the rows again unless every singular value is
        right to 1e-3·tol of itself, or to 100·u·σ₁; 0 asks for all that arithmetic allows.
    mergeable : bool, None, "directions" or "sketch"
        What is kept for ``merge``, ``subtract`` and ``partial_fit``. True: the moment state of at most 20,000 columns,
        or the rows where those are fewer than columns. None: the moment state where it is no larger than 64 kB (90
        columns) or the components; ``partial_fit`` keeps it for at most 20,000 columns, and frequent directions above
        that. A pickle leaves out a state that was not asked for where it would be more than twice as long as one of
        scikit-learn. "directions" asks for frequent directions, or "sketch" for a sketch: states of bounded size, which
        enclose every variance.
    decay : float in (0, 1]
        Rows are a stream whose older rows fade: one weighs ``decay**j`` once j further rows have come, however the
        stream was cut into batches. Half as much after h rows: ``decay=0.5 ** (1 / h)``.
    random_state : int, Generator, RandomState or None
        Seed of random starts; None is 0.
    memory : str, int or None
        Limit on what the fit adds to memory, such as ``"2GB"``; None: half of what is available.
    device : "cpu", "cuda", "cuda:1", "cuda:all" or "auto"
        Where to compute: on the processor, or on a graphics processor through PyTorch. Tensors that lie on a graphics
        processor are taken where they lie, whatever is said here, and results come as tensors.
    progress : None, bool or callable
        Progress bar, or a function of events that may cancel.

    Attributes
    ----------
    components_ : (k, d) principal axes, by decreasing variance
    explained_variance_, explained_variance_ratio_, singular_values_ : (k,)
    mean_, scale_ : (d,) or None
    noise_variance_ : mean variance of the components left out
    total_variance_ : sum of the variances of all columns
    n_components_, n_samples_, n_features_in_ : int
    certificate_ : residuals, enclosures and angles of the answer
    plan_ : the route that was taken, with reasons

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> X = load_wine().data                      # 178 wines, 13 measurements in different units
    >>> raw = ritz.PCA(2).fit(X)
    >>> raw.explained_variance_ratio_.round(3)    # proline, in mg/l, is all that counts
    array([0.998, 0.002])
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> pca.explained_variance_ratio_.round(3)
    array([0.362, 0.192])
    >>> bool(pca.certificate_.width.max() < 1e-9 * pca.certificate_.total)
    True
    """

    about: ClassVar[About] = About(
        "Principal component analysis",
        "pca",
        "PC",
        cites=("[Jol02]",),
        paper="K. Pearson, On lines and planes of closest fit to systems of points in space, Philosophical "
        "Magazine 2 (1901), 559–572.",
    )
    fitted: ClassVar[type[Fitted]] = LinearModel
    _holds_vectors = True
    _rescales = True
    _on_device = True
    _record: LinearRecord
    _results = RESULTS
    _agreeing = ("n_components", "center", "scale", "whiten", "missing", "decay")

    def __init__(
        self, n_components: Any = None, *, center: bool = True, scale: bool = False, whiten: bool = False,
        missing: str = "error", solver: str = "auto", tol: float = 1e-6, mergeable: bool | str | None = None,
        decay: float = 1.0, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.whiten = whiten
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.mergeable = mergeable
        self.decay = decay
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            What stays outside memory (a large Table, a Dask collection, a query) is read in pieces.
        y : ignored
        sample_weight : (n,) frequencies, or None
        """
        return self._fit(X, y, sample_weight)

    # the problem

    def pose(self, rows: Any, weights: np.ndarray | None) -> Posed:
        """Rows in memory or outside it, gaps filled; the operator follows when the plan is known."""
        self._forget()
        self._enough_rows(rows.shape[0] if weights is None else int(np.count_nonzero(weights)))
        if rows.shape[0] == rows.shape[1]:
            module_of("ritz.methods.covariance").tell_matrix(self, rows)
        done = None if self.missing == "error" else completed(self, rows, weights)
        filled = done is not None and done.filler is not None
        dtype = self._float(rows)
        if done is not None and filled:
            rows = done.blocks
        shape = self._shape(rows) if weights is None else replace(self._shape(rows), weighted=True)
        wanted = self._wanted(shape.n, shape.d, centered=self.center, n_components=done and done.n_components)
        keep = None if filled else self._keeps(shape, wanted, dtype)
        forms = keep == "moments" and shape.n >= shape.d
        return Posed(
            rows=rows, weights=weights, shape=shape, wanted=wanted, centered=self.center, forms_state=forms,
            kept=(done, keep, dtype),
        )  # fmt: skip

    def _keeps(self, shape: Shape, wanted: Any, dtype: Any) -> str | None:
        if self.mergeable is None and 8 * shape.d * shape.d <= STATE_FLOOR:
            return "moments"
        return state_kept(self, shape, wanted, dtype.itemsize)

    def _plan_for(self, shape: Shape, k: int | Any, *, whole: bool = False, kept: str | None = "moments") -> Plan:
        """The route, and what is kept for ``merge``."""
        return self._keeping(super()._plan_for(shape, k, whole=whole), shape, kept)

    def _keeping(self, plan: Plan, shape: Shape, kept: str | None) -> Plan:
        words = None if kept == "moments" else kept_words(self, shape, kept)
        return plan if words is None else changed(plan, reasons=(*plan.reasons, words))

    def _by_shape_or_rows(self, posed: Posed, kept: str | None) -> Plan:
        """The route by the shape, or by a sample of the rows, and what is kept for ``merge``."""
        plan = super()._plan_for(posed.shape, posed.wanted, whole=posed.forms_state)
        if plan.seconds >= SAMPLED_SECONDS and self.missing == "error":
            plan = looked(self, posed, plan)
        return self._keeping(plan, posed.shape, kept)

    def _plan(self, posed: Posed) -> Plan:
        done, kept = posed.kept[:2]
        plan = self._by_shape_or_rows(posed, kept)
        return plan if done is None else with_gaps(self, plan, posed.shape, done.filler is not None)

    def _problem(self, posed: Posed, plan: Plan) -> SpectralProblem:
        """D_w^½ (X − 1μᵀ) D_σ⁻¹, in units that keep squares in range."""
        A = standardised(self, posed, plan)
        stats, wanted = posed.stats, posed.wanted
        if not isinstance(wanted, int):
            wanted = handed(wanted, lambda: rows_material(self, posed.rows, posed.weights, stats))
        return SpectralProblem(
            A,
            n=stats.weight,
            d=posed.shape.d,
            rows=stats.rows,
            centered=self.center,
            repeatable=self._rereads(posed.shape),
            **self._request(wanted, posed.shape),
        )

    def read(self, solution: Solution, posed: Posed) -> None:
        """Variances, what the components leave, and the state that can be merged."""
        stats, (done, keep, dtype) = posed.stats, posed.kept
        column = stats.column
        require_variances(solution, column, vars(self).get("feature_names_in_"))
        self._record.weight_low, self._record.state = stats.weight_low, None
        if keep:
            self._record.state = stats.moments if keep == "moments" else KeptRows.of(posed.rows, posed.weights)
            self._record.spare = self.mergeable is None
        if self.mergeable in STATES and done is None:
            self._record.state = state_of_rows(self, posed.rows, posed.weights)
        scale = spread_of(column, None) if self.scale else None
        center = column.parts()

        def again(solved: Solution = solution) -> float:
            frame, unit = framed(column, center=self.center, scale=scale, parts=center)
            return squares_off(posed.rows, posed.weights, solved.vectors, frame) * (unit / solved.unit) ** 2

        reads = None if solution.plan.solver == "sketch" else again
        rest, solution = left_over(solution, posed.rank, reads, outside=posed.shape.outside)
        solution = solution if done is None else with_passes(solution, done.passes)
        self._name(solution, center, scale, stats.weight, stats.rows, dtype, rest)
        if done is not None:
            keep_filler(self, done, solution, column, scale, stats.rows)

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        rows, weights = self._rows(X, sample_weight, reset=True)  # gaps need not be filled to know the route
        self._enough_rows(rows.shape[0] if weights is None else int(np.count_nonzero(weights)))
        given, rows = rows, rows if self.missing == "error" else unfilled(rows)
        shape = replace(self._shape(rows), weighted=weights is not None)
        wanted = self._wanted(shape.n, shape.d, centered=self.center)
        keep = None if rows is not given else self._keeps(shape, wanted, self._float(rows))
        forms = keep == "moments" and shape.n >= shape.d
        posed = Posed(
            rows=rows, weights=weights, shape=shape, wanted=wanted, centered=self.center, forms_state=forms
        )  # fmt: skip
        plan = self._by_shape_or_rows(posed, keep)
        return plan if self.missing == "error" else with_gaps(self, plan, shape, rows is not given)

    # a covariance matrix, and rows that are added up

    from_covariance, _of_state = classmethod(from_covariance), of_state

    def _name_state(self, solution: Solution, state: Any, rank: int, scale: Any = None) -> None:
        """Name what a state says."""
        rest, solution = left_over(solution, rank, None)
        self._name(solution, state.parts(), scale, state.weight, state.rows, self._record.dtype, rest)

    def _need_state(self, verb: str = "merge", *, wait: bool = False) -> Any:
        refuse_models_of_gaps(self, verb)
        if verb in VERBS:
            require_mean(self)
        return super()._need_state(verb, wait=wait)

    def _read_once(self, X: Any, sample_weight: Any) -> bool:
        if type(X) is np.ndarray:
            return False
        if isinstance(X, Iterator):
            X = read(X, memory=self.memory)
        if not isinstance(X, Table) or X.repeatable:
            return False
        refuse_gaps_read_once(self.missing)
        fit_once(self, X, sample_weight)
        return True

    def _forget(self) -> None:
        super()._forget()
        for name in GAP_RESULTS:
            if name in vars(self):
                delattr(self, name)

    def _name(
        self, spectrum: Solution, center: Any, scale: Any, weight: float, rows: int, dtype: Any, rest: float
    ) -> None:  # fmt: skip
        """Name the results of a spectrum; ``center``: both parts of the mean, ``rest``: what the components leave
        (in units of unit²)."""
        mean, low = center if self.center else (None, None)
        low = None if dtype == np.float32 else low  # float64 tells more of a mean than rows of float32 can hold
        divisor = degrees_of_freedom(weight, self._record.weight_low or 0.0)
        values = np.maximum(spectrum.scaled, 0.0)  # rounding may leave a zero slightly negative
        # copies of rows count, as in scikit-learn's min(n_samples, n_features), and so do integer weights
        k, full = len(values), min(max(rows, int(weight)), self.n_features_in_)
        total = spectrum.scaled_total
        self.components_ = np.ascontiguousarray(spectrum.vectors.T, dtype)
        self.explained_variance_ = stored_as(times_square(values, spectrum.unit, divisor), dtype)
        ratio = values / total if total > 0 else np.zeros(k)
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.singular_values_ = stored_as(spectrum.singular_values, dtype)
        self.mean_ = None if mean is None or self._record.meanless else mean.astype(dtype)
        self.scale_ = None if scale is None else scale.astype(dtype)
        rest = rest if k < full else 0.0
        noise = times_square(rest / (full - k) if k < full else 0.0, spectrum.unit, divisor)
        self.noise_variance_ = stored_as(noise, dtype)[()]
        self.total_variance_ = float(times_square(total, spectrum.unit, divisor))
        self.n_components_, self.n_samples_ = k, rows
        self.certificate_, self.plan_ = spectrum.certificate, spectrum.plan
        spectrum.certificate.frame.update(mean=self.mean_, scale=self.scale_)  # the arrays that ``verify`` checks
        record = self._record
        record.mean64, record.mean_low, record.scale64, record.weight, record.dtype = mean, low, scale, weight, dtype
        record.left = in_certificate(spectrum, rest)

    # small checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.mergeable is not None:
            check_state(self.mergeable)
        if type(self.decay) is not float or self.decay != 1:
            check_decay(self.decay)
        for name in ("center", "scale", "whiten"):
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise ParameterError(f"{name} must be True or False", received=repr(value), hint=f"PCA({name}=True)")
        if self.missing != "error":
            from ritz.methods.missing.missing import check_missing

            check_missing(self.missing)

    def _enough_rows(self, rows: int) -> None:
        if rows < 2 and self.center:
            raise InputError(
                "PCA needs at least 2 rows to have a variance",
                received=f"n_samples={rows}",
                hint="pass more rows, or center=False to decompose a single row about zero",
            )

    # coordinates and the Gaussian model

    def _map(self) -> LinearMap | IncompleteMap:
        components = self.components_  # read first: it solves a pending state
        sizes = deviations(self)
        spread = sizes if self.whiten else None
        names = getattr(self, "feature_names_in_", None)
        record = self._record
        low = record.mean_low  # files of earlier releases hold none
        noise = float(self.noise_variance_)
        return filling(self, LinearMap(components, record.mean64, record.scale64, spread, names, low, sizes, noise))

    def _solved_rows(self, rows: Any) -> Any:
        return filled_rows(self, rows)

    def _gaussian(self) -> GaussianModel:
        check_is_fitted(self)
        return gaussian_of(self)

    def get_covariance(self) -> np.ndarray:
        """Covariance of the probabilistic model, V(Λ − σ²)Vᵀ + σ²I, in the units of the data."""
        return self._gaussian().covariance()

    def get_precision(self) -> np.ndarray:
        """Inverse of the model's covariance."""
        return self._gaussian().precision()

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of every row under the probabilistic model (Tipping & Bishop 1999).

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.array([[0, 0], [1, 1.1], [2, 1.9], [3, 3.2], [4, 3.8]])
        >>> pca = ritz.PCA(1).fit(X)
        >>> on, off = pca.score_samples([[5, 5], [2, 4]])
        >>> bool(on > off)                            # the second row is nearer to the others, but off their line
        True
        """
        check_is_fitted(self)
        require_mean(self)
        return self._gaussian().log_likelihood(validate_rows(self, X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    def reconstruction_error(self, X: Any = None) -> np.ndarray:
        """Mean squared error of a row rebuilt from its first 0, 1, …, k components, (k + 1,).

        Of the training rows, from the spectrum alone, or of new rows; in the scale in which the fit was done.

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_iris
        >>> pca = ritz.PCA(2).fit(load_iris().data)
        >>> pca.reconstruction_error().round(3)       # a row rebuilt from no, one and two components
        array([4.542, 0.342, 0.101])
        """
        check_is_fitted(self)
        if X is None:
            return left_of_rows(self)
        require_mean(self)
        return self._gaussian().reconstruction_error(validate_rows(self, X, reset=False))
