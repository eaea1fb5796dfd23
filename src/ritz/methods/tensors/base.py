"""What all methods for tensors have in common; rows are the slices of the first mode.

    X (n₁, …, n_p)   →   parts, X̂ from them, TensorCertificate        slice i ↦ its coordinates on k axes, embedding_[i]

The axes are those of the unfolding of the first mode of X̂: orthonormal directions in the space of slices, by
decreasing singular value. New slices of the same shape are placed on them, and come back from there.
"""

from __future__ import annotations

import math
import numbers
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz._core.linalg import to_numpy
from ritz._core.progress import using
from ritz.data.tables.identifiers import identifiers_of
from ritz.data.tables.write import row_writer
from ritz.data.validate import room_for
from ritz.methods.coordinates import checked_coordinates, keep_apart
from ritz.methods.fitted.tensor import OfTensor
from ritz.methods.method import Method
from ritz.methods.posed import Posed
from ritz.methods.record import ABSENT, Record
from ritz.methods.svd import SVD
from ritz.methods.tensors.certificate import TensorCertificate
from ritz.methods.tensors.checked import check_tensor
from ritz.methods.tensors.modes import Mode
from ritz.methods.tensors.parts import distance, index_of
from ritz.methods.tensors.source import is_mapped, require_finite_tensor, slabs, taken, tensor_of
from ritz.methods.verify.again import refound
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.verify import Verification

__all__ = ["Decomposed", "Tensor", "TensorMethod", "TensorRecord"]

Floats = NDArray[Any]

#: Largest and smallest entries whose squares keep their digits.
LARGE, SMALL = 1e70, 1e-70
ROUND = 2.0**-53


@dataclass(eq=False)
class TensorRecord(Record):
    """What a fit keeps for itself."""

    turn: Floats = ABSENT  # from what is left of a slice in the other modes to its coordinates
    dtype: np.dtype[Any] = ABSENT  # of the results
    library: str | None = ABSENT


@dataclass
class Tensor:
    """A tensor as a fit takes it: in ``unit`` of its largest entry where squares would leave the range of float64."""

    array: Floats
    unit: float
    square: float  # ‖X‖² in units
    passes: int


@dataclass
class Decomposed:
    """What a method has found, before names are given."""

    parts: dict[str, Any]
    modes: list[Mode]
    rounding: float  # of X̂ from its parts, relative to ‖X̂‖
    constant: float = math.nan
    bound: bool = True
    passes: int = 0
    stationarity: float = math.nan
    notes: tuple[str, ...] = ()
    iterations: int | None = None
    best: list[Mode] = field(default_factory=list)  # modes whose remainders bound the best error from below


