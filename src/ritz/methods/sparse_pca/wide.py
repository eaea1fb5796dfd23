"""Fewer rows than columns: the ordinary components by products with the rows, and the factor of their covariance.

    Z = D_w^½ (X − 1μᵀ) D_σ⁻¹ / √(Σw − 1)      (n×d), n < d,      C = ZᵀZ

Z is float64 and takes the place of the d×d covariance in the search for sparse loadings (``covariance.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Block, blocks_of
from ritz.data.passes.center import taken_off
from ritz.methods.posed import Posed
from ritz.methods.rest import framed
from ritz.methods.scaling import divisor_of, standardised
from ritz.spectral.plan import Plan
from ritz.spectral.problem import SpectralProblem

if TYPE_CHECKING:
    from ritz.methods.sparse_pca.sparse_pca import SparsePCA

__all__ = ["factor_of", "problem_of_rows"]


def problem_of_rows(model: SparsePCA, posed: Posed, plan: Plan) -> SpectralProblem:
    """The spectral problem of D_w^½ (X − 1μᵀ) D_σ⁻¹, as PCA poses it."""
    A = standardised(model, posed, plan)
    stats = posed.stats
    return SpectralProblem(
        A, n=stats.weight, d=posed.shape.d, rows=stats.rows, centered=model.center,
        repeatable=model._rereads(posed.shape), **model._request(posed.wanted, posed.shape),
    )  # fmt: skip


def factor_of(posed: Posed, center: bool, scale: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Z, (n, d), in one pass; rows of weight zero are zero, whatever they hold."""
    column, weights = posed.stats.column, posed.weights
    frame, unit = framed(column, center=center, scale=scale)
    blocks = blocks_of(posed.rows)

    def step(_scratch: dict[str, Any], block: Block) -> Any:
        x = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
        z = taken_off(x, frame["mean"], frame["low"])
        z = z if frame["scale"] is None else z / frame["scale"]
        if weights is None:
            return z
        w = weights[block.rows, None]
        return np.where(w > 0, z, 0.0) * np.sqrt(w)

    Z: NDArray[np.float64] = blocks.map_rows(step, np.empty(blocks.shape))
    return Z * (unit / np.sqrt(divisor_of(column)))
