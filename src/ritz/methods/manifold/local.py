"""What the methods of neighbours share: rows and their nodes, one problem for each component, new rows.

    rows → nodes → components c = 1 … C → (M_c, null vectors) → k smallest pairs each → coordinates of nodes → of rows

Components are embedded apart: a spectrum of all of them together would give every axis to the component with the
smallest eigenvalues, and shrink the others to a point.
"""

from __future__ import annotations

import numbers
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.linalg import to_numpy, working_dtype
from ritz._core.warn import unsaid
from ritz.data.passes.unit import require_squares
from ritz.data.tables.frames import library_of
from ritz.data.validate import room_for
from ritz.data.words import counted, nearest
from ritz.graphs.lists import Lists
from ritz.graphs.spaces.base import Space
from ritz.graphs.spaces.resolve import checked_rows, space_of, takes
from ritz.kernels.rows import is_sparse
from ritz.methods.coordinates import checked_coordinates
from ritz.methods.fitted.base import Fitted, fitted_of
from ritz.methods.manifold.nodes import Nodes
from ritz.methods.manifold.placed import ByNeighbours, NodeRecord, OfNeighbours, rows_of
from ritz.methods.manifold.units import in_units, require_numbers, restored_units
from ritz.methods.method import Method
from ritz.methods.posed import Posed, asked_again
from ritz.methods.verify.model import with_held
from ritz.spectral.solution import Solution
from ritz.spectral.verify import all_of
from ritz.spectral.verify.operator import verify_operator
from ritz.spectral.verify.smallest import verify_smallest

if TYPE_CHECKING:
    from ritz.spectral.verify import Verification

__all__ = ["Local", "Part", "Parts", "one_of"]

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Part:
    """One component: its nodes, its operator, and what its coordinates are made with."""

    index: NDArray[np.intp]
    posed: Posed
    kept: Any = None


@dataclass(eq=False)
class Parts:
    """What ``read`` needs: all nodes, the components, and the solutions of all but the largest."""

    nodes: Nodes
    parts: list[Part]
    others: list[Solution] = field(default_factory=list)


