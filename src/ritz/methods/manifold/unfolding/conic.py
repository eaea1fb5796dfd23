"""Maximum variance unfolding by Clarabel, an interior-point method for any conic program.              [GC24]

    min cᵀw,  Σ w_a L_a − J ⪰ 0 without its first row and column,  w ≥ 0           its multiplier is the Gram matrix of
                                                                                   the points about the first of them
It takes n⁴/8 numbers and n⁶/24 multiplications a step, so it serves to check the others on some dozen rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz._core.errors import MissingDependency
from ritz.methods.manifold.unfolding.interior import Ended, points_of
from ritz.methods.manifold.unfolding.pairs import Pairs

__all__ = ["conic", "require_clarabel"]


def require_clarabel() -> Any:
    """The package, or words about what to install."""
    try:
        import clarabel
    except ImportError as error:
        raise MissingDependency(
            "solver='clarabel' needs Clarabel", hint="pip install 'ritz[mvu]', or solver='interior', which needs none"
        ) from error
    return clarabel


def conic(pairs: Pairs, *, tol: float, equal: bool = False) -> Ended:
    """Solve the dual program."""
    clarabel = require_clarabel()
    n, m = pairs.n, len(pairs)
    A, b = _matrices(pairs)
    cones = [clarabel.PSDTriangleConeT(n - 1)]
    if not equal:
        A = sp.vstack([-sp.eye_array(m), A], format="csc")
        b = np.concatenate([np.zeros(m), b])
        cones.insert(0, clarabel.NonnegativeConeT(m))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = min(tol, 1e-6) * 1e-1
    solver = clarabel.DefaultSolver(sp.csc_matrix((m, m)), pairs.squares, sp.csc_matrix(A), b, cones, settings)
    found = solver.solve()
    P = _square(np.asarray(found.z, np.float64)[0 if equal else m :], n - 1)
    K = np.zeros((n, n))
    K[1:, 1:] = P
    J = np.eye(n) - 1.0 / n
    return Ended(points_of(J @ K @ J), np.asarray(found.x, np.float64), int(found.iterations), str(found.status))


def _matrices(pairs: Pairs) -> tuple[Any, Any]:
    """A and b of Aw + s = b with s the upper triangle of the slack, column by column, off the diagonal times √2."""
    n, m = pairs.n, len(pairs)
    rows, cols, data = [], [], []
    every, i, j = np.arange(m), pairs.i - 1, pairs.j - 1  # i < j, −1 for the row that is left out
    for end in (i, j):
        there = end >= 0
        rows.append(_place(end[there], end[there]))
        cols.append(every[there])
        data.append(np.full(int(there.sum()), -1.0))
    both = i >= 0
    rows.append(_place(i[both], j[both]))
    cols.append(every[both])
    data.append(np.full(int(both.sum()), np.sqrt(2.0)))
    size = n * (n - 1) // 2
    A = sp.coo_array((np.concatenate(data), (np.concatenate(rows), np.concatenate(cols))), shape=(size, m)).tocsc()
    b = np.full(size, np.sqrt(2.0) / n)
    b[_place(np.arange(n - 1), np.arange(n - 1))] = 1.0 / n - 1.0
    return A, b


def _place(i: Any, j: Any) -> Any:
    """Of the entry (i, j), i ≤ j, among the columns of an upper triangle."""
    return j * (j + 1) // 2 + i


def _square(z: Any, n: int) -> Any:
    out = np.zeros((n, n))
    j, i = np.tril_indices(n)  # in the order of the columns of the upper triangle
    out[i, j] = np.where(i == j, z, z / np.sqrt(2.0))
    return out + np.triu(out, 1).T
