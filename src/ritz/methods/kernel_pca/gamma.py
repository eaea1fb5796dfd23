"""gamma="cv": the γ whose pre-images of held-out rows are nearest to the rows.

error(γ) = mean ‖x − x̂‖²,   x̂ = inverse_transform(transform(x)),   x in a fold that the model was not fitted to
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ritz._core.errors import GammaAtEdge, ParameterError
from ritz._core.random import seed_of
from ritz._core.warn import unsaid, warn
from ritz.kernels.base import Kernel
from ritz.kernels.gamma import GRID, gamma_cv, median_gamma, with_gamma

__all__ = ["fixed"]


def fixed(estimator: Any, kernel: Kernel, rows: Any, y: Any) -> Kernel:
    """The kernel with a number for every parameter."""
    seed = seed_of(estimator.random_state)
    params = kernel.get_params(deep=False)
    if "cv" not in (params.get("gamma"), params.get("length")):
        return kernel.fix(rows, y=y, seed=seed)

    def error(candidate: Kernel, train: Any, test: Any) -> float:
        return _error(estimator, candidate, train, test)

    gamma = gamma_cv(kernel, rows, error, seed=seed)
    _warn_edge(gamma / median_gamma(kernel, rows, seed))
    return with_gamma(kernel, gamma).fix(rows, y=y, seed=seed)


def _warn_edge(ratio: float) -> None:
    """Say when the best γ was the smallest or the largest tried: a better one may lie beyond."""
    if np.isclose(ratio, GRID[0]):
        warn("the smallest gamma tried was best: a linear kernel suits these rows as well", GammaAtEdge)
    elif np.isclose(ratio, GRID[-1]):
        warn("the largest gamma tried was best: with it every row resembles only itself", GammaAtEdge)


def _error(estimator: Any, kernel: Kernel, train: Any, test: Any) -> float:
    """Mean squared distance of held-out rows from the pre-images of their coordinates; infinite where none exist."""
    wanted = estimator.n_components
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
        wanted = min(int(wanted), train.shape[0] - 1)
    model = clone(estimator).set_params(
        kernel=kernel, gamma=None, kernel_params=None, n_components=wanted, fit_inverse_transform=True, progress=False
    )
    try:
        with unsaid():
            back = model.fit(train).preimages(model.transform(test), "ridge").rows
    except ParameterError:  # no component is left, or the policy refuses
        return float("inf")
    dense = test.toarray() if hasattr(test, "toarray") else test
    return float(np.mean(np.square(back - dense)))