class Local(Method):
    """Base of methods that place rows by their neighbours."""

    fitted: ClassVar[type[Fitted]] = OfNeighbours
    _records: ClassVar[type[NodeRecord]] = NodeRecord
    _rows_by_rows: ClassVar[bool] = True
    _record: NodeRecord
    _told: ClassVar[tuple[str, ...]] = ("eigenvalues_", "X_fit_")

    n_neighbors: Any
    metric: Any
    metric_params: Any

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]  # rows have no weights
        """Fit to rows.

        Parameters
        ----------
        X : (n, d) rows, dense or sparse; what ``metric`` compares; or distances (n, n)
        y : ignored
        """
        return self._fit(X, y)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:  # type: ignore[override]
        """Fit and return ``embedding_``, in the precision of the rows."""
        self.fit(X, y)
        rows = self.X_fit_ if self._kind() == "vectors" else None
        return np.array(self.embedding_, working_dtype(getattr(rows, "dtype", np.float64)))

    @abstractmethod
    def _parts(self, rows: Any) -> tuple[Nodes, list[Part]]:
        """Nodes of rows, and the problem of every component."""

    @abstractmethod
    def _coordinates(self, part: Part, solution: Solution) -> Floats:
        """Coordinates of the nodes of a component."""

    @abstractmethod
    def _place(self, rows: Any) -> Floats:
        """Coordinates of new rows."""

    # the pipeline

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, whole: bool = True) -> tuple[Any, None]:
        if sample_weight is not None:
            raise ParameterError(f"{type(self).__name__} makes no use of weights: every row counts once",
                                 received="sample_weight", hint="leave out sample_weight")  # fmt: skip
        if reset:
            self._new_record().library = None if type(X) is np.ndarray else library_of(X)
        require_numbers(self, self._kind())
        rows = in_units(self, checked_rows(self, X, self._kind(), reset=reset), reset=reset)
        if self._squares(rows):
            require_squares(rows)
        return rows, None

    def _squares(self, rows: Any) -> bool:
        """Whether the map is made of squared distances in the units of the rows."""
        return False

    def pose(self, rows: Any, weights: Any = None) -> Posed:
        """The problem of the largest component; those of the others beside it."""
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if n < 2:
            raise InputError(f"{type(self).__name__} needs at least 2 rows", received=f"n_samples={n}",
                             hint="pass more rows")  # fmt: skip
        nodes, parts = self._parts(rows)
        return replace(parts[0].posed, kept=Parts(nodes, parts))

    def _require_sizes(self, nodes: Nodes) -> None:
        """Refuse a component that has no room for the axes asked for."""
        small, several = int(np.bincount(nodes.labels).min()), bool(nodes.labels.any())
        if not isinstance(self.n_components, numbers.Integral) or small > int(self.n_components):
            return
        if several:
            raise InputError(
                "every component of the graph of neighbours has more rows than there are axes",
                received=f"n_components={self.n_components}, and a component of {counted(small, 'row')}",
                hint="more neighbours, disconnected='largest' or 'join', or fewer components",
            )
        raise ParameterError(
            f"n_components must be at most {small - 1}, one less than there are distinct rows",
            received=f"n_components={self.n_components} of {counted(small, 'distinct row')}",
            hint=f"n_components={max(small - 1, 1)}, or more rows",
        )

    def _solved(self, posed: Posed, plan: Any) -> Solution:
        for part in posed.kept.parts[1:]:
            other = self._filled(part.posed)
            posed.kept.others.append(super()._solved(other, self._plan(other)))
        solution: Solution = super()._solved(posed, plan)  # the last is what the record remembers
        return solution

    def read(self, solution: Solution, posed: Posed) -> None:
        """Coordinates of nodes and of rows, eigenvalues, and what places new rows."""
        kept: Parts = posed.kept
        solutions = [solution, *kept.others]
        Y = np.zeros((kept.nodes.count, len(solution.values)))
        for part, found in zip(kept.parts, solutions, strict=True):
            Y[part.index] = self._coordinates(part, found)
        place = kept.nodes.place
        self.embedding_ = np.where((place >= 0)[:, None], Y[place], np.nan)
        self.spectra_ = np.array([self._values(found) for found in solutions])
        self.eigenvalues_ = self.spectra_[0].copy()
        self.certificates_ = tuple(found.certificate for found in solutions)
        labels = kept.nodes.labels
        self.component_labels_ = np.where(place >= 0, labels[place], -1)
        self.n_connected_components_ = len(solutions)
        near = kept.nodes.near
        self.search_ = "" if near is None else str(near.certificate_)
        self.X_fit_ = kept.nodes.rows
        self._keep(solution, len(place))
        record = self._new_record()
        record.nodes, record.part, record.spectra = Y, labels, self.spectra_
        record.space = None if near is None else near._space

    def _values(self, solution: Solution) -> Floats:
        return np.asarray(solution.values, np.float64)

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificates of all components against the rows that were fitted.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).uniform(size=(100, 3))
        >>> model = ritz.LaplacianEigenmaps(2).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X**2))
        (True, False)
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, sample_weight, reset=False)
        with unsaid():
            parts = asked_again(self)._posed(rows, None).kept.parts
        if len(parts) != len(self.certificates_):
            raise InputError(f"the rows of the fit, which have {len(self.certificates_)} components",
                             received=f"rows with {len(parts)}", hint="pass the rows of the fit")  # fmt: skip
        checks = [self._checked(c, part.posed) for c, part in zip(self.certificates_, parts, strict=True)]
        return with_held(self, all_of(checks), (X, None), certificate=True)

    def _checked(self, certificate: Any, posed: Posed) -> Verification:
        if posed.which == "smallest":
            return verify_smallest(certificate, posed.operator, posed.null)
        return verify_operator(certificate, posed.operator, posed.kind)

    # new rows

    def transform(self, X: Any) -> Any:
        """Coordinates of rows, (n, k); a row of the fit has the coordinates that the fit gave it.

        Parameters
        ----------
        X : rows as ``fit`` takes them; distances to the distinct rows of the fit, (n, m), for precomputed ones
        """
        check_is_fitted(self)
        if self._kind() == "vectors":
            return super().transform(X)
        if self._kind() == "precomputed":
            return self._place(_distances(X, len(self._record.part)))
        return self._place(checked_rows(self, X, self._kind(), reset=False))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows from coordinates, (n, d): the weighted mean of the rows whose coordinates are nearest.

        Weights are those of :class:`ritz.LLE`, made from coordinates. Coordinates of a row of the fit give that row,
        also where they are rounded: by 1e-12 of the largest coordinate of the map at most, or 5e-7 in float32, unless
        another row lies as near.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> t = np.linspace(0, 3, 200)
        >>> X = np.c_[np.cos(t), np.sin(t)]                   # an arc
        >>> model = ritz.LLE(1, n_neighbors=4).fit(X)
        >>> between = (model.embedding_[:1] + model.embedding_[1:2]) / 2
        >>> bool(np.abs(model.inverse_transform(between) - X[:2].mean(axis=0)).max() < 1e-3)
        True
        """
        check_is_fitted(self)
        if self._kind() != "vectors" or is_sparse(self.X_fit_) or self.n_connected_components_ > 1:
            fitted_of(self).refuse(
                "way back to rows", "that takes dense rows of numbers whose graph is in one piece",
                "the nearest rows of embedding_ say what lies there",
            )  # fmt: skip
        T = to_numpy(checked_coordinates(X, self.n_components_))
        made = restored_units(self, rows_of(T, self._embedded(), np.asarray(self.X_fit_, np.float64)))
        return made.astype(working_dtype(T.dtype), copy=False)

    def _embedded(self) -> Floats:
        """Coordinates of the nodes."""
        return self._record.nodes

    def _map(self) -> ByNeighbours:  # type: ignore[override]
        def place(rows: Any) -> Floats:
            return self._place(in_units(self, rows, reset=False))

        return ByNeighbours(place, int(self.n_components_), getattr(self, "feature_names_in_", None))

    def _kind(self) -> str:
        return takes(self.metric)

    def _space(self) -> Space:
        record = self._record
        if record.space is None:
            record.space = space_of(self.metric, self.X_fit_, self.metric_params, room_for(self))
        space: Space = record.space
        return space

    def _nearest(self, rows: Any, k: int) -> Lists:
        """The k nearest nodes of new rows."""
        space = self._space()
        return space.nearest(space.new(rows), k, False, room_for(self)).lists

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of its words."""
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(f"{name} must be one of {', '.join(allowed)}", received=repr(value),
                             hint=f"{name}={nearest(value, allowed)!r}")  # fmt: skip


def _distances(X: Any, m: int) -> Any:
    D = X if hasattr(X, "tocsr") else np.asarray(X, np.float64)
    if D.ndim != 2 or D.shape[1] != m:
        raise InputError(f"distances of new rows to the {m:,} distinct rows of the fit, shape (n, {m})",
                         received=f"shape {D.shape}", hint="X_fit_ has the distinct rows, in their order")  # fmt: skip
    return D
