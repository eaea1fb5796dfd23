"""Principal component analysis.

    A = D_w^½ (X − 1μᵀ) D_σ⁻¹   (n×d),      AᵀA V = V Λ,      variance λ/(Σw − 1),      scores (x − μ) D_σ⁻¹ V

Variances use n − 1, as scikit-learn; ``scale=True`` divides by the n − 1 standard deviation, as R's prcomp. Weights
are frequencies: an integer weight equals that many copies, zero equals absence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import InputError, ParameterError
from ritz._core.tolerance import NOISE_FLOOR, unit_roundoff
from ritz.data.passes.center import mean_parts
from ritz.data.passes.statistics import Statistics
from ritz.data.tables.read import read
from ritz.data.tables.table import Table
from ritz.data.validate import validate_rows
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.linear import Linear
from ritz.methods.likelihood import GaussianModel
from ritz.methods.missing.model import FillsGaps
from ritz.methods.moments import Stateful
from ritz.methods.rank.linear import handed, rows_material
from ritz.methods.rest import framed, in_certificate, left_over, rest_of, squares_off, wide_axes
from ritz.methods.scaling import (
    TINY,
    degrees_of_freedom,
    divisor_held,
    require_told,
    require_variances,
    spread_of,
    stored_as,
    times_square,
    unit_of,
)  # fmt: skip
from ritz.operators import Centered, Scaled, Weighted
from ritz.operators.base import Operator
from ritz.project.linear import LinearMap
from ritz.spectral.plan import Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution

if TYPE_CHECKING:
    from ritz.project.incomplete import IncompleteMap

__all__ = ["PCA"]


class PCA(FillsGaps, Stateful):
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
        Iterative solvers stop when ‖Mv − θv‖ ≤ tol·θ₁.
    mergeable : bool or None
        Keep the moment state for ``merge`` and ``subtract``, for at most 20,000 columns; None: for at most 2,000.
    random_state : int, Generator, RandomState or None
        Seed of random starts; None is 0.
    memory : str, int or None
        Limit on what the fit adds to memory, such as ``"2GB"``; None: half of what is available.
    device : "cpu"
        Where to compute; nothing else is supported yet.
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

    _holds_vectors = True

    about: ClassVar[About] = About(
        "Principal component analysis",
        "pca",
        "PC",
        cites=("[Jol02]",),
        paper="K. Pearson, On lines and planes of closest fit to systems of points in space, Philosophical "
        "Magazine 2 (1901), 559–572.",
    )
    fitted: ClassVar[type[Fitted]] = Linear

    def __init__(
        self, n_components: Any = None, *, center: bool = True, scale: bool = False, whiten: bool = False,
        missing: str = "error", solver: str = "auto", tol: float = 1e-6, mergeable: bool | None = None,
        random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.whiten = whiten
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.mergeable = mergeable
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    _rescales = True

    def _problem(self, leaf: Operator, stats: Statistics, wanted: Any, shape: Shape) -> SpectralProblem:
        """D_w^½ (X − 1μᵀ) D_σ⁻¹, in units that keep squares in range."""
        A = Centered(leaf, stats) if self.center else leaf
        if self.scale:
            stats.divide(np.ones(shape.d, bool))
            A = Scaled(A, lambda: spread_of(stats.column, self) * unit_of(stats, True), spreads=True)
        elif stats.unit != 1:
            A = Scaled(A, stats.unit, "/unit")
        if stats.weights is not None:
            A = Weighted(A, stats.weights)
        return SpectralProblem(
            A,
            n=stats.weight,
            d=shape.d,
            rows=stats.rows,
            centered=self.center,
            repeatable=self._rereads(shape),
            **self._request(wanted, shape),
        )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            What stays outside memory (a large Table, a Dask collection, a query) is read in pieces.
        y : ignored
        sample_weight : (n,) frequencies, or None
        """
        self._check_parameters()
        if isinstance(X, Iterator):
            X = read(X, memory=self.memory)
        if isinstance(X, Table) and not X.repeatable:
            return self._fit_once(X, sample_weight)
        X, weights = self._rows(X, sample_weight, reset=True)
        self._forget()
        self._enough_rows(X.shape[0] if weights is None else int(np.count_nonzero(weights)))
        done = self._completed(X, weights)
        filled = done is not None and done.filler is not None
        X = X if done is None or done.filler is None else done.blocks
        shape = self._shape(X)
        wanted = self._wanted(shape.n, shape.d, centered=self.center, n_components=done and done.n_components)
        keep = self._keeps_state(shape.d) and not filled
        plan = self._plan_for(shape, wanted, whole=keep and shape.n >= shape.d)

        def attempt(rows: Any, unit: float | None) -> tuple[Solution, Statistics, int, Any]:
            leaf, stats = self._leaf(rows, weights, plan, unit)
            asked = handed(wanted, lambda: rows_material(self, rows, weights, stats))
            problem = self._problem(leaf, stats, asked, shape)
            route = plan if unit is None else replace(plan, precision="float64")
            return self._solve(problem, route, unit_of(stats, self.scale), {}, rows), stats, problem.rank, rows

        spectrum, stats, rank, rows = self._in_range(X, attempt)
        column = stats.column
        require_variances(spectrum, column, getattr(self, "feature_names_in_", None))
        self.__dict__.update(_state=stats.moments if keep else None, _weight_low=stats.weight_low)
        scale = spread_of(column, None) if self.scale else None
        held, unit = framed(column, center=self.center, scale=scale)
        off = partial(squares_off, rows, weights, spectrum.vectors, held)
        again = None if plan.solver == "sketch" else lambda: off() * (unit / spectrum.unit) ** 2
        rest, spectrum = left_over(spectrum, rank, again, outside=shape.outside)
        self._name(spectrum, mean_parts(column), scale, stats.weight, stats.rows, self._float(X), rest)
        self._keep_filler(done, spectrum, column, scale, stats.rows)
        return self

    def _name(
        self, spectrum: Solution, center: Any, scale: Any, weight: float, rows: int, dtype: Any, rest: float
    ) -> None:  # fmt: skip
        """Name the results of a spectrum; ``center``: both parts of the mean, ``rest``: what the components leave
        (in units of unit²)."""
        mean, low = center if self.center else (None, None)
        divisor = degrees_of_freedom(weight, self.__dict__.get("_weight_low", 0.0))
        values = np.maximum(spectrum.scaled, 0.0)  # rounding may leave a zero slightly negative
        # copies of rows count, as in scikit-learn's min(n_samples, n_features), and so do integer weights
        k, full = len(values), min(max(rows, int(weight)), self.n_features_in_)
        total = spectrum.scaled_total
        self.components_ = np.ascontiguousarray(spectrum.vectors.T, dtype)
        self.explained_variance_ = stored_as(times_square(values, spectrum.unit, divisor), dtype)
        ratio = values / total if total > 0 else np.zeros(k)
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.singular_values_ = stored_as(spectrum.singular_values, dtype)
        self.mean_ = None if mean is None else mean.astype(dtype)
        self.scale_ = None if scale is None else scale.astype(dtype)
        rest = rest if k < full else 0.0
        noise = times_square(rest / (full - k) if k < full else 0.0, spectrum.unit, divisor)
        self.noise_variance_ = stored_as(noise, dtype)[()]
        self.total_variance_ = float(times_square(total, spectrum.unit, divisor))
        self.n_components_, self.n_samples_ = k, rows
        self.certificate_, self.plan_ = spectrum.certificate, spectrum.plan
        spectrum.certificate.frame.update(mean=self.mean_, scale=self.scale_)  # the arrays that ``verify`` checks
        self.__dict__.update(_mean64=mean, _mean_low=low, _scale64=scale, _weight=weight, _dtype=dtype)
        self.__dict__["_left"] = in_certificate(spectrum, rest)

    # small checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
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
        spread = self._deviations() if self.whiten else None
        names = getattr(self, "feature_names_in_", None)
        held = vars(self)
        low = held.get("_mean_low")  # files of earlier releases hold none
        return self._filling(LinearMap(components, held["_mean64"], held["_scale64"], spread, names, low))

    def _floored(self) -> np.ndarray:
        """Variances, none below rounding: dividing by those of a null space must not blow up its noise."""
        variance = np.asarray(self.explained_variance_, np.float64)
        noise = NOISE_FLOOR * unit_roundoff(self.__dict__["_dtype"]) * np.sqrt(self.n_features_in_)
        return np.maximum(variance, max(noise**2 * np.max(variance, initial=0.0), np.finfo(np.float64).tiny))

    def _deviations(self) -> np.ndarray:
        """Standard deviations of the scores, floored as the variances; of singular values where those underflow."""
        if float(np.max(self.explained_variance_, initial=0.0)) > TINY or not np.any(self.singular_values_):
            return np.asarray(np.sqrt(self._floored()))
        noise = NOISE_FLOOR * unit_roundoff(self.__dict__["_dtype"]) * np.sqrt(self.n_features_in_)
        sigma = np.asarray(self.singular_values_, np.float64) / np.sqrt(divisor_held(self))
        return np.asarray(np.maximum(sigma, noise * np.max(sigma)))

    def _gaussian(self) -> GaussianModel:
        check_is_fitted(self)
        require_told(self, "a Gaussian model")
        held, names = vars(self), getattr(self, "feature_names_in_", None)
        return GaussianModel(
            wide_axes(self), self._floored(), float(self.noise_variance_), held["_mean64"], held["_scale64"], names,
            held.get("_mean_low"),
        )  # fmt: skip

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
            # sums from the end: what is left, then one component more at a time
            rest = rest_of(self)
            values = np.concatenate([np.maximum(self.certificate_.values, 0.0), [0.0 if np.isnan(rest) else rest]])
            errors = np.cumsum(values[::-1])[::-1] / self.__dict__["_weight"]
            errors[-1:] = rest / self.__dict__["_weight"]  # NaN where a state cannot tell
            return times_square(errors, self.certificate_.frame.get("shown", 1.0))
        rows = validate_rows(self, X, reset=False)
        return self._gaussian().reconstruction_error(rows)
