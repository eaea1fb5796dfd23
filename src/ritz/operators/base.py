"""The operator contract: ``A`` (n×d) is known only by what it does to blocks of vectors.

    matmat(V)   A V        (d×l) → (n×l)          normal(V)   AᵀA V      (d×l) → (d×l), one pass where it can
    rmatmat(U)  Aᵀ U       (n×l) → (d×l)          gram(W)     WᵀAᵀA W    (d×p) → (p×p), one pass; W = I if absent

Subclasses write ``_matmat`` and ``_rmatmat`` and, where one pass over the data does it, ``_normal`` and ``_gram``.
The public methods check shapes and count calls once, for all. A solver sees nothing else: what it must know beside
products (symmetry, sign, trace, Frobenius norm, rounding, a key of the data, where arrays lie) is asked for here, with
defaults that claim nothing.

Rounding is told in units of the matrix M that solvers work on: A itself if it is symmetric, AᵀA of a table.

    ‖computed − exact‖₂  ≤  ρ(u)·(‖M‖ + inflation) + measured + 2·scale_error·‖M‖       u of ``dtype`` unless measured
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError
from ritz._core.keys import key_of_numbers
from ritz._core.linalg import Array, Place, namespace, to_numpy
from ritz._core.random import gaussian_rows
from ritz.operators.enclosed import Enclosed

if TYPE_CHECKING:
    from ritz.data.passes.rough import Rough
    from ritz.operators.assembled import Assembled

__all__ = ["Calls", "Operator", "Tally"]

#: ``to_dense`` refuses above this many bytes unless told otherwise.
DENSE_BUDGET = 1 << 30
#: The stream of the vector that an operator without a key of its own is multiplied with.
PROBE = 1 << 20


@dataclass
class Calls:
    """How often an operator was applied, and to how many columns in all."""

    matmat: int = 0
    rmatmat: int = 0
    normal: int = 0
    gram: int = 0
    columns: int = 0


class Tally:
    """Passes over one table, shared by all operators on it."""

    def __init__(self) -> None:
        self.passes = 0

    def counted(self, product: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The same product, of which each is a pass."""

        def counted(v: Any) -> Any:
            self.passes += 1
            return product(v)

        return counted


