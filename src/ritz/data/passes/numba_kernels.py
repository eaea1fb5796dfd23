"""Loops over sparse entries, compiled; in some, rows of 8 or 16 numbers are vectors of the processor.

    gather     y_j ← y_j + Σ_p a_p x_{i_p}        p: the entries of row j,  i_p: their columns
    scatter    y_{i_p} ← y_{i_p} + a_p x_j        for every entry p of row j
    across     s_ij ← s_ij + Σ_r a_ri b_rj        columns i of A and j of B, which have the same rows
    upper      the same of A = B, for j ≥ i
    normal     b ← −c + X v,  y ← Xᵀb             of one vector: a row is read once for both products

X and Y are given flat, rows end to end. LLVM makes no vectors of a loop as short as such a row, so the instructions are
written here: a row is loaded, multiplied, added and stored as a whole, and ``gather`` keeps y_j in registers until the
row of entries ends. Every product and every sum is rounded for itself and in the order of the entries, as in SciPy's
loops: the same numbers, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ritz._core.compiled import compiled

__all__ = ["LOOPS"]


class _Rows:
    """What instructions are made of: arrays as pointers, and rows of so many numbers as vectors."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, width: int) -> None:
        self.builder, self.width = builder, width
        self.data, self.indices, self.x, self.y = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:4], arguments[:4], strict=True)
        )
        self.vector = ir.VectorType(self.data.type.pointee, width)

    def at(self, array: Any, row: Any) -> Any:
        """Where a row begins."""
        first = self.builder.mul(row, ir.Constant(row.type, self.width))
        return self.builder.bitcast(self.builder.gep(array, [first]), self.vector.as_pointer())

    def load(self, place: Any) -> Any:
        """A row; it begins anywhere."""
        return self.builder.load(place, align=self._align())

    def store(self, value: Any, place: Any) -> None:
        """Put a row there."""
        self.builder.store(value, place, align=self._align())

    def _align(self) -> int:
        return 4 if isinstance(self.data.type.pointee, ir.FloatType) else 8

    @contextmanager
    def entries(self, first: Any, last: Any) -> Iterator[tuple[Any, Any]]:
        """For every entry: its value, as often as a row has numbers, and its column."""
        builder, index = self.builder, ir.IntType(32)
        with cgutils.for_range_slice(builder, first, last, ir.Constant(first.type, 1)) as (p, _):
            number = builder.load(builder.gep(self.data, [p]))
            column = builder.load(builder.gep(self.indices, [p]))
            column = column if column.type == first.type else builder.sext(column, first.type)
            undefined = ir.Constant(self.vector, ir.Undefined)
            one = builder.insert_element(undefined, number, ir.Constant(index, 0))
            zeros = ir.Constant(ir.VectorType(index, self.width), [0] * self.width)
            yield builder.shuffle_vector(one, undefined, zeros), column


def _gathers(width: int) -> Any:
    def row(typing: Any, data: Any, indices: Any, x: Any, y: Any, j: Any, first: Any, last: Any) -> Any:  # noqa: ARG001
        def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            rows, (j, first, last) = _Rows(context, builder, signature, arguments, width), arguments[4:]
            place, total = rows.at(rows.y, j), cgutils.alloca_once(builder, rows.vector)
            builder.store(rows.load(place), total)
            with rows.entries(first, last) as (a, column):
                product = builder.fmul(a, rows.load(rows.at(rows.x, column)))
                builder.store(builder.fadd(builder.load(total), product), total)
            rows.store(builder.load(total), place)
            return context.get_dummy_value()

        return types.void(data, indices, x, y, types.int64, types.int64, types.int64), made

    return intrinsic(row)


