"""``ritz.Neighbours``: the nearest rows of each row, and the graph that they make.

rows → space (what is near) → lists of neighbours (a search, with its proof) → edges → graph_ (n×n CSR)
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import AccuracyWarning, DisconnectedGraph, InputError, MemoryLimitError, ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.threads import lane_count
from ritz._core.warn import one_call, warn
from ritz.data.validate import room_for
from ritz.data.words import counted, nearest
from ritz.graphs.certificate import SearchCertificate
from ritz.graphs.components import Links, components_of, shortest_links
from ritz.graphs.graph import GRAPHS, WEIGHTS, Edges, edges_of, weights_of
from ritz.graphs.lists import Lists
from ritz.graphs.search.approximate import approximate, measured_recall
from ritz.graphs.search.collect import COLS, ROWS
from ritz.graphs.spaces.base import Space
from ritz.graphs.spaces.resolve import checked_rows, space_of, takes

__all__ = ["Neighbours", "larger"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Neighbours where neither k nor radius is given.
NEIGHBOURS = 10
#: What may become of a graph that falls apart, and of rows equally near.
DISCONNECTED = ("apart", "join", "largest", "error")
TIES = {"row": "the first by row number", "keep": "all kept"}
#: Measured recall below which a search is warned of.
RECALL = 0.95
#: Bytes of a neighbour in lists, edges and the graph while these are made; of a key of a tile and what is made of it.
PER_NEIGHBOUR, PER_KEY = 100.0, 24


class Neighbours(TransformerMixin, BaseEstimator):
    """The nearest rows of each row: exact, with a proof, unless asked otherwise; and their graph.

    Parameters
    ----------
    k : int, optional
        Neighbours of each row, the row itself not counted. 10, or all others of fewer rows, where neither ``k`` nor
        ``radius`` is given. More than there are is an error, never cut silently.
    radius : float, optional
        All rows at most so far away instead.
    metric : str, kernel or callable
        ``"euclidean"``, ``"sqeuclidean"``, ``"manhattan"``, ``"chebyshev"``, ``"minkowski"``, ``"cosine"``,
        ``"correlation"``, ``"braycurtis"``, ``"canberra"``, ``"hamming"``, ``"jaccard"``, ``"jensenshannon"``;
        ``"edit"`` for strings; a kernel of ``ritz.kernels``, for the distance in its space; a function of two rows; or
        ``"precomputed"``: X holds distances, all of them, or those of a sparse graph.
    metric_params : dict, optional
        Such as ``{"p": 3}`` of ``"minkowski"``.
    exact : bool
        False: by a graph library (``pip install 'ritz[neighbours]'``), with its recall measured.
    library : "auto", "pynndescent" or "hnswlib"
        Which one, for ``exact=False``.
    ties : "row" or "keep"
        Of rows equally near as the k-th, the first by row number, or all: then rows can have more than k.
    graph : "any", "both" or "directed"
        Rows are joined where either is a neighbour of the other, where each is; or from each row to its neighbours.
    weights : "distance", "connectivity", "heat" or "self-tuning"
        Of the edges: d, 1, exp(−d²/t), or exp(−d²/σᵢσⱼ) with σᵢ the distance to the seventh neighbour.
    scale : float, optional
        t of ``"heat"``, the squared median distance of the edges if absent; which neighbour of ``"self-tuning"``.
    disconnected : "apart", "join", "largest" or "error"
        A graph of several components is left so, joined by its shortest links, cut down to its largest component, each
        with a warning; or refused.
    memory : str, int or None
        Memory limit, such as ``"2GB"``; half of what is available if absent. Never a matrix of n×n.
    random_state : int
        For ``exact=False``.
    progress : bool or callable, optional
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    neighbours_ : lists of neighbours: ``indptr``, ``indices``, ``distances``
    graph_ : (n, n) CSR array of weights; zero distances are stored. With ``"largest"`` only of the rows ``rows_``
    certificate_ : how the search was done and what is proved about it
    n_connected_components_ : components of the graph before anything was joined or left out
    component_labels_ : (n,) the component of each row; 0 is the largest
    links_ : edges that join components, ``i``, ``j`` and ``distances``; empty unless ``disconnected="join"``
    rows_ : rows of ``graph_``: all, unless ``disconnected="largest"``
    edges_ : edges of the graph as pairs i < j with distances; None of a directed graph
    scale_ : t of the heat kernel; None for other weights
    k_, n_samples_fit_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> x = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> near = ritz.Neighbours(k=1).fit(x)
    >>> near.kneighbors()[1].ravel()              # a row is no neighbour of its own
    array([1, 0, 1, 2])
    >>> near.graph_.toarray()                     # joined where either is a neighbour of the other
    array([[0., 1., 0., 0.],
           [1., 0., 2., 0.],
           [0., 2., 0., 4.],
           [0., 0., 4., 0.]])
    >>> near.certificate_
    neighbours (exact: none missed)
    Euclidean distance; tree: 1 columns, at most 8
    proof: a k-d tree compares differences in float64; ties at the k-th distance were fetched whole
    distances are off by at most 1.0e-15 of themselves
    ties: the first by row number
    """

    size_word: str = "k"  # what the number of neighbours is called where it was asked for

    def __init__(
        self, k: int | None = None, *, radius: float | None = None, metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None, exact: bool = True, library: str = "auto", ties: str = "row",
        graph: str = "any", weights: str = "distance", scale: float | None = None, disconnected: str = "apart",
        memory: Any = None, random_state: Any = 0, progress: Any = None,
    ) -> None:  # fmt: skip
        self.k, self.radius, self.metric, self.metric_params, self.exact = k, radius, metric, metric_params, exact
        self.library, self.ties, self.graph, self.weights, self.scale = library, ties, graph, weights, scale
        self.disconnected, self.memory, self.random_state, self.progress = disconnected, memory, random_state, progress

    @one_call()
    def fit(self, X: Any, y: Any = None) -> Neighbours:
        """Search the neighbours of all rows and build their graph.

        Parameters
        ----------
        X : (n, d) rows, dense or sparse; a list of objects for kernels of strings and functions; or distances (n, n)
        y : ignored
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # a fit that fails leaves no model behind
        self._check_parameters()
        kind = takes(self.metric)
        rows = checked_rows(self, X, kind, reset=True)
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if n < 2:
            raise InputError("neighbours need at least 2 rows", received=f"n_samples={n}", hint="pass more rows")
        k = self._wanted(n)
        room = room_for(self)
        self._require_room(n, k, room)
        if kind != "precomputed" and rows is X and hasattr(rows, "copy"):
            rows = rows.copy()  # new rows are compared with these, whatever becomes of X
        with using(self.progress, "Neighbours"):
            space = space_of(self.metric, rows, self.metric_params, room)
            lists, certificate = self._search(space, k, room)
            self._build(space, lists)
        self._space, self.neighbours_, self.certificate_, self.k_, self.n_samples_fit_ = space, lists, certificate, k, n
        return self

    def kneighbors(self, X: Any = None, k: int | None = None, return_distance: bool = True) -> Any:
        """Distances and numbers of the k nearest rows, nearest first: (m, k) each; arrays of arrays if ties are kept.

        Parameters
        ----------
        X : (m, d) new rows, optional
            Without them the rows of the fit, of which none is its own neighbour.
        k : int, optional
            As fitted if absent.
        return_distance : bool
            False: numbers alone.
        """
        check_is_fitted(self, "neighbours_")
        if k is None:
            k = self.k_ if self.k_ is not None else self._wanted_k(self.n_samples_fit_)
        own = X is None
        _require_k(k, self.n_samples_fit_ - own, "other rows" if own else "rows")
        kept = self.k_ is not None and own and k <= self.k_ and self.ties == "row"
        if kept:
            lists = self.neighbours_.nearest(k)
        else:
            lists = self._space.nearest(self._new(X), k, self.ties == "keep", room_for(self)).lists
        far, where = lists.arrays() if self.ties == "row" else lists.ragged()
        return (far, where) if return_distance else where

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = True
    ) -> Any:
        """Distances and numbers of all rows at most ``radius`` away, as arrays of arrays, nearest first.

        Parameters
        ----------
        X : (m, d) new rows, optional
            Without them the rows of the fit, of which none is its own neighbour.
        radius : float, optional
            As fitted if absent.
        return_distance : bool
            False: numbers alone.
        sort_results : bool
            Accepted for scikit-learn's sake; lists are always sorted.
        """
        check_is_fitted(self, "neighbours_")
        radius = self.radius if radius is None else radius
        if radius is None:
            raise ParameterError("radius_neighbors needs a radius", hint="radius_neighbors(X, radius=1.0)")
        _require_radius(radius)
        far, where = self._space.within(self._new(X), float(radius), room_for(self)).ragged()
        return (far, where) if return_distance else where

    def transform(self, X: Any) -> Any:
        """Distances of rows, taken as new ones, to their neighbours in the fit: CSR (m, n).

        Rows of the fit find themselves at distance 0, so with ``k`` there is one neighbour more, as in scikit-learn's
        ``KNeighborsTransformer``: estimators with ``metric="precomputed"`` take this graph. ``graph_`` is the graph of
        the rows of the fit in which no row is its own neighbour.

        Parameters
        ----------
        X : (m, d) rows
        """
        check_is_fitted(self, "neighbours_")
        n, Q = self.n_samples_fit_, self._new(X)
        if self.k_ is None:
            return self._space.within(Q, float(self.radius or 0.0), room_for(self)).to_csr(n, by_distance=True)
        return self._space.nearest(Q, min(self.k_ + 1, n), self.ties == "keep", room_for(self)).lists.to_csr(
            n, by_distance=True
        )

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """``fit(X).transform(X)``.

        Parameters
        ----------
        X : rows
        y : ignored
        fit_params : none
        """
        return self.fit(X, y, **fit_params).transform(X)

    # ------------------------------------------------------------------------------------------------ what is asked for

    def _check_parameters(self) -> None:
        if self.k is not None and self.radius is not None:
            raise ParameterError("k or radius, not both", received=f"k={self.k!r}, radius={self.radius!r}",
                                 hint="k nearest rows, or all rows within a radius")  # fmt: skip
        if self.radius is not None:
            _require_radius(self.radius)
        choices = {"ties": tuple(TIES), "graph": GRAPHS, "weights": WEIGHTS, "disconnected": DISCONNECTED}
        for name, allowed in choices.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}", received=repr(value),
                                     hint=f"{name}={nearest(value, allowed)!r}")  # fmt: skip
        if self.graph == "directed" and (self.disconnected in ("join", "largest") or self.weights != "distance"):
            raise ParameterError(
                "a directed graph holds the distances of the lists as they are",
                received=f"weights={self.weights!r}, disconnected={self.disconnected!r}", hint="graph='any' or 'both'",
            )  # fmt: skip
        if self.scale is not None and not (isinstance(self.scale, numbers.Real) and float(self.scale) > 0):
            raise ParameterError("scale must be a number > 0", received=repr(self.scale))
        if not self.exact and self.radius is not None:
            raise ParameterError("a graph library finds k neighbours, not all within a radius",
                                 received=f"radius={self.radius!r}, exact=False", hint="exact=True")  # fmt: skip

    def _wanted_k(self, n: int) -> int:
        if self.k is None:
            return min(NEIGHBOURS, n - 1)
        _require_k(self.k, n - 1, "other rows")
        return int(self.k)

    def _wanted(self, n: int) -> int | None:
        return None if self.radius is not None else self._wanted_k(n)

    def _require_room(self, n: int, k: int | None, room: float) -> None:
        """Lists, edges and the graph, and a tile a lane."""
        least = PER_NEIGHBOUR * n * (k or 1) + lane_count() * min(n, ROWS) * min(n, COLS) * PER_KEY
        if least > room:
            error = MemoryLimitError(
                f"neighbours of {n:,} rows need about {least / 1e6:,.0f} MB beside the rows",
                received=f"a limit of {room / 1e6:,.0f} MB",
                hint=f"memory='{np.ceil(least / 1e6) * 1.1:.0f}MB', or a smaller k",
            )  # fmt: skip
            error.least = least
            raise error

    def _new(self, X: Any) -> Any:
        if X is None:
            return None
        rows = checked_rows(self, X, takes(self.metric), reset=False)
        return self._space.new(rows)

    # ------------------------------------------------------------------------------------------- the search, the graph

    def _search(self, space: Space, k: int | None, room: float) -> tuple[Lists, SearchCertificate]:
        words, again = TIES[self.ties], 0
        if k is None:
            lists = space.within(None, float(self.radius or 0.0), room)
            words = "all within the radius"
        elif self.exact:
            found = space.nearest(None, k, self.ties == "keep", room)
            lists, again = found.lists, found.again
        else:
            return self._approximate(space, k)
        return lists, SearchCertificate(
            True, space.route, space.reason, space.distance, space.proof, space.rounding, again, words,
            recall=1.0, interval=(1.0, 1.0), sampled=0,
        )  # fmt: skip

    def _approximate(self, space: Space, k: int) -> tuple[Lists, SearchCertificate]:
        if space.vectors is None:
            raise ParameterError("approximate neighbours take dense rows of numbers, Euclidean or cosine",
                                 received=space.distance, hint="exact=True")  # fmt: skip
        seed = seed_of(self.random_state)
        lists, name = approximate(space, k, self.library, seed)
        recall, interval, sampled = measured_recall(space, lists, k, seed)
        if recall < RECALL:
            warn(
                f"{name} found {100 * recall:.1f} % of the neighbours (between {100 * interval[0]:.1f} % and "
                f"{100 * interval[1]:.1f} %, "
                f"measured on {sampled} rows)\nhint: exact=True finds all",
                AccuracyWarning,
            )
        return lists, SearchCertificate(
            False, name, "as asked", space.distance, "measured, not proved", space.rounding, 0,
            "as the library finds them", recall, interval, sampled,
        )  # fmt: skip

    def _build(self, space: Space, lists: Lists) -> None:
        """Edges, components and the graph."""
        n = len(lists)
        edges = edges_of(lists, "both" if self.graph == "both" else "any")
        weights, self.scale_ = weights_of(edges, lists, self.weights, self.scale)
        edges, weights = _with_weight(edges, weights, self.weights)
        count, labels = components_of(edges)
        links, rows = Links(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)), np.arange(n)
        if count > 1:
            told = f"the graph of neighbours has {counted(count, 'component')}, the largest of {_sizes(labels)}"
            if self.disconnected == "error":
                raise InputError("a graph in one piece", received=told, hint=self._larger())
            if self.disconnected == "join":
                links = shortest_links(space, labels)
                edges = edges.joined(links.i, links.j, links.distances)
                weights, self.scale_ = weights_of(edges, lists, self.weights, self.scale_ or self.scale)
                verb = "joins" if len(links) == 1 else "join"
                told += f"; {counted(len(links), 'link')} {verb} them, up to {links.distances.max():.3g} long"
            elif self.disconnected == "largest":
                rows = np.flatnonzero(labels == 0)
                weights, edges = weights[(labels[edges.i] == 0)], edges.kept(rows)
                told += f"; the other {counted(n - len(rows), 'row')} left out"
            warn(f"{told}\nhint: {self._larger()}", DisconnectedGraph)
        self.n_connected_components_, self.component_labels_, self.links_, self.rows_ = count, labels, links, rows
        self.edges_ = None if self.graph == "directed" else edges
        self.graph_ = lists.to_csr(n) if self.graph == "directed" else edges.to_csr(weights)

    def _larger(self) -> str:
        return larger(self, self.size_word)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "neighbours_")


