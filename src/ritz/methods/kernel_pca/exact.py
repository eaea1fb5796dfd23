"""The n×n problem J K J U = U Λ: densely, or by products in tiles.

    positive kernel      the k largest λ; those that are rounding are 0
    indefinite kernel    clip: the k largest λ > 0        flip, krein: the k largest |λ|
                         a rule or a fraction reads the magnitudes, and shares are shares of Σ|λ|

For an indefinite kernel nothing but the whole spectrum tells Σ|λ|, so a rule takes the dense route with every solver;
with a number of components the share of the negative part is estimated (sign.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.frozen import changed
from ritz._core.random import seed_of
from ritz.kernels.base import Kernel
from ritz.methods.kernel_pca.definite import proved_positive
from ritz.methods.kernel_pca.memory import Room, share_out
from ritz.methods.kernel_pca.rank import wanted_of
from ritz.methods.kernel_pca.sign import Negative, by_magnitude, estimate_negative, judge, known_negative, refuse_power
from ritz.methods.kernel_pca.solved import Solved, noise_floor, picked, without_noise
from ritz.methods.kernel_pca.trust import blurred, in_range, judged, lasting, representable, shift_of
from ritz.operators.combine import Shifted
from ritz.operators.kernel import CenteredKernel, KernelMatrix
from ritz.project.kernel import FeatureMapped, FeatureSpaceMap, KernelMap
from ritz.spectral import constants as c
from ritz.spectral.costs import solve_formed
from ritz.spectral.plan import Plan, Shape, choose
from ritz.spectral.problem import Seen, SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

__all__ = ["FIRST_GUESS", "exact_plan", "solve_exact"]

#: Why a matrix of which nothing is said is taken for one without negative eigenvalues.
PROVED = "its Cholesky factor proves that no eigenvalue is negative beyond rounding"

#: First guess for a rule that grows k until it is decided.
FIRST_GUESS = 16

#: Bound on eigenvalues for iterations in float32, whose largest number is 3e38.
NARROW = 1e17

#: Share of λ₁ up to which rounding of float32 tiles still leaves a start for iterations in float64.
MILD = 1e-3


def solve_exact(estimator: Any, kernel: Kernel, rows: Any, limit: float) -> Solved:
    """Eigenpairs of J K J and the map that they define."""
    wanted = wanted_of(estimator, kernel, rows)
    guess = wanted if isinstance(wanted, int) else FIRST_GUESS
    room = share_out(kernel, rows, guess, limit, dense=estimator.solver in ("svd", "moments"))
    given = kernel.prepare(rows)
    shift = shift_of(kernel, rows)  # J K J does not feel a shift of the rows of a linear kernel, its digits do
    A = in_range(kernel, given if shift is None else kernel.prepare(rows - shift, dtype=given.dtype))
    M = KernelMatrix(kernel, A, cache_bytes=room.cache).centered()
    if M.dtype.itemsize < 8 and not (estimator.tol >= c.FLOAT32_TOL and M.inner.narrows()):
        M = M.at(np.float64)
    n, seed = A.n, seed_of(estimator.random_state)
    M = _settled(estimator, M, wanted, room)
    plan = exact_plan(estimator, n, wanted, limit, kernel, room, positive=M.positive)
    if plan.precision.startswith("float32") and not _narrow(M):
        plan = replace(plan, precision="float64")
    if M.positive:
        M, spectrum = _solve_wide(estimator, M, plan, wanted, seed, room.basis)
        below = Negative(0.0)
        spectrum = without_noise(spectrum, noise_floor(M, spectrum.values))
        spectrum = changed(spectrum, values=np.maximum(spectrum.values, 0.0))
        if M.below and not spectrum.values.all():  # of a kernel that is not known to be positive only λ > 0 are kept
            spectrum = picked(spectrum, np.flatnonzero(spectrum.values))
    else:
        M, spectrum, below = _solve_signed(estimator, M, plan, wanted, seed, room.basis)
    if spectrum.values.size or not below.share:  # where all are negative and left out, rounding hides none
        spectrum = judged(spectrum, estimator.tol, kernel, rows)
    stats, values = M.statistics(), spectrum.values
    there, root = values != 0, np.sqrt(np.abs(values))
    # |Λ|^½ Λ⁻¹ Uᵀ(k_x − K1/n): on the training rows |Λ|^½ u, whatever the sign of λ
    dual = spectrum.vectors * np.where(there, root / np.where(there, values, 1.0), 0.0)
    coordinates: FeatureSpaceMap
    if shift is None:
        kept = A if A.dtype == M.dtype else M.inner.prepared
        coordinates = KernelMap.exact(kernel, lasting(kernel, kept), dual, stats.row_means, stats.mean, values)
    else:
        near = rows - shift
        features: Any = kernel.feature_map(rows)
        coordinates = FeatureMapped(kernel, features, shift, near.T @ dual, values, low=near.mean(axis=0))
    total = below.total if below.total is not None else stats.centered_trace
    return Solved(
        kernel, spectrum, spectrum.vectors, coordinates, total, n, given.dtype, rows, below.share, below.total_error
    )  # fmt: skip


def _settled(estimator: Any, M: CenteredKernel, wanted: Any, room: Room) -> CenteredKernel:
    """The operator, with the proof that a matrix handed over has no negative eigenvalue, where that spares work."""
    n, least, most = M.shape[0], c.KERNEL_PROVED, c.KERNEL_PROVED_MOST
    few = isinstance(wanted, int) and wanted + 1 < c.SUBSET_SHARE * n and least <= n <= most
    given = M.inner.kernel.takes == "precomputed" and M.dtype == np.float64 and room.dense
    if M.positive or not (few and given) or estimator.solver != "auto" or estimator.negative not in ("clip", "error"):
        return M
    return proved_positive(M) or M


def exact_plan(
    estimator: Any, n: int, wanted: Any, limit: float, kernel: Kernel, room: Room, *, positive: bool | None = None
) -> Plan:
    """Dense where that is quick or everything is wanted, block Krylov otherwise; ``positive``: as a proof says."""
    proved = positive is True and not kernel.positive
    positive = kernel.positive or proved
    rule = not isinstance(wanted, int)
    k = min(FIRST_GUESS, n) if rule else wanted
    everything = rule and (wanted.needs_all or not positive)
    solver, fits = estimator.solver, room.dense
    if solver == "auto":
        most = c.KERNEL_DENSE if rule or not positive else c.KERNEL_FORMED
        dense = n <= most or everything or k > c.DIRECT_SHARE * n
        solver = "svd" if dense and fits else "krylov"
    if rule and not positive:
        if not fits:
            raise ParameterError(
                "a fraction or rule for n_components of an indefinite kernel needs all eigenvalues",
                received=f"{n:,} rows, for which a dense decomposition exceeds the memory limit",
                hint="give a number of components, or more memory",
            )
        solver = "svd"
    shape = Shape(n, n, 8, None, symmetric=True)
    plan = choose(shape, max(k, 1), solver=solver, tol=estimator.tol, memory=limit, needs_all=everything)
    plan = replace(plan, seconds=plan.seconds + c.FIT)
    told = (PROVED,) if proved else ()
    if solver == "krylov":
        narrow = "float32 then float64" if estimator.tol >= c.FLOAT32_TOL and kernel.takes == "vectors" else "float64"
        reason = f"J K J is multiplied in tiles, so that the {n:,}×{n:,} kernel matrix need not be held"
        return replace(plan, precision=narrow, side="rows", passes=plan.passes + proved, reasons=(reason, *told))
    reason = f"all {n:,} eigenvalues of J K J are computed by a dense decomposition"
    if estimator.solver == "auto" and not rule and positive and k + 1 < c.SUBSET_SHARE * n:
        reason = (
            f"the {n:,}×{n:,} matrix J K J is formed, which gives its leading pairs and a proof that none is missing"
        )
        plan = replace(plan, seconds=c.FIT + c.LOOKED * shape.entries + solve_formed(n, k))
    # the kernel matrix is formed by one pass over the rows, whichever way it is decomposed
    reasons = (reason, *told) if solver == "svd" else plan.reasons
    return replace(plan, side="rows", passes=1 + proved, reasons=reasons)


def _narrow(M: CenteredKernel) -> bool:
    """Whether products may be iterated in float32: tiles are, and squares of eigenvalues stay in its range."""
    largest = M.shape[0] * float(np.max(np.abs(M.inner.diagonal()), initial=0.0))
    fits = M.at(np.float32).dtype == np.float32 and largest <= NARROW
    return fits and representable(M.inner.kernel, M.inner.prepared, np.float32)


def _solve_wide(
    estimator: Any, M: CenteredKernel, plan: Plan, wanted: Any, seed: int, basis: float
) -> tuple[CenteredKernel, Solution]:
    """The operator with tiles fine enough for the tolerance, and its spectrum."""
    if M.dtype.itemsize < 8 and plan.solver not in ("svd", "moments"):  # those form K in float64
        spectrum = _solve_one(estimator, M, plan, wanted, seed, basis, quiet=True)
        if spectrum.certificate.converged and not blurred(spectrum, estimator.tol):
            return M, spectrum
        M = M.at(np.float64)
        mild = spectrum.certificate.rounding <= MILD * float(np.max(spectrum.values, initial=0.0))
        plan = plan if mild else replace(plan, precision="float64")
    if not plan.precision.startswith("float32"):
        return M, _solve_one(estimator, M, plan, wanted, seed, basis)
    spectrum = _solve_one(estimator, M, plan, wanted, seed, basis, quiet=True)
    if blurred(spectrum, estimator.tol) or not spectrum.certificate.converged:
        # the image of the float32 phase was good enough for the residuals, and not for what rounding may hide
        M, plan = M.unchecked(), replace(plan, precision="float64")
        spectrum = _solve_one(estimator, M, plan, wanted, seed, basis)
    return M, spectrum


def _solve_one(
    estimator: Any, M: Any, plan: Plan, wanted: Any, seed: int, basis: float, *, quiet: bool = False
) -> Solution:
    n = M.shape[0]
    k, rule = (wanted, None) if isinstance(wanted, int) else (min(FIRST_GUESS, n), wanted)
    k = n if rule is not None and rule.needs_all else k
    thin = M.positive and plan.solver == "krylov" and M.at(np.float32).keeps()
    problem = SpectralProblem(
        M, max(int(k), 1), rule, kind="eigh", tol=estimator.tol, seed=seed, n=float(n), d=n, rows=n, centered=True,
        thin=thin, basis=min(basis, c.KRYLOV_BASIS_BYTES), partial=estimator.solver == "auto",
    )  # fmt: skip
    spectrum = solve(problem, plan, frame={"matrix": M.symbol()}, quiet=quiet)
    estimator._remember(problem, spectrum, 1.0)
    return spectrum


# indefinite kernels


def _solve_signed(
    estimator: Any, M: CenteredKernel, plan: Plan, wanted: Any, seed: int, basis: float
) -> tuple[CenteredKernel, Solution, Negative]:
    """The spectrum under the policy for negative eigenvalues, and what is known of these."""
    n, policy = M.shape[0], estimator.negative
    full = plan.solver in ("svd", "moments") or (isinstance(wanted, int) and wanted >= n)
    if plan.solver == "power":
        refuse_power(M, M.statistics().centered_trace, partial(_floor, M, np.zeros(0)), seed)
    # a dense decomposition knows all eigenvalues, and the vectors of the largest are enough for these policies
    few = plan.solver == "svd" and isinstance(wanted, int) and wanted < n and policy in ("clip", "error")
    M, spectrum = _solve_wide(estimator, M, plan, n if full and not few else wanted, seed, basis)
    if full:
        floor = noise_floor(M, spectrum.known)
        spectrum = without_noise(spectrum, floor)
        below = known_negative(np.where(np.abs(spectrum.known) <= floor, 0.0, spectrum.known))
        judge(policy, below)
        return M, _noted(_of_all(spectrum, policy, wanted, below), below), below
    under = partial(_floor, M, spectrum.known)
    below = estimate_negative(M, M.statistics().centered_trace, spectrum.vectors, spectrum.values, under, seed)
    judge(policy, below)
    if policy in ("flip", "krein") and below.proved:
        spectrum = _both_ends(estimator, M, plan, wanted, seed, basis, spectrum)
    spectrum = without_noise(spectrum, under(below.lowest))
    keep = spectrum.values > 0 if policy in ("clip", "error") else spectrum.values != 0
    spectrum = spectrum if keep.all() else picked(spectrum, np.flatnonzero(keep))
    return M, _noted(spectrum, below), below


def _floor(M: CenteredKernel, values: Any, lowest: float) -> float:
    """Where rounding begins: the largest |λ| may be a negative one, which a solver for the other end never sees."""
    return noise_floor(M, np.append(values, lowest))


def _noted(spectrum: Solution, below: Negative) -> Solution:
    """With a line on the negative eigenvalues in the certificate."""
    if not below.proved:
        return spectrum
    how = ", estimated by stochastic Lanczos quadrature" if below.error else ""
    notes = (*spectrum.certificate.notes, f"negative eigenvalues make up {below.words} of Σ|λ|{how}")
    return replace(spectrum, certificate=replace(spectrum.certificate, notes=notes))


def _of_all(spectrum: Solution, policy: str, wanted: Any, below: Negative) -> Solution:
    """The components wanted out of all n."""
    values, n = spectrum.values, len(spectrum.values)
    if policy in ("clip", "error"):
        order = np.flatnonzero(values > 0)
    else:
        order = by_magnitude(values, int(np.count_nonzero(values)))
    if isinstance(wanted, int):
        count = wanted
    else:
        size = np.abs(values[order])
        seen = Seen(size, below.total or 0.0, float(n), n, len(size), centered=True, complete=True)
        decided = wanted.decide(seen) if len(size) else 0
        count = len(order) if decided is None else decided
    return picked(spectrum, order[:count])


def _both_ends(estimator: Any, M: Any, plan: Plan, wanted: Any, seed: int, basis: float, top: Solution) -> Solution:
    """Leading eigenvalues by magnitude: the positive ones of M and of −M, merged."""
    bottom = _solve_one(estimator, Shifted(M, factor=-1.0), plan, wanted, seed, basis)
    above, under = np.flatnonzero(top.values > 0), np.flatnonzero(bottom.values > 0)
    values = np.concatenate([top.values[above], -bottom.values[under]])
    vectors = np.concatenate([top.vectors[:, above], bottom.vectors[:, under]], axis=1)
    order = by_magnitude(values, len(top.values))
    a, b = top.certificate, bottom.certificate
    ends: dict[str, Any] = {"lower": np.concatenate([a.lower[above], -b.upper[under]])}
    ends["upper"] = np.concatenate([a.upper[above], -b.lower[under]])
    for name in ("residuals", "angles", "labelled"):
        ends[name] = np.concatenate([getattr(a, name)[above], getattr(b, name)[under]])
    V = vectors[:, order]  # those of one end are orthogonal to those of the other as far as residuals are small
    defect = float(np.max(np.abs(V.T @ V - np.eye(V.shape[1])), initial=0.0))
    certificate = replace(
        a, values=values[order], **{name: column[order] for name, column in ends.items()}, clusters=(),
        orthogonality=max(a.orthogonality, b.orthogonality, 2 * defect), rounding=max(a.rounding, b.rounding),
        converged=a.converged and b.converged, passes=max(a.passes, b.passes),
        frame={**a.frame, "vectors": vectors[:, order]},
    )  # fmt: skip
    return replace(top, values=values[order], vectors=vectors[:, order], certificate=certificate)
