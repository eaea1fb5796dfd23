"""Generalised Procrustes analysis: several tables of the same rows, moved, turned and stretched onto one consensus.

    min Σᵢ ‖sᵢAᵢRᵢ − G‖²,  RᵢᵀRᵢ = I,  Σsᵢ²‖Aᵢ‖² = Σ‖Aᵢ‖²,  G the mean        Aᵢ (n×p) about their means   [Gow75, TB77]

    turns      Rᵢ = UVᵀ of AᵢᵀG₍ᵢ₎ = UΣVᵀ, G₍ᵢ₎ the mean of the others: each step is the best one there is
    stretches  sᵢ‖Aᵢ‖ the leading eigenvector of Cᵢⱼ = tr(RᵢᵀAᵢᵀAⱼRⱼ)/(‖Aᵢ‖‖Aⱼ‖), K×K

Steps never raise the loss, and end where none lowers it; that no better arrangement exists is proved for two tables,
and by a bound for more. Each Cᵢⱼ is at most the nuclear norm of AᵢᵀAⱼ/(‖Aᵢ‖‖Aⱼ‖), whatever the turns, so with those
norms N

    loss ≥ Σ‖Aᵢ‖²·(1 − λ₁(N)/K) with stretches,        Σ‖Aᵢ‖²·(1 − 1/K) − (2/K) Σ_{i<j} ‖AᵢᵀAⱼ‖_*  without
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz._core.tolerance import rounding
from ritz._core.warn import warn
from ritz.insight.embedding.procrustes import coordinates_of, turned_onto

__all__ = ["Consensus", "gpa"]

Floats = NDArray[np.float64]

#: Squared distances of a table from its mean whose products are still numbers.
LEAST = 1e-140


@dataclass(frozen=True, repr=False)
class Consensus(Tabular):
    """Several tables in one place.

    Attributes
    ----------
    consensus : (n, p) the mean of the moved tables, about zero, along its principal axes
    fitted : (K, n, p) the moved tables
    rotations : (K, p, p); table i is moved by ``scales[i] * (X − means[i]) @ rotations[i]``
    scales : (K,)
    means : (K, p)
    loss : squared distances of all tables from the consensus, summed
    lower_bound : no arrangement has a smaller loss
    share : the loss as a share of the squared distances of all tables from their means
    distances : (K,) squared distances of each table from the consensus
    rows : (n,) squared distances of each row, summed over the tables
    n_iter, converged : steps of the best of K starts, and whether they came to rest
    """

    consensus: Floats
    fitted: Floats
    rotations: Floats
    scales: Floats
    means: Floats
    loss: float
    lower_bound: float
    share: float
    distances: Floats
    rows: Floats
    n_iter: int
    converged: bool

    @property
    def gap(self) -> float:
        """What the loss may be above the smallest there is, as a share of all squared distances; 0 is a proof."""
        return max(self.loss - self.lower_bound, 0.0) * (self.share / self.loss if self.loss > 0 else 0.0)

    def _table(self) -> dict[str, Any]:
        places = {f"axis{i + 1}": self.consensus[:, i] for i in range(self.consensus.shape[1])}
        return {"row": range(len(self.rows)), **places, "distance": self.rows}

    def transform(self, X: Any, table: int) -> Floats:
        """Further rows of a table, moved as the others were, (m, p)."""
        k, p = len(self.scales), self.consensus.shape[1]
        if not -k <= table < k:
            raise ParameterError(f"table is a number from 0 to {k - 1}", received=repr(table), hint="table=0")
        rows = coordinates_of(X, "rows")
        if rows.shape[1] > p:
            raise InputError(f"rows of at most {p} columns", received=f"shape {rows.shape}", hint="as in the fit")
        rows = np.pad(rows, ((0, 0), (0, p - rows.shape[1])))
        return np.asarray(self.scales[table] * (rows - self.means[table]) @ self.rotations[table])

    def __repr__(self) -> str:
        proof = "no arrangement is better" if self.gap <= 1e-10 else f"none leaves less by more than {self.gap:.1e}"
        return (
            f"generalised Procrustes analysis of {len(self.scales)} tables, {len(self.consensus):,} rows: "
            f"{100 * self.share:.2f} % is left over; {proof}"
        )


def gpa(
    tables: Sequence[Any], *, scale: bool = True, reflection: bool = True, tol: float = 1e-12, max_iter: int = 1000
) -> Consensus:  # fmt: skip
    """Move, turn and stretch several tables of the same rows onto their consensus.

    Parameters
    ----------
    tables : sequence of (n, p) arrays or frames
        Row i of every table is the same thing. Columns of zeros are added where a table has fewer.
    scale : bool
        Whether tables may be stretched; the sum of their squared distances stays what it was.
    reflection : bool
        Whether tables may be mirrored.
    tol : float
        Change of the loss, as a share of all squared distances, at which steps end.
    max_iter : int
        Steps at most.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.standard_normal((10, 2))
    >>> turn = lambda a: np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    >>> tables = [s * shape @ turn(a) + a for s, a in ((1.0, 0.3), (2.0, 1.7), (0.5, -2.0))]
    >>> insight.gpa(tables)
    generalised Procrustes analysis of 3 tables, 10 rows: 0.00 % is left over; no arrangement is better
    """
    centred, means = _checked(tables, scale, reflection, tol, max_iter)
    sizes = np.sqrt(np.sum(np.square(centred), axis=(1, 2)))
    found = [_arranged(centred, sizes, start, scale, reflection, tol, max_iter) for start in range(len(centred))]
    R, s, _, steps, rested = min(found, key=lambda one: one[2])
    if not rested:
        warn(
            f"generalised Procrustes analysis still changed after max_iter={max_iter} steps; try more", AccuracyWarning
        )
    moved = np.stack([s[i] * centred[i] @ R[i] for i in range(len(centred))])
    axes = np.linalg.svd(moved.mean(axis=0), full_matrices=True)[2].T  # along principal axes
    largest = np.argmax(np.abs(axes), axis=0)
    axes = axes * np.sign(axes[largest, np.arange(axes.shape[1])])
    if not reflection and np.linalg.det(axes) < 0:
        axes[:, -1] *= -1
    moved, R = moved @ axes, R @ axes
    G = moved.mean(axis=0)
    off = np.square(moved - G)
    whole = float(np.sum(np.square(sizes)))
    return Consensus(
        G, moved, R, s, means, float(off.sum()), max(_bound(centred, sizes, scale), 0.0), float(off.sum()) / whole,
        off.sum(axis=(1, 2)), off.sum(axis=(0, 2)), steps, rested,
    )  # fmt: skip


def _arranged(
    A: Floats, sizes: Floats, start: int, scale: bool, reflection: bool, tol: float, most: int
) -> tuple[Floats, Floats, float, int, bool]:
    """Turns and stretches from one table as the first consensus."""
    K, whole = len(A), float(np.sum(np.square(sizes)))
    R = np.stack([turned_onto(A[start], one, reflection) for one in A])
    s, last = np.ones(K), np.inf
    for step in range(1, most + 1):
        moved = np.stack([s[i] * A[i] @ R[i] for i in range(K)])
        total = moved.sum(axis=0)
        for i in range(K):
            others = total - moved[i]
            R[i] = turned_onto(others, A[i], reflection)
            moved[i] = s[i] * A[i] @ R[i]
            total = others + moved[i]
        if scale:
            flat = np.stack([A[i] @ R[i] / sizes[i] for i in range(K)]).reshape(K, -1)
            v = np.linalg.eigh(flat @ flat.T)[1][:, -1]
            s = np.abs(v) * np.sqrt(whole) / sizes  # tables that point away from the others would be mirrored
            moved = np.stack([s[i] * A[i] @ R[i] for i in range(K)])
        loss = float(np.sum(np.square(moved - moved.mean(axis=0))))
        if last - loss <= tol * whole:
            return R, s, loss, step, True
        last = loss
    return R, s, loss, most, False


def _bound(A: Floats, sizes: Floats, scale: bool) -> float:
    """A loss below which no arrangement goes, from each pair alone, less what rounding may add to it."""
    K, whole = len(A), float(np.sum(np.square(sizes)))
    slack = whole * rounding(K * A.shape[1] * A.shape[2], 2.0**-53)
    N = np.diag(np.square(sizes))
    for i, j in combinations(range(K), 2):
        N[i, j] = N[j, i] = np.linalg.svd(A[i].T @ A[j], compute_uv=False).sum()
    if scale:
        return whole * (1 - float(np.linalg.eigvalsh(N / np.outer(sizes, sizes))[-1]) / K) - slack
    return whole - float(N.sum()) / K - slack


def _checked(
    tables: Sequence[Any], scale: Any, reflection: Any, tol: Any, max_iter: Any
) -> tuple[Floats, Floats]:  # fmt: skip
    """The tables about their means, (K, n, p), and the means."""
    for name, value in (("scale", scale), ("reflection", reflection)):
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(f"{name} must be True or False", received=repr(value), hint=f"{name}=True")
    if not (0 <= float(tol) < 1 and int(max_iter) >= 1):
        raise ParameterError("tol in [0, 1) and max_iter ≥ 1", received=f"{tol!r}, {max_iter!r}", hint="tol=1e-12")
    rows = [coordinates_of(one, f"table {i}") for i, one in enumerate(tables)]
    if len(rows) < 2 or len({len(one) for one in rows}) > 1:
        raise InputError(
            "two tables or more, of the same rows", received=f"shapes {', '.join(str(one.shape) for one in rows)}",
            hint="row i of every table is the same thing; leave out rows that one of them lacks",
        )  # fmt: skip
    width = max(one.shape[1] for one in rows)
    padded = np.stack([np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in rows])
    means = padded.mean(axis=1)
    centred = padded - means[:, None]
    means, centred = means + centred.mean(axis=1), centred - centred.mean(axis=1)[:, None]
    still = [i for i, one in enumerate(centred) if not np.any(np.abs(one) > 1e-14 * np.max(np.abs(padded[i])))]
    if still:
        raise InputError("tables whose rows differ", received=f"table {still[0]}, whose rows are all the same",
                         hint="leave it out")  # fmt: skip
    with np.errstate(over="ignore", under="ignore"):
        squares = np.sum(np.square(centred), axis=(1, 2))
    if not (np.min(squares) > LEAST and np.sum(squares) < 1 / LEAST):
        size = float(np.max(np.abs(centred)))
        raise InputError("squares of the tables must stay within the range of float64",
                         received=f"distances from the mean such as {size:.1e}", hint="change the unit")  # fmt: skip
    return centred, means
