"""Frequent directions: an orthonormal basis of ℓ directions, and two small matrices that enclose the scatter.

    S = Σw(x − μ)(x − μ)ᵀ (d×d)        Q (m×d) orthonormal rows, m ≤ ℓ;  H diagonal and X ⪰ 0 (m×m);  Δ ≥ 0

    Qᵀ(H + X)Q − (τ + ν)I  ⪯  S  ⪯  QᵀHQ + (Δ + ν)I,        tr S exactly                        ν: what rounding may add

A block of rows Z is joined, and the basis cut down to ℓ directions again:                              [Lib13; GLPW16]

    F = [H^½Q; Z],  FFᵀ = WΛWᵀ,  Q' = leading ℓ of Λ^-½WᵀF,  δ = λ_{ℓ+1},  H' = Λ_ℓ − δ,  Δ' = Δ + δ
    X' = δ + Jᵀ(X⁻¹ + T(D + ε)⁻¹Tᵀ)⁻¹J,  τ' = τ + ε,   J = QQ'ᵀ,  T = Q(I − Q'ᵀQ'),  D = FᵀF outside Q'    (``_spared``)

The upper bound is that of frequent directions, with Δ the sum of what was shrunk away in fact, which is at most
‖A − A_k‖²_F/(ℓ − k) for every k < ℓ. X is what of Δ is known not to be missing: a direction that stays in the basis has
lost nothing, and is enclosed far more narrowly than by Δ. It is a Schur complement, which ε ≈ 1e-8·‖X‖ keeps from being
singular. Two states are joined by stacking their bases; the distance of their means is one more row. The squares of the
columns, hence the trace, are added up beside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.compensated import two_sum
from ritz._core.errors import MergeError
from ritz._core.tolerance import rounding
from ritz.data.streams.means import Means, WithMeans
from ritz.data.streams.pieces import DensePiece, Piece, common_unit, piece_of

__all__ = ["Directions"]

Floats = NDArray[np.float64]

#: A factor with its H, and its X where it is a basis and not rows.
Part = tuple[Piece, Floats, Floats | None]

#: Rows of a block at most: its Gram matrix is formed.
ROWS = 2048
#: Share of the largest eigenvalue below which a direction of a block is rounding, and above which one that leaves the
#: basis is known well enough to say what it takes along.
DEAD, SHARP = 2.0**-46, 2.0**-24
#: Share of X that its Schur complement is kept away from being singular by, which is what it costs.
RIDGE = 2.0**-26
#: Round-offs of the cosines between two bases.
COSINE = 64.0
#: Round-offs of an entry of a centred row: two differences, a mean, a root and a product.
ENTRY = 8.0


@dataclass(frozen=True)
class Directions(WithMeans):
    """The state of frequent directions.

    Parameters
    ----------
    rows, weight, weight_low, shift, offset, offset_low
        As in ``Means``.
    squares, squares_low
        Σw(x − μ)²/unit² of every column, (d,), and what rounding took from it.
    basis
        Q, (m, d).
    high, spare
        Diagonal of H, (m,), decreasing, and X, (m, m), in units of unit².
    lost, ridge, noise
        Δ, τ and ν, in units of unit².
    unit
        Power of two in which everything is held.
    width
        ℓ: directions that are kept at most.
    """

    rows: int
    weight: float
    shift: Floats
    offset: Floats
    squares: Floats
    basis: Floats
    high: Floats
    spare: Floats
    lost: float
    ridge: float
    noise: float
    unit: float
    width: int
    weight_low: float = 0.0
    offset_low: Floats | None = None
    squares_low: Floats | None = None
    whole: bool = False

    SQUARED = (*WithMeans.SQUARED, "high", "spare", "lost", "ridge")

    @classmethod
    def empty(cls, d: int, width: int) -> Directions:
        """No rows of d columns."""
        none = np.zeros(d)
        return cls(0, 0.0, none, none, none, np.zeros((0, d)), np.zeros(0), np.zeros((0, 0)), 0.0, 0.0, 0.0, 1.0, width)

    def times(self, factor: float) -> Directions:
        """The state of the same rows with every weight multiplied by ``factor``."""
        if factor == 1:
            return self
        means = self.means.times(factor)
        less = None if self.squares_low is None else self.squares_low * factor
        rounded = 4 * 2.0**-53 * factor * (float(np.max(self.high, initial=0.0)) + self.lost)
        return replace(
            self, weight=means.weight, weight_low=means.weight_low, squares=self.squares * factor, squares_low=less,
            high=self.high * factor, spare=self.spare * factor, lost=self.lost * factor,
            ridge=self.ridge * factor, noise=self.noise * factor + rounded,
        )  # fmt: skip

    def add(self, X: Any, weights: Floats | None = None) -> Directions:
        """The state with more rows, cut down once for all of them; at most ROWS of them at a time."""
        if X.shape[0] > ROWS:
            state = self
            for first in range(0, X.shape[0], ROWS):
                some = slice(first, first + ROWS)
                state = state.add(X[some], None if weights is None else weights[some])
            return state
        tall = X.shape[0] > X.shape[1]
        piece, means, squares, unit = piece_of(X.toarray() if tall and hasattr(X, "toarray") else X, weights)
        if means.weight == 0:
            return self
        if tall and isinstance(piece, DensePiece):
            piece = DensePiece(
                np.asarray(np.linalg.qr(piece.rows, mode="r"))
            )  # a factor of the same scatter, of d rows
        whole = X.dtype.kind in "iu" and (self.whole or self.weight == 0)
        exact = np.ones(len(piece))
        return replace(self._with(means, squares, unit, [(piece, exact, None)]), whole=whole)

    def merge(self, other: Directions) -> Directions:
        """The state of both tables together; neither operand changes."""
        if not isinstance(other, Directions):
            raise MergeError(
                "states of frequent directions can be merged with their like only",
                received=f"a state of another kind ({type(other).__name__})",
                hint="fit both models with the same mergeable=, or add the rows of one to the other with partial_fit",
            )
        if other.weight == 0 or self.weight == 0:
            return self if other.weight == 0 else other
        part: Part = (DensePiece(other.basis), other.high, other.spare)
        low = 0.0 if other.squares_low is None else other.squares_low
        width = max(self.width, other.width)
        joined = replace(self, width=width)._with(
            other.means, other.squares + low, other.unit, [part], (other.lost, other.ridge, other.noise)
        )
        return replace(joined, whole=self.whole and other.whole)

    def along(self, V: Floats) -> Floats:
        """vᵀSv of unit vectors V (d, k), from below, in units of unit²."""
        Y = self.basis @ V
        return np.asarray(np.einsum("ij,ij->j", Y, (np.diag(self.high) + self.spare) @ Y))

    def subtract(self, other: Any) -> Directions:
        """Refused: what was shrunk away is not there any more."""
        raise MergeError(
            "rows cannot be taken away from a state of frequent directions: what it has let go of is not known "
            "direction by direction, so nothing would bound what is left",
            received=f"a state of {self.rows:,} rows and {self.d:,} columns",
            hint="keep one model for each part of the stream and merge those that are wanted, or let old rows fade: "
            "decay=",
        )

    # one step

    def _with(
        self, means: Means, squares: Floats, unit: float, parts: list[Part],
        errors: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Directions:  # fmt: skip
        """Join what is known of other rows: their mean, their squares, and factors with both cores, in ``unit``."""
        joined, between = self.means.joined(means)
        common, (a, b) = common_unit([(self.unit, self.squares), (unit, squares)], between)
        between = between / common
        stack: list[Part] = [(DensePiece(self.basis), a * self.high, a * self.spare)]
        stack += [(piece, b * high, None if spare is None else b * spare) for piece, high, spare in parts]
        if bool(np.any(between)):
            stack.append((DensePiece(between[None, :]), np.ones(1), None))
        cut = _cut(stack, self.width, self.d)
        total, less = two_sum(a * self.squares, b * squares)
        total, rest = two_sum(total, np.square(between))
        before = 0.0 if self.squares_low is None else a * self.squares_low
        total, less = two_sum(total, less + rest + before)
        mine, cuts = (self.lost, self.ridge, self.noise), (cut.lost, cut.ridge, cut.noise)
        off, ridge, noise = (a * x + b * y + z for x, y, z in zip(mine, errors, cuts, strict=True))
        return replace(
            self, rows=joined.rows, weight=joined.weight, shift=joined.shift, offset=joined.offset,
            weight_low=joined.weight_low, offset_low=joined.offset_low, squares=total, squares_low=less, unit=common,
            basis=cut.basis, high=cut.high, spare=cut.spare, lost=off, ridge=ridge, noise=noise,
        )  # fmt: skip


@dataclass(frozen=True)
class _Cut:
    """A basis of few directions with its two cores, and what was shrunk away."""

    basis: Floats
    high: Floats
    spare: Floats
    lost: float = 0.0
    ridge: float = 0.0
    noise: float = 0.0


def _cut(stack: list[Part], width: int, d: int) -> _Cut:
    """Cut stacked factors down to ``width`` directions; bases with an X of their own stand first."""
    stack = sorted((part for part in stack if len(part[0])), key=lambda part: part[2] is None)
    pieces, nothing = [part[0] for part in stack], _Cut(np.zeros((0, d)), np.zeros(0), np.zeros((0, 0)))
    if not pieces:
        return nothing
    root, core = np.sqrt(np.concatenate([part[1] for part in stack])), _gram(pieces)
    F = root[:, None] * core * root  # F Fᵀ
    lam, W = np.linalg.eigh(F)  # by divide and conquer: vectors of close values are orthonormal to rounding
    lam, W = lam[::-1], W[:, ::-1]
    top, trace = max(float(lam[0]), 0.0), float(np.trace(F))
    taken = sum(part[0].taken for part in stack)
    noise = rounding(len(F), 2.0**-53) * (top + taken) + ENTRY * 2.0**-53 * float(np.sqrt(trace * top))
    if top == 0:
        return replace(nothing, noise=noise)
    m = min(width, d, int(np.count_nonzero(lam > DEAD * top)))
    Q = _orthonormal(pieces, root[:, None] * W[:, :m] / np.sqrt(lam[:m]))
    J = np.concatenate([piece.along(Q) for piece in pieces])  # C Qᵀ, C the pieces stacked
    G = root[:, None] * J
    h, E = np.linalg.eigh(G.T @ G)
    h, E = h[::-1], E[:, ::-1]
    lost = max(_largest(F - G @ G.T), 0.0) if m < d else 0.0
    high = np.maximum(h - lost, 0.0)
    held = [part[2] for part in stack if part[2] is not None]
    old = slice(0, sum(len(each) for each in held))
    spare, ridge = np.diag(h - high), 0.0
    if old.stop and any(bool(np.any(each)) for each in held):
        sharp = slice(m, int(np.count_nonzero(lam > SHARP * top)))
        W, lam = W[:, sharp] / np.sqrt(lam[sharp]), lam[sharp]
        leaving = (core[old] * root) @ W - J[old] @ (G.T @ W)  # FᵀW holds a little of what stays, by its rounding
        rounded = rounding(len(F), 2.0**-53)
        kept, ridge = _spared(
            scipy.linalg.block_diag(*held), J[old] @ E, core[old, old], leaving, lam, rounded, rounded * top / lam
        )
        spare, noise = spare + kept, noise + rounded * ridge / RIDGE
    return _Cut(E.T @ Q, high, spare, lost, ridge, noise)


def _spared(
    X: Floats, J: Floats, gram: Floats, leaving: Floats, lam: Floats, rounded: float, defect: Floats
) -> tuple[Floats, float]:
    """Jᵀ(X⁻¹ + T(D + τ)⁻¹Tᵀ)⁻¹J, the largest matrix on the new directions below [[JᵀXJ, JᵀXT], [TᵀXJ, D + τ + TᵀXT]].

    ``gram`` − JJᵀ = TTᵀ. D ⪰ V diag(``lam``) Vᵀ with TV = ``leaving``, and zero elsewhere. V are directions Fᵀw/√λ of
    the block, orthonormal but for its rounding: VᵀV ⪯ I + diag(``defect``), so that

        T(D + τ)⁻¹Tᵀ  ⪯  (TTᵀ − TV(1 + defect + τ/λ)⁻¹VᵀTᵀ)/τ                                        (Woodbury)

    With R = X^½ the middle is R(I + RT(D + τ)⁻¹TᵀR)⁻¹R, which needs no inverse of X; ``rounded`` is what solving with a
    matrix above I may be off, in units of its norm. The second value is τ.
    """
    values, E = np.linalg.eigh(X)
    R = (E * np.sqrt(np.maximum(values, 0.0))) @ E.T
    ridge = RIDGE * float(values[-1])
    elsewhere = gram - J @ J.T - leaving / (1 + defect + ridge / lam) @ leaving.T
    outside = R @ (elsewhere / ridge) @ R + (COSINE * 2.0**-53 / ridge) * X
    inner = np.eye(len(R)) + (outside + outside.T) / 2
    middle = scipy.linalg.cho_factor(inner, check_finite=False)
    B = R @ J
    spare = B.T @ scipy.linalg.cho_solve(middle, B, check_finite=False)
    sure = 1 / (1 + rounded * float(np.linalg.norm(inner, 1)))
    return np.asarray((spare + spare.T) * (sure / 2)), ridge


def _gram(pieces: list[Piece]) -> Floats:
    """``C Cᵀ``, C the pieces stacked; all but the last one of several are dense."""
    ends = np.cumsum([0, *(len(piece) for piece in pieces)])
    core = np.empty((ends[-1], ends[-1]))
    for i, one in enumerate(pieces):
        rows = slice(ends[i], ends[i + 1])
        core[rows, rows] = one.gram()
        for j, other in enumerate(pieces[:i]):
            dense, mine = (one, other) if isinstance(one, DensePiece) else (other, one)
            across = mine.along(dense.rows)
            columns = slice(ends[j], ends[j + 1])
            core[rows, columns] = across.T if dense is one else across
            core[columns, rows] = core[rows, columns].T
    return (core + core.T) / 2


def _orthonormal(pieces: list[Piece], W: Floats) -> Floats:
    """Orthonormal rows (m, d) that span ``CᵀW``, each in the direction of its column."""
    V, first = np.zeros((0, 0)), 0
    for piece in pieces:
        part = piece.adjoint(W[first : first + len(piece)])
        V, first = (part if first == 0 else V + part), first + len(piece)
    Q, R = np.linalg.qr(V)
    return np.ascontiguousarray((Q * np.where(np.diag(R) < 0, -1.0, 1.0)).T)


def _largest(M: Floats) -> float:
    """The largest eigenvalue of a symmetric matrix."""
    n = len(M)
    try:
        return float(scipy.linalg.eigh(M, eigvals_only=True, subset_by_index=[n - 1, n - 1], check_finite=False)[0])
    except scipy.linalg.LinAlgError:  # LAPACK's search for one eigenvalue gives up on matrices of nothing but rounding
        return float(np.linalg.eigvalsh(M)[-1])
