"""Multidimensional scaling: a map of rows from their distances.

    classical       −½ J D² J = U Λ Uᵀ,  row i ↦ (U Λ^½)ᵢ                                [Tor52, Gow66]
    stress          min over maps of Σ(d̂ − d)²/Σd², d̂ a function of the given distances    [Kru64, Lee77]

Of rows with Euclidean distances −½ J D² J = (JX)(JX)ᵀ: the classical map is the rows' own principal components, and no
n×n matrix is made.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, NegativeEigenvalues, ParameterError
from ritz._core.progress import using
from ritz._core.random import gaussian_rows
from ritz._core.warn import warn
from ritz.data.passes.unit import require_squares
from ritz.data.validate import room_for
from ritz.data.words import counted, nearest
from ritz.graphs.spaces.resolve import space_of
from ritz.methods.fitted.about import About
from ritz.methods.manifold.landmarks import chosen, estimated_residual
from ritz.methods.manifold.placement import Place, placed_by
from ritz.methods.manifold.refine import LOSSES, placed_by_stress, refined
from ritz.methods.manifold.scaling import Kept, Scaling
from ritz.methods.manifold.sources import CORRECTIONS, Distances, constant_of, require_all
from ritz.methods.pca import PCA
from ritz.methods.posed import Posed
from ritz.methods.verify.again import refound
from ritz.operators.distances import Gower
from ritz.project.linear import result_dtype

__all__ = ["MDS"]

METHODS = ("classical", *LOSSES)
#: Names of the Euclidean distance.
EUCLIDEAN = ("euclidean", "l2")
REDUCED = "Euclidean distances of rows: −½JD²J = (JX)(JX)ᵀ, so their principal components are the map; no n×n matrix"


class MDS(Scaling):
    """Multidimensional scaling: rows as points whose distances are those given, as nearly as k dimensions allow.

    Parameters
    ----------
    n_components : int
        Number of axes.
    method : "classical", "metric", "interval", "ordinal" or "sammon"
        Classical scaling, whose answer is proved; or a map of least stress, from the classical one down: of distances
        themselves, of a line in them, of any function that does not fall (non-metric scaling), or Sammon's.
    metric : str, kernel or callable
        Of rows, as for :class:`ritz.Neighbours`; ``"precomputed"``: X holds the distances.
    metric_params : dict, optional
        Such as ``{"p": 3}`` of ``"minkowski"``.
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    correction : None, "lingoes" or "cailliez"
        A constant added to squared distances, or to distances, so that no eigenvalue is negative.
    landmarks : int or array, optional
        So many rows, or these, are mapped; all others are placed by their distances to them.
    max_iter : int
        Steps of the stress methods at most.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`. Stress methods end where a change of the map by its own size would change the stress
        by less than tol/100 of it.

    Attributes
    ----------
    embedding_ : (n, k) coordinates of the rows
    eigenvalues_ : (k,) of −½JD²J, decreasing; those of the start for stress methods
    negative_share_ : Σ|λ⁻|/Σ|λ|: how far the distances are from Euclidean ones; nan where it is not known
    constant_ : what the correction adds; 0 without one
    landmarks_, residual_ : row numbers of the landmarks, and the estimated residual of the map, or None
    stress_ : stress-1 of the map, Sammon's stress for ``"sammon"``; None for classical scaling
    gradient_norm_, n_iter_ : ‖∇f‖·‖Y‖ where the descent ended, and its steps; None and 1 for classical scaling
    spread_ : (d,) standard deviations that columns were divided by, or None
    n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> towns = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    >>> D = np.linalg.norm(towns[:, None] - towns, axis=2)
    >>> mds = ritz.MDS(2, metric="precomputed").fit(D)
    >>> Y = mds.embedding_
    >>> np.linalg.norm(Y[:, None] - Y, axis=2).round(6)   # a map with these distances
    array([[0., 3., 5.],
           [3., 0., 4.],
           [5., 4., 0.]])
    """

    about: ClassVar[About] = About(
        "Multidimensional scaling", "mds", "MDS", measure="eigenvalue", whole="Σ|λ|", cites=("[Gow66]", "[Kru64]"),
        paper="J. C. Gower, Some distance properties of latent root and vector methods used in multivariate analysis, "
        "Biometrika 53 (1966), 325–338.",
    )  # fmt: skip

    def __init__(
        self, n_components: Any = 2, *, method: str = "classical", metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None, correction: str | None = None, landmarks: Any = None,
        max_iter: int = 300,
        standardize: bool = False, solver: str = "auto", tol: float = 1e-6, random_state: Any = 0, memory: Any = None,
        device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.method, self.metric, self.metric_params = n_components, method, metric, metric_params
        self.correction, self.landmarks, self.max_iter = correction, landmarks, max_iter
        self.standardize, self.solver, self.tol, self.random_state = standardize, solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    # the problem

    def pose(self, rows: Any, weights: Any) -> Posed:
        """Gower's matrix, or the rows themselves where their principal components are the answer."""
        if weights is not None and (self.method != "classical" or self.landmarks is not None):
            raise ParameterError(
                "sample_weight is for method='classical' without landmarks",
                received=f"method={self.method!r}, landmarks={self.landmarks!r}", hint="leave out sample_weight",
            )  # fmt: skip
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        wanted = self._wanted(n, n, centered=True)
        plain = self.method == "classical" and self.correction is None and self.landmarks is None
        if plain and isinstance(self.metric, str) and self.metric in EUCLIDEAN and isinstance(wanted, int):
            return self._of_rows(rows, weights, wanted)
        require_squares(rows)
        room = room_for(self)
        space = space_of(self.metric, rows, self.metric_params, room)
        require_all(space)
        taken = None
        if self.landmarks is not None:
            taken = chosen(self.landmarks, n, wanted if isinstance(wanted, int) else 1, self.random_state)
            space = space_of(self.metric, _landmark_rows(rows, taken, self.metric), self.metric_params, room)
        source = Distances(space)
        notes: tuple[str, ...] = ()
        if self.correction is not None:
            constant = constant_of(self.correction, source, room)
            source = Distances(space, self.correction, constant)
            what = "squared distances by 2·" if self.correction == "lingoes" else "distances by "
            notes = (f"{self.correction.capitalize()}'s correction has raised {what}{constant:.9g}",)
        kept = Kept(rows, source, taken, notes=notes)
        return Posed(
            Gower(source.squares(room), weights), kind="eigh", weights=weights, centered=True, rows=None, kept=kept
        )

    def _of_rows(self, rows: Any, weights: Any, wanted: int) -> Posed:
        most = min(rows.shape[0] - 1, rows.shape[1])
        if wanted > most:
            warn(
                f"{counted(rows.shape[0], 'row')} in {counted(rows.shape[1], 'column')} have "
                f"{counted(most, 'dimension')} at most: the map has as many, not {wanted}", NegativeEigenvalues,
            )  # fmt: skip
        pca = PCA(
            min(wanted, most), solver=self.solver, tol=self.tol, random_state=self.random_state, memory=self.memory,
            progress=self.progress,
        )  # fmt: skip
        return Posed(rows=rows, weights=weights, kept=Kept(rows, None, pca=pca))

    def _plan(self, posed: Posed) -> Any:
        if posed.kept.pca is None:
            return super()._plan(posed)
        return None  # principal components have a plan of their own

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        posed = self._posed(*self._adopt(X, y, sample_weight))
        if posed.kept.pca is None:
            return super()._plan(posed)
        plan = posed.kept.pca._route(posed.rows, None, posed.weights)
        return replace(plan, reasons=(REDUCED, *plan.reasons))

    def _solved(self, posed: Posed, plan: Any) -> Any:
        if posed.kept.pca is not None:
            return posed.kept.pca.fit(posed.rows, sample_weight=posed.weights)
        return super()._solved(posed, plan)

    # the names of what was found

    def read(self, solution: Any, posed: Posed) -> None:
        """Coordinates, eigenvalues, and what new rows are placed by."""
        kept: Kept = posed.kept
        self.stress_: float | None = None
        self.gradient_norm_: float | None = None
        self.residual_: float | None = None
        self.n_iter_ = 1
        self.constant_ = 0.0 if kept.source is None else kept.source.constant
        self.landmarks_ = kept.taken
        if kept.pca is not None:
            self._read_rows(kept.pca, posed)
            return
        n = kept.rows.shape[0] if hasattr(kept.rows, "shape") else len(kept.rows)
        Y, place, certificate = self._mapped(solution, posed, quiet=self.method != "classical")
        if kept.taken is not None:
            Y = placed_by(place, lambda at: self._to_landmarks(kept.rows, kept.source, at), n, Y.shape[1])
            certificate = self._estimated(Y, certificate, kept)
        elif self.method != "classical":
            Y, certificate, solution = self._descended(Y, certificate, solution, kept.source)
        self._named(Y, place, certificate, solution, n, self._dtype_of(kept.rows))
        self._record.taken = None if kept.taken is None else np.asarray(kept.taken, np.int64)
        if self.metric != "precomputed":
            rows = kept.rows if kept.taken is None else _landmark_rows(kept.rows, kept.taken, self.metric)
            self._record.compared = rows.copy() if hasattr(rows, "copy") else list(rows)

    def _read_rows(self, pca: PCA, posed: Posed) -> None:
        values = np.asarray(pca.certificate_.values)
        there = values > 0
        if "shown" in pca.certificate_.frame:  # certified in another unit, as squares of these rows leave the range
            values = np.square(np.asarray(pca.singular_values_, np.float64))
        self.eigenvalues_, self.negative_share_ = values[there], 0.0
        if not there.any():
            raise InputError("a map needs rows that differ", received="rows that are all alike")
        if not there.all():
            asked = self.n_components
            warn(
                f"{int(there.sum())} of the first {asked} eigenvalues are positive: the rows lie in a space of as many "
                "dimensions, and so does the map", NegativeEigenvalues,
            )  # fmt: skip
        record, own = self._record, pca._record
        record.directions = np.asarray(pca.components_, np.float64)[there].T.copy()
        record.origin = np.asarray(own.mean64, np.float64)
        record.dtype = np.dtype(result_dtype(posed.rows.dtype))
        record.seen, record.seen_values, record.choice = own.seen, own.seen_values, own.choice
        self.embedding_ = np.asarray(pca.transform(posed.rows)[:, there], record.dtype)
        self.certificate_, self.plan_ = pca.certificate_, replace(pca.plan_, reasons=(REDUCED, *pca.plan_.reasons))
        self.n_components_, self.n_samples_ = int(there.sum()), int(posed.rows.shape[0])

    def _estimated(self, Y: Any, certificate: Any, kept: Kept) -> Any:
        """The certificate of the landmarks, with an estimate of what the map of all rows lacks."""
        every = Distances(
            space_of(self.metric, kept.rows, self.metric_params, room_for(self)), self.correction, self.constant_
        )
        self.residual_ = estimated_residual(Y, every.between, self.random_state)
        words = (
            f"eigenvalues are those of the {len(kept.taken):,} landmarks: the other rows are placed "
            "by their distances to these",
            f"estimated residual of the map of all rows: {self.residual_:.1e} of λ₁ (64 rows sampled)",
        )
        return replace(certificate, notes=(*certificate.notes, *words))

    def _descended(self, Y: Any, certificate: Any, solution: Any, source: Distances) -> tuple[Any, Any, Any]:
        """The map of least stress below the classical one."""
        k = self.n_components if isinstance(self.n_components, numbers.Integral) else Y.shape[1]
        if Y.shape[1] < int(k):  # axes without a positive eigenvalue begin almost flat
            flat = gaussian_rows(0, 1 << 21, 0, len(Y), int(k) - Y.shape[1]) * (1e-3 * float(np.std(Y)))
            Y = np.column_stack([Y, flat])
        with using(self.progress, type(self).__name__):
            found = refined(self.method, source.matrix(room_for(self)), Y, tol=self.tol, most=int(self.max_iter))
        down = found.descended
        self.stress_, self.gradient_norm_, self.n_iter_ = found.stress, down.gradient, down.steps
        if found.knots is not None:
            self._record.shape_x, self._record.shape_y = found.knots
        name = "Sammon's stress" if self.method == "sammon" else "stress-1"
        words = (
            "eigenvalues are those of the classical start; the map itself is not certified: a lower stress may exist",
            f"{name} {found.stress:.6g} after {down.steps} steps; a change of the map by its own size would change "
            f"the loss by {down.gradient:.1e} at first order",
        )
        plan = solution.plan
        reason = f"{down.steps} steps down from the classical map follow, {down.evaluations} evaluations of the stress"
        solution = replace(solution, plan=replace(plan, reasons=(*plan.reasons, reason)))
        return found.Y, replace(certificate, notes=(*certificate.notes, *words)), solution

    # rows that took no part

    def _to_landmarks(self, rows: Any, source: Distances, at: slice) -> Any:
        if self.metric == "precomputed":
            D = np.array(rows[at][:, self.landmarks_], np.float64)
            same = D == 0
            D = source.squared(D)
            D[same] = 0.0
            return D
        return source.new(rows[at])

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of rows, (m, k): by Gower's formula, or where they add least to the stress.

        Parameters
        ----------
        X : rows as in ``fit``; for ``metric="precomputed"`` their distances to the n rows of the fit, (m, n)
        """
        return self._forward(self._new_rows(X))

    def _forward(self, rows: Any) -> np.ndarray:
        record = self._record
        if record.directions is not None:
            at_origin = np.asarray(record.origin) @ record.directions
            return np.asarray(rows @ record.directions - at_origin, record.dtype)
        source = Distances(self._space(rows), self.correction, self.constant_)
        squares = source.new(rows) if self.metric != "precomputed" else self._given(rows, source)
        if self.method == "classical" or self.landmarks_ is not None:
            return np.asarray(Place(record.anchors, record.level)(squares), record.dtype)
        knots = None if record.shape_x is None else (record.shape_x, record.shape_y)
        Y = np.asarray(self.embedding_, np.float64)
        return np.asarray(placed_by_stress(self.method, Y, np.sqrt(squares), knots), record.dtype)  # type: ignore[arg-type]

    def _space(self, rows: Any) -> Any:
        if self.metric != "precomputed":
            return space_of(self.metric, self._record.compared, self.metric_params, room_for(self))
        return space_of(
            "precomputed", np.zeros((1, 1)), None, room_for(self)
        )  # distances themselves: nothing to compare

    def _given(self, rows: Any, source: Distances) -> Any:
        D = np.array(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
        bad = ~np.isfinite(D) | (D < 0)
        if bad.any():
            i, j = (int(part[0]) for part in np.nonzero(bad))
            raise InputError("distances are finite numbers ≥ 0", received=f"D[{i}, {j}] = {D[i, j]:g}")
        D = D if self.landmarks_ is None else D[:, self.landmarks_]
        same = D == 0
        D = source.squared(D)
        D[same] = 0.0
        return D

    def verify(self, X: Any, sample_weight: Any = None) -> Any:
        """Check the certificate against the rows that were fitted, sharing no code with the fit.

        Parameters
        ----------
        X, sample_weight : what fit took

        Examples
        --------
        >>> import numpy as np, ritz
        >>> roads = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]], float)
        >>> mds = ritz.MDS(2, metric="precomputed").fit(roads)
        >>> bool(mds.verify(roads)), bool(mds.verify(roads * 2))
        (True, False)
        """
        check_is_fitted(self)
        if self._record.directions is not None:
            rows, weights = self._rows(X, sample_weight, reset=False)
            checked = self.certificate_.verify(rows, weights)
            wrong = refound(self, lambda other: other.fit(X))
            return replace(checked, ok=False, words=(*wrong, *checked.words)) if wrong else checked
        return super().verify(X, sample_weight)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.method not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}", received=repr(self.method),
                                 hint=f"method={nearest(self.method, METHODS)!r}")  # fmt: skip
        if self.correction not in CORRECTIONS:
            raise ParameterError("correction must be None, 'lingoes' or 'cailliez'", received=repr(self.correction))
        if self.method != "classical" and (self.correction is not None or self.landmarks is not None):
            raise ParameterError("corrections and landmarks are for method='classical'",
                                 received=f"method={self.method!r}", hint="method='classical'")  # fmt: skip
        whole = isinstance(self.max_iter, numbers.Integral) and not isinstance(self.max_iter, bool)
        if not whole or int(self.max_iter) < 1:
            raise ParameterError("max_iter must be a whole number ≥ 1", received=repr(self.max_iter))


def _landmark_rows(rows: Any, taken: Any, metric: Any) -> Any:
    if isinstance(metric, str) and metric == "precomputed":
        return np.ascontiguousarray(rows[taken][:, taken])
    return rows[taken] if hasattr(rows, "shape") else [rows[i] for i in taken]
