"""Tables with missing values: how gaps are filled before a PCA of the completed rows.

    mean         x̂_m = mean of what its column has
    em           x̂_m = μ + s·V_m c(x_o), least squares on what is observed: iterative PCA, "EM PCA"   [Kiers 1997]
    regularized  the same with axes shrunk by (λ − ω)/λ, as missMDA does                    [Josse & Husson 2012, 2016]

``complete`` finds the filler, a function of the observed entries of a row and of parameters that do not grow with n,
and hands back row blocks that are completed while they are read. The ordinary route fits those: spectrum, certificate
and scores are about the completed rows. Where nothing is missing, the ordinary answer is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, ParameterError
from ritz._core.warn import warn
from ritz.data.passes.blocks import RowBlocks
from ritz.data.passes.completed import CompletedBlocks
from ritz.data.passes.observed import Observed, observe
from ritz.data.passes.statistics import ColumnStatistics
from ritz.methods.missing.em import ROUNDING, Filled, Filling, iterate, power_of_two, shrinkage
from ritz.methods.missing.rank import RankChoice, choose, most_axes
from ritz.project.incomplete import Filler
from ritz.project.linear import result_dtype
from ritz.spectral.solution import Solution

__all__ = ["METHODS", "RULES", "Completed", "check_missing", "complete", "filler_of"]

Vector = NDArray[np.float64]

#: What ``missing`` may be, and the names of ``n_components`` that are decided here.
METHODS = ("error", "mean", "em", "regularized")
RULES = ("gcv", "kfold")

#: ``tol=0`` asks for what float64 allows.
LEAST_TOL = ROUNDING

WORDS = {"mean": "column means", "em": "EM", "regularized": "regularised iterative PCA"}


def check_missing(missing: Any) -> None:
    """Refuse what is not a way to treat missing values."""
    if missing not in METHODS:
        raise ParameterError(
            f"missing must be one of {', '.join(repr(name) for name in METHODS)}",
            received=repr(missing),
            hint="missing='regularized' fills gaps by a regularised PCA; missing='error' refuses them",
        )


@dataclass(frozen=True)
class Completed:
    """A table ready for the ordinary route."""

    blocks: RowBlocks  # rows without gaps
    n_components: Any  # what the ordinary route is to find
    observed: Observed
    filler: Filler | None  # None where nothing was missing: the results make it (``filler_of``)
    rank: int | None = None  # axes of the filler
    passes: int = 1
    change: float = 0.0
    converged: bool = True
    choice: RankChoice | None = None  # how the number of axes was chosen, where it was
    notes: tuple[str, ...] = ()  # for the certificate
    distance: float = 0.0  # from the fixed point, estimated


def complete(
    blocks: RowBlocks, weights: Vector | None, method: str, n_components: Any, *, center: bool, scale: bool,
    tol: float, seed: int = 0, names: Any = None,
) -> Completed:  # fmt: skip
    """Find what fills the gaps of a table, by passes over its rows.

    Parameters
    ----------
    blocks
        The rows; NaN is missing.
    weights
        Frequencies of the rows, or None.
    method
        ``"mean"``, ``"em"`` or ``"regularized"``.
    n_components
        An int is also the number of axes that fill gaps; ``"gcv"`` and ``"kfold"`` choose both; for anything else the
        axes are chosen by ``gcv`` and the components, as asked for, are those of the completed rows.
    tol
        The iteration ends when means, units, axes and eigenvalues are estimated to lie nearer to their fixed point.

    Returns
    -------
    Completed
    """
    seen = observe(blocks, weights, names)
    filling = Filling(blocks, weights, seen, 0, method != "em", center, scale, names, seed=seed)
    choice = None
    iterative = method != "mean" and seen.missing > 0
    if n_components in RULES or (iterative and not _is_count(n_components)):
        choice = choose(filling, n_components if n_components in RULES else "gcv")
    components = choice.k if choice is not None and n_components in RULES else n_components
    passes = 1 + (0 if choice is None else choice.passes)
    if seen.missing == 0:
        return Completed(blocks, components, seen, None, passes=passes, choice=choice, notes=_chosen(choice))
    if not iterative:
        done = Filled(_means(seen, names), np.zeros(0), seen.squares, 0, 0.0, True, 0.0)
    else:
        rank = int(n_components) if choice is None else choice.k
        _check_rank(rank, filling)
        filling = replace(filling, k=rank)
        _doubt(filling, method)
        done = iterate(filling, max(tol, LEAST_TOL))
        done = replace(done, filler=_sized(done.filler, done.values, done.residues, filling))
    if not done.converged:
        _warn(method, done, tol)
    filler = done.filler
    notes = (*_words(method, seen, done, filler.k), *_chosen(choice))
    rows = CompletedBlocks(blocks, filler.fill, result_dtype(blocks.dtype))
    return Completed(rows, components, seen, filler, filler.k, passes + done.passes, done.change, done.converged,
                     choice, notes, done.distance)  # fmt: skip


def filler_of(
    method: str, spectrum: Solution, column: ColumnStatistics, *, rows: int, center: bool, scale: Vector | None,
    names: Any = None,
) -> Filler:  # fmt: skip
    """The filler that the results of complete rows make, for new rows with gaps."""
    d = len(column.offset)
    full = np.full(d, column.weight)
    seen = Observed(rows, column.weight, np.full(d, rows, np.int64), full, column.shift, column.offset,
                    column.squares * column.unit**2)  # fmt: skip
    if method == "mean":
        return _means(seen, names)
    nothing: Any = None
    filling = Filling(nothing, None, seen, 0, method != "em", center, scale is not None, names)
    k = min(len(spectrum.values), most_axes(filling))
    filling = replace(filling, k=k)
    spread = float(np.sqrt(spectrum.total / max(filling.freedom, 1.0) / d))
    units = np.full(d, power_of_two(spread)) if scale is None else np.asarray(scale, np.float64)
    square = 1.0 if scale is not None else float(units[0]) ** 2
    values, total = np.maximum(spectrum.known, 0.0) / square, spectrum.total / square
    shrink = shrinkage(filling, values, total)
    location = (seen.shift, seen.offset) if center else (np.zeros(d), np.zeros(d))
    bare = Filler(*location, units, spectrum.vectors[:, :k], shrink, np.zeros(k), 1.0, names)
    left = max(total - float(np.sum(values[:k])), 0.0) + float(np.sum(values[:k] * np.square(1 - shrink)))
    return _sized(bare, values[:k], np.full(d, left / d) * np.square(units), filling)


def _means(seen: Observed, names: Any) -> Filler:
    """No axes: a gap holds the mean of its column, give or take the column's own spread."""
    d = len(seen.offset)
    spread = np.maximum(np.sqrt(seen.variance()), np.finfo(np.float64).tiny)
    return Filler(seen.shift, seen.offset, spread, np.zeros((d, 0)), np.zeros(0), np.zeros(0), 1.0, names)