class TensorMethod(Method):
    """Base of the methods for tensors."""

    fitted: ClassVar[type[OfTensor]] = OfTensor
    _records: ClassVar[type[TensorRecord]] = TensorRecord
    _record: TensorRecord
    #: norms between which a tensor is taken as it is
    _sizes: ClassVar[tuple[float, float]] = (SMALL, LARGE)
    error: float | None = None

    # the pipeline

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a tensor.

        Parameters
        ----------
        X : array (n₁, …, n_p) of two modes or more, or the path of a .npy file
            An array that is mapped from a file is read in pieces, and never held.
        y : ignored
        sample_weight : None
        """
        if sample_weight is not None:
            raise ParameterError("slices of a tensor have no weights", received="sample_weight", hint="leave it out")
        return self._fit(X, y, None)

    def _adopt(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        self._record = self._records()
        array, name, room = tensor_of(X, type(self).__name__), type(self).__name__, room_for(self)
        if is_mapped(array) and 4 * array.size * 8 <= room:  # small enough to be read
            array = tensor_of(np.array(array), name)
        unit, square = 1.0, _square(array, room)
        low, high = self._sizes
        if not low**2 < square < high**2:  # not finite, all zeros, or squares that leave the range of float64
            require_finite_tensor(array, name, room)
            parts = (taken(array, index) for index in slabs(array.shape, room))
            top = max(float(np.max(np.abs(part), initial=0.0)) for part in parts)
            if top > 0:
                unit = 2.0 ** math.floor(math.log2(top))
                array = np.ascontiguousarray(np.asarray(array, np.float64) / unit)
                square = _square(array, room)
        return Tensor(array, unit, square, 1), None

    def _posed(self, *adopted: Any) -> Posed:
        tensor: Tensor = adopted[0]
        n = math.prod(tensor.array.shape)
        last = tensor.array.shape[-1]
        shape = Shape(n // last, last, tensor.array.dtype.itemsize, None, outside=is_mapped(tensor.array))
        return Posed(shape=shape, kept=tensor)

    def _plan(self, posed: Posed) -> Plan:
        """That of the first unfolding, the only one of the whole tensor."""
        ranks, _ = self._wanted_ranks(posed.kept)
        k: Any = min(8, posed.shape.small) if ranks is None else min(ranks[-1], posed.shape.small)
        like = SVD(k, solver=self.solver, tol=self.tol, memory=self.memory)
        try:
            found = like._plan_for(posed.shape, k)
        except MemoryLimitError:
            held = 40.0 * posed.shape.d**2
            if held > room_for(self):
                raise
            reasons = ("memory holds a triangle and some rows at a time, and no moment state beside them",)
            found = Plan("svd", "columns", "float64", 1, 4e-10 * posed.shape.n * posed.shape.d**2, held, reasons)
        p = posed.kept.array.ndim
        passes, words = self._beside(found.passes, p)
        last = f"of the last of {p} unfoldings; the others are of what it keeps"
        return replace(found, passes=passes, reasons=(*found.reasons, last, *words))

    def _beside(self, first: float, modes: int) -> tuple[float, tuple[str, ...]]:
        """All passes over the tensor where an unfolding takes so many, and words about them.

        Squares come before the first unfolding, and after the last what it keeps, and what the parts leave.
        """
        return first + 3, ()

    def _solved(self, posed: Posed, plan: Plan) -> tuple[Decomposed, Plan, float]:
        began = time.perf_counter()
        with using(self.progress, type(self).__name__):
            found = self._decomposed(posed.kept, self._options())
        return found, plan, began

    def _options(self) -> dict[str, Any]:
        return {"solver": self.solver, "tol": self.tol, "random_state": self.random_state, "memory": self.memory,
                "progress": None, "room": room_for(self)}  # fmt: skip

    def _decomposed(self, tensor: Tensor, options: dict[str, Any]) -> Decomposed:
        raise NotImplementedError

    def read(self, solution: Any, posed: Posed) -> None:
        """Parts in the units and the precision of the data, coordinates of slices, and the certificate."""
        found, plan, began = solution
        tensor: Tensor = posed.kept
        X, self.shape_ = tensor.array, tuple(int(n) for n in tensor.array.shape)
        dtype = np.dtype(np.float32 if X.dtype == np.float32 and tensor.unit == 1 else np.float64)
        self.n_samples_, self.n_features_in_ = self.shape_[0], math.prod(self.shape_[1:])
        self._record.dtype = dtype
        self._name(found, tensor.unit, dtype)
        self._place_slices()
        self.n_components_ = self.embedding_.shape[1]
        if found.iterations is not None:
            self.n_iter_ = found.iterations
        off, size = distance(X, lambda index: self._made(index) / tensor.unit, self._options()["room"], 1.0)
        seconds = time.perf_counter() - began
        passes = tensor.passes + found.passes + 1
        whole, stored = math.prod(self.shape_), self._stored_numbers()
        found.notes = (*found.notes, *self._cut(), f"{whole:,} numbers are kept as {stored:,}")
        self.certificate_ = self._certified(found, off, size, tensor.unit, passes, seconds)
        self.relative_error_ = off / size if size > 0 else 0.0
        self.compression_ = whole / stored
        self.explained_variance_ratio_ = self._shares(size * tensor.unit)
        self.plan_ = plan.done(passes, seconds)

    def _certified(
        self, found: Decomposed, off: float, size: float, unit: float, passes: int, seconds: float
    ) -> TensorCertificate:
        """The bracket of the error, around the certificate of the axes of slices."""
        slack = found.rounding * size + 64 * ROUND * off
        made = (ROUND if self._record.dtype == np.float64 else 2.0**-24) * math.sqrt(max(self.shape_)) * size
        left = [mode.left for mode in found.modes]
        lows = [math.sqrt(mode.left_low) - found.rounding * size for mode in (found.best or found.modes)]
        s, unsure = self._axes_values(), (slack + made) * unit
        with np.errstate(over="ignore"):  # squares of what is beyond 1e154 are infinite, and errors are not
            values = np.square(s)
            lower, upper = np.square(np.maximum(s - unsure, 0.0)), np.square(s + unsure)
        k = len(values)
        most = math.sqrt(math.fsum(mode.left_high for mode in found.modes)) + made + slack
        most = most * unit if found.bound else math.nan
        return TensorCertificate(
            values=values, lower=lower, upper=upper, labelled=np.ones(k, bool),
            residuals=np.zeros(k), angles=np.full(k, np.nan), clusters=(),
            completeness="all singular values of the unfolding of X̂", ceiling=0.0, probability=1.0,
            total=size * unit * (size * unit), orthogonality=0.0, kind="certified", converged=True, tol=None,
            unit_roundoff=ROUND, precision=str(self._record.dtype), rounding=slack * unit, passes=passes,
            seconds=seconds, notes=found.notes, frame={"matrix": "X̂₍₁₎"}, error=off * unit,
            error_low=max(0.0, off - slack) * unit, error_high=(off + slack) * unit,
            best_low=max(0.0, *lows) * unit if lows else 0.0,
            bound=most, norm=size * unit,
            discarded=tuple(one * unit * unit for one in left), constant=found.constant,
            stationarity=found.stationarity, problem=self._problem_words(),
        )  # fmt: skip

    def _problem_words(self) -> str:
        sizes = " × ".join(f"{n:,}" for n in self.shape_)
        return f"{self.about.title} of a tensor of {sizes}, ranks {', '.join(map(str, self.ranks_))}"

    # what a method says of its parts

    ranks_: tuple[int, ...]

    def _name(self, found: Decomposed, unit: float, dtype: Any) -> None:
        raise NotImplementedError

    def _made(self, places: Any) -> Floats:
        """X̂ at some places of every mode, in float64."""
        raise NotImplementedError

    def _place_slices(self) -> None:
        raise NotImplementedError

    def _axes_values(self) -> Floats:
        """(k,) singular values of the unfolding of the first mode of X̂."""
        return np.asarray(self.singular_values_, np.float64)

    def _shares(self, norm: float) -> Floats:
        """(k,) shares of the axes in ‖X‖²."""
        return np.square(self._axes_values() / norm) if norm > 0 else np.zeros(self.n_components_)

    def _stored_numbers(self) -> int:
        raise NotImplementedError

    def _coordinates(self, X: Floats) -> Floats:
        raise NotImplementedError

    def _slices(self, F: Floats) -> Floats:
        raise NotImplementedError

    # ranks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        k, error = self.n_components, self.error
        if error is not None and not (
            isinstance(error, numbers.Real) and not isinstance(error, bool) and 0 <= error < 1
        ):
            raise ParameterError("error must be None or a relative error in [0, 1)", received=repr(error),
                                 hint="error=0.01 leaves at most 1 % of ‖X‖")  # fmt: skip
        if error is not None and k is not None:
            raise ParameterError("ranks follow from error= or from n_components=", received="both",
                                 hint="leave out one of them")  # fmt: skip
        many = isinstance(k, (tuple, list, np.ndarray))
        for one in k if many else ():
            if isinstance(one, bool) or not isinstance(one, numbers.Integral) or int(one) < 1:
                raise ParameterError("ranks are whole numbers from 1 on", received=repr(k), hint="(10, 10, 3)")
        share = isinstance(k, float) and 0 < k < 1
        whole = isinstance(k, numbers.Integral) and not isinstance(k, bool) and int(k) >= 1
        if not (k is None or many or share or whole):
            raise ParameterError(
                "n_components must be None, a rank for all modes, one rank a mode, or a share of ‖X‖² in (0, 1)",
                received=repr(k), hint="n_components=(10, 10, 3), or error=0.01",
            )  # fmt: skip

    #: what there is one rank for, and what parts fulfil
    _ranks_of: ClassVar[str] = "modes"
    _unit_parts: ClassVar[str] = "orthonormality of the parts"

    def _wanted_ranks(self, tensor: Tensor) -> tuple[tuple[int, ...] | None, float | None]:
        """One rank an unfolding, or what all of them together may leave of ‖X‖²."""
        shape, k = tensor.array.shape, self.n_components
        count = len(shape) if self._ranks_of == "modes" else len(shape) - 1
        if self.error is not None:
            return None, float(self.error) ** 2 * tensor.square
        if isinstance(k, float):
            return None, (1.0 - k) * tensor.square
        if k is None:
            return None, 0.0
        ranks = tuple(int(one) for one in k) if isinstance(k, (tuple, list, np.ndarray)) else (int(k),) * count
        if self._ranks_of != "modes" and len(ranks) == count + 2 and ranks[0] == ranks[-1] == 1:
            ranks = ranks[1:-1]
        if len(ranks) != count:
            raise ParameterError(f"one rank for each of the {count} {self._ranks_of}", received=f"{len(ranks)} ranks",
                                 hint=f"n_components={(2,) * count}")  # fmt: skip
        return ranks, None

    def _cut(self) -> list[str]:
        """Ranks that were asked for by mode and are smaller in the model, each with the reason."""
        k = self.n_components
        if self._ranks_of != "modes" or not isinstance(k, (tuple, list, np.ndarray)) or len(k) != len(self.ranks_):
            return []
        cut = [(i, int(asked), got) for i, (asked, got) in enumerate(zip(k, self.ranks_, strict=True)) if got < asked]
        return [
            f"rank {asked} of mode {i + 1} became {got}: a mode of length {self.shape_[i]:,} beside the other ranks "
            "has no more" for i, asked, got in cut
        ]  # fmt: skip

    # what a fitted model gives

    def reconstruct(self, index: Any = None) -> Floats:
        """X̂, or a part of it, without the whole.

        Parameters
        ----------
        index : what indexes an array; None for all of it
            Numbers, slices, ``...`` and lists of places, each for its mode; lists are combined with each other.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((6, 5, 4))
        >>> model = ritz.HOSVD().fit(X)              # all ranks: nothing is lost
        >>> bool(np.allclose(model.reconstruct(), X)), bool(np.allclose(model[2, :, [0, 3]], X[2][:, [0, 3]]))
        (True, True)
        """
        check_is_fitted(self)
        places, gone = index_of(() if index is None else index, self.shape_)
        out = np.asarray(self._made(tuple(places)))
        out = out[tuple(0 if mode in gone else slice(None) for mode in range(len(self.shape_)))]
        return np.asarray(out, self._record.dtype) if np.ndim(out) else self._record.dtype.type(out)

    def __getitem__(self, index: Any) -> Floats:
        return self.reconstruct(index)

    def transform(self, X: Any) -> Floats:
        """Coordinates of slices of the first mode, (m, k).

        Parameters
        ----------
        X : array (m, n₂, …, n_p)
            Slices of the shape that the fit had, or one row of n₂⋯n_p numbers for each.
        """
        check_is_fitted(self)
        rows = self._like(X)
        room = self._options()["room"]
        out = np.empty((len(rows), self.n_components_))
        step = max(1, int(min(1 << 22, room / 64) / max(1, self.n_features_in_)))
        for start in range(0, len(rows), step):
            some = np.asarray(rows[start : start + step], np.float64)
            out[start : start + step] = self._coordinates(some)
        return np.asarray(out, self._record.dtype)

    def transform_to(self, X: Any, path: Any) -> Path:
        """Write the coordinates of slices to a file, and give its path.

        Parameters
        ----------
        X : array (m, n₂, …, n_p)
        path : path
            Ends in ``.parquet``, ``.csv``, ``.tsv``, ``.arrow``, ``.feather`` or ``.npy``.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((6, 5, 4))
        >>> path = ritz.HOSVD(2).fit(X).transform_to(X, "slices.parquet")
        >>> ritz.read(path).names, ritz.read(path).n_rows
        (['T1', 'T2'], 6)
        """
        scores, target = self.transform(X), Path(path)
        keep_apart(target, X)
        names = [f"{self.about.axis}{i + 1}" for i in range(self.n_components_)]
        with row_writer(target, names, scores.dtype) as write:
            write(scores, identifiers_of(None).take(len(scores)))
        return target

    def inverse_transform(self, X: Any) -> Floats:
        """Slices (m, n₂, …, n_p) from coordinates.

        Parameters
        ----------
        X : array (m, k)

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((6, 5, 4))
        >>> model = ritz.HOSVD((2, 5, 4)).fit(X)
        >>> bool(np.allclose(model.inverse_transform(model.transform(X)), model.reconstruct()))
        True
        """
        check_is_fitted(self)
        F = to_numpy(checked_coordinates(X, self.n_components_)).astype(np.float64, copy=False)
        return np.asarray(self._slices(F), self._record.dtype)

    def _like(self, X: Any) -> Floats:
        """Slices of the shape of the fit; rows of as many numbers are folded."""
        array = tensor_of(X, type(self).__name__)
        if array.ndim == 2 and array.shape[1] == self.n_features_in_:
            array = array.reshape(len(array), *self.shape_[1:])
        if array.ndim != len(self.shape_) or array.shape[1:] != self.shape_[1:]:
            wanted = " × ".join(str(n) for n in self.shape_[1:])
            raise InputError(f"slices of {wanted}, as in the fit", received=f"shape {array.shape}",
                             hint="the first mode counts the slices")  # fmt: skip
        room = self._options()["room"]
        require_finite_tensor(array, type(self).__name__, room)
        return array

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check error and bounds against the tensor that was fitted, by other products than those of the fit.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((6, 5, 4))
        >>> model = ritz.TensorTrain(3).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X + 0.01))
        (True, False)
        """
        check_is_fitted(self)
        checked = check_tensor(self, tensor_of(X, type(self).__name__), self._options()["room"])
        wrong = refound(self, lambda other: other.fit(X), place=("embedding_",), always=("compression_",))
        return replace(checked, ok=False, words=(*wrong, *checked.words)) if wrong else checked

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, whole: bool = True) -> tuple[Any, Any]:
        """Slices as rows of numbers, for what compares rows."""
        array = tensor_of(X, type(self).__name__)
        return array.reshape(len(array), -1), None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.three_d_array = False, True
        return tags


def _square(X: Floats, room: float) -> float:
    """‖X‖², by pieces."""
    parts = (taken(X, index) for index in slabs(X.shape, room))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [float(np.vdot(part, part)) for part in parts]
    return math.fsum(sums) if np.isfinite(sums).all() else math.nan
