"""From scores back to rows: x̂ with φ(x̂) ≈ P(t) = m + Σ tᵢ vᵢ.

    linear         x̂ = Σⱼ γ̃ⱼ xⱼ = x̄ + Σ tᵢ vᵢ             exact: φ is the identity, this is PCA's inverse
    ridge          regression from scores to rows          every kernel of vectors; ridge.py
    fixed-point    uphill on ⟨φ(x), P⟩                     RBF, and the default there; fixed_point.py
    mds            from distances to neighbours            RBF, polynomial of odd degree, linear; mds.py
    neighbours     the nearest training rows, and weights  strings, precomputed kernels, any object; known.py

Rows come back dense (m, d), also where the training rows are CSR: a sum of many sparse rows is not sparse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from ritz._core.errors import ParameterError
from ritz.kernels.base import Kernel
from ritz.kernels.distances import RBF
from ritz.kernels.rows import is_sparse
from ritz.kernels.vectors import Linear
from ritz.project.kernel import FeatureMapped, KernelMap
from ritz.project.linear import result_dtype
from ritz.project.preimage.fixed_point import fixed_point_rows
from ritz.project.preimage.known import Known, NearRows, Preimages, as_scores, expansion, known_rows, neighbours
from ritz.project.preimage.mds import mds_rows
from ritz.project.preimage.ridge import ScoreRidge, fit_ridge, ridge_rows

__all__ = [
    "METHODS",
    "Choice",
    "Known",
    "NearRows",
    "Preimages",
    "ScoreRidge",
    "are_vectors",
    "choose_method",
    "expansion",
    "feature_distance",
    "fit_ridge",
    "known_rows",
    "linear_rows",
    "neighbours",
    "preimages",
]

Method: TypeAlias = Literal["linear", "ridge", "fixed-point", "mds", "neighbours"]

#: What a user may ask for.
METHODS = ("auto", "ridge", "fixed-point", "mds")


@dataclass(frozen=True)
class Choice:
    """A method and why."""

    method: Method
    reason: str


def choose_method(kernel: Kernel, sparse: bool = False, *, vectors: bool = False) -> Choice:
    """What ``method="auto"`` means for a kernel; ``vectors``: the rows are vectors, though it would take any object."""
    if kernel.takes != "vectors" and not (kernel.takes == "any" and vectors):
        return Choice(
            "neighbours", f"rows of {type(kernel).__name__} are not vectors: their neighbours are named instead"
        )
    if isinstance(kernel, Linear):
        return Choice("linear", "the linear kernel has exact pre-images")
    if isinstance(kernel, RBF) and not sparse:
        return Choice("fixed-point", "of the three it takes most noise off rows under an RBF kernel")
    rows = "; CSR rows are only multiplied, never made dense" if sparse else ""
    return Choice("ridge", f"a regression from scores to rows serves every kernel of vectors{rows}")


def preimages(
    known: Known,
    T: Any,
    method: str = "auto",
    *,
    alpha: float | None = None,
    ridge: ScoreRidge | None = None,
    start: Any = None,
    distance: bool = False,
    errors: bool = True,
) -> Preimages:
    """Rows (m, d) for scores T (m, k), with an error estimate each.

    To undo ``forward``, ridge: it learns what the projection did to rows, and comes nearest to rows it has not seen. To
    take noise off, fixed-point: scores of noisy rows lie where no row was learned from, and the row whose image is
    nearest to P is what is wanted.

    ``ridge``: a regression fitted before, saves fitting it again. ``start``: rows where the fixed point begins. No
    ``errors``: these may be NaN, where rows without them take less time. ``distance``: measure ‖φ(x̂) − P‖ for methods
    that do not know it, in one pass. Kernels of other objects than vectors have ``neighbours`` instead, and raise here.
    """
    if method not in METHODS and method != "linear":
        raise ParameterError(f"method must be one of {', '.join(METHODS)}", received=repr(method))
    choice = choose_method(known.map.kernel, is_sparse(known.rows), vectors=are_vectors(known.rows))
    if choice.method == "neighbours":
        raise ParameterError("pre-images are vectors", received=repr(known.map.kernel),
                             hint="neighbours(...) names the nearest training rows, with weights")  # fmt: skip
    chosen = choice.method if method == "auto" else method
    if chosen == "linear":
        result = linear_rows(known, T)
    elif chosen == "ridge":
        result = ridge_rows(known, T, ridge, alpha, errors=errors)
    elif chosen == "fixed-point":
        result = fixed_point_rows(known, T, start=start)
    else:
        result = mds_rows(known, T)
    if distance and result.distance is None:
        result = replace(result, distance=feature_distance(known, result.rows, T))
    dtype = getattr(T, "dtype", np.dtype(np.float64))
    return replace(result, rows=result.rows.astype(result_dtype(dtype), copy=False))


def feature_distance(known: Known, rows: Any, T: Any) -> Any:
    """‖φ(x) − P(t)‖ (m,) of rows and scores, pair by pair: √(‖f(x) − t‖² + reconstruction error of x)."""
    if is_sparse(known.rows):
        rows = type(known.rows)(rows)
    placed = known.map.scores(rows)
    gap = placed.coordinates - as_scores(T, known)
    return np.sqrt(np.einsum("ij,ij->i", gap, gap) + placed.reconstruction_error)


def are_vectors(X: Any) -> bool:
    """Whether rows are numbers in columns."""
    return is_sparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub")


def linear_rows(known: Known, T: Any) -> Preimages:
    """Exact rows of the linear kernel: x̄ + Σ tᵢ vᵢ. ``error`` is 0: the row found is the point that was given."""
    if not isinstance(known.map.kernel, Linear):
        raise ParameterError("exact pre-images exist for the linear kernel", received=repr(known.map.kernel))
    T, step = as_scores(T, known), known.map
    if isinstance(step, FeatureMapped):
        rows = T @ np.asarray(step.axes, np.float64).T + step.mean
    else:
        rows = _combined(step, T)
    return Preimages(rows, np.zeros(len(T)), "linear", np.zeros(len(T)))


def _combined(step: KernelMap, T: Any) -> Any:
    """Σⱼ γ̃ⱼ xⱼ; dense rows are shifted to mean 0 first, so that large means cost no digits."""
    X = step.rows.source
    if is_sparse(X):
        axes = np.asarray(step.dual.T @ X.astype(np.float64))
        return T @ axes + np.asarray(step.share @ X.astype(np.float64))
    X = np.asarray(X)
    mean = X.mean(axis=0, dtype=np.float64)
    C = X - mean
    sums = T @ step.dual.sum(axis=0) + step.share.sum()
    return T @ (step.dual.T @ C) + step.share @ C + sums[:, None] * mean
