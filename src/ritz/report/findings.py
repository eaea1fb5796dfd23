"""What a report finds out by itself about a model and its rows, within a budget of time.

    ranks   the rules of ``choose_rank`` that this size can afford
    odd     T² and Q of every row, their limits, and the odd rows at a false discovery rate of 5 % that stand apart from
            the others (``tails.py``), so that no long tail of noise is told as outliers

Where a model keeps all components nothing lies off its plane. Rows are then judged by the model of the first r
components, r the consensus of the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ritz._core.errors import RitzError
from ritz._core.warn import unsaid
from ritz.insight.choose_rank import choose_rank
from ritz.insight.outliers.outliers import Outliers, outliers
from ritz.insight.rows.limits import Limits, limits
from ritz.insight.rows.plane import distances, fit_sums
from ritz.methods.fitted import fitted_of

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["ALPHA", "FDR", "Odd", "find_odd", "find_ranks"]

Floats = NDArray[np.float64]

#: Levels of the limits, and of false discoveries.
ALPHA, FDR = 0.025, 0.05
#: Entries of the table up to which rules may hide entries (kfold), hold out, permute and draw again.
HIDE, DRAW = 5e3, 4e5
#: Rows that such rules look at, at most, and rows of a kernel model.
SAMPLE, KERNEL_ROWS = 2_000, 400
#: Entries up to which rows of the fit take turns in being left out, and rows of a kernel model.
LEAVE_OUT, LEAVE_OUT_KERNEL = 2e6, 1_000
#: Columns beyond which rules that look at all pairs of them, or decompose often, are not asked.
WIDE = 300
#: Smaller side beyond which the variances off the plane, for Gaussian limits, would take too long.
LARGE = 1_500
#: Share of the whole below which nothing is left off the plane.
NOTHING = 1e-9
#: Relative differences that rounding makes.
ROUNDING = 1e-9


@unsaid()
def find_ranks(about: Context) -> Any:
    """Ask the rules that this size can afford."""
    model = about.model
    if not about.known.chooses or not about.k:
        return None
    kernel, names = about.kernel, set(about.known.rules)
    n, entries = about.n, float(about.n) * max(1, len(about.columns))
    dear = {"kfold"} if entries > HIDE else set()
    if entries > DRAW or (kernel and n > KERNEL_ROWS):
        dear |= {"permutation", "bcv", "stability", "parallel"} if kernel else {"permutation", "bcv", "stability"}
    if len(about.columns) > WIDE:
        dear |= {"map", "permutation", "bcv", "stability"}
    wanted = sorted((names & _known()) - dear)
    rows_help = "permutation" not in dear or (about.correspondence and about.known.state is None)
    seen = about.table if rows_help and same_rows(about) else None
    ranks = choose_rank(model, seen, criteria=["fraction", *wanted], sample=SAMPLE)
    if about.rows is not None and not same_rows(about):
        ranks.reasons.append("The model was asked alone: rules that look at the rows of the fit have no vote.")
    return ranks


def _known() -> set[str]:
    from ritz.rank.rule import NAMES

    return set(NAMES) - {"consensus"}


def same_rows(about: Context) -> bool:
    """Whether the rows are those of the fit, as far as their number tells."""
    return about.rows is not None and about.rows.n == getattr(about.model, "n_samples_", None)


@dataclass(frozen=True, eq=False)
class Odd:
    """Distances of rows, (r,) each, and what follows; ``all_rows``: r = n, otherwise those of the rows shown."""

    inside: Floats  # T²
    off: Floats  # Q
    bounds: Limits
    outliers: Outliers | None
    components: int  # of the plane
    all_rows: bool
    model: Any  # that judged
    beside: int = 0  # rows that the false discovery rate alone would call outliers, but which do not stand apart

    @property
    def score(self) -> Floats:
        """(r,) both distances in units of their limits."""
        return self.bounds.index(self.inside, self.off)

    @property
    def beyond(self) -> NDArray[np.intp]:
        """(r,) 0 within both limits, 1 beyond that of T², 2 beyond that of Q, 3 both."""
        far = [
            values > bound * (1 + ROUNDING) if bound > 0 else np.zeros(len(values), bool)  # 0: there is no limit
            for values, bound in ((self.inside, self.bounds.t2), (self.off, self.bounds.spe))
        ]
        return far[0].astype(np.intp) + 2 * far[1]

    @property
    def limited(self) -> bool:
        """Whether there are limits that a row could be beyond."""
        return any(0 < bound < np.inf for bound in (self.bounds.t2, self.bounds.spe))

    def farthest(self, count: int) -> NDArray[np.intp]:
        """Numbers of the rows that lie farthest out."""
        return np.argsort(-self.score, kind="stable")[:count]


def find_odd(about: Context) -> Odd | None:
    """Distances, limits and odd rows."""
    if about.rows is None:
        return None
    kernel, every = about.kernel, about.measurable
    rows = about.table if every else about.part
    model = _judge(about)
    if model is None:
        return None
    inside, off = distances(model, rows)
    fit = _of_fit(model, inside) if every else about.rows.n == model.n_samples_
    kind = "training" if fit else "new"
    free = about.known.distribution_free
    if free and not fit:
        return None
    # without its moment state a large model would have to be decomposed anew; quantiles of the rows have to do
    stateless = fitted_of(model).state is None and min(len(inside), len(about.columns)) > LARGE
    way = "conformal" if stateless and fit and every and not free else None
    bounds = limits(model, ALPHA, kind, X=rows if fit and every else None, method=way)
    if model is about.model and len(about.shares) and float(np.sum(about.shares)) >= 1 - NOTHING and not kernel:
        off, bounds = np.zeros_like(off), replace(bounds, spe=0.0)  # everything is kept: what is left over is rounding
    n = len(inside)
    cheap = n <= LEAVE_OUT_KERNEL if kernel else float(n) * max(1, len(about.columns)) <= LEAVE_OUT
    odd_rows = None
    if every and cheap and n >= 10:
        try:
            odd_rows = outliers(model, rows, FDR, rows=kind)
        except RitzError as error:
            about.notes.append(f"false discoveries: {error}")
    if odd_rows is not None and not np.ptp(odd_rows.scores) > 0:  # nothing tells the rows apart
        odd_rows = None
    beside = 0
    if odd_rows is not None:
        odd_rows, beside = _apart(odd_rows)
    return Odd(inside, off, bounds, odd_rows, _dimensions(model), every, model, beside)


def _apart(found: Outliers) -> tuple[Outliers, int]:
    """The outliers that stand apart from the other rows, and how many do not."""
    if found.apart is None:
        return found, 0
    return replace(found, mask=found.mask & found.apart), int(np.count_nonzero(found.mask & ~found.apart))


@unsaid()
def _judge(about: Context) -> Any:
    """The model that judges rows: itself, or the first components of it where it keeps all."""
    model = about.model
    if len(about.shares) and float(np.sum(about.shares)) < 1 - NOTHING:
        return model
    if not about.known.chooses:
        return model
    r = about.ranks.consensus if about.ranks is not None else 0
    r = min(max(r, 1), about.k - 1)
    if r < 1:
        return model
    try:
        if about.known.restates:
            return about.known.restated(n_components=r)
    except RitzError:
        pass
    if about.n * float(max(1, len(about.columns))) > LEAVE_OUT or (about.kernel and about.n > 1_000):
        return None
    return clone(model).set_params(n_components=r).fit(about.table)


def _dimensions(model: Any) -> int:
    return int(getattr(model, "n_components_", len(getattr(model, "components_", ()))))


def _of_fit(model: Any, inside: Floats) -> bool:
    """Whether these are the rows of the fit: their sums of T² are then those that the model knows."""
    weight, total, _ = fit_sums(model)
    if fitted_of(model).space == "table":  # weights are not those of the rows; their number has to do
        return len(inside) == model.n_samples_
    as_many = abs(len(inside) - weight) <= 1e-9 * weight
    return as_many and (not np.isfinite(total) or abs(float(np.sum(inside)) - total) <= 1e-4 * max(total, 1e-300))
