"""Rows of numbers: Euclidean and p-distances, and those of SciPy's ``cdist`` that are given by a formula.

euclidean √Σ(x−y)²     manhattan Σ|x−y|     chebyshev max|x−y|     minkowski (Σ|x−y|^p)^(1/p)
cosine 1 − x·y/‖x‖‖y‖, correlation the same of x − x̄: half the squared Euclidean distance of rows of length one
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.words import shorten
from ritz.graphs.lists import Lists
from ritz.graphs.search.nearest import Nearest
from ritz.graphs.search.screen import Direct, Screen
from ritz.graphs.search.tree import TREE_COLUMNS, Tree
from ritz.graphs.spaces.base import Mapped, Space
from ritz.graphs.spaces.euclidean import Euclidean, distance_rounding, pair_distances, row_bytes

__all__ = ["EuclideanRows", "Formula", "Powers", "cosine", "unit_rows"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Differences that are looked at at a time.
PIECE = 1 << 18


class EuclideanRows(Space):
    """√Σ(x − y)², by a tree or by products in float32 with a proof.

    Parameters
    ----------
    X : ndarray (n, d)
    room : float
        Bytes that may be taken.
    tree : bool or None
        Whether a tree is used; None where columns are few.
    """

    distance = "Euclidean distance"

    def __init__(self, X: NDArray[Any], room: float = np.inf, tree: bool | None = None) -> None:
        self.n, d = X.shape
        self.vectors = X
        self.rows = Euclidean(X, keep=False)
        self.rounding = distance_rounding(d)
        wanted = d <= TREE_COLUMNS if tree is None else tree
        fits = 24.0 * X.size + 64.0 * self.n < room
        self.tree = Tree(X) if wanted and fits and self.rows.unit == 1.0 else None
        if self.tree is not None:
            self.route, self.reason = "tree", f"{d} columns, at most {TREE_COLUMNS}"
            self.proof = "a k-d tree compares differences in float64; ties at the k-th distance were fetched whole"
            return
        self.route = "blocks"
        self.reason = f"{d} columns, more than {TREE_COLUMNS}" if d > TREE_COLUMNS else "as asked, or little memory"
        self.proof = (
            "products in float32, with a bound of their rounding, let no neighbour out; distances are differences"
        )
        if 4.0 * X.size < room / 2:
            self.rows.kept = self.rows.scaled(X, np.float32)

    def screen(self, Q: Any = None) -> Screen:
        """Products of rows about their mean."""
        return self.rows.screen(Q)

    def nearest(self, Q: Any, k: int, keep_ties: bool = False, room: float = np.inf) -> Nearest:
        """By the tree, where there is one."""
        if self.tree is None:
            return super().nearest(Q, k, keep_ties, room)
        return self.tree.nearest(self.screen(Q), Q, k, keep_ties, room)

    def within(self, Q: Any, radius: float, room: float = np.inf) -> Lists:
        """By the tree, where there is one."""
        if self.tree is None:
            return super().within(Q, radius, room)
        m = self.n if Q is None else len(Q)
        return self.tree.within(self.screen(Q), Q, np.arange(m), np.full(m, float(radius)), None, room)

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Differences in float64."""
        return pair_distances(self.vectors, self.vectors, np.asarray(rows), np.asarray(cols), self.rows.unit)


class Powers(Space):
    """``(Σ|x − y|^p)^(1/p)``; p may be infinite."""

    def __init__(self, X: NDArray[Any], p: float, room: float = np.inf) -> None:
        self.n, self.X, self.p = len(X), X, p
        self.distance = {1.0: "Manhattan distance", np.inf: "Chebyshev distance"}.get(
            p, f"Minkowski distance, p = {p:g}"
        )
        self.rounding = 4 * distance_rounding(X.shape[1])
        few = X.shape[1] <= TREE_COLUMNS and 24.0 * X.size < room
        self.tree = Tree(X, p) if few else None
        self.route = "tree" if few else "blocks"
        self.reason = f"{X.shape[1]} columns, {'at most' if few else 'more than'} {TREE_COLUMNS}"
        self.proof = "every distance that counts was computed from differences in float64"

    def screen(self, Q: Any = None) -> Screen:
        """Distances by SciPy."""
        return _PowerScreen(self.X, self.X if Q is None else Q, self.p)

    def nearest(self, Q: Any, k: int, keep_ties: bool = False, room: float = np.inf) -> Nearest:
        """By the tree, where there is one."""
        if self.tree is None:
            return super().nearest(Q, k, keep_ties, room)
        return self.tree.nearest(self.screen(Q), Q, k, keep_ties, room)

    def within(self, Q: Any, radius: float, room: float = np.inf) -> Lists:
        """By the tree, where there is one."""
        if self.tree is None:
            return super().within(Q, radius, room)
        m = self.n if Q is None else len(Q)
        return self.tree.within(self.screen(Q), Q, np.arange(m), np.full(m, float(radius)), None, room)

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """Differences in float64."""
        return self.screen().exact(np.asarray(rows), np.asarray(cols), np.zeros(0))


