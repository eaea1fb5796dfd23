"""Kernel principal component analysis.

    M = J K J   (n×n),   K = [k(xᵢ, xⱼ)],  J = I − 11ᵀ/n,     M U = U Λ,
    f(x) = Λ^-½ Uᵀ (k_x − K1/n)   (k),      on the training rows U Λ^½

φ(x) is centred by the training mean, so ``transform`` of the training rows equals ``fit_transform``. Where φ is known
(few explicit features, or Nyström's), M = (JΦ)(JΦ)ᵀ and the problem is that of PCA on Φ [Schölkopf 1998].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from ritz._core.bases import check_is_fitted
from ritz._core.device import on_device, tensor_of
from ritz._core.errors import AccuracyWarning, ParameterError
from ritz._core.imports import module_of
from ritz._core.linalg import HOST, Place, to_numpy
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.warn import warn
from ritz.data.validate import room_for
from ritz.kernels.resolve import resolve as resolve_kernel
from ritz.kernels.rows import is_sparse
from ritz.kernels.vectors import Linear
from ritz.methods.coordinates import checked_coordinates
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.kernel import InFeatureSpace
from ritz.methods.kernel_pca.adding import AddsKernelRows
from ritz.methods.kernel_pca.gamma import fixed
from ritz.methods.kernel_pca.gaps import MISSING, filled_by, learn_gaps
from ritz.methods.kernel_pca.input import check_symmetry, fit_rows, len_of, new_rows
from ritz.methods.kernel_pca.rank import KERNEL_RULES
from ritz.methods.kernel_pca.routes import solve_kernel
from ritz.methods.kernel_pca.sign import check_negative
from ritz.methods.kernel_pca.solved import Solved, cast_to
from ritz.methods.kernel_pca.trust import require_representable
from ritz.methods.linear_record import KernelRecord
from ritz.methods.method import Method
from ritz.methods.posed import Posed
from ritz.project.kernel import KernelMap
from ritz.project.linear import result_dtype
from ritz.project.preimage.preimage import (
    Known,
    NearRows,
    Preimages,
    choose_method,
    fit_ridge,
    known_rows,
    neighbours,
    preimages,
)
from ritz.spectral.constants import KERNEL_DENSE

if TYPE_CHECKING:
    from ritz.spectral.plan import Plan
    from ritz.spectral.verify import Verification

__all__ = ["KernelPCA"]

SOLVERS = ("auto", "svd", "krylov", "lanczos", "power", "nystrom", "moments", "chebyshev", "sketch")


class InverseNotFitted(ParameterError, NotFittedError):
    """``fit_inverse_transform=False``: what pre-images need was not kept. scikit-learn raises NotFittedError here."""


class KernelPCA(AddsKernelRows, Method):
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
        Penalty of the ridge pre-image, which a number also makes the default; None: chosen by leave-one-out.
    fit_inverse_transform : bool
        Keep what pre-images need.
    remove_zero_eig : bool
        Drop components without variance.
    negative : "clip", "flip", "krein" or "error"
        What becomes of negative eigenvalues of an indefinite kernel.
    missing : "error", "mean", "em" or "regularized"
        Missing values of vectors: refuse them, or fill them by a PCA of the rows, as :class:`ritz.PCA` does.
    solver : str
        ``"auto"``, ``"svd"`` (dense), or one of ``krylov lanczos chebyshev power moments``; ``"nystrom"``, which goes
        by landmarks; ``"sketch"`` for kernels with explicit features.
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
    total_variance_, total_variance_error_ : what shares are shares of, and its standard error where it is estimated
    negative_share_ : Σ|λ⁻|/Σ|λ|
    gamma_ : the kernel's γ, where it has one
    kernel_ : the kernel with a number for every parameter
    X_fit_ : training rows, or landmarks
    n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.c_[np.cos(angle), np.sin(angle)]
    >>> X = np.vstack([ring, 3 * ring])           # a ring inside a ring
    >>> inside, outside = np.split(ritz.PCA(1).fit_transform(X)[:, 0], 2)
    >>> bool(inside.max() < outside.min())        # no line separates them
    False
    >>> kpca = ritz.KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    >>> inside, outside = np.split(kpca.transform(X)[:, 0], 2)
    >>> bool(inside.min() > outside.max() or inside.max() < outside.min())
    True
    """

    about: ClassVar[About] = About(
        "Kernel principal component analysis",
        "kpca",
        "PC",
        takes="objects",
        measure="eigenvalue",
        cites=("[SSM98]",),
        paper="B. Schölkopf, A. Smola and K.-R. Müller, Nonlinear component analysis as a kernel eigenvalue "
        "problem, Neural Computation 10 (1998), 1299–1319.",
    )
    fitted: ClassVar[type[Fitted]] = InFeatureSpace
    _records: ClassVar[type[KernelRecord]] = KernelRecord
    _rows_by_rows: ClassVar[bool] = True
    _record: KernelRecord
    _rules: ClassVar[tuple[str, ...]] = KERNEL_RULES
    _told = ("eigenvalues_", "eigenvectors_", "explained_variance_ratio_", "gamma_", "X_fit_")

    def __init__(
        self, n_components: Any = None, *, kernel: Any = "linear", gamma: Any = None, degree: int = 3,
        coef0: float = 1.0, kernel_params: Any = None, alpha: float | None = None, fit_inverse_transform: bool = True,
        remove_zero_eig: bool = False, negative: str = "clip", missing: str = "error", solver: str = "auto",
        tol: float = 1e-6,
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
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.landmarks = landmarks
        self.sampling = sampling
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> KernelPCA:  # type: ignore[override]  # rows have no weights
        """Fit to rows.

        Parameters
        ----------
        X : array-like or sparse (n, d); a kernel matrix (n, n) for ``kernel="precomputed"``; a list of n objects
        y : labels, used by ``gamma="alignment"`` only
        """
        return self._fit(X, y)

    def _adopt(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        self._record = KernelRecord()
        kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        if self.missing != "error" and kernel.takes == "vectors":
            X = learn_gaps(self, X)
        there = tensor_of(X).detach() if on_device(X) else None
        place = HOST if there is None and self.device == "cpu" else self._device().given_place(self, X)
        if there is None:
            return fit_rows(self, X, kernel), kernel, y, place, None
        rows, lying = self._device().host_rows(self, there, kernel)
        return rows, kernel, y, place, lying

    def pose(self, rows: Any, kernel: Any, y: Any = None, place: Place = HOST, there: Any = None) -> Posed:
        """Rows, and the kernel with a number for every parameter; the route poses the problem."""
        kernel = fixed(self, kernel, rows, y)
        check_symmetry(kernel, rows)
        return Posed(rows=rows, kept=(kernel, place, there))

    @staticmethod
    def _device() -> Any:
        """What devices need, loaded where one is asked for."""
        return module_of("ritz.methods.kernel_pca.device")

    def _plan(self, posed: Posed) -> None:
        """A route by features, by landmarks or by products plans a problem of its own."""

    def _solved(self, posed: Posed, plan: None) -> Solved:
        kernel, place, there = posed.kept
        few = kernel.takes == "vectors" and len_of(posed.rows) <= KERNEL_DENSE
        if few and place is HOST and self.progress is None:
            return solve_kernel(self, kernel, posed.rows, room_for(self))  # done before a bar would show
        with using(self.progress, type(self).__name__):
            if place is not HOST:
                return self._device().solve_somewhere(self, kernel, posed.rows, place, there, room_for(self))
            return solve_kernel(self, kernel, posed.rows, room_for(self))

    def read(self, solution: Solved, posed: Posed) -> None:
        """Eigenvalues, shares, and the map that places rows."""
        solved = solution
        spectrum, dtype = solved.spectrum, result_dtype(solved.dtype)
        values = spectrum.values
        keep = values != 0 if self.remove_zero_eig or self.n_components is None else np.ones(len(values), bool)
        solved = solved.kept(keep)
        self.kernel_, self.gamma_ = solved.kernel, getattr(solved.kernel, "gamma", None)
        self.eigenvalues_ = require_representable(solved.spectrum.values, dtype)
        if solved.vectors is not None:
            self.eigenvectors_ = cast_to(solved.vectors, dtype)
        total = solved.total
        ratio = np.abs(solved.spectrum.values) / total if total > 0 else np.zeros(int(keep.sum()))
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.total_variance_, self.negative_share_ = total, solved.negative_share
        self.total_variance_error_ = solved.total_error
        self.X_fit_ = solved.kept_rows
        self.n_components_, self.n_samples_ = int(keep.sum()), solved.n
        self.certificate_, self.plan_ = solved.spectrum.certificate, solved.spectrum.plan
        if solved.vectors is None and "eigenvectors_" in vars(self):
            del self.eigenvectors_
        self._record.solved_map, self._record.dtype = solved.coordinates, dtype
        self._record.signature = np.sign(solved.spectrum.values)

    # coordinates

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of rows, (n, k); a kernel matrix with the training rows for ``kernel="precomputed"``."""
        check_is_fitted(self)
        if self._record.filler is not None:
            X = filled_by(self, X)
        if on_device(X) or self.device != "cpu":
            return self._device().placed_rows(self, X)
        return self._record.solved_map.forward(new_rows(self, X))

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:  # type: ignore[override]
        """Fit and return the coordinates of the rows."""
        self.fit(X, y)
        if not hasattr(self, "eigenvectors_") or on_device(X):
            return self.transform(X)
        return np.asarray(self.eigenvectors_ * np.sqrt(np.abs(self.eigenvalues_)), self._record.dtype)

    # back to rows

    def inverse_transform(self, X: Any, method: str = "auto") -> np.ndarray:
        """Rows whose coordinates come near the given ones, (n, d): pre-images.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.
        method : "auto", "ridge", "fixed-point" or "mds"
            Kernel ridge regression from scores to rows; Mika's fixed point; distances to neighbours. The linear kernel
            is inverted exactly. "auto": the fixed point for an RBF kernel of dense rows, which takes most noise off;
            ridge for other kernels, and where ``alpha`` is given. Ridge comes nearest to rows without noise.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        >>> ring = np.c_[np.cos(angle), np.sin(angle)]
        >>> noisy = ring + 0.15 * np.random.default_rng(0).standard_normal(ring.shape)
        >>> kpca = ritz.KernelPCA(4, kernel="rbf", gamma=0.5).fit(noisy)
        >>> clean = kpca.inverse_transform(kpca.transform(noisy), method="fixed-point")
        >>> for X in (noisy, clean):                  # how far the rows lie from the ring, before and after
        ...     print(np.abs(np.linalg.norm(X, axis=1) - 1).mean().round(2))
        0.12
        0.05
        """
        images = self._images(X, method, errors=False)
        if images.guessed is not None and len(images.guessed):
            warn(
                f"{len(images.guessed)} of {len(images.rows)} points lie far from the scores of all fitted rows: their "
                "pre-images are means of the nearest rows; preimages(X).error says how far these are apart.",
                AccuracyWarning,
            )
        return np.asarray(images.rows, self._record.dtype)

    def preimages(self, X: Any, method: str = "auto") -> Preimages:
        """Pre-images with an error estimate for each, and how they were found; parameters as ``inverse_transform``.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        >>> ring = np.c_[np.cos(angle), np.sin(angle)]
        >>> kpca = ritz.KernelPCA(4, kernel="rbf", gamma=0.5).fit(ring)
        >>> found = kpca.preimages(kpca.transform([[1.2, 0], [0, -1.1]]), method="fixed-point")
        >>> found.rows.round(1) + 0                   # back on the ring
        array([[ 1.,  0.],
               [ 0., -1.]])
        >>> found.method
        'fixed-point'
        """
        return self._images(X, method)

    def _images(self, X: Any, method: str, *, errors: bool = True) -> Preimages:
        T, fitted = self._coordinates(X), self._known()
        ridge, linear = None, isinstance(self.kernel_, Linear)
        if method == "auto" and self.alpha is not None and not linear:
            method = "ridge"  # whose penalty somebody has chosen
        auto = choose_method(self.kernel_, is_sparse(fitted.rows), vectors=True).method == "ridge"
        if method == "ridge" or (method == "auto" and auto):
            ridge = None if linear else self._ridge()
        return preimages(fitted, T, method, ridge=ridge, errors=errors)

    def neighbours(self, X: Any, count: int = 10) -> NearRows:
        """Training rows nearest to points of the feature space, and their weights: pre-images of strings and others.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.
        count : int
            How many rows to name.

        Examples
        --------
        >>> import ritz
        >>> words = ["anna", "hannah", "joanna", "peter", "petra", "pete", "marianne", "anne"]
        >>> kpca = ritz.KernelPCA(3, kernel=ritz.kernels.Spectrum(2)).fit(words)
        >>> near = kpca.neighbours(kpca.transform(["annabel"]), count=3)
        >>> sorted(words[i] for i in near.index[0])
        ['anna', 'hannah', 'joanna']
        """
        return neighbours(self._known(), self._coordinates(X), count, weights=True)

    def _coordinates(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return to_numpy(checked_coordinates(X, self._n_features_out)).astype(np.float64, copy=False)

    def _known(self) -> Known:
        """What pre-images know of the training rows."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise InverseNotFitted(
                "inverse_transform needs what fit_inverse_transform=True keeps",
                received="fit_inverse_transform=False",
                hint="KernelPCA(fit_inverse_transform=True)",
            )
        if self._record.preimage is None:
            coordinates = self._record.solved_map
            scores = None
            if hasattr(self, "eigenvectors_"):
                scores = np.asarray(self.eigenvectors_, np.float64) * np.sqrt(np.abs(self.eigenvalues_))
            rows = None if isinstance(coordinates, KernelMap) else self.X_fit_
            self._record.preimage = known_rows(coordinates, rows, scores=scores)
        return self._record.preimage

    def _ridge(self) -> Any:
        if self._record.score_ridge is None:
            fitted = self._known()
            self._record.score_ridge = fit_ridge(
                fitted.scores, fitted.rows, alpha=self.alpha, seed=seed_of(self.random_state)
            )
        return self._record.score_ridge

    # scores

    def novelty(self, X: Any) -> np.ndarray:
        """Hoffmann's reconstruction error ‖φ(x) − Pφ(x)‖² of each row: larger is stranger.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        >>> ring = np.c_[np.cos(angle), np.sin(angle)]
        >>> kpca = ritz.KernelPCA(8, kernel="rbf", gamma=1.0).fit(ring)
        >>> kpca.novelty([[1, 0], [0.7, 0.7], [0, 0]]).round(2)  # the centre of a ring is not part of it
        array([0.  , 0.  , 0.57])
        """
        check_is_fitted(self)
        return self._record.solved_map.reconstruction_error(new_rows(self, X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the reconstruction error: higher is more normal, as in scikit-learn.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((100, 2))
        >>> kpca = ritz.KernelPCA(5, kernel="rbf", gamma=0.5).fit(X)
        >>> inside, outside = kpca.score_samples([[0.1, -0.2], [3, 3]])
        >>> bool(inside > outside)                    # as every outlier detector of scikit-learn
        True
        """
        return -self.novelty(X)

    def potential(self, X: Any) -> np.ndarray:
        """The spherical potential ‖φ(x) − mean‖² of each row.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((200, 2))
        >>> kpca = ritz.KernelPCA(4, kernel="rbf", gamma=0.5).fit(X)
        >>> near, far = kpca.potential([[0, 0], [4, 4]])
        >>> bool(near < far)                          # a Parzen density, turned round
        True
        """
        check_is_fitted(self)
        return self._record.solved_map.potential(new_rows(self, X))

    def activation(self, X: Any) -> np.ndarray:
        """F(x) = Σ|fᵢ(x)|, the lectures' activation.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((200, 2))
        >>> kpca = ritz.KernelPCA(4, kernel="rbf", gamma=0.5).fit(X)
        >>> bool(np.allclose(kpca.activation(X), np.abs(kpca.transform(X)).sum(axis=1)))
        True
        """
        check_is_fitted(self)
        return self._record.solved_map.activation(new_rows(self, X))

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check every number that the model stores against the rows of the fit, by a kernel matrix formed anew.

        Eigenpairs, enclosures, angles, shares and the coordinates of the rows; up to 5,000 rows.

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> kpca = ritz.KernelPCA(3, kernel="rbf", gamma=0.2).fit(X)
        >>> bool(kpca.verify(X))
        True
        >>> bool(kpca.verify(X[::-1]))                # the coordinates are those of other rows
        False
        """
        check_is_fitted(self)
        from ritz.methods.kernel_pca.verify import verify_kernel

        return verify_kernel(self, filled_by(self, X) if self._record.filler is not None else X, X)

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        from ritz.methods.kernel_pca.plan import kernel_plan

        return kernel_plan(self, X)

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
        super()._check_parameters()
        if self.solver not in SOLVERS:
            words = f"solver must be one of {', '.join(SOLVERS)}"
            raise ParameterError(words, received=repr(self.solver), hint="solver='auto' chooses")
        if self.missing not in MISSING:
            raise ParameterError(f"missing must be one of {', '.join(map(repr, MISSING))}",
                                 received=repr(self.missing), hint="missing='regularized'")  # fmt: skip
        check_negative(self.negative)
