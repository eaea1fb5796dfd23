"""The route to the smallest eigenvalues: which solver, how long, how much memory, and why.

    p ≤ DENSE_SMALLEST      every eigenvalue, by a dense decomposition
    inverse                 one sparse factorisation to solve with, another to count with; fill: entries of its factor
    lanczos                 from afar, on cI − M: where the factor would not fit, or take far longer; gaps must be wide

How much a factor fills depends on how the graph of M can be cut. The rows that a breadth-first search from the rim
meets at a time are a cut; with s of them at the middle, an elimination in the order of the search fills s·p entries,
and the order of minimum degree about half of that: 0.15 to 0.7 on graphs of 1 to 50 dimensions. Large graphs of two
dimensions fill less: halves have cuts of their own, s_l² entries each, which grow like p log p in all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from ritz._core.errors import ParameterError
from ritz.operators.base import Operator
from ritz.spectral import constants as c
from ritz.spectral import widths
from ritz.spectral.costs import sparse_product_seconds
from ritz.spectral.plan import Plan, over_memory, size_words

__all__ = ["Fill", "choose_smallest", "cut_of", "fill_of", "known_null_vectors"]

SOLVERS = ("svd", "inverse", "lanczos")


@dataclass(frozen=True)
class Fill:
    """What a factorisation of M would come to, estimated."""

    p: int
    entries: float  # of M
    factor: float  # of L
    flops: float
    cut: float  # rows that stand between two halves of the others


def fill_of(operator: Operator) -> Fill | None:
    """Estimated fill of a factorisation of M; None where it cannot be written out as sparse entries."""
    given = operator.assembled()
    if given is None:
        return None
    p = given.p
    if given.root is None:
        graph = sp.csr_array(given.matrix)
        stored = float(graph.nnz)
    else:
        graph, stored = _stars(given.root)
    cut = cut_of(graph, p)
    factor = min(stored / 4 + min(c.FILL_CUT * cut * p, c.FILL_HALVES * _halved(cut, p)), 0.5 * p * (p + 1.0))
    return Fill(p, stored, factor, factor * factor / p, cut)


def _stars(B: Any) -> tuple[Any, float]:
    """A graph as connected as BᵀB with as many edges as B has entries, and how many entries BᵀB has at most.

    Every row joins its first column to its others. Rows of the same columns as the row before, of which local maps have
    as many as neighbours, are left out.
    """
    counts, ends = np.diff(B.indptr), B.indptr
    full = np.flatnonzero(counts)
    marks = np.add.reduceat(np.square(B.indices.astype(np.float64) + 0.5), ends[full]) if len(full) else np.zeros(0)
    new = full[np.append(True, (np.diff(marks) != 0) | (np.diff(counts[full]) != 0))] if len(full) else full
    kept = sp.csr_array((np.ones(B.nnz), B.indices, ends), shape=B.shape)[new]
    many = np.diff(kept.indptr)
    first = np.repeat(kept.indices[kept.indptr[:-1]], many)
    graph = sp.csr_array((kept.data, (first, kept.indices)), shape=(B.shape[1], B.shape[1]))
    return graph, min(float(np.sum(np.square(many.astype(np.float64)))), float(B.shape[1]) ** 2)


def cut_of(graph: Any, p: int) -> float:
    """Nodes that a breadth-first search has in one level, at the middle of what it reaches."""
    far = int(breadth_first_order(graph, 0, directed=False, return_predecessors=False)[-1])  # a node at the rim
    order, before = breadth_first_order(graph, far, directed=False)
    place = np.empty(p, np.int64)
    place[order] = np.arange(len(order))
    above = place[before[order[1:]]]  # increases: a level begins where the first node of the level above is left
    starts = [0, 1]
    while starts[-1] < len(order):
        starts.append(1 + int(np.searchsorted(above, starts[-1])))
    sizes = np.diff(starts)
    middle = int(np.searchsorted(np.cumsum(sizes), len(order) / 2))
    return float(sizes[middle]) * p / len(order)


def _halved(cut: float, p: int) -> float:
    """Σ 2^l s_l² over cuts of halves of halves, s_l = s·2^(−αl), α = log s/log p; down to parts of 64 nodes."""
    s = max(cut, 2.0)
    ratio, levels = 2.0 ** (1 - 2 * np.log(s) / np.log(max(p, 3))), max(np.log2(max(p, 3) / 64), 1.0)
    return float(s * s * (levels if abs(ratio - 1) < 1e-6 else (1 - ratio**levels) / (1 - ratio)))


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
    plans = {"inverse": _inverse(fill, k, known), "lanczos": _far(fill, k, known)}
    if solver != "auto":
        return _within(_asked(plans[solver]), memory)
    inverse, far = plans["inverse"], plans["lanczos"]
    if operator.apart and fill.cut >= c.FAR_CUT * p and inverse.seconds > c.FAR_SECONDS:
        why = f"factorisations of about {fill.factor:.2g} entries would take about {inverse.seconds:.2g} s"
        return _within(replace(far, reasons=(*far.reasons, why)), memory)
    if operator.apart and memory is not None and far.bytes <= memory < inverse.bytes:
        why = f"a factorisation would need {size_words(inverse.bytes)}"
        return replace(far, reasons=(*far.reasons, why))
    return _within(inverse, memory)


def known_null_vectors(operator: Operator, given: Any) -> int:
    """How many null vectors are known, given or by the operator itself."""
    null = operator.null() if given is None else given
    shape = () if null is None else np.shape(null)
    return 0 if null is None else 1 if len(shape) == 1 else int(shape[1])


def _asked(plan: Plan) -> Plan:
    return replace(plan, reasons=(f"solver={plan.solver!r} was asked for",))


def _inverse(fill: Fill, k: int, known: int) -> Plan:
    seconds = 2 * (fill.flops / c.FACTOR_RATE + c.ORDER_ROW * fill.p) + (16 + 4 * k) * fill.factor * c.SOLVE_ENTRY
    storage = c.FACTOR_BYTES * fill.factor + 40.0 * fill.entries + 8.0 * fill.p * (c.LANCZOS_SMALLEST + 4 * k + known)
    reasons = (
        f"one factorisation of about {fill.factor:.2g} entries makes every step of Lanczos on the inverse cheap",
        "another counts its negative pivots, which proves that none was missed",
    )
    return Plan("inverse", "columns", "float64", 1, seconds, storage, reasons)


def _far(fill: Fill, k: int, known: int) -> Plan:
    products = c.FAR_PRODUCTS + 2 * k
    width = widths.lanczos_width(k, 8)
    seconds = products * (
        sparse_product_seconds(fill.entries, width, 8) + 4e-9 * fill.p * width * (products / 2 + known)
    )
    seconds += c.FAR_FILTER * sparse_product_seconds(fill.entries, 8, 8)
    storage = 8.0 * fill.p * (width * products + 6 * width + 32 + known) + 24.0 * fill.entries
    reason = (
        f"about {products} products with {width} vectors each, and some hundred that prove that none was missed: where "
        "a graph cannot be cut, gaps are wide"
    )
    return Plan("lanczos", "columns", "float64", products, seconds, storage, (reason,))


def _within(plan: Plan, memory: float | None) -> Plan:
    if memory is None or plan.bytes <= memory:
        return plan
    raise over_memory(memory, plan.bytes, " beyond the data")
