"""The co-ranking matrix: how often the r-th neighbour became the s-th.                                        [LV09]

    q_rs = |{(i, j) : rank of j as seen from i is r among the rows, s in the embedding}|,       r, s = 1 … n − 1

A perfect embedding has n on the diagonal. Below it neighbours went away (extrusions), above it strangers came in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz._core.memory import limit
from ritz._core.threads import go_on
from ritz.graphs.search.nearest import in_order
from ritz.graphs.spaces.base import Space
from ritz.insight.embedding.ranks import row_blocks

__all__ = ["binned_coranking", "coranking", "pair_of_spaces", "require_neighbours"]

Counts = NDArray[np.int64]


def pair_of_spaces(X: Any, Y: Any, metric: Any, room: float) -> tuple[Space, Space, Any]:
    """Spaces of rows and of their embedding, checked; and the embedding as an array."""
    from sklearn.base import BaseEstimator

    from ritz.graphs.spaces.resolve import checked_rows, space_of, takes
    from ritz.graphs.spaces.vectors import EuclideanRows

    holder = type("Rows", (BaseEstimator,), {"memory": None})
    rows = checked_rows(holder(), X, takes(metric), reset=True)
    coordinates = checked_rows(holder(), Y, "vectors", reset=True)
    if hasattr(coordinates, "toarray"):
        coordinates = coordinates.toarray()
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if len(coordinates) != n:
        raise InputError(
            "an embedding has as many rows as what it embeds", received=f"{n:,} rows and {len(coordinates):,}"
        )
    if n < 3:
        raise InputError("neighbours can be compared among at least 3 rows", received=f"n_samples={n}")
    return space_of(metric, rows, None, room), EuclideanRows(coordinates, room), coordinates


def coranking(X: Any, Y: Any, *, metric: Any = "euclidean", memory: Any = None) -> Counts:
    """The whole co-ranking matrix, exactly; equal distances count by row number.

    Parameters
    ----------
    X : (n, d) rows, or distances with ``metric="precomputed"``
    Y : (n, p) coordinates of the same rows
    metric : as of :class:`ritz.Neighbours`
        What is near among the rows.
    memory : str, int or None
        Memory limit; the matrix takes 8n² bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> x = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> insight.coranking(x, np.sqrt(x))          # two rows have neighbours in another order
    array([[3, 1, 0],
           [1, 2, 1],
           [0, 1, 3]])
    """
    room = limit(memory)
    first, second, _ = pair_of_spaces(X, Y, metric, room)
    n = first.n
    if 8.0 * n * n > room:
        raise MemoryLimitError(
            f"the co-ranking matrix of {n:,} rows takes {8e-6 * n * n:,.0f} MB",
            received=f"a limit of {room / 1e6:,.0f} MB",
            hint="embedding_quality(X, Y, k) has its corner up to rank k, in little memory",
        )
    Q = np.zeros(n * n, np.int64)
    for at in row_blocks(n, n):
        go_on()
        own = np.arange(n)[at]
        a, b = _all_ranks(first, own), _all_ranks(second, own)
        Q += np.bincount((a * n + b).reshape(-1), minlength=n * n)
    return Q.reshape(n, n)[1:, 1:]


def binned_coranking(
    X: Any, Y: Any, bins: int = 32, *, metric: Any = "euclidean", entries: float = np.inf, random_state: int = 0,
    memory: Any = None,
) -> tuple[Counts, NDArray[np.int64], int]:  # fmt: skip
    """The co-ranking matrix in ``bins`` × ``bins`` cells, the last rank of each bin, and how many rows were looked at.

    Rows are drawn at random where all of them would take more than ``entries`` pairs: a cell is then a share of them.
    """
    first, second, _ = pair_of_spaces(X, Y, metric, limit(memory))
    n = first.n
    rows = np.arange(n)
    if float(n) * n > entries:
        many = max(2, min(n, int(entries / n)))
        rows = np.sort(np.random.default_rng(random_state).choice(n, many, replace=False))
    edges = np.unique(np.linspace(0, n - 1, min(bins, n - 1) + 1).round().astype(np.int64))[1:]
    cell = np.searchsorted(edges, np.arange(n))  # of every rank from 1 on
    count = len(edges)
    Q = np.zeros(count * count, np.int64)
    for at in row_blocks(len(rows), n):
        go_on()
        own = rows[at]
        a, b = _all_ranks(first, own), _all_ranks(second, own)
        others = a > 0
        Q += np.bincount(cell[a[others]] * count + cell[b[others]], minlength=count * count)
    return Q.reshape(count, count), edges, len(rows)


def _all_ranks(space: Space, own: NDArray[np.intp]) -> Counts:
    """Ranks of all rows as seen from some; 0 is the row itself."""
    screen, n = space.screen(), space.n
    i, j = np.repeat(own, n), np.tile(np.arange(n), len(own))
    keys = screen.tile(in_order(own), slice(0, n)).reshape(-1)
    far = screen.exact(i, j, keys).reshape(len(own), n)
    far[np.arange(len(own)), own] = -np.inf
    order = np.argsort(far, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(n), order.shape), axis=1)
    return ranks


def require_neighbours(k: Any, n: int) -> int:
    """A number of neighbours that n rows have, and that quality can be measured with."""
    most = max(1, (n - 1) // 2)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= most:
        raise ParameterError(f"k must be a whole number from 1 to {most}, half of the other rows", received=repr(k))
    return int(k)
