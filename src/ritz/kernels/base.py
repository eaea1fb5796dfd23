"""The kernel contract: ``k(x, y)`` as a value, evaluated on tiles.

    tile(A, B, rows, cols) = [k(aᵢ, bⱼ)]   i ∈ rows, j ∈ cols          diag(A) = [k(aᵢ, aᵢ)]

A kernel holds parameters only: it can be compared, hashed, printed as algebra, pickled and written to JSON. What it
needs to know of the data it computes once in ``prepare`` (rows shifted and scaled, norms, codes of letters) and keeps
in a ``Prepared``, from which tiles are cheap. New rows are prepared ``like`` the old ones: same shift, same alphabet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.threads import go_on, lane_count, run_lanes

__all__ = ["FeatureMap", "Kernel", "Prepared", "Takes", "chunks", "symmetric_matrix", "take_rows"]

#: What a kernel compares. ``any``: whatever its function takes. ``precomputed``: rows of a kernel matrix.
Takes: TypeAlias = Literal["vectors", "strings", "any", "precomputed"]

#: Rows and columns of the tiles of ``kernel(X, Y)``.
ROWS, COLS = 512, 4096
#: Rows of the upper tiles of ``kernel(X)``, which are mirrored in squares that stay in the cache (300 rows: 0.27 ms, in
#: squares of 256 1.0), and rows up to which they are not shared out among threads: starting these takes as long.
MIRRORED, ALONE = 128, 1000


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows as one kernel wants them.

    ``rows`` holds what has one entry a row (arrays, CSR matrices, lists, other ``Prepared``), ``shared`` what all rows
    have in common, ``source`` the rows as they were given, by reference.
    """

    kernel: Kernel
    n: int
    dtype: np.dtype[Any]
    rows: dict[str, Any]
    shared: dict[str, Any] = field(default_factory=dict)
    source: Any = None

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, name: str) -> Any:
        return self.rows[name] if name in self.rows else self.shared[name]

    def take(self, index: Any) -> Prepared:
        """Some rows (a slice or an array of positions), as if only they had been prepared ``like`` these."""
        index = np.arange(self.n)[index]
        return replace(
            self,
            n=len(index),
            rows={name: take_rows(values, index) for name, values in self.rows.items()},
            source=None if self.source is None else take_rows(self.source, index),
        )

    def at(self, dtype: Any) -> Prepared:
        """The same rows prepared for another precision."""
        dtype = np.dtype(dtype)
        return self if dtype == self.dtype else self.kernel.prepare(self.source, dtype=dtype, like=self)


def take_rows(rows: Any, index: Any) -> Any:
    """``held[index]`` (positions or a slice) for arrays, sparse matrices, frames, lists and prepared rows."""
    if isinstance(rows, Prepared):
        return rows.take(index)
    if hasattr(rows, "iloc"):
        return rows.iloc[index]
    if hasattr(rows, "shape"):
        return rows[index]
    return rows[index] if isinstance(index, slice) else [rows[i] for i in index]


class FeatureMap(Protocol):
    """An explicit φ with ``k(x, y) = φ(x)·φ(y)``, its vocabulary fixed by the rows it was made from."""

    @property
    def size(self) -> int:
        """How many features."""
        ...

    def transform(self, X: Any) -> Any:
        """φ of each row: ndarray or CSR (n, size)."""
        ...


