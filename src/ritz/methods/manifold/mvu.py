"""Maximum variance unfolding: points as far from each other as distances between neighbours allow.     [WS06; SBXD06]

    max Σ‖y_i − ȳ‖²,   ‖y_i − y_j‖ ≤ d_ij for pairs of neighbours          K = YYᵀ = U Λ Uᵀ,   row i ↦ (UΛ^½)ᵢ, k axes
    Σ‖y_i − ȳ‖² ≤ Σ w_ij d²_ij / λ₂(L(w))       for all points that keep the distances, and every w ≥ 0: the proof
    new row   y(x) = Σ_j v_j y_j,   v = argmin ‖x − Σ v_j x_j‖² + reg·…,  Σv = 1,  over the nearest rows

The Gram matrix K of the points is the answer to a semidefinite program; its leading eigenvectors are the map.
"""

from __future__ import annotations

import numbers
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, MemoryLimitError, ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.warn import unsaid, warn
from ritz.data.validate import room_for
from ritz.graphs.neighbours import DISCONNECTED
from ritz.graphs.spaces.vectors import EuclideanRows
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.about import About
from ritz.methods.manifold.local import Local, Part, one_of
from ritz.methods.manifold.nodes import Nodes, nodes_of
from ritz.methods.manifold.placed import NodeRecord, OfNeighbours
from ritz.methods.manifold.unfolding.check import check_unfolding, held_by, placed_by
from ritz.methods.manifold.unfolding.conic import conic, require_clarabel
from ritz.methods.manifold.unfolding.interior import interior
from ritz.methods.manifold.unfolding.lowrank import low_rank
from ritz.methods.manifold.unfolding.pairs import PAIRS, Pairs, pairs_of
from ritz.methods.manifold.unfolding.proof import DENSE, Proof, better, gap_of, proved
from ritz.methods.manifold.weights import barycentric, batches, of_products
from ritz.methods.posed import Posed, asked_again
from ritz.methods.record import ABSENT
from ritz.methods.verify.certificates import copied
from ritz.operators import Dense, Laplacian
from ritz.spectral.plan import Plan, route, size_words
from ritz.spectral.solution import Solution
from ritz.spectral.verify import Verification
from ritz.spectral.verify.operator import verify_operator

__all__ = ["MVU"]

Floats = NDArray[np.float64]

SOLVERS = ("auto", "interior", "low-rank", "clarabel")
FORMS = ("inequality", "equality")
#: Neighbours of each row unless said otherwise: one wrong edge holds a whole fold together, so few.
FEW = 5
#: Pairs up to which the interior-point method is chosen: 3,000 take about 15 s of one core.
INTERIOR = 3000
#: Gap that the low-rank method aims at; multiples of what was aimed at above which a gap is warned of.
AIM, WARNED = 1e-3, 10.0
#: Gap that float64 can close: K and S are singular at the optimum, so half of the digits.
LEAST = 1e-8
#: Gap above which points and weights of the low-rank method are looked at beside those of the interior-point method.
DOUBT = 1e-4
#: What is added to the k×k matrices of the weights of new rows, as a share of their trace.
REG = 1e-3


@dataclass(eq=False)
class Unfolding:
    """The pairs of a component, and what was found."""

    pairs: Pairs
    proof: Proof | None = None


@dataclass(eq=False)
class UnfoldedRecord(NodeRecord):
    """With the points and the weights of the proof."""

    points: Floats = ABSENT  # (m, r)
    duals: Floats = ABSENT  # weights of the pairs, component after component
    told: Floats = ABSENT  # (components, 4) variance, bound, λ₂, violation


