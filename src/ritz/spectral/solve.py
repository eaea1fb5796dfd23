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
from ritz._core.factors import inverse_triangle
from ritz._core.frozen import changed
from ritz._core.linalg import combine, inner, norms, place_of, qr, signs, symmetric, to_numpy
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
#: Entries of a block from which copies of it are worth saving.
LARGE_FACTOR = 1 << 20
#: Multiplications above which turned vectors that are nearly orthogonal are made so by Cholesky (168,415×100: 0.2 s
#: instead of 2.0; 40,000×10: 1 ms instead of 8; 5,000×5 0.08 instead of 0.54; 1,000×3 0.05 instead of 0.02), and
#: ‖WᵀW − I‖ up to which they are.
LONG_TURN, NEARLY = 3e4, 0.1
#: σ₁/σ_k up to which vectors turned with their own eigenvectors are orthonormal to rounding: |WᵀW − M| ≈ u·σ₁².
STEEP = 16.0
#: Lengths below which squares leave the range of float64.
TINY = 1e-140
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
    done, sigma = plan.done(passes, seconds), np.sqrt(np.maximum(theta, 0.0)) * unit
    if unit == 1:
        return Solution(theta.copy(), V, spectrum.copy(), total, certificate, done, unit, theta, total, spectrum, sigma)
    with np.errstate(over="ignore", under="ignore"):
        return Solution(
            theta * unit * unit, V, spectrum * unit * unit, float(np.float64(total) * unit * unit), certificate, done,
            unit, theta, total, spectrum, sigma,
        )  # fmt: skip


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
    return _turn(A, _direct_or_iterative(replace(problem, operator=B, across=True), plan, B, amplified=True))


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


def _turn(A: Operator, pairs: Pairs) -> Pairs:
    """From eigenvectors u of AAᵀ to right vectors v = Aᵀu/σ, orthonormalised; one more product.

    ‖AᵀAv − θv‖ = ‖Aᵀ(AAᵀu − θu)‖/σ ≤ (σ₁/σ)‖r_u‖: the residuals grow by at most that.
    """
    null = 0.0 if A.shape[1] > pairs.k else -np.inf
    if pairs.across:  # a decomposition has found both sides, and measured this one
        return changed(pairs, null=null, value_block=pairs.residual_block)
    if pairs.k == 0:
        return replace(pairs, vectors=np.zeros((A.shape[1], 0)), residual_block=np.zeros((A.shape[1], 0)))
    theta = np.maximum(pairs.leading(), 0.0)
    W, Y = (A.across(pairs.vectors), None) if pairs.half is None else pairs.half
    Q, R, dead = _orthonormal(to_numpy(W).astype(np.float64, copy=False), Y, np.sqrt(theta), pairs)
    flip = np.where(R.diagonal() < 0, -1.0, 1.0)
    radii = norms(block := to_numpy(pairs.residual_block))
    lengths = np.where(radii > 0, radii, 1.0)  # a residual of nothing has no direction
    if float(theta[0]) > 0:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            grown = np.minimum(_grown(A, block, theta, pairs), float(theta[0]))
        radii = _turned_radii(grown, theta, R * flip[:, None])
        if dead is not None:
            radii = np.where(dead, min(_left_out(A, pairs, theta, radii, dead), float(theta[0])), radii)
    vectors = Q * flip if -1.0 in flip.tolist() else Q
    np.multiply(vectors, signs(vectors), out=vectors)  # which nobody else holds: later there is nothing to turn round
    turned = block / lengths * radii  # in this order: no quotient of a large number and a small one
    return changed(pairs, vectors=vectors, null=null, value_block=block, residual_block=turned, half=None)


def _orthonormal(W: Any, Y: Any, sigma: Any, pairs: Pairs) -> tuple[Any, Any, Any]:
    """Q and R of W Y D⁻¹ = QR, D the lengths of the columns, and which columns are pure rounding, or None.

    Those (σ ≈ 0) give no direction: any orthonormal completion will do.
    """
    if Y is not None and 0 < sigma[0] <= STEEP * sigma[-1] and sigma[-1] > TINY and _long(W):
        # W Y has come with M = WᵀW in its basis, YᵀMY = D²: where the lengths D are alike, that is as good
        return _scaled(W, Y / sigma), np.eye(len(sigma)), None
    W = W if Y is None else combine(W, Y)  # from WᵀW short columns would have but the digits of long ones
    lengths = norms(W)
    dead = (lengths <= _dead(W, sigma, pairs)) | (sigma == 0) if float(sigma[0]) > 0 else np.ones(len(sigma), bool)
    if not np.count_nonzero(dead):
        return *_made_orthonormal(W, lengths), None
    live = np.flatnonzero(~dead)
    Q, R = np.empty_like(W, order="F"), np.eye(len(sigma))
    if len(live):
        Q[:, live], R[np.ix_(live, live)] = _made_orthonormal(W[:, live], lengths[live])
    Q[:, dead] = _completed(Q[:, live], int(np.count_nonzero(dead)))
    return Q, R, dead