class Kernel(ABC):
    """``k(x, y)``. Subclasses are frozen dataclasses whose fields are the parameters.

    ``k(X)`` is the kernel matrix of rows with themselves, (n, n), and ``k(X, Y)`` with others, (n, m). Operators ask
    for tiles instead, of rows that were prepared once.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.kernels import RBF, Kernel
    >>> k = 2 * RBF(0.5) + RBF(5.0)               # kernels are values: they add, compare and are written to files
    >>> k, k == Kernel.from_dict(k.to_dict())
    (2 * RBF(gamma=0.5) + RBF(gamma=5.0), True)
    >>> k(np.array([[0.0], [1.0]])).round(3)      # the kernel matrix; k(X, Y) of some rows with others
    array([[3.  , 1.22],
           [1.22, 3.  ]])
    >>> k.positive                                # whatever the rows, no eigenvalue is negative
    True
    """

    # Kernels made of kernels live in a module that imports this one, hence the registry.
    _combinators: ClassVar[dict[str, Callable[..., Kernel]]] = {}

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite, whatever the rows."""
        return True

    @property
    def takes(self) -> Takes:
        """What kind of rows it compares."""
        return "vectors"

    def fix(self, X: Any, *, y: Any = None, seed: int = 0) -> Kernel:
        """The same kernel with a number for every parameter that is to be found from the rows."""
        return self

    @abstractmethod
    def prepare(self, X: Any, *, dtype: Any = None, like: Prepared | None = None) -> Prepared:
        """Whatever tiles need of the rows.

        ``dtype``: precision of the tiles; that of X if absent (float32 stays, all else is float64). ``like``: earlier
        rows that these will be compared with. It is needed then: rows that were prepared apart have origins of
        their own, and a tile of both would be wrong.
        """

    @abstractmethod
    def tile(self, A: Prepared, B: Prepared, rows: slice, cols: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """``[k(aᵢ, bⱼ)]`` for i in rows, j in cols, in the precision of A; into ``out`` if given.

        Where ``A is B`` the matrix is symmetric, its diagonal equals ``diag(A)``, and tiles (i, j) and (j, i) agree.
        """

    @abstractmethod
    def diag(self, A: Prepared) -> NDArray[np.float64]:
        """``[k(aᵢ, aᵢ)]``, (n,) float64."""

    def wide_rows(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows ``index`` of ``k(A, A)`` from float64 tiles: what float32 tiles are checked against."""
        few = self.prepare(take_rows(A.source, index), dtype=np.float64, like=A)
        K = np.empty((few.n, A.n))
        for block in chunks(A.n, ROWS):
            B = self.prepare(take_rows(A.source, block), dtype=np.float64, like=A)
            K[:, block] = self.tile(few, B, slice(0, few.n), slice(0, B.n))
        return K

    def reference(self, A: Prepared, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """The same by the most accurate formula there is: what float64 tiles are checked against."""
        return self.wide_rows(A, index)

    @property
    def relative(self) -> bool:
        """Whether k ≥ 0 and entries are off by a share of themselves, so that small ones are hardly off at all."""
        return False

    def roughness(self, A: Prepared) -> NDArray[np.float64]:
        """ρ (n,): entries are off by about u·(ρᵢ + ρⱼ)/2, in units of themselves (``relative``) or of √(kᵢᵢkⱼⱼ)."""
        return np.ones(A.n)

    def surely_finite(self, A: Prepared) -> bool:
        """Whether the prepared rows tell that no entry of a tile can overflow; False where one has to be looked at."""
        return False

    def working_bytes(self, X: Any) -> float | None:
        """About how many bytes ``prepare`` takes at most; None where the size of the rows tells."""
        return None

    def feature_map(self, X: Any) -> FeatureMap | None:
        """An explicit φ of few features, or None."""
        return None

    def features(self, X: Any) -> Any:
        """φ of each row (ndarray or CSR), or None where φ has too many features to be written out."""
        made = self.feature_map(X)
        return None if made is None else made.transform(X)

    def __call__(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """The kernel matrix of X with itself, (n, n), or with Y, (n, m)."""
        fixed = self.fix(X)
        A = fixed.prepare(X)
        return symmetric_matrix(fixed, A) if Y is None else fixed.matrix(A, fixed.prepare(Y, dtype=A.dtype, like=A))

    def matrix(self, A: Prepared, B: Prepared) -> NDArray[Any]:
        """``[k(aᵢ, bⱼ)]`` for all i and j, (n, m); B was prepared ``like`` A, or together with it."""
        if A is B:
            return symmetric_matrix(self, A)
        _require_one_origin(A, B)
        K = np.empty((A.n, B.n), A.dtype)
        steps = list(chunks(A.n, ROWS))
        lanes = min(lane_count(), max(len(steps), 1))

        def work(lane: int) -> None:
            for I in steps[lane::lanes]:
                for J in chunks(B.n, COLS):
                    K[I, J] = self.tile(A, B, I, J)

        run_lanes(work, list(range(lanes)))
        return K

    # a value

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep``: those of inner kernels too, as ``left__gamma``."""
        params: dict[str, Any] = {}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            params[each.name] = value
            if deep and isinstance(value, Kernel):
                params |= {f"{each.name}__{name}": inner for name, inner in value.get_params().items()}
        return params

    def with_params(self, **params: Any) -> Any:
        """The same kernel with some parameters changed."""
        own = self.get_params(deep=False)
        for name in params:
            if name not in own:
                raise ParameterError(
                    f"parameters of {type(self).__name__} are {', '.join(own) or 'none'}", received=repr(name)
                )
        return type(self)(**(own | params))

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters, ready for JSON."""
        params = self.get_params(deep=False)
        return {"name": type(self).__name__} | {
            name: value.to_dict() if isinstance(value, Kernel) else value for name, value in params.items()
        }

    @staticmethod
    def from_dict(state: dict[str, Any]) -> Kernel:
        """The kernel that ``to_dict`` described."""
        params = {name: value for name, value in state.items() if name != "name"}
        cls = getattr(import_module("ritz.kernels"), str(state.get("name")), None)
        if not (isinstance(cls, type) and issubclass(cls, Kernel)):
            raise InputError("a description of a kernel names one of ritz.kernels", received=repr(state.get("name")))
        inner = {n: Kernel.from_dict(v) if isinstance(v, dict) and "name" in v else v for n, v in params.items()}
        return cls(**inner)

    # algebra

    def __add__(self, other: Any) -> Kernel:
        return self._combinators["sum"](self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return self._combinators["product"](self, other)
        return self._combinators["scaled"](self, other) if _is_number(other) else NotImplemented

    __rmul__ = __mul__

    def normalized(self) -> Kernel:
        """``k(x, y) / √(k(x, x) k(y, y))``; 0 where either is 0."""
        return self._combinators["normalized"](self)


def _require_one_origin(A: Prepared, B: Prepared) -> None:
    """Refuse rows that were prepared apart: distances between points about different origins are none."""
    one, two = A.shared.get("shift"), B.shared.get("shift")
    if one is not two and not (one is not None and two is not None and np.array_equal(one, two)):
        raise InputError(
            "rows that are compared must have been prepared about one origin",
            received="two sets of rows, each prepared by itself",
            hint="kernel.prepare(Y, like=A), or kernel(X, Y), which prepares both",
        )
    inner = [(held, B.rows.get(name)) for name, held in A.rows.items()]
    inner += [(held, B.shared.get(name)) for name, held in A.shared.items()]
    for mine, theirs in inner:
        if isinstance(mine, Prepared) and isinstance(theirs, Prepared):
            _require_one_origin(mine, theirs)


def symmetric_matrix(kernel: Kernel, A: Prepared) -> NDArray[Any]:
    """``k(A, A)``: the upper tiles, mirrored, so that it is symmetric to the last bit."""
    K = np.empty((A.n, A.n), A.dtype)
    steps = list(chunks(A.n, MIRRORED))
    lanes = min(lane_count(), max(len(steps), 1)) if A.n > ALONE else 1

    def work(lane: int) -> None:
        room = np.empty(min(MIRRORED, A.n) * min(COLS, A.n), A.dtype)  # memory that is used again
        below = _below(min(MIRRORED, A.n))
        for I in steps[lane::lanes]:
            height = I.stop - I.start
            for J in chunks(A.n, COLS, I.start):
                width = J.stop - J.start
                K[I, J] = kernel.tile(A, A, I, J, room[: height * width].reshape(height, width))
            np.copyto(K[I, I], K[I, I].T.copy(), where=below[:height, :height])
            for J in chunks(A.n, MIRRORED, I.stop):
                K[J, I] = K[I, J].T

    run_lanes(work, list(range(lanes)))
    return K


@lru_cache(maxsize=4)
def _below(n: int) -> NDArray[np.bool_]:
    """(n, n) what lies below the diagonal."""
    return np.tri(n, k=-1, dtype=bool)


def chunks(stop: int, step: int, start: int = 0) -> Iterator[slice]:
    """``start:stop`` in slices of ``step``."""
    for first in range(start, stop, step):
        go_on()
        yield slice(first, min(first + step, stop))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
