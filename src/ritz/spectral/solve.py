"""``solve``: problem + plan → Solution.

Chooses the side (AᵀA for tall, AAᵀ for wide data, where v = Aᵀu/σ), runs the solver, lets a rule ask for more
components, fixes the signs and writes the certificate.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.blas import THREADED, beside_lanes, small_blas
from ritz._core.errors import AccuracyWarning
from ritz._core.frozen import changed
from ritz._core.linalg import norms, place_of, signs, to_numpy
from ritz._core.warn import warn
from ritz.operators.base import Operator
from ritz.operators.gram import Gram
from ritz.spectral.certificate.certificate import Certificate, measured_by
from ritz.spectral.certificate.enclosure import certify, surely_labelled
from ritz.spectral.certificate.inexact import shown_in, widened
from ritz.spectral.constants import DIRECT_SHARE, PROOF_PRICE
from ritz.spectral.course import Left, Watch
from ritz.spectral.plan import Plan
from ritz.spectral.problem import Completeness, Pairs, SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solvers.dense import dense_eigh, dense_svd
from ritz.spectral.solvers.moments import moments

__all__ = ["solve"]

#: No limit on threads.
FREE = nullcontext()
#: Bytes of a dense copy that ``svd`` may make when no limit is given.
SVD_BUDGET = 1 << 36
#: Numbers of vectors on a device from which a thread copies them to the host.
LONG = 1 << 21


def solve(
    problem: SpectralProblem,
    plan: Plan,
    *,
    unit: float = 1.0,
    frame: dict[str, Any] | None = None,
    quiet: bool = False,
) -> Solution:
    """Solve a problem by a plan; ``unit``² turns the operator's eigenvalues into those of the data.

    ``quiet``: a missed tolerance is in the certificate only.
    """
    if problem.which == "smallest":
        from ritz.spectral.smallest import solve_smallest  # by methods that need it

        return solve_smallest(problem, plan, unit=unit, frame=frame, quiet=quiet)
    with _beside(problem.operator):
        return _solved(problem, plan, unit, frame, quiet)


def _beside(operator: Operator) -> Any:
    """How many threads BLAS has: one, but for what frees them, since they would spin beside the lanes of every pass;
    and one for small matrices beside a graphics processor, which does all but the work of d×d ones.

    Sixteen of them took 41 ms for eight products of a matrix of 768 columns with a vector, and one 2.
    """
    n, d = operator.shape
    if getattr(operator.place.device, "type", "cpu") != "cpu":
        return small_blas(d, d)
    return beside_lanes(work) if (work := float(n) * d * min(n, d)) > THREADED else FREE


def _solved(
    problem: SpectralProblem, plan: Plan, unit: float, frame: dict[str, Any] | None, quiet: bool
) -> Solution:  # fmt: skip
    begin = time.perf_counter()
    pairs = _grow(problem, plan)
    if problem.kind == "eigh" and problem.operator.below:  # what is rounding may lie on either side of zero
        pairs = changed(pairs, positive=False)
    if not _on_host(pairs) and (isinstance(pairs.vectors, np.ndarray) or not _stays(pairs)):
        pairs = _here(pairs)
    turned = None if pairs.overlap() is not None else signs(pairs.vectors)
    if turned is not None and -1.0 in turned.tolist():
        flip = turned if isinstance(pairs.vectors, np.ndarray) else place_of(pairs.vectors).array(turned)
        pairs = changed(pairs, vectors=pairs.vectors * flip, residual_block=pairs.residual_block * flip)
    there = pairs.vectors
    V, arrived = _brought(there)
    total = _total(pairs, trace := _told(problem))  # asked for now: a pass may have learned it by then
    pairs = _noted(problem, pairs, trace is not None)
    record: dict[str, Any] = {"vectors": V, "unit": unit, **(frame or {})}
    if problem.inexact is not None:
        inexact = problem.inexact()
        if inexact > 0:
            pairs = widened(pairs, inexact, total)
            record["inexact"] = inexact  # for verify: in units of unit, as the operator
    seconds = time.perf_counter() - begin
    passes = problem.operator.passes()
    shown, pairs = (1.0, pairs) if unit == 1 else shown_in(pairs, unit, total)
    if shown != 1:
        record["shown"] = shown
    iterative = pairs.error is None  # a rule that grew may have ended with a direct solver
    certificate = certify(
        pairs,
        total=total * (unit / shown) ** 2,
        unit=unit / shown,
        tol=problem.tol if iterative else None,
        passes=passes,
        seconds=seconds,
        frame=record,
    )
    arrived()
    if _proof_pays(plan, pairs, certificate):
        return _proved(problem, plan, certificate, unit=unit, frame=frame, quiet=quiet)
    if not pairs.converged and not quiet and plan.solver != "directions":  # which tells by itself where it is too wide
        _warn(pairs, plan, problem)
    spectrum, theta = np.asarray(pairs.values, np.float64), pairs.leading()
    if pairs.road is not None:  # in the precision of its products, which its path begins with
        plan = replace(plan.left(*pairs.road), side=_short_side(problem), precision=pairs.precision[:7])
    done, sigma = _as_formed(plan, pairs).done(passes, seconds), np.sqrt(np.maximum(theta, 0.0)) * unit
    if unit == 1:
        return Solution(theta.copy(), V, spectrum.copy(), total, certificate, done, unit, theta, total, spectrum, sigma)
    with np.errstate(over="ignore", under="ignore"):
        return Solution(
            theta * unit * unit, V, spectrum * unit * unit, float(np.float64(total) * unit * unit), certificate, done,
            unit, theta, total, spectrum, sigma,
        )  # fmt: skip


def _as_formed(plan: Plan, pairs: Pairs) -> Plan:
    """The plan of a Gram matrix that was planned in float32 and formed in float64."""
    if (plan.solver, plan.precision) != ("moments", "float32") or not pairs.precision.startswith("float64"):
        return plan
    words = "products in float32 would lose what is wanted, so they were formed in float64"
    return replace(plan, precision="float64", reasons=(*plan.reasons, words))


def _brought(V: Any) -> tuple[Any, Callable[[], Any]]:
    """Vectors on the host, or memory that a thread fills with them, and a function that waits for it."""
    if type(V) is np.ndarray or getattr(getattr(V, "device", None), "type", None) != "cuda" or V.numel() < LONG:
        return to_numpy(V), _nothing
    from ritz._core.there import copying  # which answers on the host do without

    here, done = copying(V)
    return here, done.result


def _nothing() -> None:
    """There is nothing to wait for."""


def _proof_pays(plan: Plan, pairs: Pairs, certificate: Certificate) -> bool:
    """Whether an iteration left something unproved that the direct route proves at about the cost of the iteration."""
    if plan.course is None or not plan.course.others or plan.course.turn is not None:
        return False
    road, there = min(plan.course.others, key=lambda other: other[1])
    spent = plan.course.cost(certificate.passes, pairs.k)
    if not pairs.k or road != "moments" or there > plan.course.proof * PROOF_PRICE * spent:
        return False
    return not surely_labelled(pairs) and not bool(np.all(certificate.labelled))  # which takes longer to find out


def _proved(problem: SpectralProblem, plan: Plan, first: Certificate, **options: Any) -> Solution:
    """The direct route after an iteration that could not prove its answer."""
    planned = plan.left("moments", f"after {first.passes} passes it was not proved that no component was missed")
    reasons = (*planned.reasons[:-1], "so the Gram matrix was formed, which proves it")
    precision = "float64" if plan.course is None else plan.course.formed
    planned = replace(planned, reasons=reasons, side=_short_side(problem), precision=precision, course=None)
    found = solve(problem, planned, **options)
    seconds = found.certificate.seconds + first.seconds
    certificate = changed(found.certificate, seconds=seconds)
    return replace(found, certificate=certificate, plan=changed(found.plan, actual_seconds=seconds))


def _stays(pairs: Pairs) -> bool:
    """Whether the blocks of an answer are looked at on the device where they lie."""
    from ritz._core.device import is_tensor  # which answers on the host do without

    iterated = pairs.value_block is None and pairs.error is None and pairs.estimate is None
    return iterated and is_tensor(pairs.vectors)


def _on_host(pairs: Pairs) -> bool:
    """Whether the blocks of an answer are NumPy's, and no others enclose its eigenvalues."""
    own = isinstance(pairs.vectors, np.ndarray) and isinstance(pairs.residual_block, np.ndarray)
    return own and pairs.value_block is None


