"""Factor analysis: what columns have in common, apart from what is each one's own.

    z = L f + ε,   cov f = Φ,   cov ε = Ψ diagonal,   Σ = LΦLᵀ + Ψ              z = (x − μ) D_σ⁻¹,  L (d×k)

    scores   regression  t = z Ψ⁻¹L(Φ⁻¹ + LᵀΨ⁻¹L)⁻¹     smallest error          (Thomson)
             Bartlett    t = z Ψ⁻¹L(LᵀΨ⁻¹L)⁻¹            unbiased

The fit needs the correlations alone, so one pass over the rows, wherever they are, does. At the maximum of the
likelihood L comes from the leading eigenvectors of Ψ^-½RΨ^-½: a spectral problem, which the certificate is about;
with principal axes it is about the ordinary components of the same columns. Fits: ``fit.py``.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, MemoryLimitError, ParameterError
from ritz._core.linalg import signs
from ritz._core.memory import LITTLE
from ritz._core.progress import using
from ritz._core.warn import warn
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.center import mean_parts
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import Statistics
from ritz.data.validate import room_for, validate_rows
from ritz.data.words import counted, nearest
from ritz.methods.covariance import tell_matrix
from ritz.methods.factor_analysis import incomplete
from ritz.methods.factor_analysis.fit import Uniquenesses, discrepancy, fit_uniquenesses, principal_axes_loadings
from ritz.methods.factor_analysis.model import FactorModel, score_weights
from ritz.methods.fitted.about import About
from ritz.methods.fitted.factors import Factors
from ritz.methods.from_covariance import from_covariance
from ritz.methods.linear_record import FactorRecord
from ritz.methods.method import Method
from ritz.methods.posed import Posed, route_of_rows, rows_that_count
from ritz.methods.rank.linear import handed, rows_material, state_material
from ritz.methods.record import keep
from ritz.methods.rest import beside, framed, squares_off, with_passes
from ritz.methods.rotation import ROTATIONS, Rotated, rotate_loadings
from ritz.methods.scaling import divisor_held, divisor_of, spread_of
from ritz.methods.sparse_pca.covariance import Formed, rest_spectrum
from ritz.methods.sparse_pca.sparse_pca import ObliqueMap
from ritz.methods.unfitted import require_mean
from ritz.operators import MomentGram
from ritz.project.linear import result_dtype
from ritz.rank.rule import resolve
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

__all__ = ["FactorAnalysis"]

Floats = NDArray[np.float64]

METHODS = ("ml", "principal-axes")
SCORES = ("regression", "bartlett")
#: Slope of the criterion, in units of log Ψ, that counts as not converged.
STILL_STEEP = 1e-4


class FactorAnalysis(Method):
    """Factor analysis by maximum likelihood or principal axes, with rotations.

    Parameters
    ----------
    n_components : None, int, float or str
        Number of factors; a rule for ordinary components of the columns, such as ``"parallel"``; None: as many as
        leave the model fewer parameters than there are correlations.
    method : "ml" or "principal-axes"
        Maximum likelihood, or iterated principal axes (minimum residuals).
    rotation : None, "varimax", "quartimax", "promax" or "oblimin"
        As :func:`ritz.insight.rotate` does it; None: factors by decreasing variance.
    scores : "regression" or "bartlett"
        What ``transform`` gives: smallest error, or unbiased.
    scale : bool
        Loadings of standardised columns, as factanal and psych; False: in the units of the data.
    missing : "error" or "fiml"
        Missing values: refuse them, or full information maximum likelihood (EM), for rows in memory; ``transform``
        then takes rows with gaps too.
    min_uniqueness : float
        Least share of its variance that a column keeps for itself: a guard against Heywood cases.
    max_iter : int
        Iterations at most.
    tol : float
        Slope of the criterion at which iterations end.
    solver, random_state, memory, device, progress
        As for :class:`ritz.PCA`; the solver finds the eigenvectors that the certificate is about.

    Attributes
    ----------
    components_ : (k, d) loadings (the pattern, where factors are correlated)
    factor_correlations_ : (k, k) Φ, I unless the rotation is oblique
    rotation_matrix_ : (k, k) T of the rotation, I without one
    noise_variance_ : (d,) variances of what is each column's own, in the scale of the fit
    uniquenesses_, communalities_ : (d,) shares of the variance of each column; they sum to 1
    explained_variance_, explained_variance_ratio_ : (k,) variance that each factor accounts for, and its share
    total_variance_ : sum of the variances of all columns
    chi2_, dof_, p_value_ : test of the hypothesis that so many factors are enough, with Bartlett's correction
    mean_, scale_ : (d,); scale_ is None with ``scale=False``
    n_iter_, n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_ : of Ψ^-½RΨ^-½ (ml), or of the ordinary components

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> verbal, spatial = rng.standard_normal((2, 500))
    >>> tests = np.c_[verbal, verbal, verbal, spatial, spatial, spatial] + 0.7 * rng.standard_normal((500, 6))
    >>> fa = ritz.FactorAnalysis(2, rotation="varimax").fit(tests)
    >>> np.abs(fa.components_).round(1)           # two abilities behind six tests
    array([[0.8, 0.8, 0.9, 0. , 0. , 0.1],
           [0. , 0. , 0. , 0.8, 0.8, 0.8]])
    >>> bool(fa.p_value_ > 0.05)                  # two factors are enough
    True
    >>> fa.uniquenesses_.round(1)
    array([0.4, 0.3, 0.3, 0.3, 0.4, 0.4])
    """

    about: ClassVar[About] = About(
        "Factor analysis",
        "factor",
        "F",
        component="factor",
        behind="the eigenvalue problem behind the factors",
        paper="D. N. Lawley and A. E. Maxwell, Factor Analysis as a Statistical Method, 2nd ed., Butterworths, 1971.",
    )
    fitted: ClassVar[type[Factors]] = Factors
    _on_device = True
    _records: ClassVar[type[FactorRecord]] = FactorRecord
    _record: FactorRecord
    _rules: ClassVar[tuple[str, ...]] = Method._rules

    def __init__(
        self, n_components: Any = None, *, method: str = "ml", rotation: str | None = None,
        scores: str = "regression", scale: bool = True, missing: str = "error", min_uniqueness: float = 0.005,
        max_iter: int = 1000, solver: str = "auto", tol: float = 1e-8, random_state: Any = 0, memory: Any = None,
        device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.method = method
        self.rotation = rotation
        self.scores = scores
        self.scale = scale
        self.missing = missing
        self.min_uniqueness = min_uniqueness
        self.max_iter = max_iter
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FactorAnalysis:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            What stays outside memory is read once.
        y : ignored
        sample_weight : (n,) frequencies, or None
        """
        return self._fit(X, y, sample_weight)

    def pose(self, rows: Any, weights: Any) -> Posed:
        """The moment state of the rows; which problem is solved depends on the uniquenesses."""
        rows_that_count(self, rows, weights, "correlations")
        self._fits(rows.shape[1])
        tell_matrix(self, rows)
        if self.missing == "fiml" and incomplete.has_gaps(rows):
            return Posed(rows=rows, weights=weights, shape=self._shape(rows))
        stats = Statistics(blocks_of(rows), weights, np.float64, getattr(self, "feature_names_in_", None))
        stats.fills = True
        return Posed(rows=rows, weights=weights, shape=self._shape(rows), stats=stats)

    def _plan(self, posed: Posed) -> None:
        """The plan follows when the number of factors is known."""

    def _solved(self, posed: Posed, plan: None) -> Any:
        """Uniquenesses and loadings, with the certificate of the problem that they solve."""
        with using(self.progress, type(self).__name__):
            if posed.stats is None:
                return incomplete.solve_incomplete(self, posed)
            state = posed.stats.moments
            spread = spread_of(state, self)
            material = partial(rows_material, Standardised(self), posed.rows, posed.weights, posed.stats)
            k, ordinary = self._number(state, spread, material)
            return self._estimated(state, spread, k, ordinary)

    def read(self, solution: Any, posed: Posed) -> None:
        """Rotated loadings, scores, the test, and what the plane of the scores leaves."""
        if posed.stats is None:
            incomplete.name_incomplete(self, solution)
            return
        state, ordinary = posed.stats.moments, with_passes(solution.solution, posed.stats.passes, 1)
        self._name(solution, state, result_dtype(posed.rows.dtype))
        self.n_iter_ = solution.iterations
        notes = (*ordinary.certificate.notes, *solution.told)
        self.certificate_, self.plan_ = replace(ordinary.certificate, notes=notes), ordinary.plan
        self._record.rest_variance = self._off(state, partial(squares_off, posed.rows, posed.weights))

    from_covariance = classmethod(from_covariance)

    def _of_state(self, state: Moments) -> None:
        """Fit to the moment state of a covariance matrix."""
        self._fits(state.d)
        spread, note = spread_of(state, self), self._record.note
        material = partial(state_material, Standardised(self), state)
        k, ordinary = self._number(state, spread, material)
        estimated = self._estimated(state, spread, k, ordinary)
        self._name(estimated, state, np.dtype(np.float64))
        self.n_iter_, certificate = estimated.iterations, estimated.solution.certificate
        self.certificate_ = replace(certificate, notes=(*certificate.notes, str(note), *estimated.told))
        self.plan_ = estimated.solution.plan
        self._record.rest_variance = self._off(state, None)

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        return route_of_rows(self, X, sample_weight, state=True)

    def _off(self, state: Moments, squares: Any) -> float:
        """Variance off the plane of the score weights; ``squares`` adds it up from the rows, where there are any."""
        Q, divisor = np.linalg.qr(self._record.weights)[0], divisor_of(state)
        frame, unit = framed(state, center=True, scale=self._record.scale64)
        C = MomentGram(state, center=True, scale=self._record.scale64).matrix / divisor
        top = float(np.max(np.diag(state.scatter), initial=0.0))
        noise = state.noise / top * float(np.max(np.diag(C))) if top > 0 else 0.0
        plain = float(np.trace(C) - np.einsum("ij,ij->", C @ Q, Q))
        again = lambda: plain if squares is None else squares(Q, frame) * unit**2 / divisor  # noqa: E731
        return beside(C, Q, noise, again)

    # the number of factors

    def _number(self, state: Moments, spread: Floats, material: Any) -> tuple[int, Solution | None]:
        """How many factors; with a rule, also the spectrum of the ordinary components that decided."""
        n, d = state.rows, state.d
        if self.n_components is None:
            return min(_most_factors(d), _rank(state, spread)), None
        wanted = resolve(
            self.n_components, n=n, d=d, centered=True, names=self._rules, method=type(self).__name__
        )  # fmt: skip
        if isinstance(wanted, int):
            return max(wanted, 1), None
        wanted = handed(wanted, material)
        spectrum = self._spectrum(state, spread, wanted)
        return max(len(spectrum.values), 1), spectrum

    def _spectrum(self, state: Moments, scale: Floats, wanted: Any, *, metric: bool = False) -> Solution:
        """Eigenvectors of D⁻¹SD⁻¹ with their certificate; ``metric``: D is not the deviations of the columns."""
        shape = Shape(state.rows, state.d, 8, None, symmetric=True)
        plan = self._plan_for(shape, wanted, whole=True)
        problem = SpectralProblem(
            MomentGram(state, center=True, scale=scale), kind="eigh", n=state.weight, d=state.d, rows=state.rows,
            centered=True, repeatable=False, **{**self._request(wanted, shape), "tol": min(self.tol, 1e-6)},
        )  # fmt: skip
        return solve(problem, plan, frame={"mean": state.mean, "scale": scale, "metric": metric})

    # the fit

    def _estimated(self, state: Moments, spread: Floats, k: int, ordinary: Solution | None) -> Estimated:
        S = MomentGram(state, center=True, scale=spread if self._scaled else None).matrix
        S = S / divisor_of(state)
        there = np.diag(S) > 0
        C = S[np.ix_(there, there)]
        if not np.isfinite(C).all():
            raise InputError("FactorAnalysis needs finite numbers", received="NaN or infinity", hint="fill the gaps")
        psi, L = np.zeros(len(S)), np.zeros((len(S), k))
        estimate = None
        if len(C):
            estimate = fit_uniquenesses(C, min(k, len(C)), self.method, self.min_uniqueness, self.max_iter, self.tol)
            psi[there] = estimate.uniquenesses
        spectrum = ordinary
        if self.method == "ml":
            size = (1.0 if not self._scaled else spread) * np.sqrt(np.where(there, psi, 1.0))
            spectrum = self._spectrum(state, np.asarray(size, np.float64), k, metric=True)
            theta = spectrum.values / divisor_of(state)
            L = np.sqrt(psi)[:, None] * spectrum.vectors * np.sqrt(np.maximum(theta - 1, 0.0))
        else:
            spectrum = self._spectrum(state, spread, k) if spectrum is None else spectrum
            L[there, : min(k, len(C))] = principal_axes_loadings(C, psi[there], k)
        told = () if estimate is None else self._tell(estimate, np.flatnonzero(there))
        iterations = estimate.iterations if estimate is not None else 0
        return Estimated(L * signs(L) + 0.0, psi, S, spread, there, spectrum, iterations, told)

    @property
    def _scaled(self) -> bool:
        return bool(self.scale)

    def _name(self, estimated: Estimated, state: Moments, dtype: Any) -> None:
        """Rotate, and name the results."""
        A, psi, S = estimated.loadings, estimated.uniquenesses, estimated.covariance
        spread, there = estimated.spread, estimated.there
        k = A.shape[1]
        turned = Rotated(A, np.eye(k), np.eye(k))
        if self.rotation is not None:
            turned = rotate_loadings(A, self.rotation)
        L, phi = turned.loadings, turned.correlations
        common = np.einsum("ij,ij->i", A, A)
        with np.errstate(invalid="ignore"):
            share = np.where(there, common / (common + psi), 0.0)
        total = float(np.trace(S))
        self.components_ = np.ascontiguousarray(L.T, dtype)
        self.factor_correlations_, self.rotation_matrix_ = phi.astype(dtype), turned.matrix.astype(dtype)
        self.noise_variance_ = psi.astype(dtype)
        self.communalities_, self.uniquenesses_ = share.astype(dtype), (1 - share).astype(dtype)
        self.explained_variance_ = turned.variances.astype(dtype)
        self.explained_variance_ratio_ = (turned.variances / total if total > 0 else np.zeros(k)).astype(dtype)
        self.total_variance_ = total
        mean, low = mean_parts(state)
        self.mean_ = None if self._record.meanless else mean.astype(dtype)
        self.scale_ = spread.astype(dtype) if self._scaled else None
        self.n_components_, self.n_samples_ = k, state.rows
        self._test(A[there], psi[there], S[np.ix_(there, there)], state.weight)
        scale = spread if self._scaled else None
        W = score_weights(L, psi, phi, self.scores)
        keep(
            self, mean64=mean, mean_low=low, scale64=scale, spread=np.where(there, spread, 0.0), weight=state.weight,
            weight_low=state.weight_low, loadings=L, unrotated=A, weights=W, psi=psi, dtype=dtype,
            score_covariance=W.T @ S @ W, rest=rest_spectrum(Formed(S), np.linalg.qr(W)[0]),
        )  # fmt: skip

    def _test(self, A: Floats, psi: Floats, S: Floats, n: float) -> None:
        """(n − 1 − (2d + 5)/6 − 2k/3) times the discrepancy, against χ² on ((d − k)² − d − k)/2."""
        d, k = A.shape
        self.dof_ = ((d - k) ** 2 - d - k) // 2
        self.chi2_ = self.p_value_ = float("nan")
        if d and self.dof_ < 0:
            warn(
                f"{counted(k, 'factor')} of {counted(d, 'column')} have more parameters than there are correlations: "
                "many loadings fit equally well; try fewer factors",
                AccuracyWarning,
            )
        if d and self.dof_ > 0:
            from scipy.special import chdtrc

            self.chi2_ = (n - 1 - (2 * d + 5) / 6 - 2 * k / 3) * discrepancy(S, A, psi)
            self.p_value_ = float(chdtrc(self.dof_, np.maximum(self.chi2_, 0.0)))

    def _tell(self, estimate: Uniquenesses, columns: NDArray[np.intp]) -> tuple[str, ...]:
        """Warn of uniquenesses that were stopped or still change; what was warned of, in the words of a note."""
        names = getattr(self, "feature_names_in_", None)
        stopped = columns[estimate.heywood]
        told: list[str] = []
        if len(stopped):
            shown = ", ".join(str(names[j]) if names is not None else str(j) for j in stopped[:5])
            more = f" and {len(stopped) - 5} more" if len(stopped) > 5 else ""
            case = f"Heywood case: the uniqueness of {shown}{more} was stopped at"
            advice = f"{self.min_uniqueness:g} of the variance; try fewer factors, or more rows"
            warn(f"{case} min_uniqueness={advice}", AccuracyWarning)
            told.append(f"{case} {advice}")
        if estimate.slope > max(STILL_STEEP, self.tol):
            told.append(
                f"uniquenesses still changed (slope {estimate.slope:.2g}) after {estimate.iterations} iterations; try "
                f"a larger max_iter than {self.max_iter}"
            )
            warn(told[-1], AccuracyWarning)
        return tuple(told)

    # what insight asks

    def _plane(self) -> dict[str, Any]:
        """An orthonormal basis of the plane of the score weights, and what makes its coordinates white."""
        record = self._record
        values, vectors = np.linalg.eigh(record.score_covariance)
        keep = values > 1e-12 * float(np.max(values, initial=0.0))
        Q, R = np.linalg.qr(record.weights)  # t = zW = (zQ)R
        return {
            "basis": Q.T, "white": R @ (vectors[:, keep] / np.sqrt(values[keep])), "mean": record.mean64,
            "scale": record.scale64, "low": record.mean_low, "variances": values[keep][::-1],
            "rows": record.weight,
            "divisor": divisor_held(self), "centered": True, "rest": record.rest_variance,
            "chosen": False,
        }  # fmt: skip

    # coordinates and the Gaussian model

    def _map(self) -> Any:
        check_is_fitted(self)
        record, names = self._record, getattr(self, "feature_names_in_", None)
        return incomplete.filling_map(self, ObliqueMap)(
            record.weights.T, record.mean64, record.scale64, None, names, record.mean_low,
            dual=record.loadings.T,
        )  # fmt: skip

    def _gaussian(self) -> FactorModel:
        check_is_fitted(self)
        record, names = self._record, getattr(self, "feature_names_in_", None)
        return FactorModel(record.unrotated, record.psi, record.mean64, record.scale64, names, record.mean_low)

    def get_covariance(self) -> Floats:
        """Covariance of the model, LΦLᵀ + Ψ, in the units of the data."""
        return self._gaussian().covariance()

    def get_precision(self) -> Floats:
        """Inverse of the model's covariance."""
        return self._gaussian().precision()

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of every row under the model.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((300, 1)) + 0.5 * rng.standard_normal((300, 4))
        >>> fa = ritz.FactorAnalysis(1).fit(X)
        >>> alike, apart = fa.score_samples([[2, 2, 2, 2], [2, -2, 2, -2]])
        >>> bool(alike > apart)                       # four columns of one factor rise and fall together
        True
        """
        check_is_fitted(self)
        require_mean(self)
        rows = validate_rows(self, X, reset=False)
        if self.missing == "fiml" and incomplete.has_gaps(rows):
            return incomplete.observed_likelihood(rows, np.asarray(self._record.mean64), self.get_covariance())
        return self._gaussian().log_likelihood(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    # small checks

    def _fits(self, d: int) -> None:
        size = 8 * 8.0 * d * d
        if self.memory is None and size <= LITTLE:
            return
        if size > (room := room_for(self)):
            raise MemoryLimitError(
                f"FactorAnalysis works on the correlations of the columns, about {size / 1e9:.3g} GB for {d:,} of them",
                received=f"a limit of {room / 1e9:.3g} GB", hint="choose fewer columns first",
            )  # fmt: skip

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choices = {"missing": ("error", "fiml"), "method": METHODS, "scores": SCORES, "rotation": (None, *ROTATIONS)}
        for name, values in choices.items():
            value = getattr(self, name)
            if value not in values:
                words = ", ".join(map(repr, values))
                raise ParameterError(
                    f"{name} must be one of {words}",
                    received=repr(value),
                    hint=f"{name}={nearest(value, [word for word in values if word is not None])!r}",
                )
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ParameterError("scale must be True or False", received=repr(self.scale), hint="scale=True")
        floor = self.min_uniqueness
        if not (isinstance(floor, numbers.Real) and 0 < floor < 1):
            raise ParameterError("min_uniqueness must be a share in (0, 1)", received=repr(floor), hint="0.005")
        if not isinstance(self.max_iter, numbers.Integral) or isinstance(self.max_iter, bool) or self.max_iter < 1:
            raise ParameterError("max_iter must be a whole number ≥ 1", received=repr(self.max_iter))


@dataclass(frozen=True)
class Estimated:
    """Loadings and uniquenesses before any rotation, and what they were found from."""

    loadings: Floats  # (d, k)
    uniquenesses: Floats  # (d,) variances
    covariance: Floats  # (d, d) as analysed
    spread: Floats  # (d,) standard deviations of the columns
    there: NDArray[np.bool_]  # (d,) columns that vary
    solution: Solution
    iterations: int
    told: tuple[str, ...] = ()  # what was warned of, for whoever reads the answer later


class Standardised:
    """The columns as rules for the number of factors see them: centred and of unit variance."""

    center, scale = True, True

    def __init__(self, model: FactorAnalysis) -> None:
        self.random_state, self.model = model.random_state, model


def _most_factors(d: int) -> int:
    """Ledermann's bound: the largest k ≥ 1 that leaves the test degrees of freedom."""
    return max(int(np.floor((2 * d + 1 - np.sqrt(8 * d + 1)) / 2)), 1)


def _rank(state: Moments, spread: Floats) -> int:
    """Dimensions in which the rows vary, at least 1."""
    values = np.linalg.eigvalsh(MomentGram(state, center=True, scale=spread).matrix)
    return max(int(np.count_nonzero(values > 1e-10 * max(float(values[-1]), 0.0))), 1)
