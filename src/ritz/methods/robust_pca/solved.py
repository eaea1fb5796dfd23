"""From a robust method to components: the spectral problem that each ends in, solved and certified.

spherical   A = D_w^½ U           U the directions (n×d)                     variances MAD²(Xv)
robpca      A = R                 R the good rows in the subspace (m×p)      variances c·λ/(m − 1)
pcp         A = D_w^½ (L − 1μᵀ)   L the low-rank part (n×d)                  variances λ/(Σw − 1)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, MemoryLimitError
from ritz._core.linalg import signs, split_sum
from ritz._core.memory import LITTLE
from ritz._core.progress import track, using
from ritz._core.random import seed_of
from ritz._core.warn import warn
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.integers import as_float
from ritz.data.validate import room_for
from ritz.methods.kernel_pca.solved import picked
from ritz.methods.robust_pca.location import mad, median
from ritz.methods.robust_pca.pursuit import pursue
from ritz.methods.robust_pca.robpca import good_rows, robust_plane, trusted_rows
from ritz.methods.robust_pca.spherical import SphereBlocks, filled, sphere_center, without_direction
from ritz.operators import Centered, Weighted
from ritz.operators.base import Operator
from ritz.project.linear import LinearMap
from ritz.spectral.problem import Positive, SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

__all__ = ["BEFORE", "METHODS", "Robust", "chosen_method", "noted", "problem_rows", "taken_method"]

Floats = NDArray[np.float64]

#: Dense copies of the rows that robpca and pursuit hold, about.
COPIES = 4
#: Largest smaller side of a table of which all robust variances are computed for a rule.
ALL = 5_000
#: Distance of the medians from zero, in units of the spread, beyond which pursuit takes them off first.
OFFSET = 10.0


@dataclass(frozen=True)
class Robust:
    """What a robust method found."""

    components: Floats  # (k, d)
    variances: Floats  # (k,)
    center: Floats  # (d,) in the units of the data
    spectrum: Solution
    low: Floats | None = None  # (d,) what rounding took from the centre
    kept: dict[str, Any] = field(default_factory=dict)  # further fields of the record
    named: dict[str, Any] = field(default_factory=dict)  # further results by name


#: What a plan of robust components leaves out.
BEFORE = "of what is decomposed in the end: what is far is found before, in as many looks at the rows as it takes"


def _decompose(model: Any, rows: Any, weights: Any, k: int | None, matrix: str, *, centered: bool) -> Solution:
    """The leading pairs of rows; None: all that are not rounding."""
    shape = model._shape(rows)
    most = min(shape.n - 1 if centered else shape.n, shape.d)
    wanted: Any = Positive(max(most, 1)) if k is None else max(1, min(k, most))
    plan = model._plan_for(shape, wanted)
    plan = replace(plan, reasons=(*plan.reasons, BEFORE))
    leaf, stats = model._leaf(rows, weights, plan)
    A: Operator = Centered(leaf, stats) if centered else leaf
    if weights is not None:
        A = Weighted(A, weights)
    again = model._rereads(shape)
    problem = SpectralProblem(
        A, n=stats.weight, d=shape.d, rows=stats.rows, centered=centered, repeatable=again,
        **model._request(wanted, shape),
    )  # fmt: skip
    passes = plan.passes if are_blocks(rows) else 0
    with using(model.progress, type(model).__name__, expected=passes * getattr(rows, "nbytes", 0)):
        spectrum = solve(problem, plan, frame={"mean": None, "scale": None, "matrix": matrix})
    spectrum.certificate.frame["mean"] = stats.column.mean if centered else None
    return spectrum


def noted(spectrum: Solution, *words: str) -> Solution:
    """The same with notes in its certificate."""
    certificate = spectrum.certificate
    return replace(spectrum, certificate=replace(certificate, notes=(*certificate.notes, *words)))


# directions


def _spherical(model: Any, X: Any, weights: Floats | None, scale: Floats | None) -> Robust:
    place, near, words = sphere_center(X, scale, weights, int(model.max_iter))
    center, low = place.high, place.low
    if place.pull > model.tol:
        warn(
            f"the spatial median stopped after {place.steps} steps, where rows still pull it by {place.pull:.1e} of "
            f"their weight. Try max_iter={2 * model.max_iter}.",
            AccuracyWarning,
        )
    U = _directions(model, X, SphereBlocks(filled(X), center, scale, _float_of(model, X), low, near))
    wanted = model._count(X.shape[0], X.shape[1])
    small = min(X.shape)
    if callable(wanted) and small > ALL:
        raise InputError(
            f"a rule for n_components needs the robust variance along every axis, at most {ALL:,}",
            received=f"{X.shape[0]:,} × {X.shape[1]:,}", hint="give a number of components",
        )  # fmt: skip
    spectrum = _decompose(model, U, weights, None if callable(wanted) else wanted, "Σ w u uᵀ", centered=False)
    scores = LinearMap(spectrum.vectors.T, center, scale, None, low=low).forward(filled(X), np.float64)
    variances = np.square(mad(scores, weights))
    order = np.argsort(-variances, kind="stable")
    if callable(wanted):
        order = order[: wanted(variances)]
    # the certificate stays that of the directions, in the order of their eigenvalues
    changed = "" if np.array_equal(order, np.arange(len(variances))) else "components are ordered by robust variance"
    spectrum = noted(spectrum, *filter(None, (words, changed)))
    return Robust(spectrum.vectors[:, order].T, variances[order], center, spectrum, low, named={"n_iter_": place.steps})


def _float_of(model: Any, X: Any) -> Any:
    return np.float32 if model._float(X) == np.float32 else np.float64


def _directions(model: Any, X: Any, sphere: SphereBlocks) -> Any:
    """Directions in memory where there is room for them, otherwise formed as rows are read."""
    room = room_for(model)
    dense = not are_blocks(X) and X.shape[0] * X.shape[1] * sphere.dtype.itemsize <= room / 2
    return sphere.whole() if dense else sphere


# good rows


def _robpca(model: Any, X: Any, weights: Floats | None, scale: Floats | None) -> Robust:
    rows = _dense(model, X)
    before = median(rows, weights)  # taken off before rows are divided: a large mean costs no digits
    units = np.ones(rows.shape[1]) if scale is None else scale
    Z, copies = _copied((rows - before) / units, weights)
    begin = time.perf_counter()
    wanted = model._count(len(Z), Z.shape[1])
    k = wanted if wanted is not None else min(Z.shape)
    plane = robust_plane(
        Z, k, coverage=float(model.coverage), directions=int(model.directions), seed=seed_of(model.random_state),
        correction=model.correction,
    )  # fmt: skip
    few = None if callable(wanted) or wanted is None else min(int(wanted), plane.inside.shape[1])
    spectrum = _decompose(model, plane.inside, None, few, "RᵀR, R the good rows", centered=False)
    variances = np.maximum(spectrum.values, 0.0) / max(len(plane.inside) - 1, 1) * plane.factor
    if callable(wanted) and (count := wanted(variances)) < len(variances):
        spectrum, variances = picked(spectrum, np.arange(count)), variances[:count]
    V = plane.basis @ spectrum.vectors
    flip = signs(V)
    spectrum.certificate.frame["vectors"] = spectrum.certificate.frame["vectors"] * flip
    support = np.zeros(X.shape[0], bool)
    support[copies[plane.support]] = True
    center, low = split_sum(before, plane.center * units)
    good = float(np.count_nonzero(plane.support))
    kept = {"subspace": plane.basis, "center": plane.center, "before": before, "good": good}
    named = {"support_": support, "n_iter_": plane.rounds}
    seconds = time.perf_counter() - begin
    words = (plane.words, f"{int(support.sum())} of {len(support)} rows count; {seconds:.3g} s in all")
    heap = _heaped(Z, trusted_rows(float(model.coverage), len(Z)))
    return Robust((V * flip).T, variances, center, noted(spectrum, *words, *heap), low, kept, named)


def _heaped(Z: Floats, trusted: int) -> tuple[str, ...]:
    """What is told, and warned of, where one row comes more often than there may be outliers."""
    key = (Z * np.random.default_rng(0).standard_normal(Z.shape[1])).sum(axis=1)
    most = int(np.unique(key, return_counts=True)[1].max(initial=0))
    if most <= max(len(Z) - trusted, 1) or most == len(Z):  # rows that do not vary are told of already
        return ()
    words = (
        f"{most} of {len(Z)} rows are equal, more than the {len(Z) - trusted} that may be outliers: they count as good "
        "rows, and variances are those of the rows nearest to them"
    )
    warn(
        f"{words}. Leave the copies out if they stand for missing values or defaults, or use method='spherical'.",
        AccuracyWarning,
    )
    return (words,)


def _dense(model: Any, X: Any) -> Floats:
    """Rows in memory."""
    if are_blocks(X):
        raise InputError(
            f"rows in memory: method={taken_method(model)!r} looks at all of them many times",
            received=f"{X.shape[0]:,} × {X.shape[1]:,} that stay outside",
            hint="method='spherical' reads any size, or take a sample of rows",
        )
    size, room = 8.0 * X.shape[0] * X.shape[1], room_for(model)
    if COPIES * size > room:
        raise MemoryLimitError(
            f"method={taken_method(model)!r} holds about four dense copies of the rows, {COPIES * size / 1e9:.3g} GB",
            received=f"a limit of {room / 1e9:.3g} GB", hint="method='spherical' needs far less",
        )  # fmt: skip
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    return np.asarray(as_float(dense) if dense.dtype.kind in "iu" else dense, np.float64)


def _copied(Z: Floats, weights: Floats | None) -> tuple[Floats, NDArray[np.intp]]:
    """Rows as often as they count, and which row each copy is of."""
    if weights is None:
        return Z, np.arange(len(Z))
    if not bool(np.all(weights == np.round(weights))):
        raise InputError(
            "method='robpca' takes weights that are whole numbers: how often each row occurs",
            received="fractions", hint="method='spherical' takes any weights",
        )  # fmt: skip
    index = np.repeat(np.arange(len(Z)), weights.astype(int))
    return Z[index], index


# good entries


def _pcp(model: Any, X: Any, weights: Floats | None, scale: Floats | None) -> Robust:
    rows, units = _dense(model, X), 1.0 if scale is None else scale
    before = _offset(rows / units, weights)
    base = before * units  # in the units of the data: what is taken off is known to the last digit
    Z = (rows - base) / units
    with using(model.progress, type(model).__name__), track("pursuit", total=model.max_iter) as step:
        pursuit = pursue(
            Z, weights, model.penalty, tol=max(model.tol, 1e-12) / 100, steps=int(model.max_iter),
            tick=lambda _number, _residual: step(1),
        )  # fmt: skip
    if not pursuit.converged:
        warn(
            f"principal component pursuit stopped after {pursuit.iterations} iterations at a residual of "
            f"{pursuit.residual:.1e}; the parts are within {pursuit.gap:.1e} of the best. Try "
            f"max_iter={2 * model.max_iter}, or a looser tol.",
            AccuracyWarning,
        )
    wanted = model._count(*Z.shape)
    k = min(wanted, *Z.shape) if isinstance(wanted, int) else None
    named: dict[str, Any] = {
        "low_rank_": pursuit.low * units + base, "sparse_": pursuit.sparse * units, "gap_": pursuit.gap,
        "n_iter_": pursuit.iterations,
    }  # fmt: skip
    # of the part as it is kept: far from zero its last digits are those of the offset
    low_rank = _about(named["low_rank_"], scale, before)
    spectrum = _decompose(model, low_rank, weights, k, "AᵀA of the low-rank part", centered=True)
    mass = float(len(Z)) if weights is None else float(np.sum(weights))
    variances = np.maximum(spectrum.values, 0.0) / max(mass - 1, 1.0)
    if callable(wanted) and (count := wanted(variances)) < len(variances):
        spectrum, variances = picked(spectrum, np.arange(count)), variances[:count]
    center, low = split_sum(base, spectrum.certificate.frame["mean"] * units)
    share = float(np.count_nonzero(pursuit.sparse)) / max(pursuit.sparse.size, 1)
    words = f"rank {pursuit.rank} with {100 * share:.2f} % of the entries set apart, in {pursuit.iterations} iterations"
    spectrum = noted(spectrum, words, f"the two parts are within {pursuit.gap:.1e} of the best")
    return Robust(spectrum.vectors.T, variances, center, spectrum, low, {"before": before}, named)


def _about(low: Floats, scale: Floats | None, before: Floats) -> Floats:
    """The low-rank part in units of the scale, without what was taken off first (in those units)."""
    units = 1.0 if scale is None else scale
    return np.asarray((low - before * units) / units, np.float64)


def _offset(Z: Floats, weights: Floats | None) -> Floats:
    """What is taken off first: columns that do not vary, and medians that would drown the rest.

    Smaller medians are low-rank like the rest and better left in: medians of columns with gross errors add a dimension.
    """
    middle, still = median(Z, weights), np.ptp(Z, axis=0) == 0
    small = float(np.sum(middle[~still] ** 2)) <= OFFSET**2 * float(np.sum(mad(Z, weights) ** 2))
    return np.where(still, middle, 0.0) if small else middle


METHODS: dict[str, Callable[[Any, Any, Floats | None, Floats | None], Robust]] = {
    "spherical": _spherical, "robpca": _robpca, "pcp": _pcp,
}  # fmt: skip


def taken_method(model: Any) -> str:
    """The method that a fit has taken; files of earlier releases name only the one that was asked for."""
    return str(getattr(model, "method_", model.method))


def chosen_method(model: Any, X: Any, weights: Floats | None) -> tuple[str, str | None]:
    """What ``method="auto"`` means for these rows, and why where it is not the most accurate."""
    if model.method != "auto":
        return str(model.method), None
    size = 8.0 * X.shape[0] * X.shape[1]
    if are_blocks(X):
        why = "rows stay outside memory"
    elif size > LITTLE and COPIES * size > room_for(model):
        why = f"{COPIES} copies of the rows do not fit in memory"
    elif weights is not None and not bool(np.all(weights == np.round(weights))):
        why = "weights are no whole numbers"
    else:
        return "robpca", None
    return "spherical", f"spherical directions instead of robpca: {why}"


def problem_rows(model: Any, X: Any, weights: Floats | None) -> tuple[Any, Floats | None]:
    """The rows that the certificate of a fitted model speaks of, formed anew, and their weights."""
    record = model._record
    scale = record.scale64
    if taken_method(model) == "spherical":
        near = without_direction(X, record.mean64, record.mean_low, scale, weights)
        sphere = SphereBlocks(filled(X), record.mean64, scale, record.dtype, record.mean_low, near)
        return sphere.whole(), weights
    if taken_method(model) == "pcp":
        return _about(model.low_rank_, scale, record.before), weights
    before = 0.0 if record.before is None else record.before  # files of earlier releases took nothing off
    rows = _dense(model, X) - before
    rows, copies = _copied(rows if scale is None else rows / scale, weights)
    return good_rows(rows, model.support_[copies], record.center, record.subspace), None
