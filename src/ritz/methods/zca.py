"""ZCA whitening: rows without correlations that stay as near to the original columns as they can.

    W = V (Λ + εI)^-½ Vᵀ  (d×d),      y = (x − μ) D_σ⁻¹ W,      cov y = I on the span of V,  W = Wᵀ             [KLS18]

Of all linear maps that give unit covariance this one minimises E‖y − (x − μ)D_σ⁻¹‖², so that whitened pixels still are
a picture. V and Λ come from a PCA with its certificate; an enclosure [λ⁻, λ⁺] bounds the error of each factor λ^-½ by
½(λ⁺ − λ⁻)/λ⁻ of itself, and directions whose variance may be nothing but rounding are left out, and counted.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import AccuracyWarning, ParameterError
from ritz._core.linalg import to_numpy, working_dtype
from ritz._core.warn import unsaid, warn
from ritz.data.words import counted
from ritz.methods.calls import public
from ritz.methods.coordinates import checked_coordinates
from ritz.methods.pca import PCA
from ritz.methods.unfitted import KnowsOtherNames
from ritz.methods.verify.certificates import copied

__all__ = ["ZCA"]

Floats = NDArray[np.float64]

#: Relative error of a whitening factor from which a direction counts as rounding.
UNSURE = 0.5
#: Relative error of the largest factor from which it is told.
TOLD = 1e-3

OTHER = "certificate_ is not that of the PCA behind it"


class ZCA(KnowsOtherNames, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Whitening that keeps the columns: zero-phase component analysis.

    Parameters
    ----------
    n_components : None, int, float or str
        Components that are whitened, as for :class:`ritz.PCA`; the others are left out of the result.
    scale : bool
        Divide columns by their standard deviations first (ZCA-cor): the map then rests on correlations.
    ridge : float
        Added to every variance before the root, as a share of the mean variance: it keeps faint directions faint.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    whitening_ : (d, d) W, symmetric
    coloring_ : (d, d) its pseudo-inverse, which takes whitened rows back
    rank_ : directions that were whitened
    factor_errors_ : (rank,) bounds on the relative errors of the factors λ^-½, from the enclosures of the variances
    pca_ : the PCA behind it, with ``certificate_`` and ``plan_``
    mean_, scale_, certificate_, plan_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> zca = ritz.ZCA(scale=True).fit(X)
    >>> Y = zca.transform(X)
    >>> np.abs(np.cov(Y.T) - np.eye(4)).max() < 1e-10
    np.True_
    >>> [float(np.corrcoef(X[:, j], Y[:, j])[0, 1].round(2)) for j in range(4)]  # each column is still itself
    [0.81, 0.96, 0.68, 0.74]
    """

    def __init__(
        self, n_components: Any = None, *, scale: bool = False, ridge: float = 0.0, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.scale, self.ridge = n_components, scale, ridge
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows, as :meth:`ritz.PCA.fit`.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
        y : ignored
        sample_weight : (n,) frequencies, or None
        """
        return self._whitened(self._pca().fit(X, sample_weight=sample_weight))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, as :meth:`ritz.PCA.partial_fit`."""
        pca = self.pca_ if hasattr(self, "pca_") else self._pca()
        return self._whitened(pca.partial_fit(X, sample_weight=sample_weight))

    def _check_parameters(self) -> None:
        self._pca()._check_parameters()

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return self._pca()._route(X, None, sample_weight)

    def _pca(self) -> PCA:
        if not isinstance(self.ridge, numbers.Real) or isinstance(self.ridge, bool) or not 0 <= self.ridge < np.inf:
            raise ParameterError("ridge must be a number ≥ 0", received=repr(self.ridge), hint="ridge=0.1")
        names = ("n_components", "scale", "solver", "tol", "random_state", "memory", "device", "progress")
        return PCA(**{name: getattr(self, name) for name in names})

    def _whitened(self, pca: PCA) -> Self:
        certificate = pca.certificate_  # read first: it solves a pending state
        k = len(pca.components_)
        low, high = np.asarray(certificate.lower, np.float64)[:k], np.asarray(certificate.upper, np.float64)[:k]
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.where(low > 0, 0.5 * (high - low) / low, np.inf)
        sure = error < UNSURE
        V, variance = np.asarray(pca.components_, np.float64)[sure], np.asarray(pca.explained_variance_, np.float64)
        root = np.sqrt(variance[sure] + self.ridge * pca.total_variance_ / pca.n_features_in_)
        self.pca_, self.rank_, self.factor_errors_ = pca, int(sure.sum()), error[sure]
        self.whitening_, self.coloring_ = (V.T / root) @ V, (V.T * root) @ V
        for name in ("mean_", "scale_", "certificate_", "plan_", "n_samples_", "n_features_in_", "feature_names_in_"):
            if hasattr(pca, name):
                setattr(self, name, getattr(pca, name))
        self._factors = V.T / root
        self._tell(k)
        return self

    def _tell(self, k: int) -> None:
        if self.rank_ < k and self.n_components is not None:
            warn(f"{counted(k - self.rank_, 'component')} of {k} may have no variance at all: left out of it",
                 AccuracyWarning)  # fmt: skip
        worst = float(np.max(self.factor_errors_, initial=0.0))
        if worst > TOLD and not self.ridge:
            warn(f"the faintest direction is whitened by a factor sure to {worst:.1g} only; ridge=0.01 or fewer "
                 "components keep it from being noise", AccuracyWarning)  # fmt: skip

    def transform(self, X: Any) -> Any:
        """Whitened rows, (n, d).

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
        """
        check_is_fitted(self)
        T = np.asarray(self.pca_.transform(X))
        V = np.asarray(self.pca_.components_, np.float64)
        kept = (V @ self._factors).T  # picks the directions that were whitened, and divides
        return np.asarray(T @ kept.T @ self._basis(), T.dtype)

    def _basis(self) -> Floats:
        """(rank, d) the directions that were whitened."""
        return np.asarray(self._factors.T / np.linalg.norm(self._factors, axis=0)[:, None])

    def inverse_transform(self, X: Any) -> Any:
        """Rows from whitened rows, (n, d); what lies off the whitened directions is the mean."""
        check_is_fitted(self)
        given = to_numpy(checked_coordinates(X, self.n_features_in_, what="whitened rows of {k} columns"))
        rows = given.astype(np.float64) @ self.coloring_
        rows = rows if self.scale_ is None else rows * np.asarray(self.scale_, np.float64)
        return np.asarray(rows + np.asarray(self.mean_, np.float64), working_dtype(given.dtype))

    def verify(self, X: Any, sample_weight: Any = None) -> Any:
        """Check the certificate of the PCA behind it against the rows of the fit, and that all else follows from it."""
        check_is_fitted(self)
        checked = self.pca_.verify(X, sample_weight)
        wrong = self._differing()
        return replace(checked, ok=False, words=(*wrong, *checked.words)) if wrong else checked

    def _differing(self) -> list[str]:
        """Numbers that are not those of the PCA behind it, in words."""
        with unsaid(AccuracyWarning):
            anew = type(self)(**self.get_params(deep=False))._whitened(self.pca_)
        names = ("rank_", "factor_errors_", "whitening_", "coloring_", "mean_", "scale_", "n_samples_",
                 "n_features_in_", "_factors")  # fmt: skip
        pairs = [(name, getattr(self, name, None), getattr(anew, name, None)) for name in names]
        wrong = [f"{name} is not what the PCA behind it says" for name, a, b in pairs if not _same(a, b)]
        return wrong if copied(self.certificate_, anew.certificate_) else [*wrong, OTHER]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _same(a: Any, b: Any) -> bool:
    """Whether two numbers, arrays or texts are the same up to rounding."""
    if a is None or b is None or np.asarray(b).dtype.kind not in "fiub":
        return str(a) == str(b)
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape:
        return False
    with np.errstate(invalid="ignore"):
        near = 1e-9 * float(np.max(np.abs(y[np.isfinite(y)]), initial=0.0))
        return bool(np.all((np.abs(x - y) <= near) | (x == y) | (np.isnan(x) & np.isnan(y))))


public(ZCA)
