"""When a Gram matrix of float64 rows is formed in float32 and corrected (``solvers/refined.py``).

    T = q·p²/r₃₂ + n·d·e + leading l pairs + product with l columns in float64 + s·2d²l/r₃₂         l = k + 2 or more

A tall table of float64 whose Gram matrix takes long: the products of half the price save more than the one product in
float64 costs that measures and corrects the answer. Smaller tables are summed in short pieces, which takes less.
"""

from __future__ import annotations

from ritz.data.passes.gram import SHORT_WORK64
from ritz.spectral import constants as c
from ritz.spectral import costs, storage
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.widths import refined_width

__all__ = ["or_refined", "refined_route"]


def or_refined(plan: Plan, shape: Shape, k: int, tol: float, memory: float | None) -> Plan:
    """The plan, or this route where it costs less."""
    made = refined_route(shape, k, tol)
    if made is None or made.seconds > c.REFINED_AHEAD * plan.seconds or (memory is not None and made.bytes > memory):
        return plan
    return made


def refined_route(shape: Shape, k: int, tol: float) -> Plan | None:
    """The route for k components of tall float64 rows in memory; None for others."""
    n, d = shape.n, shape.d
    dense = costs.in_memory(shape) and shape.itemsize == 8 and not shape.weighted
    if not dense or n <= d or float(n) * d * d <= SHORT_WORK64 or tol < c.FLOAT32_TOL:
        return None
    width = refined_width(k)
    seconds = costs.form(shape, True) + c.REFINED_ENTRY * shape.entries + costs.solve_formed(d, width)
    seconds += costs.product(shape, width) + c.REFINED_STEPS * 2.0 * d * d * width / c.GEMM32
    solved = max(storage.state(shape), storage.state_solved(shape, width, False))
    held = c.KEPT * (1.1 * solved + 64.0 * d * width)  # and what rows are rounded and summed in, piece by piece
    reason = (
        f"a {d:,}×{d:,} Gram matrix in float32, corrected by a product with {width} vectors in float64, costs less "
        "than one in float64"
    )
    return Plan("refined", "columns", "float32 then float64", 2, seconds, held, (reason,))
