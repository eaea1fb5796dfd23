"""Plans for rows that are read again in every pass: from files, on a cluster.

    one pass     moment state, d ≤ 20,000:   lanes·(8 + b)·d² while reading, 4·8·d² while solving
    E epochs     block Krylov on AᵀA:        16·d·(basis) + lanes·(8 + b)·d·l
    2E epochs    block Krylov on AAᵀ:        16·n·(basis) + lanes·(8 + b)·d·l      for a table of few, very long rows

Reading costs more than computing, so the route with the fewest passes that fits into memory is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ritz._core.errors import MemoryLimitError, ParameterError
from ritz._core.memory import limit
from ritz._core.threads import lane_count
from ritz.data.engines.stream.blocks import reading_bytes
from ritz.data.passes.gram import TILE_ABOVE
from ritz.spectral import constants as c
from ritz.spectral import widths
from ritz.spectral.plan import Plan, Shape, choose, over_memory, size_words

__all__ = ["choose_outside", "require_room"]

#: Buffers and BLAS work space of a solver that goes over the rows again and again: 21 to 28 MB beside the rest of the
#: count were seen at 384 and 1,500 columns.
EPOCH_BYTES = 32e6


def choose_outside(
    shape: Shape, k: int, *, solver: str, tol: float, memory: float, needs_all: bool, growing: bool
) -> Plan:
    """The plan for k components of rows outside memory."""
    if solver == "svd" and 24.0 * shape.n * shape.d > memory:
        raise MemoryLimitError(
            "solver='svd' needs all rows in memory at once",
            received=f"{shape.n:,} × {shape.d:,}, which takes {size_words(24.0 * shape.n * shape.d)}",
            hint="leave solver='auto': one pass over the rows gives the same numbers",
        )
    if solver not in ("auto", "moments", "krylov"):
        plan = choose(replace(shape, outside=False), k, solver=solver, tol=tol, needs_all=needs_all, growing=growing)
        return replace(plan, side="columns", passes=2 if solver == "svd" else plan.passes)
    # What the rows themselves say that reading takes; else what it takes of batches alone.
    reading = reading_bytes(memory) if shape.reading is None else shape.reading
    options = [replace(option, bytes=option.bytes + reading) for option in _options(shape, k, solver, tol, needs_all)]
    if not options:
        raise ParameterError(
            f"this rule for n_components needs the whole spectrum, at most {c.DIRECT_LIMIT:,} columns",
            received=f"{shape.n:,} × {shape.d:,}",
            hint="use a fraction such as 0.9, 'kaiser', 'broken-stick', 'aic' or 'bic'",
        )
    fitting = [option for option in options if option.bytes <= memory]
    if not fitting:
        least = min(option.bytes for option in options)
        raise over_memory(memory, least)
    best, first = fitting[0], options[0]
    if best is first:
        return best
    return replace(best, reasons=(*best.reasons, f"the {first.solver} route would need {size_words(first.bytes)}"))


def require_room(memory: object, rows: Any, k: int) -> None:
    """Refuse scores of rows that are read in pieces where not even the pieces and the components fit the limit."""
    if getattr(rows, "reading", None) is None:
        return
    allowed, needed = limit(memory), float(rows.reading) + 16.0 * k * rows.shape[1]
    if needed > allowed:
        error = MemoryLimitError(
            f"the scores must be written within memory={size_words(allowed)}",
            received=f"rows that take at least {size_words(needed)} to read",
            hint=f"allow memory='{size_words(1.05 * needed).replace(' ', '')}' or more",
        )
        error.least = needed
        raise error


def _options(shape: Shape, k: int, solver: str, tol: float, needs_all: bool) -> list[Plan]:
    """Routes by increasing number of passes."""
    options = []
    if solver in ("auto", "moments") and shape.d <= c.DIRECT_LIMIT:
        options.append(_one_pass(shape, k, needs_all))
    if solver in ("auto", "krylov") and not needs_all:
        options.append(_epochs(shape, k, tol, "columns"))
        if shape.n < shape.d:
            options.append(_epochs(shape, k, tol, "rows"))
    return options


def _one_pass(shape: Shape, k: int, needs_all: bool) -> Plan:
    d = float(shape.d)
    direct = choose(replace(shape, outside=False, n=max(shape.n, shape.d)), k, solver="moments", needs_all=needs_all)
    itemsize = 4 if direct.precision == "float32" else 8
    # A wide state exists once, with a panel for the product; a narrow one in every lane, with a product as large and,
    # where that is float64, what rounding took from the sum.
    lane = (8.0 + itemsize) * d * d + (8.0 * d * d if itemsize == 8 else 0.0)
    reading = 8 * d * d + itemsize * d * 1024 if d > TILE_ABOVE else lane_count() * lane
    storage = max(reading, c.EIGH_COPIES * 8 * d * d)
    reason = f"one pass over the rows forms the {shape.d:,}×{shape.d:,} moment state, whose eigenvectors are the answer"
    return replace(direct, side="columns", bytes=storage, reasons=(reason,))


def _epochs(shape: Shape, k: int, tol: float, side: str) -> Plan:
    width, steps = min(shape.small, k + widths.oversampling(k)), widths.expected_steps(tol)
    p = shape.d if side == "columns" else shape.n
    plan = choose(replace(shape, outside=False), k, solver="krylov", tol=tol)
    basis = min(p, max(3 * width, min(int(c.KRYLOV_BASIS_BYTES // (16 * p)), width * steps)))
    storage = 16.0 * p * basis + 8.0 * p * width * 4 + lane_count() * 16.0 * shape.d * width + EPOCH_BYTES
    passes = (steps + 1) * (1 if side == "columns" else 2)
    reason = f"about {passes} passes over the rows with a block of {width} vectors reach the tolerance"
    return replace(plan, side=side, bytes=storage, passes=passes, reasons=(reason,))
