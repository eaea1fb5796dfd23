"""Which components are more than chance: the test that every sentence about the meaning of a component waits for.

    count = max{k : λ₁ > q₁, …, λ_k > q_k}        q_j the 95 % quantile of λ_j in tables of unrelated columns

Such tables are the rows with every column permuted by itself [Buja & Eyuboglu 1992] (of a table of counts: draws with
the same totals), or independent Gaussian columns of the same variances [Horn 1965] where rows cannot be permuted or are
too many. The first comparison is a test of level 5 %: of tables of noise, one in twenty has a component to be told of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.warn import unsaid
from ritz.insight.choose_rank import choose_rank
from ritz.report.findings import DRAW, KERNEL_ROWS, SAMPLE, WIDE, same_rows
from ritz.report.html import percent

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["LEVEL", "Evidence", "find_evidence"]

#: Level of the test.
LEVEL = 0.05
MADE = {
    "permutation": "tables with every column permuted by itself",
    "counts": "tables of counts with the same totals, rows and columns unrelated,",
    "parallel": "tables of independent columns of the same variances",
}


@dataclass(frozen=True)
class Evidence:
    """How many of the leading components are more than chance, and what the first one was compared with."""

    count: int
    share: float  # of the first component, as the test saw it
    line: float  # that 95 % of such tables stay below
    test: str  # what it was compared with: a key of MADE

    @property
    def words(self) -> str:
        """``95 % of tables with every column permuted by itself stay below 23.1 %``."""
        less = "hold no more" if percent(self.share) == percent(self.line) else f"stay below {percent(self.line)}"
        return f"{100 * (1 - LEVEL):.0f}\u00a0% of {MADE[self.test]} {less}"


@unsaid()
def find_evidence(about: Context) -> Evidence | None:
    """Compare the components with those of tables of noise; None where that is not possible."""
    if not about.k or about.texts or about.maps:
        return None
    for name, ranks in _asked(about):
        if ranks is None or name not in ranks or ranks[name].k is None:
            continue
        curve = ranks[name].curve
        if curve.threshold is None or not len(curve.value) or curve.k[0] != 1:
            continue
        made = "counts" if about.known.about.takes == "counts" else name
        return Evidence(int(ranks[name].k), float(curve.value[0]), float(curve.threshold[0]), made)
    return None


def _asked(about: Context) -> Any:
    """Rules with a line of level 5 %, the best first; one is asked when those before it have no answer."""
    rules, model = about.known.rules, about.model
    yield "permutation", about.ranks if about.known.chooses else None
    small = about.n * float(max(1, len(about.columns))) <= DRAW and len(about.columns) <= WIDE
    if not about.known.chooses:  # rules do not know the method; the columns that it looks at are the same
        if about.linear and small and same_rows(about) and "parallel" not in rules:
            scale = getattr(model, "scale_", None) is not None
            yield "permutation", choose_rank(_numbers(about), criteria=["permutation"], scale=scale, sample=SAMPLE)
        return
    if "parallel" in rules and about.known.keeps_spectrum:
        yield "parallel", choose_rank(model, criteria=["parallel"], quantile=1 - LEVEL)
    if "permutation" in rules and same_rows(about):
        sample = KERNEL_ROWS if about.kernel else SAMPLE
        yield "permutation", choose_rank(model, about.table, criteria=["permutation"], sample=sample)


def _numbers(about: Context) -> Any:
    """The columns of the model as an array."""
    from ritz.data.validate import validate_rows

    rows = validate_rows(about.model, about.table, reset=False)
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
