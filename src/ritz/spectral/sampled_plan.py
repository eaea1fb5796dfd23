"""What a sample of rows says about a route before it is taken.

    μ₁ ≥ μ₂ ≥ …   eigenvalues of ZZᵀ, Z (m×d) some rows as they will be decomposed
    x = μ_k/μ_{l+1}                                        l columns of a block
    q = (ln 1/tol + ½ ln μ_k/μ₁) / arcosh(2x − 1)          products, by the growth of Chebyshev polynomials     [MM15]

Shapes alone do not tell whether block Krylov reaches the tolerance in six passes or in thirty, and that is what decides
between it and the Gram matrix of a tall table. A few hundred rows tell, for a fraction of the price of either. The
sample decides how long a fit takes, never what is proved of its answer; an iteration that falls behind is left as ever.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ritz.spectral import constants as c
from ritz.spectral import costs
from ritz.spectral.plan import Plan, Shape, choose, with_others
from ritz.spectral.refined_plan import refined_route
from ritz.spectral.widths import oversampling
from ritz.spectral.words import SAMPLED, seconds_words

__all__ = ["by_sample", "expected_passes", "sampled"]


def sampled(shape: Shape, k: int, plan: Plan) -> int:
    """How many rows to look at; 0 where shapes decide."""
    tall = costs.in_memory(shape) and not shape.weighted and shape.n >= 2 * shape.d
    known = plan.solver in ("krylov", "moments", "refined") and plan.side == "columns" and k > 0
    rows = max(c.SAMPLED_LEAST, 4 * (k + oversampling(k) + 1))
    if not tall or not known or rows > min(shape.n // 8, shape.d) or k > c.DIRECT_SHARE * shape.d:
        return 0
    look = float(rows) * rows * shape.d / c.GEMM64
    return rows if look <= c.SAMPLED_SHARE * min(plan.seconds, costs.form(shape, shape.itemsize <= 4)) else 0


def by_sample(plan: Plan, shape: Shape, k: int, Z: NDArray[np.float64], tol: float, memory: float | None) -> Plan:
    """The plan, or the other road where rows Z (m, d) of the table say that it is shorter."""
    width = k + oversampling(k)
    passes = expected_passes(Z, k, width, tol)
    direct = choose(shape, k, solver="moments", tol=tol) if shape.d <= c.DIRECT_LIMIT else None
    krylov = with_others(choose(shape, k, solver="krylov", tol=tol), shape, k, direct, memory)
    if passes is None or direct is None or krylov.side != "columns" or krylov.course is None:
        return plan
    formed = _formed(direct, shape, k, tol)
    if memory is not None and max(krylov.bytes, formed.bytes) > memory:
        return plan  # which was made for that
    beside = c.FIT + c.LOOKED * shape.entries
    seconds = krylov.course.cost(passes, width)  # squares of the rows are one of these passes
    words = f"{len(Z):,} {SAMPLED} {passes} products with a block of {width} vectors"
    if seconds <= (c.SAMPLED_AHEAD32 if formed.precision == "float32" else c.SAMPLED_AHEAD) * formed.seconds:
        other = f"the direct route would take about {seconds_words(formed.seconds)}"
        return replace(krylov, passes=passes, seconds=seconds + beside, reasons=(f"{words} reach the tolerance", other))
    if plan.solver != "krylov":
        return plan
    return replace(
        formed, seconds=formed.seconds + beside, reasons=(*formed.reasons, f"{words} would be needed otherwise")
    )


def expected_passes(Z: NDArray[np.float64], k: int, width: int, tol: float) -> int | None:
    """Passes of block Krylov over rows of which Z are some; None where these do not tell."""
    with np.errstate(over="ignore", invalid="ignore"):
        G = Z @ Z.T
    if width >= len(G) or not np.isfinite(G).all():
        return None
    mu = np.linalg.eigvalsh(G)[::-1]
    if not mu[width] > 0:  # fewer directions than columns of a block: one product finds them all
        return math.ceil(c.SAMPLED_FIRST) if mu[k - 1] > 0 else None
    x = 2.0 * float(mu[k - 1] / mu[width]) - 1.0
    digits = math.log(1 / max(tol, 1e-15)) + 0.5 * math.log(float(mu[k - 1] / mu[0]))
    products = max(digits, 0.0) / max(math.acosh(x), 1e-3)
    if products > c.SAMPLED_BULK:
        return math.ceil(c.SAMPLED_SLOW * products)
    return math.ceil(c.SAMPLED_FIRST + c.SAMPLED_EACH * products)


def _formed(direct: Plan, shape: Shape, k: int, tol: float) -> Plan:
    """The road by a Gram matrix, in float32 and corrected where that is shorter."""
    reason = f"one pass forms the {shape.d:,}×{shape.d:,} Gram matrix, whose eigenvectors are the answer"
    direct = replace(direct, reasons=(reason,))
    if not c.REFINED_LEAST <= shape.d <= c.REFINED_MOST:
        return direct
    made = refined_route(shape, k, tol)
    return direct if made is None or made.seconds > c.REFINED_AHEAD * direct.seconds else made
