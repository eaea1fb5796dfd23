"""The route to the smallest eigenvalues: which solver, how long, how much memory, and why.

    p ≤ DENSE_SMALLEST      every eigenvalue, by a dense decomposition
    inverse                 one sparse factorisation to solve with, another to count with;   fill = entries of its factor
    lanczos                 from afar, on cI − M: where the factor would not fit, or take far longer; gaps must be wide

How much a factor fills depends on how the graph of M can be cut. Balls around a few nodes tell: the rows that a breadth
first search meets at a time are a cut. With s of them at the middle of the search, the last part of the factor is a
dense triangle of about that size, and cuts of halves and quarters follow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from ritz._core.errors import MemoryLimitError, ParameterError
from ritz.operators.base import Operator
from ritz.spectral import constants as c
from ritz.spectral.plan import Plan, over_memory, size_words

__all__ = ["Fill", "choose_smallest", "fill_of", "known_null_vectors"]

SOLVERS = ("svd", "inverse", "lanczos")


@dataclass(frozen=True)
class Fill:
    """What a factorisation of M would come to, estimated."""

    p: int
    entries: float  # of M
    factor: float  # of L
    flops: float


def fill_of(operator: Operator) -> Fill | None:
    """Estimated fill of a factorisation of M; None where it cannot be written out as sparse entries."""
    given = operator.assembled()
    if given is None:
        return None
    B = given.root
    pattern = sp.csr_array(given.matrix) if B is None else B
    p = given.p
    if B is None:
        stored, graph = float(pattern.nnz), pattern
    else:
        counts = np.diff(B.indptr).astype(np.float64)
        stored = min(float(np.sum(counts * counts)), float(p) * p)  # from above: rows that overlap are counted twice
        graph = sp.csr_array(sp.block_array([[None, B.T], [B, None]]))
    cut = _cut(graph, p)
    levels = max(1.0, math.log2(max(p, 2)))
    factor = min(stored / 2 + c.FILL_LOG * p * levels + c.FILL_CUT * cut * cut * levels, 0.5 * p * (p + 1.0))
    return Fill(p, stored, factor, factor * factor / max(p, 1))


def _cut(graph: Any, p: int) -> float:
    """Nodes among the p that a breadth-first search has in one level, at the middle of what it reaches."""
    order, before = breadth_first_order(graph, 0, directed=False)
    far = int(order[-1])  # a node at the rim
    order, before = breadth_first_order(graph, far, directed=False)
    level = np.zeros(graph.shape[0], np.int64)
    for node in order[1:]:
        level[node] = level[before[node]] + 1
    sizes = np.bincount(level[order[order < p]])
    sizes = sizes[sizes > 0]
    middle = int(np.searchsorted(np.cumsum(sizes), sizes.sum() / 2))
    return float(sizes[middle]) if len(sizes) else 0.0


def choose_smallest(
    operator: Operator, k: int, known: int, *, solver: str = "auto", memory: float | None = None
) -> Plan:
    """The plan for the k smallest eigenvalues of an operator with ``known`` null vectors."""
    p = operator.shape[0]
    if solver not in ("auto", *SOLVERS):
        raise ParameterError(
            f"solver must be 'auto' or one of {', '.join(SOLVERS)} for the smallest eigenvalues",
            received=repr(solver), hint="leave solver='auto'",
        )  # fmt: skip
    if not isinstance(k, int):
        raise ParameterError(
            "the smallest eigenvalues take a number for n_components: no rule decides where they end",
            received=repr(getattr(k, "name", k)), hint="n_components=2",
        )  # fmt: skip
    dense = Plan(
        "svd", "columns", "float64", 1, 30.0 * p**3 / c.GEMM64, 8.0 * p * p * 6, (f"there are only {p:,} rows",)
    )
    if solver == "svd" or (solver == "auto" and p <= c.DENSE_SMALLEST):
        return _within(dense if solver == "auto" else _asked(dense), memory)
    fill = fill_of(operator)
    if fill is None:
        if solver == "inverse" or p > c.DENSE_SMALLEST_MOST:
            raise ParameterError(
                "this operator has no sparse entries that a factorisation could begin with",
                received=f"{operator!r} with solver={solver!r}",
                hint="use Aligned(B), Laplacian(W) or Symmetric(S, positive=True) of a sparse S",
            )
        return _within(replace(dense, reasons=("the operator has no sparse entries to factorise",)), memory)
    plan = _inverse(fill, k, known)
    return _within(plan if solver == "auto" else _asked(plan), memory)


def known_null_vectors(operator: Operator, given: Any) -> int:
    """How many null vectors are known, given or by the operator itself."""
    null = operator.null() if given is None else given
    shape = () if null is None else np.shape(null)
    return 0 if null is None else 1 if len(shape) == 1 else int(shape[1])


def _asked(plan: Plan) -> Plan:
    return replace(plan, reasons=(f"solver={plan.solver!r} was asked for",))


def _inverse(fill: Fill, k: int, known: int) -> Plan:
    seconds = 2 * fill.flops / c.FACTOR_RATE + (16 + 4 * k) * fill.factor * c.SOLVE_ENTRY
    storage = c.FACTOR_BYTES * fill.factor + 40.0 * fill.entries + 8.0 * fill.p * (c.LANCZOS_SMALLEST + 4 * k + known)
    reasons = (
        f"one factorisation of about {fill.factor:.2g} entries makes every step of Lanczos on the inverse cheap",
        "another counts its negative pivots, which proves that none was missed",
    )
    return Plan("inverse", "columns", "float64", 2, seconds, storage, reasons)


def _within(plan: Plan, memory: float | None) -> Plan:
    if memory is None or plan.bytes <= memory:
        return plan
    error: MemoryLimitError = over_memory(memory, plan.bytes, " beyond the data")
    error.add_note(f"{plan.solver}: {size_words(plan.bytes)}")
    raise error