def _scatters(width: int) -> Any:
    def row(typing: Any, data: Any, indices: Any, x: Any, y: Any, j: Any, first: Any, last: Any) -> Any:  # noqa: ARG001
        def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            rows, (j, first, last) = _Rows(context, builder, signature, arguments, width), arguments[4:]
            x = rows.load(rows.at(rows.x, j))
            with rows.entries(first, last) as (a, column):
                place = rows.at(rows.y, column)
                rows.store(builder.fadd(rows.load(place), builder.fmul(a, x)), place)
            return context.get_dummy_value()

        return types.void(data, indices, x, y, types.int64, types.int64, types.int64), made

    return intrinsic(row)


# One function for each width: numba finds no compiled code again in another process for a closure over an intrinsic.
_gather8, _gather16, _scatter8, _scatter16 = _gathers(8), _gathers(16), _scatters(8), _scatters(16)


def gather8(indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    """Rows of 8."""
    for j in range(len(indptr) - 1):
        if indptr[j] < indptr[j + 1]:
            _gather8(data, indices, x, y, j, indptr[j], indptr[j + 1])


def gather16(indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    """Rows of 16."""
    for j in range(len(indptr) - 1):
        if indptr[j] < indptr[j + 1]:
            _gather16(data, indices, x, y, j, indptr[j], indptr[j + 1])


def scatter8(indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    """Rows of 8."""
    for j in range(len(indptr) - 1):
        if indptr[j] < indptr[j + 1]:
            _scatter8(data, indices, x, y, j, indptr[j], indptr[j + 1])


def scatter16(indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    """Rows of 16."""
    for j in range(len(indptr) - 1):
        if indptr[j] < indptr[j + 1]:
            _scatter16(data, indices, x, y, j, indptr[j], indptr[j + 1])


def across(
    ap: Any, ai: Any, ad: Any, bp: Any, bi: Any, bd: Any, S: Any, first: int, beside: int, row: Any
) -> None:  # fmt: skip
    """A by its columns, B by its rows."""
    for i in range(len(ap) - 1):
        if ap[i] == ap[i + 1]:
            continue
        for j in range(len(row)):
            row[j] = 0.0
        for p in range(ap[i], ap[i + 1]):
            r, a = ai[p], ad[p]
            for q in range(bp[r], bp[r + 1]):
                row[bi[q]] += a * bd[q]
        for j in range(len(row)):
            S[first + i, beside + j] += row[j]


def upper(
    ap: Any, ai: Any, ad: Any, bp: Any, bi: Any, bd: Any, S: Any, first: int, beside: int, row: Any, begin: Any
) -> None:  # fmt: skip
    """Entries of a row are sorted: those before column i have had their turn, and ``begin`` counts them."""
    for r in range(len(begin)):
        begin[r] = bp[r]
    for i in range(len(ap) - 1):
        if ap[i] == ap[i + 1]:
            continue
        for j in range(i, len(row)):
            row[j] = 0.0
        for p in range(ap[i], ap[i + 1]):
            r, a = ai[p], ad[p]
            start = begin[r]
            begin[r] = start + 1
            for q in range(start, bp[r + 1]):
                row[bi[q]] += a * bd[q]
        for j in range(i, len(row)):
            S[first + i, beside + j] += row[j]


def normal(indptr: Any, indices: Any, data: Any, v: Any, c: Any, b: Any, y: Any) -> None:
    """Places without a sign: numba looks whether others count from the end."""
    one, last = np.uint64(1), np.uint64(indptr[0])
    for i in range(len(y)):
        y[i] = 0
    for i in range(len(indptr) - 1):
        first, last = last, np.uint64(indptr[i + 1])
        total = data.dtype.type(0) - c
        p = first
        while p < last:
            total += data[p] * v[np.uint64(indices[p])]
            p += one
        b[i] = total
        p = first
        while p < last:
            y[np.uint64(indices[p])] += data[p] * total
            p += one


#: By what is done and the numbers of a row.
LOOPS: dict[Any, Any] = {
    "across": compiled(across),
    "upper": compiled(upper),
    "normal": compiled(normal),
    ("gather", 8): compiled(gather8),
    ("gather", 16): compiled(gather16),
    ("scatter", 8): compiled(scatter8),
    ("scatter", 16): compiled(scatter16),
}
