"""From a kernel and its rows to the spectrum of J K J: by explicit features, densely, by Krylov, or by Nyström.

features   Φ (n×p) with few columns      M = (JΦ)(JΦ)ᵀ: the problem of PCA on Φ            exact
formed     n ≤ KERNEL_FORMED             leading pairs of J K J, or all of them            exact
krylov     any n                         products with J K J in tiles                      to tol
nystrom    m landmarks                   features k(x, Z) L⁻ᵀ, then as above               λ̂ ≤ λ ≤ λ̂ + tr K − tr K̂
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.linalg import signs, working_dtype
from ritz._core.random import seed_of
from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.mapped import MappedBlocks
from ritz.data.passes.statistics import Statistics
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.nystrom import NystromMap, choose_landmarks, nystrom_map, tile_rounding
from ritz.kernels.rows import is_sparse
from ritz.kernels.vectors import Linear
from ritz.methods.kernel_pca.exact import FIRST_GUESS, solve_exact
from ritz.methods.kernel_pca.input import len_of
from ritz.methods.kernel_pca.memory import for_features, for_landmarks
from ritz.methods.kernel_pca.rank import wanted_of
from ritz.methods.kernel_pca.solved import NOISE, Solved, widened, without_noise
from ritz.methods.kernel_pca.total import total_variance
from ritz.methods.kernel_pca.trust import in_range, judged, lasting, require_kernel
from ritz.operators import Centered, Dense, Sparse
from ritz.project.kernel import FeatureMapped, KernelMap
from ritz.spectral import constants as c
from ritz.spectral.plan import Plan, Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

__all__ = ["features_pay", "solve_kernel"]

#: Nyström features are made in float64 where float32 tiles would be off by more than this, in units of k(x, x).
COARSE = 1e-5
#: Share of the first eigenvalue that the rounding of float32 tiles may reach before float64 ones are computed.
BLURRED = 1e-3

#: Squares of a mean, in units of the squares about it, beyond which explicit features are taken whatever they cost.
FAR = 100.0
#: Roundings that an explicit feature takes, besides one a factor of a monomial.
FEATURE = 3.0


def solve_kernel(estimator: Any, kernel: Kernel, rows: Any, limit: float) -> Solved:
    """Choose the route and take it."""
    solver = estimator.solver
    if solver == "nystrom":
        return _nystrom(estimator, kernel, rows, limit)
    left = for_features(kernel, rows, limit) if kernel.takes == "strings" else limit
    features = kernel.feature_map(rows) if kernel.takes != "precomputed" else None
    if features is not None and solver == "auto" and not features_pay(kernel, features, rows, estimator.n_components):
        features = None
    if features is not None and solver in ("auto", "moments", "sketch"):
        return _features(estimator, kernel, features, rows, left)
    if solver == "sketch":
        raise ParameterError(
            "solver='sketch' reads explicit features once, which this kernel does not have",
            received=repr(kernel),
            hint="solver='nystrom' is a sketch of a kernel matrix, with bounds",
        )
    return solve_exact(estimator, kernel, rows, limit)


def features_pay(kernel: Kernel, features: Any, rows: Any, wanted: Any) -> bool:
    """Whether explicit features are worth making: few beside the rows, and no fewer than the components wanted.

    Components without variance are eigenvectors that no feature tells of. Features of strings are sparse, and those of
    the linear kernel are the rows. A mean far beyond the spread comes off features, whose digits it costs once, and off
    entries of K only when it has cost theirs several times.
    """
    if _more_than(features.size, wanted):
        return False
    if kernel.takes != "vectors" or isinstance(kernel, Linear):
        return True
    n, size = len_of(rows), features.size
    few = c.FEATURE_ROWS * size <= n or (size < n and n * size**2 <= c.FEATURE_WORK)
    return few or _far(rows)


def _far(rows: Any) -> bool:
    """Whether the mean of rows is far beyond their spread."""
    mean = np.asarray(rows.mean(axis=0), np.float64).reshape(-1)
    square = float(
        np.sum(
            rows.multiply(rows).mean(axis=0) if is_sparse(rows) else np.mean(np.square(rows, dtype=np.float64), axis=0)
        )
    )
    about = float(mean @ mean)
    return not about <= FAR * max(square - about, 0.0)


def _more_than(size: int, wanted: Any) -> bool:
    return isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and int(wanted) > size


# features


def _features(estimator: Any, kernel: Kernel, features: Any, rows: Any, limit: float) -> Solved:
    if kernel.takes == "vectors" and not isinstance(kernel, Linear):
        in_range(kernel, kernel.prepare(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        phi = features.transform(rows)
    require_kernel(phi.data if is_sparse(phi) else phi, "features")
    wanted = wanted_of(estimator, kernel, rows)
    if not phi.shape[1] and not isinstance(wanted, int):
        raise InputError(
            "a rule for the number of components needs rows that have features of the kernel",
            received=f"{phi.shape[0]} rows of which none has a feature of {kernel!r}",
            hint="a kernel that sees shorter rows, such as Spectrum(1), or a number of components",
        )
    spectrum, stats, plan = _linear(estimator, phi, blocks_of(phi), limit, wanted)
    column, dtype = stats.column, phi.dtype
    mean = column.mean
    delta = _feature_rounding(kernel, spectrum, mean, phi)
    spectrum = widened(spectrum, delta) if delta else spectrum
    spectrum = without_noise(spectrum, max(_feature_floor(spectrum, plan, phi.shape[1]), delta**2))
    # J K J has n eigenvalues: where all those of JΦ were returned, the rest are 0
    beyond = replace(spectrum.certificate, ceiling=max(spectrum.certificate.ceiling, 0.0))
    spectrum = replace(spectrum, certificate=beyond)
    values, V = np.maximum(spectrum.values, 0.0), spectrum.vectors
    coordinates = FeatureMapped(kernel, features, mean, V, values, low=(column.shift - mean) + column.offset)
    Z = np.asarray(coordinates.forward(rows), np.float64)
    spectrum, U, V = _signed(spectrum, Z, values)
    coordinates = replace(coordinates, axes=V)
    return Solved(kernel, spectrum, U, coordinates, spectrum.total, len(Z), dtype, rows)


def _feature_rounding(kernel: Kernel, spectrum: Solution, mean: Any, phi: Any) -> float:
    """δ ≥ ‖E‖_F of computed features, c·u·|φ| each; those of the linear kernel are the rows."""
    if isinstance(kernel, Linear):
        return 0.0
    steps = FEATURE + float(getattr(kernel, "degree", 0))
    return steps * unit_roundoff(phi.dtype) * float(np.sqrt(spectrum.total + phi.shape[0] * float(mean @ mean)))


def _feature_floor(spectrum: Solution, plan: Plan, p: int) -> float:
    """Where eigenvalues end and rounding begins: σ ≤ 100uσ₁ for direct solvers, λ ≤ 4u√p λ₁ for products with ΦᵀΦ."""
    top, u = float(np.max(spectrum.values, initial=0.0)), spectrum.certificate.unit_roundoff
    return top * ((100 * u) ** 2 if plan.solver in ("svd", "moments") else NOISE * u * float(np.sqrt(p)))


def _linear(estimator: Any, phi: Any, blocks: Any, limit: float, wanted: Any) -> tuple[Solution, Statistics, Plan]:
    """PCA of features: J Φ as an operator."""
    n, p = blocks.shape
    needs_all = not isinstance(wanted, int) and wanted.needs_all
    k = min(wanted, p) if isinstance(wanted, int) else (min(n, p) if needs_all else min(FIRST_GUESS, n, p))
    sparse = blocks.sparse or (phi is not None and not isinstance(phi, np.ndarray))
    shape = Shape(n, p, working_dtype(blocks.dtype).itemsize, blocks.stored if sparse else None)
    solver = estimator.solver if estimator.solver not in ("auto", "nystrom") else "auto"
    plan = choose(shape, max(k, 1), solver=solver, tol=estimator.tol, memory=limit, needs_all=needs_all)
    if isinstance(blocks, MappedBlocks) and plan.solver != "moments":
        plan = choose(shape, max(k, 1), solver="moments", tol=estimator.tol, memory=limit, needs_all=needs_all)
    plan = replace(plan, seconds=plan.seconds + c.FIT)
    narrow = plan.solver == "moments" and plan.precision == "float32"
    stats = Statistics(blocks, None, np.float32 if narrow else np.float64)
    A = Centered((Sparse if sparse else Dense)(phi, stats), stats)
    rule = None if isinstance(wanted, int) else wanted
    problem = SpectralProblem(
        A, max(k, 1), rule, tol=estimator.tol, seed=seed_of(estimator.random_state), n=float(n), d=p, rows=n,
        centered=True, repeatable=not isinstance(blocks, MappedBlocks),
    )  # fmt: skip
    matrix = "J K J" if phi is not None else "J K̂ J"
    spectrum = solve(problem, plan, frame={"matrix": matrix})
    estimator._remember(problem, spectrum, 1.0)
    return spectrum, stats, plan


def _signed(spectrum: Solution, Z: Any, values: Any) -> tuple[Solution, Any, Any]:
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
    asked = estimator.landmarks
    many = int(asked) if isinstance(asked, (int, np.integer)) else len_of(asked) if hasattr(asked, "__len__") else 1
    for_landmarks(kernel, rows, max(many, 1), 8, limit)
    given = kernel.prepare(rows)
    A = lasting(kernel, in_range(kernel, given))
    if tile_rounding(kernel, A) > COARSE:
        A = A.at(np.float64)
    solved, blur = _nystrom_at(estimator, kernel, rows, A, limit)
    top = float(np.max(solved.spectrum.values, initial=0.0))
    if A.dtype != np.float64 and blur > BLURRED * top:
        # centring takes most of k away: what is left of float32 tiles is rounding
        solved, blur = _nystrom_at(estimator, kernel, rows, A.at(np.float64), limit)
    spectrum, a = solved.spectrum, solved.spectrum.certificate
    if float(np.max(a.upper - a.values, initial=0.0)) <= BLURRED * float(np.sum(kernel.diag(A))):
        # the landmarks tell all of k, so what is missing was rounded away; elsewhere the bracket says what is missing
        noisy = replace(spectrum, certificate=replace(a, rounding=max(a.rounding, blur)))
        spectrum = judged(noisy, max(estimator.tol, BLURRED), kernel, rows)
    return replace(solved, spectrum=spectrum, dtype=given.dtype)


def _nystrom_at(estimator: Any, kernel: Kernel, rows: Any, A: Prepared, limit: float) -> tuple[Solved, float]:
    """The route in the precision of the prepared rows, and what rounding of the tiles may put into an eigenvalue."""
    made, kept = _landmarks(estimator, kernel, rows, A)
    blocks = MappedBlocks(lambda start, stop: made.rows(A, start, stop), (A.n, made.size), A.dtype)
    spectrum, stats, _ = _linear(estimator, None, blocks, limit, wanted_of(estimator, kernel, rows))
    trace, mean = float(np.sum(kernel.diag(A))), stats.column.mean
    # what rounding of the tiles puts into squares of features; the ridge of the landmarks keeps it that small
    blur = NOISE * tile_rounding(kernel, A) * trace
    values = np.where(spectrum.values > blur, spectrum.values, 0.0)
    flip = _sign_of_scores(blocks, mean, spectrum.vectors)
    spectrum = replace(spectrum, values=values, vectors=spectrum.vectors * flip)
    coordinates = KernelMap.nystrom(kernel, made.landmarks, made.inverse, spectrum.vectors * (values > 0), mean, values)
    captured = spectrum.total + A.n * float(mean @ mean)  # tr K̂ = tr HK̂H + n‖f̄‖²
    left = max(trace - captured, 0.0) + 8 * made.size * np.finfo(A.dtype).eps * trace
    certificate = spectrum.certificate
    note = f"Nyström, {made.size:,} landmarks: tr K − tr K̂ ≤ {left:.3g}, which every upper bound includes"
    seed = seed_of(estimator.random_state)
    total = total_variance(kernel, A, made, mean, left=left, seed=seed)
    certificate = replace(
        certificate, lower=np.maximum(certificate.lower - blur, 0.0), upper=certificate.upper + left,
        labelled=np.ones(len(values), bool),
        ceiling=max(certificate.ceiling, 0.0) + left, notes=(*certificate.notes, total.words, note), clusters=(),
        angles=np.full(len(values), np.nan), total=total.value,
    )  # fmt: skip
    spectrum = replace(spectrum, certificate=certificate)
    solved = Solved(kernel, spectrum, None, coordinates, total.value, A.n, A.dtype, kept, total_error=total.error)
    return solved, blur


def _landmarks(estimator: Any, kernel: Kernel, rows: Any, A: Prepared) -> tuple[NystromMap, Any]:
    """Features from the user's landmarks, from k-means centres, or from chosen rows."""
    from ritz.kernels.base import take_rows

    asked = estimator.landmarks
    given = not isinstance(asked, (int, np.integer, float, str)) and asked is not None
    if not given and (not isinstance(asked, (int, np.integer)) or isinstance(asked, bool) or asked < 1):
        raise ParameterError("landmarks must be a number ≥ 1, or rows", received=repr(asked), hint="landmarks=1000")
    many = len_of(asked) if given else int(asked)
    if _more_than(many, estimator.n_components):
        raise ParameterError(
            "n_components can be at most the number of landmarks",
            received=f"n_components={estimator.n_components}, {many:,} landmarks",
            hint=f"landmarks={10 * int(estimator.n_components)}",
        )
    if given:
        return nystrom_map(kernel, kernel.prepare(asked, like=A, dtype=A.dtype)), asked
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
