"""Kernel principal component analysis.

    M = J K J   (n×n),   K = [k(xᵢ, xⱼ)],  J = I − 11ᵀ/n,     M U = U Λ,
    f(x) = Λ^-½ Uᵀ (k_x − K1/n)   (k),      on the training rows U Λ^½

φ(x) is centred by the training mean, so ``transform`` of the training rows equals ``fit_transform``. Where φ is known
(few explicit features, or Nyström's), M = (JΦ)(JΦ)ᵀ and the problem is that of PCA on Φ [Schölkopf 1998].
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz._core import memory as memory_limit
from ritz._core.errors import ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz.kernels.resolve import resolve as resolve_kernel
from ritz.methods.kernel_input import fit_rows, new_rows
from ritz.methods.kernel_routes import Solved, solve_kernel
from ritz.methods.kernel_sign import check_negative
from ritz.project.linear import result_dtype

__all__ = ["KernelPCA"]

SOLVERS = ("auto", "svd", "krylov", "lanczos", "power", "nystrom", "moments", "chebyshev", "sketch")


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components in the feature space of a kernel, with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All with a positive eigenvalue, a number, a fraction of the variance in (0, 1), or a rule.
    kernel : str, ritz.kernels object or callable
        ``linear poly rbf sigmoid laplacian cosine matern precomputed``, an object of ``ritz.kernels``, or a function
        of two rows (of any kind).
    gamma, degree, coef0, kernel_params
        Parameters of a kernel given by name; ``gamma`` also ``"scale"``, ``"median"``, ``"entropy"``, ``"alignment"``
        or ``"cv"``; None is 1/d.
    alpha : float or None
        Penalty of the ridge pre-image; None: chosen by leave-one-out.
    fit_inverse_transform : bool
        Keep what pre-images need.
    remove_zero_eig : bool
        Drop components without variance.
    negative : "clip", "flip", "krein" or "error"
        What becomes of negative eigenvalues of an indefinite kernel.
    solver : str
        ``"auto"``, ``"svd"`` (dense), ``"krylov"``, ``"lanczos"``, ``"power"``, or ``"nystrom"``.
    landmarks : int or array
        For Nyström: how many, or the rows themselves.
    sampling : "rpcholesky", "uniform" or "kmeans"
        How landmarks are chosen.
    tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    eigenvalues_ : (k,) of the centred kernel matrix, decreasing (by magnitude with ``flip`` and ``krein``)
    eigenvectors_ : (n, k) unit vectors; not kept by a Nyström model
    explained_variance_ratio_ : (k,) shares of the exact trace; of Σ|λ| for an indefinite kernel
    negative_share_ : Σ|λ⁻|/Σ|λ|
    gamma_ : the kernel's γ, where it has one
    kernel_ : the kernel with a number for every parameter
    X_fit_ : training rows, or landmarks
    n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_
    """

    def __init__(
        self, n_components: Any = None, *, kernel: Any = "linear", gamma: Any = None, degree: int = 3,
        coef0: float = 1.0, kernel_params: Any = None, alpha: float | None = None, fit_inverse_transform: bool = True,
        remove_zero_eig: bool = False, negative: str = "clip", solver: str = "auto", tol: float = 1e-6,
        landmarks: Any = 1000, sampling: str = "rpcholesky", random_state: Any = 0, memory: Any = None,
        device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.remove_zero_eig = remove_zero_eig
        self.negative = negative
        self.solver = solver
        self.tol = tol
        self.landmarks = landmarks
        self.sampling = sampling
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Fit to rows.

        Parameters
        ----------
        X : array-like or sparse (n, d); a kernel matrix (n, n) for ``kernel="precomputed"``; a list of n objects
        y : labels, used by ``gamma="alignment"`` only
        """
        self._check_parameters()
        kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        rows = fit_rows(self, X, kernel)
        kernel = kernel.fix(rows, y=y, seed=seed_of(self.random_state))
        with using(self.progress, type(self).__name__):
            solved = solve_kernel(self, kernel, rows, memory_limit.limit(self.memory))
        self._name(solved, rows)
        return self

    def _name(self, solved: Solved, rows: Any) -> None:
        """Name the results."""
        spectrum, dtype = solved.spectrum, result_dtype(solved.dtype)
        values = spectrum.values
        keep = values != 0 if self.remove_zero_eig or self.n_components is None else np.ones(len(values), bool)
        solved = solved.kept(keep)
        self.kernel_, self.gamma_ = solved.kernel, getattr(solved.kernel, "gamma", None)
        self.eigenvalues_ = solved.spectrum.values.astype(dtype)
        if solved.vectors is not None:
            self.eigenvectors_ = solved.vectors.astype(dtype)
        total = solved.total
        ratio = np.abs(solved.spectrum.values) / total if total > 0 else np.zeros(int(keep.sum()))
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.total_variance_, self.negative_share_ = total, solved.negative_share
        self.X_fit_ = solved.kept_rows
        self.n_components_, self.n_samples_ = int(keep.sum()), solved.n
        self.certificate_, self.plan_ = solved.spectrum.certificate, solved.spectrum.plan
        self.__dict__.update(_solved_map=solved.coordinates, _dtype=dtype, _signature=np.sign(solved.spectrum.values))

    # coordinates

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of rows, (n, k); a kernel matrix with the training rows for ``kernel="precomputed"``."""
        check_is_fitted(self)
        return self.__dict__["_solved_map"].forward(new_rows(self, X))

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the coordinates of the rows."""
        self.fit(X, y)
        if "eigenvectors_" not in self.__dict__:
            return self.transform(X)
        return np.asarray(self.eigenvectors_ * np.sqrt(np.abs(self.eigenvalues_)), self.__dict__["_dtype"])

    # scores

    def novelty(self, X: Any) -> np.ndarray:
        """Hoffmann's reconstruction error ‖φ(x) − Pφ(x)‖² of each row: larger is stranger."""
        check_is_fitted(self)
        return self.__dict__["_solved_map"].reconstruction_error(new_rows(self, X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the reconstruction error: higher is more normal, as in scikit-learn."""
        return -self.novelty(X)

    def potential(self, X: Any) -> np.ndarray:
        """The spherical potential ‖φ(x) − mean‖² of each row."""
        check_is_fitted(self)
        return self.__dict__["_solved_map"].potential(new_rows(self, X))

    def activation(self, X: Any) -> np.ndarray:
        """F(x) = Σ|fᵢ(x)|, the lectures' activation."""
        check_is_fitted(self)
        return self.__dict__["_solved_map"].activation(new_rows(self, X))

    # conventions

    @property
    def _n_features_out(self) -> int:
        return int(self.eigenvalues_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> None:
        if self.device != "cpu":
            raise ParameterError("device must be 'cpu': no other is supported yet", received=repr(self.device))
        if not isinstance(self.tol, numbers.Real) or isinstance(self.tol, bool) or not 0 <= self.tol < 1:
            raise ParameterError("tol must be a number in [0, 1)", received=repr(self.tol), hint="tol=1e-6")
        if self.solver not in SOLVERS:
            raise ParameterError(f"solver must be one of {', '.join(SOLVERS)}", received=repr(self.solver))
        check_negative(self.negative)
