"""What MDS and Isomap have in common: a map from Gower's matrix, with its proof and its negative eigenvalues told."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.linalg import to_numpy
from ritz._core.random import seed_of
from ritz.data.passes.blocks import are_blocks
from ritz.data.validate import room_for, validate_weights
from ritz.data.words import counted
from ritz.graphs.spaces.resolve import checked_rows, takes
from ritz.methods.coordinates import checked_coordinates
from ritz.methods.fitted.base import fitted_of
from ritz.methods.kernel_pca.sign import Negative, estimate_negative
from ritz.methods.manifold.placed import rows_of
from ritz.methods.manifold.placement import BATCH, MapRecord, Place, Placed, map_of
from ritz.methods.manifold.units import in_units, require_numbers, restored_units
from ritz.methods.method import Method
from ritz.methods.posed import Posed
from ritz.operators.distances import Gower
from ritz.project.linear import forwarded, result_dtype
from ritz.spectral.certificate.certificate import Certificate
from ritz.spectral.plan import route
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution

__all__ = ["Kept", "Scaling"]

Floats = NDArray[np.float64]

#: Rows up to which all eigenvalues are computed, and told: 0.16 s at n = 1,000.
WHOLE = 1000
#: Random vectors and Lanczos steps of the estimate of negative eigenvalues beyond that.
PROBES, STEPS = 4, 16
#: Metrics that take sparse rows.
SPARSE = ("euclidean", "l2", "sqeuclidean", "cosine", "precomputed")
#: Residual of eigenpairs by which rows are placed again: coordinates of a row of the fit are off by no more.
PLACED = 1e-10


@dataclass
class Kept:
    """What ``read`` needs again."""

    rows: Any
    source: Any  # of squared distances: ``between``
    taken: Any = None  # landmarks
    order: Any = None  # row of each place of the operator
    pca: Any = None  # the rows' own principal components, where these are the answer
    graph: Any = None  # ``Neighbours``
    part: Any = None  # rows of the component
    others: Any = ()  # problems of other components
    notes: tuple[str, ...] = ()


class Scaling(Method):
    """Base of maps that are made of distances."""

    fitted: ClassVar[type[Placed]] = Placed
    _records: ClassVar[type[MapRecord]] = MapRecord
    _rows_by_rows: ClassVar[bool] = True
    _record: MapRecord
    _told = ("embedding_", "eigenvalues_")
    _of_pairs = True

    metric: Any
    metric_params: Any
    landmarks: Any
    embedding_: Floats

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, whole: bool = True) -> tuple[Any, Any]:
        """Rows as the metric takes them; rows of weight zero are absent."""
        if reset:
            self._new_record()
        require_numbers(self, takes(self.metric))
        rows = checked_rows(self, X, takes(self.metric), reset=reset)
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if reset and not hasattr(self, "n_features_in_"):
            self.n_features_in_ = 1  # strings and other objects: one column
        if n < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 rows to have a distance", received=f"n_samples={n}",
                hint="pass more rows",
            )  # fmt: skip
        if sample_weight is None:
            return in_units(self, rows, reset=reset), None
        weights = validate_weights(sample_weight, n, whole=whole)
        present = np.flatnonzero(weights)
        if len(present) == n:
            return in_units(self, rows, weights, reset=reset), weights
        if takes(self.metric) == "precomputed":
            raise InputError(
                "a row without weight has no place among given distances",
                received=f"{counted(n - len(present), 'weight')} of 0",
                hint="leave out those rows and columns, and place the rows by transform",
            )
        kept = rows[present] if hasattr(rows, "shape") else [rows[i] for i in present]
        return in_units(self, kept, weights[present], reset=reset), weights[present]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        k = self.n_components
        if isinstance(k, numbers.Integral) and not isinstance(k, bool) and k < 1:
            raise ParameterError("n_components must be at least 1", received=str(k), hint="n_components=2")

    def _plan(self, posed: Posed) -> Any:
        n = posed.shape.n
        if self.solver != "auto" or n > WHOLE:
            return super()._plan(posed)
        room = None if self.memory is None else room_for(self)
        plan = route(posed.shape, posed.wanted, solver="svd", tol=self.tol, memory=room)
        return replace(plan, reasons=(f"all {n:,} eigenvalues by a dense decomposition: negative ones are told, too",))

    def _problem(self, posed: Posed, plan: Any) -> SpectralProblem:
        problem = super()._problem(posed, plan)
        n, tol = posed.shape.n, self.tol
        if posed.operator.squares.keep:  # passes are cheap, and a row of the fit is placed by its eigenvectors
            tol = min(tol, PLACED)
        return replace(problem, tol=tol, partial=self.solver == "auto" and n > WHOLE, n=float(n), d=n, rows=n)

    def _mapped(
        self, solution: Solution, posed: Posed, *, quiet: bool = False
    ) -> tuple[Floats, Place, Certificate]:  # fmt: skip
        """Coordinates in the order of the operator, the formula for new rows, and the certificate with what is told.

        ``quiet``: nothing is said of axes without a positive eigenvalue.
        """
        G, asked = posed.operator, posed.wanted if isinstance(posed.wanted, int) and not quiet else None
        values, Y, place = map_of(solution.values, solution.vectors, G, asked)
        below = _negative(solution, G, seed_of(self.random_state))
        self.eigenvalues_, self.negative_share_ = values, below.share
        notes = list(posed.kept.notes)
        if below.proved:
            how = ", estimated by stochastic Lanczos quadrature" if below.error else ""
            notes.append(f"negative eigenvalues make up {below.words} of Σ|λ|{how}: the distances are not Euclidean")
        certificate = solution.certificate
        return Y, place, replace(certificate, notes=(*certificate.notes, *notes))

    def _named(self, Y: Floats, place: Place, certificate: Certificate, solution: Any, n: int, dtype: Any) -> None:
        self.embedding_ = np.asarray(Y, dtype)
        self._record.anchors, self._record.level, self._record.dtype = place.anchors, place.level, np.dtype(dtype)
        self.certificate_, self.plan_ = certificate, solution.plan
        self.n_components_, self.n_samples_ = int(Y.shape[1]), n

    def _dtype_of(self, rows: Any) -> np.dtype[Any]:
        return np.dtype(result_dtype(rows.dtype) if hasattr(rows, "dtype") and rows.dtype.kind == "f" else np.float64)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return the coordinates of the rows."""
        self.fit(X, y) if sample_weight is None else self.fit(X, y, sample_weight=sample_weight)
        absent = sample_weight is not None and not np.all(np.asarray(sample_weight))  # rows of weight 0
        return self.transform(X) if absent else self.embedding_

    def _forward(self, rows: Any) -> np.ndarray:
        """Coordinates of checked rows."""
        raise NotImplementedError

    def _map(self) -> Any:
        """What files of scores are written by."""
        return _Forward(self)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows from coordinates, (n, d): the weighted mean of the rows whose coordinates are nearest.

        Weights are those of :class:`ritz.LLE`, made from coordinates. Coordinates of a row of the fit give that row,
        also where they are rounded: by 1e-12 of the largest coordinate of the map at most, or 5e-7 in float32, unless
        another row lies as near.
        Where the map is one of principal components, their formula is used instead.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> t = np.linspace(0, 3, 200)
        >>> arc = np.c_[np.cos(t), np.sin(t)]
        >>> model = ritz.Isomap(1, n_neighbors=2).fit(arc)
        >>> between = (model.embedding_[:1] + model.embedding_[1:2]) / 2
        >>> bool(np.abs(model.inverse_transform(between) - arc[:2].mean(axis=0)).max() < 1e-3)
        True
        """
        check_is_fitted(self)
        record = self._record
        T = to_numpy(checked_coordinates(X, self.n_components_))
        dtype = result_dtype(T.dtype)
        if record.directions is not None:
            plane = T.astype(np.float64, copy=False) @ record.directions.T + np.asarray(record.origin)
            return np.asarray(restored_units(self, plane), dtype)
        rows, at = record.compared, record.taken if type(self).__name__ == "MDS" else None
        Y = np.asarray(self.embedding_ if at is None else self.embedding_[at], np.float64)
        there = np.isfinite(Y).all(axis=1)
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind != "f" or record.home is not None:
            fitted_of(self).refuse(
                "way back to rows", "that takes dense rows of numbers, and a map in one piece",
                "the nearest rows of embedding_ say what lies there",
            )  # fmt: skip
        made = restored_units(self, rows_of(T, Y[there], np.asarray(rows, np.float64)[there]))
        return np.asarray(made, dtype)

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return in_units(self, checked_rows(self, X, takes(self.metric), reset=False), reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.metric, str) and self.metric in SPARSE
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


class _Forward:
    """From rows to coordinates."""

    names = None

    def __init__(self, model: Scaling) -> None:
        self.model = model

    def forward(self, rows: Any, start: int = 0) -> np.ndarray:
        """Coordinates (m, k) of rows, of which the first is row ``start``."""
        return self.model._forward(in_units(self.model, rows, reset=False))

    def batches(self, rows: Any) -> Iterator[np.ndarray]:
        """Coordinates of rows, some at a time, in row order."""
        if are_blocks(rows):
            yield from forwarded(self, rows)
            return
        for start in range(0, rows.shape[0], BATCH):
            yield self.forward(rows[start : start + BATCH])

    def backward(self, T: Any) -> np.ndarray:
        """Rows of coordinates."""
        return self.model.inverse_transform(T)


def _negative(solution: Solution, G: Gower, seed: int) -> Negative:
    """What is known of negative eigenvalues; nothing where every pass makes the distances anew."""
    floor = solution.certificate.rounding + 2.0**-50 * G.inflation()
    if len(solution.known) == G.shape[0]:
        values = np.where(np.abs(solution.known) > floor, solution.known, 0.0)
        total = float(np.sum(np.abs(values)))
        below = float(-np.sum(values[values < 0]))
        return Negative(below / max(total, 1e-300), 0.0, total, below > 0, float(np.min(values, initial=0.0)))
    if not G.squares.keep:
        return Negative(float("nan"))
    return estimate_negative(
        G, G.trace(), solution.vectors, solution.values, lambda _: floor, seed, probes=PROBES, most=STEPS
    )
