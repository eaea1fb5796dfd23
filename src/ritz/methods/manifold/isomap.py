"""Isomap: classical scaling of distances that run along a graph of neighbours.                  [TSL00]

    g(i, j) = length of the shortest path from i to j        −½ J g² J = U Λ Uᵀ,        row i ↦ (U Λ^½)ᵢ
    new row   g_x(j) = min over its neighbours i of d(x, i) + g(i, j),                  y(x) = ½ Λ^-½ Uᵀ (ḡ² − g²_x)

The model keeps the graph and U, not the n×n geodesics: one Dijkstra from x gives g_x.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.progress import using
from ritz.data.validate import room_for
from ritz.data.words import nearest
from ritz.graphs.lists import Lists, of_pairs
from ritz.graphs.neighbours import NEIGHBOURS, Neighbours
from ritz.graphs.spaces.precomputed import refuse_bad
from ritz.graphs.spaces.resolve import space_of
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.about import About
from ritz.methods.manifold.geodesic import Geodesics, lengths_from
from ritz.methods.manifold.landmarks import chosen, estimated_residual
from ritz.methods.manifold.placement import BATCH, Place, placed_by
from ritz.methods.manifold.scaling import Kept, Scaling
from ritz.methods.posed import Posed
from ritz.operators.distances import ROWS, Gower, Squares, kept_bytes

__all__ = ["Isomap"]

Floats = NDArray[np.float64]

#: What may become of a graph of several components: between those there is no distance along edges.
DISCONNECTED = ("join", "largest", "error")
TIES = ("keep", "row")


class Isomap(Scaling):
    """A map of rows whose distances are measured along the surface on which the rows lie.

    Parameters
    ----------
    n_components : int
        Number of axes.
    n_neighbors : int, optional
        Neighbours of each row, itself not counted; 10 where neither this nor ``radius`` is given. Rows are joined where
        either is a neighbour of the other.
    radius : float, optional
        All rows at most so far away instead.
    metric, metric_params
        As for :class:`ritz.Neighbours`; ``"precomputed"``: X holds distances, all of them, or those of a sparse graph,
        whose stored edges are the graph where neither ``n_neighbors`` nor ``radius`` is given.
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    landmarks : int or array, optional
        Geodesics are measured from so many rows, or from these, only; all rows are placed by them.
    ties : "keep" or "row"
        Of rows equally near as the last neighbour, all are kept, or the first by row number.
    disconnected : "join", "largest" or "error"
        A graph of several components is joined by its shortest links, or cut down to its largest component (the
        coordinates of other rows are nan), each with a warning; or refused.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates of the rows
    eigenvalues_ : (k,) of −½Jg²J, decreasing
    negative_share_ : Σ|λ⁻|/Σ|λ|: how far the geodesics are from distances in a plane; nan where it is not known
    graph_ : (n, n) CSR array of the lengths of edges
    rows_ : rows of the graph: all, unless ``disconnected="largest"``
    n_connected_components_ : components of the graph before anything was joined or left out
    landmarks_, residual_ : row numbers of the landmarks, and the estimated residual of the map, or None
    spread_ : (d,) standard deviations that columns were divided by, or None
    n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> t = np.linspace(0.5, 6, 60)
    >>> spiral = np.c_[t * np.cos(t), t * np.sin(t)]
    >>> isomap = ritz.Isomap(1, n_neighbors=2).fit(spiral)
    >>> bool((np.diff(isomap.embedding_[:, 0]) > 0).all() or (np.diff(isomap.embedding_[:, 0]) < 0).all())  # unrolled
    True
    >>> bool(np.allclose(isomap.transform(spiral), isomap.embedding_))
    True
    """

    about: ClassVar[About] = About(
        "Isomap", "isomap", "Iso", measure="eigenvalue", whole="Σ|λ|", cites=("[TSL00]",),
        paper="J. B. Tenenbaum, V. de Silva and J. C. Langford, A global geometric framework for nonlinear "
        "dimensionality reduction, Science 290 (2000), 2319–2323.",
    )  # fmt: skip

    def __init__(
        self, n_components: Any = 2, *, n_neighbors: int | None = None, radius: float | None = None,
        metric: Any = "euclidean", metric_params: dict[str, Any] | None = None, landmarks: Any = None,
        ties: str = "keep", disconnected: str = "join",
        standardize: bool = False, solver: str = "auto", tol: float = 1e-6, random_state: Any = 0,
        memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.n_neighbors, self.radius = n_components, n_neighbors, radius
        self.metric, self.metric_params, self.landmarks = metric, metric_params, landmarks
        self.ties, self.disconnected = ties, disconnected
        self.standardize, self.solver, self.tol, self.random_state = standardize, solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def fit(self, X: Any, y: Any = None) -> Isomap:  # type: ignore[override]  # rows have no weights
        """Fit to rows.

        Parameters
        ----------
        X : rows as for :class:`ritz.Neighbours`, or distances
        y : ignored
        """
        return self._fit(X, y)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:  # type: ignore[override]
        """Fit and return the coordinates of the rows."""
        return self.fit(X, y).embedding_

    # the problem

    def pose(self, rows: Any, weights: Any) -> Posed:
        """Gower's matrix of geodesics, in an order of rows in which neighbours are near each other."""
        room = room_for(self)
        near = self._neighbours(rows)
        geodesics, n = Geodesics(near.graph_), len(near.rows_)
        wanted = self._wanted(n, n, centered=True)
        if self.landmarks is None:
            squares = geodesics.squares(room)
            kept = Kept(rows, geodesics, order=geodesics.order, graph=near)
            return Posed(Gower(squares), kind="eigh", centered=True, kept=kept)
        taken = chosen(self.landmarks, n, wanted if isinstance(wanted, int) else 1, self.random_state)
        between = np.square(geodesics.between(taken))  # (m, n): what everything else is made of
        own = between[:, taken]
        own = (own + own.T) / 2

        def tiles() -> Any:
            return ((i, own[i : i + ROWS, i:].copy()) for i in range(0, len(own), ROWS))

        squares = Squares(len(taken), tiles, keep=kept_bytes(len(taken)) <= 0.5 * room, relative=geodesics.relative)
        kept = Kept(rows, (geodesics, between), taken, graph=near)
        return Posed(Gower(squares), kind="eigh", centered=True, kept=kept)

    def _neighbours(self, rows: Any) -> Neighbours:
        """The graph; of given edges all, where nothing else is asked for."""
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        k, radius = self.n_neighbors, self.radius
        if k is not None and isinstance(k, numbers.Integral) and not isinstance(k, bool) and not 1 <= int(k) < n:
            raise ParameterError(
                f"n_neighbors must be between 1 and {n - 1}, the number of other rows", received=f"n_neighbors={k}",
                hint=f"n_neighbors={min(NEIGHBOURS, n - 1)}, or more rows",
            )  # fmt: skip
        if k is None and radius is None and is_sparse(rows) and self.metric == "precomputed":
            radius = float(np.max(rows.data, initial=0.0)) or 1.0
        return Neighbours(
            k=k, radius=radius, metric=self.metric, metric_params=self.metric_params, ties=self.ties,
            disconnected=self.disconnected, memory=self.memory,
        ).fit(rows)  # fmt: skip

    def _plan(self, posed: Posed) -> Any:
        plan = super()._plan(posed)
        if posed.operator.squares.keep:
            return plan
        n = posed.operator.shape[0]
        words = f"{kept_bytes(n) / 1e9:.3g} GB of geodesics do not fit: every pass measures them anew"
        return replace(plan, reasons=(*plan.reasons, words))

    def _solved(self, posed: Posed, plan: Any) -> Any:
        with using(self.progress, type(self).__name__):
            return super()._solved(posed, plan)

    # the names of what was found

    def read(self, solution: Any, posed: Posed) -> None:
        """Coordinates, eigenvalues, and what new rows are placed by."""
        kept: Kept = posed.kept
        near: Neighbours = kept.graph
        n, nodes = len(near.component_labels_), near.rows_
        self.residual_, self.landmarks_ = None, kept.taken
        Y, place, certificate = self._mapped(solution, posed)
        if kept.taken is not None:
            geodesics, between = kept.source
            Y = placed_by(place, lambda at: between[:, at].T, len(nodes), Y.shape[1])
            self.residual_ = estimated_residual(Y, lambda rows: np.square(geodesics.between(rows)), self.random_state)
            words = (
                f"eigenvalues are those of the {len(kept.taken):,} landmarks: the other rows are placed "
                "by their geodesics to these",
                f"estimated residual of the map of all rows: {self.residual_:.1e} of λ₁ (64 rows sampled)",
            )
            certificate = replace(certificate, notes=(*certificate.notes, *words))
        else:
            turned = np.empty_like(Y)
            turned[kept.order] = Y
            anchors, level = np.empty_like(place.anchors), np.empty_like(place.level)
            anchors[kept.order], level[kept.order] = place.anchors, place.level
            Y, place = turned, Place(anchors, level)
        if len(nodes) < n:
            whole = np.full((n, Y.shape[1]), np.nan)
            whole[nodes] = Y
            Y = whole
        self._named(Y, place, certificate, solution, n, self._dtype_of(kept.rows))
        self.graph_, self.rows_, self.n_connected_components_ = near.graph_, nodes, near.n_connected_components_
        record = self._record
        record.taken = None if kept.taken is None else np.asarray(kept.taken, np.int64)
        if not (isinstance(self.metric, str) and self.metric == "precomputed"):
            record.compared = kept.rows.copy() if hasattr(kept.rows, "copy") else list(kept.rows)

    # rows that took no part

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of rows, (m, k): one search of the graph from each, through its neighbours.

        Parameters
        ----------
        X : rows as in ``fit``; for ``metric="precomputed"`` their distances to the n rows of the fit, (m, n)
        """
        return self._forward(self._new_rows(X))

    def _forward(self, rows: Any) -> np.ndarray:
        record = self._record
        lists = self._lists(rows)
        lists = _among(lists, np.asarray(self.rows_), self.n_samples_)
        place, m = Place(record.anchors, record.level), len(lists)
        out = np.empty((m, self.n_components_), record.dtype)
        for start in range(0, m, BATCH):
            at = slice(start, min(start + BATCH, m))
            g = lengths_from(self.graph_, lists, at)
            lost = ~np.isfinite(g).all(axis=1)
            if lost.any():
                raise InputError(
                    "a new row needs a neighbour among the rows of the map",
                    received=f"row {start + int(np.flatnonzero(lost)[0])} without one",
                    hint="a larger radius, or n_neighbors instead",
                )
            g = g if record.taken is None else g[:, record.taken]
            out[at] = place(np.square(g))
        return out

    def _lists(self, rows: Any) -> Lists:
        """Neighbours of new rows among those of the fit."""
        n = self.n_samples_
        k = None if self.radius is not None else int(self.n_neighbors or min(NEIGHBOURS, n - 1))
        if not (isinstance(self.metric, str) and self.metric == "precomputed"):
            space = space_of(self.metric, self._record.compared, self.metric_params, room_for(self))
            new = space.new(rows)
            if k is None:
                return space.within(new, float(self.radius or 0.0), room_for(self))
            return space.nearest(new, k, self.ties == "keep", room_for(self)).lists
        if is_sparse(rows):
            csr = rows.tocsr()
            refuse_bad(csr.data.reshape(1, -1), 0)
            at = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
            return _nearest_of(at, csr.indices.astype(np.intp), np.asarray(csr.data, np.float64), csr.shape[0], self)
        D = np.asarray(rows, np.float64)
        refuse_bad(D, 0)
        every, cols = np.indices(D.shape)
        return _nearest_of(every.ravel(), cols.ravel(), D.ravel(), len(D), self)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError(
                "n_neighbors or radius, not both", received=f"n_neighbors={self.n_neighbors!r}, radius={self.radius!r}",
                hint="the nearest rows, or all rows within a radius",
            )  # fmt: skip
        for name, allowed in (("disconnected", DISCONNECTED), ("ties", TIES)):
            value = getattr(self, name)
            if value == "apart":
                raise ParameterError(
                    "components have no distance along edges, so one map cannot hold them apart",
                    received="disconnected='apart'",
                    hint="disconnected='join' or 'largest', or a fit for each component",
                )  # fmt: skip
            if not isinstance(value, str) or value not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}", received=repr(value),
                                     hint=f"{name}={nearest(value, allowed)!r}")  # fmt: skip
        k = self.n_neighbors
        if k is not None and (not isinstance(k, numbers.Integral) or isinstance(k, bool) or int(k) < 1):
            raise ParameterError("n_neighbors must be a whole number ≥ 1", received=repr(k))


def _nearest_of(rows: Any, cols: Any, far: Floats, m: int, model: Isomap) -> Lists:
    """The neighbours that a model means, of given distances."""
    if model.radius is not None:
        near = far <= float(model.radius)
        return of_pairs(rows[near], cols[near], far[near], m, None)
    every = of_pairs(rows, cols, far, m, None)
    if model.n_neighbors is None and is_sparse(model.graph_) and every.counts.max(initial=0) < model.n_samples_:
        return every  # stored edges are the graph
    k = int(model.n_neighbors or min(NEIGHBOURS, model.n_samples_ - 1))
    if model.ties == "row":
        return every.nearest(k)
    last = every.distances[every.indptr[:-1] + np.minimum(k, every.counts) - 1]
    near = every.distances <= last[every.rows]
    return of_pairs(every.rows[near], every.indices[near], every.distances[near], m, None)


def _among(lists: Lists, nodes: NDArray[np.intp], n: int) -> Lists:
    """Neighbours that are nodes of the graph, by their places in it."""
    if len(nodes) == n:
        return lists
    place = np.full(n, -1, np.intp)
    place[nodes] = np.arange(len(nodes))
    there = place[lists.indices] >= 0
    return of_pairs(lists.rows[there], place[lists.indices[there]], lists.distances[there], len(lists), None)
