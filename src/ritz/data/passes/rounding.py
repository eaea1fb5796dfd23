"""Rounding of products zᵀz, measured while they are formed: everywhere a little, somewhere in full.

    somewhere   E = fl(zᵀz) − zᵀz of a block; zᵀz anew with less rounding, in float64 or in pieces of 256 rows
    everywhere  y = Σ (fl(zᵀz) r − zᵀ(z r)),  r random: O(bd) a block beside the O(bd²) of its product

A product of b rows errs by about √b·u, by b·u where the same numbers return in every row (indicators, repeated rows).
Errors of the first kind are independent from block to block, those of the second add up. With t the trace of a block,
R the vectors r and Y what they saw, scaled from the mass that each of them met to all of it,

    ‖ΣE‖₂ ≲ 3·e·√Σt² + 3·(max |D| + ‖E'‖₊)        e = max ‖E‖₂/t,   D a diagonal fitted to Y,   E'R = Y − DR

The first term is what blocks like those formed anew leave if they are independent. The second is all that the probes
saw beyond that, with its sign, so errors that add up count in full, and so do blocks unlike those formed anew. Squares
all round the same way, hence D. ‖E'‖ is the lesser of two estimates, from A = (E'R)ᵀE'R, m×m, of singular values s:

    Σs² = tr A/m            Σs⁴ = ‖A − (tr A/m)·I‖²_F/(m² + m − 2)            both bound the largest one

less what independent errors make of them. Probes of a few blocks cannot tell errors that add up from the chance of one
block where both are small, so the whole mass of blocks whose numbers return counts with the error of such a block.
Which blocks are formed anew follows their mass: the first with any, and each that outweighs those before. Of a table of
many blocks some sixteen or more are probed, and every block that weighs as much as all before it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.blas import has_small_kernels
from ritz._core.linalg import norms
from ritz._core.syrk import add_product
from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import block_rows

__all__ = [
    "CHECK_PIECE", "FEW_PIECES", "GROUP", "NOISE_SAFETY", "PIECE", "PROBES", "REPEATED", "SAMPLED_ROWS", "SHORT_NOISE",
    "TRIANGLES", "Watched", "better", "extrapolate", "halved", "in_pieces", "largest", "mirrored", "repeats", "times",
    "upper",
]  # fmt: skip

#: Rows of a short piece, of one of many columns, whose calls count more, and of a checking one; short pieces that are
#: added up before their sum is; and the safety factor.
PIECE, LONG_PIECE = 64, 128
CHECK_PIECE = 256
GROUP = 16
NOISE_SAFETY = 3.0
#: Allowance for sums in short pieces, in units of u·λ₁. Seen over 20 draws of 2,048×4: 3 on Gaussian and indicator
#: data, 7 on two values, 11 on identical rows; of 2,048×56, in pieces of 128 rows, 3, 4 and 6.
SHORT_NOISE = 60.0
#: Columns from which on half of a symmetric product is formed, and mirrored once: 10,000×100 takes 4.3 ms, not 5.0. Of
#: fewer the whole is formed sooner, as BLAS is slow at small triangles: 2,048×20 take 56 µs, not 89, ×30 107, not 151.
TRIANGLES = 48
#: The same where BLAS has no kernels for AVX-512: there the BLAS of NumPy, which forms whole products, is ahead of
#: SciPy's. Processor ms by halves in pieces of 128 rows, and whole in pieces of 128 and of 256: 100,000×50 17.7, 12.5,
#: 13; 100,000×100 41, 33, 31; 20,000×200 22.5, 23, 21.5; 20,000×300 49, 48, 45. Pieces of 256 are too long: entries
#: that are all equal then err by up to 64, of 128 by 33, of 64 by 16.
TRIANGLES_OLD = 400
#: Columns from which on products of 128 rows one after the other take less than those of 64 all in one call, which
#: forms no triangles. Processor µs of 4,096 rows of 16, 20, 30 and 47 columns 75, 95, 175, 350, not 75, 110, 228, 510;
#: of 2,048 rows of 17, 20, 32 and 47 columns that are stored column after column 58, 58, 100, 192, not 52, 61, 117 and
#: 269, and no second copy of them, 327 kB of fresh pages for 20, is made.
SINGLE = 18
#: Pieces up to which one product after the other takes less than all in one call: 150×4 4 µs, not 7.
FEW_PIECES = 3
#: Columns up to which the eighth power of a matrix tells its norm, too large by d^(1/16) at most: 4 µs, not 22.
POWERS = 32
#: Vectors r. The mean square of m Gaussian numbers is below 1/9 with probability 0.001 for m = 8, 0.02 for m = 4.
PROBES = 8
#: A block is formed anew when it outweighs those formed anew before this many times; at most so many in a lane.
OUTWEIGHS, ANEW = 8.0, 6
#: A block with this share of all that a lane has summed is probed by all vectors, and so is one that weighs so many
#: times the mean: one vector may hardly see an entry whose error is most of all, as of rows with heavy tails.
HEAVY, UNLIKE = 1 / 2, 2.0
#: Share of the rows, one in so many, and rows at least, that are formed anew of a block in float32: as long as the sums
#: that BLAS forms before it adds them to others.
SHARES, HEAD_ROWS = 16, 384
#: Columns that a probe adds up in the precision of the block.
COLUMNS = 128
#: What a probe itself rounds, in units of u·t: 0.15 to 0.2 for Gaussian blocks of 100 and 784 columns.
BLUR = 0.1
#: Of a table of many blocks about MANY are probed, one of EVERY at least, by one vector each: a probe takes 26 of the
#: 370 µs of a block of 2,048×100 in float32, 0.9 of the 21 ms of a block of 1,280×784 in float64.
MANY, EVERY = 16, 16


#: Blocks of long tables of which one is looked at for returning numbers: that takes 8 of the 370 µs of such a block.
LOOKED = 4
#: Blocks of returning numbers that are formed anew, in a lane; rows and columns by which these are known, and the share
#: of equal ones among them.
RETURNING, SAMPLED_ROWS, SAMPLED_COLUMNS, SHARE_EQUAL = 2, 16, 32, 0.5
#: Rows of the heaviest column of a block that are put in order, and the share of equal ones among them from which its
#: numbers count as returning: a run of equal rows may lie in one block that nothing else looks at. 6 µs of a block.
ORDERED, REPEATED = 1024, 1 / 32
#: Times the share of any before it from which such a block is formed anew, beside the first ones, and how many at most.
GREATER, RETURNING_MOST = 1.5, 8
#: The share from which a greater one is always looked at.
NEARLY_ALL = 0.95
#: Columns of a tile that is mirrored at a time.
MIRRORED = 128
#: 2⁶⁴ over the golden ratio: multiples of it, as fractions of 2⁶⁴, are evenly spread.
GOLDEN = 0x9E3779B97F4A7C15


class Watched(Sums):
    """Accumulators of products whose rounding is measured."""

    SUMS: ClassVar[tuple[str, ...]] = ("mass", "mass2", "probe", "met", "met2", "heaviest", "turn", "repeated")
    LISTS: ClassVar[tuple[str, ...]] = ("errors", "alike", "alike_masses")

    def watch(self, d: int, n: int, dtype: Any, every: int | None = None) -> None:
        """Begin: ``n`` rows of ``d`` columns are to come, in all lanes together."""
        count = max(1, n // block_rows(d))
        self.every = every or max(1, min(EVERY, count // MANY))
        self.vectors = 1 if count >= PROBES else PROBES
        self.most, self.heaviest, self.turn = ANEW, 0.0, 0
        self.ordinal, self.before, self.returns = 0, -1.0, False
        self.mass = self.mass2 = 0.0
        self.errors: list[NDArray[Any]] = []  # E/t of blocks formed anew
        self.alike: list[NDArray[Any]] = []  # and of blocks whose numbers return, which have the mass ``repeated``
        self.alike_masses: list[float] = []
        self.repeated = self.most_equal = 0.0
        self.u = unit_roundoff(dtype)
        self.usual = block_rows(d)
        share = n // SHARES // 128 * 128
        self.head = min(self.usual, max(HEAD_ROWS, share)) if self.u > 2.0**-53 else self.usual
        # numbers of the working precision, so that both sides of a probe see the same ones
        self.random = np.random.default_rng([d, 71]).standard_normal((d, PROBES)).astype(dtype).astype(np.float64)
        # what each vector saw, and the mass that it met
        self.probe, self.met, self.met2 = np.zeros((d, PROBES)), np.zeros(PROBES), np.zeros(PROBES)

    def unchecked(self) -> None:
        """Form no block anew: other accumulators speak for this one. Blocks are probed all the same."""
        self.most = 0

    def weigh(self, mass: float) -> bool:
        """Count a block; whether it is to be formed anew."""
        self.mass += mass
        self.mass2 += mass * mass
        if not mass > OUTWEIGHS * self.heaviest or len(self.errors) >= self.most:
            return False
        self.heaviest = mass
        return True

    def some(self, mass: float) -> slice:
        """The vectors to probe a block with; none for most blocks of long tables.

        One block in every group of ``every`` is probed, at a place that changes from group to group, and every block
        that weighs exactly what the one before it weighs: equal rows round alike.
        """
        group, place = divmod(self.ordinal, self.every)
        same, self.before = mass == self.before, mass
        self.ordinal += 1
        if not mass > 0:
            return slice(0, 0)
        if mass >= min(HEAVY, UNLIKE / self.ordinal) * self.mass or self.vectors == PROBES:
            return slice(0, PROBES)
        drawn = ((group + 1) * GOLDEN % 2**64 * self.every) >> 64
        if place != drawn and not same:
            return slice(0, 0)
        self.turn += 1
        first = int(self.turn) % PROBES
        return slice(first, first + 1)

    def like_none(self, share: float) -> bool:
        """Whether numbers return so often in a block that those formed anew before do not speak for it."""
        greater = share > min(GREATER * self.most_equal, max(NEARLY_ALL, self.most_equal))
        greater = greater and len(self.alike) < RETURNING_MOST
        self.most_equal = max(self.most_equal, share)
        return len(self.alike) < RETURNING or greater

    def form(self, z: NDArray[Any], out: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """``zᵀz``, and the part of it from rows of usual height where a tall block is the first to be formed anew."""
        if self.heaviest > 0 or not self.most or z.shape[0] <= self.head:
            return np.matmul(z.T, z, out=out), None
        first, rest = z[: self.head].T @ z[: self.head], z[self.head :]
        product = np.matmul(rest.T, rest, out=out)
        product += first
        return product, first

    def look(self, z: NDArray[Any], product: NDArray[Any], first: NDArray[Any] | None) -> None:
        """Look at the product zᵀz of a block: weigh it, form it anew where that is due, probe it."""
        mass = float(product.trace())
        heavy, tall = self.weigh(mass) and z.shape[0] > PIECE, bool(self.most) and z.shape[0] > PIECE
        if heavy or self.every == 1 or self.ordinal % LOOKED == 0:  # numbers that return do so in runs of blocks
            self.returns = tall and returning(z)
        share = repeats(z, int(product.diagonal().argmax())) if tall else 0.0
        again = (self.returns or share >= REPEATED) and mass > 0
        self.repeated += mass if again else 0.0
        anew = again and self.like_none(share)
        if heavy or anew:
            # A block of usual height, whole, where numbers return: half of a structured table (Hadamard) rounds unlike
            # the rest; and where a row may outweigh all others. Equal rows may lie anywhere in a taller one.
            head = z if share >= REPEATED else z[: self.usual if again or self.ordinal else self.head]
            there = product if len(head) == len(z) else first if len(head) == self.head else None
            made = head.T @ head if there is None else there
            with np.errstate(divide="ignore", invalid="ignore"):
                error = (made - better(head, None, CHECK_PIECE)) / float(np.trace(made))
            self.alike += [error] if anew else []
            self.alike_masses += [mass] if anew else []
            if heavy:  # errors of the parts of a block are as independent as those of blocks
                part = math.sqrt(len(head) / len(z)) if len(head) < min(len(z), self.usual) else 1.0
                self.errors.append(error if part == 1 else error * part)
        some = self.some(mass)
        if some.stop:
            diagonal = np.diag(product).astype(np.float64)
            np.fill_diagonal(product, 0.0)  # a buffer: what was to be added has been
            off = times(product, self.random[:, some])
            self.probes(z, diagonal, off, some, mass)

    def probes(self, z: NDArray[Any], diagonal: NDArray[Any], off: NDArray[Any], some: slice, mass: float) -> None:
        """Add what the probes saw of fl(zᵀz): its diagonal, and ``off``, the rest times r.

        The diagonal, nearly all of the product with r, is set against zᵀ(z r) first: so less is rounded.
        """
        r = self.random[:, some]
        seen = diagonal[:, None] * r - pieced(z, times(z, r))
        self.probe[:, some] += seen + off
        self.met[some] += mass
        self.met2[some] += mass * mass

    def noise(self, V: NDArray[Any] | None = None) -> float:
        """Bound on ‖E‖₂ of all that was summed; with V, an estimate of ‖VᵀEV‖₂."""
        sizes, lengths = [], []
        for E in self.errors:  # one after the other: of many columns each product is a large matrix
            part = E if V is None else E @ V
            lengths.append(float(np.linalg.norm(part)))
            sizes.append(largest(part if V is None else V.T @ part))
        alone = max(sizes, default=0.0) * float(np.sqrt(self.mass2))
        usual = max(lengths, default=0.0) + (BLUR * self.u if V is None else 0.0)
        together = self._together([largest(E if V is None else V.T @ E @ V) for E in self.alike], self.alike)
        return NOISE_SAFETY * (alone + self._beyond(usual, V)) + together

    def scaled(self, c: NDArray[np.float64]) -> float:
        """Bound on ‖DED‖₂, D = diag(c), by blocks that were formed anew: of columns of many sizes ‖E‖ tells of the
        largest, whatever becomes of it.
        """
        alone = max((largest(E * c[:, None] * c) for E in self.errors), default=0.0) * float(np.sqrt(self.mass2))
        alike = [E * c[:, None] * c for E in self.alike]
        return NOISE_SAFETY * alone + self._together([largest(E) for E in alike], alike)

    def _together(self, sizes: list[float], errors: list[NDArray[Any]]) -> float:
        """What blocks whose numbers return may be off by: as much as those formed anew are, and all as these correlate.

        Errors of two kinds of blocks need not correlate: what each is off by itself counts in full.
        """
        own = sum(size * mass for size, mass in zip(sizes, self.alike_masses, strict=True))
        return max(own, max(sizes, default=0.0) * self.repeated * _coherence(errors))

    def _beyond(self, usual: float, V: NDArray[Any] | None) -> float:
        """What the probes saw beyond the usual."""
        if not bool(np.all(self.met > 0)):
            return 0.0  # nothing had any mass
        scale, R = self.mass / self.met, self.random
        Y = self.probe * scale
        chance = 2 * np.square(usual * scale) * self.met2  # of each vector's ‖E'r‖², twice
        diagonal = np.sum(R * Y, axis=1) / np.sum(R * R, axis=1)
        rest = (Y - diagonal[:, None] * R) * float(np.sqrt(PROBES / (PROBES - 1)))
        if V is not None:
            return largest(V.T @ (diagonal[:, None] * V)) + _excess(V.T @ rest, chance)
        sure = float(np.max(np.abs(diagonal))) - 4 * float(np.sqrt(np.mean(chance) / (2 * PROBES * len(R))))
        return max(0.0, sure) + _excess(rest, chance)


def _coherence(errors: list[NDArray[Any]]) -> float:
    """√ of the largest correlation of two errors: 1 where they add up, or where there are no two to compare."""
    lengths = [float(np.linalg.norm(E)) for E in errors]
    pairs = [(i, j) for i in range(len(errors)) for j in range(i) if lengths[i] > 0 and lengths[j] > 0]
    correlations = [float(np.vdot(errors[i], errors[j])) / (lengths[i] * lengths[j]) for i, j in pairs]
    return float(np.sqrt(np.clip(max(correlations), 0.0, 1.0))) if correlations else 1.0


def returning(z: NDArray[Any]) -> bool:
    """Whether the numbers of some column of a block come again and again, as its sampled rows and columns tell."""
    b, d = z.shape
    some = np.sort(z[:: max(1, b // SAMPLED_ROWS), :: max(1, d // SAMPLED_COLUMNS)], axis=0)
    equal = np.add.reduce(some[1:] == some[:-1], axis=0, dtype=np.intp)
    return bool(equal.max() >= SHARE_EQUAL * len(some))


def repeats(z: NDArray[Any], column: int) -> float:
    """The share of equal numbers in a column of a block, of about ORDERED rows."""
    some = np.sort(z[:: max(1, len(z) // ORDERED), column])
    return float(np.count_nonzero(some[1:] == some[:-1])) / len(some)


def _excess(Y: NDArray[Any], chance: NDArray[Any]) -> float:
    """Estimate of ‖E‖₂ from Y = ER, less what independent errors with ‖Er‖² = ``chance`` would make of it."""
    A = Y.T @ Y
    middle, usual = float(np.mean(np.diag(A))), float(np.mean(chance))
    spread = float(np.sum(np.square(A - middle * np.eye(PROBES))))
    spread -= float(np.sum(np.square(chance - usual))) + PROBES * (PROBES + 1) * usual * usual / len(Y)
    fourth = max(0.0, spread) / (PROBES * PROBES + PROBES - 2)
    return min(float(np.sqrt(max(0.0, middle - usual))), fourth**0.25)


def times(z: NDArray[Any], r: NDArray[np.float64]) -> NDArray[np.float64]:
    """``z r``, (b, l), for numbers r of the precision of z: some columns at a time, added in float64."""
    if z.shape[1] <= COLUMNS:
        return np.asarray(z @ r.astype(z.dtype), np.float64)
    total = np.zeros((z.shape[0], r.shape[1]))
    for j in range(0, z.shape[1], COLUMNS):
        total += z[:, j : j + COLUMNS] @ r[j : j + COLUMNS].astype(z.dtype)
    return total


def pieced(z: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """``zᵀ y`` of a block, (d, l), in short pieces that are added in float64; y in two parts of the precision of z."""
    if z.dtype == np.float32:
        high = y.astype(np.float32)
        both = _pieced(z, np.concatenate([high, (y - high).astype(np.float32)], axis=1))
        return both[:, : y.shape[1]] + both[:, y.shape[1] :]
    return _pieced(z, y)


def _pieced(z: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    if z.strides[0] < z.strides[1]:  # column after column: BLAS adds along memory in many lanes
        parts = range(0, z.shape[0], CHECK_PIECE)
        return np.asarray(sum((z[i : i + CHECK_PIECE].T @ y[i : i + CHECK_PIECE]).astype(np.float64) for i in parts))
    covered, d, width = z.shape[0] // PIECE * PIECE, z.shape[1], y.shape[1]
    total = (y[covered:].T @ z[covered:]).astype(np.float64)
    if covered:
        left = np.ascontiguousarray(y[:covered].reshape(-1, PIECE, width).transpose(0, 2, 1))
        total += np.matmul(left, z[:covered].reshape(-1, PIECE, d)).sum(axis=0, dtype=np.float64)
    return total.T


def extrapolate(errors: list[NDArray[Any]], mass: float, mass2: float) -> float:
    """Bound on the error of a sum of products, ``mass`` = Σt and ``mass2`` = Σt², from the errors E/t of a few."""
    if not errors:
        return 0.0
    worst = max(largest(E) if E.shape[0] == E.shape[1] else float(np.max(norms(E))) for E in errors)
    lengths = [float(np.linalg.norm(E)) for E in errors]
    pairs = [(i, j) for i in range(len(errors)) for j in range(i) if lengths[i] > 0 and lengths[j] > 0]
    alike = [float(np.vdot(errors[i], errors[j])) / (lengths[i] * lengths[j]) for i, j in pairs]
    # Independent errors still correlate by chance, by about 1/d.
    c = max(0.0, float(np.mean(alike)) - 1.5 / errors[0].shape[1]) if alike else 1.0
    return NOISE_SAFETY * worst * float(np.sqrt(mass2 + mass * mass * c))


def better(z: NDArray[Any], b: NDArray[Any] | None = None, piece: int = PIECE) -> NDArray[Any]:
    """``zᵀb`` (``zᵀz``) of a block with less rounding: in float64 and in short pieces, summed level by level."""
    if z.dtype.itemsize < 8:
        piece = max(1, z.shape[0])  # float64 sums of float32 numbers are exact enough at any length
        z = z.astype(np.float64)
        b = None if b is None else b.astype(np.float64)
    if b is None and z.dtype == np.float64:
        if z.shape[1] < TRIANGLES:
            few = z.shape[1] < SINGLE or z.shape[0] <= FEW_PIECES * piece
            return _all_at_once(z, piece) if few else _one_by_one(z, max(piece, LONG_PIECE))
        if halved(z.shape[1]):
            return mirrored(upper(z, max(piece, LONG_PIECE)))
        return _one_by_one(z, max(piece, LONG_PIECE))
    right = z if b is None else b
    total = np.zeros((z.shape[1], right.shape[1]))
    for first in range(0, z.shape[0], GROUP * piece):
        group = np.zeros_like(total) if first else total
        for i in range(first, min(first + GROUP * piece, z.shape[0]), piece):
            left = z[i : i + piece]
            group += left.T @ (left if b is None else right[i : i + piece])
        if first:
            total += group
    return total


def halved(d: int) -> bool:
    """Whether half of a symmetric product of d columns is formed, and mirrored once."""
    return d >= TRIANGLES and (d >= TRIANGLES_OLD or has_small_kernels())


def _one_by_one(z: NDArray[np.float64], piece: int) -> NDArray[np.float64]:
    """``zᵀz`` by the same sums, of whole products: NumPy mirrors each."""
    d, total, height = z.shape[1], None, GROUP * PIECE
    product = np.empty((d, d))
    for first in range(0, z.shape[0], height):
        rows = z[first : first + height]
        group = rows[:piece].T @ rows[:piece]
        for i in range(piece, len(rows), piece):
            part = rows[i : i + piece]
            group += np.matmul(part.T, part, out=product)
        total = group if total is None else np.add(total, group, out=total)
    if total is None:
        return np.zeros((d, d))
    return total if z.strides[1] == z.itemsize else 0.5 * (total + total.T)


def upper(z: NDArray[np.float64], piece: int = LONG_PIECE) -> NDArray[np.float64]:
    """The upper triangle of ``zᵀz`` by the same sums, zeros below: BLAS adds that of a piece to that of its group."""
    d, total, height = z.shape[1], None, max(GROUP * PIECE, piece)
    for first in range(0, z.shape[0], height):
        group = np.zeros((d, d), order="F")
        for i in range(first, min(first + height, z.shape[0]), piece):
            add_product(z[i : i + piece], group, first=i == first)
        total = group if total is None else np.add(total, group, out=total)
    return np.zeros((d, d), order="F") if total is None else total


def mirrored(half: NDArray[np.float64]) -> NDArray[np.float64]:
    """The symmetric matrix of an upper triangle with zeros below it; of many columns in its place, tile by tile.

    A matrix of its own costs more than its numbers: of 300 columns 0.5 ms, nearly all of it for fresh pages.
    """
    if len(half) <= MIRRORED:
        whole = half + half.T
        whole.ravel("K")[:: len(half) + 1] = half.diagonal()
        return whole
    for i in range(0, len(half), MIRRORED):
        edge = i + MIRRORED
        tile = half[i:edge, i:edge]
        diagonal = tile.diagonal().copy()
        tile += tile.T.copy()
        np.fill_diagonal(tile, diagonal)
        half[edge:, i:edge] = half[i:edge, edge:].T
    return half


def in_pieces(z: NDArray[Any], piece: int) -> NDArray[Any]:
    """Rows in pieces, (n/piece, piece, d), as they lie: rows stored by columns are not turned."""
    d = z.shape[1]
    if z.flags.c_contiguous or z.strides[0] != z.itemsize:
        return np.ascontiguousarray(z).reshape(-1, piece, d)
    columns: NDArray[Any] = z.T.reshape(d, -1, piece)
    return columns.transpose(1, 2, 0)


def _all_at_once(z: NDArray[np.float64], piece: int) -> NDArray[np.float64]:
    """``zᵀz`` of few columns by the same sums: one call forms the products of all pieces."""
    n, d = z.shape
    if n <= FEW_PIECES * piece:
        parts = [z[i : i + piece] for i in range(0, max(n, 1), piece)]
        total = sum([part.T.dot(part) for part in parts[1:]], parts[0].T.dot(parts[0]))
        return np.asarray(total if z.strides[1] == z.itemsize else 0.5 * (total + total.T))  # NumPy's gemm of columns
    covered = n // piece * piece
    tail = z[covered:].T.dot(z[covered:])
    if not d:
        return tail
    pieces = in_pieces(z[:covered], piece)
    other = in_pieces(z[:covered].copy(order="K"), piece)  # of two arrays: NumPy forms triangles of one
    products = np.matmul(pieces.transpose(0, 2, 1), other)
    if len(products) <= GROUP:
        total = np.add.reduce(products) + tail
    else:
        groups = len(products) // GROUP
        total = np.add.reduce(np.add.reduce(products[: groups * GROUP].reshape(groups, GROUP, d, d), axis=1))
        total += np.add.reduce(products[groups * GROUP :]) + tail
    total = total + total.T  # symmetric to the last bit, which BLAS does not promise
    total *= 0.5
    return np.asarray(total)


def largest(E: NDArray[Any]) -> float:
    """Spectral norm of a small symmetric matrix from above, ``‖E⁸‖_F^⅛``; of larger ones a few power steps from below,
    with a margin."""
    if 0 < E.shape[0] <= POWERS:
        size = float(np.abs(E).max())
        if not 0 < size < np.inf:
            return size
        E = E / size
        E = E.dot(E)
        E = E.dot(E)
        E = E.dot(E).reshape(-1)
        return size * float(E.dot(E)) ** 0.0625
    v = np.cos(np.arange(E.shape[0]) + 1.0)
    norm, size = math.sqrt(v.dot(v)), 0.0
    for _ in range(8):
        if norm == 0:
            return size
        v = E.dot(v / norm)
        norm = size = math.sqrt(v.dot(v))
    return 1.25 * size
