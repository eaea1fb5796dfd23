"""A spectral problem as a method poses it: what the planner looks at, what the solver is handed, what ``read`` finds.

rows (n, d), weights (n,)   →   operator A, or how to make it once the plan is known   →   SpectralProblem
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ritz._core.errors import InputError, NoComponents, ParameterError
from ritz._core.warn import warn
from ritz.data.validate import room_for
from ritz.methods.record import record_of
from ritz.rank.rule import resolve
from ritz.spectral.costs import reading
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.solution import Solution
from ritz.spectral.verify.operator import verify_operator

if TYPE_CHECKING:
    from ritz.spectral.verify import Verification

__all__ = [
    "Posed", "asked_again", "planned_smallest", "route_of_rows", "rows_that_count", "tell_none", "verify_posed",
    "wanted_of", "with_sums",
]  # fmt: skip


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


def planned_smallest(method: Any, posed: Posed) -> Plan:
    """The route to the smallest eigenvalues of a problem as it was posed."""
    from ritz.spectral.smallest_plan import choose_smallest, known_null_vectors  # loaded by methods that need it

    room = None if method.memory is None else room_for(method)
    known = known_null_vectors(posed.operator, posed.null)
    return choose_smallest(posed.operator, posed.wanted, known, solver=method.solver, memory=room)


def asked_again(model: Any) -> Any:
    """A copy that a problem can be posed to once more: what it learns of the rows stays its own."""
    other = copy.copy(model)
    other._record = copy.copy(record_of(model))
    return other


def verify_posed(certificate: Any, posed: Posed) -> Verification:
    """Check a certificate against the operator of a problem that was posed again from the data."""
    if posed.which == "largest":
        return verify_operator(certificate, posed.operator, posed.kind)
    from ritz.spectral.verify.smallest import verify_smallest

    return verify_smallest(certificate, posed.operator, posed.null)


# how many


def wanted_of(model: Any, asked: Any, n: int, d: int, *, centered: bool) -> int | Any:
    """A number of components, or a rule."""
    wanted = resolve(asked, n=n, d=d, centered=centered, names=model._rules, method=type(model).__name__,
                     square=model._of_pairs, pieces=model._pieces)  # fmt: skip
    if isinstance(wanted, int) and wanted == 0 and model.solver not in ("auto", "svd", "moments"):
        most = f"min(n_samples, n_features)={min(n, d)}"
        raise ParameterError(
            f"n_components=0 must be between 1 and {most} with solver={model.solver!r}",
            received="0, which leaves nothing to iterate on",
            hint="solver='auto' takes it: the answer is the mean and the total variance",
        )
    return wanted


def tell_none(rule: Any, solution: Solution) -> None:
    """Warn of a rule that keeps no component of a table that has some."""
    if rule is not None and not len(solution.values) and solution.scaled_total > 0:
        name = getattr(rule, "name", type(rule).__name__)
        warn(
            f"the rule {name!r} found no component, so the model has none and transform gives no columns; "
            f"n_components={name + '>=1'!r} keeps at least one",
            NoComponents,
        )


def route_of_rows(model: Any, X: Any, sample_weight: Any, *, state: bool = False) -> Plan:
    """The plan of rows from nothing but their shape; ``state``: their moment state is formed, however wide they are."""
    rows, weights = model._rows(X, sample_weight, reset=True)
    rows_that_count(model, rows, weights)
    s = replace(model._shape(rows), weighted=weights is not None)
    wanted = model._wanted(s.n, s.d, centered=bool(getattr(model, "center", False)))
    if state:
        s = replace(s, n=max(s.n, s.d))
    whole = state or (model._keeps_state(s.d) and s.n >= s.d)
    found: Plan = model._plan_for(s, wanted, whole=whole)
    return found


def with_sums(model: Any, shape: Shape, plan: Plan) -> Plan:
    """The plan of a sketch with the pass for sums that come neither with the key of its start nor with its product."""
    centered, scaled = bool(getattr(model, "center", False)), bool(getattr(model, "scale", False))
    if shape.symmetric or (centered and not scaled and not shape.weighted):
        return plan
    return replace(plan, passes=plan.passes + 1, seconds=plan.seconds + reading(shape))
