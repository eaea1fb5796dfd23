"""Tucker's decomposition by higher-order orthogonal iteration.                                            [DDV00b]

    min ‖X − G ×₁ U₁ … ×_p U_p‖   over orthonormal U_m      U_m ← leading vectors of Y₍ₘ₎,  Y = X ×_{j≠m} U_jᵀ

Begins at the sequentially truncated HOSVD, so that the error is never above its error, and √p times the best at most.
Each step is the spectral problem of a small matrix; how far U_m is from solving it, ‖MU − U(UᵀMU)‖ with M = Y₍ₘ₎Y₍ₘ₎ᵀ,
is the residual of its Ritz pairs: zero in all modes at a stationary point, and what iterations end by.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning
from ritz._core.linalg import signs
from ritz._core.warn import warn
from ritz.methods.fitted.about import About
from ritz.methods.tensors.base import Decomposed, Tensor
from ritz.methods.tensors.parts import times
from ritz.methods.tensors.source import rows_of, taken
from ritz.methods.tensors.steps import by_modes, projected
from ritz.methods.tensors.tucker_form import TuckerForm, rounding_of

__all__ = ["Tucker"]

Floats = NDArray[Any]

#: Sweeps that a plan counts on: 108 tensors of three and four modes, of rank 1 to 3 beside noise from 1 % to ten times
#: as large, took 4 in the median, 2 to 25 of five in six, and the most that ``max_iter`` allows where all was noise.
SWEEPS = 4


class Tucker(TuckerForm):
    """Tucker's decomposition by orthogonal iteration (HOOI): a stationary point at the ranks asked for.

    Parameters
    ----------
    n_components, error
        As for :class:`ritz.HOSVD`; with ``error`` the ranks are those of the HOSVD, and the error becomes smaller.
    max_iter : int
        Sweeps over all modes at most.
    tol : float
        Iterations end when no mode is farther than this from solving its problem, relative to ‖X‖².
    solver, random_state, memory, device, progress
        As for :class:`ritz.HOSVD`.

    Attributes
    ----------
    core_, factors_, ranks_, shape_, relative_error_, compression_, embedding_, singular_values_,
    explained_variance_ratio_, certificate_, plan_, n_components_, n_samples_, n_features_in_
        As for :class:`ritz.HOSVD`; ``certificate_.stationarity`` says how far from a stationary point the factors are.
    n_iter_ : sweeps

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).standard_normal((12, 10, 8))
    >>> begun, model = ritz.HOSVD(3).fit(X), ritz.Tucker(3).fit(X)
    >>> bool(model.relative_error_ < begun.relative_error_), model.certificate_.stationarity < 1e-7
    (True, True)
    """

    about: ClassVar[About] = About(
        "Tucker decomposition",
        "tucker",
        "T",
        whole="sum of squares",
        measure="σ²",
        component="axis",
        cites=("[DDV00b]",),
        paper="L. De Lathauwer, B. De Moor and J. Vandewalle, On the best rank-1 and rank-(R1, …, RN) approximation "
        "of higher-order tensors, SIAM Journal on Matrix Analysis and Applications 21 (2000), 1324–1342.",
    )

    def __init__(
        self, n_components: Any = None, *, error: float | None = None, max_iter: int = 200, solver: str = "auto",
        tol: float = 1e-7, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.error, self.max_iter = n_components, error, max_iter
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def _beside(self, first: float, modes: int) -> tuple[float, tuple[str, ...]]:
        return first + 3 + 2 * SWEEPS, (f"about {SWEEPS} sweeps of two passes follow",)

    def _decomposed(self, tensor: Tensor, options: dict[str, Any]) -> Decomposed:
        X, (ranks, budget) = tensor.array, self._wanted_ranks(tensor)
        core, factors, modes = by_modes(X, ranks, budget, tensor.square, {**options, "tol": min(self.tol, 1e-6)})
        passes, sweeps, off = modes[-1].passes + 1, 0, 0.0
        if tensor.square > 0 and core.size < X.size:
            factors, core, sweeps, off = self._iterated(X, factors, tensor.square, options["room"])
            passes += 2 * sweeps
            if off > self.tol:
                words = f"Tucker stopped after {sweeps} sweeps, {off:.1e} from a stationary point (tol={self.tol:g})"
                warn(f"{words}; raise max_iter", AccuracyWarning)
        return Decomposed(
            {"core": core, "factors": factors}, modes, rounding_of(core.shape), math.sqrt(X.ndim), passes=passes,
            stationarity=off, iterations=sweeps,
        )  # fmt: skip

    def _iterated(self, X: Floats, factors: list[Floats], square: float, room: float) -> tuple[Any, ...]:
        """Sweeps: all modes but the last from X without its last mode, then the last."""
        p, U, off = X.ndim, list(factors), math.inf
        core, sweeps = np.empty(0), 0
        while sweeps < self.max_iter:
            sweeps, off = sweeps + 1, 0.0
            short = projected(rows_of(X, X.shape[-1]), U[-1], room).reshape(*X.shape[:-1], -1)
            for mode in range(p - 1):
                Y = short
                for other in range(p - 1):
                    Y = Y if other == mode else times(Y, U[other].T, other)
                U[mode], gap = _leading(Y, mode, U[mode])
                off = max(off, gap)
            Y = _others(X, U[:-1], room)
            U[-1], gap = _leading(Y, p - 1, U[-1])
            off = max(off, gap) / square
            core = times(Y, U[-1].T, p - 1)
            if off <= self.tol:
                break
        return U, core, sweeps, off


def _leading(Y: Floats, mode: int, U: Floats) -> tuple[Floats, float]:
    """Leading left vectors of the unfolding of Y, and the residual of those that stood there."""
    A = np.moveaxis(Y, mode, 0).reshape(Y.shape[mode], -1)
    B = U.T @ A
    residual = float(np.linalg.norm(A @ B.T - U @ (B @ B.T)))
    if A.shape[1] > 2 * len(A):  # the same left vectors from a triangle: nothing is squared
        A = np.asarray(np.linalg.qr(A.T, mode="r")).T
    left = np.linalg.svd(A, full_matrices=False)[0][:, : U.shape[1]]
    return left * signs(left), residual


def _others(X: Floats, U: list[Floats], room: float) -> Floats:
    """X ×₁ U₁ᵀ … ×_{p−1} U_{p−1}ᵀ, by slices of the first mode."""
    out: Any = 0.0
    step = max(1, int(min(1 << 22, room / 64) / max(1, math.prod(X.shape[1:]))))
    for start in range(0, len(X), step):
        index = (slice(start, min(start + step, len(X))), *(slice(None),) * (X.ndim - 1))
        Y = times(taken(X, index), U[0][start : start + step].T, 0)
        for mode in range(1, len(U)):
            Y = times(Y, U[mode].T, mode)
        out = out + Y
    return np.asarray(out)
