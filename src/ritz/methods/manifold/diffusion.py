"""Diffusion maps: coordinates in which distances are those of a random walk among the rows.               [CL06]

    K = [exp(−d²/ε)],  q = K1,  K_α = [k_ij/(q_i q_j)^α],  D = diag(K_α1),    S = D^-½ K_α D^-½ = V Λ Vᵀ
    ψ = v·√(Σd/d),     row i ↦ (λ_1^t ψ_1(i), …, λ_k^t ψ_k(i))
    ψ(x) = λ⁻¹ Σ_j p_α(x, x_j) ψ_j,     p_α(x, x_j) ∝ k(x, x_j) q_j^-α         new rows: Nyström

The pair λ = 1, ψ = 1 is known and taken off. α = 0: the walk goes where rows are dense; α = 1: their density is divided
out, and the walk is that of the surface.
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array
from scipy.spatial.distance import cdist

from ritz._core.errors import DisconnectedGraph, InputError, MemoryLimitError, ParameterError
from ritz._core.warn import warn
from ritz.data.validate import room_for
from ritz.data.words import counted
from ritz.graphs.neighbours import DISCONNECTED
from ritz.graphs.spaces.base import Space
from ritz.graphs.spaces.resolve import space_of
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.about import About
from ritz.methods.fitted.base import Fitted
from ritz.methods.manifold.affinity import joined, log_weights, reaches, shares
from ritz.methods.manifold.local import Local, Part, one_of
from ritz.methods.manifold.nodes import Nodes, nodes_of
from ritz.methods.manifold.placed import OfWalks
from ritz.methods.posed import Posed
from ritz.operators import Diffusion, Symmetric
from ritz.spectral.solution import Solution

__all__ = ["DiffusionMaps"]

Floats = NDArray[np.float64]

#: Arrays of n×n numbers that a walk among all rows takes.
SQUARES = 4
#: The neighbour whose median distance sets ε: one row in a hundred, and at least the tenth.
NEAR, SHARE = 10, 0.01
#: Σλ without the known pair below which rounding may make eigenvalues negative; roundings by which weights that are
#: all the same may differ.
ROUNDED, ALIKE = 0.05, 8.0
#: Nodes up to which a graph of neighbours is a full matrix: with few, all eigenvalues but one may be negative.
DENSE = 300


class DiffusionMaps(Local):
    """Diffusion maps of rows, by a Gaussian kernel of all pairs of rows or of neighbours.

    Parameters
    ----------
    n_components : int or "elbow"
        Number of axes.
    t : float
        Steps of the walk: coordinates are ψ·λ^t.
    alpha : float
        How much of the density of rows is divided out: 0, ½ (Fokker–Planck) or 1 (Laplace–Beltrami), or between.
    epsilon : float, optional
        Of exp(−d²/ε). Twice the median squared distance to the tenth neighbour, or to that of number n/100 where
        n > 1000, if absent.
    n_neighbors : int, optional
        Only the nearest rows, so many, of each, either way, are joined; None joins all pairs, which takes n² numbers.
    stay : bool
        Whether the walk may stay where it is. False leaves k(x, x) out of the transitions, not out of the density, as
        destiny does.
    metric, metric_params : as for :class:`ritz.Neighbours`
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    disconnected : "apart", "join", "largest" or "error"
        Of a graph of neighbours, as for :class:`ritz.LaplacianEigenmaps`.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates
    eigenvalues_ : (k,) largest eigenvalues of S but the known 1, decreasing
    eigenvectors_ : (n, k) ψ, of mean square 1 in the stationary distribution of the walk
    epsilon_ : ε
    spectra_, component_labels_, X_fit_, certificate_, certificates_, search_
        As for :class:`ritz.LaplacianEigenmaps`.
    spread_ : (d,) standard deviations that columns were divided by, or None
    plan_, n_components_, n_connected_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> x = np.linspace(0, 1, 50)[:, None] ** 2               # a line, denser at one end
    >>> maps = ritz.DiffusionMaps(2, epsilon=0.01).fit(x)
    >>> first = maps.embedding_[:, 0]
    >>> bool((np.diff(first) > 0).all() or (np.diff(first) < 0).all())
    True
    >>> bool(np.allclose(maps.transform(x), maps.embedding_))
    True
    """

    about: ClassVar[About] = About(
        "Diffusion maps", "diffusion", "DC", measure="eigenvalue", whole="trace", cites=("[CL06]",),
        tells="says how much of an axis one step of the random walk keeps: 1 is all of it",
        paper="R. R. Coifman and S. Lafon, Diffusion maps, "
        "Applied and Computational Harmonic Analysis 21 (2006), 5–30.",
    )  # fmt: skip
    fitted: ClassVar[type[Fitted]] = OfWalks
    _told = ("eigenvalues_", "eigenvectors_", "epsilon_", "X_fit_")

    def __init__(
        self, n_components: Any = 2, *, t: float = 1, alpha: float = 1, epsilon: float | None = None,
        n_neighbors: int | None = None, stay: bool = True, metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None, disconnected: str = "apart",
        standardize: bool = False, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.t, self.alpha, self.epsilon, self.n_neighbors = (
            n_components,
            t,
            alpha,
            epsilon,
            n_neighbors,
        )
        self.stay, self.metric, self.metric_params, self.disconnected = stay, metric, metric_params, disconnected
        self.standardize, self.solver, self.tol, self.random_state = standardize, solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        one_of("disconnected", self.disconnected, DISCONNECTED)
        for name, least, strict in (("t", 0, False), ("alpha", 0, False), ("epsilon", 0, True)):
            value = getattr(self, name)
            if name == "epsilon" and value is None:
                continue
            number = isinstance(value, numbers.Real) and not isinstance(value, bool) and float(value) < np.inf
            if not number or not (float(value) > least if strict else float(value) >= least):
                raise ParameterError(f"{name} must be a number {'>' if strict else '≥'} 0", received=repr(value))

    def _squares(self, rows: Any) -> bool:
        return True

    def _parts(self, rows: Any) -> tuple[Nodes, list[Part]]:
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        nodes, K = self._all_pairs(rows, n) if self.n_neighbors is None else self._of_neighbours(rows)
        self._require_sizes(nodes)
        density = np.asarray(K.sum(axis=1)).ravel()
        self._new_record().size = density
        if not self.stay:
            K = K - (np.eye(nodes.count) if self.n_neighbors is None else diags_array(np.ones(nodes.count)))
        scale = density**-self.alpha
        K = scale[:, None] * K * scale if self.n_neighbors is None else diags_array(scale) @ K @ diags_array(scale)
        whole = len(nodes.parts) == 1
        return nodes, [self._of_component(K if whole else K[index][:, index], index) for index in nodes.parts]

    def _of_component(self, K: Any, index: Any) -> Part:
        degrees = np.asarray(K.sum(axis=1)).ravel()
        if not np.all(degrees > 0):
            raise InputError(
                "every row has another one near enough for the walk to reach it",
                received=f"{int(np.count_nonzero(degrees <= 0)):,} rows without one, for epsilon={self.epsilon_:.3g}",
                hint="a larger epsilon, or stay=True",
            )
        kept = np.sqrt(degrees.sum() / degrees)
        if self.n_neighbors is not None and len(index) > DENSE:
            return Part(index, Posed(Diffusion((K + K.T) / 2), kind="eigh", centered=True), kept)
        K = K if self.n_neighbors is None else K.toarray()
        root = np.sqrt(degrees)
        q = root / np.linalg.norm(root)
        S = K / root[:, None] / root
        S = (S + S.T) / 2
        likely = bool(self.stay) and isinstance(self.metric, str) and self.metric in ("euclidean", "l2")
        positive = likely and self.n_neighbors is None and float(np.trace(S)) - 1 > ROUNDED
        # at −1 the known pair is not among the largest, even where no other eigenvalue is positive
        S -= (q if positive else 2 * q)[:, None] * q
        return Part(index, Posed(Symmetric(S, positive=positive), kind="eigh", centered=True), kept)

    def _all_pairs(self, rows: Any, n: int) -> tuple[Nodes, Floats]:
        """The kernel of all pairs of rows; copies stay what they are."""
        room, needed = room_for(self), SQUARES * 8.0 * n * n
        if needed > room:
            error = MemoryLimitError(
                f"a walk among all pairs of {n:,} rows needs about {needed / 1e6:,.0f} MB",
                received=f"a limit of {room / 1e6:,.0f} MB", hint="n_neighbors=50 walks among neighbours only",
            )  # fmt: skip
            error.least = needed
            raise error
        rows = rows.copy() if hasattr(rows, "copy") else list(rows)
        space = space_of(self.metric, rows, self.metric_params, room)
        squares = np.square(_distances(space, rows, None, self.metric, room))
        self.epsilon_ = float(self.epsilon) if self.epsilon is not None else _epsilon(np.sort(squares, axis=1), n)
        self._new_record().space = space
        nodes = Nodes(rows, np.arange(n), None, np.zeros(n, np.intp))
        K = np.exp(-squares / self.epsilon_)
        self._require_steps(K)
        return nodes, K

    def _require_steps(self, K: Floats) -> None:
        """Refuse an ε for which all rows are alike, or none has another within reach; say how many have none."""
        n, unit = len(K), 2.0**-53
        if 1 - float(K.min()) <= ALIKE * n * unit:
            raise InputError(
                "epsilon is small enough for rows to differ", hint="a smaller epsilon, or leave it out",
                received=f"epsilon={self.epsilon_:.3g}, for which every pair of rows has the same weight",
            )  # fmt: skip
        alone = int(np.count_nonzero(K.sum(axis=1) - K.diagonal() <= unit))
        if alone == n:
            raise InputError(
                "every row has another one near enough for the walk to reach it",
                received=f"no row that has one, for epsilon={self.epsilon_:.3g}", hint="a larger epsilon",
            )  # fmt: skip
        if alone and self.stay:
            warn(
                f"{counted(alone, 'row')} of {n:,} {'has' if alone == 1 else 'have'} no other near enough for the walk "
                f"to reach it, for epsilon={self.epsilon_:.3g}: each is a component by itself, and takes an axis\n"
                "hint: a larger epsilon",
                DisconnectedGraph,
            )

    def _of_neighbours(self, rows: Any) -> tuple[Nodes, Any]:
        nodes = nodes_of(
            rows, self.disconnected, k=self.n_neighbors, metric=self.metric, metric_params=self.metric_params,
            memory=self.memory,
        )  # fmt: skip
        near = nodes.near
        if self.epsilon is not None:
            self.epsilon_ = float(self.epsilon)
        else:
            lists = near.neighbours_
            at = lists.indptr[:-1] + np.minimum(_neighbour(nodes.count), lists.counts) - 1
            self.epsilon_ = 2 * float(np.median(lists.distances[at])) ** 2
        K = near.graph_.copy()
        K.data = np.exp(-np.square(K.data) / self.epsilon_)
        self._new_record().reach = reaches(near.neighbours_)
        return nodes, (K + diags_array(np.ones(nodes.count))).tocsr()

    def _coordinates(self, part: Part, solution: Solution) -> Floats:
        return np.asarray(solution.vectors * part.kept[:, None])

    def read(self, solution: Solution, posed: Posed) -> None:
        """ψ as eigenvectors, ψ·λ^t as coordinates."""
        space = self._record.space
        super().read(solution, posed)
        self._record.space = space if self._record.space is None else self._record.space
        self.eigenvectors_ = self.embedding_
        part = np.maximum(self.component_labels_, 0)
        self.embedding_ = self.eigenvectors_ * _powers(self.spectra_, float(self.t))[part]

    def _embedded(self) -> Floats:
        return np.asarray(self._record.nodes * _powers(self._record.spectra, float(self.t))[self._record.part])

    def _place(self, rows: Any) -> Floats:
        record, space, room, m = self._record, self._space(), room_for(self), len(self._record.part)
        if self.n_neighbors is None:
            D = _distances(space, self.X_fit_, rows, self.metric, room)
            logs: Any = -np.square(D) / self.epsilon_ - float(self.alpha) * np.log(np.asarray(record.size))
            P = np.exp(logs - logs.max(axis=1, keepdims=True))
            P /= P.sum(axis=1, keepdims=True)
            near, far = D.argmin(axis=1), D.min(axis=1)
        else:
            members, own = joined(
                space, space.new(rows), int(self.n_neighbors), None, "any", np.asarray(record.reach), room
            )
            logs = log_weights(members, own, "heat", self.epsilon_, None)
            near, far = members.indices[members.indptr[:-1]], members.distances[members.indptr[:-1]]
            logs = logs - float(self.alpha) * np.log(np.asarray(record.size))[members.indices]
            logs = np.where(record.part[members.indices] == record.part[near][members.rows], logs, -np.inf)
            P = shares(members, logs, m)
        values = record.spectra[record.part[near]]
        if np.any(values == 0):
            raise InputError("coordinates of new rows divide by eigenvalues, none of which is 0",
                             received=f"eigenvalues {self.eigenvalues_}", hint="fewer components")  # fmt: skip
        psi = np.asarray(P @ record.nodes) / values
        if (
            not self.stay or self.n_neighbors is not None
        ):  # the walk of a row of the fit is known, with or without itself
            psi[far == 0] = record.nodes[near[far == 0]]
        return np.asarray(psi * _powers(values, float(self.t)))


def _powers(values: Floats, t: float) -> Floats:
    """λ^t; of a negative eigenvalue, which a graph of neighbours may have, with its sign unless t is even."""
    sign = np.where(t % 2 == 0, 1.0, np.sign(values))
    return np.asarray(sign * np.abs(values) ** t)


def _neighbour(n: int) -> int:
    return max(1, min(n - 1, max(NEAR, int(np.ceil(SHARE * n)))))


def _epsilon(sorted_squares: Floats, n: int) -> float:
    """Twice the median squared distance to a near row; of copies, to the first that differs."""
    column = sorted_squares[:, _neighbour(n)]
    epsilon = 2 * float(np.median(column))
    if epsilon == 0:
        positive = sorted_squares[sorted_squares > 0]
        epsilon = 2 * float(np.median(positive)) if len(positive) else 0.0
    if epsilon == 0:
        raise InputError("rows that differ", received=f"{n:,} copies of one row", hint="pass rows that differ")
    return epsilon


def _distances(space: Space, rows: Any, Q: Any, metric: Any, room: float) -> Floats:
    """Distances of new rows, or of the rows themselves, to all rows."""
    m = space.n
    if isinstance(metric, str) and metric == "precomputed":
        D = rows if Q is None else Q
        return np.asarray(D.toarray() if is_sparse(D) else D, np.float64)
    if isinstance(metric, str) and metric in ("euclidean", "l2") and not is_sparse(rows):
        X = np.asarray(rows, np.float64)
        return np.asarray(cdist(X if Q is None else np.asarray(Q, np.float64), X))
    lists = space.nearest(None if Q is None else space.new(Q), m - 1 if Q is None else m, False, room).lists
    D = np.zeros((len(lists), m))
    D[lists.rows, lists.indices] = lists.distances
    return D
