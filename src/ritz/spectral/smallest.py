"""``solve`` for the smallest eigenvalues: problem + plan → Solution.

    M x = λ x,   0 ≤ λ₁ ≤ λ₂ ≤ …   off the null vectors that are known

The route finds directions and a floor that no other eigenvalue lies below; values, residuals and bounds are made the
same way for all of them.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz._core.blas import single_threaded_blas
from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.linalg import signs, to_numpy
from ritz._core.warn import warn
from ritz.operators.assembled import Assembled
from ritz.operators.base import Operator
from ritz.spectral.certificate.smallest import certify_smallest
from ritz.spectral.plan import Plan
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solvers.smallest.entries import Entries
from ritz.spectral.solvers.smallest.far import far
from ritz.spectral.solvers.smallest.found import Found
from ritz.spectral.solvers.smallest.inverse import inverse
from ritz.spectral.solvers.smallest.ritz import known_null
from ritz.spectral.solvers.smallest.whole import whole

__all__ = ["known", "solve_smallest"]


#: Sizes of the root of M whose squares, and squares of these, are in the range of float64.
RANGE = 1e-70, 1e70


def known(problem: SpectralProblem) -> Any:
    """The null vectors of a problem: those given, or those that its operator knows."""
    return problem.operator.null() if problem.null is None else problem.null


def solve_smallest(
    problem: SpectralProblem, plan: Plan, *, unit: float = 1.0, frame: dict[str, Any] | None = None,
    quiet: bool = False,
) -> Solution:  # fmt: skip
    """The k smallest pairs."""
    # Blocks of a few columns and fronts of some hundred rows: a second thread would mostly wait, and at full speed.
    with single_threaded_blas() if plan.solver == "inverse" else nullcontext():
        return _solved(problem, plan, unit, frame, quiet)


def _solved(
    problem: SpectralProblem, plan: Plan, unit: float, frame: dict[str, Any] | None, quiet: bool
) -> Solution:  # fmt: skip
    begin, M = time.perf_counter(), problem.operator
    entries = Entries(_written(M))
    if not RANGE[0] < entries.unit < RANGE[1]:
        raise InputError(
            "eigenvalues must be within the range of float64",
            received=f"entries of a root, or roots of entries, up to about {entries.unit:.3g}",
            hint="divide the weights by the largest",
        )
    null = known_null(entries, known(problem))
    if not 0 < problem.k <= entries.p - null.m:
        raise ParameterError(
            f"between 1 and {entries.p - null.m} components can be found: the operator is {entries.p}×{entries.p}, "
            f"and {null.m} null vector{'s are' if null.m != 1 else ' is'} known",
            received=str(problem.k), hint="ask for fewer components",
        )  # fmt: skip
    found = _found(problem, plan, entries, null)
    passes = M.passes() + (found.products if plan.solver == "lanczos" else 1)  # others write the entries out once
    k = problem.k
    flip = signs(found.pairs.V[:, :k])
    V = np.ascontiguousarray(found.pairs.V[:, :k] * flip)
    trace, c = M.trace(), (found.unit * unit) ** 2
    theta = found.pairs.theta * found.unit**2
    total = float(np.sum(theta)) if trace is None else float(trace)
    seconds = time.perf_counter() - begin
    record = {"matrix": M.symbol(), "vectors": V, "unit": 1.0, **(frame or {})}
    certificate = certify_smallest(
        found, k, total=total * unit**2, tol=problem.tol, seconds=seconds, passes=passes, frame=record,
        signs=flip, unit=unit,
    )  # fmt: skip
    if not certificate.converged and not quiet:
        warn(
            f"{plan.solver} reached a residual of {float(np.max(certificate.residuals)) / (found.norm * c):.1e}·‖M‖ "
            f"instead of tol={problem.tol:g}; the certificate bounds what that means. Try solver='inverse'.",
            AccuracyWarning,
        )
    values = theta[:k] * unit**2
    return Solution(
        values, V, theta * unit**2, total * unit**2, certificate, plan.done(passes, seconds), unit, theta[:k],
        total, theta, np.sqrt(np.maximum(values, 0.0)),
    )  # fmt: skip


def _written(M: Operator) -> Assembled:
    given = M.assembled()
    if given is not None:
        return given
    dense = np.asarray(to_numpy(M.to_dense()), np.float64)
    if not bool(np.all(np.isfinite(dense))):
        raise InputError("an operator has finite entries", received="NaN or infinity")
    return Assembled(matrix=sp.csc_array((dense + dense.T) / 2), noise=M.measured() or 0.0)


def _found(problem: SpectralProblem, plan: Plan, entries: Entries, null: Any) -> Found:
    if plan.solver == "svd":
        return whole(entries, null)
    return (far if plan.solver == "lanczos" else inverse)(problem, entries, null)
