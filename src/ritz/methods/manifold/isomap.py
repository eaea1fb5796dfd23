"""Isomap: classical scaling of distances that run along a graph of neighbours.                  [TSL00]

    g(i, j) = length of the shortest path from i to j        −½ J g² J = U Λ Uᵀ,        row i ↦ (U Λ^½)ᵢ
    new row   g_x(j) = min over its neighbours i of d(x, i) + g(i, j),                  y(x) = ½ Λ^-½ Uᵀ (ḡ² − g²_x)

The model keeps the graph and U, not the n×n geodesics: one Dijkstra from x gives g_x. Of few rows it keeps them, too,
while it is in memory, for new rows that are many.
"""

from __future__ import annotations

import numbers
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import DisconnectedGraph, InputError, ParameterError
from ritz._core.progress import using
from ritz._core.warn import unsaid
from ritz.data.passes.unit import require_squares
from ritz.data.validate import room_for
from ritz.data.words import counted, nearest
from ritz.graphs.neighbours import NEIGHBOURS, Neighbours
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.about import About
from ritz.methods.manifold.entering import among, entering, of_one_part
from ritz.methods.manifold.geodesic import Geodesics, Lengths, Reached
from ritz.methods.manifold.landmarks import estimated_residual, landmarks_of
from ritz.methods.manifold.nodes import say_apart
from ritz.methods.manifold.placement import BATCH, Place, placed_by
from ritz.methods.manifold.scaling import Kept, Scaling
from ritz.methods.posed import Posed, asked_again, verify_posed
from ritz.methods.verify.model import with_held
from ritz.operators.distances import ROWS, Gower, Squares, kept_bytes
from ritz.spectral.verify import all_of

__all__ = ["Isomap"]

Floats = NDArray[np.float64]

