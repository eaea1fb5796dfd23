"""Sparse principal components: few entries each, so that they can be read.

    elastic-net        all components together, ℓ₁ penalties or numbers of entries     net.py        [ZHT06]
    truncated-power    one after the other with deflation, numbers of entries           power.py      [YZ13]

    scores t = B z,   z = (x − μ)D_σ⁻¹,   B (k×d) sparse unit rows;   S = B C Bᵀ their covariance = R Rᵀ, R triangular
    adjusted variance of component j: R²ⱼⱼ, what it adds to those before it                                     [ZHT06]
    back to rows: z ≈ t S_B⁻¹B, S_B = BBᵀ: the projection onto the plane of the components

The covariance is all that is needed, so one pass over the rows, wherever they are, does; rows that are few beside
the columns are held instead of it, as its factor (``covariance.py``). The ordinary components, from which the search
begins, are a spectral problem; its certificate bounds what sparse ones can explain.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, MemoryLimitError, ParameterError
from ritz._core.linalg import signs
from ritz._core.progress import track, using
from ritz._core.warn import warn
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.center import mean_parts
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.validate import room_for
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.linear import Overlapping
from ritz.methods.linear_record import SparseRecord
from ritz.methods.method import Method
from ritz.methods.posed import Posed, route_of_rows, rows_that_count
from ritz.methods.record import keep
from ritz.methods.rest import beside, framed, squares_off, with_passes
from ritz.methods.scaling import divisor_held, divisor_of, require_variances, spread_of, unit_of
from ritz.methods.sparse_pca.covariance import Covariance, Factored, Formed, rest_spectrum
from ritz.methods.sparse_pca.net import elastic_net
from ritz.methods.sparse_pca.power import truncated_power
from ritz.methods.sparse_pca.wide import factor_of, problem_of_rows
from ritz.operators import MomentGram
from ritz.project.linear import LinearMap, result_dtype
from ritz.rank.rule import resolve
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import Positive, SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

__all__ = ["ObliqueMap", "SparsePCA"]

Floats = NDArray[np.float64]

METHODS = ("elastic-net", "truncated-power")
#: Tables this many times as wide as tall, or more, are held as rows: products with ZᵀZ cost no more than with C then.
WIDE = 2
#: Rules that read the spectrum of the ordinary components.
RULES = ("fraction", "aic", "bic", "broken-stick", "elbow", "gavish-donoho", "kaiser", "mle")


@dataclass(frozen=True)
class ObliqueMap(LinearMap):
    """Coordinates along axes that are not orthogonal; back to rows by the projection onto their plane."""

    dual: NDArray[Any] = field(default_factory=lambda: np.zeros((0, 0)))  # (k, d)

    def backward(self, T: Any) -> NDArray[Any]:
        """Rows from coordinates."""
        return LinearMap(self.dual, self.mean, self.scale, None, self.names, self.low).backward(T)


class SparsePCA(Method):
    """Sparse principal component analysis.

    Parameters
    ----------
    n_components : None, int, float or str
        All, a number, or a fraction of the variance or a rule that the ordinary components decide.
    method : "elastic-net" or "truncated-power"
        All components together, or one after the other with deflation.
    alpha : float or (k,) floats
        elastic-net: ℓ₁ penalty of each component, in units of the mean variance of a column. However large, it leaves
        a component one entry.
    n_nonzero : None, int or (k,) ints
        Entries of each component, instead of ``alpha``; truncated-power needs it.
    ridge : float
        elastic-net: ℓ₂ penalty in the same units; ``numpy.inf`` for far more columns than rows.
    center, scale : bool
        Subtract the mean; divide by the standard deviation.
    max_iter : int
        Iterations at most.
    tol : float
        Change of a loading at which iterations end.
    solver, random_state, memory, device, progress
        As for :class:`ritz.PCA`; the solver finds the ordinary components from which the search begins.

    Attributes
    ----------
    components_ : (k, d) sparse loadings of unit length
    explained_variance_, explained_variance_ratio_ : (k,) adjusted: what a component adds to those before it
    score_variance_ : (k,) variances of the scores, which are correlated
    singular_values_ : (k,) √(adjusted variance · (Σw − 1))
    n_nonzero_ : (k,) entries
    mean_, scale_ : (d,) or None
    noise_variance_, total_variance_ : as for PCA
    n_iter_, n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_ : of the ordinary components

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine()
    >>> dense = ritz.PCA(1, scale=True).fit(wine.data)
    >>> sparse = ritz.SparsePCA(1, method="truncated-power", n_nonzero=4, scale=True).fit(wine.data)
    >>> [wine.feature_names[j] for j in np.flatnonzero(sparse.components_[0])]  # 4 of 13 columns
    ['total_phenols', 'flavanoids', 'proanthocyanins', 'od280/od315_of_diluted_wines']
    >>> dense.explained_variance_ratio_.round(2), sparse.explained_variance_ratio_.round(2)
    (array([0.36]), array([0.24]))
    """

    about: ClassVar[About] = About(
        "Sparse principal component analysis",
        "sparse",
        "PC",
        cites=("[ZHT06]",),
        behind="the ordinary components",
        paper="H. Zou, T. Hastie and R. Tibshirani, Sparse principal component analysis, Journal of "
        "Computational and Graphical Statistics 15 (2006), 265–286.",
    )
    fitted: ClassVar[type[Fitted]] = Overlapping
    _on_device = True
    _records: ClassVar[type[SparseRecord]] = SparseRecord
    _record: SparseRecord
    _rescales = True
    _rules: ClassVar[tuple[str, ...]] = RULES[1:]

    def __init__(
        self, n_components: Any = None, *, method: str = "elastic-net", alpha: Any = 0.1, n_nonzero: Any = None,
        ridge: float = 1e-6, center: bool = True, scale: bool = False, max_iter: int = 1000, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.method = method
        self.alpha = alpha
        self.n_nonzero = n_nonzero
        self.ridge = ridge
        self.center = center
        self.scale = scale
        self.max_iter = max_iter
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparsePCA:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            What stays outside memory is read once.
        y : ignored
        sample_weight : (n,) frequencies, or None
        """
        return self._fit(X, y, sample_weight)

    def pose(self, rows: Any, weights: Floats | None) -> Posed:
        """The problem of the ordinary components: on the moment state, or on the rows where these are fewer."""
        count, d = rows_that_count(self, rows, weights), rows.shape[1]
        wide = WIDE * rows.shape[0] < d
        self._fits(rows.shape[0] if wide else d, d)
        wanted = self._number(count, d)
        if wide:
            shape = self._shape(rows)
            return Posed(rows=rows, weights=weights, shape=shape, wanted=wanted, centered=self.center)
        stats = Statistics(blocks_of(rows), weights, np.float64, getattr(self, "feature_names_in_", None))
        stats.fills, stats.about_zero = True, not self.center
        shape = Shape(count, d, 8, None, symmetric=True)
        return Posed(rows=rows, weights=weights, shape=shape, wanted=wanted, forms_state=True, stats=stats)

    def _solved(self, posed: Posed, plan: Plan) -> tuple[Solution, Covariance, Floats, Floats | None]:
        """The ordinary components, the covariance (d, d), sparse loadings (d, k), and the scales of the columns."""
        if not posed.forms_state:
            ordinary: Solution = super()._solved(posed, plan)
            require_variances(ordinary, posed.stats.column, getattr(self, "feature_names_in_", None))
            scale = spread_of(posed.stats.column, None) if self.scale else None
            C: Covariance = Factored(factor_of(posed, self.center, scale))
        else:
            with using(self.progress, type(self).__name__):
                ordinary, C, scale = self._on_state(posed, plan)
        with using(self.progress, type(self).__name__):
            return ordinary, C, self._search(C, ordinary), scale

    def _problem(self, posed: Posed, plan: Plan) -> SpectralProblem:
        """The ordinary components of fewer rows than columns."""
        return problem_of_rows(self, posed, plan)

    def _on_state(self, posed: Posed, plan: Plan) -> tuple[Solution, Covariance, Floats | None]:
        """The ordinary components of a moment state, the covariance, and the scales of the columns."""
        state = posed.stats.moments
        scale = spread_of(state, self) if self.scale else None
        unit = unit_of(state, self.scale)
        M = MomentGram(state, center=self.center, scale=scale, unit=unit)
        problem = SpectralProblem(
            M, kind="eigh", n=state.weight, d=state.d, rows=state.rows, centered=self.center, repeatable=False,
            **self._request(posed.wanted, posed.shape),
        )  # fmt: skip
        frame = {"mean": state.mean if self.center else None, "scale": scale}
        ordinary = with_passes(solve(problem, plan, unit=unit, frame=frame), posed.stats.passes, 1)
        return ordinary, Formed(M.matrix * unit**2 / divisor_of(state)), scale

    def read(self, solution: tuple[Solution, Covariance, Floats, Floats | None], posed: Posed) -> None:
        """What each loading adds, and what all of them leave."""
        ordinary, C, loadings, scale = solution
        column = posed.stats.moments if posed.forms_state else posed.stats.column
        frame, unit = framed(column, center=self.center, scale=scale)
        divisor = divisor_of(column)

        def rest(Q: Floats) -> float:
            if not posed.forms_state:
                return C.off(Q) if Q.shape[1] < len(Q) else 0.0  # the rows themselves, off the plane
            noise = ordinary.certificate.rounding / divisor
            off = lambda: squares_off(posed.rows, posed.weights, Q, frame) * unit**2 / divisor  # noqa: E731
            return beside(C.whole(), Q, noise, off)

        self._name(loadings, C, ordinary, column, scale, result_dtype(posed.rows.dtype), rest)

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        n, d = self._rows(X, sample_weight, reset=True)[0].shape
        return route_of_rows(self, X, sample_weight, state=WIDE * n >= d)

    def _number(self, n: int, d: int) -> Any:
        """``n_components`` as a number or a rule; None: all that vary."""
        if self.n_components is None:
            return Positive(min(n, d))
        wanted = resolve(self.n_components, n=n, d=d, centered=self.center)
        if not isinstance(wanted, int) and wanted.name not in RULES:
            raise ParameterError(
                f"n_components={wanted.name!r} makes no sense for SparsePCA",
                received="a rule that looks at more than the spectrum",
                hint=f"these rules do: {', '.join(map(repr, RULES[1:]))}, or a fraction such as 0.9",
            )
        return max(wanted, 1) if isinstance(wanted, int) else wanted

    def _search(self, C: Covariance, spectrum: Solution) -> Floats:
        """Sparse loadings (d, k)."""
        d, k = len(C.diagonal), len(spectrum.values)
        unit = float(np.sum(C.diagonal)) / d
        counts = self._counts(d, k)
        if unit <= 0:  # rows that do not vary
            self.n_iter_ = 0
            return np.eye(d, k)
        C = C.divided(unit)  # the path of the elastic net ends by absolute numbers
        with track("sparse loadings", total=None) as step:
            options: dict[str, Any] = {"tol": self.tol, "steps": int(self.max_iter), "tick": lambda *_: step(1)}
            if self.method == "elastic-net":
                penalties = None if counts is not None else np.broadcast_to(np.asarray(self.alpha, float), (k,))
                net = elastic_net(C, spectrum.vectors, penalties, counts, float(self.ridge), **options)
                B, self.n_iter_, done = net.loadings, net.iterations, net.converged
            else:
                B, self.n_iter_, done = truncated_power(C, counts, **options)
        self._tell(done)
        return B * signs(B) + 0.0  # no negative zeros

    def _tell(self, done: bool) -> None:
        if not done:
            warn(
                f"sparse loadings still changed by more than tol={self.tol:g} after max_iter={self.max_iter} "
                "iterations; try more, or a looser tol",
                AccuracyWarning,
            )

    def _name(
        self, B: Floats, C: Covariance, spectrum: Solution, state: Moments | ColumnStatistics, scale: Floats | None,
        dtype: Any, left: Callable[[Floats], float],
    ) -> None:  # fmt: skip
        """Name the results; what a component adds to those before it is the square of a Cholesky pivot."""
        k, d, weight = B.shape[1], len(B), state.weight
        S = B.T @ C.times(B)
        gains = _pivots(S)
        total, divisor = float(np.sum(C.diagonal)), divisor_of(state)
        self.components_ = np.ascontiguousarray(B.T, dtype)
        self.n_nonzero_ = np.count_nonzero(B, axis=0)
        self.explained_variance_ = gains.astype(dtype)
        self.explained_variance_ratio_ = (gains / total if total > 0 else np.zeros(k)).astype(dtype)
        self.score_variance_ = np.diag(S).astype(dtype)
        self.singular_values_ = np.sqrt(gains * divisor).astype(dtype)
        parts = mean_parts(state) if isinstance(state, Moments) else state.parts()
        mean, low = parts if self.center else (None, None)
        self.mean_ = None if mean is None else mean.astype(dtype)
        self.scale_ = None if scale is None else scale.astype(dtype)
        Q = np.linalg.qr(B)[0]
        rest = left(Q)
        self.noise_variance_ = dtype.type(rest / (d - k) if k < d else 0.0)
        self.total_variance_ = total
        self.n_components_, self.n_samples_ = k, state.rows
        spectrum.certificate.frame.update(mean=self.mean_, scale=self.scale_)
        self.certificate_, self.plan_ = spectrum.certificate, spectrum.plan
        keep(
            self, mean64=mean, mean_low=low, scale64=scale, weight=weight, dtype=dtype, weight_low=state.weight_low,
            loadings=B, score_covariance=S, rest_variance=rest, rest=rest_spectrum(C, Q),
        )  # fmt: skip

    # what insight asks

    def _plane(self) -> dict[str, Any]:
        """An orthonormal basis of the plane of the loadings, and what makes its coordinates white."""
        record = self._record
        B, S, weight = record.loadings, record.score_covariance, record.weight
        Q, R = np.linalg.qr(B)  # t = B z = Rᵀ(Qᵀz)
        values, vectors = np.linalg.eigh(S)
        keep = values > 1e-12 * float(np.max(values, initial=0.0))
        white = R @ (vectors[:, keep] / np.sqrt(values[keep]))
        return {
            "basis": Q.T, "white": white, "mean": record.mean64, "scale": record.scale64,
            "low": record.mean_low, "variances": values[keep][::-1], "rows": weight,
            "divisor": divisor_held(self), "centered": bool(self.center), "rest": record.rest_variance,
            "chosen": False,
        }  # fmt: skip

    # coordinates

    def _map(self) -> ObliqueMap:
        check_is_fitted(self)
        record, names = self._record, getattr(self, "feature_names_in_", None)
        dual = np.linalg.pinv(record.loadings)
        return ObliqueMap(self.components_, record.mean64, record.scale64, None, names, record.mean_low, dual=dual)

    # small checks

    def _counts(self, d: int, k: int) -> Any:
        if self.n_nonzero is None:
            return None
        counts = np.broadcast_to(np.asarray(self.n_nonzero), (k,)) if np.ndim(self.n_nonzero) == 0 else self.n_nonzero
        counts = np.asarray(counts)
        if counts.shape != (k,) or counts.dtype.kind not in "iu" or bool(np.any(counts < 1) or np.any(counts > d)):
            raise ParameterError(
                f"n_nonzero must be a whole number from 1 to {d}, or one for each of the {k} components",
                received=repr(self.n_nonzero),
                hint="n_nonzero=5",
            )
        return counts

    def _fits(self, n: int, d: int) -> None:
        """Refuse what memory cannot hold: five times n×d, n the smaller side."""
        size, room = 5 * 8.0 * n * d, room_for(self)
        if size > room:
            held = "the covariance of the columns" if n == d else f"a factor of the covariance, {n:,} centred rows"
            raise MemoryLimitError(
                f"SparsePCA works on {held}, about {size / 1e9:.3g} GB for {d:,} columns",
                received=f"a limit of {room / 1e9:.3g} GB", hint="choose fewer columns first, by their variance",
            )  # fmt: skip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.method not in METHODS:
            words = " or ".join(map(repr, METHODS))
            raise ParameterError(f"method must be {words}", received=repr(self.method), hint=f"method={METHODS[0]!r}")
        if self.method == "truncated-power" and self.n_nonzero is None:
            raise ParameterError(
                "method='truncated-power' needs to know how many entries a component may have",
                received="n_nonzero=None", hint="n_nonzero=5",
            )  # fmt: skip
        for name in ("center", "scale"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(
                    f"{name} must be True or False", received=repr(getattr(self, name)), hint=f"{name}=True"
                )
        alpha = np.asarray(self.alpha)
        if alpha.dtype.kind not in "fiu" or alpha.ndim > 1 or not bool(np.all(alpha >= 0)):
            raise ParameterError(
                "alpha must be a number ≥ 0, or one for each component", received=repr(self.alpha), hint="alpha=0.1"
            )
        if not (isinstance(self.ridge, numbers.Real) and self.ridge >= 0):
            raise ParameterError("ridge must be a number ≥ 0", received=repr(self.ridge), hint="ridge=1e-6")
        if not isinstance(self.max_iter, numbers.Integral) or isinstance(self.max_iter, bool) or self.max_iter < 1:
            raise ParameterError("max_iter must be a whole number ≥ 1", received=repr(self.max_iter))


def _pivots(S: Floats) -> Floats:
    """Squared diagonal of the Cholesky factor, (k,): the variance of each score given those before it."""
    R, gains = S.astype(np.float64), np.zeros(len(S))
    floor = 1e-14 * float(np.max(np.diag(S), initial=0.0))
    for j in range(len(S)):
        gains[j] = max(float(R[j, j]), 0.0)
        if gains[j] > floor:
            R = R - np.outer(R[:, j] / gains[j], R[j])  # products of two variances may leave the range
    return gains