class _PowerScreen(Screen):
    def __init__(self, X: NDArray[Any], Q: NDArray[Any], p: float) -> None:
        self.X, self.Q, self.p, self.m, self.n = X, Q, p, len(Q), len(X)
        self.slack = 1 + 8 * distance_rounding(X.shape[1])

    def tile(self, rows: Any, cols: slice) -> Floats:
        from scipy.spatial.distance import cdist

        named: dict[float, dict[str, Any]] = {1.0: {"metric": "cityblock"}, np.inf: {"metric": "chebyshev"}}
        how = named.get(self.p, {"metric": "minkowski", "p": self.p})
        return np.asarray(cdist(self.Q[rows], self.X[cols], **how))

    def reach(self, rows: Any, distances: Floats) -> Floats:
        return distances * self.slack

    def inside(self, rows: Any, distances: Floats) -> Floats:
        return distances / self.slack

    def lengths(self, rows: Any, keys: NDArray[Any]) -> Floats:
        return np.asarray(keys, np.float64)

    def content(self, of: str, rows: Places) -> list[bytes]:
        return row_bytes(self.Q if of == "rows" else self.X, rows)

    def exact(self, rows: Places, cols: Places, keys: NDArray[Any]) -> Floats:
        out, step = np.empty(len(rows)), max(1, PIECE // max(self.X.shape[1], 1))
        for start in range(0, len(rows), step):
            at = slice(start, start + step)
            gap = np.abs(self.Q[rows[at]].astype(np.float64, copy=False) - self.X[cols[at]])
            if self.p == np.inf:
                out[at] = gap.max(axis=1, initial=0.0)
            elif self.p == 1:
                out[at] = gap.sum(axis=1)
            else:
                out[at] = np.sum(gap**self.p, axis=1) ** (1 / self.p)
        return out


class Formula(Space):
    """A distance of SciPy's ``cdist`` by its name; every pair is computed."""

    proof = "every distance was computed in float64"

    def __init__(self, X: NDArray[Any], name: str, params: dict[str, Any]) -> None:
        self.n, self.X, self.name, self.params = len(X), X, name, params
        self.distance, self.route, self.reason = f"{name} distance", "blocks", f"{name} distances have no tree"

    def screen(self, Q: Any = None) -> Screen:
        """All distances."""
        return _FormulaScreen(self.X, self.X if Q is None else Q, self.name, self.params)


class _FormulaScreen(Direct):
    def __init__(self, X: NDArray[Any], Q: NDArray[Any], name: str, params: dict[str, Any]) -> None:
        self.X, self.Q, self.name, self.params, self.m, self.n = X, Q, name, params, len(Q), len(X)

    def tile(self, rows: Any, cols: slice) -> Floats:
        from scipy.spatial.distance import cdist

        made = np.asarray(cdist(self.Q[rows], self.X[cols], self.name, **self.params))
        if not np.isfinite(made).all():
            raise InputError(f"{self.name} distances must be finite", received="rows whose distance is not a number",
                             hint="rows of zeros have none; take them out")  # fmt: skip
        return made


def cosine(X: Any, room: float, centred: bool = False) -> Mapped:
    """``1 − cos`` of rows, or of rows less their means, as half the squared distance of rows of length one."""
    from ritz.graphs.spaces.sparse import SparseRows

    name = "correlation" if centred else "cosine"
    unit = unit_rows(X, name)
    inner = SparseRows(unit) if hasattr(unit, "tocsr") else EuclideanRows(unit, room)
    made = _OfUnitRows(inner, _half_square, _root_of_double, f"{name} distance")
    made.name = name
    return made


def _half_square(r: Floats) -> Floats:
    return 0.5 * r * r


def _root_of_double(r: float) -> float:
    return float(np.sqrt(2 * r))


class _OfUnitRows(Mapped):
    name: str

    def new(self, X: Any) -> Any:
        return self.inner.new(unit_rows(X, self.name))


def unit_rows(X: Any, name: str = "cosine") -> Any:
    """Rows of length one in float64; a row that has no direction is refused."""
    from ritz.kernels.rows import is_sparse
    from ritz.kernels.vectors import Cosine

    if name == "correlation":
        if is_sparse(X):
            raise InputError("correlation distances take dense rows", received="sparse rows", hint="metric='cosine'")
        X = X - X.mean(axis=1, dtype=np.float64)[:, None]
    prepared = Cosine().prepare(X, dtype=np.float64)
    empty = np.flatnonzero(np.asarray(prepared["there"]) == 0)
    if len(empty):
        what = "a constant row has no correlation" if name == "correlation" else "a row of zeros has no direction"
        raise InputError(f"{name} distances need rows that have one: {what}",
                         received="row " + shorten([str(i) for i in empty]), hint="take those rows out")  # fmt: skip
    return prepared["Z"]