def _here(pairs: Pairs) -> Pairs:
    """The blocks of an answer on the host: an iteration's are long, and are looked at where they lie."""
    other = None if pairs.value_block is None else to_numpy(pairs.value_block)
    vectors, block = to_numpy(pairs.vectors), to_numpy(pairs.residual_block)
    return changed(pairs, vectors=vectors, residual_block=block, value_block=other)


def _grow(problem: SpectralProblem, plan: Plan) -> Pairs:
    """Run the solver; a rule that is not decided yet asks for twice as many components."""
    pairs, rule = _run(problem, plan), problem.rule
    if rule is None or pairs.error is not None or plan.solver == "directions":  # those have let the rule decide
        return pairs
    rank = problem.rank
    while True:
        complete = pairs.k >= rank
        total = _total(pairs, _told(problem))
        seen = problem.seen(pairs.leading()[: min(pairs.k, max(rank, 1))], total, complete=complete)
        decided = rule.decide(seen)
        if decided is not None:
            return _truncate(pairs, min(decided, pairs.k), problem.tol)
        if complete:
            return pairs
        k = min(2 * pairs.k, rank)
        if k > DIRECT_SHARE * rank and plan.solver != "sketch":
            plan, k = replace(plan, solver="moments"), rank
        problem = replace(problem, k=max(k, 1))
        pairs = _run(problem, plan)
        if pairs.error is not None:
            return pairs


