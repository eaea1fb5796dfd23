"""The spectral problem and a solver's answer: which operator, how many pairs, how accurate; pairs, and what is known.

    svd    A (n×d):           AᵀA v = λ v,  σ = √λ,  v ∈ R^d         (PCA, SVD, correspondence analysis)
    eigh   M = Mᵀ (d×d):      M v = λ v                              (moment states, kernels, graphs)

How many may be a number or a rule that decides from the values seen (a share of the variance, say). Everything that
crosses to a solver is in a frozen ``SpectralProblem``; a solver knows nothing of the method it serves. What it hands
back are ``Pairs`` of the symmetric operator M and what is known about their errors: the certificate is made from these
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.frozen import quick
from ritz._core.keys import keyed
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array, Floats
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator
from ritz.spectral.constants import KRYLOV_BASIS_BYTES
from ritz.spectral.course import Watch

__all__ = ["Completeness", "Pairs", "Positive", "Rule", "Seen", "SpectralProblem", "counted"]


@quick
@dataclass(frozen=True)
class Seen:
    """What a rule may look at."""

    values: NDArray[np.float64]  # (m,) leading eigenvalues of AᵀA, decreasing
    total: float  # exact trace
    n: float  # rows, or the sum of weights
    d: int  # columns
    r: int  # eigenvalues that can differ from zero
    centered: bool
    complete: bool  # whether ``values`` holds all r

    @property
    def zero_level(self) -> float:
        """Share of the total below which an eigenvalue, or a sum of them, is rounding of the Gram matrix."""
        return rounding(self.d, unit_roundoff(np.float64))


class Rule(Protocol):
    """Decides the number of components from a spectrum."""

    name: str
    needs_all: bool

    def decide(self, seen: Seen) -> int | None:
        """The number of components, or None if the values seen do not decide it."""
        ...


class Positive:
    """The rule that keeps every component that is not rounding, and at most ``most``."""

    name = "all"
    needs_all = True

    def __init__(self, most: int) -> None:
        self.most = most

    def decide(self, seen: Seen) -> int | None:
        """The number of values above rounding, at least 1."""
        if not seen.complete:
            return None
        return max(1, min(self.most, int(np.count_nonzero(seen.values > seen.zero_level * seen.total))))


@quick
@dataclass(frozen=True)
class SpectralProblem:
    """One spectral problem.

    Parameters
    ----------
    operator
        ``A``, or the symmetric operator itself.
    k
        How many pairs; for a rule the first guess.
    rule
        Decides k from the spectrum, or None.
    kind
        ``"svd"`` or ``"eigh"``, which takes symmetric operators only: ``Symmetric(S)`` makes one of a matrix.
    tol
        Iterative solvers stop when ‖Mv − θv‖ ≤ tol·θ₁.
    seed
        Seed of the random start, which depends on the data as well (``start``).
    n, d, rows, centered
        What a rule needs to know of the data: Σw, columns, rows that count.
    thin
        Whether a product costs as much a column with few columns as with many: blocks then have fewer than k.
    early
        Whether Lanczos begins in float32 however short the side is: for tests.
    iterate
        Whether a Gram matrix at hand is iterated on however small it is: for tests.
    repeatable
        Whether the operator can be applied again after its Gram matrix was formed (a state without data cannot).
    basis
        Bytes that a Krylov basis and its image may take, three blocks at least.
    room
        Bytes that a copy of sparse entries may take, laid out for the products of an iteration.
    watch
        What an iterative solver shows its residuals to, and leaves its road by; None to go on in any case.
    partial
        Whether the leading pairs of a matrix that is formed are enough: the rest of its spectrum need not be known.
    begin
        Makes a block near the answer to begin with instead of a Gaussian one. It proves nothing by itself: fresh
        Gaussian columns look for what it has missed.
    inexact
        Tells, once the problem is solved, how far the operator may be from the one that is meant, ‖Ã − A‖₂.
    which
        ``"largest"`` or ``"smallest"`` eigenvalues; the smallest of ``kind="eigh"`` and of operators without negative
        ones only, a number of them.
    across
        Whether the operator is the transpose of the one that is meant: vectors of its other side are the answer.
    null
        Null vectors (p, m) that are known, left out of the smallest; None for those that the operator knows.
    """

    operator: Operator
    k: int
    rule: Rule | None = None
    kind: Literal["svd", "eigh"] = "svd"
    tol: float = 1e-6
    seed: int = 0
    n: float = 0.0
    d: int = 0
    rows: int = 0
    centered: bool = False
    thin: bool = False
    iterate: bool = False
    early: bool = False
    repeatable: bool = True
    basis: float = KRYLOV_BASIS_BYTES
    room: float = 0.0
    watch: Watch | None = None
    partial: bool = False
    begin: Callable[[], Array] | None = None
    inexact: Callable[[], float] | None = None
    which: Literal["largest", "smallest"] = "largest"
    null: Array | None = None
    across: bool = False

    def __post_init__(self) -> None:
        if self.kind == "eigh" and not self.operator.symmetric:
            raise InputError(
                "kind='eigh' takes an operator that says that it is symmetric",
                received=repr(self.operator),
                hint="wrap a symmetric matrix: ritz.operators.Symmetric(S), with positive=True if no eigenvalue is "
                "negative; for the singular values of a table leave kind='svd'",
            )

        if self.which == "smallest" and (self.kind != "eigh" or not self.operator.positive or self.rule is not None):
            raise InputError(
                "the smallest eigenvalues are those of a symmetric operator without negative ones, a number of them",
                received=f"kind={self.kind!r} of {self.operator!r}"
                + (f" with the rule {self.rule.name!r}" if self.rule is not None else ""),
                hint="give n_components as a number, and an operator without negative eigenvalues: Aligned(B), "
                "Laplacian(W), Symmetric(S, positive=True)",
            )

    @cached_property
    def start(self) -> int:
        """The seed of random starts: the user's, and a key of the data, so that no table is made for a known start."""
        return keyed(self.seed, self.operator.key())

    @property
    def rank(self) -> int:
        """How many eigenvalues can differ from zero."""
        rows, d = self.rows or self.operator.shape[0], self.operator.shape[1]
        return max(0, min(rows - 1 if self.centered else rows, d))

    def seen(self, values: NDArray[np.float64], total: float, *, complete: bool) -> Seen:
        """The spectrum as a rule sees it."""
        n = self.n or float(self.operator.shape[0])
        return Seen(values, total, n, self.d or self.operator.shape[1], self.rank, self.centered, complete)

    def pick(self, values: NDArray[np.float64], total: float) -> int:
        """How many components: the number asked for, or what the rule decides from the whole spectrum."""
        if self.rule is None:
            return min(self.k, len(values))
        decided = self.rule.decide(self.seen(values[: max(self.rank, 1)], total, complete=True))
        return len(values) if decided is None else min(decided, len(values))