def _with_weight(edges: Edges, weights: Floats, kind: str) -> tuple[Edges, Floats]:
    """Without the edges whose weight has vanished: they join nothing."""
    there = weights > 0
    if kind in ("distance", "connectivity") or there.all():
        return edges, weights
    return Edges(edges.n, edges.i[there], edges.j[there], edges.distances[there]), weights[there]


def _sizes(labels: Places) -> str:
    sizes = np.bincount(labels)
    shown = ", ".join(f"{size:,}" for size in sizes[1:4]) + (", …" if len(sizes) > 4 else "")
    return f"{counted(int(sizes[0]), 'row')}, then {shown}"


def _require_k(k: Any, most: int, what: str) -> None:
    if not isinstance(k, numbers.Integral) or isinstance(k, bool) or int(k) < 1:
        raise ParameterError("k must be a whole number ≥ 1", received=repr(k))
    if int(k) > most:
        raise ParameterError(f"k must be at most {most}, the number of {what}", received=f"k={k}",
                             hint=f"k={most}, or more rows")  # fmt: skip


def _require_radius(radius: Any) -> None:
    if not isinstance(radius, numbers.Real) or isinstance(radius, bool) or not 0 < float(radius) < np.inf:
        raise ParameterError("radius must be a number > 0", received=repr(radius))


def larger(near: Neighbours, word: str) -> str:
    """What may connect a graph of neighbours; ``word``: what their number is called where it was asked for."""
    size = f"radius > {near.radius:g}" if near.radius is not None else f"{word} > {near.k or NEIGHBOURS}"
    return f"{size} may connect it; disconnected= says what becomes of components"
