"""Principal components that some bad rows, or bad entries, cannot turn.

    spherical   axes of the directions of rows about the spatial median            spherical.py     [LMS99]
    robpca      projection pursuit, then a robust covariance in the subspace       robpca.py        [HRV05]
    pcp         PCA of the low-rank part L of X = L + S, S sparse                  pursuit.py       [CLMW11]

Each ends in one spectral problem, of the directions uᵢ, of the good rows, or of L, whose certificate the model carries.
Variances are robust: MAD² along the axes, the covariance of the good rows, that of L. What the plane leaves of a row,
Q, has Q^⅓ nearly normal for good rows [WH31]; its median and MAD give the cut-off, the median and the good rows the
variance off the plane (``off.py``).
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import ConstantColumnWarning, ParameterError
from ritz._core.tolerance import CONSTANT
from ritz._core.warn import warn
from ritz.data.engines import weighed
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.unit import require_squares
from ritz.data.validate import require_finite, validate_rows
from ritz.data.words import nearest
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.linear import OfGoodRows
from ritz.methods.likelihood import GaussianModel
from ritz.methods.linear_record import RobustRecord
from ritz.methods.method import Method
from ritz.methods.posed import Posed, route_of_rows, rows_that_count
from ritz.methods.record import keep
from ritz.methods.robust_pca.factors import CORRECTIONS
from ritz.methods.robust_pca.location import mad, median
from ritz.methods.robust_pca.off import off_thetas
from ritz.methods.robust_pca.solved import BEFORE, METHODS, Robust, chosen_method, noted, taken_method
from ritz.methods.robust_pca.spherical import column_mad, filled
from ritz.methods.verify.model import with_held
from ritz.project.linear import LinearMap
from ritz.project.residual import Frame
from ritz.rank.rule import resolve
from ritz.spectral.plan import Plan
from ritz.spectral.problem import Seen
from ritz.spectral.verify import Verification

__all__ = ["RobustPCA"]

Floats = NDArray[np.float64]

#: Rules that read robust variances; the others assume that eigenvalues come from all rows.
RULES = ("fraction", "broken-stick", "elbow", "kaiser")
#: A share of the variance that is rounding.
NOTHING = 1e-12


class RobustPCA(Method):
    """Robust principal component analysis.

    Parameters
    ----------
    n_components : None, int, float or str
        All that vary, a number, a fraction of the robust variance in (0, 1), or ``broken-stick elbow kaiser``.
    method : "auto", "robpca", "spherical" or "pcp"
        ROBPCA: the most accurate for bad rows, in memory. Directions of rows about their spatial median: any size,
        quick. Principal component pursuit: for bad entries rather than bad rows, in memory. "auto": robpca for rows
        in memory, spherical for those that stay outside, do not fit four times, or have weights that are no counts.
    scale : bool
        Divide columns by their MAD.
    coverage : float
        robpca: the share of rows that is trusted, in [0.5, 1]; the others may be anything.
    directions : int
        robpca: how many directions to look along for rows that stand out.
    correction : "good" or "rrcov"
        robpca: variances of the good rows, whatever the share of bad ones; or those of R's PcaHubert, which count rows
        that were left out as if they had been normal.
    penalty : float or None
        pcp: weight λ of the sparse part; None is 1/√max(n, d).
    max_iter : int
        Iterations at most, of the spatial median or of the pursuit.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`; pcp ends when both its residuals are below tol/100.

    Attributes
    ----------
    components_ : (k, d) principal axes, by decreasing robust variance
    explained_variance_, explained_variance_ratio_, singular_values_ : (k,) robust
    mean_, scale_ : (d,) robust centre; MADs or None
    noise_variance_, total_variance_ : robust, as for PCA
    support_ : (n,) rows that the covariance rests on (robpca)
    method_ : the method that was taken
    low_rank_, sparse_ : (n, d) the two parts of the table (pcp)
    gap_ : how far the two parts can be from the best, as a share (pcp)
    n_iter_ : iterations of the spatial median, of reweighting, or of the pursuit
    n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3, 1, 0.5]
    >>> X[:10] = [0, 0, 40]                       # ten rows of another kind, of 200
    >>> ritz.PCA(1).fit(X).components_.round(1) + 0
    array([[0., 0., 1.]])
    >>> for method in ("spherical", "robpca"):
    ...     print(ritz.RobustPCA(1, method=method).fit(X).components_.round(1) + 0)
    [[1. 0. 0.]]
    [[1. 0. 0.]]
    """

    about: ClassVar[About] = About(
        "Robust principal component analysis",
        "robust",
        "PC",
        cites=("[HRV05]",),
        paper="M. Hubert, P. J. Rousseeuw and K. Vanden Branden, ROBPCA: a new approach to robust principal "
        "component analysis, Technometrics 47 (2005), 64–79.",
        behind="the eigenvalue problem that gives the axes",
    )
    fitted: ClassVar[type[Fitted]] = OfGoodRows
    _records: ClassVar[type[RobustRecord]] = RobustRecord
    _record: RobustRecord
    _rules: ClassVar[tuple[str, ...]] = RULES[1:]

    def __init__(
        self, n_components: Any = None, *, method: str = "auto", scale: bool = False, coverage: float = 0.75,
        directions: int = 250, correction: str = "good", penalty: float | None = None, max_iter: int = 1000,
        solver: str = "auto", tol: float = 1e-6, random_state: Any = 0, memory: Any = None,
        device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.method = method
        self.scale = scale
        self.coverage = coverage
        self.directions = directions
        self.correction = correction
        self.penalty = penalty
        self.max_iter = max_iter
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RobustPCA:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            What stays outside memory is read in pieces, by ``method="spherical"``; the others need rows in memory.
        y : ignored
        sample_weight : (n,) frequencies, or None; whole numbers for ``method="robpca"``
        """
        return self._fit(X, y, sample_weight)

    def pose(self, rows: Any, weights: Floats | None) -> Posed:
        """Rows and robust scales; each way to the axes poses a problem of its own."""
        count = rows_that_count(self, rows, weights)
        for name in ("support_", "low_rank_", "sparse_", "gap_", "n_iter_", "method_"):
            if name in vars(self):
                delattr(self, name)
        if not are_blocks(rows):
            require_finite(rows, getattr(self, "feature_names_in_", None))
            if not self.scale:
                require_squares(rows)
        scale = self._spread(rows, weights) if self.scale else None
        return Posed(rows=rows, weights=weights, shape=self._shape(rows), kept=(scale, count))

    def _plan(self, posed: Posed) -> None:
        """Each way plans its own problem."""

    def _solved(self, posed: Posed, plan: None) -> Robust:
        self.method_, why = chosen_method(self, posed.rows, posed.weights)
        robust = METHODS[self.method_](self, posed.rows, posed.weights, posed.kept[0])
        return robust if why is None else replace(robust, spectrum=noted(robust.spectrum, why))

    def read(self, solution: Robust, posed: Posed) -> None:
        """Variances in the plane, and off it from a pass over the rows."""
        self._name(solution, posed.rows, posed.weights, *posed.kept)

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        taken, _ = chosen_method(self, *self._rows(X, sample_weight, reset=True))
        # the good rows of robpca have the coordinates of their plane, fewer than there are rows
        plan = route_of_rows(self, X, sample_weight, state=taken == "robpca")
        return replace(plan, reasons=(*plan.reasons, BEFORE))

    def _spread(self, X: Any, weights: Floats | None) -> Floats:
        """MAD of every column; 1, with a warning, where it is 0."""
        middle, spread = column_mad(X, weights)
        flat = spread <= CONSTANT * 2.0**-53 * np.abs(middle)
        if bool(np.any(flat)):
            names = getattr(self, "feature_names_in_", None)
            shown = ", ".join(str(names[j] if names is not None else j) for j in np.flatnonzero(flat)[:5])
            more = f" and {np.count_nonzero(flat) - 5} more" if np.count_nonzero(flat) > 5 else ""
            warn(
                f"columns {shown}{more} have the same value in more than half of the rows: no MAD to divide by, kept "
                "with scale 1",
                ConstantColumnWarning,
            )
        return np.where(flat, 1.0, spread)

    def _count(self, n: int, d: int) -> Any:
        """``n_components`` as a number, None for all, or a function that decides from variances."""
        if self.n_components is None:
            return None
        wanted = resolve(self.n_components, n=n, d=d, centered=True)
        if isinstance(wanted, int):
            return wanted
        if wanted.name not in RULES:
            raise ParameterError(
                f"n_components={wanted.name!r} makes no sense for RobustPCA",
                received="a rule about eigenvalues of all rows",
                hint=f"these rules do: {', '.join(map(repr, RULES[1:]))}, or a fraction such as 0.9",
            )

        def decide(variances: Floats, total: float | None = None) -> int:
            values = np.maximum(np.sort(variances)[::-1], 0.0) * (n - 1)
            trace = float(np.sum(values)) if total is None else total * (n - 1)
            seen = Seen(values, trace, float(n), d, len(values), True, True)
            return max(1, wanted.decide(seen) or 1)

        return decide

    def _name(self, robust: Robust, X: Any, weights: Floats | None, scale: Floats | None, rows: int) -> None:
        """Name the results: variances in the plane, and off it from a pass over the rows."""
        dtype, k = self._float(X), len(robust.variances)
        mass = float(rows) if weights is None else float(np.sum(weights))
        self.components_ = np.ascontiguousarray(robust.components, dtype)
        self.mean_, self.scale_ = robust.center.astype(dtype), None if scale is None else scale.astype(dtype)
        self.n_components_, self.n_samples_ = k, rows
        self.certificate_, self.plan_ = robust.spectrum.certificate, robust.spectrum.plan
        keep(self, mean64=robust.center, mean_low=robust.low, scale64=scale, dtype=dtype, weight=mass, **robust.kept)
        for name, value in robust.named.items():
            setattr(self, name, value)
        self.explained_variance_ = robust.variances.astype(dtype)
        self._record.variance64 = robust.variances
        distances = Frame(**self._frame()).distances(filled(X))
        root, inside = np.cbrt(distances[:, 1]), float(np.sum(robust.variances))
        place, spread = float(median(root[:, None], weights)[0]), float(mad(root[:, None], weights)[0])
        if place**3 <= NOTHING * inside or k >= min(rows - 1, self.n_features_in_):
            place = spread = 0.0
        thetas = off_thetas(X, weights, distances, self._frame(), place, spread)
        w = np.ones(len(root)) if weights is None else weights
        sums = tuple(float(v) for v in (mass, *(w @ distances)))
        keep(self, off_location=place, off_spread=spread, off_thetas=thetas, sums=sums)
        self._shares(inside, thetas[0], mass, dtype)

    def _shares(self, inside: float, rest: float, mass: float, dtype: Any) -> None:
        total, k, d = inside + rest, self.n_components_, self.n_features_in_
        variances = self._record.variance64
        self.total_variance_ = total
        self.explained_variance_ratio_ = (variances / total if total > 0 else np.zeros(k)).astype(dtype)
        self.singular_values_ = np.sqrt(variances * max(mass - 1, 1.0)).astype(dtype)
        self.noise_variance_ = dtype.type(rest / (d - k) if k < d else 0.0)

    # what insight asks

    def _frame(self) -> dict[str, Any]:
        """The plane of the components that vary, and its whitening."""
        variances = self._record.variance64
        keep = variances > NOTHING * float(np.max(variances, initial=0.0))
        V = np.asarray(self.components_, np.float64)[keep]
        V = V / np.linalg.norm(V, axis=1, keepdims=True)
        white = np.diag(1 / np.sqrt(variances[keep]))
        record = self._record
        place = {"mean": record.mean64, "scale": record.scale64, "low": record.mean_low}
        return {"basis": V, "white": white, **place}

    def _plane(self) -> dict[str, Any]:
        variances, mass = self._record.variance64, self._record.weight
        kept = variances[variances > NOTHING * float(np.max(variances, initial=0.0))]
        about = {"rows": mass, "divisor": max(mass - 1, 1.0), "centered": True, "chosen": False}
        return {**self._frame(), "variances": kept, "rest": self._record.off_thetas[0], **about}

    def _robust_limits(self, alpha: float) -> tuple[float, float, tuple[float, float, float]]:
        """Limits of T² and Q, and θ₁, θ₂/θ₁², θ₃/θ₁³ with Q's first three moments."""
        from scipy.stats import chi2, norm

        k = len(self._frame()["basis"])
        m, s = self._record.off_location, self._record.off_spread
        off = max(m + s * float(norm.isf(alpha)), 0.0) ** 3
        return float(chi2.isf(alpha, k)) if k else 0.0, off, self._record.off_thetas

    def _sure(self) -> float:
        """Rows that variances as sure as these would need, if they came from all rows."""
        method = taken_method(self)
        if method == "spherical":
            return 0.37 * self._record.weight  # the efficiency of the MAD
        good = self._record.good if method == "robpca" else None
        return float(self._record.weight if good is None else good)

    # the certificate

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate against the rows of the fit, sharing no code with how the answer was found.

        Parameters
        ----------
        X : rows of the fit
            Their directions (spherical), or their coordinates in the robust subspace (robpca), are formed again; with
            ``method="pcp"`` the low-rank part is checked.
        sample_weight : their weights, or None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((100, 4)) * [4, 3, 2, 1]
        >>> robust = ritz.RobustPCA(2).fit(X)
        >>> bool(robust.verify(X)), bool(robust.verify(2 * X))
        (True, False)
        """
        check_is_fitted(self)
        from ritz.methods.robust_pca.solved import problem_rows

        X, sample_weight = weighed(X, sample_weight, self.memory)
        rows, weights = self._rows(X, sample_weight, reset=False)
        return with_held(self, self.certificate_.verify(*problem_rows(self, rows, weights)), (X, sample_weight))

    # coordinates and the Gaussian model

    def _map(self) -> LinearMap:
        names = getattr(self, "feature_names_in_", None)
        record = self._record
        return LinearMap(self.components_, record.mean64, record.scale64, None, names, record.mean_low)

    def _gaussian(self) -> GaussianModel:
        check_is_fitted(self)
        frame = self._frame()
        kept = np.square(1 / np.diag(frame["white"]))
        names = getattr(self, "feature_names_in_", None)
        place = (frame["mean"], frame["scale"], names, frame["low"])
        return GaussianModel(frame["basis"], kept, float(self.noise_variance_), *place)

    def get_covariance(self) -> Floats:
        """Robust covariance V(Λ − σ²)Vᵀ + σ²I, in the units of the data."""
        return self._gaussian().covariance()

    def get_precision(self) -> Floats:
        """Inverse of the robust covariance."""
        return self._gaussian().precision()

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of every row under the probabilistic model of the good rows.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((100, 3)) * [3, 2, 1]
        >>> X[:5] += 50                               # five rows that do not belong
        >>> robust = ritz.RobustPCA(2, method="robpca").fit(X)
        >>> sorted(np.argsort(robust.score_samples(X))[:5].tolist())
        [0, 1, 2, 3, 4]
        """
        check_is_fitted(self)
        return self._gaussian().log_likelihood(validate_rows(self, X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    # small checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.method not in (choices := ("auto", *METHODS)):
            raise ParameterError(
                f"method must be one of {', '.join(map(repr, choices))}", received=repr(self.method),
                hint=f"method={nearest(self.method, choices)!r}",
            )  # fmt: skip
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ParameterError("scale must be True or False", received=repr(self.scale), hint="scale=True")
        counts = {"directions": self.directions, "max_iter": self.max_iter}
        for name, value in counts.items():
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
                raise ParameterError(f"{name} must be a whole number ≥ 1", received=repr(value), hint=f"{name}=250")
        if not (isinstance(self.coverage, numbers.Real) and 0.5 <= self.coverage <= 1):
            raise ParameterError(
                "coverage must be a share of the rows in [0.5, 1]", received=repr(self.coverage), hint="coverage=0.75"
            )
        if self.correction not in CORRECTIONS:
            raise ParameterError(
                f"correction must be one of {', '.join(map(repr, CORRECTIONS))}", received=repr(self.correction),
                hint="correction='good'",
            )  # fmt: skip
        penalty = self.penalty
        if not (penalty is None or (isinstance(penalty, numbers.Real) and penalty > 0)):
            raise ParameterError("penalty must be None or a number > 0", received=repr(penalty), hint="penalty=None")
