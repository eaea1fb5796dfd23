"""Pre-images from distances to neighbours.                                                    [Kwok & Tsang 2004]

    distances in feature space to the c nearest known rows → distances dᵢ in the space of the rows:
        RBF            dᵢ² = −log(1 − d̃ᵢ²/2)/γ                       k(z, z) = 1
        dot product    k = f(x·y), f invertible:  z·xᵢ = f⁻¹(⟨P, φ(xᵢ)⟩),  z·z = f⁻¹(‖P‖²)
    neighbours X' (c, d), centred X' − 1x̄' = U Σ Vᵀ, d₀ᵢ = ‖xᵢ − x̄'‖:
        z = x̄' + V Σ⁻¹ Uᵀ ½(d₀² − d²)

What all dᵢ² have too much (components that were left out lie at the same distance from all) drops out, since Uᵀ1 = 0.
The true z obeys ‖z − x̄'‖ ≤ mean dᵢ; a longer answer is drawn back to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz.kernels.base import Kernel, chunks, take_rows
from ritz.kernels.distances import RBF
from ritz.kernels.rows import is_sparse
from ritz.kernels.vectors import Linear, Polynomial
from ritz.project.kernel import KernelMap
from ritz.project.preimage.fixed_point import rbf_distance, rbf_gamma
from ritz.project.preimage.known import Known, Preimages, as_scores, neighbours

__all__ = ["invertible", "mds_rows", "trilaterate"]

Floats = NDArray[np.float64]

#: Neighbours.
NEAR = 10
#: Singular values of the neighbours below this share of the largest span no direction.
FLAT = 1e-6
#: Numbers in a stack of neighbourhoods.
ENTRIES = 1 << 22


def invertible(kernel: Kernel) -> bool:
    """Whether k(x, y) tells the distance of x and y, together with k(x, x) and k(y, y)."""
    return isinstance(kernel, RBF | Linear) or (isinstance(kernel, Polynomial) and kernel.degree % 2 == 1)


def mds_rows(known: Known, T: Any, *, count: int = NEAR) -> Preimages:
    """Pre-images (m, d) of the points with scores T from their ``count`` nearest known rows.

    ``error`` is the height above the plane of the neighbours that the distances tell, and what they disagree by: 0
    where a row at exactly these distances lies in that plane; large where the model leaves out much of the row.
    """
    kernel = known.map.kernel
    if not invertible(kernel):
        raise ParameterError(
            "method='mds' needs a kernel that tells distances: rbf, linear, polynomial of odd degree",
            received=repr(kernel),
            hint="method='ridge' works for every kernel of vectors",
        )
    T = as_scores(T, known)
    near = neighbours(known, T, count)
    d = known.rows.shape[1]
    rows, error = np.empty((len(T), d)), np.empty(len(T))
    for block in chunks(len(T), max(1, ENTRIES // (near.index.shape[1] * d))):
        index = near.index[block]
        X = _stack(known.rows, index)
        if isinstance(kernel, RBF):
            square = rbf_distance(near.distance[block] ** 2, rbf_gamma(kernel, d))
        else:
            square = _dot_distances(known, T[block], near.distance[block] ** 2, X)
        rows[block], error[block] = trilaterate(X, square)
    return Preimages(rows, error, "mds")


def trilaterate(X: Floats, square: Floats) -> tuple[Floats, Floats]:
    """Points z (m, d) at squared distances (m, c) from the points X (m, c, d), in the least-squares sense.

    Second (m,): how far a point at these distances would be. What all dᵢ² have too much is the square of its height
    above the plane of the X; what they disagree by is added, as the mean square of ‖z − xᵢ‖ − dᵢ.
    """
    centre = X.mean(axis=1)
    C = X - centre[:, None, :]
    own = np.einsum("ijk,ijk->ij", C, C)
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    scale = np.where(s > FLAT * s[:, :1], s, np.inf)
    y = np.einsum("ij,ijk->ik", np.einsum("ijk,ij->ik", U, 0.5 * (own - square)) / scale, Vt)
    far = np.sqrt(np.maximum(square, 0.0)).mean(axis=1)
    length = np.linalg.norm(y, axis=1)
    y *= np.minimum(1.0, far / np.where(length > 0, length, 1.0))[:, None]
    gap = C - y[:, None, :]
    reached = np.einsum("ijk,ijk->ij", gap, gap)
    height = np.maximum((square - reached).mean(axis=1), 0.0)
    rest = (reached - square) - (reached - square).mean(axis=1, keepdims=True)
    # (a² − b²)/(a + b) = a − b
    total = np.sqrt(reached) + np.sqrt(np.maximum(reached - rest, 0.0))
    off = np.divide(rest, total, out=np.zeros_like(rest), where=total > 0)
    return centre + y, np.sqrt(height + (off**2).mean(axis=1))


def _dot_distances(known: Known, T: Floats, square: Floats, X: Floats) -> Floats:
    """‖z − xᵢ‖² = z·z + xᵢ·xᵢ − 2 z·xᵢ, dot products from kernel values."""
    step = known.map
    if not isinstance(step, KernelMap):
        raise ParameterError("method='mds' for dot products needs a model with kernel rows", received=repr(type(step)),
                             hint="method='ridge'")  # fmt: skip
    inverse = _inverse(step.kernel, X.shape[2])
    own = np.einsum("ijk,ijk->ij", X, X)
    values = _forward(step.kernel, X.shape[2])(own)
    norms = step.norms(T)[:, None]
    between = inverse((norms + values - square) / 2)
    return np.maximum(inverse(norms) + own - 2 * between, 0.0)


def _parts(kernel: Kernel, d: int) -> tuple[int, float, float]:
    if isinstance(kernel, Polynomial):
        return kernel.degree, 1.0 / max(d, 1) if kernel.gamma is None else float(kernel.gamma), kernel.coef0
    return 1, 1.0, 0.0


def _forward(kernel: Kernel, d: int) -> Callable[[Floats], Floats]:
    p, gamma, c = _parts(kernel, d)
    return lambda dots: (gamma * dots + c) ** p


def _inverse(kernel: Kernel, d: int) -> Callable[[Floats], Floats]:
    """x·y from k(x, y); a real root of odd degree exists for every value."""
    p, gamma, c = _parts(kernel, d)
    return lambda k: (np.sign(k) * np.abs(k) ** (1 / p) - c) / gamma


def _stack(rows: Any, index: NDArray[np.intp]) -> Floats:
    """(m, c, d) of rows by position."""
    picked = take_rows(rows, index.reshape(-1))
    dense = np.asarray(picked.toarray() if is_sparse(picked) else picked, np.float64)
    return dense.reshape(*index.shape, -1)