def _run(problem: SpectralProblem, plan: Plan) -> Pairs:
    A = problem.operator
    narrow = problem.kind == "svd" and (plan.solver, plan.precision) == ("moments", "float32") and A.narrowed()
    if problem.kind == "eigh" or plan.side == "columns":
        return _direct_or_iterative(problem, plan, A, amplified=False)
    B = (A.at(np.float32) if narrow and (problem.rule is not None or not A.faint(problem.k)) else A).T
    from ritz.spectral.turn import turn  # which tall tables do without

    return turn(A, _direct_or_iterative(replace(problem, operator=B, across=True), plan, B, amplified=True))


def _direct_or_iterative(problem: SpectralProblem, plan: Plan, A: Operator, *, amplified: bool) -> Pairs:
    if plan.solver == "svd":
        return dense_svd(problem, A, SVD_BUDGET) if problem.kind == "svd" else dense_eigh(problem, A, SVD_BUDGET)
    if plan.solver == "moments":
        return moments(problem, A)
    if plan.solver == "refined":
        from ritz.spectral.solvers.refined import refined  # which tall tables of float64 take

        return refined(problem, A)
    if plan.solver == "directions":
        from ritz.spectral.solvers.directions import directions  # which only streams of very many columns need

        return directions(problem, A)
    M = Gram(A) if problem.kind == "svd" else A
    problem = replace(problem, k=min(problem.k, M.shape[0]))
    if plan.solver == "sketch":
        from ritz.spectral.solvers.sketch import sketch  # which rows that are read once need

        return sketch(problem, M)
    # Rows can always be multiplied out; what forming the matrix of another operator takes, nobody has priced.
    watch = None if plan.course is None or problem.kind != "svd" else Watch(plan.course, problem.tol)
    room = 0.0 if plan.course is None else plan.course.copied
    try:
        pairs = _iterated(replace(problem, watch=watch, room=room), plan, M, amplified)
        return pairs if watch is None else _settled(problem, watch, A, pairs)
    except Left as left:
        road = (left.road, left.words)
        formed = plan.course.formed if plan.course is not None else "float64"
        if not amplified and _short_side(problem) != plan.side:  # vectors of the longer side are no start there
            there = replace(plan, solver="moments", side=_short_side(problem), precision=formed, course=None)
            return replace(_run(problem, there), road=road)
        formed_at = A.at(np.float32) if formed == "float32" and A.narrowed() and amplified else A
        return replace(moments(problem, formed_at, left.vectors), road=road)