@quick
@dataclass(frozen=True)
class Completeness:
    """Why no eigenvalue above ``ceiling`` can be missing from the answer.

    ``ceiling`` bounds every eigenvalue that is not among those returned: infinity means that nothing is known, minus
    infinity that none is left.
    """

    kind: Literal["count", "trace", "probability", "none"]
    ceiling: float
    failure: float = 0.0  # probability that the statement is wrong
    words: str = ""


def counted(values: NDArray[np.float64], k: int, slack: float) -> Completeness:
    """All eigenvalues are known: those not returned lie below the next one."""
    ceiling = float(values[k]) + slack if k < len(values) else -np.inf
    return Completeness("count", ceiling, 0.0, "the dense decomposition returns every eigenvalue")


@quick
@dataclass(frozen=True)
class Pairs:
    """Leading pairs of M with their residuals.

    ``values`` may hold more entries than ``vectors`` has columns (a direct solver knows the whole spectrum).
    ``error`` bounds |λ̂ᵢ − λᵢ| for every i through Weyl's theorem when the solver has a global backward error;
    ``sigma_error`` does the same for singular values.
    """

    values: Floats  # (m,) decreasing, m ≥ k
    vectors: Array  # (p, k)
    residual_block: Array  # (p, k)
    rounding: float  # bound on what rounding adds to a residual
    completeness: Completeness
    converged: bool
    roundoff: float
    precision: str
    iterations: int = 0
    error: float | None = None
    sigma_error: float | None = None
    estimate: float | None = None  # leave-one-out estimate of ‖M − M̂‖_F where a solver only estimates
    upper: Floats | None = None  # upper bounds that a solver proves by itself
    lower: Floats | None = None  # and lower ones
    notes: tuple[str, ...] = field(default_factory=tuple)
    value_block: Array | None = None  # residuals that enclose eigenvalues, where they differ from those of the vectors
    drawn: tuple[int, int] | None = None  # key and width of the block that a sketch was made with
    positive: bool = False  # whether M has no negative eigenvalue
    road: tuple[str, str] | None = None  # the solver that went on where the planned one left, and why
    #: (q, m) and (m, k) whose product is AᵀU of vectors U found on AAᵀ, where the solver has them
    half: tuple[Array, Array] | None = None
    null: float = -np.inf  # eigenvalue of the space that the solver never saw (0 for AᵀA found through AAᵀ)
    across: bool = False  # whether vectors and residuals are those of the other side already
    #: vectors that a device has found and turned to the sign rule, and VᵀV of them; told of ``vectors`` if it is these
    turned: tuple[Array, Array] | None = None

    @property
    def k(self) -> int:
        """Number of vectors."""
        return int(self.vectors.shape[1])

    def overlap(self) -> Array | None:
        """VᵀV where a device has formed it, and turned the vectors to the sign rule; None elsewhere."""
        return None if self.turned is None or self.turned[0] is not self.vectors else self.turned[1]

    def leading(self) -> NDArray[np.float64]:
        """The k values that have vectors."""
        return np.asarray(self.values[: self.k], np.float64)
