"""``ritz.plan``: which route a fit would take, without taking it."""

from __future__ import annotations

from typing import Any

from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.data.validate import validate_rows
from ritz.methods.base import LinearEstimator
from ritz.methods.correspondence import Correspondence
from ritz.methods.pca import PCA
from ritz.spectral.plan import Plan

__all__ = ["plan"]


@one_call()
def plan(X: Any, estimator: LinearEstimator | None = None) -> Plan:
    """The plan for fitting ``estimator`` (a PCA with default parameters if absent) to ``X``.

    The data are looked at for their shape, dtype and number of stored entries only; tables of categories once, for
    their levels.
    """
    chosen = PCA() if estimator is None else estimator
    if not isinstance(chosen, LinearEstimator):
        raise ParameterError(
            "plan takes an estimator of ritz",
            received=type(chosen).__name__,
            hint="ritz.plan(X, ritz.PCA(10))",
        )
    probe = type(chosen)(**chosen.get_params(deep=False))
    if isinstance(probe, Correspondence):
        return _of_table(probe, X)
    rows = validate_rows(probe, X, reset=True)
    shape = probe._shape(rows)
    centered = bool(getattr(probe, "center", False))
    wanted = probe._wanted(shape.n, shape.d, centered=centered)
    whole = isinstance(probe, PCA) and probe._keeps_state(shape.d) and shape.n >= shape.d
    return probe._plan_for(shape, wanted, whole=whole)


def _of_table(probe: Correspondence, X: Any) -> Plan:
    """The plan for a table that is encoded first."""
    rows, weights = probe._present(probe._encode(X, None, reset=True))
    shape = probe._shape(rows)
    wanted = probe._axes(len(weights), shape.d)
    return probe._plan_for(shape, wanted, whole=probe._keeps_state(shape.d) and shape.n >= shape.d)
