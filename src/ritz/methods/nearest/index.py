"""An index of directions: exact, or a graph of neighbours by usearch, hnswlib or faiss.                    [MY20]

Exact search multiplies the queries with all rows, block by block. A graph (hierarchical navigable small worlds) is
walked from neighbour to neighbour; how many candidates are kept on the way is its effort, which is raised until the
recall that was asked for is reached.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import MissingDependency, ParameterError
from ritz.data.words import nearest
from ritz.methods.lsi.search import exact
from ritz.methods.nearest.base import Nearest

__all__ = ["Index"]

#: Kinds and the packages that they need, the preferred ones first.
KINDS = {"usearch": "usearch", "hnswlib": "hnswlib", "faiss": "faiss", "exact": None}
#: Effort of a search to begin with, and at most.
EFFORT, MOST_EFFORT = 32, 4096
#: Rows up to which one thread makes the graph, so that the same rows have the same one: which of several threads comes
#: first changes the neighbours that a search misses. 5,000×64 take usearch 0.64 s, with two threads 0.55.
ALONE = 5000


class Index(Nearest):
    """An index of rows by their direction.

    Parameters
    ----------
    kind : "auto", "usearch", "hnswlib", "faiss" or "exact"
        ``"auto"``: the first of them that is installed; the packages come with ``pip install 'ritz[index]'``.
    connectivity : int
        Neighbours of each node of the graph.
    effort : int
        Candidates that are kept while the graph is built.
    recall : float or None
        Recall@10 that is aimed at; ``recall_`` says what was reached. None: a search keeps 32 candidates.
    random_state : int
        Seed of the graph and of the rows by which recall is measured.

    Attributes
    ----------
    kind_ : str
    effort_ : int
        Candidates that a search keeps.
    recall_ : measured recall@10 with its interval

    Examples
    --------
    >>> import ritz
    >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
    >>> index = ritz.Index("exact").fit(lsi.unit_embedding_)
    >>> lsi.search("flutter", top=2, index=index).rows
    array([2, 3])
    >>> float(index.recall_)
    1.0
    """

    def __init__(
        self,
        kind: str = "auto",
        *,
        connectivity: int = 16,
        effort: int = 128,
        recall: float | None = 0.95,
        random_state: Any = 0,
    ) -> None:
        self.kind = kind
        self.connectivity = connectivity
        self.effort = effort
        self.recall = recall
        self.random_state = random_state

    def _build(self) -> None:
        self._check()
        self.kind_ = _installed() if self.kind == "auto" else self.kind
        self.effort_ = EFFORT
        if self.kind_ == "exact":
            self._graph = None
            return
        package = KINDS[self.kind_]
        try:
            library = importlib.import_module(f"{package}.index" if package == "usearch" else f"{package}")
        except ImportError as error:
            raise MissingDependency(
                f"kind={self.kind!r} needs {package}", received="it is not installed", hint="pip install 'ritz[index]'"
            ) from error
        made = {"usearch": _usearch, "hnswlib": _hnswlib, "faiss": _faiss}[self.kind_]
        self._graph = made(library, np.asarray(self._unit, np.float32), self)

    def __getstate__(self) -> dict[str, Any]:
        """Without the graph, which belongs to another package."""
        return {name: value for name, value in super().__getstate__().items() if name != "_graph"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():  # the graph is made again from the rows
            effort = self.effort_
            self._build()
            self.effort_ = effort

    def _check(self) -> None:
        if self.kind not in ("auto", *KINDS):
            raise ParameterError(
                f"kind must be one of {', '.join(map(repr, ('auto', *KINDS)))}", received=repr(self.kind),
                hint=f"kind={nearest(self.kind, list(KINDS))!r}",
            )  # fmt: skip
        for name in ("connectivity", "effort"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 2:
                raise ParameterError(f"{name} must be a whole number from 2 on", received=repr(value))

    def _try_harder(self) -> bool:
        if self._graph is None or self.effort_ >= MOST_EFFORT:
            return False
        self.effort_ *= 2
        return True

    def _search(self, unit: NDArray[Any], top: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        near, cosines = np.full((len(unit), top), -1, np.int64), np.full((len(unit), top), np.nan)
        if self._graph is None:
            there = np.flatnonzero(np.linalg.norm(unit, axis=1) > 0)
            found = exact(self._unit, self._norms, np.asarray(unit[there], np.float64), top) if len(there) else []
            for i, (rows, scores) in zip(there.tolist(), found, strict=True):
                near[i, : len(rows)], cosines[i, : len(rows)] = rows, scores
            return near, cosines
        rows = self._graph(np.ascontiguousarray(unit, np.float32), top, max(self.effort_, top))
        known = rows >= 0
        near[:, : rows.shape[1]] = rows
        # cosines of what was found, in the precision of the rows
        for i in range(len(unit)):
            cosines[i, : rows.shape[1]][known[i]] = self._unit[rows[i][known[i]]] @ unit[i]
        return near, cosines


def _installed() -> str:
    return next(kind for kind, package in KINDS.items() if package is None or find_spec(package) is not None)


def _usearch(library: Any, rows: NDArray[np.float32], asked: Index) -> Any:
    # Half precision is enough to walk by, cosines are computed anew: 0.083 against 0.125 ms among 50,000×128, with the
    # same recall, and half of the memory.
    graph = library.Index(ndim=rows.shape[1], metric="ip", dtype="f16", connectivity=asked.connectivity,
                          expansion_add=asked.effort, expansion_search=EFFORT)  # fmt: skip
    graph.add(np.arange(len(rows), dtype=np.uint64), rows, threads=1 if len(rows) <= ALONE else 0)

    def search(unit: NDArray[np.float32], top: int, effort: int) -> NDArray[np.int64]:
        graph.expansion_search = effort
        found = graph.search(unit, top)
        keys = np.asarray(found.keys).astype(np.int64).reshape(len(unit), -1)
        counts = np.asarray(getattr(found, "counts", np.full(len(unit), keys.shape[1]))).reshape(-1, 1)
        return np.where(np.arange(keys.shape[1])[None, :] < counts, keys, -1)

    return search


def _hnswlib(library: Any, rows: NDArray[np.float32], asked: Index) -> Any:
    graph = library.Index(space="ip", dim=rows.shape[1])
    seed = asked._seed()
    graph.init_index(max_elements=len(rows), ef_construction=asked.effort, M=asked.connectivity, random_seed=seed)
    graph.add_items(rows, np.arange(len(rows)), num_threads=1 if len(rows) <= ALONE else -1)

    def search(unit: NDArray[np.float32], top: int, effort: int) -> NDArray[np.int64]:
        graph.set_ef(effort)
        return np.asarray(graph.knn_query(unit, k=top)[0]).astype(np.int64)

    return search


def _faiss(library: Any, rows: NDArray[np.float32], asked: Index) -> Any:
    graph = library.IndexHNSWFlat(rows.shape[1], asked.connectivity, library.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = asked.effort
    threads = library.omp_get_max_threads()
    try:
        library.omp_set_num_threads(1 if len(rows) <= ALONE else threads)
        graph.add(rows)
    finally:
        library.omp_set_num_threads(threads)

    def search(unit: NDArray[np.float32], top: int, effort: int) -> NDArray[np.int64]:
        graph.hnsw.efSearch = effort
        return np.asarray(graph.search(unit, top)[1]).astype(np.int64)

    return search
