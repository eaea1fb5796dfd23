"""From a kernel and its rows to the spectrum of J K J: by explicit features, densely, by Krylov, or by Nyström.

features   Φ (n×p) with few columns      M = (JΦ)(JΦ)ᵀ: the problem of PCA on Φ            exact
dense      n ≤ KERNEL_DENSE              eigh of J K J                                     exact
krylov     any n                         products with J K J in tiles                      to tol
nystrom    m landmarks                   features k(x, Z) L⁻ᵀ, then as above               λ̂ ≤ λ ≤ λ̂ + tr K − tr K̂
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.random import seed_of
from ritz.data.blocks import blocks_of
from ritz.data.mapped import MappedBlocks
from ritz.data.statistics import Statistics
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.nystrom import NystromMap, choose_landmarks, nystrom_map
from ritz.methods.kernel_sign import by_magnitude, estimate_share, judge
from ritz.operators import Centered, Dense, Sparse
from ritz.operators.combine import Negated
from ritz.operators.kernel import CenteredKernel, KernelMatrix
from ritz.project.kernel import FeatureMapped, FeatureSpaceMap, KernelMap
from ritz.rank.rule import resolve
from ritz.spectral import constants as c
from ritz.spectral.canonical import signs
from ritz.spectral.plan import Plan, Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.spectral.spectrum import Spectrum

__all__ = ["Solved", "solve_kernel"]

#: First guess for a rule that grows k until it is decided.
FIRST_GUESS = 16


@dataclass(frozen=True)
class Solved:
    """A kernel problem solved; ``vectors`` (n, k) are None where only landmarks are kept."""

    kernel: Kernel
    spectrum: Spectrum
    vectors: NDArray[np.float64] | None
    coordinates: FeatureSpaceMap
    total: float  # what shares of the variance are shares of
    n: int
    dtype: Any
    kept_rows: Any
    negative_share: float = 0.0

    def kept(self, keep: NDArray[np.bool_]) -> Solved:
        """Some components only."""
        if keep.all():
            return self
        index = np.flatnonzero(keep)
        vectors = None if self.vectors is None else self.vectors[:, index]
        spectrum = _picked(self.spectrum, index)
        held: Any = self.coordinates
        part = {"dual": held.dual[:, index]} if isinstance(held, KernelMap) else {"axes": held.axes[:, index]}
        return replace(
            self, spectrum=spectrum, vectors=vectors, coordinates=replace(held, values=held.values[index], **part)
        )


def solve_kernel(estimator: Any, kernel: Kernel, rows: Any, limit: float) -> Solved:
    """Choose the route and take it."""
    solver = estimator.solver
    if solver == "nystrom":
        return _nystrom(estimator, kernel, rows, limit)
    features = kernel.feature_map(rows) if kernel.takes != "precomputed" else None
    if features is not None and solver in ("auto", "moments"):
        return _features(estimator, kernel, features, rows, limit)
    return _exact(estimator, kernel, rows, limit)


# the n×n problem


def _exact(estimator: Any, kernel: Kernel, rows: Any, limit: float) -> Solved:
    A = kernel.prepare(rows)
    M = KernelMatrix(kernel, A, cache_bytes=0.5 * limit).centered()
    n, seed = A.n, seed_of(estimator.random_state)
    wanted = resolve(estimator.n_components, n=n, d=n, centered=True)
    plan = _plan(estimator, n, wanted, limit, kernel)
    spectrum, share = _solve_signed(estimator, M, plan, wanted, seed, kernel.positive)
    stats = M.statistics()
    positive = spectrum.values > 0 if estimator.negative == "clip" else spectrum.values != 0
    root = np.sqrt(np.abs(spectrum.values))
    # |Λ|^½ Λ⁻¹ Uᵀ(k_x − K1/n): on the training rows |Λ|^½ u, whatever the sign of λ
    dual = spectrum.vectors * np.where(positive, root / np.where(positive, spectrum.values, 1.0), 0.0)
    held = KernelMap.exact(kernel, A, dual, stats.row_means, stats.mean, spectrum.values)
    total = stats.centered_trace
    if share > 0:
        total = total / max(1 - 2 * share, 1e-300)  # Σ|λ| from tr M = Σ|λ|·(1 − 2·share)
    return Solved(kernel, spectrum, spectrum.vectors, held, total, n, A.dtype, rows, share)


def _plan(estimator: Any, n: int, wanted: Any, limit: float, kernel: Kernel) -> Plan:
    """Dense where that is quick or everything is wanted, block Krylov otherwise."""
    k = wanted if isinstance(wanted, int) else min(FIRST_GUESS, n)
    everything = not isinstance(wanted, int) and wanted.needs_all
    solver = estimator.solver
    if solver == "auto":
        dense = n <= c.KERNEL_DENSE or everything or k > c.DIRECT_SHARE * n
        solver = "svd" if dense and 24.0 * n * n <= limit else "krylov"
    shape = Shape(n, n, 8, None, symmetric=True)
    plan = choose(shape, max(k, 1), solver=solver, tol=estimator.tol, memory=limit, needs_all=everything)
    if solver == "krylov":
        narrow = "float32 then float64" if estimator.tol >= c.FLOAT32_TOL and kernel.takes == "vectors" else "float64"
        reason = f"products with J K J in tiles: the {n:,}×{n:,} kernel matrix need not be held"
        return replace(plan, precision=narrow, side="rows", reasons=(reason,))
    reason = f"all {n:,} eigenvalues of J K J by a dense decomposition"
    return replace(plan, side="rows", reasons=(reason,) if solver == "svd" else plan.reasons)


def _solve_signed(
    estimator: Any, M: CenteredKernel, plan: Plan, wanted: Any, seed: int, positive: bool
) -> tuple[Spectrum, float]:
    """The spectrum under the policy for negative eigenvalues, with their share of Σ|λ|."""
    spectrum = _solve_one(estimator, M, plan, wanted, seed)
    if positive:
        return spectrum, 0.0
    if len(spectrum.known) >= M.shape[0]:
        below = float(np.sum(np.abs(spectrum.known[spectrum.known < 0])))
        share, error = below / max(float(np.sum(np.abs(spectrum.known))), 1e-300), 0.0
    else:
        share, error = estimate_share(M, M.statistics().centered_trace, seed)
    judge(estimator.negative, share, error)
    if estimator.negative in ("flip", "krein"):
        return _both_ends(estimator, M, plan, wanted, seed, spectrum), share
    return _clipped(spectrum), share


def _solve_one(estimator: Any, M: Any, plan: Plan, wanted: Any, seed: int) -> Spectrum:
    k, rule = (wanted, None) if isinstance(wanted, int) else (min(FIRST_GUESS, M.shape[0]), wanted)
    k = M.shape[0] if rule is not None and rule.needs_all else k
    n = M.shape[0]
    problem = SpectralProblem(
        M, max(int(k), 1), rule, kind="eigh", tol=estimator.tol, seed=seed, n=float(n), d=n, rows=n, centered=True
    )
    return solve(problem, plan)


def _clipped(spectrum: Spectrum) -> Spectrum:
    """Components with a positive eigenvalue."""
    keep = spectrum.values > 0
    return spectrum if keep.all() else _picked(spectrum, np.flatnonzero(keep))


def _both_ends(estimator: Any, M: Any, plan: Plan, wanted: Any, seed: int, top: Spectrum) -> Spectrum:
    """Leading eigenvalues by magnitude: those of M and of −M, merged."""
    bottom = _solve_one(estimator, Negated(M), plan, wanted, seed)
    values = np.concatenate([top.values, -bottom.values])
    vectors = np.concatenate([top.vectors, bottom.vectors], axis=1)
    order = by_magnitude(values, len(top.values))
    a, b = top.certificate, bottom.certificate
    ends: dict[str, Any] = {
        "values": np.concatenate([a.values, -b.values]), "lower": np.concatenate([a.lower, -b.upper]),
        "upper": np.concatenate([a.upper, -b.lower]), "residuals": np.concatenate([a.residuals, b.residuals]),
        "angles": np.concatenate([a.angles, b.angles]), "labelled": np.concatenate([a.labelled, b.labelled]),
    }  # fmt: skip
    certificate = replace(a, **{name: held[order] for name, held in ends.items()}, clusters=())
    known = np.concatenate([top.known, -bottom.known]) if len(top.known) < M.shape[0] else top.known
    return replace(top, values=values[order], vectors=vectors[:, order], known=known, certificate=certificate)


def _picked(spectrum: Spectrum, index: Any) -> Spectrum:
    """Some pairs of a spectrum, with their lines of the certificate."""
    a = spectrum.certificate
    lines: dict[str, Any] = {
        name: getattr(a, name)[index] for name in ("values", "lower", "upper", "residuals", "angles", "labelled")
    }
    clusters = tuple(cluster for cluster in a.clusters if cluster[1] < len(index))
    return replace(
        spectrum, values=spectrum.values[index], vectors=spectrum.vectors[:, index],
        certificate=replace(a, **lines, clusters=clusters),
    )  # fmt: skip


# features


def _features(estimator: Any, kernel: Kernel, features: Any, rows: Any, limit: float) -> Solved:
    phi = features.transform(rows)
    spectrum, stats, _ = _linear(estimator, phi, blocks_of(phi), limit)
    mean, dtype = stats.column.mean, phi.dtype
    values, V = np.maximum(spectrum.values, 0.0), spectrum.vectors
    held = FeatureMapped(kernel, features, mean, V, values)
    Z = np.asarray(held.forward(rows), np.float64)
    spectrum, U, V = _signed(spectrum, Z, values)
    held = replace(held, axes=V)
    return Solved(kernel, spectrum, U, held, spectrum.total, len(Z), dtype, rows)


def _linear(estimator: Any, phi: Any, blocks: Any, limit: float) -> tuple[Spectrum, Statistics, Plan]:
    """PCA of features: J Φ as an operator."""
    n, p = blocks.shape
    wanted = resolve(estimator.n_components, n=n, d=min(n, p), centered=True)
    needs_all = not isinstance(wanted, int) and wanted.needs_all
    k = min(wanted, p) if isinstance(wanted, int) else (min(n, p) if needs_all else min(FIRST_GUESS, n, p))
    sparse = blocks.sparse or (phi is not None and not isinstance(phi, np.ndarray))
    shape = Shape(n, p, np.dtype(blocks.dtype).itemsize, blocks.stored if sparse else None)
    solver = estimator.solver if estimator.solver not in ("auto", "nystrom") else "auto"
    plan = choose(shape, max(k, 1), solver=solver, tol=estimator.tol, memory=limit, needs_all=needs_all)
    if isinstance(blocks, MappedBlocks) and plan.solver != "moments":
        plan = choose(shape, max(k, 1), solver="moments", tol=estimator.tol, memory=limit, needs_all=needs_all)
    narrow = plan.solver == "moments" and plan.precision == "float32"
    stats = Statistics(blocks, None, np.float32 if narrow else np.float64)
    A = Centered((Sparse if sparse else Dense)(phi, stats), stats)
    rule = None if isinstance(wanted, int) else wanted
    problem = SpectralProblem(
        A, max(k, 1), rule, tol=estimator.tol, seed=seed_of(estimator.random_state), n=float(n), d=p, rows=n,
        centered=True, repeatable=not isinstance(blocks, MappedBlocks),
    )  # fmt: skip
    return solve(problem, plan), stats, plan


def _signed(spectrum: Spectrum, Z: Any, values: Any) -> tuple[Spectrum, Any, Any]:
    """Unit eigenvectors U = Z Λ^-½ with the sign rule taken on them, and the axes to match."""
    root = np.sqrt(values)
    U = Z / np.where(root > 0, root, 1.0)
    flip = signs(U)
    V = spectrum.vectors * flip
    return replace(spectrum, vectors=V), U * flip, V


# landmarks


def _nystrom(estimator: Any, kernel: Kernel, rows: Any, limit: float) -> Solved:
    if not kernel.positive or kernel.takes == "precomputed":
        raise ParameterError(
            "solver='nystrom' needs a positive kernel on rows",
            received=repr(kernel),
            hint="solver='krylov' takes indefinite and precomputed kernels",
        )
    A = kernel.prepare(rows)
    made, kept = _landmarks(estimator, kernel, rows, A)
    blocks = MappedBlocks(lambda start, stop: made.rows(A, start, stop), (A.n, made.size), A.dtype)
    spectrum, stats, _ = _linear(estimator, None, blocks, limit)
    values, mean = np.maximum(spectrum.values, 0.0), stats.column.mean
    flip = _sign_of_scores(blocks, mean, spectrum.vectors)
    spectrum = replace(spectrum, vectors=spectrum.vectors * flip)
    held = KernelMap.nystrom(kernel, made.landmarks, made.inverse, spectrum.vectors, mean, values)
    captured = spectrum.total + A.n * float(mean @ mean)  # tr K̂ = tr HK̂H + n‖f̄‖²
    whole = float(np.sum(kernel.diag(A)))
    left = max(whole - captured, 0.0) + 8 * made.size * np.finfo(A.dtype).eps * whole
    certificate = spectrum.certificate
    note = f"Nyström, {made.size:,} landmarks: tr K − tr K̂ ≤ {left:.3g}, which every upper bound includes"
    certificate = replace(
        certificate, upper=certificate.upper + left, labelled=np.ones(len(values), bool),
        ceiling=certificate.ceiling + left, notes=(*certificate.notes, note), clusters=(),
        angles=np.full(len(values), np.nan),
    )  # fmt: skip
    spectrum = replace(spectrum, certificate=certificate)
    return Solved(kernel, spectrum, None, held, spectrum.total, A.n, A.dtype, kept)


def _landmarks(estimator: Any, kernel: Kernel, rows: Any, A: Prepared) -> tuple[NystromMap, Any]:
    """Features from the user's landmarks, from k-means centres, or from chosen rows."""
    from ritz.kernels.base import take_rows

    asked = estimator.landmarks
    if not isinstance(asked, (int, np.integer)) or isinstance(asked, bool):
        return nystrom_map(kernel, kernel.prepare(asked, like=A, dtype=A.dtype)), asked
    if asked < 1:
        raise ParameterError("landmarks must be a number ≥ 1, or rows", received=repr(asked), hint="landmarks=1000")
    seed = seed_of(estimator.random_state)
    if estimator.sampling == "kmeans":
        centres = _centres(rows, min(int(asked), A.n), seed)
        return nystrom_map(kernel, kernel.prepare(centres, like=A, dtype=A.dtype)), centres
    index = choose_landmarks(kernel, A, int(asked), estimator.sampling, seed)
    return nystrom_map(kernel, A.take(index)), take_rows(rows, index)


def _centres(rows: Any, m: int, seed: int) -> Any:
    if not hasattr(rows, "shape"):
        raise ParameterError("sampling='kmeans' needs vectors", received="other rows", hint="sampling='rpcholesky'")
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(m, random_state=seed, n_init=1, batch_size=4096, max_iter=20).fit(rows).cluster_centers_


def _sign_of_scores(blocks: Any, mean: Any, V: Any) -> Any:
    """The sign rule on the scores of all training rows, block by block: (k,) of ±1."""
    best, first = np.zeros(V.shape[1]), np.ones(V.shape[1])
    seen: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for block in blocks.each():
        Z = (np.asarray(block.values, np.float64) - mean) @ V
        size = np.max(np.abs(Z), axis=0)
        at = np.argmax(np.abs(Z) >= (1 - 1e-6) * size, axis=0)
        seen.append((size, np.sign(Z[at, np.arange(Z.shape[1])])))
        best = np.maximum(best, size)
    for size, sign in reversed(seen):
        first = np.where(size >= (1 - 1e-6) * best, np.where(sign == 0, 1.0, sign), first)
    return first