#: What may become of a graph of several components: between those there is no distance along edges.
DISCONNECTED = ("join", "apart", "largest", "error")
TIES = ("keep", "row")
#: Rows up to which a model in memory keeps its geodesics, 32 MB at most, for new rows that are at least a half as many:
#: a model of a file measures them then, which takes as long as a search from each of its rows.
HELD = 2048


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
    disconnected : "join", "apart", "largest" or "error"
        A graph of several components is joined by its shortest links; or each component is mapped by itself, and its
        coordinates say nothing about those of another; or it is cut down to its largest component (the coordinates of
        other rows are nan), each with a warning; or refused.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates of the rows
    eigenvalues_ : (k,) of −½Jg²J, decreasing, of the largest component
    spectra_ : (components, k) those of every component that was mapped by itself; 0 where it has no such axis
    negative_share_ : Σ|λ⁻|/Σ|λ|: how far the geodesics are from distances in a plane; nan where it is not known
    graph_ : (n, n) CSR array of the lengths of edges
    rows_ : rows of the graph: all, unless ``disconnected="largest"``
    n_connected_components_ : components of the graph before anything was joined or left out
    landmarks_, residual_ : row numbers of the landmarks, and the estimated residual of the map, or None
    spread_ : (d,) standard deviations that columns were divided by, or None
    n_components_, n_samples_, n_features_in_ : int
    component_labels_ : (n,) the component of each row, 0 the largest
    certificate_, certificates_ : of the largest component, of every one that was mapped by itself
    plan_

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
        """Gower's matrix of geodesics; of the largest component, and beside it of the others that are mapped apart."""
        require_squares(rows)
        with unsaid(DisconnectedGraph) if self.disconnected == "apart" else nullcontext():
            near = self._neighbours(rows)
        parts = [np.arange(len(near.rows_))]
        if self.disconnected == "apart" and near.n_connected_components_ > 1:
            say_apart(near)
            order = np.argsort(near.component_labels_, kind="stable")
            parts = np.split(order, np.cumsum(np.bincount(near.component_labels_))[:-1])
            self._require_axes(min(len(part) for part in parts))
        first, *others = (self._of_part(rows, near, part, len(parts)) for part in parts)
        first.kept.others = others
        return first

    def _of_part(self, rows: Any, near: Neighbours, part: NDArray[np.intp], parts: int) -> Posed:
        """The problem of one component, in an order of rows in which little is filled, or neighbours are near."""
        room = room_for(self)
        graph = near.graph_ if parts == 1 else near.graph_[part][:, part]
        geodesics, n = Geodesics(graph, room=room), len(part)
        wanted = self._wanted(n, n, centered=True)
        kept = Kept(rows, geodesics, order=geodesics.order, graph=near, part=part)
        if self.landmarks is None:
            return Posed(Gower(geodesics.squares(room)), kind="eigh", centered=True, kept=kept)
        fewest = wanted if isinstance(wanted, int) else 1
        taken = landmarks_of(self.landmarks, part, len(near.rows_), fewest, self.random_state)
        between = geodesics.between(taken)  # (m, n): what everything else is made of
        np.square(between, out=between)
        own = between[:, taken]
        own = (own + own.T) / 2

        def tiles() -> Any:
            return ((i, own[i : i + ROWS, i:].copy()) for i in range(0, len(own), ROWS))

        squares = Squares(len(taken), tiles, keep=kept_bytes(len(taken)) <= 0.5 * room, relative=geodesics.relative)
        kept = replace(kept, source=(geodesics, between), taken=taken, order=None)
        return Posed(Gower(squares), kind="eigh", centered=True, kept=kept)

    def _require_axes(self, fewest: int) -> None:
        if isinstance(self.n_components, numbers.Integral) and fewest <= int(self.n_components):
            raise InputError(
                "every component of the graph of neighbours has more rows than there are axes",
                received=f"n_components={self.n_components}, and a component of {counted(fewest, 'row')}",
                hint="more neighbours, disconnected='largest' or 'join', or fewer components",
            )

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
        near = Neighbours(
            k=k, radius=radius, metric=self.metric, metric_params=self.metric_params, ties=self.ties,
            disconnected=self.disconnected, memory=self.memory,
        )  # fmt: skip
        near.size_word = "n_neighbors"
        return near.fit(rows)

    def _plan(self, posed: Posed) -> Any:
        plan, kept = super()._plan(posed), posed.kept
        if kept.taken is not None:
            return plan
        how, squares = kept.source.road.words, posed.operator.squares
        seconds = plan.seconds + kept.source.seconds * (1 if squares.keep else plan.passes)
        words: tuple[str, ...] = (f"geodesics {how}, about {kept.source.seconds:.2g} s for all pairs",)
        if not squares.keep:
            words += (f"{kept_bytes(squares.n) / 1e9:.3g} GB of geodesics do not fit: every pass measures them anew",)
            plan = replace(plan, precision="float64")  # passes that end in float32 would be made twice
        return replace(plan, seconds=seconds, reasons=(*plan.reasons, *words))

    def _solved(self, posed: Posed, plan: Any) -> Any:
        with using(self.progress, type(self).__name__):
            for number, part in enumerate(posed.kept.others):
                other = self._filled(part)
                posed.kept.others[number] = other, super()._solved(other, self._plan(other))
            return super()._solved(posed, plan)  # the last is what the record remembers

    # the names of what was found

    def read(self, solution: Any, posed: Posed) -> None:
        """Coordinates, eigenvalues, and what new rows are placed by."""
        near: Neighbours = posed.kept.graph
        n, nodes = len(near.component_labels_), near.rows_
        self.residual_: float | None = None
        landmarks: list[Any] = []
        found = [(*self._of_solution(each, one), one.kept) for one, each in (*posed.kept.others, (posed, solution))]
        found = [found[-1], *found[:-1]]  # the largest was read last, so that what is named is its own
        k = max(Y.shape[1] for Y, *_ in found)
        whole, spectra = np.full((n, k), np.nan), np.zeros((len(found), k))
        anchors, levels, homes = [], [], []
        for number, (Y, place, _, values, kept) in enumerate(found):
            whole[nodes[kept.part]] = _wide(Y, k)
            spectra[number, : len(values)] = values
            at = kept.part if kept.taken is None else kept.part[kept.taken]
            landmarks.append(at)
            anchors.append(_wide(place.anchors, k))
            levels.append(place.level)
            homes.append(np.full(len(at), number))
        at = np.concatenate(landmarks)
        order = np.argsort(at)
        made = Place(np.concatenate(anchors)[order], np.concatenate(levels)[order])
        self._named(whole, made, found[0][2], solution, n, self._dtype_of(posed.kept.rows))
        self.landmarks_ = None if posed.kept.taken is None else at[order]
        self.spectra_, self.certificates_ = spectra, tuple(one[2] for one in found)
        self.graph_, self.rows_, self.n_connected_components_ = near.graph_, nodes, near.n_connected_components_
        self.component_labels_ = near.component_labels_
        record = self._record
        record.taken = None if posed.kept.taken is None else np.asarray(at[order], np.int64)
        record.home = np.concatenate(homes)[order] if len(found) > 1 else None
        tiles = posed.operator.squares.held() if record.taken is None and record.home is None and n <= HELD else None
        record.lengths = None if tiles is None else Lengths(tiles, posed.kept.source.place)
        if not (isinstance(self.metric, str) and self.metric == "precomputed"):
            rows = posed.kept.rows
            record.compared = rows.copy() if hasattr(rows, "copy") else list(rows)

    def _of_solution(self, solution: Any, posed: Posed) -> tuple[Floats, Place, Any, Floats]:
        """Coordinates of the rows of one component in their order, and what places others there."""
        kept = posed.kept
        Y, place, certificate = self._mapped(solution, posed)
        if kept.taken is None:
            back = kept.source.place
            return Y[back], Place(place.anchors[back], place.level[back]), certificate, self.eigenvalues_
        geodesics, between = kept.source
        Y = placed_by(place, lambda at: between[:, at].T, len(kept.part), Y.shape[1])
        self.residual_ = estimated_residual(Y, lambda rows: np.square(geodesics.between(rows)), self.random_state)
        words = (
            f"eigenvalues are those of the {len(kept.taken):,} landmarks: the other rows are placed "
            "by their geodesics to these",
            f"estimated residual of the map of all rows: {self.residual_:.1e} of λ₁ (64 rows sampled)",
        )
        return Y, place, replace(certificate, notes=(*certificate.notes, *words)), self.eigenvalues_

    def verify(self, X: Any, sample_weight: Any = None) -> Any:
        """Check the certificates against the rows that were fitted, sharing no code with the fit.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).uniform(size=(100, 3))
        >>> model = ritz.Isomap(2).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X**2))
        (True, False)
        """
        check_is_fitted(self)
        if len(self.certificates_) == 1:
            return super().verify(X, sample_weight)
        rows, weights = self._rows(X, sample_weight, reset=False)
        with unsaid():
            posed = asked_again(self)._posed(rows, weights)
        parts = [posed, *(self._filled(one) for one in posed.kept.others)]
        if len(parts) != len(self.certificates_):
            raise InputError(f"the rows of the fit, which have {len(self.certificates_)} components",
                             received=f"rows with {len(parts)}", hint="pass the rows of the fit")  # fmt: skip
        checks = [verify_posed(c, one) for c, one in zip(self.certificates_, parts, strict=True)]
        return with_held(self, all_of(checks), (X, None), certificate=True)

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
        lists = among(entering(self, rows), np.asarray(self.rows_), self.n_samples_)
        home = np.zeros(len(lists), np.intp)
        if record.home is not None:
            lists, home = of_one_part(lists, np.asarray(self.component_labels_))
        place, m, reached = (
            Place(record.anchors, record.level),
            len(lists),
            Reached(self.graph_, lists, self._known(len(lists))),
        )
        out = np.empty((m, self.n_components_), record.dtype)
        for start in range(0, m, BATCH):
            at = slice(start, min(start + BATCH, m))
            if np.any(lists.counts[at] == 0):
                raise InputError(
                    "a new row needs a neighbour among the rows of the map",
                    received=f"row {start + int(np.argmin(lists.counts[at]))} without one",
                    hint="a larger radius, or n_neighbors instead",
                )
            g = reached(at)
            squares = np.square(g if record.taken is None else g[:, record.taken])
            if record.home is not None:  # other components are infinitely far, and say nothing
                there = home[at, None] == record.home
                squares = np.where(there, squares, record.level)
            out[at] = place(squares)
        return out

    def _known(self, many: int) -> Lengths | None:
        """The geodesics between all rows, where many new ones ask for them; by numbers alone, so that bits stay."""
        record, n = self._record, self.graph_.shape[0]
        if record.taken is not None or record.home is not None or n > HELD or 2 * many < n:
            return None
        if record.lengths is None:
            record.lengths = Lengths.of(self.graph_)
        held: Lengths = record.lengths
        return held

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError(
                "n_neighbors or radius, not both", received=f"n_neighbors={self.n_neighbors!r}, radius={self.radius!r}",
                hint="the nearest rows, or all rows within a radius",
            )  # fmt: skip
        for name, allowed in (("disconnected", DISCONNECTED), ("ties", TIES)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}", received=repr(value),
                                     hint=f"{name}={nearest(value, allowed)!r}")  # fmt: skip
        k = self.n_neighbors
        if k is not None and (not isinstance(k, numbers.Integral) or isinstance(k, bool) or int(k) < 1):
            raise ParameterError("n_neighbors must be a whole number ≥ 1", received=repr(k))


def _wide(A: Floats, k: int) -> Floats:
    """With columns of zeros up to k."""
    return A if A.shape[1] == k else np.column_stack([A, np.zeros((len(A), k - A.shape[1]))])
