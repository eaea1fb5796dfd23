"""Parameters as other libraries call them: the error says what they are called here.

    PCA(svd_solver="full")   →   TypeError: PCA() has no parameter 'svd_solver'; here it is solver="svd"

Nothing is translated in silence: another library's parameter may mean something else in detail, so whoever wrote it
sees once what it becomes.
"""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from ritz._core.errors import compose

__all__ = ["here", "refuse"]

#: Solvers of other libraries by the solver here that does the same.
SOLVERS = {
    "auto": "auto", "full": "svd", "covariance_eigh": "moments", "arpack": "lanczos", "randomized": "krylov",
    "dense": "svd", "lapack": "svd", "lobpcg": "krylov", "amg": "auto",
}  # fmt: skip

INPUT = "input is never changed, so there is nothing to copy: leave it out"
PASSES = "solvers iterate until tol is met: tol=1e-6 is the default, a smaller one asks for more"
THREADS = "threads follow OMP_NUM_THREADS: leave it out"
PROGRESS = "progress=True shows a bar"

#: What parameters of scikit-learn, prince, factor_analyzer and others become, whatever the method.
COMMON = {
    "copy": INPUT, "copy_X": INPUT, "check_input": "rows are always checked: leave it out",
    "iterated_power": PASSES, "n_iter": PASSES, "n_oversamples": PASSES, "power_iteration_normalizer": PASSES,
    "eigen_tol": "tol", "n_jobs": THREADS, "verbose": PROGRESS, "callback": PROGRESS,
    "batch_size": "rows outside memory are read in pieces by themselves: memory='2GB' limits them; "
    "partial_fit takes batches of your own",
    "n_factors": "n_components", "ncp": "n_components", "k": "n_components", "rank": "n_components",
    "retx": "transform(X) gives the scores: leave it out", "center_": "center", "scale_": "scale", "sd": "scale",
    "rescale_with_mean": "center", "rescale_with_std": "scale", "standardize": "scale", "scale_unit": "scale",
    "engine": "solver", "seed": "random_state", "weights": "sample_weight, which goes to fit",
    "row_w": "sample_weight, which goes to fit", "n_neighbours": "n_neighbors", "k_neighbors": "n_neighbors",
    "neighbors_algorithm": "neighbours are searched exactly by the quickest way: leave it out",
}  # fmt: skip

#: What they become in one method, where that differs.
OF_METHOD: dict[str, dict[str, str]] = {
    "KernelPCA": {"max_iter": PASSES, "degree_": "degree", "regularization": "alpha"},
    "PCA": {"max_iter": PASSES, "rotation": "ritz.insight.rotate(model, 'varimax') rotates afterwards"},
    "SVD": {
        "max_iter": PASSES, "center": "PCA centres; SVD takes rows as they are",
        "scale": "PCA scales; SVD takes rows as they are",
    },
    "SparsePCA": {
        "ridge_alpha": "ridge", "U_init": "every start is the ordinary components: leave it out",
        "V_init": "every start is the ordinary components: leave it out", "shuffle": "leave it out",
        "max_no_improvement": "max_iter",
    },
    "FactorAnalysis": {
        "svd_method": "solver", "noise_variance_init": "every start is factanal's: leave it out",
        "use_smc": "every start is factanal's: leave it out", "impute": "missing", "rotation_kwargs": "rotation",
        "is_corr_matrix": "FactorAnalysis.from_covariance(R, n=...) takes a correlation matrix",
    },
    "RobustPCA": {"alpha": "coverage", "lam": "penalty", "mu": "leave it out"},
    "MDS": {
        "metric_mds": "method", "dissimilarity": "metric='precomputed' takes distances", "eps": "tol",
        "n_init": "the start is the classical solution: leave it out", "init": "leave it out",
        "normalized_stress": "leave it out",
    },
    "Isomap": {
        "path_method": "leave it out", "max_iter": PASSES, "p": "metric='minkowski', metric_params={'p': 3}",
    },
    "LLE": {"hessian_tol": "reg", "modified_tol": "reg", "max_iter": PASSES},
    "LaplacianEigenmaps": {"affinity": "graph, or metric='precomputed'", "gamma": "scale"},
    "TSNE": {
        "method": "exact=True is the exact method", "angle": "exact", "n_iter": "max_iter", "min_grad_norm": "tol",
        "n_iter_without_progress": "max_iter",
    },
    "MCA": {
        "one_hot": "categories are encoded by themselves: leave it out", "correction": "method",
        "one_hot_prefix_sep": "leave it out", "get_dummies": "leave it out",
    },
    "FAMD": {"handle_unknown": "unseen"}, "MFA": {"group": "groups", "handle_unknown": "unseen"},
}  # fmt: skip


def here(kind: str, name: str, value: Any, known: Any) -> str | None:
    """What a parameter of another library is here, in words; None where nothing is known of it."""
    if name in ("svd_solver", "eigen_solver", "algorithm", "svd_method"):
        if "solver" not in known:
            return "leave it out"
        solver = SOLVERS.get(value) if isinstance(value, str) else None
        return "solver" if solver is None else f"solver={solver!r}"
    if name == "alpha" and "penalty" in known:
        return "penalty"
    told = OF_METHOD.get(kind, {}).get(name) or COMMON.get(name)
    if told is not None and told.isidentifier() and told not in known:
        return None
    return told


def refuse(cls: type, named: dict[str, Any]) -> None:
    """Refuse the first parameter that a constructor does not have, by what it is called there."""
    owner = next(one for one in cls.__mro__ if "__init__" in vars(one))
    parameters = inspect.signature(vars(owner)["__init__"]).parameters.values()
    known = tuple(one.name for one in parameters if one.name != "self")
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    for name, value in named.items():
        if name not in known:
            raise TypeError(_words(cls.__name__, name, value, known))


def _words(kind: str, name: str, value: Any, known: tuple[str, ...]) -> str:
    said = f"{kind}() has no parameter {name!r}"
    told = here(kind, name, value, known)
    if told is not None:
        plain = told.isidentifier() or told.startswith("solver=")
        return compose(said, hint=f"it is called {told} here" if plain else told)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return compose(said, hint=f"{hint}the parameters are {', '.join(known)}")