class Operator(ABC):
    """A linear map from R^d to R^n with its adjoint.

    Parameters
    ----------
    shape : (n, d)
    dtype : dtype
        Precision of the products.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators import Dense, Operator
    >>> from ritz.testing import check_operator
    >>> class Differences(Operator):
    ...     def __init__(self, d): super().__init__((d - 1, d), np.float64)
    ...     def _matmat(self, V): return np.diff(V, axis=0)
    ...     def _rmatmat(self, U): return -np.diff(np.pad(U, ((1, 1), (0, 0))), axis=0)
    ...     def symbol(self): return "∂"
    >>> check_operator(Differences(5), np.diff(np.eye(5), axis=0))  # silent: right
    >>> Differences(5).T @ Differences(5)
    ∂ᵀ ∂  (5×5, float64)
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    #: whether A = Aᵀ; problems of kind "eigh" take no other
    symmetric: bool = False
    #: whether no eigenvalue of a symmetric operator is negative; the trace bounds eigenvalues only then
    positive: bool = False
    #: what those that were proved to be rounding may add up to; ``trace`` has it added, so that it bounds eigenvalues
    below: float = 0.0
    #: whether ``check`` can tell the rounding of a product from its vectors alone
    checkable: bool = False
    #: what to try where a solver does not converge, if no other solver can be asked
    advice: str | None = None
    #: residual, in units of θ₁, below which steps with these products are not worth their time
    grain: float = 0.0
    #: whether the smallest eigenvalues may lie so far apart, in units of ‖M‖, that products alone find them
    apart: bool = True
    #: the array namespace of the blocks it takes and gives, and the device they lie on; None is the library's choice
    xp: Any = np
    device: Any = None

    def __init__(self, shape: tuple[int, int], dtype: Any) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype)
        self.calls = Calls()

    # What a subclass writes.

    @abstractmethod
    def _matmat(self, V: Array) -> Array: ...

    @abstractmethod
    def _rmatmat(self, U: Array) -> Array: ...

    def _halves(self, V: Array) -> tuple[Array | None, Array]:
        return None, self._normal(V)

    def _normal(self, V: Array) -> Array:
        return self._rmatmat(self._matmat(V))

    def _gram(self, W: Array | None) -> Array:
        B = self._matmat(self.place.eye(self.shape[1], self.dtype) if W is None else W)
        return namespace(B).matrix_transpose(B) @ B

    @abstractmethod
    def symbol(self) -> str:
        """The operator as algebra, for ``repr``, plans and reports."""

    @property
    def place(self) -> Place:
        """Where the blocks that it takes and gives lie."""
        return Place(self.xp, self.device)

    def passes(self) -> int:
        """Passes over the underlying data so far."""
        return 0

    def at(self, dtype: Any) -> Operator:
        """The same operator computing in another precision, if it can; itself otherwise."""
        return self

    def coarsest(self) -> Operator:
        """The same operator with the cheapest products there are, for early steps whose answer is measured later."""
        return self.at(np.float32)

    def lean(self) -> Operator:
        """The same operator for vectors that enter an answer with a small share, whose rounding is measured then."""
        return self

    def block_width(self, columns: int) -> int:
        """Columns that a product takes in the time of so many."""
        return columns

    def inflation(self) -> float:
        """By how much the numbers that are rounded exceed A itself (a mean that is taken off after the product).

        ‖B‖₂ of what is taken off a symmetric A, ‖B‖₂² of what is taken off a table.
        """
        return 0.0

    def measured(self) -> float | None:
        """Measured rounding ‖computed − exact‖ of products with a unit vector; None where not measured.

        Of ``matmat`` of a symmetric operator, of the last ``normal`` of a table.
        """
        return None

    def perturbation(self) -> float | None:
        """‖Ã − A‖₂: how far the matrix that products see is from the one that is meant, where that is measured."""
        return self.measured() if self.symmetric else None

    def unchecked(self) -> Operator:
        """The same operator whose products are not checked unless ``check`` is told to; ``measured`` begins anew."""
        return self

    def loose(self, room: float = 0.0) -> Operator:
        """The same operator with the fastest products of its precision, whose sums may be long.

        For iterations whose answer is measured by products of the operator itself: nothing is claimed here. ``room``:
        bytes that a copy of its entries may take for their sake.
        """
        return self

    def vector_product(self) -> Callable[[Any], Any] | None:
        """``v ↦ A v`` of one vector in this precision, where that takes much less than a block; None elsewhere.

        As ``loose``, nothing is claimed of its rounding, and it gives a buffer that the next product fills again.
        """
        return None

    def vector_normal(self) -> Callable[[Any], Any] | None:
        """The same of ``AᵀA v``."""
        return None

    def at_hand(self) -> bool:
        """Whether its entries lie in the memory of the host, all of them, so that they can be written out."""
        return False

    def enclosed(self) -> Enclosed | None:
        """Small matrices between which the matrix that this operator stands for lies; None where it is known itself."""
        return None

    def check(self, V: Array, MV: Array, *, answer: int = 0) -> None:
        """Measure the rounding of ``MV`` ≈ A V, put together from products made before; ``measured`` then counts it.

        ``answer``: that many leading columns, orthonormal, are an answer, whose rounding must not be missed.
        """
        raise NotImplementedError(f"the rounding of products with {self!r} cannot be measured")

    def power_sums(self) -> tuple[float, float] | None:
        """Σλ from below and Σλ² from above, for a symmetric operator without negative eigenvalues, where known."""
        return None

    def square_sum(self) -> float | None:
        """Σλ² from above, for a symmetric operator whose eigenvalues may be negative, where known."""
        return None

    def trace(self) -> float | None:
        """Exact trace of a symmetric operator; None where it is not known. Of AᵀA see ``frobenius2``."""
        return None

    def frobenius2(self) -> float | None:
        """‖A‖²_F, the trace of AᵀA; None where it is not known."""
        return None

    def gram_dtype(self) -> Any:
        """dtype of the products that form the Gram matrix, or formed the matrix of a state."""
        return self.dtype if self.dtype.kind == "f" else np.float64

    def arithmetic(self) -> tuple[float, str]:
        """Unit round-off and name of the arithmetic in which the Gram matrix was, or will be, formed."""
        size = np.dtype(self.gram_dtype()).itemsize
        return 2.0**-24 if size == 4 else 2.0**-53, "float32 products summed in float64" if size < 8 else "float64"

    def gram_noise(self) -> float | None:
        """Measured rounding ‖computed − exact Gram‖₂ of the last ``gram()``; None where it was not measured."""
        return None

    def gram_inflation(self) -> float:
        """As ``inflation`` of a table, for ``gram()``."""
        own = self.inflation()
        return own * own if self.symmetric else own

    def noise_along(self, V: Array) -> float | None:
        """Estimate of ‖VᵀEV‖₂, E the rounding of the last ``gram()``; None where it is not known."""
        return None

    def key(self) -> int:
        """64 bits that depend on the data, the same however rows are cut: random starts are keyed by them.

        By default they come from one product with a fixed vector, of which five digits are kept.
        """
        probe = self.matmat(self.place.array(gaussian_rows(0, PROBE, 0, self.shape[1], 1)))
        return key_of_numbers(to_numpy(probe))

    def scale_error(self) -> float:
        """Relative error of column scales that were themselves computed from the data."""
        return 0.0

    def assembled(self) -> Assembled | None:
        """The sparse entries of a symmetric operator without negative eigenvalues, for a factorisation; else None."""
        return None

    def null(self) -> Array | None:
        """Vectors (p, m) that a symmetric operator is known to map to zero; None where none is known."""
        return None

    def wider(self) -> Operator | None:
        """The same operator whose Gram matrix is formed in float64; None if it already is."""
        return None

    def narrowed(self) -> bool:
        """Have the Gram matrix formed in float32 from now on, as planned; False where the rows do not allow it."""
        return True

    def faint(self, k: int, *, scaled: bool = False) -> bool:
        """Whether a sample of rows tells that a Gram matrix in float32 would lose the k-th value; ``scaled``: of
        columns that are to be scaled."""
        return False

    def rough(self, k: int = 1, *, scaled: bool = False) -> Rough | None:
        """``AᵀA`` by products in float32, of a table in float64, and how far it may be off; None where none is made,
        or a sample of rows shows that it would be too far off for k components. ``scaled``: of columns that are to be
        scaled."""
        return None

    def across(self, U: Array) -> Array:
        """``Aᵀ U`` of U that a solver has found on Aᵀ, by whichever way holds least."""
        return self.rmatmat(U)

    def rooted(self, V: Array) -> tuple[Array | None, Array]:
        """``A V`` of an A with ``M = AᵀA``, where there is one and it costs nothing to keep that, and ``M V``."""
        return None, self.matmat(V)

    def halves(self, V: Array) -> tuple[Array | None, Array]:
        """``A V``, where it costs nothing to keep, and ``AᵀA V``."""
        self._check(V, self.shape[1], "normal")
        self.calls.normal += 1
        self.calls.columns += V.shape[1]
        return self._halves(V)

    # What everybody calls.

    def matmat(self, V: Array) -> Array:
        """``A V``."""
        self._check(V, self.shape[1], "matmat")
        self.calls.matmat += 1
        self.calls.columns += V.shape[1]
        return self._matmat(V)

    def rmatmat(self, U: Array) -> Array:
        """``Aᵀ U``."""
        self._check(U, self.shape[0], "rmatmat")
        self.calls.rmatmat += 1
        self.calls.columns += U.shape[1]
        return self._rmatmat(U)

    def normal(self, V: Array) -> Array:
        """``AᵀA V``."""
        self._check(V, self.shape[1], "normal")
        self.calls.normal += 1
        self.calls.columns += V.shape[1]
        return self._normal(V)

    def gram(self, W: Array | None = None) -> Array:
        """``WᵀAᵀA W``; ``AᵀA`` without W."""
        if W is not None:
            self._check(W, self.shape[1], "gram")
        self.calls.gram += 1
        return self._gram(W)

    def to_dense(self, budget: int = DENSE_BUDGET) -> Array:
        """The matrix itself, its dtype being the precision of its entries; refused above ``budget`` bytes."""
        size = self.shape[0] * self.shape[1] * 8
        if size > budget:
            raise MemoryLimitError(
                f"a dense copy of this operator must fit into {budget:,} bytes",
                received=f"{self.shape[0]:,} × {self.shape[1]:,}, {size:,} bytes",
                hint="use matmat, or raise the budget: to_dense(budget=…)",
            )
        dense = self._written()
        return self.place.array(dense, self.dtype) if self.dtype.kind == "f" else dense

    def _written(self) -> Array:
        """The matrix itself, as its product with the identity."""
        return self._matmat(self.place.eye(self.shape[1], self.dtype))

    def _check(self, V: Array, rows: int, verb: str) -> None:
        if V.ndim != 2 or V.shape[0] != rows:
            raise InputError(
                f"{verb} of {self.symbol()} ({self.shape[0]}×{self.shape[1]}) takes a block of {rows} rows",
                received=f"shape {tuple(V.shape)}",
                hint="pass a two-dimensional array; a single vector is a block of one column",
            )

    # Algebra. Combinators live in modules that import this one, hence the registry.

    @property
    def T(self) -> Operator:
        """The adjoint."""
        if self.symmetric:
            return self
        return self._combinators["transpose"](self)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Operator):
            return self._combinators["product"](self, other)
        return self.matmat(other[:, None])[:, 0] if other.ndim == 1 else self.matmat(other)

    def __add__(self, other: Operator) -> Operator:
        return self._combinators["sum"](self, other)

    def __sub__(self, other: Operator) -> Operator:
        return self._combinators["sum"](self, other, -1.0)

    def __repr__(self) -> str:
        return f"{self.symbol()}  ({self.shape[0]}×{self.shape[1]}, {self.dtype})"

    _combinators: ClassVar[dict[str, Callable[..., Operator]]] = {}
