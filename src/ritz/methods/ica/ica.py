"""Independent component analysis: sources of which rows are mixtures.                       [Com94, Hyv99, AGC18]

    x = μ + A s,   s independent, unit variance        z = Λ^-½ Vᵀ D_σ⁻¹(x − μ) white,   s = W z,   WWᵀ = I
    components_ = W Λ^-½ Vᵀ (k×d),     mixing_ = V Λ^½ Wᵀ (d×k)

Whitening is Ritz's PCA: right where means are a hundred million times the deviations, in one pass over rows that
memory does not hold, with a certificate. The rotation W is picard's, scikit-learn's FastICA, or JADE; it is stationary
where the gradient of the contrast is zero, which is computed from its definition and stands in the certificate.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.linalg import signs
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.warn import unsaid, warn
from ritz.data.passes.unit import require_squares
from ritz.data.validate import room_for
from ritz.methods.fitted.about import About
from ritz.methods.fitted.plane import with_variance
from ritz.methods.fitted.sources import Sources
from ritz.methods.ica.rotate import (
    CONTRASTS,
    column_sums,
    contrast,
    gradient,
    jade_gradient,
    rotation,
    rotations,
    starts,
)
from ritz.methods.ica.steady import Steadiness, clustered
from ritz.methods.linear_record import SparseRecord
from ritz.methods.method import Method
from ritz.methods.pca import PCA
from ritz.methods.posed import Posed
from ritz.methods.record import keep
from ritz.methods.rest import rest_of
from ritz.methods.scaling import divisor_held
from ritz.methods.sparse_pca.sparse_pca import ObliqueMap
from ritz.methods.verify.again import refound
from ritz.project.linear import result_dtype
from ritz.spectral.plan import Plan
from ritz.spectral.verify import Verification

__all__ = ["ICA"]

Floats = NDArray[np.float64]

METHODS = ("auto", "picard", "fastica", "jade")
#: What rounding leaves of a gradient and of a contrast, of sources of unit variance.
ROUNDED = 1e-9
#: Numbers up to which several starts are tried.
FEW = 20_000
#: Components up to which JADE is taken: its matrices are as many as the square of these.
JADE_MOST = 40


@dataclass
class Separated:
    """A whitening and a rotation."""

    white: PCA
    rotation: Floats  # (k, k)
    values: Floats  # (k,) variances of the whitened components
    gradient: float
    contrasts: Floats
    iterations: int
    method: str
    rows: int  # that the rotation looked at


class ICA(Method):
    """Independent component analysis.

    Parameters
    ----------
    n_components : None, int, float or str
        Sources: all that vary, a number, or as many principal components as a fraction of the variance or a rule asks.
    method : "auto", "picard", "fastica" or "jade"
        What finds the rotation: steps of FastICA and, where these do not settle, picard where it is installed
        (``pip install 'ritz[ica]'``), scikit-learn's FastICA otherwise; or fourth cumulants, for few components.
    fun : "logcosh", "exp" or "cube"
        Contrast; signs follow the data, so that peaked and flat sources are found alike (extended infomax).
    scale : bool
        Divide columns by their standard deviations first.
    n_init : int, optional
        Starts; the answer farthest from normal is kept. None: 10 where rows are few, one otherwise.
    max_iter : int
        Iterations at most.
    tol : float
        Gradient of the contrast at which iterations end.
    solver, random_state, memory, device, progress
        As for :class:`ritz.PCA`; the solver whitens.

    Attributes
    ----------
    components_ : (k, d) the unmixing: s = components_ · (x − μ)/σ
    mixing_ : (d, k) the mixing: (x − μ)/σ = mixing_ · s
    explained_variance_, explained_variance_ratio_ : (k,) variance that each source brings to the columns; decreasing
    contrast_ : (k,) how far each source is from normal
    gradient_ : ‖gradient‖ of the contrast over rotations; for JADE the largest angle that is left
    mean_, scale_ : (d,); scale_ is None without ``scale``
    noise_variance_, total_variance_, singular_values_ : as for PCA
    n_iter_, n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_ : of the whitening, with the gradient

    Examples
    --------
    >>> import numpy as np, ritz
    >>> t = np.linspace(0, 40, 2000)
    >>> sources = np.c_[np.sin(3 * t), np.sign(np.cos(5 * t))]            # a tone, and a switch
    >>> X = sources @ [[1.0, 2.0], [0.5, -1.0]] + 1e8                     # mixed, at an offset
    >>> ica = ritz.ICA(2).fit(X)
    >>> np.abs(np.corrcoef(ica.transform(X).T, sources.T)[:2, 2:]).max(axis=0).round(3)
    array([1., 1.])
    """

    about: ClassVar[About] = About(
        "Independent component analysis",
        "ica",
        "IC",
        component="source",
        cites=("[Com94]", "[Hyv99]", "[AGC18]"),
        behind="the whitening",
        paper="A. Hyvärinen and E. Oja, Independent component analysis: algorithms and applications, Neural Networks "
        "13 (2000), 411–430.",
    )
    fitted: ClassVar[type[Sources]] = Sources
    _records: ClassVar[type[SparseRecord]] = SparseRecord
    _record: SparseRecord

    def __init__(
        self, n_components: Any = None, *, method: str = "auto", fun: str = "logcosh", scale: bool = False,
        n_init: int | None = None, max_iter: int = 1000, solver: str = "auto", tol: float = 1e-7, random_state: Any = 0,
        memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.method, self.fun, self.scale = n_components, method, fun, scale
        self.n_init, self.max_iter, self.solver, self.tol = n_init, max_iter, solver, tol
        self.random_state, self.memory, self.device, self.progress = random_state, memory, device, progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            What stays outside memory is read twice: whitened, and placed. Where memory does not hold the whitened rows
            either, the rotation looks at every m-th of them, and the certificate says so.
        y : ignored
        sample_weight : (n,) of 0 and one other number, or None
            Which rows take part.
        """
        return self._fit(X, y, sample_weight)

    def pose(self, rows: Any, weights: Any) -> Posed:
        """The whitening."""
        if rows.shape[0] < 2:
            raise InputError("ICA needs at least 2 rows to have a variance", received=f"n_samples={rows.shape[0]}",
                             hint="pass more rows")  # fmt: skip
        part = _taking_part(weights)
        require_squares(rows)
        white = self._whitening()
        white.n_features_in_ = int(rows.shape[1])
        white._record = white._records()
        posed = white._posed(rows, part)
        return Posed(rows=rows, weights=part, shape=posed.shape, wanted=posed.wanted, kept=(white, posed))

    def _whitening(self) -> PCA:
        return PCA(
            self.n_components, scale=self.scale, solver=self.solver, tol=min(self.tol, 1e-6), memory=self.memory,
            random_state=self.random_state, device=self.device, mergeable=False,
        )  # fmt: skip

    def _plan(self, posed: Posed) -> Plan:
        white, inner = posed.kept
        plan: Plan = white._plan(inner)
        return plan

    def _solved(self, posed: Posed, plan: Plan) -> Separated:
        white, inner = posed.kept
        with using(self.progress, type(self).__name__):
            white.read(white._solved(inner, plan), inner)
            return self._separated(white, posed.rows, posed.weights)

    def _separated(self, white: PCA, rows: Any, part: Floats | None) -> Separated:
        values = np.square(np.asarray(white.singular_values_, np.float64)) / divisor_held(white)
        there = with_variance(values, np.asarray(white.components_, np.float64), np.dtype(np.float64))
        k = int(np.count_nonzero(there))
        if k == 0:
            raise InputError("ICA needs rows that vary", received="rows that are all alike", hint="pass other columns")
        Z = self._whitened(white, rows, part, values[:k])
        chosen = self._chosen(k)
        tried = []
        count = int(self.n_init or (10 if Z.size <= FEW else 1))
        begun = starts(k, count, seed_of(self.random_state))
        for W, count, by in rotations(Z, chosen, self.fun, begun, int(self.max_iter), float(self.tol)):
            S = Z @ W.T
            tried.append((contrast(S, self.fun), W, count, by, S))
        contrasts, W, count, by, S = max(tried, key=lambda one: float(one[0].sum()))
        off = jade_gradient(S) if chosen == "jade" else gradient(S, self.fun)
        if off > max(self.tol, 1e-12) and chosen != "jade":
            words = f"ICA stopped with a gradient of {off:.1e} (tol={self.tol:g})"
            warn(f"{words}; raise max_iter, or take fewer components: normal sources cannot be told apart",
                 AccuracyWarning)  # fmt: skip
        return Separated(white, W, values[:k], off, contrasts, count, by, len(Z))

    def _chosen(self, k: int) -> str:
        if self.method == "jade" and k > JADE_MOST:
            raise ParameterError(f"JADE takes at most {JADE_MOST} components", received=f"{k}", hint="method='auto'")
        return self.method

    def _every(self, n: int, k: int) -> int:
        """The rotation looks at every so many rows."""
        return max(1, int(np.ceil(5 * 8.0 * n * k / room_for(self))))

    def _whitened(self, white: PCA, rows: Any, part: Floats | None, values: Floats) -> Floats:
        """Rows as white coordinates in float64; every m-th of them where memory does not hold all."""
        n, k = int(rows.shape[0]), len(values)
        every = self._every(n, k)
        parts, seen = [], 0
        for scores in white._map().batches(rows):
            first = -seen % every
            some = np.asarray(scores[first::every, :k], np.float64)
            parts.append(some if part is None else some[part[seen + first : seen + len(scores) : every] > 0])
            seen += len(scores)
        Z = np.concatenate(parts)
        return _white(Z / np.sqrt(values))

    def read(self, solution: Separated, posed: Posed) -> None:
        """Sources by the variance that they bring, each with the sign that its column of the mixing asks for."""
        white, W, k = solution.white, solution.rotation, len(solution.values)
        V = np.asarray(white.components_, np.float64)[:k]
        mixing = V.T * np.sqrt(solution.values) @ W.T
        order = np.argsort(-np.square(mixing).sum(axis=0), kind="stable")
        W, mixing = W[order], mixing[:, order]
        side = signs(mixing)
        W, mixing = W * side[:, None], mixing * side
        dtype = result_dtype(posed.rows.dtype)
        gains, total = np.square(mixing).sum(axis=0), float(white.total_variance_)
        self.components_ = np.ascontiguousarray(W / np.sqrt(solution.values) @ V, dtype)
        self.mixing_ = np.ascontiguousarray(mixing, dtype)
        self.explained_variance_ = gains.astype(dtype)
        self.explained_variance_ratio_ = (gains / total).astype(dtype)
        divisor = divisor_held(white)
        self.singular_values_ = np.sqrt(gains * divisor).astype(dtype)
        self.contrast_ = solution.contrasts[order]
        self.gradient_, self.n_iter_ = solution.gradient, solution.iterations
        self.mean_, self.scale_ = white.mean_, white.scale_
        self.noise_variance_, self.total_variance_ = white.noise_variance_, total
        self.n_components_, self.n_samples_ = k, white.n_samples_
        record = white._record
        keep(
            self, mean64=record.mean64, mean_low=record.mean_low, scale64=record.scale64, weight=record.weight,
            weight_low=record.weight_low, dtype=dtype, loadings=mixing, score_covariance=np.eye(k),
            rest_variance=rest_of(white) / divisor,
        )  # fmt: skip
        some = "" if solution.rows == white.n_samples_ else f", of {solution.rows:,} of the rows"
        what = (
            "largest angle that JADE would still turn by" if solution.method == "jade" else "gradient of the contrast"
        )
        notes = (f"rotation by {solution.method}: {what} {solution.gradient:.1e}{some}; that no rotation is farther "
                 "from normal is not known",)  # fmt: skip
        told = white.certificate_
        self.certificate_, self.plan_ = replace(told, notes=(*told.notes, *notes)), white.plan_

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        _taking_part(sample_weight)
        return self._whitening()._route(X, None, sample_weight)

    # what insight asks

    def _plane(self) -> dict[str, Any]:
        record = self._record
        Q, R = np.linalg.qr(record.loadings)  # z = A s: T² = ‖s‖²
        return {
            "basis": Q.T, "white": np.linalg.inv(R).T, "mean": record.mean64, "scale": record.scale64,
            "low": record.mean_low, "variances": np.ones(len(R)), "rows": record.weight, "divisor": divisor_held(self),
            "centered": True, "rest": record.rest_variance, "chosen": True,
        }  # fmt: skip

    def _map(self) -> ObliqueMap:
        check_is_fitted(self)
        record, names = self._record, getattr(self, "feature_names_in_", None)
        dual = np.ascontiguousarray(record.loadings.T)
        return ObliqueMap(self.components_, record.mean64, record.scale64, None, names, record.mean_low, dual=dual)

    # the checks

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the whitening, that sources are uncorrelated, and the gradient of the contrast from its definition.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).laplace(size=(500, 3))
        >>> model = ritz.ICA(3).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X[::-1] * 1.01))
        (True, False)
        """
        check_is_fitted(self)
        rows, weights = self._rows(X, sample_weight, reset=False)
        checked = self.certificate_.verify(rows, weights)
        S = np.concatenate([np.asarray(part, np.float64) for part in self._map().batches(rows)])
        close = 1e-6 if self._record.dtype == np.float64 else 1e-3
        wrong = []
        spread = np.cov(S.T, ddof=1).reshape(self.n_components_, -1)
        white = float(np.max(np.abs(spread - np.eye(len(spread))), initial=0.0))
        if not white <= close:
            wrong.append(f"sources are correlated, or not of unit variance: off by {white:.1e}")
        pair = float(np.max(np.abs(np.asarray(self.components_, np.float64) @ self.mixing_ - np.eye(len(spread)))))
        if not pair <= close or not np.allclose(self.mixing_, self._record.loadings, rtol=close):
            wrong.append(f"components_ and mixing_ are not inverse to each other: off by {pair:.1e}")
        S = (S - S.mean(axis=0)) * np.sqrt(len(S) / max(len(S) - 1, 1))
        every = self._every(len(S), self.n_components_)
        off = jade_gradient(S) if self.method == "jade" else gradient(S, self.fun)
        slack = close if every > 1 or close > 1e-6 else ROUNDED
        if not (off <= self.gradient_ + slack and (every > 1 or self.gradient_ <= off + slack)):
            wrong.append(f"the gradient of the contrast is {off:.1e}, told {self.gradient_:.1e}")
        if every == 1 and not np.allclose(contrast(S, self.fun), self.contrast_, rtol=close, atol=slack):
            wrong.append("contrast_ does not follow from the sources")
        wrong += self._shares_wrong(close)
        wrong += refound(self, lambda other: other.fit(X, sample_weight=sample_weight), place=("mixing_",),
                         always=("noise_variance_",))  # fmt: skip
        words = (f"sources are white to {white:.1e}, gradient of the contrast {off:.1e}",)
        return replace(checked, ok=bool(checked) and not wrong, words=(*wrong, *checked.words, *words))

    def _shares_wrong(self, close: float) -> list[str]:
        """Numbers that do not follow from the mixing and the whitening, in words."""
        record, c, divisor = self._record, self.certificate_, divisor_held(self)
        gains = np.square(record.loadings).sum(axis=0)
        total = float(c.total) * c.frame.get("shown", 1.0) ** 2 / divisor
        expected = {
            "explained_variance_": gains, "explained_variance_ratio_": gains / total, "total_variance_": total,
            "singular_values_": np.sqrt(gains * divisor), "mean_": record.mean64,
        }  # fmt: skip
        return [
            f"{name} does not follow from the mixing and the rows"
            for name, values in expected.items()
            if getattr(self, name) is not None and not np.allclose(getattr(self, name), values, rtol=close, atol=1e-300)
        ]

    def stability(self, X: Any, runs: int = 20, *, resample: bool = True) -> Steadiness:
        """How steady the sources are over starts, and over rows drawn again (as Icasso does it).

        Parameters
        ----------
        X : what fit took
        runs : int
            Fits, each from another start.
        resample : bool
            Each of rows drawn with replacement.

        Returns
        -------
        Steadiness : ``index`` (k,), 1 where a source is always found; ``found`` and ``similarity``

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rng = np.random.default_rng(0)
        >>> S = np.c_[rng.laplace(size=(800, 2)), rng.standard_normal((800, 2))]   # two of them are normal
        >>> X = S @ rng.standard_normal((4, 4))
        >>> told = ritz.ICA(4, max_iter=100).fit(X).stability(X, runs=10)
        >>> int((told.index > 0.8).sum())
        2
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, None, reset=False)
        S = np.concatenate([np.asarray(part, np.float64) for part in self._map().batches(rows)])
        S = S - S.mean(axis=0)
        k, seed = S.shape[1], seed_of(self.random_state)
        found: list[Floats] = []
        with unsaid():
            for i, start in enumerate(starts(k, runs + 1, [seed, 1])[1:]):
                rng = np.random.default_rng([seed, 2, i])
                part = S[rng.integers(0, len(S), len(S))] if resample else S
                part = part - part.mean(axis=0)
                values, vectors = np.linalg.eigh(part.T @ part / len(part))
                if values[0] <= 1e-10 * values[-1]:
                    continue
                half = vectors / np.sqrt(values) @ vectors.T
                W, _, _ = rotation(part @ half, self._chosen(k), self.fun, start, int(self.max_iter), float(self.tol))
                unmixed = W @ half
                found.append(unmixed / np.linalg.norm(unmixed, axis=1, keepdims=True))
        return clustered(found, np.eye(k))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, allowed in (("method", METHODS), ("fun", tuple(CONTRASTS))):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(map(repr, allowed))}",
                                     received=repr(getattr(self, name)), hint=f"{name}={allowed[0]!r}")  # fmt: skip
        for name in ("n_init", "max_iter"):
            value = getattr(self, name)
            if name == "n_init" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ParameterError(f"{name} must be a whole number from 1 on", received=repr(value))


def _white(Z: Floats) -> Floats:
    """Rows of mean zero and unit covariance, by n: contrasts look at the sample as other programs do."""
    Z = Z - column_sums(Z) / len(Z)  # what rounding has left
    spread = Z.T @ Z / len(Z)
    U, s, _ = np.linalg.svd(spread)
    return np.asarray(Z @ ((U / np.sqrt(s)) @ U.T))


def _taking_part(weights: Any) -> Floats | None:
    """1 for a row that takes part, 0 for others; None: all do."""
    if weights is None:
        return None
    weights = np.asarray(weights)
    if len(set(np.unique(weights).tolist()) - {0.0}) > 1:
        raise ParameterError("weights of ICA say which rows take part", received="weights of several sizes",
                             hint="np.repeat(X, weights, axis=0) repeats rows")  # fmt: skip
    return np.asarray(weights > 0, np.float64)
