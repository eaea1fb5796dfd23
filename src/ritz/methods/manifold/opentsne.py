"""The descent of t-SNE by openTSNE: of all rows from a start, of new rows on a map that stays.            [PSZ24]

    near (n, k), far (n, k) → P → Y     momentum 0.8, gains, attraction times a, repulsion by a tree or on a grid

Everything runs in one thread: sums in another order would end in another map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MissingDependency
from ritz._core.threads import go_on

__all__ = ["NEW_NEIGHBOURS", "TREE", "descended", "gradient_by", "placed_on", "require_opentsne"]

Floats = NDArray[np.float64]

#: Rows below which repulsion is summed by a tree, and from which on by interpolation; as openTSNE does.
TREE = 10_000
#: New rows: steps, step size, exaggeration, longest gradient; and the neighbours they start among. Their perplexity is
#: that of the fit: with openTSNE's 5 and exaggeration 1.5, held-out rows of a sheet lost 1.6 times as many neighbours
#: as in a map of all rows, and 1.1 times so.
NEW: dict[str, Any] = {"n_iter": 250, "learning_rate": 0.1, "exaggeration": 1.0, "max_grad_norm": 0.25, "momentum": 0.8}
NEW_NEIGHBOURS = 25
#: Longest step of a row.
STEP = 5.0


def require_opentsne() -> None:
    """Refuse where openTSNE is not installed."""
    try:
        import openTSNE  # noqa: F401
    except ImportError as error:
        raise MissingDependency("t-SNE needs openTSNE", hint="pip install 'ritz[tsne]'") from error


def _in_reach(far: Floats) -> Floats:
    """Distances √(d² − d₁²) in a unit of each row, which have the same affinities.

    exp(−βd²) of a row that is far from all others vanishes before its perplexity is found: on 5,000 images of digits
    affinities were off by up to a per cent.
    """
    first = far[:, :1]
    square = np.maximum((far - first) * (far + first), 0.0)
    size = np.mean(square, axis=1, keepdims=True)
    return np.asarray(np.sqrt(square / np.where(size > 0, size, 1.0)))


def gradient_by(n: int, k: int) -> str:
    """``"bh"``, a tree, or ``"fft"``, interpolation, which maps of three axes do not have."""
    return "bh" if n < TREE or k == 3 else "fft"


def descended(
    near: Any, far: Floats, perplexity: float, Y: Floats, phases: tuple[tuple[int, float], ...], rate: float | None
) -> tuple[Any, Floats]:
    """P (n×n, CSR) and the map; ``phases``: steps and the exaggeration of each."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PrecomputedAffinities, joint_probabilities_nn

    P = joint_probabilities_nn(near.astype(np.int32), _in_reach(far), [perplexity], n_jobs=1)
    made = TSNEEmbedding(
        Y.copy(), PrecomputedAffinities(P, normalize=False), max_step_norm=STEP, n_jobs=1,
        learning_rate="auto" if rate is None else rate, callbacks=[lambda *_: go_on()],
        negative_gradient_method=gradient_by(*Y.shape),
    )  # fmt: skip
    for steps, pull in phases:
        made.optimize(steps, exaggeration=pull, momentum=0.8, inplace=True, propagate_exception=True)
    found = np.array(made, np.float64)
    return P, found - found.mean(axis=0)


def placed_on(Y: Floats, near: Any, far: Floats, perplexity: float) -> Floats:
    """Places of new rows on a map Y (n×k): from the median of their neighbours, each where its own divergence falls."""
    from openTSNE import PartialTSNEEmbedding, TSNEEmbedding
    from openTSNE.affinity import PrecomputedAffinities, joint_probabilities_nn
    from scipy.sparse import csr_matrix

    n = len(Y)
    few = max(1, int(min(n, near.shape[1], 3 * perplexity)))
    P = joint_probabilities_nn(
        near[:, :few].astype(np.int32), _in_reach(far[:, :few]), [perplexity], symmetrize=False,
        normalization="point-wise", n_reference_samples=n, n_jobs=1,
    )  # fmt: skip
    empty = PrecomputedAffinities(csr_matrix((n, n)), normalize=False)
    made = TSNEEmbedding(
        Y.copy(), empty, negative_gradient_method=gradient_by(*Y.shape), n_jobs=1, max_step_norm=None
    )  # fmt: skip
    if gradient_by(*Y.shape) == "fft":
        made.prepare_interpolation_grid()  # which moves the map
    moved = np.asarray(made)[0] - Y[0]
    start = np.median(Y[near[:, :NEW_NEIGHBOURS]], axis=1) + moved
    part = PartialTSNEEmbedding(start, made, csr_matrix(P), **made.gradient_descent_params)
    return np.asarray(part.optimize(**NEW)) - moved
