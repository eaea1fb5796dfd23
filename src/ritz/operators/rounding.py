"""What a combination of operators knows of its rounding from its parts.

A + cB     ‖Ã − A‖ + |c|·‖B̃ − B‖,  and sums round numbers of size ‖A‖ + |c|·‖B‖, however small their sum
A B        ‖Ã − A‖·‖B‖ + ‖A‖·‖B̃ − B‖,  rounded at the size ‖A‖·‖B‖
AᵀA        e(2‖A‖ + e),  e = ‖Ã − A‖
"""

from __future__ import annotations

import numpy as np

from ritz._core.linalg import norms, to_numpy
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.base import Operator

__all__ = ["combined", "noise", "size", "squared", "taken_off", "told"]

#: Products, columns and the stream by which a norm is estimated, and by how much the estimate is raised: rounding needs
#: no more than the size of a norm. Eight Gaussian columns are all short along one direction with probability 1e-9.
STEPS, COLUMNS, STREAM, RAISED = 3, 8, 1 << 23, 2.0

#: Share of its parts below which a sum has lost so many digits that it is not told.
CANCELLED = 1e-6


def size(A: Operator) -> float:
    """About ‖A‖₂, from above: of what A tells of itself, or estimated by a few products."""
    square, sums = A.frobenius2(), A.power_sums()
    bounds = [float(np.sqrt(square))] if square is not None else []
    bounds += [float(np.sqrt(sums[1]))] if sums is not None else []
    total = A.trace() if A.symmetric and A.positive else None
    bounds += [total] if total is not None else []
    if bounds:
        return min(bounds)
    block, largest = A.place.array(gaussian_rows(0, STREAM, 0, A.shape[1], COLUMNS)), 0.0
    for _ in range(STEPS):
        length = to_numpy(norms(block))
        if not bool(np.all(np.isfinite(length))) or not np.any(length > 0):
            return largest if not np.any(length > 0) else float("inf")
        block = block / A.place.array(np.where(length > 0, length, 1.0))
        block = A.normal(block)
        largest = max(largest, float(np.sqrt(np.max(to_numpy(norms(block))))))
    return RAISED * largest


def taken_off(A: Operator) -> float:
    """``inflation`` of A as that of a table, ‖B‖₂², whether A is symmetric or not."""
    return A.inflation() ** 2 if A.symmetric else A.inflation()


def noise(A: Operator) -> float | None:
    """‖Ã − A‖₂ of products with A, scales that were computed included; None where nothing but rounding is known."""
    error, scale = A.perturbation(), A.scale_error()
    if error is None and (scale == 0 or not A.symmetric):
        return None
    return (error or 0.0) + (2 * scale * size(A) if scale and A.symmetric else 0.0)


def squared(A: Operator) -> float | None:
    """‖ÃᵀÃ − AᵀA‖₂ from ``perturbation``; None where that is not known."""
    e = A.perturbation()
    return None if e is None else e * (2 * size(A) + e)


def combined(left: Operator, right: Operator, a: float = 1.0, b: float = 1.0) -> float | None:
    """``a``·‖Ã − A‖ + ``b``·‖B̃ − B‖, the rounding of a part that was not measured allowed for; None if neither was."""
    parts = [noise(left), noise(right)]
    if parts[0] is None and parts[1] is None:
        return None
    total = 0.0
    for A, measured, factor in ((left, parts[0], a), (right, parts[1], b)):
        own = rounding(max(A.shape), unit_roundoff(A.dtype)) * size(A) if measured is None else measured
        total += abs(factor) * own
    return total


def told(*parts: float | None) -> float | None:
    """The sum of traces, unless one is not known or they cancel."""
    if any(term is None for term in parts):
        return None
    terms = [float(term) for term in parts if term is not None]
    total = float(np.sum(terms))
    return total if abs(total) >= CANCELLED * float(np.sum(np.abs(terms))) else None
