"""A spectral problem as a method poses it: what the planner looks at, what the solver is handed, what ``read`` finds.

rows (n, d), weights (n,)   →   operator A, or how to make it once the plan is known   →   SpectralProblem
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ritz._core.errors import InputError
from ritz.spectral.plan import Shape

__all__ = ["Posed", "rows_that_count"]


@dataclass
class Posed:
    """What ``pose`` hands to the pipeline; a simple method gives an operator, and leaves the rest as it is.

    Parameters
    ----------
    operator
        A (n×d), or the symmetric operator itself; None where it depends on the plan and the method makes it.
    kind
        ``"svd"`` for the leading singular pairs of A, ``"eigh"`` for the largest eigenvalues of a symmetric operator.
    which
        ``"largest"``, or ``"smallest"`` eigenvalues of a symmetric operator without negative ones.
    null
        Null vectors (p, m) that are known and left out of the smallest; those that the operator knows unless said.
    centered
        Whether a mean was taken off, which costs one direction.
    shape
        What the planner may look at; that of the operator unless said.
    wanted
        How many components: a number or a rule; what ``n_components`` says unless said.
    rows, weights
        The rows that are multiplied, in memory or as row blocks, and their weights. A method that makes use of weights
        hands them on here; otherwise a fit with weights is refused.
    forms_state
        Whether a moment state is formed anyway, so that its eigenvectors are the answer.
    unit
        The unit of the operator's numbers; None where nothing was found out about it.
    frame
        What the certificate is told about the columns, for ``verify``.
    kept
        Whatever ``read`` needs again.
    """

    operator: Any = None
    kind: Literal["svd", "eigh"] = "svd"
    which: Literal["largest", "smallest"] = "largest"
    null: Any = None
    centered: bool = False
    shape: Shape = None  # type: ignore[assignment]  # filled in by the pipeline
    wanted: Any = None
    rows: Any = None
    weights: Any = None
    forms_state: bool = False
    unit: float | None = None
    frame: dict[str, Any] = field(default_factory=dict)
    kept: Any = None
    stats: Any = None  # ``Statistics``: what passes over the rows have learned
    key: str | None = None  # of the rows, of a method that places no others
    rank: int = 0  # eigenvalues that can differ from zero

    def question(self) -> dict[str, Any]:
        """What is asked of the operator, for a ``SpectralProblem``."""
        return {"kind": self.kind, "centered": self.centered, "which": self.which, "null": self.null}


def rows_that_count(method: Any, rows: Any, weights: Any, what: str = "a variance") -> int:
    """Rows with a weight; fewer than two have no ``what``, and are refused."""
    count = int(rows.shape[0] if weights is None else np.count_nonzero(weights))
    if count < 2:
        raise InputError(
            f"{type(method).__name__} needs at least 2 rows to have {what}", received=f"n_samples={count}",
            hint="pass more rows",
        )  # fmt: skip
    return count