def _made_orthonormal(W: Any, lengths: Any) -> tuple[Any, Any]:
    """Q and R of W D⁻¹; by Cholesky of WᵀW where columns are nearly orthogonal.

    |QᵀQ − I| is then of the order of u·cond(W D⁻¹)² ≤ u·(1 + NEARLY)/(1 − NEARLY), as good as Householder's, in a tenth
    of its time.
    """
    if _long(W) and float(np.min(lengths)) > TINY:
        G = symmetric(inner(W, W))
        if bool(np.isfinite(G).all()):
            G = G / lengths / lengths[:, None]
            if float(np.linalg.norm(G - np.eye(len(G)))) <= NEARLY:
                R = np.linalg.cholesky(G).T
                C = inverse_triangle(R)
                if C is not None:
                    return _scaled(W, C / lengths[:, None]), R
    return _factored(W / lengths) if W.shape[1] > 1 else (W / lengths, np.ones((1, 1)))


def _long(W: Any) -> bool:
    return bool(float(W.shape[0]) * W.shape[1] ** 2 > LONG_TURN)


def _completed(Q: Any, many: int) -> Any:
    """As many orthonormal columns, orthogonal to those of Q."""
    fresh = np.random.default_rng(0).standard_normal((Q.shape[0], many))
    for _ in range(2):
        fresh -= Q @ (Q.T @ fresh)
    return qr(fresh)[0]


def _left_out(A: Operator, pairs: Pairs, theta: Any, radii: Any, dead: Any) -> float:
    """‖Mv − θv‖ from above, M = AᵀA, for unit vectors v that are orthogonal to those with a value, V: by MV = VΘ + R

    ‖VᵀMv‖ ≤ ‖R‖_F,   and M has a trace of at most Σ(λᵢ − θᵢ + ‖rᵢ‖) over V and of the other eigenvalues outside of V,
    θ among them: ‖PMP − θ‖ is no larger, P the projector off V. Residuals are those of products that were rounded.
    """
    if pairs.error is None or len(pairs.values) < min(A.shape):
        return np.inf
    live, beyond = radii[~dead] + pairs.rounding, np.asarray(pairs.values, np.float64)[len(theta) :]
    others = float(np.sum(theta[dead])) + float(np.sum(np.maximum(beyond, 0.0)))
    outside = float(np.sum(live)) + len(pairs.values) * pairs.error + others
    return float(np.hypot(np.linalg.norm(live), outside))


def _scaled(W: Any, C: Any) -> Any:
    """``W C``, a component contiguous, as models hold them."""
    return np.matmul(W, C, out=np.empty((C.shape[1], W.shape[0])).T)


def _factored(W: Any) -> tuple[Any, Any]:
    """Thin QR; of a large W without the four copies that NumPy makes on the way."""
    if W.size < LARGE_FACTOR:
        return qr(W)
    import scipy.linalg

    factors = scipy.linalg.qr(np.asfortranarray(W), mode="economic", overwrite_a=True, check_finite=False)
    return factors[0], factors[1]


def _grown(A: Operator, block: Any, theta: Any, pairs: Pairs) -> Any:
    """‖Aᵀr_u‖/σ from above: √λ₁‖r_u‖/σ with what bounds λ₁, and by one more product where nothing does.

    A Ritz value and its residual bound no λ₁: where the largest eigenvalue was missed, there is another one near them.
    """
    top, ceiling = float(theta[0]), pairs.completeness.ceiling
    most = ceiling if ceiling < np.inf else A.frobenius2()
    sigma = np.sqrt(np.maximum(theta, pairs.roundoff**2 * top))
    if most is None:
        return norms(to_numpy(A.rmatmat(pairs.residual_block)).astype(np.float64)) / sigma
    residuals = norms(block)
    return residuals * np.sqrt(max(top + float(np.max(residuals)), most)) / sigma


def _turned_radii(grown: Any, theta: Any, R: Any) -> Any:
    """Residual bounds of V = W R⁻¹, W = AᵀUΣ⁻¹:  (MW − WΘ)R⁻¹ + W(ΘR⁻¹ − R⁻¹Θ)."""
    top = float(theta[0])
    K = inverse_triangle(R)
    if K is None:
        return np.full(len(theta), top)
    mixed = np.linalg.norm((theta[:, None] - theta[None, :]) * K, axis=0)
    return np.minimum((grown @ np.abs(K)) + mixed * (1 + 1e-6), top)


def _dead(W: Any, sigma: Any, pairs: Pairs) -> float:
    """Length of AᵀU up to which a column is pure rounding."""
    return float(4 * pairs.roundoff * np.sqrt(W.shape[0]) * sigma[0])


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