def _sized(filler: Filler, values: Vector, residues: Vector, filling: Filling) -> Filler:
    """The filler with the variances of noise and signal.

    σ² = Σ_observed w(z − ẑ)² / freedom, what is observed less what was fitted: a mean a column and k(n + d − k)
    numbers for the axes; at least a twentieth of what is observed.
    """
    n, entries = filling.freedom, float(np.sum(filling.observed.weights))
    freedom = _freedom(filling)
    noise = float(np.sum(residues / np.square(filler.scale))) / max(freedom, 0.05 * entries)
    signal = np.maximum(values / max(n, 1e-300) - noise, 0.0)
    return replace(filler, noise=noise, signal=signal)


def _freedom(filling: Filling) -> float:
    """Observed entries less fitted numbers."""
    k, d = filling.k, len(filling.observed.offset)
    entries = float(np.sum(filling.observed.weights))
    return entries - (d if filling.center else 0) - k * (filling.freedom + d - k)


def _is_count(n_components: Any) -> bool:
    return isinstance(n_components, (int, np.integer)) and not isinstance(n_components, (bool, np.bool_))


def _check_rank(k: int, filling: Filling) -> None:
    most = most_axes(filling)
    if not 0 <= k <= most:
        raise ParameterError(
            f"gaps in these {filling.observed.rows} rows and {len(filling.observed.offset)} columns can be filled by "
            f"0 to {most} components: more would fit any value",
            received=f"n_components={k}",
            hint="n_components='gcv' chooses by cross-validation; n_components=None keeps all components of rows that "
            "were filled by so many",
        )


def _words(method: str, seen: Observed, done: Filled, k: int) -> tuple[str, ...]:
    entries = seen.rows * len(seen.counts)
    text = f"{seen.missing:,} of {entries:,} entries ({seen.share:.3g} of all) were missing, filled by {WORDS[method]}"
    if method != "mean" and k == 0:
        text = f"{text.removesuffix(WORDS[method])}the means of the columns, as no component was found to fill them by"
    elif method != "mean":
        text += f" with {k} component{'s' if k != 1 else ''} in {done.passes} pass{'es' if done.passes != 1 else ''}"
        text += ", " + (f"to about {done.distance:.1e}" if done.converged else _unsettled(done))
    return (f"{text}; the certificate is about the completed rows",)


def _unsettled(done: Filled) -> str:
    return f"not converged: the last change was {done.change:.1e}, what is left about {done.distance:.1e}"


def _chosen(choice: RankChoice | None) -> tuple[str, ...]:
    return () if choice is None else (choice.why,)


def _doubt(filling: Filling, method: str) -> None:
    """Warn where the observed entries cannot carry so many axes."""
    k, seen = filling.k, filling.observed
    if k and _freedom(filling) <= 0:
        text = f"{k} components fit more numbers than the {int(np.sum(seen.counts)):,} entries that are observed"
    elif method == "em" and 0 < seen.least <= k:
        text = f"some rows have only {seen.least} entries, no more than the {k} components: em fits them exactly"
    else:
        return
    instead = ", or missing='regularized'" if method == "em" else ", or n_components='gcv'"
    warn(f"{text}. Do not believe what fills their gaps; try fewer components{instead}.", AccuracyWarning)


def _warn(method: str, done: Filled, tol: float) -> None:
    warn(
        f"missing={method!r}: after {done.passes} passes the filled values still move by {done.change:.1e} of the "
        f"columns' spread, about {done.distance:.1e} from where they would settle, instead of tol={tol:g}. The best of "
        f"these passes is kept. Try fewer components"
        f"{', missing=' + repr('regularized') if method == 'em' else ''}, or a looser tol.",
        AccuracyWarning,
    )
