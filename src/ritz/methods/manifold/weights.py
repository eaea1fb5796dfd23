"""Local geometry of all neighbourhoods at once: the rows of B, whose smallest singular vectors are the embedding.

    standard   e_i − Σ w_ij e_j            G w = 1,  G = PPᵀ + reg·tr(PPᵀ)·I,  P = [x_j − x_i]  (k×d), w/Σw       [RS00]
    modified   e_i − Σ w_ij^(l) e_j        l = 1 … s_i, several weight vectors for each row                       [ZW07]
    ltsa       S_i q^(l)                   q^(l) an orthonormal basis off [1, U],  U (k×c) tangent coordinates    [ZZ04]
    hessian    S_i h^(l)                   h^(l) the c(c+1)/2 last columns of the Q of [1, U, U∘U]                [DG03]

S_i picks the k neighbours of row i, which for ltsa and hessian do not include i. Every row of B sums to zero. All are
batched: arrays (rows, k, …), some thousand rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ritz._core.threads import go_on, lane_count, run_lanes
from ritz.methods.manifold.hoods import Differences, Hoods

__all__ = ["METHODS", "alignment", "barycentric", "batches", "least_neighbours", "of_products"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

METHODS = ("standard", "modified", "hessian", "ltsa")
#: Bytes of one batched array.
BATCH = 1 << 24
#: Share of the largest singular value of a neighbourhood below which a direction is none: products of U lose half of
#: the digits, so that 1e-8 is where rounding is as large as what is looked for.
FLAT = 1e-8
#: ‖h‖ below which a Householder vector is zero, as in Zhang and Wang's algorithm.
NO_TURN = 1e-12


def least_neighbours(method: str, c: int) -> int:
    """The fewest neighbours that a method of c axes can do with."""
    return {"standard": 1, "modified": c, "ltsa": c + 1, "hessian": 1 + c + c * (c + 1) // 2}[method]


def alignment(X: Floats | Hoods, near: Places, method: str, c: int, reg: float) -> tuple[Any, int]:
    """B (r×n) of rows X (n×d), or neighbourhoods of rows, and their neighbours (n×k).

    Beside it how many neighbourhoods have fewer than c directions.
    """
    hoods = Differences(X) if isinstance(X, np.ndarray) else X
    n = hoods.n
    if method == "modified":
        return _modified(hoods, near, c, reg)
    k, i, j = near.shape[1], *np.triu_indices(c)

    def work(at: slice) -> tuple[Floats, Any, int]:
        some = near[at]
        if method == "standard":
            w = of_products(hoods.about(at, some).gram(), reg)
            data = np.concatenate([np.ones((len(w), 1)), -w], axis=1)[:, None]
            return data, np.concatenate([np.arange(n)[at, None], some], axis=1)[:, None], 0
        U, s = hoods.centred(some).tangents(c)
        flat = int(np.count_nonzero(s[:, c - 1] <= FLAT * s[:, 0])) if s.shape[1] >= c else len(s)
        basis = [np.ones((len(U), k, 1)), U]
        if method == "hessian":
            basis.append(U[:, :, i] * U[:, :, j])
        Q = np.linalg.qr(np.concatenate(basis, axis=2), mode="complete" if method == "ltsa" else "reduced")[0]
        rows = Q[:, :, 1 + c :].transpose(0, 2, 1)
        return rows, np.broadcast_to(some[:, None], rows.shape), flat

    made = _in_lanes(work, list(batches(n, k, hoods.width)), isinstance(hoods, Differences))
    return _stacked([one[0] for one in made], [one[1] for one in made], n), sum(one[2] for one in made)


def _in_lanes(work: Callable[[slice], Any], steps: list[slice], several: bool) -> list[Any]:
    """``[work(step) for step in steps]``, on all cores where rows are numbers: a function of the user's may not be."""
    lanes = min(lane_count() if several else 1, len(steps))
    found: list[Any] = [None] * len(steps)

    def share(lane: int) -> None:
        for number in range(lane, len(steps), lanes):
            go_on()
            found[number] = work(steps[number])

    run_lanes(share, list(range(lanes)))
    return found


def barycentric(P: Floats, reg: float, absent: NDArray[np.bool_] | None = None) -> Floats:
    """Weights (n, k) that sum to one and make Σ w_j p_j of differences P (n, k, d) smallest; none for ``absent``."""
    return of_products(P @ P.transpose(0, 2, 1), reg, absent)


