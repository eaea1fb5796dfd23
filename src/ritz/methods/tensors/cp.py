"""The canonical polyadic decomposition.                                                       [CC70, Har70, KB09]

    X ≈ Σ_r λ_r a_r ⊗ b_r ⊗ …   (R terms, columns of length 1)

Alternating least squares runs on the core of a HOSVD, which is small, from several starts; the best comes
back through the factors of the HOSVD and is led on by sweeps over X itself until it is stationary. Nobody can say that
no nearer sum of R terms exists, and for some tensors there is no nearest one; what is said is how far the answer is
from a stationary point, ‖∂f/∂A_m‖‖A_m‖/‖X‖², and that no tensor whose unfoldings have rank R, as every sum of R terms
has, is nearer than the singular values that these leave.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, ParameterError
from ritz._core.random import seed_of
from ritz._core.warn import warn
from ritz.methods.fitted.about import About
from ritz.methods.tensors.base import Decomposed, Tensor, TensorMethod
from ritz.methods.tensors.cp_steps import alternated, balanced, compressed, damped, normalised, slopes
from ritz.methods.tensors.modes import Mode
from ritz.methods.tensors.parts import gamma, kruskal
from ritz.methods.tensors.steps import by_modes

__all__ = ["CP"]

Floats = NDArray[Any]

#: Directions of each mode that the core keeps beyond R.
SPARE = 10
#: How far singular values of the core's modes may differ before squares are not enough: vectors only begin the search.
LOOSE = 1e-4
#: Share of the largest eigenvalue below which products of vectors are dependent: what numpy's pinv leaves out.
DEPENDENT = 1e-15
#: Cosine of two terms beyond which they nearly cancel, or nearly repeat each other.
ALIKE = 0.98
#: Sweeps on the core at most, and what a sweep takes off ‖core‖² at least: of all starts, and of the nearest.
CORE_SWEEPS, ROUGH, STILL = 200, 1e-7, 1e-15
#: Unknowns and entries up to which Gauss–Newton steps are taken, how many on the core, and sweeps before them on X.
UNKNOWNS, ENTRIES, STEPS, FIRST = 1_000, 1 << 20, 50, 10
#: Sweeps over the tensor that a plan counts on: the median of the tensors that ``tucker.py`` tells of; five in six took
#: 1 to 48.
SWEEPS = 3


class CP(TensorMethod):
    """Canonical polyadic decomposition (CANDECOMP/PARAFAC): a sum of products of vectors, one a mode.

    Parameters
    ----------
    n_components : int
        Terms R.
    n_init : int
        Starts: the singular vectors of the unfoldings, and random ones.
    max_iter : int
        Sweeps over the tensor at most, after those over its core.
    tol : float
        Sweeps end when the gradient is smaller than this, relative to ‖X‖².
    solver, random_state, memory, device, progress
        As for :class:`ritz.HOSVD`.

    Attributes
    ----------
    weights_ : (R,) λ, decreasing
    factors_ : list of (n_m, R), columns of length 1; which are unique up to sign where the decomposition is
    shape_, ranks_, relative_error_, compression_, certificate_, plan_, n_components_, n_samples_, n_features_in_
        As for :class:`ritz.HOSVD`.
    embedding_ : (n₁, R) weights of the terms in each slice
    n_iter_ : sweeps

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> A = [rng.standard_normal((n, 2)) for n in (10, 9, 8)]
    >>> model = ritz.CP(2).fit(np.einsum("ir,jr,kr->ijk", *A))
    >>> bool(model.relative_error_ < 1e-6)
    True
    >>> cosines = model.factors_[0].T @ (A[0] / np.linalg.norm(A[0], axis=0))
    >>> np.abs(cosines).max(axis=0).round(6)      # the vectors themselves are found, not a plane of them
    array([1., 1.])
    """

    about: ClassVar[About] = About(
        "Canonical polyadic decomposition",
        "cp",
        "T",
        whole="sum of squares",
        measure="λ²",
        component="term",
        cites=("[CC70]", "[Har70]", "[KB09]"),
        paper="T. G. Kolda and B. W. Bader, Tensor decompositions and applications, SIAM Review 51 (2009), 455–500.",
    )

    _unit_parts = "unit length of the vectors"

    _sizes: ClassVar[tuple[float, float]] = (1e-20, 1e20)  # products of several vectors, squared, stay in range

    def __init__(
        self, n_components: int = 2, *, n_init: int = 3, max_iter: int = 500, solver: str = "auto", tol: float = 1e-8,
        random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.n_init, self.max_iter = n_components, n_init, max_iter
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("n_components", "n_init", "max_iter"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ParameterError(f"{name} must be a whole number from 1 on", received=repr(value),
                                     hint=f"{name}=2")  # fmt: skip

    def _beside(self, first: float, modes: int) -> tuple[float, tuple[str, ...]]:
        return first + 3 + SWEEPS * modes, (f"about {SWEEPS} sweeps of {modes} passes follow",)

    def _decomposed(self, tensor: Tensor, options: dict[str, Any]) -> Decomposed:
        X, R = tensor.array, int(self.n_components)
        p, square = X.ndim, tensor.square
        wide = tuple(min(n, max(R + SPARE, 2 * R)) for n in X.shape)
        core, factors, modes = by_modes(X, wide, None, square, {**options, "level": LOOSE})
        passes = modes[-1].passes + 1
        if square == 0:
            none = [np.eye(n)[:, np.arange(R) % n] for n in X.shape]
            return Decomposed({"weights": np.zeros(R), "factors": none}, [], gamma(R + p), bound=False, passes=passes,
                              stationarity=0.0, iterations=0)  # fmt: skip
        few = R * sum(core.shape) <= UNKNOWNS and core.size <= ENTRIES
        small = self._started(core, R)
        if few:
            small, _, _ = damped(core, small, square, STEPS, 0.1 * self.tol)
        A = [U @ B for U, B in zip(factors, small, strict=True)]
        A, sweeps, off = self._led_on(X, A, square)
        if off > self.tol:
            words = f"CP stopped after {sweeps} sweeps with a gradient of {off:.1e} (tol={self.tol:g})"
            warn(f"{words}; raise max_iter, or ask for fewer terms", AccuracyWarning)
        weights, A = normalised(A)
        if X.dtype == np.float32:  # the gradient of what is kept, in its precision
            weights, A = weights.astype(np.float32).astype(float), [B.astype(np.float32).astype(float) for B in A]
            off = max(off, slopes(X, balanced([A[0] * weights, *A[1:]]), square)[1])
        return Decomposed(
            {"weights": weights, "factors": A}, [], gamma(R + p) * float(np.sum(weights)) / math.sqrt(square),
            bound=False, passes=passes + p * sweeps, stationarity=off, iterations=sweeps, notes=_degenerate(A),
            best=[_beyond(mode, R, square) for mode in modes],
        )  # fmt: skip

    def _led_on(self, X: Floats, A: list[Floats], square: float) -> tuple[list[Floats], int, float]:
        """Sweeps over X; where unknowns are few, Gauss–Newton steps once sweeps creep."""
        few = self.n_components * sum(X.shape) <= UNKNOWNS and X.size <= ENTRIES
        A, sweeps, off = alternated(X, A, square, min(self.max_iter, FIRST) if few else self.max_iter, self.tol)
        if off > self.tol and few:
            A, more, off = damped(np.asarray(X, np.float64), A, square, self.max_iter, self.tol)
            sweeps += more
        return A, sweeps, slopes(X, balanced(A), square)[1]

    def _started(self, core: Floats, R: int) -> list[Floats]:
        """The nearest of some terms of the core: from its leading vectors, and from terms drawn at random."""
        best, least = None, math.inf
        seed = seed_of(self.random_state)
        for start in range(int(self.n_init)):
            rng = np.random.default_rng([seed, start])
            begin = [rng.standard_normal((n, R)) for n in core.shape]
            if start == 0:  # vectors of the core are the first axes; random ones where there are too few of them
                for B in begin:
                    B[:, : len(B)] = np.eye(len(B), min(len(B), R))
            found, off = compressed(core, begin, CORE_SWEEPS, ROUGH)
            if np.isfinite(off) and off < least:
                best, least = found, off
        return begin if best is None else compressed(core, best, CORE_SWEEPS, STILL)[0]

    def _name(self, found: Decomposed, unit: float, dtype: Any) -> None:
        self.weights_ = np.asarray(found.parts["weights"] * unit, dtype)
        self.factors_ = [np.ascontiguousarray(A, dtype) for A in found.parts["factors"]]
        self.ranks_ = (len(self.weights_),)

    def _wide(self) -> list[Floats]:
        return [np.asarray(A, np.float64) for A in self.factors_]

    def _made(self, places: Any) -> Floats:
        chosen = [A[at] for A, at in zip(self._wide(), places, strict=True)]
        return kruskal(np.asarray(self.weights_, np.float64), chosen)

    def _einsum(self, first: slice) -> Floats:
        terms: list[Any] = [np.asarray(self.weights_, np.float64), [0]]
        for mode, A in enumerate(self._wide()):
            terms += [A[first] if mode == 0 else A, [mode + 1, 0]]
        return np.asarray(np.einsum(*terms, list(range(1, len(self.shape_) + 1)), optimize="greedy"))

    def _orthogonality(self) -> float:
        """Of columns whose lengths should be 1."""
        return max(float(np.max(np.abs(np.linalg.norm(A, axis=0) - 1))) for A in self._wide())

    def _unfoldings(self) -> list[tuple[tuple[int, ...], int]]:
        return [((mode,), self.ranks_[0]) for mode in range(len(self.shape_))]

    def _stored_numbers(self) -> int:
        return int(len(self.weights_) + sum(A.size for A in self.factors_))

    def _place_slices(self) -> None:
        wide, G = self._wide(), self._others()
        self._record.turn = np.linalg.pinv(G, hermitian=True)
        self.singular_values_ = np.asarray(self.weights_, self._record.dtype)
        F = wide[0] * np.asarray(self.weights_, np.float64)
        values = np.abs(np.linalg.eigvalsh(G))
        if float(np.min(values)) <= DEPENDENT * float(np.max(values)):
            F = F @ (G @ self._record.turn)  # products of the other modes are dependent: the least of all coordinates
        self.embedding_ = np.asarray(F, self._record.dtype)

    def _together(self, unit: float = 1.0) -> Floats:
        """Inner products of the terms, (R, R), in units whose square may be out of range."""
        weights = np.asarray(self.weights_, np.float64) / unit
        G = np.outer(weights, weights)
        for A in self._wide():
            G = G * (A.T @ A)
        return np.asarray(G)

    def _axes_values(self) -> Floats:
        wide = self._wide()
        values, vectors = np.linalg.eigh(self._others())
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        s = np.zeros(len(self.weights_))
        found = np.linalg.svd(wide[0] * np.asarray(self.weights_, np.float64) @ root, compute_uv=False)
        s[: len(found)] = found
        return s

    def _shares(self, norm: float) -> Floats:
        """What each term has in X̂, ⟨term, X̂⟩/‖X‖²: they sum to the share of all terms together."""
        return self._together(norm).sum(axis=1) if norm > 0 else np.zeros(self.n_components_)

    def _coordinates(self, X: Floats) -> Floats:
        out = np.tensordot(X, self._wide()[-1], (X.ndim - 1, 0))
        for A in reversed(self._wide()[1:-1]):
            out = np.einsum("...ir,ir->...r", out, A)
        Y, G, turn = out.reshape(len(X), -1), self._others(), self._record.turn
        F = Y @ turn
        for _ in range(2):  # terms that are nearly alike: what rounding of the inverse has cost
            F = F + (Y - F @ G) @ turn
        return np.asarray(F)

    def _others(self) -> Floats:
        """Inner products of the terms in all modes but the first, (R, R)."""
        G = np.ones((len(self.weights_),) * 2)
        for A in self._wide()[1:]:
            G = G * (A.T @ A)
        return G

    def _slices(self, F: Floats) -> Floats:
        return kruskal(np.ones(F.shape[1]), [F, *self._wide()[1:]])


def _beyond(mode: Mode, R: int, square: float) -> Mode:
    """The mode with what it leaves beyond R."""
    left = float(np.sum(np.square(mode.values[R : mode.vectors.shape[1]]))) + mode.left
    return Mode(
        mode.vectors,
        mode.values,
        left,
        max(0.0, left - 1e-13 * square),
        left + 1e-13 * square,
        mode.total,
        mode.route,
        0,
    )


def _degenerate(A: list[Floats]) -> tuple[str, ...]:
    """Terms that nearly cancel each other, or nearly are one."""
    G = np.ones((A[0].shape[1],) * 2)
    for B in A:
        G = G * (B.T @ B)
    np.fill_diagonal(G, 0.0)
    i, j = np.unravel_index(int(np.argmax(np.abs(G))), G.shape)
    if abs(G[i, j]) < ALIKE:
        return ()
    what = "nearly cancel each other" if G[i, j] < 0 else "nearly are one"
    few = "fewer terms would be steadier"
    return (f"terms {min(i, j) + 1} and {max(i, j) + 1} {what} (cosine {G[i, j]:.3f}): {few}",)
