"""What the parts of a fit cost, in seconds, at the committed rates: the planner's arithmetic.

    product        ZᵀZV, l columns        dense 4·n·d·l/r;  sparse nnz·each(l) + (n·row + d·column)·l
    gram           ZᵀZ                    dense q·p²/r;     sparse nnz²/q·mult + entries·each
    orthonormal    (I − VVᵀ)W twice       8·p·m·l/r         m columns in the basis
    looking        Rayleigh–Ritz          m³
    eigh           leading pairs of G     p³ for LAPACK;    products·(2·p² + …) and p³/3 for Lanczos with a proof
    reading        a pass outside memory  bytes/r

Everything is a function of shape, stored entries and numbers of columns: no clock is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ritz._core.factors import BOTH
from ritz.data.passes.gram import SHORT_SQUAT, SHORT_WORK64, SQUAT
from ritz.spectral import constants as c

if TYPE_CHECKING:
    from ritz.spectral.plan import Shape

__all__ = [
    "BOTH", "both_sides", "eigh", "factor", "form", "in_memory", "looking", "narrowly", "orthonormal", "product",
    "reading", "single", "solve_formed", "sparse_gram_seconds", "sparse_product_seconds", "step", "stored_product",
]  # fmt: skip


def product(shape: Shape, columns: int, narrow: bool = False) -> float:
    """One product ZᵀZV with that many columns; ``narrow``: in float32."""
    if shape.there:
        return 4 * shape.entries * columns / (c.THERE_PRODUCT if shape.stored is None else c.THERE_SPMM)
    if shape.stored is None:
        rate = c.PRODUCT32 if narrow else c.THIN64 if columns <= c.THIN_COLUMNS else c.PRODUCT64
        read = (
            shape.entries * (c.READ32 if narrow else c.READ64) if in_memory(shape) and columns >= 8 else reading(shape)
        )
        return 4 * shape.entries * columns / (rate if columns >= 8 else c.GEMV * min(columns, 8)) + read
    size = 4 if narrow else 8
    column = c.SPARSE_COLUMN if shape.d * columns * size > c.SPARSE_CACHED else c.SPARSE_ROW
    ends = columns * (shape.n * c.SPARSE_ROW + shape.d * column)
    tall = c.TALL_ENTRY * shape.entries if columns == 1 and shape.n >= c.TALL_SPARSE * shape.d else 0.0
    return sparse_product_seconds(shape.entries, columns, size) + ends + tall + reading(shape)


def sparse_product_seconds(entries: float, width: int, itemsize: int = 8) -> float:
    """Of XᵀXV for CSR rows with so many entries and V of ``width`` columns, on two cores."""
    known = c.SPARSE_NS[8 if itemsize >= 8 else 4]
    near = [columns for columns in known if columns >= width]
    each = known[min(near)] if near else c.WIDE_NS[8 if itemsize >= 8 else 4] * width
    return 0.5e-9 * each * entries


def sparse_gram_seconds(n: int, d: int, entries: float) -> float:
    """Of XᵀX for n CSR rows of d columns into a dense matrix, on two cores."""
    multiplied = entries * entries / max(1, n)
    blocks = max(1.0, entries / max(1, d) / 200)  # of rows in which a column has 200 entries
    listed = min(0.5 * d * d * blocks, 0.5 * multiplied)
    work = min(c.GRAM_NS * multiplied + c.GRAM_ENTRY_NS * listed, c.GRAM_CROWDED_NS * n * d * d)
    return 0.5e-9 * (work + c.GRAM_STORED_NS * entries + c.GRAM_DENSE_NS * d * d) + c.GRAM_STEP


def single(shape: Shape, narrow: bool) -> float:
    """One product ZᵀZv with one vector, of dense rows those that are held in the precision of the product."""
    if shape.stored is not None:
        return product(shape, 1, narrow)
    size = 4 if narrow else 8
    held = size * shape.entries
    rates = c.HELD_GEMV_NEAR if held <= c.HELD_NEAR else c.HELD_GEMV_CACHED if held <= c.HELD_CACHED else c.HELD_GEMV
    return 4 * shape.entries / rates[size]


def in_memory(shape: Shape) -> bool:
    """Whether these are dense rows in the memory of this machine."""
    return shape.stored is None and not (shape.outside or shape.there or shape.symmetric)


def both_sides(shape: Shape) -> bool:
    """Whether a dense decomposition of a wide table gives the vectors of its columns as well as those of its rows, from
    which they would be turned otherwise."""
    return in_memory(shape) and shape.n < shape.d <= BOTH * shape.n


def reading(shape: Shape) -> float:
    """One pass over rows outside memory; nothing where they are in memory."""
    if not shape.outside:
        return 0.0
    return shape.entries * (shape.itemsize if shape.stored is None else 12) / c.READING


def form(shape: Shape, narrow: bool = False) -> float:
    """The Gram matrix of the smaller side, and its rounding where that is measured."""
    return _gram(shape, narrow) + (_watched(shape, narrow) if in_memory(shape) else 0.0)


def _gram(shape: Shape, narrow: bool) -> float:
    """The Gram matrix of the smaller side alone."""
    if shape.symmetric:
        return 0.0
    p, q = float(shape.small), float(shape.large)
    if shape.there:  # which multiplies sparse rows as dense ones
        return q * p * p / (c.THERE_SYRK32 if narrow else c.THERE_SYRK64)
    if shape.stored is not None:
        return sparse_gram_seconds(shape.large, shape.small, shape.entries) + reading(shape)
    rate = (c.SYRK32 if narrow else c.SYRK64) * (c.TURNED if shape.n < shape.d else 1.0)
    times = 2 if shape.n < shape.d else 1  # on the rows they are read for the means before, and to turn vectors after
    return q * p * p / rate + (times * c.FORMED_ENTRY * shape.entries if in_memory(shape) else reading(shape))


def _watched(shape: Shape, narrow: bool) -> float:
    """What is done with the Gram matrix of dense rows in memory, and measuring its rounding."""
    p, q = float(shape.small), float(shape.large)
    calls = c.FORMED_CALLS if p >= c.ITERATE_LEAST else 0.0
    if narrow:
        return calls + min(c.WATCHED32 * q, c.WATCHED32_ROWS) * p * p / c.SYRK64 + c.WATCHED32_ENTRY * p * p
    return calls + c.SQUARE_ENTRY * p * p + (c.WATCHED * p**3 if q * p * p > SHORT_WORK64 else 0.0)


def narrowly(shape: Shape, k: int, needs_all: bool) -> bool:
    """Whether the Gram matrix is formed in float32 and its rounding measured: of dense float32 rows."""
    if shape.itemsize > 4 or shape.stored is not None:
        return False
    p, q = shape.small, shape.large
    work = float(q) * p * p
    if shape.outside or shape.there or q > SQUAT * p or work > SHORT_SQUAT:
        return work > c.FLOAT32_WORK
    few = not needs_all and k <= c.NARROW_SHARE * p  # of many the last ones would be lost as a rule
    return few and shape.n >= c.NARROW_TALL * shape.d and work >= c.NARROW_WORK


def factor(shape: Shape) -> float:
    """The Gram matrix of the smaller side, of dense rows in float32 with what measures its rounding, and its factor."""
    if shape.stored is not None:
        return form(shape) + 2 * float(shape.small) ** 3 / 3 / c.GEMM64  # which is half as fast as products
    return _gram(shape, True) + product(shape, c.FACTOR_PROBES) + float(shape.small) ** 3 / 3 / c.GEMM32


def orthonormal(p: int, m: int, columns: int) -> float:
    """Making a block orthonormal, and orthogonal to m columns."""
    return 8.0 * p * (m + columns) * columns / (c.NARROW if columns <= 16 else c.GEMM64)


def step(p: int, m: int, columns: int) -> float:
    """What a step of an iteration takes beside its product, with m columns in the basis."""
    if columns == 1:  # the basis is read twice, in float32
        size = 4.0 * p * (m + 1)
        return c.SINGLE_STEP + 2 * size / (c.BASIS_CACHED if size <= c.CACHED else c.BASIS)
    return c.STEP + orthonormal(p, m, columns)


def looking(m: int) -> float:
    """Rayleigh–Ritz with a basis of m columns."""
    return c.LOOKING * float(m) ** 3


def stored_product(p: int) -> float:
    """A product of one vector with a symmetric p×p matrix that is at hand, of which one triangle is read."""
    return 2.0 * p * p / (c.STORED_CACHED if 8.0 * p * p <= c.HELD_CACHED else c.STORED)


def eigh(p: int, k: int) -> float:
    """Leading pairs of a p×p matrix by LAPACK."""
    return (c.EIGH_SUBSET if k < c.SUBSET_SHARE * p else c.EIGH_ALL) * float(p) ** 3


def solve_formed(p: int, k: int, *, flat: bool = False) -> float:
    """Leading pairs of a p×p matrix that is at hand, by the cheaper way; ``flat``: where eigenvalues do not decay."""
    whole = eigh(p, k)
    if p < (c.ITERATE_SIDE if flat else c.ITERATE_LEAST) or k + 1 > c.FORMED_SHARE * p:
        return whole
    products = c.FORMED_PRODUCTS * (k + 12) * (c.FLAT if flat else 1.0)
    each = stored_product(p) + 8.0 * p * (1.5 * k + 10) / c.STORED_BASIS  # two products with a basis of 2k + 20 at most
    return min(whole, products * each + float(p) ** 3 / 3 / c.GEMM64)
