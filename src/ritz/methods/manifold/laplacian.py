"""Laplacian eigenmaps: coordinates that change least along the edges of a graph of neighbours.             [BN03]

    L y = λ D y,   L = D − W,  D = diag(W1)          smallest λ > 0;  yᵀDy = 1
    y(x) = (1 − λ)⁻¹ Σ_j p(x, x_j) y_j,              p(x, x_j) = w(x, x_j)/Σ w(x, ·)         new rows      [BPV04]

On a row of the fit the second line is the first one, so that its coordinates come back. Unnormalised: L y = λ y.
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ritz._core.bases import check_is_fitted
from ritz._core.errors import DisconnectedGraph, InputError, ParameterError
from ritz._core.lazy import cached_property
from ritz._core.random import seed_of
from ritz._core.warn import warn
from ritz.data.validate import require_finite, room_for, validate_rows
from ritz.data.words import counted
from ritz.graphs.graph import SELF_TUNING, local_scales
from ritz.graphs.neighbours import DISCONNECTED
from ritz.methods.fitted.about import About
from ritz.methods.manifold.affinity import joined, log_weights, reaches, shares
from ritz.methods.manifold.directions import REPEATED, regression_residuals
from ritz.methods.manifold.local import Local, Part, one_of
from ritz.methods.manifold.nodes import Nodes, nodes_of
from ritz.methods.manifold.units import require_numbers
from ritz.methods.posed import Posed
from ritz.operators import Laplacian
from ritz.spectral.solution import Solution

__all__ = ["LaplacianEigenmaps"]

Floats = NDArray[np.float64]

WEIGHTS = ("connectivity", "heat", "self-tuning", "precomputed")
#: |1 − λ| from which on an eigenvector can be extended: below it the quotient has no digit left.
EXTENDS = 1e-8


class LaplacianEigenmaps(Local):
    """Laplacian eigenmaps of a graph of neighbours, or of a graph that is given.

    Parameters
    ----------
    n_components : int
        Number of axes.
    n_neighbors, radius : as for :class:`ritz.Neighbours`
        Neighbours of each row, 10 if neither is given; or all rows at most so far away.
    weights : "connectivity", "heat", "self-tuning" or "precomputed"
        Of the edges: 1, exp(−d²/t), exp(−d²/σᵢσⱼ); or X is the matrix of weights (n, n) itself, W = Wᵀ ≥ 0.
    scale : float, optional
        t of ``"heat"``, the squared median distance of the edges if absent; which neighbour of ``"self-tuning"``.
    metric, metric_params : as for :class:`ritz.Neighbours`
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    graph : "any" or "both"
        Rows are joined where either is a neighbour of the other, or where each is.
    normalized : bool
        L y = λ D y, or L y = λ y.
    disconnected : "apart", "join", "largest" or "error"
        Components are embedded each by itself, joined by their shortest links, all but the largest left out, each with
        a warning; or refused.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates; NaN for rows left out
    eigenvalues_ : (k,) smallest eigenvalues but the known zero, increasing, of the largest component
    spectra_ : (components, k) those of every component
    direction_residuals_ : (k,) near 0 where an axis is a function of earlier ones, near 1 where it is a new direction
    independent_ : numbers of the axes that are new directions
    component_labels_ : (n,) the component of each row, 0 the largest; −1 for rows left out
    scale_ : t of the heat kernel; None for other weights
    n_neighbors_ : int; None where a radius or a graph was given
    X_fit_ : the distinct rows, divided by ``spread_``
    certificate_, certificates_ : of the largest component, of every one
    search_ : what is proved about the neighbours
    spread_ : (d,) standard deviations that columns were divided by, or None
    plan_, n_components_, n_connected_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.c_[np.cos(angle), np.sin(angle), 0 * angle]
    >>> maps = ritz.LaplacianEigenmaps(2, n_neighbors=2).fit(ring)
    >>> bool(np.allclose(maps.eigenvalues_, 1 - np.cos(2 * np.pi / 60)))     # of a cycle of 60 nodes, twice
    True
    >>> radius = np.linalg.norm(maps.embedding_, axis=1)
    >>> bool(np.allclose(radius, radius[0]))                                 # a ring again
    True
    """

    about: ClassVar[About] = About(
        "Laplacian eigenmaps", "laplacian", "LE", measure="eigenvalue", whole="trace", cites=("[BN03]",),
        tells="says how much an axis changes along the edges of the graph: 0 is not at all, and the least come first",
        paper="M. Belkin and P. Niyogi, Laplacian eigenmaps for dimensionality reduction and data representation, "
        "Neural Computation 15 (2003), 1373–1396.",
    )  # fmt: skip

    def __init__(
        self, n_components: Any = 2, *, n_neighbors: int | None = None, radius: float | None = None,
        weights: str = "connectivity", scale: float | None = None, metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None, graph: str = "any", normalized: bool = True,
        disconnected: str = "apart",
        standardize: bool = False, solver: str = "auto", tol: float = 1e-6, random_state: Any = 0,
        memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.n_neighbors, self.radius, self.weights, self.scale = (
            n_components,
            n_neighbors,
            radius,
            weights,
            scale,
        )
        self.metric, self.metric_params, self.graph, self.normalized = metric, metric_params, graph, normalized
        self.standardize, self.disconnected = standardize, disconnected
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        one_of("weights", self.weights, WEIGHTS)
        one_of("graph", self.graph, ("any", "both"))
        one_of("disconnected", self.disconnected, DISCONNECTED)
        if not isinstance(self.n_components, numbers.Integral) or isinstance(self.n_components, bool):
            raise ParameterError("n_components must be a whole number: no rule says where smallest eigenvalues end",
                                 received=repr(self.n_components), hint="n_components=2")  # fmt: skip
        if int(self.n_components) < 1:
            raise ParameterError("n_components must be at least 1", received=repr(self.n_components))
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError("n_neighbors or radius, not both",
                                 received=f"n_neighbors={self.n_neighbors!r}, radius={self.radius!r}",
                                 hint="leave out one of them")  # fmt: skip
        if self.weights == "precomputed" and self.disconnected == "join":
            raise ParameterError("components of a graph that is given cannot be joined: no distance is known",
                                 received="disconnected='join'", hint="disconnected='apart' or 'largest'")  # fmt: skip

    def _kind(self) -> str:
        return "precomputed" if self.weights == "precomputed" else super()._kind()

    def _parts(self, rows: Any) -> tuple[Nodes, list[Part]]:
        if self.weights == "precomputed":
            nodes, W = self._given(rows)
            self.scale_ = self.n_neighbors_ = None
        else:
            nodes = nodes_of(
                rows, self.disconnected, k=self.n_neighbors, radius=self.radius, metric=self.metric, graph=self.graph,
                metric_params=self.metric_params, weights=self.weights, scale=self.scale, memory=self.memory,
            )  # fmt: skip
            near = nodes.near
            W, self.scale_, self.n_neighbors_ = near.graph_, near.scale_, near.k_
            record = self._new_record()
            record.reach = reaches(near.neighbours_)
            neighbour = SELF_TUNING if self.scale is None else int(self.scale)
            record.size = local_scales(near.neighbours_, neighbour) if self.weights == "self-tuning" else None
        self._require_sizes(nodes)
        whole = len(nodes.parts) == 1
        return nodes, [self._of_component(W if whole else W[index][:, index], index) for index in nodes.parts]

    def _of_component(self, W: Any, index: Any) -> Part:
        # a component of the graph, unless weights of its edges vanished
        L = Laplacian(W, normalized=bool(self.normalized), connected=bool(np.all(W.data > 0)))
        return Part(index, Posed(L, kind="eigh", which="smallest"), L.scale)

    def _given(self, rows: Any) -> tuple[Nodes, Any]:
        """Nodes of a graph that is given."""
        require_finite(rows, None)
        if rows.shape[0] != rows.shape[1]:
            raise InputError("a graph is a square matrix of weights", received=f"shape {tuple(rows.shape)}",
                             hint="weights='connectivity' takes rows")  # fmt: skip
        W = csr_array(rows, dtype=np.float64)
        n, (count, labels) = W.shape[0], connected_components(W, directed=False)
        order = np.argsort(-np.bincount(labels), kind="stable")
        labels = np.argsort(order)[labels]
        place = np.arange(n)
        if count > 1:
            sizes = np.bincount(labels)
            told = f"the graph has {counted(count, 'component')}, the largest of {counted(int(sizes[0]), 'node')}"
            if self.disconnected == "error":
                raise InputError("a graph in one piece", received=told, hint="disconnected='apart' or 'largest'")
            if self.disconnected == "largest":
                index = np.flatnonzero(labels == 0)
                place = np.full(n, -1)
                place[index] = np.arange(len(index))
                W, labels = W[index][:, index], np.zeros(len(index), np.intp)
                told += f"; the other {counted(n - len(index), 'node')} left out"
            else:
                told += ": each is embedded by itself"
            warn(told, DisconnectedGraph)
        return Nodes(W, place, None, labels), W

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, whole: bool = True) -> tuple[Any, None]:
        if self.weights != "precomputed" or sample_weight is not None:
            return super()._rows(X, sample_weight, reset=reset, whole=whole)
        require_numbers(self, "precomputed")
        if reset:
            self.spread_ = None
        return validate_rows(self, X, reset=reset), None

    def _coordinates(self, part: Part, solution: Solution) -> Floats:
        return np.asarray(solution.vectors * part.kept[:, None])

    def read(self, solution: Solution, posed: Posed) -> None:
        """What all methods of neighbours name; those of an earlier fit that are made when they are read are gone."""
        super().read(solution, posed)
        for name in ("direction_residuals_", "independent_"):
            if name in vars(self):
                delattr(self, name)

    @cached_property
    def direction_residuals_(self) -> Floats:
        """How new the direction of each axis is; a third of a small fit, so it is measured when it is first read."""
        check_is_fitted(self)
        largest = self._record.nodes[self._record.part == 0]
        return regression_residuals(largest, seed_of(self.random_state))

    @cached_property
    def independent_(self) -> NDArray[np.intp]:
        """Numbers of the axes that are new directions."""
        return np.flatnonzero(self.direction_residuals_ >= REPEATED)

    def transform(self, X: Any) -> Any:
        """Coordinates of rows, (n, k); a row of the fit has the coordinates that the fit gave it.

        Parameters
        ----------
        X : rows as ``fit`` takes them; distances to ``X_fit_``, (n, m), for precomputed ones; weights of the edges to
            the nodes of the fit, (n, m), for a graph that is given
        """
        if self.weights != "precomputed":
            return super().transform(X)
        check_is_fitted(self)
        return self._extended(self._weighed(X))

    def _weighed(self, X: Any) -> Any:
        """Weights of edges to the nodes of a given graph."""
        m = len(self._record.part)
        W = csr_array(X if hasattr(X, "tocsr") else np.asarray(X, np.float64), dtype=np.float64)
        require_finite(W, None)
        if W.ndim != 2 or W.shape[1] != m:
            raise InputError(f"weights of edges to the {m:,} nodes of the fit, shape (n, {m})",
                             received=f"shape {W.shape}", hint="a row for each new node")  # fmt: skip
        total = np.asarray(W.sum(axis=1)).ravel()
        if (W.nnz and W.data.min() < 0) or np.any(total <= 0):
            raise InputError("weights of edges are not negative, and every node has one that is positive",
                             received="a node without one, or a negative weight")  # fmt: skip
        return W

    def _place(self, rows: Any) -> Floats:
        record, space, room = self._record, self._space(), room_for(self)
        Q, m = space.new(rows), len(self._record.part)
        members, own = joined(space, Q, self.n_neighbors_, self.radius, self.graph, np.asarray(record.reach), room)
        if np.any(members.counts == 0):
            i = int(np.argmin(members.counts))
            raise InputError("new rows that are joined to rows of the fit", received=f"row {i}, joined to none",
                             hint="a larger radius, or graph='any'")  # fmt: skip
        logs = log_weights(members, own, self.weights, self._kernel_scale(), record.size)
        nearest = members.indices[members.indptr[:-1]]
        logs = np.where(record.part[members.indices] == record.part[nearest][members.rows], logs, -np.inf)
        if self.normalized:
            Y = self._extended(shares(members, logs, m))
        else:
            Y = self._extended(csr_array((np.exp(logs), members.indices, members.indptr), shape=(len(members), m)))
        same = members.distances[members.indptr[:-1]] == 0
        Y[same] = record.nodes[nearest[same]]
        return Y

    def _kernel_scale(self) -> Any:
        return self.scale_ if self.weights == "heat" else self.scale

    def _extended(self, W: Any) -> Floats:
        """(1 − λ)⁻¹ P Y, or (d − λ)⁻¹ W Y unnormalised."""
        record = self._record
        part = record.part[W.indices[np.minimum(W.indptr[:-1], max(W.nnz - 1, 0))]]
        total = np.asarray(W.sum(axis=1)).ravel()[:, None]
        factor = total * (1 - record.spectra[part]) if self.normalized else total - record.spectra[part]
        if np.any(np.abs(factor) <= EXTENDS * total):
            raise InputError(
                "eigenvectors whose eigenvalue differs from the degree can be extended to new rows",
                received=f"eigenvalues {np.array2string(self.eigenvalues_, precision=6)}",
                hint="fewer components, or a graph with more nodes",
            )
        return np.asarray((W @ record.nodes) / factor)
