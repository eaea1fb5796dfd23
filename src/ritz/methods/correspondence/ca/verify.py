"""The residuals of a table of counts computed anew, for ``verify``: they share no arithmetic with the fit.

    Dᵢⱼ = (Nᵢⱼ − Rᵢ cⱼ)/Rᵢ,   R by sums without error along a row,   R c from halves cut out of the bits

Numbers are cut where their last 27 bits begin, so that four products are exact, and are taken off one after the other
in extended precision where the machine has it. So verify sees what is left of nearly independent rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Block, blocks_of
from ritz.data.passes.profiles import DerivedBlocks
from ritz.methods.correspondence.ca.rows import EncodedCounts
from ritz.spectral.verify import Verification

__all__ = ["verify_counts"]

Floats = NDArray[np.float64]

#: Cells up to which a sparse table is filled in, block by block, to be checked.
CELLS = 5e7
#: Relative error of a metric that rounding may leave.
METRIC = 1e-12
#: The last 27 bits of a float64 number.
LAST = np.int64((1 << 27) - 1)


def verify_counts(model: Any, coded: EncodedCounts, given: Floats | None) -> Verification | None:
    """Check a certificate by residuals computed anew; None where profiles have to do: in large sparse tables."""
    N, record = blocks_of(coded.counts), model._record
    if record.mean_low is None or (N.sparse and float(N.shape[0]) * N.shape[1] > CELLS):
        return None
    w = np.ones(N.shape[0]) if given is None else given / np.max(given)
    totals, c = _margins(N, w)
    scale = np.where(c > 0, np.sqrt(np.where(c > 0, c, 1.0)), 1.0)
    rows, certificate = _Anew(N, c), model.certificate_
    mean = (record.mean - c) + record.mean_low
    there = replace(certificate, frame={**certificate.frame, "mean": mean})
    masses = totals * w
    done = there.verify(rows, masses / float(np.sum(masses)))
    off = np.flatnonzero(~(np.abs(record.scale - scale) <= METRIC * scale))
    if len(off) == 0:
        return done
    j = int(off[0])
    words = f"the mass of column {j} is {c[j]:.17g}, the fit used {record.scale[j] ** 2:.17g}"
    return replace(done, ok=False, words=(words, *done.words))


def _each(N: Any) -> Iterator[tuple[Floats, int]]:
    for block in N.each():
        values = block.values
        yield np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64), block.start


def _margins(N: Any, w: Floats) -> tuple[Floats, Floats]:
    """Totals of the rows, and column masses."""
    totals, columns = np.zeros(N.shape[0]), np.zeros(N.shape[1], np.longdouble)
    for rows, start in _each(N):
        totals[start : start + len(rows)] = _sums(rows)[0]
        columns += (w[start : start + len(rows), None] * rows.astype(np.longdouble)).sum(axis=0)
    return totals, np.asarray(columns / (columns.sum() or 1), np.float64)


def _sums(rows: Floats) -> tuple[Floats, Floats]:
    """Sums of the rows and what rounding took from them, column after column."""
    total, lost = np.zeros(len(rows)), np.zeros(len(rows))
    for column in rows.T:
        larger, smaller = np.maximum(total, column), np.minimum(total, column)
        total = larger + smaller
        lost += smaller - (total - larger)
    return total, lost


def _cut(x: Floats) -> tuple[Floats, Floats]:
    """The leading bits of numbers, and the rest of them."""
    high = (np.ascontiguousarray(x).view(np.int64) & ~LAST).view(np.float64)
    return high, x - high


class _Anew(DerivedBlocks):
    """Deviations of the profiles of a table from ``c``, dense, block by block."""

    def __init__(self, inner: Any, c: Floats) -> None:
        super().__init__(inner)
        self.c, self.sparse = c, False

    def _changed(self, block: Block) -> Block:
        values = block.values
        rows = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)
        _, exponent = np.frexp(np.max(rows, axis=1, initial=0.0))
        rows = np.ldexp(np.ldexp(rows, -(exponent[:, None] // 2)), exponent[:, None] // 2 - exponent[:, None])
        total, lost = _sums(rows)
        total = np.where(total > 0, total, 1.0)
        (r1, r2), (c1, c2) = _cut(total), _cut(self.c)
        rest = rows.astype(np.longdouble)
        for r, c in ((r1, c1), (r1, c2), (r2, c1), (r2, c2), (lost, self.c)):
            rest -= np.outer(r, c)
        empty = ~rows.any(axis=1)
        rest[empty] = 0.0
        return Block(np.asarray(rest / total[:, None], np.float64), block.start)