def of_products(G: Floats, reg: float, absent: NDArray[np.bool_] | None = None) -> Floats:
    """The same from products G (n, k, k), which are overwritten."""
    k = G.shape[1]
    present = np.ones(G.shape[:2])
    if absent is not None:
        present = np.where(absent, 0.0, 1.0)
        G = G * present[:, :, None] * present[:, None, :]
    trace = np.trace(G, axis1=1, axis2=2)
    added = np.where(trace > 0, reg * trace, 1.0)
    i = np.arange(k)
    G[:, i, i] += np.where(present > 0, added[:, None], np.where(trace > 0, trace, 1.0)[:, None])
    w = np.linalg.solve(G, present[:, :, None])[:, :, 0] * present
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def batches(n: int, k: int, d: int) -> Iterator[slice]:
    """Rows of arrays (rows, k, max(k, d)) that fit into ``BATCH``."""
    many = max(1, BATCH // (8 * k * max(k, d)))
    for start in range(0, n, many):
        go_on()
        yield slice(start, min(start + many, n))


def _stacked(data: list[Floats], columns: list[Any], n: int) -> Any:
    """B from blocks of rows (rows, l, entries): all rows have as many entries."""
    width = data[0].shape[2]
    values = np.concatenate([one.reshape(-1) for one in data])
    short = np.int32 if len(values) < np.iinfo(np.int32).max else np.int64  # which products are twice as fast with
    places = np.concatenate([np.ascontiguousarray(one, dtype=short).reshape(-1) for one in columns])
    ends = np.arange(0, len(values) + 1, width, dtype=short)
    return csr_array((values, places, ends), shape=(len(values) // width, n))


def _modified(hoods: Hoods, near: Places, c: int, reg: float) -> tuple[Any, int]:
    """Several weight vectors for each row: the directions of a neighbourhood that its rows do not leave.

    s_i counts the small eigenvalues, by the median over all rows of the share of variance off c directions.
    """
    n, k = near.shape
    steps = list(batches(n, k, hoods.width))
    made = _in_lanes(lambda at: hoods.about(at, near[at]).bases(), steps, isinstance(hoods, Differences))
    bases, values = [one[0] for one in made], np.concatenate([one[1] for one in made])
    total, seen = values.sum(axis=1), np.cumsum(values, axis=1)
    inside = values[:, :c].sum(axis=1)
    rest = np.divide(values[:, c:].sum(axis=1), inside, out=np.zeros(n), where=inside > 0)
    eta = float(np.median(rest))
    nev = values.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.count_nonzero(total[:, None] / seen[:, :-1] - 1 < eta, axis=1) + k - nev
    small = np.maximum(small, 1)
    flat = int(np.count_nonzero(values[:, c - 1] <= FLAT**2 * values[:, 0])) if nev >= c else n
    data, columns, start = [], [], 0
    for V in bases:
        at = slice(start, start + len(V))
        start += len(V)
        W, there = _weights(V, values[at], small[at], reg)
        rows = np.concatenate([W.transpose(0, 2, 1), np.full((len(V), k, 1), -1.0)], axis=2)[there]
        nodes = np.concatenate([near[at], np.arange(n)[at, None]], axis=1)
        data.append(rows[None])
        columns.append(np.repeat(nodes, there.sum(axis=1), axis=0)[None])
    return _stacked(data, columns, n), flat


def _weights(V: Floats, values: Floats, small: Places, reg: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Weight vectors as columns (n, k, k), and which of them there are: the last s_i."""
    n, k = V.shape[:2]
    total = values.sum(axis=1)
    added = np.where(total > 0, reg * total, 1.0)
    padded = np.concatenate([values, np.zeros((n, k - values.shape[1]))], axis=1) + added[:, None]
    sums = V.sum(axis=1)
    w = np.einsum("nkj,nj->nk", V, sums / padded)
    w /= w.sum(axis=1, keepdims=True)
    there = np.arange(k) >= (k - small)[:, None]
    part = np.where(there, sums, 0.0)
    alpha = np.linalg.norm(part, axis=1) / np.sqrt(small)
    h = np.where(there, alpha[:, None] - part, 0.0)
    length = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.where(length < NO_TURN, 0.0, h / np.where(length > 0, length, 1.0))
    turned = np.where(there[:, None], V, 0.0)
    turned = turned - 2 * np.einsum("nkj,nj->nk", turned, h)[:, :, None] * h[:, None]
    return turned + ((1 - alpha)[:, None] * w)[:, :, None], there