class MVU(Local):
    """Maximum variance unfolding, with a proof of how far the map is from the optimum.

    Parameters
    ----------
    n_components : int
        Number of axes.
    n_neighbors : int, optional
        Neighbours of each row; 5 where neither this nor ``radius`` is given. Few: an edge across a fold holds it
        together.
    radius : float, optional
        All rows at most so far away instead.
    metric, metric_params
        As for :class:`ritz.Neighbours`; ``"precomputed"``: X holds distances, all of them, or those of a sparse graph,
        whose stored edges are the pairs where neither ``n_neighbors`` nor ``radius`` is given.
    pairs : "edges" or "neighbourhoods"
        Held are distances of rows that are joined, or also those of two neighbours of one row, which keeps angles.
    form : "inequality" or "equality"
        Distances of pairs do not grow, or stay. Only the first has a bound that is reached: see the documentation.
    disconnected : "apart", "join", "largest" or "error"
        Components of the graph, between which nothing holds rows back, are unfolded each by itself, joined by their
        shortest links, or only the largest is unfolded, each with a warning; or refused.
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    solver : "auto", "interior", "low-rank" or "clarabel"
        An interior-point method, which takes m² numbers for m pairs; points of a few dimensions, for more rows; or
        Clarabel (``pip install 'ritz[mvu]'``), for comparison.
    tol : float
        Gap, as a share of the bound, at which the interior-point method ends; the low-rank method ends at 1e-3 or at
        ``tol``, whichever is larger.
    random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, k) coordinates; NaN for rows left out
    eigenvalues_ : (k,) of the Gram matrix of the points of the largest component, decreasing
    variance_ : Σ‖y_i − ȳ‖² of the points in all their dimensions; no pair is longer than it may be
    bound_ : what no points with these distances exceed
    gap_ : (bound_ − variance_)/bound_
    violation_ : largest |‖y_i − y_j‖²/d² − 1| of the equality form; 0 otherwise
    n_pairs_ : pairs whose distance is held
    spectra_, component_labels_, X_fit_, n_neighbors_, certificate_, certificates_, search_
        As for :class:`ritz.LLE`.
    plan_, n_components_, n_connected_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> t = np.linspace(0.5, 6, 60)
    >>> spiral = np.c_[t * np.cos(t), t * np.sin(t)]
    >>> mvu = ritz.MVU(2, n_neighbors=2).fit(spiral)
    >>> float(mvu.eigenvalues_[0] / mvu.variance_) > 0.999     # a line
    True
    >>> mvu.gap_ < 1e-5
    True
    """

    about: ClassVar[About] = About(
        "Maximum variance unfolding", "mvu", "MVU", measure="eigenvalue", whole="variance", cites=("[WS06]",),
        paper="K. Q. Weinberger and L. K. Saul, Unsupervised learning of image manifolds by semidefinite programming, "
        "International Journal of Computer Vision 70 (2006), 77–90.",
    )  # fmt: skip
    fitted = OfNeighbours
    _records: ClassVar[type[NodeRecord]] = UnfoldedRecord
    _record: UnfoldedRecord
    _told: ClassVar[tuple[str, ...]] = ("eigenvalues_", "X_fit_", "variance_", "bound_", "gap_")

    def __init__(
        self, n_components: Any = 2, *, n_neighbors: int | None = None, radius: float | None = None,
        metric: Any = "euclidean", metric_params: dict[str, Any] | None = None, pairs: str = "edges",
        form: str = "inequality", disconnected: str = "apart", standardize: bool = False, solver: str = "auto",
        tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.n_neighbors, self.radius = n_components, n_neighbors, radius
        self.metric, self.metric_params, self.pairs, self.form = metric, metric_params, pairs, form
        self.disconnected, self.solver, self.tol, self.random_state = disconnected, solver, tol, random_state
        self.standardize, self.memory, self.device, self.progress = standardize, memory, device, progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, allowed in (("pairs", PAIRS), ("form", FORMS), ("disconnected", DISCONNECTED), ("solver", SOLVERS)):
            one_of(name, getattr(self, name), allowed)
        if not isinstance(self.n_components, numbers.Integral) or isinstance(self.n_components, bool):
            raise ParameterError("n_components must be a whole number", received=repr(self.n_components),
                                 hint="n_components=2")  # fmt: skip
        if int(self.n_components) < 1:
            raise ParameterError("n_components must be at least 1", received=repr(self.n_components))
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError("n_neighbors or radius, not both",
                                 received=f"n_neighbors={self.n_neighbors!r}, radius={self.radius!r}",
                                 hint="leave out one of them")  # fmt: skip
        if self.form == "equality" and self.solver == "low-rank":
            raise ParameterError("the equality form has no low-rank method: its weights grow without end",
                                 received="solver='low-rank'", hint="solver='interior'")  # fmt: skip
        if self.solver == "clarabel":
            require_clarabel()

    # the problem

    def _squares(self, rows: Any) -> bool:
        return True

    def _parts(self, rows: Any) -> tuple[Nodes, list[Part]]:
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        k, radius = self.n_neighbors, self.radius
        if k is None and radius is None:
            if is_sparse(rows) and self._kind() == "precomputed":  # stored edges are the graph
                radius = float(np.max(rows.data, initial=0.0)) or 1.0
            else:
                k = min(FEW, n - 1)
        nodes = nodes_of(
            rows, self.disconnected, k=k, radius=radius, metric=self.metric, metric_params=self.metric_params,
            memory=self.memory, fewer=self.n_neighbors is None,
        )  # fmt: skip
        self._require_sizes(nodes)
        self.n_neighbors_ = nodes.near.k_
        parts = []
        for index in nodes.parts:
            kept = Unfolding(pairs_of(nodes.near, self.pairs, index))
            operator = Laplacian(kept.pairs.graph(np.ones(len(kept.pairs))))
            parts.append(Part(index, Posed(operator, kind="eigh", kept=kept), kept))
        return nodes, parts

    def _plan(self, posed: Posed) -> Plan:
        """Which solver; the eigenvectors of the points that it gives cost nothing beside it."""
        pairs, room = _of(posed).pairs, room_for(self)
        n, m = pairs.n, len(pairs)
        whole = 16.0 * m * m + 120.0 * n * n
        name = self.solver
        if name == "auto":
            name = "interior" if self.form == "equality" or (m <= INTERIOR and whole <= room) else "low-rank"
        if self.form == "equality" and n > DENSE:
            raise ParameterError(f"the equality form takes at most {DENSE:,} rows in one piece: its proof is dense",
                                 received=f"{n:,} rows", hint="form='inequality'")  # fmt: skip
        if name == "interior":
            why = f"{m:,} pairs: a table of {m:,}×{m:,} numbers is factored in every step"
            seconds = 30 * (m**3 / 3 + 8.0 * n**3 + 20.0 * m * m) / 1e10
        elif name == "clarabel":
            why, whole = "as asked", 1.0 * n**4
            seconds = 15 * (n**6 / 24) / 2e9
        else:
            why, whole = f"{m:,} pairs: points of a few dimensions instead of their Gram matrix", 2000.0 * n + 400.0 * m
            seconds = 2.5e-3 * m
        if whole > room:
            raise MemoryLimitError(
                f"solver={name!r} needs about {size_words(whole)} for {m:,} pairs of {n:,} rows",
                received=f"a limit of {size_words(room)}", hint="solver='low-rank', fewer neighbours, or fewer rows",
            )  # fmt: skip
        held = "joined rows" if self.pairs == "edges" else "rows of one neighbourhood"
        what = f"distances of {m:,} pairs of {held} {'do not grow' if self.form == 'inequality' else 'stay'}"
        return Plan(name, "rows", "float64", 1, seconds, whole, (why, what))

    def _solved(self, posed: Posed, plan: Any) -> Solution:
        with using(self.progress, type(self).__name__):
            return super()._solved(posed, plan)

    def _attempted(self, posed: Posed, plan: Plan) -> Solution:
        """Unfold, then decompose the points."""
        kept, began = _of(posed), time.perf_counter()
        proof, words = self._unfolded(kept.pairs, plan.solver)
        k = int(self.n_components)
        if proof.Z.shape[1] < k:  # further axes are zero
            proof = replace(proof, Z=np.pad(proof.Z, ((0, 0), (0, k - proof.Z.shape[1]))))
        kept.proof = proof
        inner = self._filled(Posed(_points(proof.Z), kind="svd", wanted=k, frame={"matrix": "YYᵀ"}))
        # by all digits: a row of the fit is placed where its points are
        found = super()._attempted(inner, route(inner.shape, k, solver="svd", tol=self.tol, memory=None))
        notes = (*found.certificate.notes, *self._notes(proof))
        took = time.perf_counter() - began
        certificate = replace(found.certificate, notes=notes, passes=1, seconds=took)
        return replace(found, certificate=certificate, plan=replace(plan.done(1, took), reasons=(*plan.reasons, words)))

    def _unfolded(self, pairs: Pairs, name: str) -> tuple[Proof, str]:
        equal, k, seed = self.form == "equality", int(self.n_components), seed_of(self.random_state)
        aim = max(float(self.tol), LEAST)
        if name == "low-rank":
            aim = max(aim, AIM)
            ended = low_rank(pairs, k, tol=aim, seed=seed)
        elif name == "clarabel":
            ended = conic(pairs, tol=aim, equal=equal)
        else:
            ended = interior(pairs, tol=aim, equal=equal)
        proof = proved(pairs, ended, equal)
        words = f"{ended.iterations} {'rounds' if name == 'low-rank' else 'steps'}: {ended.words}"
        if name == "interior" and not equal and proof.gap > max(DOUBT, aim):
            proof = better(proof, proved(pairs, low_rank(pairs, k, tol=DOUBT, seed=seed)))
            words += "; the low-rank method went on from there"
        if equal and not (proof.violation <= WARNED * aim and abs(proof.gap) <= WARNED * aim):
            warn(
                f"the points have a variance of {proof.variance:.6g}, squared distances that are off by up to "
                f"{proof.violation:.1e}, and a bound of {proof.bound:.6g}: {aim:.0e} was aimed at\n"
                "hint: the equality form has no best weights, so arithmetic ends before the gap is closed; "
                "form='inequality'",
                AccuracyWarning,
            )
        elif not proof.gap <= WARNED * aim:
            warn(
                f"the variance of the map is {proof.variance:.6g}, and the optimum is only known not to exceed "
                f"{proof.bound:.6g}: a gap of {proof.gap:.1e}, where {aim:.0e} was aimed at\n"
                "hint: the map may still be good; " + _advice(name),
                AccuracyWarning,
            )
        return proof, words

    def _notes(self, proof: Proof) -> tuple[str, ...]:
        """What is proved, in words."""
        if self.form == "equality":
            first = (
                f"variance {proof.variance:.9g} of points whose squared distances are off by at most "
                f"{proof.violation:.1e}; none with these distances exceeds {proof.bound:.9g}"
            )
        else:
            first = (
                f"variance {proof.variance:.9g}, no pair longer than it may be; no points exceed {proof.bound:.9g}: "
                f"a gap of {max(proof.gap, 0.0):.1e}"
            )
        return first, f"the bound is that of weights of the pairs with λ₂ ≥ {proof.second:.9g} ({proof.how})"

    def _coordinates(self, part: Part, solution: Solution) -> Floats:
        return np.asarray(solution.vectors * np.sqrt(np.maximum(solution.values, 0.0)))

    def read(self, solution: Solution, posed: Posed) -> None:
        """What all methods of neighbours name, and what is proved of the variance."""
        super().read(solution, posed)
        parts, record = posed.kept.parts, self._record
        proofs = [part.kept.proof for part in parts]
        Z = np.zeros((posed.kept.nodes.count, max(one.Z.shape[1] for one in proofs)))
        for part, one in zip(parts, proofs, strict=True):
            Z[part.index, : one.Z.shape[1]] = one.Z
        record.points, record.duals = Z, np.concatenate([one.w for one in proofs])
        record.told = np.array([(one.variance, one.bound, one.second, one.violation) for one in proofs])
        self.variance_, self.bound_ = (float(one) for one in record.told[:, :2].sum(axis=0))
        self.gap_ = gap_of(self.variance_, self.bound_)
        self.violation_ = float(record.told[:, 3].max())
        self.n_pairs_ = len(record.duals)

    # the check

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check points, bound and map against the rows that were fitted: nothing is solved again.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).uniform(size=(40, 3))
        >>> model = ritz.MVU(2).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X * 0.9))
        (True, False)
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, sample_weight, reset=False)
        told = self._record
        with unsaid():
            kept = asked_again(self)._posed(rows, None).kept
        nodes, parts = kept.nodes, kept.parts
        wrong, words, residuals, start = held_by(self, nodes), [], [], 0
        if len(parts) != len(self.certificates_) or len(told.points) != nodes.count:
            words = [f"the model is of {len(self.certificates_)} components, the rows have {len(parts)}"]
            return Verification(False, np.full(self.n_components_, np.nan), None, self.n_components_, None, (*words,))
        for part, certificate, row in zip(parts, self.certificates_, told.told, strict=True):
            Z = told.points[part.index]
            pairs, found = part.kept.pairs, verify_operator(certificate, _points(Z), "svd")
            w, start = told.duals[start : start + len(pairs)], start + len(pairs)
            bad, looked = check_unfolding(pairs, Z, w, (*row.tolist(),), self.form == "equality")
            wrong += [*bad, *(() if found.ok else found.words)]
            wrong += placed_by(self, certificate, part.index)
            words += [*looked, *found.words]
            residuals.append(found.residuals)
        if len(parts) == 1:
            wrong += self._remembered(told.points)
        if not copied(self.certificate_, self.certificates_[0]):
            wrong.append("certificate_ is not the first of certificates_")
        if start != len(told.duals):
            wrong.append("weights of more pairs than the rows have")
        told_words = tuple(dict.fromkeys(wrong or words))
        return Verification(not wrong, np.concatenate(residuals), None, self.n_components_, None, told_words)

    def _remembered(self, Z: Floats) -> list[str]:
        """Whether what questions about the number of components are answered from is the spectrum of the points."""
        probe, k = asked_again(self), len(self.certificate_.values)
        inner = probe._filled(Posed(_points(Z), kind="svd", wanted=k, frame={"matrix": "YYᵀ"}))
        with unsaid():
            super(MVU, probe)._attempted(inner, route(inner.shape, k, solver="svd", tol=self.tol, memory=None))
        held, found = self._record, probe._record
        same = all(
            np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=1e-12 * float(np.max(b)))
            for a, b in ((held.seen, found.seen), (held.seen_values, found.seen_values))
        )
        return [] if same else ["the spectrum that the model keeps is not that of its points"]

    # new rows

    def _place(self, rows: Any) -> Floats:
        """Weights that make a row of its neighbours make its coordinates of theirs."""
        record, space, room = self._record, self._space(), room_for(self)
        if is_sparse(self.X_fit_) and self._kind() == "precomputed":
            raise InputError("new rows are placed by distances among their neighbours, which a graph does not hold",
                             received="a model of a sparse graph", hint="all distances, or rows")  # fmt: skip
        m = len(record.part)
        k = min(self.n_neighbors_ or FEW, m)
        k = min(max(k, self.n_components_ + 1), m)
        lists = space.nearest(space.new(rows), k, False, room).lists
        distances, near = lists.arrays()
        Y = np.empty((len(near), record.nodes.shape[1]))
        dense = isinstance(space, EuclideanRows)
        X = np.asarray(self.X_fit_, np.float64) if dense else None
        for at in batches(len(near), k, 1 if X is None else X.shape[1]):
            some = near[at]
            absent = record.part[some] != record.part[some[:, :1]]
            if X is not None:
                v = barycentric(X[some] - np.asarray(rows, np.float64)[at, None], REG, absent)
            else:
                v = of_products(_products(space, some, distances[at]), REG, absent)
            Y[at] = np.einsum("nk,nkc->nc", v, record.nodes[some])
        own = distances[:, 0] == 0
        Y[own] = record.nodes[near[own, 0]]
        return Y


def _of(posed: Posed) -> Unfolding:
    kept: Unfolding = posed.kept if isinstance(posed.kept, Unfolding) else posed.kept.parts[0].kept
    return kept


def _points(Z: Floats) -> Dense:
    """The operator A = Zᵀ (r×n), of which AᵀA is the Gram matrix of the points."""
    return Dense(np.ascontiguousarray(Z.T))


def _products(space: Any, near: Any, far: Floats) -> Floats:
    """``(x_i − x)ᵀ(x_j − x) = ½(d²_i + d²_j − d²_ij)`` of neighbours near (n, k) of rows at distances ``far``."""
    n, k = near.shape
    i, j = np.triu_indices(k, 1)
    between = np.zeros((n, k, k))
    between[:, i, j] = np.square(space.pairs(near[:, i].ravel(), near[:, j].ravel())).reshape(n, -1)
    between += between.transpose(0, 2, 1)
    square = np.square(far)
    return 0.5 * (square[:, :, None] + square[:, None, :] - between)


def _advice(name: str) -> str:
    return "solver='low-rank' for distances that span many orders" if name != "low-rank" else "solver='interior'"
