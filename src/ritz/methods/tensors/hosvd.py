"""The higher-order singular value decomposition, sequentially truncated.                          [DDV00, VVM12]

    X ≈ G ×₁ U₁ … ×_p U_p,      U_m: leading vectors of the unfolding of mode m of what the modes before it keep

One unfolding of the whole tensor is decomposed, by its Gram matrix wherever that keeps the digits that are asked for;
every further one is smaller. The error is at most √p times that of the best tensor of the same ranks.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ritz._core.errors import ParameterError
from ritz.methods.fitted.about import About
from ritz.methods.tensors.base import Decomposed, Tensor
from ritz.methods.tensors.modes import solve_mode
from ritz.methods.tensors.parts import times
from ritz.methods.tensors.source import is_mapped
from ritz.methods.tensors.steps import by_modes, unfolded
from ritz.methods.tensors.tucker_form import TuckerForm, rounding_of

__all__ = ["HOSVD"]


class HOSVD(TuckerForm):
    """Higher-order singular value decomposition: a small core and an orthonormal basis of every mode.

    Parameters
    ----------
    n_components : None, int, tuple of int, or float
        Ranks: all of them, one for all modes, one a mode, or a share of ‖X‖² to keep.
    error : float, optional
        Ranks follow from the relative error ‖X − X̂‖/‖X‖ that may be left.
    sequential : bool
        Each mode is decomposed in what the modes before it keep, which is faster and mostly nearer; False: every
        unfolding is that of X itself.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`, of the spectral problem of each unfolding. What ``memory`` does not hold goes to a
        file.

    Attributes
    ----------
    core_ : (r₁, …, r_p)
    factors_ : list of (n_m, r_m), orthonormal columns
    ranks_, shape_ : tuples of int
    relative_error_ : ‖X − X̂‖/‖X‖, measured
    compression_ : numbers in X for one number in the parts
    mode_singular_values_ : list of singular values of each unfolding, as far as they are known
    embedding_ : (n₁, k) coordinates of the slices of the first mode
    singular_values_, explained_variance_ratio_ : (k,) of the axes of slices, and their shares in ‖X‖²
    certificate_ : TensorCertificate
    plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> grid = np.linspace(0, 1, 40)
    >>> X = 1 / (1 + np.add.outer(np.add.outer(grid, grid), grid))      # smooth, so of low rank
    >>> model = ritz.HOSVD(error=1e-4).fit(X)
    >>> model.ranks_, round(model.compression_), bool(model.relative_error_ <= 1e-4)
    ((3, 3, 3), 165, True)
    >>> round(float(model[3, 5, 7]), 4), round(float(X[3, 5, 7]), 4)
    (0.7223, 0.7222)
    """

    about: ClassVar[About] = About(
        "Higher-order singular value decomposition",
        "hosvd",
        "T",
        whole="sum of squares",
        measure="σ²",
        component="axis",
        cites=("[DDV00]", "[VVM12]"),
        paper="L. De Lathauwer, B. De Moor and J. Vandewalle, A multilinear singular value decomposition, SIAM Journal "
        "on Matrix Analysis and Applications 21 (2000), 1253–1278.",
    )

    def __init__(
        self, n_components: Any = None, *, error: float | None = None, sequential: bool = True, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.error, self.sequential = n_components, error, sequential
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def _beside(self, first: float, modes: int) -> tuple[float, tuple[str, ...]]:
        if self.sequential:
            return super()._beside(first, modes)
        return modes * first + 3, ("every unfolding is one of the whole tensor",)

    def _decomposed(self, tensor: Tensor, options: dict[str, Any]) -> Decomposed:
        X, (ranks, budget) = tensor.array, self._wanted_ranks(tensor)
        if self.sequential:
            core, factors, modes = by_modes(X, ranks, budget, tensor.square, options)
            passes = modes[-1].passes + 1
        else:
            core, factors, modes, passes = self._separate(tensor, options)
        rounding = rounding_of(core.shape)
        constant = math.sqrt(X.ndim)
        return Decomposed({"core": core, "factors": factors}, modes, rounding, constant, passes=passes)

    def _separate(self, tensor: Tensor, options: dict[str, Any]) -> tuple[Any, ...]:
        """Every unfolding of X itself."""
        X, (ranks, budget) = tensor.array, self._wanted_ranks(tensor)
        if is_mapped(X):
            raise ParameterError("a mapped tensor is decomposed mode after mode", received="sequential=False",
                                 hint="sequential=True, or read it into memory: np.array(X)")  # fmt: skip
        share = None if budget is None else budget / X.ndim
        modes = []
        for mode in range(X.ndim):
            A = unfolded(X, mode)
            rank = None if ranks is None else min(ranks[mode], *A.shape)
            modes.append(solve_mode(A, rank, share, tensor.square, options))
        core = X.astype("float64")
        for mode, one in enumerate(modes):
            core = times(core, one.vectors.T, mode)
        return core, [one.vectors for one in modes], modes, sum(one.passes for one in modes) + 1