def _settled(problem: SpectralProblem, watch: Watch, A: Operator, pairs: Pairs) -> Pairs:
    """With the proof that nothing was missed by a factor, where the iteration has none and that pays."""
    k = pairs.k
    if not pairs.converged or k == 0 or pairs.completeness.ceiling < float(pairs.values[k - 1]):
        return pairs
    if A.shape[1] <= A.shape[0] and watch.factor_pays(A.passes(), k):
        from ritz.spectral.solvers.factored import by_factor, by_gram  # where eigenvalues crowd

        found = by_factor(A, pairs) if A.at_hand() else by_gram(problem, A, pairs)
        return pairs if found is None else replace(pairs, completeness=found)
    return pairs


def _short_side(problem: SpectralProblem) -> str:
    """The side whose Gram matrix is the smaller one; a symmetric operator has but one."""
    if problem.kind == "eigh":
        return "columns"
    n, d = problem.operator.shape
    return "rows" if n < d else "columns"


def _iterated(problem: SpectralProblem, plan: Plan, M: Operator, amplified: bool) -> Pairs:
    if plan.solver == "krylov":
        from ritz.spectral.solvers.krylov import krylov  # small tables do without

        return krylov(problem, M, amplified=amplified, narrow=plan.precision.startswith("float32"))
    M.trace()  # many passes follow: the first one finds NaN and infinity
    if plan.solver == "lanczos":
        from ritz.spectral.solvers.lanczos import lanczos  # and without this

        return lanczos(problem, M, amplified=amplified)
    from ritz.spectral.solvers.chebyshev import chebyshev  # which plans seldom choose
    from ritz.spectral.solvers.power import power

    return (chebyshev if plan.solver == "chebyshev" else power)(problem, M, amplified=amplified)


def _total(pairs: Pairs, trace: float | None) -> float:
    """The exact trace; where the operator does not tell it, the sum of what was found."""
    return float(np.sum(np.maximum(pairs.values, 0.0))) if trace is None else float(trace)


def _told(problem: SpectralProblem) -> float | None:
    A = problem.operator
    if problem.kind == "svd":
        return A.frobenius2()
    total = A.trace()
    return None if total is None else total - A.below


def _noted(problem: SpectralProblem, pairs: Pairs, told: bool) -> Pairs:
    """With a line where the total is not that of the operator, which does not tell it."""
    if told or len(pairs.values) >= min(problem.operator.shape):
        return pairs
    words = f"{problem.operator.symbol()} does not tell its trace: the total is the sum of the eigenvalues found"
    return replace(pairs, notes=(*pairs.notes, words))


def _truncate(pairs: Pairs, k: int, tol: float) -> Pairs:
    """The same answer with fewer vectors, judged by their residuals; what was dropped bounds what is missing."""
    if k >= pairs.k:
        return pairs
    left = float(np.max(to_numpy(norms(pairs.residual_block))[:k], initial=0.0))
    rest = pairs.residual_block if pairs.value_block is None else pairs.value_block
    tail = float(np.linalg.norm(to_numpy(norms(rest))[k:]))
    dropped = max(float(pairs.values[k]), pairs.completeness.ceiling) + tail + pairs.rounding
    old = pairs.completeness
    ceiling = Completeness(old.kind, dropped, old.failure, old.words)
    upper = None if pairs.upper is None else pairs.upper[:k]
    return replace(
        pairs,
        vectors=pairs.vectors[:, :k],
        residual_block=pairs.residual_block[:, :k],
        completeness=ceiling,
        upper=upper,
        value_block=None if pairs.value_block is None else pairs.value_block[:, :k],
        converged=pairs.converged or (k > 0 and left <= tol * float(pairs.values[0])),
    )


def _warn(pairs: Pairs, plan: Plan, problem: SpectralProblem) -> None:
    top, word = measured_by(pairs.leading())
    worst = float(np.max(to_numpy(norms(pairs.residual_block)), initial=0.0)) / top
    other = (
        "solver='krylov' or solver='moments'" if plan.solver in ("power", "sketch", "lanczos") else "solver='moments'"
    )
    what, less = f"reached a residual of {worst:.1e}·{word} instead of", " fewer components,"
    if plan.solver == "sketch":  # which measures none, and is as wide as components are many
        what, less = f"proves that residuals are at most {worst:.1e}·{word}, not", ""
    warn(
        f"{plan.solver} {what} tol={problem.tol:g}; the certificate "
        f"bounds what that means. Try {problem.operator.advice or other},{less} or a looser tol.",
        AccuracyWarning,
    )
